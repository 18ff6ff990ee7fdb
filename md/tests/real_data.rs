//! The sources on recorded days. They are looked for in the folder that COLO_DATA names, otherwise in `../shared/data`
//! beside the workspace; a test whose data is missing says so and passes.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

use std::path::PathBuf;

use md::book::Books;
use md::source::{
    Counts, Files, Options, Source, SourceEvent, SourceKind, Tolerance, open, parse_time_of_day,
};
use md::verify::{verify_dbn, verify_lobster, verify_pitch, verify_sse};
use wire::{BookAction, Price};

const SSE: &str = "sse-600519-20230201";
const LOBSTER: &str = "lobster-aapl-20120621";
const PITCH: &str = "pitch-288/pitch.txt.gz";
const DBN: &str = "dbn-es-20231225";

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

/// The result of a whole replay.
struct Replayed {
    source: Box<dyn Source>,
    books: Books,
    quotes: u64,
    trades: u64,
    events: u64,
    parts: u64,
}

fn replay(kind: SourceKind, path: PathBuf, options: &Options) -> Replayed {
    let mut source = open(kind, &Files::Path(path), options).unwrap();
    let mut books = Books::new(source.instruments());
    let (mut quotes, mut trades, mut events, mut parts) = (0, 0, 0, 0);
    let mut event = SourceEvent::default();
    while source.next(&mut event).unwrap() {
        events += 1;
        parts += event.book_events.len() as u64;
        if !event.warm_up {
            trades += event.trades.len() as u64;
        }
        let rebuilt = books.apply(&event);
        if rebuilt.crossed {
            source.crossed(&event).unwrap();
        }
        if let Some(quote) = rebuilt.quote {
            quotes += 1;
            assert!(!event.warm_up);
            if let (Some(bid), Some(ask)) = (quote.best_bid(), quote.best_ask()) {
                assert!(bid.price < ask.price, "crossed quote at row {}", event.row);
            }
        }
    }
    assert!(source.counts().balanced(), "{:?}", source.counts());
    assert_eq!(books.anomalies().total(), 0, "{:?}", books.anomalies());
    println!(
        "{:?}\nquotes {quotes} trades {trades} events {events} parts {parts} held crossed {}",
        source.counts(),
        books.crossed()
    );
    Replayed { source, books, quotes, trades, events, parts }
}

#[test]
fn sse_reproduces_every_snapshot_of_continuous_trading() {
    let Some(folder) = data(SSE) else { return };
    let report = verify_sse(&Files::Path(folder.clone()), &folder.join("snapshot.csv.gz"), &[]).unwrap();
    println!("{report:?}");
    assert_eq!(report.snapshots, 4_847);
    assert_eq!(report.identical, report.snapshots, "{:?}", report.first_difference);
    assert_eq!(report.identical_orders, report.snapshots);
    assert_eq!(report.anomalies, 0);
}

#[test]
fn sse_accounts_for_every_row() {
    let Some(folder) = data(SSE) else { return };
    let replayed = replay(SourceKind::Sse, folder, &Options::default());
    let counts = replayed.source.counts();
    assert_eq!(*counts, Counts { read: 81_870, applied: 81_870, ..Counts::default() });
    // The day has eight phases, and the files no row for them.
    assert_eq!((replayed.events, replayed.trades), (81_870 + 8, 27_135));
    let instrument = replayed.source.instruments()[0];
    assert_eq!(instrument.symbol.as_str(), "600519.SH");
    assert_eq!(instrument.tick, Price(10_000_000));
    assert_eq!(
        instrument.reference_price,
        Price::NONE,
        "the first trade is not known at the begin of the day"
    );
    assert!(replayed.parts > replayed.events);
    assert!(replayed.quotes > 40_000);
}

#[test]
fn a_window_builds_the_book_but_publishes_only_its_own_part() {
    let Some(folder) = data(SSE) else { return };
    let options = Options {
        from: Some(parse_time_of_day("from", "10:00:00").unwrap()),
        to: Some(parse_time_of_day("to", "10:30:00").unwrap()),
        ..Options::default()
    };
    let replayed = replay(SourceKind::Sse, folder, &options);
    let counts = replayed.source.counts();
    assert_eq!(counts.read, 81_870);
    assert!(counts.warm_up > 10_000 && counts.skipped.after_window > 20_000, "{counts:?}");
    assert!(replayed.trades > 1_000 && replayed.trades < 10_000);
    let book = replayed.books.book(wire::InstrumentId(1)).unwrap();
    assert!(book.orders() > 1_000 && !book.is_crossed());
}

#[test]
fn lobster_agrees_with_the_vendors_book() {
    let Some(folder) = data(LOBSTER) else { return };
    let report =
        verify_lobster(&folder.join("message.csv.gz"), &folder.join("orderbook_1.csv.gz"), 1).unwrap();
    println!("{report:?}");
    assert_eq!(report.rows, 45_000);
    assert!(report.identical * 1_000 >= report.rows * 999, "{report:?}");
    assert_eq!(report.anomalies, 0);
    for (levels, at_least) in [(1, 672), (10, 672), (50, 671)] {
        let messages = folder.join("message_first.csv.gz");
        let report = verify_lobster(&messages, &folder.join("orderbook_50_first.csv.gz"), levels).unwrap();
        println!("{report:?}");
        assert_eq!(report.rows, 672);
        assert!(report.identical >= at_least, "{report:?}");
        assert_eq!(report.identical + report.revealed, report.rows);
    }
}

#[test]
fn lobster_accounts_for_every_row() {
    let Some(folder) = data(LOBSTER) else { return };
    let options = Options { symbols: vec!["AAPL".to_owned()], ..Options::default() };
    let replayed = replay(SourceKind::Lobster, folder, &options);
    let counts = replayed.source.counts();
    assert_eq!((counts.read, counts.applied, counts.stale, counts.excess), (45_000, 45_000, 0, 0));
    assert_eq!((counts.prior, replayed.trades), (55, 1_303 + 957 + 629 + 622));
    assert_eq!(replayed.source.instruments()[0].symbol.as_str(), "AAPL");
    assert_eq!(replayed.books.crossed(), 0);
}

#[test]
fn pitch_loses_no_share() {
    let Some(file) = data(PITCH) else { return };
    let report = verify_pitch(&file).unwrap();
    println!("{report:?}");
    assert!(report.conserved, "{:?}", report.first_difference);
    assert_eq!(report.symbols, 288);
    assert_eq!((report.adds, report.cancels, report.executions), (63_814_940, 56_915_155, 8_265));
    assert_eq!(report.adds, report.cancels + report.executions + report.resting);
    assert_eq!(report.anomalies, 0);
}

#[test]
fn pitch_accounts_for_every_message() {
    let Some(file) = data(PITCH) else { return };
    let times = pitch_times(&file);
    let replayed = replay(SourceKind::Pitch, file, &Options::default());
    let counts = replayed.source.counts();
    assert_eq!((counts.read, counts.applied), (100_000, 100_000));
    assert_eq!(replayed.trades, 135 + 100);
    assert_eq!(replayed.source.instruments().len(), 288);
    assert_eq!(replayed.source.instruments()[0].symbol.as_str(), "SH");
    // The file is one session five times over: the orders that rest at the end of one are added again in the next.
    assert_eq!(counts.displaced, 4 * 784);
    // Each further one begins a second later: the clock never goes back by more than its jitter.
    assert!(times.windows(2).all(|pair| pair[1] + 100_000_000 >= pair[0]));
    let seams = times.windows(2).filter(|pair| pair[1] == pair[0] + 1_000_000_000).count();
    assert_eq!(seams, 4);
    // Between a seam and the first repeated number, seven messages meet orders of the previous session.
    assert_eq!(replayed.books.crossed(), 4 * 7);
}

/// When the events of a PITCH file are, in their order.
fn pitch_times(file: &std::path::Path) -> Vec<u64> {
    let mut source = open(SourceKind::Pitch, &Files::Path(file.to_owned()), &Options::default()).unwrap();
    let (mut event, mut times) = (SourceEvent::default(), Vec::new());
    while source.next(&mut event).unwrap() {
        times.push(event.event_time.0);
    }
    times
}

#[test]
fn pitch_replays_chosen_symbols_alone() {
    let Some(file) = data(PITCH) else { return };
    let options = Options { symbols: vec!["AAPL".to_owned(), "SH".to_owned()], ..Options::default() };
    let replayed = replay(SourceKind::Pitch, file, &options);
    let counts = replayed.source.counts();
    assert_eq!(counts.read, 100_000);
    assert_eq!(replayed.source.instruments().len(), 2);
    assert!(counts.skipped.other_symbol > 50_000 && counts.applied > 100, "{counts:?}");
}

#[test]
fn dbn_replays_market_by_order() {
    let Some(folder) = data(DBN) else { return };
    let replayed = replay(SourceKind::Dbn, folder, &Options::default());
    let counts = replayed.source.counts();
    assert_eq!(counts.read, 68_792);
    assert_eq!((counts.rejected, counts.excess, counts.skipped_total()), (0, 0, 0), "{counts:?}");
    let instrument = replayed.source.instruments()[0];
    // Its tick is a matter of `[[contracts]]`: what its prices have in common is known only at the end.
    assert_eq!((instrument.symbol.as_str(), instrument.tick), ("ESH4", Price(1)));
    assert_eq!(replayed.trades, 1_430 + 1_542 + 1);
}

#[test]
fn dbn_fills_the_best_resting_orders() {
    let Some(folder) = data(DBN) else { return };
    let report = verify_dbn(&folder).unwrap();
    println!("{report:?}");
    // 22 fills pass over a better order, which the venue cancels in the same event (self-match prevention).
    assert_eq!((report.fills, report.identical), (6_229, 6_229), "{report:?}");
    assert_eq!((report.anomalies, report.counts.irregular()), (0, 0));
}

#[test]
fn genuine_days_are_within_the_default_tolerance() {
    let default = Tolerance::share(topology::config::MdConfig::default().tolerate);
    for (kind, name, irregular) in [
        (SourceKind::Sse, SSE, 0),
        (SourceKind::Lobster, LOBSTER, 0),
        (SourceKind::Pitch, PITCH, 0),
        (SourceKind::Dbn, DBN, 0),
    ] {
        let Some(path) = data(name) else { continue };
        let replayed = replay(kind, path, &Options { tolerate: default, ..Options::default() });
        assert_eq!(replayed.source.counts().irregular(), irregular, "{name}: {:?}", replayed.source.counts());
        assert_eq!(replayed.source.counts().unended, 0, "{name}");
        if kind == SourceKind::Sse {
            assert_eq!(replayed.source.counts().crossed, 0, "a whole day is crossed in auctions only");
        }
    }
}

#[test]
fn a_replay_is_the_same_every_time() {
    let Some(file) = data(PITCH) else { return };
    let run = || {
        let mut source = open(SourceKind::Pitch, &Files::Path(file.clone()), &Options::default()).unwrap();
        let mut events = Vec::new();
        let mut event = SourceEvent::default();
        while source.next(&mut event).unwrap() {
            events
                .extend(event.book_events.iter().map(|part| (part.instrument, part.action, part.order_ref)));
        }
        events
    };
    let first = run();
    assert_eq!(first, run());
    assert!(first.iter().any(|event| event.1 == BookAction::Execute));
}
