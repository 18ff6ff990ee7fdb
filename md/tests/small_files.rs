//! Every source on files small enough to check by eye.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use md::source::{Files, OnBadRow, Options, PriorOrders, SourceKind, parse_date, parse_time_of_day};
use support::*;
use wire::{Aggressor, BookAction::*, BookEvent, InstrumentId, Nanos, Price, Side};

const ES_PRICE: i64 = 4_800_250_000_000;

#[test]
fn sse_in_both_layouts_packed_and_plain_is_one_day() {
    let expected = [
        (Add, 1, 300),
        (Add, 2, 500),
        (Execute, 1, 300),
        (Execute, 2, 300),
        (Add, 3, 200),
        (Execute, 3, 200),
        (Add, 5, 50),
        (Delete, 2, 200),
    ];
    for (orders, trades, names) in [
        (SSE_ORDERS, SSE_TRADES, ["entrust.csv", "trade.csv"]),
        (SSE2_ORDERS, SSE2_TRADES, ["order.csv.gz", "trade.csv.gz"]),
        (SSE2_ORDERS, SSE2_TRADES, ["Orders.csv.zst", "Trades.csv.zst"]),
    ] {
        let folder = folder(&[(names[0], orders), (names[1], trades)]);
        let replayed = replay(SourceKind::Sse, &path(&folder), &Options::default()).unwrap();
        assert_eq!(replayed.parts(), expected);
        assert_eq!((replayed.counts.read, replayed.counts.applied), (7, 7));
        let prints: Vec<_> = replayed
            .trades()
            .iter()
            .map(|print| (print.aggressor, print.price.to_string(), print.quantity.0))
            .collect();
        assert_eq!(
            prints,
            [(Aggressor::None, "10".to_owned(), 300), (Aggressor::Sell, "9.9".to_owned(), 200)]
        );
        assert_eq!(replayed.instruments[0].symbol.as_str(), "600519.SH");
        assert_eq!(replayed.instruments[0].reference_price, Price::NONE);
        // The crossed book of the call auction shows no quote; the auction's trade uncrosses it.
        let quote = replayed.quotes[1];
        assert_eq!(quote.last_price.to_string(), "10");
        assert_eq!((quote.best_bid(), quote.best_ask().unwrap().quantity.0), (None, 200));
        assert_eq!(replayed.books.crossed(), 1);
        let named = Files::named([
            ("orders", folder.path().join(names[0])),
            ("trades", folder.path().join(names[1])),
        ]);
        assert_eq!(replay(SourceKind::Sse, &named, &Options::default()).unwrap().parts(), expected);
    }
}

#[test]
fn sse_brings_shuffled_rows_of_several_stocks_into_order() {
    let orders = "\
MDDate,MDTime,OrderType,OrderPrice,OrderQty,OrderBSFlag,ApplSeqNum,OrderNO,SecurityID
20230202,93000200,2,20.0,100,2,4,8,605580.SH
20230202,93000000,2,10.0,100,2,1,8,600519.SH
20230202,93000400,2,10.1,100,2,3,9,600519.SH
20230202,93000100,2,20.5,100,2,2,7,605580.SH
";
    let trades = "\
MDDate,MDTime,TradeBuyNo,TradeSellNo,TradeBSFlag,TradePrice,TradeQty,ApplSeqNum,SecurityID
20230202,93000300,1,8,1,20.0,100,5,605580.SH
20230202,93000050,1,8,1,10.0,60,2,600519.SH
";
    let folder = folder(&[("o.csv", orders), ("t.csv", trades)]);
    let replayed = replay(SourceKind::Sse, &path(&folder), &Options::default()).unwrap();
    let names: Vec<_> = replayed.instruments.iter().map(|instrument| instrument.symbol.to_string()).collect();
    assert_eq!(names, ["605580.SH", "600519.SH"]);
    let order: Vec<_> = replayed.events.iter().map(|event| (event.instrument.0, event.sequence)).collect();
    assert_eq!(order, [(2, 1), (2, 2), (1, 2), (1, 4), (1, 5), (2, 3)]);
    let midnight = parse_date("2023-02-02").unwrap();
    let first = parse_time_of_day("from", "09:30:00").unwrap();
    assert_eq!(replayed.events[0].event_time, midnight + first);
    assert_eq!(replayed.books.book(InstrumentId(2)).unwrap().resting(), 140);

    let one = Options { symbols: vec!["605580".to_owned()], ..Options::default() };
    let replayed = replay(SourceKind::Sse, &path(&folder), &one).unwrap();
    assert_eq!(replayed.instruments.len(), 1);
    assert_eq!((replayed.counts.applied, replayed.counts.skipped.other_symbol), (3, 3));
}

#[test]
fn sse_trades_of_orders_from_before_the_recording_touch_nothing() {
    let trades = SSE_TRADES.replace(",3,5,S,", ",99,5,S,");
    let orders = SSE_ORDERS.replace(",D,2,", ",D,98,");
    let folder = folder(&[("o.csv", &orders), ("t.csv", &trades)]);
    let replayed = replay(SourceKind::Sse, &path(&folder), &Options::default()).unwrap();
    assert!(replayed.parts().contains(&(Trade, 0, 200)));
    assert_eq!(replayed.counts.skipped.unknown_order, 1);
    assert_eq!(replayed.trades().len(), 2);
}

#[test]
fn lobster_types_become_book_events() {
    let folder = folder(&[("AAPL_2012-06-21_34200000_57600000_message_1.csv", LOBSTER)]);
    let replayed = replay(SourceKind::Lobster, &path(&folder), &Options::default()).unwrap();
    assert_eq!(
        replayed.parts(),
        [
            // Order 7 is learnt from what happens to it later.
            (Add, 7, 15),
            (Add, 11, 18),
            (Add, 12, 50),
            (Execute, 12, 20),
            (Trade, 0, 30),
            // A cancel of more than there is takes what there is.
            (Delete, 11, 18),
            (Execute, 7, 10),
            (Delete, 7, 5),
            (Trade, 0, 500),
        ]
    );
    let counts = replayed.counts;
    assert_eq!((counts.read, counts.applied, counts.skipped.no_effect), (9, 9, 0));
    assert_eq!((counts.prior, counts.excess), (1, 1));
    let aggressors: Vec<_> = replayed.trades().iter().map(|print| print.aggressor).collect();
    // The cross sums up executions that have messages, and prints, of their own.
    assert_eq!(aggressors, [Aggressor::Buy, Aggressor::Sell, Aggressor::Sell]);
    let cross = replayed.events.iter().flat_map(|event| &event.book_events).last().unwrap();
    let is_cross = BookEvent::NO_SIDE | BookEvent::UNPRINTED;
    assert_eq!(cross.flags, BookEvent::LAST | is_cross | BookEvent::CALL_AUCTION, "of the halt");
    assert_eq!(replayed.instruments[0].symbol.as_str(), "AAPL");
    assert_eq!(replayed.events[0].event_time, parse_date("20120621").unwrap() + Nanos(34_200_100_000_000));
}

/// Times of some periods are whole milliseconds: three executions in one of them are three, as the vendor's own book has them
/// (500, 400, 300, 200 shares at the ask). LOBSTER's "Output" page names the precision.
#[test]
fn equal_lobster_rows_in_one_millisecond_are_events_of_their_own() {
    const DAY: &str = "\
34200.100,1,1,500,100200,-1
34200.150,1,2,500,100000,1
34200.200,4,1,100,100200,-1
34200.200,4,1,100,100200,-1
34200.200,4,1,100,100200,-1
34202.000,2,2,100,100000,1
34202.000,2,2,100,100000,1
";
    let folder = folder(&[("message.csv", DAY)]);
    let replayed = replay(SourceKind::Lobster, &path(&folder), &Options::default()).unwrap();
    assert_eq!(
        replayed.parts(),
        [
            (Add, 1, 500),
            (Add, 2, 500),
            (Execute, 1, 100),
            (Execute, 1, 100),
            (Execute, 1, 100),
            (Reduce, 2, 100),
            (Reduce, 2, 100),
        ]
    );
    let volume: i64 = replayed.trades().iter().map(|print| print.quantity.0).sum();
    assert_eq!((volume, replayed.counts.irregular()), (300, 0));
}

#[test]
fn lobster_drops_orders_that_quotes_or_trades_went_through() {
    let text = "\
34200.1,1,1,10,1000000,1
34200.2,1,2,10,990000,1
34200.3,1,3,10,995000,-1
34200.4,1,4,10,1000000,-1
34200.5,4,4,10,1000000,-1
";
    let folder = folder(&[("message.csv", text)]);
    let replayed = replay(SourceKind::Lobster, &path(&folder), &Options::default()).unwrap();
    // Order 3 asks 99.5, so no bid at 100 is left. Order 4 trades at 100, so no ask at 99.5 is left.
    assert_eq!(
        replayed.parts(),
        [
            (Add, 1, 10),
            (Add, 2, 10),
            (Delete, 1, 10),
            (Add, 3, 10),
            (Add, 4, 10),
            (Delete, 3, 10),
            (Execute, 4, 10),
        ]
    );
    assert_eq!(replayed.counts.stale, 2);

    let halted = text.replace("34200.3,", "34200.25,7,0,0,-1,-1\n34200.3,");
    let folder = support::folder(&[("message.csv", &halted)]);
    assert_eq!(replay(SourceKind::Lobster, &path(&folder), &Options::default()).unwrap().counts.stale, 0);
}

#[test]
fn pitch_types_become_book_events() {
    let folder = folder(&[("pitch.txt", PITCH)]);
    let replayed = replay(SourceKind::Pitch, &path(&folder), &Options::default()).unwrap();
    let order = replayed.parts()[0].1;
    let actions: Vec<_> = replayed.parts().iter().map(|part| (part.0, part.2)).collect();
    assert_eq!(actions, [(Add, 100), (Add, 1_000), (Execute, 40), (Reduce, 20), (Trade, 100), (Clear, 0)]);
    assert_eq!(replayed.parts()[2].1, order);
    let counts = replayed.counts;
    assert_eq!((counts.read, counts.applied), (8, 6));
    assert_eq!((counts.skipped.no_effect, counts.skipped.unknown_order), (1, 1));
    assert_eq!(replayed.books.book(InstrumentId(1)).unwrap().resting(), 40);
    assert_eq!(replayed.trades()[0].aggressor, Aggressor::Buy);
    assert_eq!(replayed.trades()[1].aggressor, Aggressor::Sell);
    let lettered: String = PITCH.lines().map(|line| format!("S{line}\r\n")).collect();
    let folder = support::folder(&[("pitch.txt.gz", &lettered)]);
    assert_eq!(
        replay(SourceKind::Pitch, &path(&folder), &Options::default()).unwrap().parts(),
        replayed.parts()
    );
}

#[test]
fn pitch_numbers_given_out_again_end_the_orders_that_had_them() {
    let again = "\
28800011A000000000001S000100SH    0000619200Y
28800012A000000000002S000100SH    0000619300Y
28800013A000000000001S000200SSO   0000763600Y
28900000X000000000002000010
28800011A000000000003S000100SH    0000619200Y
28800012A000000000002S000100SH    0000619300Y
";
    let folder = folder(&[("pitch.txt", again)]);
    let replayed = replay(SourceKind::Pitch, &path(&folder), &Options::default()).unwrap();
    assert_eq!(
        replayed.parts(),
        [
            (Add, 1, 100),
            (Add, 2, 100),
            // Another symbol has the number now.
            (Delete, 1, 100),
            (Add, 1, 200),
            (Reduce, 2, 10),
            (Add, 3, 100),
            // The clock went back, and a number is repeated: the first session has ended, by symbol.
            (Delete, 2, 90),
            (Delete, 1, 200),
            (Add, 2, 100),
        ]
    );
    assert_eq!((replayed.counts.applied, replayed.counts.displaced), (6, 3));
}

#[test]
fn dbn_events_are_whole_and_named() {
    let records = [
        mbo(b'R', b'N', 0, dbn::UNDEF_PRICE, 0, true),
        mbo(b'A', b'A', 7, ES_PRICE, 5, true),
        mbo(b'T', b'B', 9, ES_PRICE, 3, false),
        mbo(b'F', b'A', 7, ES_PRICE, 3, false),
        mbo(b'M', b'A', 7, ES_PRICE, 2, true),
        mbo(b'M', b'A', 7, ES_PRICE + 250_000_000, 2, true),
        mbo(b'N', b'N', 0, 0, 0, true),
    ];
    for name in ["es.mbo.dbn", "es.mbo.dbn.zst"] {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join(name), &dbn_file(&records, dbn::Schema::Mbo));
        let replayed = replay(SourceKind::Dbn, &path(&folder), &Options::default()).unwrap();
        assert_eq!(replayed.parts(), [(Clear, 0, 0), (Add, 7, 5), (Execute, 7, 3), (Modify, 7, 2)]);
        assert_eq!(
            (replayed.counts.read, replayed.counts.applied, replayed.counts.skipped.no_effect),
            (7, 6, 1)
        );
        assert_eq!(replayed.instruments[0].symbol.as_str(), "ESH4");
        assert_eq!(replayed.trades()[0].price, Price(ES_PRICE));
        let moved = replayed.events.last().unwrap().book_events[0];
        assert_eq!(moved.flags, BookEvent::LAST | BookEvent::LOSES_PRIORITY);
        assert_eq!(moved.side, Side::Sell);
    }
}

#[test]
fn dbn_files_without_ends_of_events_go_by_time() {
    let records: Vec<_> = (1..4).map(|order| mbo(b'A', b'B', order, ES_PRICE, 5, false)).collect();
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("es.dbn"), &dbn_file(&records, dbn::Schema::Mbo));
    let replayed = replay(SourceKind::Dbn, &path(&folder), &Options::default()).unwrap();
    assert_eq!(replayed.events.len(), 3);
}

#[test]
fn the_window_is_a_time_of_day_of_the_file() {
    let folder = folder(&[("message.csv", LOBSTER)]);
    let options = |from: &str, to: &str| Options {
        from: Some(parse_time_of_day("from", from).unwrap()),
        to: Some(parse_time_of_day("to", to).unwrap()),
        ..Options::default()
    };
    let replayed = replay(SourceKind::Lobster, &path(&folder), &options("09:30:00.3", "09:30:00.6")).unwrap();
    let warm_up: Vec<_> = replayed.events.iter().map(|event| event.warm_up).collect();
    assert_eq!(warm_up, [true, true, false, false, false]);
    assert_eq!((replayed.counts.warm_up, replayed.counts.skipped.after_window), (2, 4));
    assert_eq!(replayed.quotes[0].best_bid().unwrap().quantity.0, 18);
    assert!(replay(SourceKind::Lobster, &path(&folder), &options("10:00:00", "09:00:00")).is_err());
    assert!(parse_time_of_day("from", "25:00:00").is_err());
}

#[test]
fn bad_rows_are_skipped_and_counted_when_asked() {
    let skip = Options { on_bad_row: OnBadRow::Skip, ..Options::default() };
    let orders = SSE_ORDERS.replace("9.9,200", "ten,200");
    let doubled = format!("{orders}0,9,6,600519,09:30:02.000,D,5,10,50,B,7,09:30:02.000,5\n");
    let lobster = LOBSTER.replace("34200.3,4", "34200.3,9");
    let pitch = PITCH.replace("X1K27", "Y1K27").replace("28800030X", "28800030Q");
    for (kind, files, rejected) in [
        (SourceKind::Sse, vec![("o.csv", doubled.as_str()), ("t.csv", SSE_TRADES)], 2),
        (SourceKind::Lobster, vec![("message.csv", lobster.as_str())], 1),
        (SourceKind::Pitch, vec![("pitch.txt", pitch.as_str())], 1),
    ] {
        let folder = folder(&files);
        let replayed = replay(kind, &path(&folder), &skip).unwrap();
        assert_eq!(replayed.counts.rejected, rejected, "{kind:?}");
        assert!(replayed.counts.applied > 2);
    }
    let records = [mbo(b'A', b'A', 7, ES_PRICE, 5, true), mbo(b'Z', b'A', 8, ES_PRICE, 5, true)];
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("es.dbn"), &dbn_file(&records, dbn::Schema::Mbo));
    let replayed = replay(SourceKind::Dbn, &path(&folder), &skip).unwrap();
    assert_eq!((replayed.counts.rejected, replayed.counts.applied), (1, 1));
}

/// The first row shows the buyer of 100 whom only rows 4 and 5 name; behind the better bid of row 2, and from row 5 on, the best bid is not his.
#[test]
fn quotes_that_stand_on_orders_of_later_rows_are_counted() {
    const ROWS: &str = "\
34200.0,1,1,100,1000200,-1
34201.0,1,2,100,1000100,1
34202.0,3,2,100,1000100,1
34203.0,4,9,40,1000000,1
34204.0,4,9,60,1000000,1
34205.0,1,3,10,1000300,-1
";
    let folder = folder(&[("message.csv", ROWS)]);
    let count = |prior| {
        let options = Options { prior, ..Options::default() };
        let replayed = replay(SourceKind::Lobster, &path(&folder), &options).unwrap();
        (replayed.quotes.len(), replayed.counts.prior_quotes)
    };
    // Behind rows 1, 3 and 4.
    assert_eq!(count(PriorOrders::LaterRows), (6, 3));
    assert_eq!(count(PriorOrders::None).1, 0);
}
