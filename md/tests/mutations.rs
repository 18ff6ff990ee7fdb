//! One change in a real day: the replay ends with an error, or the change is counted; or it is of a class about which
//! the files contain nothing, and which is named here.
//!
//! `COLO_MUTATIONS=200` tries that many of each class; fewer are tried by default.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use dbn::MboMsg;
use dbn::decode::{DbnDecoder, DecodeRecord};
use md::source::{Files, Options, SourceKind};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use support::*;

/// Rows of a slice.
const SLICE: usize = 4_000;

fn data(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("COLO_DATA")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"));
    let path = folder.join(name);
    if !path.exists() {
        println!("skipped: no recorded data at {} (set COLO_DATA to its folder)", path.display());
        return None;
    }
    Some(path)
}

fn cases() -> usize {
    std::env::var("COLO_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(5)
}

fn unpacked(path: &Path) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text
}

fn lines(text: &str, most: usize) -> Vec<String> {
    text.lines().take(most).map(str::to_owned).collect()
}

/// Rows of text, with the first that is no header, and where their columns are.
struct Text {
    kind: SourceKind,
    /// File names, and their rows. Changes happen in any of them.
    files: Vec<(&'static str, Vec<String>)>,
    header: usize,
}

impl Text {
    /// Whether a replay of these files reports that something is wrong.
    fn notices(&self, files: &[(&str, Vec<String>)]) -> bool {
        let folder = tempfile::tempdir().unwrap();
        for (name, rows) in files {
            std::fs::write(folder.path().join(name), rows.join("\n") + "\n").unwrap();
        }
        notices(self.kind, folder.path())
    }
}

/// An error, or counted as irregular, or as a row about an unknown order. The unchanged slice has none of the last.
fn notices(kind: SourceKind, folder: &Path) -> bool {
    match replay(kind, &Files::Path(folder.to_owned()), &Options::default()) {
        Err(_) => true,
        Ok(replayed) => {
            let counts = replayed.counts;
            counts.irregular() + counts.unended + counts.skipped.unknown_order > 0
        }
    }
}

/// The classes of changes of a row of text.
const CLASSES: [&str; 12] = [
    "delete a row",
    "double a row",
    "swap two rows",
    "cut the last field",
    "price x10",
    "price /10",
    "price x100",
    "quantity x1000",
    "side flipped",
    "back in time",
    "a day later",
    "foreign symbol",
];

/// A field of a row, as text; `None` when a change does not apply to the row.
trait Format {
    fn price(&self, row: &str, factor: f64) -> Option<String>;
    fn quantity(&self, row: &str) -> Option<String>;
    fn flip(&self, row: &str) -> Option<String>;
    fn earlier(&self, row: &str) -> Option<String>;
    fn later_day(&self, row: &str) -> Option<String>;
    fn foreign(&self, row: &str) -> Option<String>;
}

fn with_column(row: &str, at: usize, change: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut columns: Vec<String> = row.split(',').map(str::to_owned).collect();
    let changed = change(columns.get(at)?)?;
    if changed == columns[at] {
        return None;
    }
    columns[at] = changed;
    Some(columns.join(","))
}

fn times(text: &str, factor: f64) -> Option<String> {
    let value: f64 = text.parse().ok()?;
    let scaled = value * factor;
    let text = format!("{scaled:.4}");
    (value > 0.0).then(|| text.trim_end_matches('0').trim_end_matches('.').to_owned())
}

/// A file whose columns are found by their names.
struct Columns(Vec<String>);

impl Columns {
    fn place(&self, names: &[&str]) -> Option<usize> {
        self.0.iter().position(|column| names.contains(&column.as_str()))
    }
}

impl Format for Columns {
    fn price(&self, row: &str, factor: f64) -> Option<String> {
        with_column(row, self.place(&["OrderPrice", "TradPrice"])?, |text| times(text, factor))
    }
    fn quantity(&self, row: &str) -> Option<String> {
        with_column(row, self.place(&["Balance", "TradVolume"])?, |text| times(text, 1_000.0))
    }
    fn flip(&self, row: &str) -> Option<String> {
        with_column(row, self.place(&["OrderBSFlag", "TradeBSFlag"])?, |text| match text {
            "B" => Some("S".to_owned()),
            "S" => Some("B".to_owned()),
            _ => None,
        })
    }
    fn earlier(&self, row: &str) -> Option<String> {
        with_column(row, self.place(&["OrderTime", "TradTime"])?, |text| Some(text.replacen("09:", "08:", 1)))
    }
    fn later_day(&self, row: &str) -> Option<String> {
        // These files contain no date: a time past the end of trading represents it.
        with_column(row, self.place(&["OrderTime", "TradTime"])?, |text| Some(text.replacen("09:", "23:", 1)))
    }
    fn foreign(&self, row: &str) -> Option<String> {
        with_column(row, self.place(&["SecurityID"])?, |_| Some("60051".to_owned()))
    }
}

/// LOBSTER: time, type, order, size, price, direction.
struct Lobster;

impl Format for Lobster {
    fn price(&self, row: &str, factor: f64) -> Option<String> {
        with_column(row, 4, |text| {
            let price = (text.parse::<f64>().ok()? * factor) as i64;
            (price > 0).then(|| price.to_string())
        })
    }
    fn quantity(&self, row: &str) -> Option<String> {
        with_column(row, 3, |text| times(text, 1_000.0))
    }
    fn flip(&self, row: &str) -> Option<String> {
        with_column(row, 5, |text| Some(if text == "1" { "-1" } else { "1" }.to_owned()))
    }
    fn earlier(&self, row: &str) -> Option<String> {
        with_column(row, 0, |text| Some(text.replacen("34", "33", 1)))
    }
    fn later_day(&self, row: &str) -> Option<String> {
        with_column(row, 0, |text| Some(text.replacen("34", "86", 1)))
    }
    fn foreign(&self, _row: &str) -> Option<String> {
        None
    }
}

/// PITCH: eight digits of milliseconds, the type, then columns by type; only adds have a price and a symbol.
struct Pitch;

impl Pitch {
    fn piece(row: &str, from: usize, to: usize, change: impl Fn(&str) -> String) -> Option<String> {
        let changed = change(row.get(from..to)?);
        (changed.len() == to - from && row.get(from..to)? != changed)
            .then(|| format!("{}{changed}{}", &row[..from], &row[to..]))
    }
}

impl Format for Pitch {
    fn price(&self, row: &str, factor: f64) -> Option<String> {
        let is_add = row.get(8..9)? == "A";
        let scale = |text: &str| format!("{:010}", (text.parse::<f64>().unwrap_or(0.0) * factor) as u64);
        is_add.then(|| Pitch::piece(row, 34, 44, scale)).flatten()
    }
    fn quantity(&self, row: &str) -> Option<String> {
        let at = if row.get(8..9)? == "A" { 22 } else { 21 };
        // More than six digits cannot be written.
        Pitch::piece(row, at, at + 6, |text| {
            format!("{:06}", (text.parse::<u64>().unwrap_or(0) * 1_000).min(999_999))
        })
    }
    fn flip(&self, row: &str) -> Option<String> {
        let is_add = row.get(8..9)? == "A";
        let flip = |text: &str| if text == "B" { "S" } else { "B" }.to_owned();
        is_add.then(|| Pitch::piece(row, 21, 22, flip)).flatten()
    }
    fn earlier(&self, row: &str) -> Option<String> {
        Pitch::piece(row, 0, 4, |text| format!("{:04}", text.parse::<u64>().unwrap_or(1) - 100))
    }
    fn later_day(&self, row: &str) -> Option<String> {
        Pitch::piece(row, 0, 4, |_| "8639".to_owned())
    }
    fn foreign(&self, row: &str) -> Option<String> {
        let is_add = row.get(8..9)? == "A";
        is_add.then(|| Pitch::piece(row, 28, 34, |_| "ZZZZZ ".to_owned())).flatten()
    }
}

/// Changes row `at` of a file; `None` when the class does not apply to it.
fn change(class: &str, rows: &[String], at: usize, format: &dyn Format) -> Option<Vec<String>> {
    let mut changed = rows.to_vec();
    let row = &rows[at];
    let one = match class {
        "delete a row" => {
            changed.remove(at);
            return Some(changed);
        }
        "double a row" => {
            changed.insert(at, row.clone());
            return Some(changed);
        }
        "swap two rows" => {
            changed.swap(at, at.checked_sub(1).filter(|&before| rows[before] != *row)?);
            return Some(changed);
        }
        "cut the last field" => {
            let end = row.trim_end().len().checked_sub(1)?;
            Some(row[..end].to_owned())
        }
        "price x10" => format.price(row, 10.0),
        "price /10" => format.price(row, 0.1),
        "price x100" => format.price(row, 100.0),
        "quantity x1000" => format.quantity(row),
        "side flipped" => format.flip(row),
        "back in time" => format.earlier(row),
        "a day later" => format.later_day(row),
        _ => format.foreign(row),
    }?;
    changed[at] = one;
    Some(changed)
}

/// The result of one class: noticed, tried.
type Table = BTreeMap<&'static str, (usize, usize)>;

fn mutate(name: &str, text: &Text, formats: &[Box<dyn Format>]) -> Table {
    assert!(!text.notices(&text.files), "{name}: the sound slice is not sound");
    let mut random = ChaCha8Rng::seed_from_u64(14);
    let mut table = Table::new();
    for class in CLASSES {
        let (mut noticed, mut tried) = (0, 0);
        // A class may fit few rows, or none.
        for _ in 0..cases() * 40 {
            if tried == cases() {
                break;
            }
            let file = random.random_range(0..text.files.len());
            let rows = &text.files[file].1;
            let at = random.random_range(text.header + 1..rows.len());
            let Some(changed) = change(class, rows, at, &*formats[file]) else { continue };
            let mut files = text.files.clone();
            files[file].1 = changed;
            tried += 1;
            noticed += usize::from(text.notices(&files));
        }
        table.insert(class, (noticed, tried));
    }
    table
}

fn print(name: &str, table: &Table) {
    println!("{name}: noticed of tried");
    for (class, (noticed, tried)) in table {
        println!("  {class:<20} {noticed:>4} of {tried}");
    }
}

/// Every change is noticed, except for classes that are named with the reason why the files say nothing about some.
fn judge(name: &str, table: &Table, unknowable: &[(&str, &str)]) {
    print(name, table);
    assert!(table.values().any(|(_, tried)| *tried > 0), "{name}: nothing was tried");
    for (class, (noticed, tried)) in table {
        if let Some((_, reason)) = unknowable.iter().find(|(known, _)| known == class) {
            println!("  {class}: {} unseen: {reason}", tried - noticed);
        } else {
            assert_eq!(noticed, tried, "{name}: {class}");
        }
    }
}

#[test]
fn one_change_in_a_day_of_shanghai() {
    let Some(folder) = data("sse-600519-20230201") else { return };
    // The opening auction and the first minutes of continuous trading.
    let slice = |name: &str, time: &str| -> Vec<String> {
        let text = unpacked(&folder.join(name));
        let at = text.lines().next().unwrap().split(',').position(|column| column == time).unwrap();
        let within = |row: &&str| {
            row.split(',').nth(at).is_some_and(|clock| !clock.starts_with('0') || clock < "09:32")
        };
        text.lines().take_while(within).map(str::to_owned).collect()
    };
    let files = vec![
        ("orders.csv", slice("entrust.csv.gz", "OrderTime")),
        ("trades.csv", slice("trade.csv.gz", "TradTime")),
    ];
    let formats: Vec<Box<dyn Format>> = files
        .iter()
        .map(|(_, rows)| {
            Box::new(Columns(rows[0].split(',').map(str::to_owned).collect())) as Box<dyn Format>
        })
        .collect();
    let text = Text { kind: SourceKind::Sse, files, header: 0 };
    let table = mutate("sse", &text, &formats);
    judge(
        "sse",
        &table,
        &[
            ("delete a row", "an order that nothing names again, or a cancel whose order is in nobody's way"),
            ("swap two rows", "the joint sequence gives the order back"),
            ("cut the last field", "the last column is the recorder's own number, which is not read"),
            ("quantity x1000", "an order's own quantity, when it is neither cancelled nor used up"),
            (
                "side flipped",
                "an order that crosses nothing and that nothing names again; the column of a cancel is not read",
            ),
            ("price x10", "the column of a cancel is not read"),
            ("price /10", "the column of a cancel is not read"),
            ("price x100", "the column of a cancel is not read"),
        ],
    );
}

#[test]
fn one_change_in_a_day_of_lobster() {
    let Some(folder) = data("lobster-aapl-20120621") else { return };
    let rows = lines(&unpacked(&folder.join("message.csv.gz")), SLICE);
    let text = Text { kind: SourceKind::Lobster, files: vec![("message.csv", rows)], header: 0 };
    let table = mutate("lobster", &text, &[Box::new(Lobster)]);
    judge(
        "lobster",
        &table,
        &[
            ("delete a row", "an order of which no row is left, or that ended out of view"),
            ("double a row", "executions of hidden orders have no number, and come twice in sound files"),
            ("swap two rows", "within one nanosecond the order of rows says nothing"),
            ("price x10", "an order that crosses nothing and that no later row names"),
            ("price /10", "an order that crosses nothing and that no later row names"),
            ("price x100", "an order that crosses nothing and that no later row names"),
            ("quantity x1000", "an order that no later row ends"),
            ("side flipped", "an order that no later row names, or a hidden execution"),
        ],
    );
}

#[test]
fn one_change_in_a_day_of_pitch() {
    let Some(path) = data("pitch-288/pitch.txt.gz") else { return };
    let rows = lines(&unpacked(&path), SLICE);
    let text = Text { kind: SourceKind::Pitch, files: vec![("pitch.txt", rows)], header: 0 };
    let table = mutate("pitch", &text, &[Box::new(Pitch)]);
    judge(
        "pitch",
        &table,
        &[
            ("delete a row", "an add that no row names, or a cancel of what later rows do not touch"),
            ("double a row", "a partial cancel; a trade of a hidden order"),
            ("swap two rows", "rows of different orders within the clocks' jitter"),
            ("price x10", "cancels and executions name no price: only a crossed book shows it"),
            ("price /10", "cancels and executions name no price: only a crossed book shows it"),
            ("price x100", "cancels and executions name no price: only a crossed book shows it"),
            ("quantity x1000", "an add of more than its cancels and executions take"),
            ("side flipped", "cancels and executions name no side: only a crossed book shows it"),
            ("back in time", "files put together from sessions go back"),
            ("foreign symbol", "cancels and executions name no symbol: the order is one of another stock"),
        ],
    );
}

/// Metadata and records of a DBN file.
fn dbn_records(path: &Path) -> Vec<MboMsg> {
    let mut decoder = DbnDecoder::from_zstd_file(path).unwrap();
    let mut records = Vec::new();
    while let Some(record) = decoder.decode_record::<MboMsg>().unwrap() {
        records.push(record.clone());
    }
    records
}

fn change_record(class: &str, records: &[MboMsg], at: usize) -> Option<Vec<MboMsg>> {
    let mut changed = records.to_vec();
    let record = &mut changed[at];
    match class {
        "delete a row" => drop(changed.remove(at)),
        "double a row" => changed.insert(at, records[at].clone()),
        "swap two rows" => changed.swap(at, at - 1),
        "price x10" => record.price = record.price.checked_mul(10)?,
        "price /10" if record.price != dbn::UNDEF_PRICE => record.price /= 10,
        "price x100" => record.price = record.price.checked_mul(100)?,
        "quantity x1000" => record.size = record.size.checked_mul(1_000)?,
        "side flipped" => {
            record.side = match record.side as u8 {
                b'A' => b'B' as std::ffi::c_char,
                b'B' => b'A' as std::ffi::c_char,
                _ => return None,
            }
        }
        "back in time" => record.hd.ts_event = record.hd.ts_event.checked_sub(7_200_000_000_000)?,
        "a day later" => record.hd.ts_event = record.hd.ts_event.checked_add(86_400_000_000_000)?,
        "foreign symbol" => record.hd.instrument_id = 77_777,
        _ => return None,
    }
    Some(changed)
}

#[test]
fn one_change_in_a_day_of_dbn() {
    let Some(folder) = data("dbn-es-20231225") else { return };
    let path = folder.join("esh4-glbx-mdp3-20231225.mbo.dbn.zst");
    let all = dbn_records(&path);
    let instrument = all[0].hd.instrument_id;
    let replays = |records: &[MboMsg]| {
        let folder = tempfile::tempdir().unwrap();
        let bytes = dbn_file_of(records, dbn::Schema::Mbo, &[(instrument, "ESH4")]);
        std::fs::write(folder.path().join("x.dbn"), bytes).unwrap();
        notices(SourceKind::Dbn, folder.path())
    };
    // From the beginning, so that every order is known, into continuous trading.
    let records = &all[..all.len().min(30_000)];
    assert!(!replays(records), "dbn: the sound slice is not sound");
    let mut random = ChaCha8Rng::seed_from_u64(14);
    let mut table = Table::new();
    for class in CLASSES.into_iter().filter(|class| *class != "cut the last field") {
        let (mut noticed, mut tried) = (0, 0);
        for _ in 0..cases() * 40 {
            if tried == cases() {
                break;
            }
            let at = random.random_range(1..records.len());
            let Some(changed) = change_record(class, records, at) else { continue };
            tried += 1;
            noticed += usize::from(replays(&changed));
        }
        table.insert(class, (noticed, tried));
    }
    judge(
        "dbn",
        &table,
        &[
            ("delete a row", "an order that no later row names, or a cancel of one that is in nobody's way"),
            ("double a row", "a change to what an order is already; a trade without fills"),
            ("swap two rows", "rows of different orders"),
            ("price x10", "an order that crosses nothing and is changed before it is cancelled"),
            ("price /10", "an order that crosses nothing and is changed before it is cancelled"),
            ("price x100", "an order that crosses nothing and is changed before it is cancelled"),
            ("quantity x1000", "an order that is changed before it is cancelled"),
            ("back in time", "orders of a snapshot keep the old times at which they were sent"),
            ("side flipped", "an order that crosses nothing and that no later row names"),
        ],
    );
}
