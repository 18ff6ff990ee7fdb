//! Damage that leaves every row readable: each kind is counted under its name, and ends the replay where none is
//! tolerated.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use dbn::MboMsg;
use md::source::{Counts, Files, OnBadRow, Options, SourceKind, Tolerance};
use support::*;

/// Reads the count of one kind of damage.
type Kind = fn(&Counts) -> u64;

/// Name, orders and trades, what is counted and how often, words of the error.
type Shanghai = (&'static str, (String, String), Kind, u64, &'static [&'static str]);

fn strict() -> Options {
    Options { tolerate: Tolerance::share(0.0), ..Options::default() }
}

/// Counted once under its name; an error with these words if nothing is tolerated.
fn expect(name: &str, kind: SourceKind, files: &Files, counted: (Kind, u64), words: &[&str]) {
    let counts =
        replay(kind, files, &Options::default()).unwrap_or_else(|error| panic!("{name}: {error}")).counts;
    assert_eq!(counted.0(&counts), counted.1, "{name}: {counts:?}");
    let error = match replay(kind, files, &strict()) {
        Ok(_) => panic!("{name}: tolerated"),
        Err(error) => error.to_string(),
    };
    for word in words.iter().copied().chain(["row ", "md.tolerate = 0 allows", "get the data again"]) {
        assert!(error.contains(word), "{name}: `{word}` is not in: {error}");
    }
}

/// One change of a text: every source must have it once.
fn changed(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "`{from}` is not once in the file");
    text.replace(from, to)
}

/// Without the row that takes too much.
fn sound_lobster() -> String {
    changed(LOBSTER, "2,11,40,", "2,11,10,")
}

#[test]
fn what_is_sound_passes_where_nothing_is_tolerated() {
    let lobster = sound_lobster();
    for (kind, files) in [
        (SourceKind::Sse, vec![("o.csv", SSE_ORDERS), ("t.csv", SSE_TRADES)]),
        (SourceKind::Sse, vec![("o.csv", SSE2_ORDERS), ("t.csv", SSE2_TRADES)]),
        (SourceKind::Lobster, vec![("message.csv", &lobster)]),
        (SourceKind::Pitch, vec![("pitch.txt", PITCH)]),
    ] {
        let replayed = replay(kind, &path(&folder(&files)), &strict()).unwrap();
        assert_eq!((replayed.counts.irregular(), replayed.counts.unended), (0, 0), "{kind:?}");
    }
    let replayed = replay(SourceKind::Dbn, &path(&dbn(&day())), &strict()).unwrap();
    assert_eq!(replayed.counts.irregular(), 0);
}

#[test]
fn damage_in_shanghai_files_is_counted_by_kind() {
    let orders = |from, to| (changed(SSE_ORDERS, from, to), SSE_TRADES.to_owned());
    let trades = |from, to| (SSE_ORDERS.to_owned(), changed(SSE_TRADES, from, to));
    let second = |from, to| (changed(SSE2_ORDERS, from, to), SSE2_TRADES.to_owned());
    let second_trades = |from, to| (SSE2_ORDERS.to_owned(), changed(SSE2_TRADES, from, to));
    let cases: [Shanghai; 16] = [
        (
            "a number twice",
            orders("A,3,9.9", "A,2,9.9"),
            |c| c.displaced,
            1,
            &["o.csv, row 4", "order number", "found 2"],
        ),
        (
            "a number again",
            orders("A,5,9.9", "A,1,9.9"),
            |c| c.reused,
            1,
            &["o.csv, row 5", "no order before has"],
        ),
        (
            "a cancel of too much",
            orders("D,2,10,200", "D,2,10,900"),
            |c| c.excess,
            1,
            &["row 6", "900", "200"],
        ),
        (
            "a cancel of too little",
            orders("D,2,10,200", "D,2,10,20"),
            |c| c.off_quantity,
            1,
            &["row 6", "20", "200"],
        ),
        (
            "a cancel of nobody",
            orders("D,2,10,200", "D,77,10,200"),
            |c| c.unmatched,
            1,
            &["row 6", "77", "missing"],
        ),
        (
            "back in time",
            orders("09:30:02.000,D", "09:10:02.000,D"),
            |c| c.off_time,
            1,
            &["o.csv, row 6, time"],
        ),
        (
            "ahead in time",
            orders("09:30:00.000,A", "23:30:00.000,A"),
            |c| c.off_time,
            1,
            &["o.csv, row 4, time"],
        ),
        (
            "a price times 100",
            trades("9.9,200,1980", "990,200,198000"),
            |c| c.off_price,
            1,
            &["t.csv, row 3", "at 990", "at 9.9"],
        ),
        (
            "an auction's price",
            trades("10,300,3000", "10.02,300,3006"),
            |c| c.off_price,
            1,
            &["t.csv, row 2", "at 10.02"],
        ),
        (
            "more than there is",
            trades("9.9,200,1980", "9.9,500,4950"),
            |c| c.excess,
            1,
            &["t.csv, row 3", "500"],
        ),
        (
            "money that is none",
            trades("9.9,200,1980", "9.9,150,1980"),
            |c| c.off_quantity,
            1,
            &["t.csv, row 3, money"],
        ),
        ("a trade of nobody", trades(",3,5,S", ",77,5,S"), |c| c.unmatched, 1, &["t.csv, row 3", "77"]),
        (
            "a number twice, second layout",
            second("1,4,3,600519", "1,4,2,600519"),
            |c| c.displaced,
            1,
            &["o.csv, row 4"],
        ),
        (
            "back in time, second layout",
            second("93002000,", "91002000,"),
            |c| c.off_time,
            1,
            &["o.csv, row 6"],
        ),
        (
            "a price times 100, second layout",
            second_trades("9.9,200", "990,200"),
            |c| c.off_price,
            1,
            &["t.csv, row 3"],
        ),
        ("too much, second layout", second_trades("9.9,200", "9.9,201"), |c| c.excess, 1, &["t.csv, row 3"]),
    ];
    for (name, (orders, trades), kind, count, words) in cases {
        let folder = folder(&[("o.csv", &orders), ("t.csv", &trades)]);
        expect(name, SourceKind::Sse, &path(&folder), (kind, count), words);
    }
}

#[test]
fn rows_of_shanghai_that_were_cut_or_are_of_another_day_are_no_rows() {
    let dated = SSE2_ORDERS.lines().enumerate().map(|(row, line)| match row {
        0 => format!("{line},MDDate\n"),
        4 => format!("{line},20230202\n"),
        _ => format!("{line},20230201\n"),
    });
    let cut = SSE2_ORDERS.trim_end().strip_suffix("19.SH").unwrap();
    for (name, orders, words) in [
        ("cut inside its last column", cut.to_owned(), ["o.csv, row 6", "`6005`"]),
        ("another day", dated.collect(), ["o.csv, row 5", "another day"]),
    ] {
        let folder = folder(&[("o.csv", &orders), ("t.csv", SSE2_TRADES)]);
        let error = replay(SourceKind::Sse, &path(&folder), &Options::default()).err().unwrap().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{name}: {error}");
    }
    // A number that nothing checks: only the missing line end shows the cut, in each text source.
    let lobster = sound_lobster();
    let cut = SSE_ORDERS.trim_end().replace(",09:30:02.000,5", ",09:30:02.000,");
    for (kind, files) in [
        (SourceKind::Sse, vec![("o.csv", cut.as_str()), ("t.csv", SSE_TRADES)]),
        (SourceKind::Lobster, vec![("message.csv", lobster.trim_end())]),
        (SourceKind::Pitch, vec![("pitch.txt", PITCH.trim_end())]),
    ] {
        let replayed = replay(kind, &path(&folder(&files)), &strict()).unwrap();
        assert_eq!(replayed.counts.unended, 1, "{kind:?}");
    }
}

/// Continuous trading at 9.9 to 10.1, without an auction before it.
const SSE_TRADING: &str = "\
MDTime,OrderType,OrderPrice,OrderQty,OrderBSFlag,ApplSeqNum,OrderNO,SecurityID
91500020,2,9.8,300,1,1,1,600519.SH
91500030,2,9.9,300,1,2,2,600519.SH
91500040,2,10.1,300,2,3,3,600519.SH
93001000,2,9.7,100,1,7,6,600519.SH
93002000,2,9.85,100,2,8,7,600519.SH
93003000,10,0,300,2,9,3,600519.SH
";
/// Order 4 takes all of order 2 at 9.9, order 5 a part of order 1.
const SSE_TRADING_TRADES: &str = "\
MDTime,TradeBuyNo,TradeSellNo,TradeBSFlag,TradePrice,TradeQty,ApplSeqNum,SecurityID
93000000,2,4,2,9.9,300,5,600519.SH
93000500,1,5,2,9.8,100,6,600519.SH
";

#[test]
fn a_row_that_is_missing_in_shanghai_does_not_leave_the_book_crossed() {
    let sound = folder(&[("o.csv", SSE_TRADING), ("t.csv", SSE_TRADING_TRADES)]);
    let sound = replay(SourceKind::Sse, &path(&sound), &strict()).unwrap();
    assert_eq!(sound.counts.irregular(), 0);
    let without = |text: &str, row: &str| changed(text, row, "");
    let best = |replayed: &Replayed| replayed.quotes.last().unwrap().best_bid().unwrap().price;
    for (name, trades, words) in [
        // The next trade is below a better bid.
        (
            "a trade",
            without(SSE_TRADING_TRADES, "93000000,2,4,2,9.9,300,5,600519.SH\n"),
            ["t.csv, row 2, price", "order 2"],
        ),
        // No trade follows: the new offer would cross it.
        (
            "all trades",
            without(
                &without(SSE_TRADING_TRADES, "93000000,2,4,2,9.9,300,5,600519.SH\n"),
                "93000500,1,5,2,9.8,100,6,600519.SH\n",
            ),
            ["o.csv, row 6, price", "order 2"],
        ),
    ] {
        let folder = folder(&[("o.csv", SSE_TRADING), ("t.csv", &trades)]);
        expect(name, SourceKind::Sse, &path(&folder), (|c| c.crossed, 1), &words);
        let replayed = replay(SourceKind::Sse, &path(&folder), &Options::default()).unwrap();
        assert_eq!(replayed.books.crossed(), 0, "{name}");
        assert_eq!(best(&replayed), best(&sound), "{name}");
    }
}

#[test]
fn an_orders_file_that_lacks_its_head_is_noticed() {
    let rows: Vec<&str> = SSE_ORDERS.lines().collect();
    let header = folder(&[("o.csv", &format!("{}\n", rows[0])), ("t.csv", SSE_TRADES)]);
    let error = replay(SourceKind::Sse, &path(&header), &Options::default()).err().unwrap().to_string();
    assert!(error.contains("o.csv: the file holds no data"), "{error}");
    let late = rows[5].replace("09:30", "14:50");
    let late = folder(&[("o.csv", &format!("{}\n{late}\n", rows[0])), ("t.csv", SSE_TRADES)]);
    let later = SSE_TRADES.replace("09:25:00.000", "09:45:00.000").replace("09:30:01", "09:45:01");
    let cut = rows[4].replace("09:30:01", "09:46:40").replace(",6,09:30", ",9,09:30");
    let cut = folder(&[("o.csv", &format!("{}\n{cut}\n", rows[0])), ("t.csv", &later)]);
    for (name, folder, unmatched) in [("one late order", late, 4), ("cut at its head", cut, 3)] {
        expect(name, SourceKind::Sse, &path(&folder), (|c| c.unmatched, unmatched), &["t.csv, row 2"]);
    }
}

#[test]
fn an_order_of_shanghai_far_from_the_market_is_no_order() {
    for (name, price) in [("x10", "98.5"), ("/10", "0.985"), ("x100", "985")] {
        let orders = changed(SSE_TRADING, "9.85,100", &format!("{price},100"));
        let folder = folder(&[("o.csv", &orders), ("t.csv", SSE_TRADING_TRADES)]);
        expect(name, SourceKind::Sse, &path(&folder), (|c| c.off_price, 1), &["o.csv, row 6", price]);
    }
}

#[test]
fn a_recording_that_begins_later_may_name_orders_from_before() {
    let late = |text: &str| text.replace("09:15:00", "10:15:00").replace("09:25:00", "10:25:00");
    let orders = late(SSE_ORDERS).replace("09:30", "10:30").replace("D,2,10,200", "D,77,10,200");
    let trades = late(SSE_TRADES).replace("09:30", "10:30");
    let folder = folder(&[("o.csv", &orders), ("t.csv", &trades)]);
    let replayed = replay(SourceKind::Sse, &path(&folder), &Options::default()).unwrap();
    assert_eq!((replayed.counts.unmatched, replayed.counts.skipped.unknown_order), (0, 1));
}

#[test]
fn damage_in_lobster_files_is_counted_by_kind() {
    let of = |from, to| changed(&sound_lobster(), from, to);
    let cases: [(&str, String, Kind, u64, &[&str]); 8] = [
        ("a number twice", of("34200.2,1,12,", "34200.2,1,11,"), |c| c.displaced, 1, &["row 2", "found 11"]),
        (
            "a number again",
            of("34200.9,6,-1,500,1000000,-1", "34200.9,1,11,5,1000000,1"),
            |c| c.reused,
            1,
            &["row 9"],
        ),
        ("back in time", of("34200.3,", "34100.3,"), |c| c.off_time, 1, &["row 3", "column 1"]),
        ("ahead in time", of("34200.3,", "80000.3,"), |c| c.off_time, 1, &["row 4", "column 1"]),
        (
            "a price times 100",
            of("4,12,20,1001000", "4,12,20,100100000"),
            |c| c.off_price,
            1,
            &["row 3", "10010"],
        ),
        (
            "a hidden price times 100",
            of("5,0,30,1000500", "5,0,30,100050000"),
            |c| c.off_price,
            1,
            &["row 4"],
        ),
        ("more than there is", of("4,12,20,", "4,12,60,"), |c| c.excess, 1, &["row 3", "60", "50"]),
        (
            "another side",
            of("4,12,20,1001000,-1", "4,12,20,1001000,1"),
            |c| c.off_price,
            1,
            &["row 3", "buy", "sell"],
        ),
    ];
    for (name, text, kind, count, words) in cases {
        expect(name, SourceKind::Lobster, &path(&folder(&[("message.csv", &text)])), (kind, count), words);
    }
}

#[test]
fn lobster_rows_that_would_take_good_orders_with_them_are_counted() {
    const DAY: &str = "\
34200.1,1,11,18,1000000,1
34200.2,1,12,50,1001000,-1
34200.3,1,13,50,1002000,-1
34200.400000001,4,12,20,1001000,-1
34200.5,1,14,10,1000500,1
34200.6,1,15,10,999000,1
34200.7,3,15,10,999000,1
34200.8,3,14,10,1000500,1
34200.9,3,13,50,1002000,-1
";
    let of = |from, to| changed(DAY, from, to);
    let twice = |row: &str| changed(DAY, row, &[row, row].concat());
    let cases: [(&str, String, Kind, u64, &[&str]); 5] = [
        (
            "an add times 10",
            of("1,14,10,1000500", "1,14,10,10005000"),
            |c| c.off_price,
            1,
            &["row 5, price", "1000.5"],
        ),
        (
            "an add divided by 10",
            of("1,13,50,1002000", "1,13,50,100200"),
            |c| c.off_price,
            1,
            &["row 3, price"],
        ),
        (
            "an execution twice",
            twice("34200.400000001,4,12,20,1001000,-1\n"),
            |c| c.unmatched,
            1,
            &["row 5", "once more"],
        ),
        (
            "an order that is gone",
            of("34200.9,3,13,50,1002000,-1", "34200.9,3,14,50,1000500,1"),
            |c| c.unmatched,
            1,
            &["row 9", "found 14"],
        ),
        // A sell below the bid implies that the bid is gone; its next row contradicts that.
        ("another side", of("1,15,10,999000,1", "1,15,10,999000,-1"), |c| c.unmatched, 1, &["row 7"]),
    ];
    for (name, text, kind, count, words) in cases {
        let folder = folder(&[("message.csv", &text)]);
        if name == "another side" {
            let counts = replay(SourceKind::Lobster, &path(&folder), &Options::default()).unwrap().counts;
            assert_eq!((counts.off_price, counts.unmatched), (1, 1), "{counts:?}");
            continue;
        }
        let counts = replay(SourceKind::Lobster, &path(&folder), &Options::default()).unwrap().counts;
        assert_eq!(counts.stale, 0, "{name}");
        expect(name, SourceKind::Lobster, &path(&folder), (kind, count), words);
    }
}

#[test]
fn a_book_that_stays_crossed_in_trading_is_counted() {
    // A sell far below the bid, in a source whose cancels name no price.
    let add = |time: u64, order: &str, side: char, price: u64| {
        format!("{time:08}AAK27GA0000{order}{side}000100SH    {price:010}Y\n")
    };
    let text = [
        add(28_800_011, "AA", 'B', 619_200),
        add(28_800_012, "BB", 'S', 619_300),
        "28800020EAK27GA0000BB00004000001AQ00001\n".to_owned(),
        add(28_800_030, "CC", 'S', 61_930),
    ];
    let text: String = text
        .concat()
        .replace("AAK27GA0000AA", "AAK27GA00000A")
        .replace("K27GA0000BB", "K27GA00000B")
        .replace("AAK27GA0000CC", "AAK27GA00000C");
    let folder = folder(&[("pitch.txt", &text)]);
    expect("crossed", SourceKind::Pitch, &path(&folder), (|c| c.crossed, 1), &["row 4", "crossed"]);
}

#[test]
fn damage_in_pitch_files_is_counted_by_kind() {
    let of = |from, to| changed(PITCH, from, to);
    let hidden = "28800045P4K27GA00003PB000100DXD   0049960000000N4AQ00004\n28800050H";
    let cases: [(&str, String, Kind, u64, &[&str]); 5] = [
        ("a number twice", of("ABK27GA00000K", "AAK27GA0000DT"), |c| c.displaced, 1, &["row 2", "order id"]),
        ("back in time", of("28800030X", "28700030X"), |c| c.off_time, 1, &["row 4", "timestamp"]),
        ("ahead in time", of("28800030X", "48700030X"), |c| c.off_time, 1, &["row 5", "timestamp"]),
        ("more than there is", of("DT00004000001A", "DT00014000001A"), |c| c.excess, 1, &["row 3", "140"]),
        ("a hidden price times 100", of("28800050H", hidden), |c| c.off_price, 1, &["row 6, price"]),
    ];
    for (name, text, kind, count, words) in cases {
        expect(name, SourceKind::Pitch, &path(&folder(&[("pitch.txt", &text)])), (kind, count), words);
    }
}

const PRICE: i64 = 4_800_250_000_000;

/// Order 7 is executed in part, order 8 cancelled.
fn day() -> Vec<MboMsg> {
    vec![
        mbo(b'A', b'A', 7, PRICE, 5, true),
        mbo(b'A', b'A', 8, PRICE, 6, true),
        mbo(b'T', b'B', 9, PRICE, 3, false),
        mbo(b'F', b'A', 7, PRICE, 3, false),
        mbo(b'M', b'A', 7, PRICE, 2, true),
        mbo(b'C', b'A', 8, PRICE, 6, true),
    ]
}

fn dbn(records: &[MboMsg]) -> tempfile::TempDir {
    let folder = folder(&[]);
    write(&folder.path().join("x.dbn"), &dbn_file(records, dbn::Schema::Mbo));
    folder
}

fn day_with(row: usize, change: fn(&mut MboMsg)) -> tempfile::TempDir {
    let mut records = day();
    change(&mut records[row - 1]);
    dbn(&records)
}

#[test]
fn damage_in_dbn_files_is_counted_by_kind() {
    const DAY: u64 = 86_400_000_000_000;
    let cases: [(&str, tempfile::TempDir, Kind, u64, &[&str]); 7] = [
        (
            "a number twice",
            day_with(2, |record| record.order_id = 7),
            |c| c.displaced,
            1,
            &["row 2", "order id"],
        ),
        (
            "a fill's price times 100",
            day_with(4, |r| r.price *= 100),
            |c| c.off_price,
            1,
            &["price of a fill", "480025"],
        ),
        (
            "a trade's price times 100",
            day_with(3, |r| r.price *= 100),
            |c| c.off_price,
            1,
            &["price of a fill", "480025"],
        ),
        (
            "more than its trade",
            day_with(4, |record| record.size = 4),
            |c| c.excess,
            1,
            &["size of a fill", "found 4"],
        ),
        ("a cancel of too much", day_with(6, |record| record.size = 7), |c| c.excess, 1, &["row 6", "7 at"]),
        ("a day later", day_with(2, |record| record.hd.ts_event += DAY), |c| c.off_time, 1, &["row 2, time"]),
        ("received before", day_with(2, |record| record.ts_recv -= 1), |c| c.off_time, 1, &["row 2, time"]),
    ];
    for (name, folder, kind, count, words) in &cases {
        expect(name, SourceKind::Dbn, &path(folder), (*kind, *count), words);
    }
}

#[test]
fn records_that_the_vendor_doubts_are_counted_and_used() {
    let sound = replay(SourceKind::Dbn, &path(&day_with(2, |_| ())), &strict()).unwrap();
    let marked = day_with(2, |record| {
        record.flags = dbn::FlagSet::new(dbn::flags::MAYBE_BAD_BOOK | dbn::flags::LAST);
    });
    let replayed = replay(SourceKind::Dbn, &path(&marked), &strict()).unwrap();
    assert_eq!((sound.counts.doubted, replayed.counts.doubted, replayed.counts.irregular()), (0, 1, 0));
    assert_eq!(sound.parts(), replayed.parts());
}

/// The decoder would read the record behind it at an address that is no multiple of 8.
#[test]
fn a_record_of_dbn_with_an_odd_length_ends_the_file_there() {
    let records = [
        mbo(b'A', b'B', 7, PRICE, 5, true),
        mbo(b'A', b'B', 8, PRICE, 5, true),
        mbo(b'A', b'B', 9, PRICE, 5, true),
    ];
    let sound = dbn_file(&records, dbn::Schema::Mbo);
    let second = sound.len() - 2 * size_of::<MboMsg>();
    for (words, claims) in [(13, "52"), (0, "0 bytes"), (255, "1020")] {
        let mut bytes = sound.clone();
        bytes[second] = words;
        let folder = folder(&[]);
        write(&folder.path().join("x.dbn"), &bytes);
        let error = replay(SourceKind::Dbn, &path(&folder), &Options::default()).err().unwrap().to_string();
        assert!(error.contains(claims) && error.contains("row 1"), "{error}");
    }
}

#[test]
fn records_of_dbn_that_cannot_be_are_bad_rows() {
    for (name, folder, words) in [
        ("size", day_with(2, |record| record.size = u32::MAX), ["row 2, size", "4294967295"]),
        (
            "instrument",
            day_with(2, |record| record.hd.instrument_id = 43),
            ["row 2, instrument id", "metadata names"],
        ),
    ] {
        let error = replay(SourceKind::Dbn, &path(&folder), &Options::default()).err().unwrap().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{name}: {error}");
        let skip = Options { on_bad_row: OnBadRow::Skip, ..Options::default() };
        let replayed = replay(SourceKind::Dbn, &path(&folder), &skip).unwrap();
        assert_eq!((replayed.counts.rejected, replayed.instruments.len()), (1, 1), "{name}");
    }
}

#[test]
fn a_fill_without_a_price_has_its_orders() {
    let folder = day_with(4, |record| record.price = dbn::UNDEF_PRICE);
    let replayed = replay(SourceKind::Dbn, &path(&folder), &strict()).unwrap();
    let execution = replayed.events.iter().flat_map(|event| &event.book_events);
    let mut execution = execution.filter(|part| part.action == wire::BookAction::Execute);
    assert_eq!(execution.next().map(|part| (part.price.0, part.quantity.0)), Some((PRICE, 3)));
}

/// Sets when a record was made and received.
fn at(mut record: MboMsg, instrument: u32, event: u64, received: u64) -> MboMsg {
    record.hd.instrument_id = instrument;
    record.hd.ts_event = 1_703_545_200_000_000_000 + event;
    record.ts_recv = 1_703_545_200_000_000_000 + received;
    record
}

fn snapshot(mut record: MboMsg) -> MboMsg {
    record.flags = dbn::FlagSet::new(dbn::flags::SNAPSHOT);
    record
}

#[test]
fn a_snapshot_has_the_time_it_was_taken_and_waits_for_no_record_of_its_own_instrument() {
    let yesterday = 0_u64.wrapping_sub(86_400_000_000_000);
    let old = |record: MboMsg, instrument: u32, received: u64| {
        let mut record = snapshot(at(record, instrument, 0, received));
        record.hd.ts_event = record.hd.ts_event.wrapping_add(yesterday);
        record
    };
    let records = [
        old(mbo(b'R', b'N', 0, dbn::UNDEF_PRICE, 0, false), 42, 1_000),
        old(mbo(b'A', b'A', 7, PRICE, 5, false), 42, 1_000),
        at(mbo(b'A', b'B', 8, PRICE, 5, true), 42 + 1, 1_500, 1_600),
        at(mbo(b'A', b'B', 9, PRICE, 5, true), 42 + 1, 9_500, 9_600),
    ];
    let bytes = dbn_file_of(&records, dbn::Schema::Mbo, &[]);
    let folder = folder(&[]);
    write(&folder.path().join("x.dbn"), &bytes);
    let replayed = replay(SourceKind::Dbn, &path(&folder), &strict()).unwrap();
    let seen: Vec<_> =
        replayed.events.iter().map(|event| (event.instrument.0, event.event_time.0 % 1_000_000)).collect();
    assert_eq!(seen, [(1, 1_000), (2, 1_500), (2, 9_500)]);
    assert_eq!(replayed.events[0].book_events.len(), 2);
}

#[test]
fn without_marks_an_event_ends_with_the_next_time_of_any_instrument() {
    let records = [
        at(mbo(b'A', b'A', 7, PRICE, 5, false), 42, 1_000, 1_100),
        at(mbo(b'A', b'A', 8, PRICE, 5, false), 42, 1_000, 1_100),
        at(mbo(b'A', b'B', 9, PRICE, 5, false), 43, 2_000, 2_100),
        at(mbo(b'A', b'B', 10, PRICE, 5, false), 43, 3_000, 3_100),
        at(mbo(b'A', b'B', 11, PRICE, 5, false), 42, 4_000, 4_100),
    ];
    let folder = folder(&[]);
    write(&folder.path().join("x.dbn"), &dbn_file_of(&records, dbn::Schema::Mbo, &[]));
    let replayed = replay(SourceKind::Dbn, &path(&folder), &strict()).unwrap();
    let seen: Vec<_> = replayed.events.iter().map(|event| event.event_time.0 % 1_000_000).collect();
    assert_eq!(seen, [1_000, 2_000, 3_000, 4_000]);
    assert_eq!(replayed.events[0].book_events.len(), 2);
}

#[test]
fn a_share_is_tolerated_and_the_next_row_is_not() {
    let text: String =
        (0..2_000).map(|row| format!("34200.{row:04},1,{},5,1000000,1\n", row % 1_998)).collect();
    let folder = folder(&[("message.csv", &text)]);
    let with = |share| {
        let options = Options { tolerate: Tolerance::share(share), ..Options::default() };
        replay(SourceKind::Lobster, &path(&folder), &options).map(|replayed| replayed.counts.displaced)
    };
    assert_eq!(with(0.001).unwrap(), 2);
    let error = with(0.000_9).err().unwrap().to_string();
    assert!(error.contains("2 of 2000 rows contradict others (displaced 2)"), "{error}");
}
