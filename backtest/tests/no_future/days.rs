//! Days to be cut: made up, one for each source, and recorded ones where they are at hand.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use dbn::encode::EncodeRecord;

use crate::support::itch::message;
use crate::support::{dbn_bytes, dbn_file_of, mbo};

/// A recorded day, as rows with times: a cut leaves those before it.
pub struct Day {
    pub name: String,
    pub source: &'static str,
    /// More of `[md]`.
    pub more: &'static str,
    /// Milliseconds between two timers: a quiet day has long pauses.
    pub pace_ms: u64,
    /// It has halts, or phases by the clock.
    pub has_phases: bool,
    files: Vec<File>,
}

struct File {
    name: &'static str,
    /// What stands before the rows.
    head: Vec<u8>,
    rows: Vec<(u64, Vec<u8>)>,
    /// Rows to the file's bytes.
    pack: fn(&[u8], &[&[u8]]) -> Vec<u8>,
}

fn plain(head: &[u8], rows: &[&[u8]]) -> Vec<u8> {
    [head, &rows.concat()].concat()
}

impl Day {
    /// Times of the rows, each once, ascending.
    pub fn times(&self) -> Vec<u64> {
        let mut times: Vec<u64> =
            self.files.iter().flat_map(|file| file.rows.iter().map(|row| row.0)).collect();
        times.sort_unstable();
        times.dedup();
        times
    }

    /// The day without the rows behind its first `rows` times.
    pub fn first(mut self, rows: usize) -> Day {
        if let Some(&end) = self.times().get(rows) {
            self.files.iter_mut().for_each(|file| file.rows.retain(|row| row.0 < end));
        }
        self
    }

    /// Writes the rows before `end` to a folder.
    pub fn write(&self, folder: &Path, end: u64) {
        for file in &self.files {
            let rows: Vec<&[u8]> =
                file.rows.iter().filter(|row| row.0 < end).map(|row| row.1.as_slice()).collect();
            fs::write(folder.join(file.name), (file.pack)(&file.head, &rows)).unwrap();
        }
    }

    /// What `md.files` is.
    pub fn files(&self, folder: &Path) -> PathBuf {
        match &self.files[..] {
            [one] => folder.join(one.name),
            _ => folder.to_owned(),
        }
    }
}

/// What happens in a made-up market.
#[derive(Clone, Copy, Debug)]
enum Happening {
    Add {
        buys: bool,
        quantity: u32,
        price: u32,
    },
    Reduce {
        quantity: u32,
    },
    Delete {
        left: u32,
    },
    Execute {
        buys: bool,
        quantity: u32,
        price: u32,
    },
    /// A trade of no displayed order.
    Hidden {
        buys: bool,
        quantity: u32,
        price: u32,
    },
}

/// At which microsecond behind 09:30, in which stock, of which order. Prices are in ten-thousandths.
#[derive(Clone, Copy, Debug)]
struct Step {
    time: u64,
    stock: usize,
    order: u64,
    what: Happening,
}

pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

struct Resting {
    order: u64,
    buys: bool,
    price: u32,
    left: u32,
}

/// A market that moves, with several happenings in one instant now and then. In its last quarter prices double, have a
/// finer step, and hidden trades have both sides: nothing before may know.
fn walk(stocks: usize, count: usize, seed: u64, step: u64) -> Vec<Step> {
    let mut random = Random(seed);
    let mut steps = Vec::new();
    let mut books: Vec<(Vec<Resting>, u32)> = (0..stocks).map(|_| (Vec::new(), 100_0000)).collect();
    let (mut time, mut order) = (step, 0);
    for number in 0..count {
        let is_late = number > count * 3 / 4;
        if random.below(4) != 0 {
            time += step * (1 + random.below(3) * random.below(40));
        }
        let stock = random.below(stocks as u64) as usize;
        let (book, middle) = &mut books[stock];
        if is_late && *middle < 150_0000 {
            // The other orders go first, so that no book is crossed.
            if let Some(gone) = book.pop() {
                steps.push(Step {
                    time,
                    stock,
                    order: gone.order,
                    what: Happening::Delete { left: gone.left },
                });
                continue;
            }
            *middle = 200_0000;
        }
        let best = |buys: bool| {
            let side = book.iter().filter(|one| one.buys == buys);
            if buys {
                side.max_by_key(|one| (one.price, std::cmp::Reverse(one.order)))
            } else {
                side.min_by_key(|one| (one.price, one.order))
            }
        };
        let buys = random.below(2) == 0;
        let unit = if is_late { 25 } else { 100 };
        let what = match random.below(10) {
            0..=4 => {
                let away = unit * (1 + random.below(6)) as u32;
                let wanted = if buys { *middle - away } else { *middle + away };
                let price = match (best(true), best(false)) {
                    (_, Some(ask)) if buys => wanted.min(ask.price - unit),
                    (Some(bid), _) if !buys => wanted.max(bid.price + unit),
                    _ => wanted,
                };
                order += 1;
                let quantity = 100 * (1 + random.below(5)) as u32;
                book.push(Resting { order, buys, price, left: quantity });
                steps.push(Step { time, stock, order, what: Happening::Add { buys, quantity, price } });
                continue;
            }
            5 | 6 => match best(buys).map(|one| (one.order, one.price, one.left)) {
                Some((order, price, left)) => {
                    let quantity = left.min(100 * (1 + random.below(3)) as u32);
                    (order, quantity, Happening::Execute { buys, quantity, price })
                }
                None => continue,
            },
            7 => match book.first().map(|one| (one.order, one.left)) {
                Some((order, left)) => (order, left, Happening::Delete { left }),
                None => continue,
            },
            8 => match book.iter().find(|one| one.left > 100).map(|one| one.order) {
                Some(order) => (order, 100, Happening::Reduce { quantity: 100 }),
                None => continue,
            },
            _ => match (best(true), best(false)) {
                (Some(bid), Some(ask)) => {
                    let price = if is_late && buys { bid.price } else { ask.price };
                    let buys = buys && is_late;
                    steps.push(Step {
                        time,
                        stock,
                        order: 0,
                        what: Happening::Hidden { buys, quantity: 30, price },
                    });
                    continue;
                }
                _ => continue,
            },
        };
        let (of, taken, what) = what;
        if let Some(one) = book.iter_mut().find(|one| one.order == of) {
            one.left -= taken;
        }
        book.retain(|one| one.left > 0);
        *middle = (*middle as i64 + (random.below(3) as i64 - 1) * 100) as u32;
        steps.push(Step { time, stock, order: of, what });
    }
    steps
}

/// Puts three states of a stock into a day: halted, quoted for the auction that ends it, traded; each before the first row of a time. The
/// second time the halt ends without quotes. `crossing`: a buyer and a seller who cross in the first halt, and the rows of their cross, which
/// come behind the one that says that trading goes on, in its instant.
fn halted(
    rows: &mut Vec<(u64, Vec<u8>)>,
    state: impl Fn(usize, u64) -> Vec<u8>,
    crossing: impl Fn(Crossing, u64) -> Vec<Vec<u8>>,
) {
    let size = rows.len();
    // From the end on, so that the places before it stay.
    for (percent, which) in [(56, 2), (53, 0), (38, 2), (34, 1), (30, 0)] {
        let time = rows[size * percent / 100].0;
        let place = rows.partition_point(|row| row.0 < time);
        let more = match percent {
            30 => crossing(Crossing::Orders, time),
            38 => crossing(Crossing::Cross, time),
            _ => Vec::new(),
        };
        let all = [vec![state(which, time)], more].concat();
        rows.splice(place..place, all.into_iter().map(|row| (time, row)));
    }
}

/// Rows of a halt that ends with a cross.
#[derive(Clone, Copy, Debug)]
enum Crossing {
    Orders,
    Cross,
}

/// The buyer and the seller who cross: number, limit; and the price of their cross, of 300.
const CROSSING: [(u64, u32); 2] = [(900_001, 101_0000), (900_002, 99_0000)];
const CROSS: u32 = 100_0000;

const STOCKS: [&str; 2] = ["AAA", "BBB"];
const OPEN_US: u64 = 34_200_000_000;
/// 14:56, in Shanghai.
const NEAR_CLOSE_US: u64 = 53_760_000_000;

fn day(source: &'static str, more: &'static str, files: Vec<File>) -> Day {
    Day { name: format!("{source}, made up"), source, more, pace_ms: 37, has_phases: true, files }
}

/// A day of each source.
pub fn made_up() -> Vec<Day> {
    vec![lobster(), pitch(), itch(), dbn(), sse()]
}

fn lobster() -> Day {
    let side = |buys: bool| if buys { 1 } else { -1 };
    let mut of = std::collections::BTreeMap::new();
    let rows = walk(1, 900, 7, 1_000).into_iter().map(|step| {
        let (kind, quantity, price, buys) = match step.what {
            Happening::Add { buys, quantity, price } => {
                of.insert(step.order, (buys, price));
                (1, quantity, price, buys)
            }
            Happening::Reduce { quantity } => (2, quantity, of[&step.order].1, of[&step.order].0),
            Happening::Delete { left } => (3, left, of[&step.order].1, of[&step.order].0),
            Happening::Execute { buys, quantity, price } => (4, quantity, price, buys),
            Happening::Hidden { buys, quantity, price } => (5, quantity, price, buys),
        };
        let (seconds, rest) = ((OPEN_US + step.time) / 1_000_000, (OPEN_US + step.time) % 1_000_000);
        let row = format!("{seconds}.{rest:06},{kind},{},{quantity},{price},{}\n", step.order, side(buys));
        (step.time, row.into_bytes())
    });
    let mut rows: Vec<_> = rows.collect();
    halted(
        &mut rows,
        |which, time| {
            let (seconds, rest) = ((OPEN_US + time) / 1_000_000, (OPEN_US + time) % 1_000_000);
            format!("{seconds}.{rest:06},7,0,0,{},-1\n", ["-1", "0", "1"][which]).into_bytes()
        },
        |what, time| {
            let (seconds, rest) = ((OPEN_US + time) / 1_000_000, (OPEN_US + time) % 1_000_000);
            let [(buyer, bid), (seller, ask)] = CROSSING;
            let rows = match what {
                Crossing::Orders => {
                    vec![format!("1,{buyer},300,{bid},1"), format!("1,{seller},300,{ask},-1")]
                }
                Crossing::Cross => vec![
                    format!("4,{buyer},300,{bid},1"),
                    format!("4,{seller},300,{ask},-1"),
                    format!("6,-1,300,{CROSS},-1"),
                ],
            };
            rows.into_iter().map(|row| format!("{seconds}.{rest:06},{row}\n").into_bytes()).collect()
        },
    );
    let file = File { name: "message.csv", head: Vec::new(), rows, pack: plain };
    day("lobster", "prior = \"none\"\nsymbols = [\"AAA\"]", vec![file])
}

fn pitch() -> Day {
    let mut trade = 0;
    // Two sessions in one file: in the second one clock and numbers begin anew.
    let next = 1_000_000_000;
    let sessions = [(walk(2, 700, 11, 1_000), 0), (walk(2, 200, 12, 1_000), next)];
    // The clock of the second one begins an hour earlier.
    let clock = |key: u64| if key < next { OPEN_US + 3_600_000_000 + key } else { OPEN_US + key - next };
    let steps =
        sessions.into_iter().flat_map(|(steps, begin)| steps.into_iter().map(move |step| (step, begin)));
    let rows = steps.map(|(step, begin)| {
        let time = clock(begin + step.time) / 1_000;
        let (symbol, order) = (STOCKS[step.stock], format!("{:012}", step.order));
        let side = |buys: bool| if buys { 'B' } else { 'S' };
        trade += 1;
        let row = match step.what {
            Happening::Add { buys, quantity, price } => {
                format!("{time:08}A{order}{}{quantity:06}{symbol:<6}{price:010}Y\n", side(buys))
            }
            Happening::Reduce { quantity } => format!("{time:08}X{order}{quantity:06}\n"),
            Happening::Delete { left } => format!("{time:08}X{order}{left:06}\n"),
            Happening::Execute { quantity, .. } => format!("{time:08}E{order}{quantity:06}{trade:012}\n"),
            Happening::Hidden { buys, quantity, price } => {
                format!("{time:08}P{order}{}{quantity:06}{symbol:<6}{price:010}{trade:012}\n", side(buys))
            }
        };
        (begin + step.time, row.into_bytes())
    });
    let mut rows: Vec<_> = rows.collect();
    halted(
        &mut rows,
        |which, time| {
            format!("{:08}HAAA     {}0XX\n", clock(time) / 1_000, ["H", "Q", "T"][which]).into_bytes()
        },
        |_, _| Vec::new(),
    );
    day("pitch", "", vec![File { name: "pitch.txt", head: Vec::new(), rows, pack: plain }])
}

/// Each message behind its length.
fn framed(head: &[u8], rows: &[&[u8]]) -> Vec<u8> {
    let with_length = |row: &&[u8]| [&(row.len() as u16).to_be_bytes()[..], row].concat();
    [head, &rows.iter().flat_map(with_length).collect::<Vec<u8>>()].concat()
}

fn itch() -> Day {
    let name = |stock: usize| {
        let mut text = [b' '; 8];
        text[..3].copy_from_slice(STOCKS[stock].as_bytes());
        text
    };
    let mut trade = 0_u64;
    let mut rows = vec![(0, message(b'S', 0, 0, &[b"O"]))];
    for stock in 0..2 {
        rows.push((0, message(b'R', stock as u16 + 1, 0, &[&name(stock), &[b'N'; 20]])));
    }
    rows.extend(walk(2, 900, 13, 1_000).into_iter().map(|step| {
        trade += 1;
        let (order, locate) = (step.order.to_be_bytes(), step.stock as u16 + 1);
        let side = |buys: bool| if buys { *b"B" } else { *b"S" };
        let mut bytes = match step.what {
            Happening::Add { buys, quantity, price } => message(
                b'A',
                locate,
                0,
                &[&order, &side(buys), &quantity.to_be_bytes(), &name(step.stock), &price.to_be_bytes()],
            ),
            Happening::Reduce { quantity } => message(b'X', locate, 0, &[&order, &quantity.to_be_bytes()]),
            Happening::Delete { .. } => message(b'D', locate, 0, &[&order]),
            Happening::Execute { quantity, .. } => {
                message(b'E', locate, 0, &[&order, &quantity.to_be_bytes(), &trade.to_be_bytes()])
            }
            Happening::Hidden { buys, quantity, price } => message(
                b'P',
                locate,
                0,
                &[
                    &[0; 8],
                    // Before the last quarter each is a purchase.
                    &side(!buys),
                    &quantity.to_be_bytes(),
                    &name(step.stock),
                    &price.to_be_bytes(),
                    &trade.to_be_bytes(),
                ],
            ),
        };
        bytes[5..11].copy_from_slice(&((OPEN_US + step.time) * 1_000).to_be_bytes()[2..]);
        (step.time, bytes)
    }));
    halted(
        &mut rows,
        |which, time| {
            let mut bytes = message(b'H', 1, 0, &[&name(0), &[b"HQT"[which]], b"     "]);
            bytes[5..11].copy_from_slice(&((OPEN_US + time) * 1_000).to_be_bytes()[2..]);
            bytes
        },
        |what, time| {
            let [shares, match_number] = [&300_u32.to_be_bytes()[..], &7_u64.to_be_bytes()[..]];
            let price = CROSS.to_be_bytes();
            let mut messages: Vec<Vec<u8>> = Vec::new();
            for ((order, limit), side) in CROSSING.into_iter().zip([b"B", b"S"]) {
                let order = order.to_be_bytes();
                messages.push(match what {
                    Crossing::Orders => {
                        message(b'A', 1, 0, &[&order, side, shares, &name(0), &limit.to_be_bytes()])
                    }
                    Crossing::Cross => message(b'C', 1, 0, &[&order, shares, match_number, b"N", &price]),
                });
            }
            if matches!(what, Crossing::Cross) {
                let rest: [&[u8]; 5] = [&300_u64.to_be_bytes(), &name(0), &price, match_number, b"H"];
                messages.insert(0, message(b'Q', 1, 0, &rest));
            }
            for message in &mut messages {
                message[5..11].copy_from_slice(&((OPEN_US + time) * 1_000).to_be_bytes()[2..]);
            }
            messages
        },
    );
    day("itch", "", vec![File { name: "day.itch", head: Vec::new(), rows, pack: framed }])
}

const DBN_NAMES: [(u32, &str); 2] = [(42, "ESH4"), (43, "NQH4")];

/// Records of market by order and of statuses, as raw bytes.
fn records(_head: &[u8], rows: &[&[u8]]) -> Vec<u8> {
    let record = |row: &&[u8]| {
        let number = |at: usize| u64::from_le_bytes(row[at..at + 8].try_into().unwrap());
        let mut record = mbo(row[0], row[1], number(8), number(16) as i64, number(24) as u32, row[2] != 0);
        record.hd.instrument_id = number(32) as u32;
        record.hd.ts_event = number(40);
        record.ts_recv = number(48);
        record
    };
    let status = |row: &&[u8]| {
        let record = record(row);
        let unknown = b'~' as std::ffi::c_char;
        dbn::StatusMsg {
            hd: dbn::RecordHeader::new::<dbn::StatusMsg>(
                dbn::rtype::STATUS,
                1,
                record.hd.instrument_id,
                record.hd.ts_event,
            ),
            ts_recv: record.ts_recv,
            action: record.order_id as u16,
            reason: 0,
            trading_event: 0,
            is_trading: unknown,
            is_quoting: unknown,
            is_short_sell_restricted: unknown,
            _reserved: [0; 7],
        }
    };
    dbn_bytes(None, &DBN_NAMES, |encoder| {
        for row in rows {
            if row[0] == STATUS {
                encoder.encode_record(&status(row)).unwrap();
            } else {
                encoder.encode_record(&record(row)).unwrap();
            }
        }
    })
}

/// Instead of an action.
const STATUS: u8 = b'!';

/// A record as `records` takes it.
fn record(kinds: [u8; 3], numbers: [u64; 6]) -> Vec<u8> {
    let mut bytes = vec![0; 8];
    bytes[..3].copy_from_slice(&kinds);
    numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
    bytes
}

fn dbn() -> Day {
    let mut of = std::collections::BTreeMap::new();
    let mut rows = Vec::new();
    for step in walk(2, 900, 17, 1_000) {
        let time = 1_703_545_200_000_000_000 + step.time * 1_000;
        let id = u64::from(DBN_NAMES[step.stock].0);
        let mut push = |action: u8, buys: bool, order: u64, price: u32, size: u32, last: bool| {
            let side = if buys { b'B' } else { b'A' };
            let numbers = [order, u64::from(price) * 100_000, u64::from(size), id, time, time];
            rows.push((step.time, record([action, side, u8::from(last)], numbers)));
        };
        match step.what {
            Happening::Add { buys, quantity, price } => {
                of.insert(step.order, (buys, price));
                push(b'A', buys, step.order, price, quantity, true);
            }
            Happening::Reduce { quantity } => {
                let (buys, price) = of[&step.order];
                push(b'C', buys, step.order, price, quantity, true);
            }
            Happening::Delete { left } => {
                let (buys, price) = of[&step.order];
                push(b'C', buys, step.order, price, left, true);
            }
            Happening::Execute { buys, quantity, price } => {
                push(b'T', !buys, 0, price, quantity, false);
                push(b'F', buys, step.order, price, quantity, false);
                push(b'C', buys, step.order, price, quantity, true);
            }
            Happening::Hidden { buys, quantity, price } => push(b'T', !buys, 0, price, quantity, true),
        }
    }
    halted(
        &mut rows,
        |which, time| {
            let (id, at) = (u64::from(DBN_NAMES[0].0), 1_703_545_200_000_000_000 + time * 1_000);
            record([STATUS, b'N', 1], [[8, 3, 7][which], 0, 0, id, at, at])
        },
        |_, _| Vec::new(),
    );
    day("dbn", "", vec![File { name: "day.dbn", head: Vec::new(), rows, pack: records }])
}

fn sse() -> Day {
    let stocks = ["600519", "600761"];
    let mut of = std::collections::BTreeMap::new();
    let (mut orders, mut trades) = (Vec::new(), Vec::new());
    let mut incoming = 1_000_000;
    for (number, step) in walk(2, 900, 19, 10_000).into_iter().enumerate() {
        // The closing auction begins in the middle of it.
        let time = NEAR_CLOSE_US + step.time;
        let (seconds, ms) = (time / 1_000_000, time / 1_000 % 1_000);
        let clock = format!("{:02}:{:02}:{:02}.{ms:03}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
        let decimal = |price: u32| format!("{}.{:04}", price / 10_000, price % 10_000);
        let (stock, index) = (stocks[step.stock], number + 1);
        let order = |kind: char, buys: bool, price: u32, quantity: u32| {
            let (side, price) = (if buys { 'B' } else { 'S' }, decimal(price));
            format!(
                "0,1,6,{stock},{clock},{kind},{},{price},{quantity},{side},{index},{clock},1\n",
                step.order
            )
        };
        match step.what {
            Happening::Add { buys, quantity, price } => {
                of.insert(step.order, (buys, price, quantity));
                orders.push((step.time, order('A', buys, price, quantity).into_bytes()));
            }
            // The exchange has no cancel of a part.
            Happening::Reduce { .. } => {}
            Happening::Delete { .. } => {
                if let Some((buys, price, left)) = of.remove(&step.order) {
                    orders.push((step.time, order('D', buys, price, left).into_bytes()));
                }
            }
            Happening::Execute { buys, quantity, price } => {
                let Some((_, _, left)) = of.get_mut(&step.order) else { continue };
                *left -= quantity;
                incoming += 1;
                let (buy, sell) = if buys { (step.order, incoming) } else { (incoming, step.order) };
                let flag = if buys { 'S' } else { 'B' };
                let money = f64::from(price) / 10_000.0 * f64::from(quantity);
                let price = decimal(price);
                let row = format!(
                    "0,1,6,{stock},{clock},{price},{quantity},{money},{buy},{sell},{flag},{index},{clock},1\n"
                );
                trades.push((step.time, row.into_bytes()));
            }
            Happening::Hidden { .. } => {}
        }
    }
    let heads = [crate::support::SSE_ORDERS, crate::support::SSE_TRADES].map(|text| {
        let (head, _) = text.split_once('\n').unwrap();
        format!("{head}\n").into_bytes()
    });
    let [of_orders, of_trades] = heads;
    let files = vec![
        File { name: "entrust.csv", head: of_orders, rows: orders, pack: plain },
        File { name: "trade.csv", head: of_trades, rows: trades, pack: plain },
    ];
    day("sse", "", files)
}

fn data(name: &str) -> Option<PathBuf> {
    let given = std::env::var_os("COLO_DATA").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let path = given.unwrap_or(beside).join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {name} is not there: COLO_DATA names its folder");
    None
}

fn unpacked(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).unwrap();
    flate2::read::MultiGzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    bytes
}

fn lines(bytes: &[u8], time: impl Fn(&str) -> u64) -> Vec<(u64, Vec<u8>)> {
    let text = std::str::from_utf8(bytes).unwrap();
    text.lines().map(|line| (time(line), format!("{line}\n").into_bytes())).collect()
}

/// Digits of a decimal with up to nine places, as nanoseconds.
fn nanoseconds(text: &str) -> u64 {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    whole.parse::<u64>().unwrap() * 1_000_000_000 + format!("{rest:0<9}").parse::<u64>().unwrap()
}

/// Recorded days, as far as they are at hand; their first `rows` times each.
pub fn recorded(rows: usize) -> Vec<Day> {
    let mut days = Vec::new();
    let mut add = |source, more, files| {
        let pace_ms = if matches!(source, "itch" | "dbn") { 37_000 } else { 37 };
        let day =
            Day { name: format!("{source}, recorded"), source, more, pace_ms, has_phases: false, files };
        days.push(day.first(rows));
    };
    if let Some(path) = data("lobster-aapl-20120621/message.csv.gz") {
        let rows = lines(&unpacked(&path), |line| nanoseconds(line.split(',').next().unwrap()));
        add(
            "lobster",
            "prior = \"none\"\nsymbols = [\"AAPL\"]",
            vec![File { name: "message.csv", head: Vec::new(), rows, pack: plain }],
        );
    }
    if let Some(path) = data("pitch-288/pitch.txt.gz") {
        let rows = lines(&unpacked(&path), |line| line[..8].parse().unwrap());
        // One session: where its clock begins anew the next one does.
        let end =
            rows.windows(2).position(|pair| pair[1].0 + 60_000 < pair[0].0).map_or(rows.len(), |at| at + 1);
        let rows = rows[..end].to_vec();
        add(
            "pitch",
            "symbols = [\"SSO\", \"DXD\"]",
            vec![File { name: "pitch.txt", head: Vec::new(), rows, pack: plain }],
        );
    }
    if let Some(path) = data("itch-20101224/ex20101224.TEST_ITCH_50") {
        let time = |bytes: &[u8]| bytes[5..11].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let messages = md::source::itch::messages(&path).unwrap();
        let rows = messages.into_iter().map(|bytes| (time(&bytes), bytes)).collect();
        add(
            "itch",
            "symbols = [\"BOB\"]",
            vec![File { name: "day.itch", head: Vec::new(), rows, pack: framed }],
        );
    }
    if let Some(path) = data("sse-600519-20230201") {
        let file = |name: &'static str, packed: &str| {
            let bytes = unpacked(&path.join(packed));
            let end = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
            let time = |line: &str| {
                let clock = line.split(',').nth(4).unwrap();
                let parts: Vec<&str> = clock.split(':').collect();
                let whole = (parts[0].parse::<u64>().unwrap() * 60 + parts[1].parse::<u64>().unwrap()) * 60;
                whole * 1_000_000_000 + nanoseconds(parts[2])
            };
            File { name, head: bytes[..end].to_vec(), rows: lines(&bytes[end..], time), pack: plain }
        };
        add("sse", "", vec![file("entrust.csv", "entrust.csv.gz"), file("trade.csv", "trade.csv.gz")]);
    }
    if let Some(path) = data("dbn-es-20231225/esh4-glbx-mdp3-20231225.mbo.dbn.zst") {
        use dbn::decode::{DecodeRecord, DynDecoder};
        let mut decoder = DynDecoder::from_file(&path, dbn::VersionUpgradePolicy::AsIs).unwrap();
        let mut all = Vec::new();
        while let Some(found) = decoder.decode_record::<dbn::MboMsg>().unwrap() {
            all.push(found.clone());
        }
        let rows = all.iter().map(|found| (found.ts_recv, raw(found))).collect();
        add("dbn", "", vec![File { name: "day.dbn", head: Vec::new(), rows, pack: raw_records }]);
    }
    days
}

fn raw(found: &dbn::MboMsg) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.write_all(found.as_ref()).unwrap();
    bytes
}

/// Records as they were, under metadata of our own.
fn raw_records(_head: &[u8], rows: &[&[u8]]) -> Vec<u8> {
    let id = rows.first().map_or(42, |row| u32::from_le_bytes(row[4..8].try_into().unwrap()));
    [&dbn_file_of(&[], dbn::Schema::Mbo, &[(id, "ESH4")])[..], &rows.concat()].concat()
}
