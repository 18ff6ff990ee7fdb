//! Halts, auctions and ends of sessions, as each format has them: the public documents are named at the tests.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use dbn::encode::EncodeRecord;
use dbn::{RecordHeader, StatusMsg, rtype};
use md::source::{Files, Options, SourceKind, Tolerance};
use support::itch::{add, message};
use support::{Replayed, dbn_bytes, folder, mbo, path, replay, write};
use wire::TradingPhase::{
    Closed, ClosingAuction, ClosingFreeze, Continuous, Halt, OpeningAuction, OpeningFreeze, Pause, PreOpen,
    VolatilityAuction,
};
use wire::{Aggressor, BookAction, BookEvent, Quote, TradingPhase};

const SECOND: u64 = 1_000_000_000;
const OPEN: u64 = 34_200 * SECOND;

/// The phase in which each event that is none is marked to be: true where orders are collected.
fn marks(replayed: &Replayed) -> Vec<bool> {
    let parts = replayed.events.iter().filter(|event| event.phase.is_none());
    let marks = parts.map(|event| {
        let is_marked = |part: &BookEvent| part.flags & BookEvent::CALL_AUCTION != 0;
        assert!(event.book_events.iter().all(|part| is_marked(part) == event.call_auction), "{event:?}");
        event.call_auction
    });
    marks.collect()
}

/// Where quotes say so, in their order.
fn quoted(replayed: &Replayed) -> Vec<bool> {
    replayed.quotes.iter().map(|quote| quote.flags & Quote::CALL_AUCTION != 0).collect()
}

/// Contradictions are counted and end nothing.
fn all_tolerated() -> Options {
    Options { tolerate: Tolerance::share(1.0), ..Options::default() }
}

fn itch(messages: &[Vec<u8>]) -> Replayed {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("day.itch");
    write(&file, &support::itch::Day { messages: messages.to_vec() }.bytes(true));
    replay(SourceKind::Itch, &Files::Path(file), &all_tolerated()).unwrap()
}

/// "Nasdaq TotalView-ITCH 5.0": 1.2.2, Stock Trading Action (`H`: H halted, P paused, Q quotation only, T trading), 1.2.8, Operational
/// Halt (`h`: market code Q, B or X, action H or T); 1.3.3 and 1.6.2, a cross is `Q`, its parts are `C` that are not printable.
#[test]
fn itch_trading_actions_and_operational_halts_are_phases() {
    let stock = *b"AAPL    ";
    let action = |second, state: u8| message(b'H', 1, second, &[&stock, &[state], b" LUDP"]);
    let operational = |second, what: &[u8; 2]| message(b'h', 1, second, &[&stock, what]);
    let (shares, number) = (|shares: u32| shares.to_be_bytes(), |number: u64| number.to_be_bytes());
    let price = 1_000_000_u32.to_be_bytes();
    let replayed = itch(&[
        action(1, b'T'),
        add(1, 2, 1, b'B', 100, "AAPL", 999_900),
        add(1, 2, 2, b'S', 100, "AAPL", 1_000_100),
        action(10, b'P'),
        // Nothing of another stock, nor of another market.
        message(b'H', 2, 11, &[b"MSFT    ", b"H", b"     "]),
        operational(12, b"BH"),
        // The book may cross now.
        add(1, 13, 3, b'B', 40, "AAPL", 1_000_200),
        action(20, b'Q'),
        message(b'C', 1, 21, &[&number(3), &shares(40), &number(7), b"N", &price]),
        message(b'C', 1, 21, &[&number(2), &shares(40), &number(7), b"N", &price]),
        message(b'Q', 1, 21, &[&number(40), &stock, &price, &number(8), b"H"]),
        action(22, b'T'),
        message(b'E', 1, 23, &[&number(1), &shares(10), &number(9)]),
        operational(30, b"QH"),
        action(31, b'T'),
        add(1, 32, 4, b'S', 40, "AAPL", 1_000_300),
        operational(33, b"QT"),
        add(1, 34, 5, b'S', 40, "AAPL", 1_000_400),
        message(b'S', 0, 40, &[b"C"]),
    ]);
    let at = |second: u64| OPEN + second * SECOND;
    let expected = [
        (1, Halt, at(10)),
        (1, VolatilityAuction, at(20)),
        (1, Continuous, at(22)),
        (1, Halt, at(30)),
        (1, Continuous, at(33)),
    ];
    assert_eq!(replayed.phases(), expected);
    assert_eq!(marks(&replayed), [false, false, true, true, true, true, false, true, false]);
    assert_eq!((replayed.counts.crossed, replayed.counts.irregular()), (0, 0), "{:?}", replayed.counts);
    // `H` of MSFT, `h` of another market, twice `T` in a row, and the end.
    assert_eq!(replayed.counts.skipped.no_effect, 5, "{:?}", replayed.counts);
    let sequences: Vec<u64> =
        replayed.events.iter().filter_map(|event| event.market_phase()).map(|one| one.sequence).collect();
    assert_eq!(sequences, [4, 8, 12, 14, 17]);
    // Its begin and its end are quotes of their own, but not while the book is crossed.
    assert_eq!(
        quoted(&replayed),
        [false, false, true, true, true, true, false, false, true, true, false, false]
    );
}

/// The cross may be reported behind the message that announces trading (`T`): until the end of its instant, the orders that the halt collected
/// may cross. A book that is crossed later lacks a row.
#[test]
fn itch_orders_of_a_halt_may_cross_until_the_cross() {
    let stock = *b"AAPL    ";
    let action = |second, state: u8| message(b'H', 1, second, &[&stock, &[state], b"     "]);
    let (shares, number) = (|shares: u32| shares.to_be_bytes(), |number: u64| number.to_be_bytes());
    let price = 1_000_000_u32.to_be_bytes();
    let part =
        |second, order| message(b'C', 1, second, &[&number(order), &shares(40), &number(7), b"N", &price]);
    let day = |behind: &[Vec<u8>]| {
        let mut messages = vec![
            add(1, 2, 1, b'B', 100, "AAPL", 999_900),
            add(1, 2, 2, b'S', 100, "AAPL", 1_000_100),
            action(10, b'H'),
            add(1, 13, 3, b'B', 40, "AAPL", 1_000_200),
            action(20, b'T'),
            // It goes on collecting.
            add(1, 21, 4, b'B', 40, "AAPL", 1_000_100),
            message(b'Q', 1, 22, &[&number(40), &stock, &price, &number(8), b"H"]),
            part(22, 3),
            part(22, 2),
        ];
        messages.extend(behind.iter().cloned().chain([message(b'S', 0, 40, &[b"C"])]));
        itch(&messages)
    };
    let whole = day(&[message(b'D', 1, 23, &[&number(4)]), add(1, 24, 5, b'S', 10, "AAPL", 1_000_300)]);
    assert_eq!((whole.counts.crossed, whole.counts.irregular()), (0, 0), "{:?}", whole.counts);
    // The row that takes order 4 away is missing.
    let lacking = day(&[add(1, 24, 5, b'S', 10, "AAPL", 1_000_300)]);
    assert_eq!((lacking.counts.crossed, lacking.counts.irregular()), (1, 1), "{:?}", lacking.counts);
    let later = day(&[message(b'D', 1, 23, &[&number(4)]), add(1, 25, 6, b'B', 10, "AAPL", 1_000_400)]);
    assert_eq!(later.counts.crossed, 1, "{:?}", later.counts);
}

/// A reopening by itself excuses nothing: its book must have been crossed all the time.
#[test]
fn a_book_that_crosses_after_a_reopening_without_a_cross_lacks_a_row() {
    const ROWS: &str = "\
34200000A000000000001B000500XYZ   0000100000Y
34200100A000000000002S000500XYZ   0000101000Y
34210000HXYZ     H0XX
34220000HXYZ     T0XX
34230000A000000000003S000010XYZ   0000099000Y
";
    let folder = folder(&[("pitch.txt", ROWS)]);
    let replayed = replay(SourceKind::Pitch, &path(&folder), &all_tolerated()).unwrap();
    assert_eq!(replayed.counts.crossed, 1, "{:?}", replayed.counts);
}

/// "Output": type 6 is the cross trade. What rows of type 4 in its instant name may be the limits of the orders: the cross has one price, the
/// third column of money says which (type 6). Between the end of the halt and the cross, orders cross and none is stale.
#[test]
fn lobster_executions_of_a_cross_have_its_price_and_no_side() {
    for [buyer, seller] in [["100300", "99700"], ["100100", "100100"]] {
        for (resumed, sum_first) in [(30, false), (33, false), (30, true), (33, true)] {
            let sum = "34232.000000000,6,-1,100,100100,-1\n";
            let (first, last) = if sum_first { (sum, "") } else { ("", sum) };
            let resumes = format!("342{resumed}.000000000,7,0,0,1,-1\n");
            let (before, behind) =
                if resumed == 30 { (resumes.as_str(), "") } else { ("", resumes.as_str()) };
            let rows = format!(
                "\
34200.000000000,1,1,500,100000,1
34200.100000000,1,2,500,100200,-1
34210.000000000,7,0,0,-1,-1
34221.000000000,1,3,100,100300,1
34222.000000000,1,4,100,99700,-1
{before}\
34231.000000000,1,7,10,100250,1
{first}\
34232.000000000,4,3,100,{buyer},1
34232.000000000,4,4,100,{seller},-1
{last}\
34232.000000000,3,7,10,100250,1
{behind}\
34241.000000000,4,2,10,100200,-1
"
            );
            let folder = folder(&[("message.csv", &rows)]);
            let replayed = replay(SourceKind::Lobster, &path(&folder), &Options::default()).unwrap();
            let counts = replayed.counts;
            assert_eq!((counts.irregular(), counts.stale), (0, 0), "{counts:?}");
            let prints: Vec<_> = replayed
                .trades()
                .iter()
                .map(|print| (print.price.to_string(), print.quantity.0, print.aggressor))
                .collect();
            let expected = [
                ("10.01", 100, Aggressor::None),
                ("10.01", 100, Aggressor::None),
                ("10.02", 10, Aggressor::Buy),
            ];
            assert_eq!(prints, expected.map(|(price, quantity, side)| (price.to_owned(), quantity, side)));
            let parts = replayed.events.iter().flat_map(|event| &event.book_events);
            let executed = parts.filter(|part| part.action == BookAction::Execute);
            let executed: Vec<_> = executed.map(|part| part.price.to_string()).collect();
            assert_eq!(executed, ["10.01", "10.01", "10.02"]);
        }
    }
}

/// lobsterdata.com, "Output": type 7, price −1 a halt, 0 quoting resumes, 1 trading resumes.
#[test]
fn lobster_rows_of_type_7_are_phases() {
    const ROWS: &str = "\
34200.000000000,1,1,500,100000,1
34200.100000000,1,2,500,100200,-1
34210.000000000,7,0,0,-1,-1
34211.000000000,1,3,50,100300,1
34220.000000000,7,0,0,0,-1
34221.000000000,4,3,50,100200,1
34221.000000000,4,2,50,100200,-1
34221.000000000,6,-1,50,100200,-1
34230.000000000,7,0,0,1,-1
34230.500000000,7,0,0,1,-1
34231.000000000,4,2,10,100200,-1
";
    let folder = folder(&[("message.csv", ROWS)]);
    let replayed = replay(SourceKind::Lobster, &path(&folder), &Options::default()).unwrap();
    let at = |second: u64| OPEN + second * SECOND;
    let expected = [(1, Halt, at(10)), (1, VolatilityAuction, at(20)), (1, Continuous, at(30))];
    assert_eq!(replayed.phases(), expected);
    assert_eq!(marks(&replayed), [false, false, true, true, true, true, false]);
    assert_eq!(
        (replayed.counts.crossed, replayed.counts.applied, replayed.counts.skipped.no_effect),
        (0, 10, 1)
    );
    // No side comes into a cross.
    let sides: Vec<Aggressor> = replayed.trades().iter().map(|print| print.aggressor).collect();
    assert_eq!(sides, [Aggressor::None, Aggressor::None, Aggressor::Buy]);
    let is_sided = |event: &BookEvent| event.flags & BookEvent::NO_SIDE == 0;
    let parts = replayed.events.iter().flat_map(|event| &event.book_events);
    let executed: Vec<bool> = parts.filter(|part| part.action == BookAction::Execute).map(is_sided).collect();
    assert_eq!(executed, [false, false, true]);
}

/// A row in the instant of the halt, and hidden trades: none is of a cross.
#[test]
fn trades_within_a_halt_that_are_of_no_cross_keep_their_side() {
    const LOBSTER: &str = "\
34200.000000000,1,1,500,100000,1
34210.000000000,7,0,0,-1,-1
34210.000000000,4,1,10,100000,1
34211.000000000,5,0,50,100100,1
34220.000000000,7,0,0,0,-1
34221.000000000,5,0,50,100100,1
";
    const PITCH: &str = "\
34200000A000000000001B000500XYZ   0000100000Y
34210000HXYZ     H0XX
34210000E000000000001000010000000000011
34211000P000000000000B000050XYZ   0000100100000000000012
34220000HXYZ     Q0XX
34221000P000000000000B000050XYZ   0000100100000000000013
";
    let stock = *b"AAPL    ";
    let action = |second, state: u8| message(b'H', 1, second, &[&stock, &[state], b"     "]);
    let (shares, number) = (|shares: u32| shares.to_be_bytes(), |number: u64| number.to_be_bytes());
    let hidden = |second| {
        let price = 1_000_100_u32.to_be_bytes();
        message(b'P', 1, second, &[&[0; 8], b"B", &shares(50), &stock, &price, &number(9)])
    };
    let messages = [
        add(1, 1, 1, b'B', 500, "AAPL", 1_000_000),
        action(10, b'H'),
        message(b'E', 1, 10, &[&number(1), &shares(10), &number(8)]),
        hidden(11),
        action(20, b'Q'),
        hidden(21),
        message(b'S', 0, 40, &[b"C"]),
    ];
    let folder = folder(&[("message.csv", LOBSTER), ("pitch.txt", PITCH)]);
    let file = |name| Files::Path(folder.path().join(name));
    for replayed in [
        replay(SourceKind::Lobster, &file("message.csv"), &all_tolerated()).unwrap(),
        replay(SourceKind::Pitch, &file("pitch.txt"), &all_tolerated()).unwrap(),
        itch(&messages),
    ] {
        let sides: Vec<Aggressor> = replayed.trades().iter().map(|print| print.aggressor).collect();
        assert_eq!(sides, [Aggressor::Sell; 3]);
        let parts = replayed.events.iter().flat_map(|event| &event.book_events);
        assert!(parts.clone().all(|part| part.flags & BookEvent::NO_SIDE == 0));
        assert_eq!(parts.filter(|part| part.flags & BookEvent::HIDDEN != 0).count(), 2);
    }
}

/// "US Equities TCP PITCH Specification", Trading Status: A accepting orders for queuing, H halted, Q quote-only, S suspended by this
/// market, T trading. The document has no message for the end of a session: the clock goes back.
#[test]
fn pitch_statuses_and_seams_are_phases() {
    const ROWS: &str = "\
34200000HXYZ     T0XX
34200000A000000000001B000500XYZ   0000100000Y
34200100A000000000002S000500ABC   0000101000Y
34210000HXYZ     H0XX
34211000A000000000003S000010XYZ   0000099000Y
34212000HNONE    H0XX
34220000HXYZ     Q0XX
34221000E000000000001000010000000000011
34221500X000000000003000010
34222000HXYZ     T0XX
34223000HXYZ     S0XX
57599000A000000000004S000010XYZ   0000103000Y
34200000A000000000001B000100XYZ   0000098000Y
34201000A000000000005S000100XYZ   0000098500Y
";
    let folder = folder(&[("pitch.txt", ROWS)]);
    let replayed = replay(SourceKind::Pitch, &path(&folder), &Options::default()).unwrap();
    let at = |second: u64| OPEN + second * SECOND;
    let next = 57_600 * SECOND;
    let expected = [
        (1, Halt, at(10)),
        (1, VolatilityAuction, at(20)),
        (1, Continuous, at(22)),
        (1, Halt, at(23)),
        // The next session begins a second behind the last row of the one before.
        (1, Closed, next),
        (1, Continuous, next),
        (2, Closed, next),
        (2, Continuous, next),
    ];
    assert_eq!(replayed.phases(), expected);
    // The seam's deletes are of the new session.
    assert_eq!(marks(&replayed), [false, false, true, true, true, true, false, false, false, false]);
    assert_eq!((replayed.counts.crossed, replayed.counts.at_seams), (0, 3), "{:?}", replayed.counts);
    assert_eq!(replayed.trades()[0].aggressor, Aggressor::None);
}

fn status(action: u16, is_trading: u8, number: u64) -> StatusMsg {
    let time = 1_703_545_200_000_000_000 + number;
    StatusMsg {
        hd: RecordHeader::new::<StatusMsg>(rtype::STATUS, 1, 42, time),
        ts_recv: time,
        action,
        reason: 0,
        trading_event: 0,
        is_trading: is_trading as std::ffi::c_char,
        is_quoting: b'~' as std::ffi::c_char,
        is_short_sell_restricted: b'~' as std::ffi::c_char,
        _reserved: [0; 7],
    }
}

/// Databento, "Status" schema: actions 0 to 15.
#[test]
fn dbn_statuses_are_phases() {
    let phases: [(u16, u8, Option<TradingPhase>); 17] = [
        (8, b'N', Some(Halt)),
        (0, b'~', None),
        (1, b'N', Some(PreOpen)),
        (2, b'N', Some(VolatilityAuction)),
        (9, b'N', Some(Halt)),
        (3, b'N', Some(VolatilityAuction)),
        (5, b'N', Some(OpeningAuction)),
        (4, b'N', Some(VolatilityAuction)),
        (10, b'N', Some(Halt)),
        (6, b'N', Some(VolatilityAuction)),
        (7, b'Y', Some(Continuous)),
        (14, b'~', None),
        (11, b'Y', None),
        (11, b'N', Some(ClosingAuction)),
        (12, b'N', Some(Closed)),
        (15, b'N', Some(Halt)),
        (13, b'N', Some(Closed)),
    ];
    let bytes = dbn_bytes(None, &[(42, "ESH4")], |encoder| {
        encoder.encode_record(&mbo(b'A', b'B', 1, 5_000_000_000_000, 5, true)).unwrap();
        for (number, (action, is_trading, _)) in (10..).step_by(10).zip(phases) {
            encoder.encode_record(&status(action, is_trading, number)).unwrap();
            let order = mbo(b'A', b'B', number + 1, 5_000_000_000_000, 5, true);
            encoder.encode_record(&order).unwrap();
        }
        encoder.encode_record(&status(7, b'Y', 999)).unwrap();
    });
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("es.dbn"), &bytes);
    let replayed = replay(SourceKind::Dbn, &path(&folder), &Options::default()).unwrap();
    let mut expected: Vec<TradingPhase> = phases.iter().filter_map(|(_, _, phase)| *phase).collect();
    expected.push(Continuous);
    let found: Vec<TradingPhase> = replayed.phases().iter().map(|(_, phase, _)| *phase).collect();
    assert_eq!(found, expected);
    let mut is_held = false;
    let held = phases.iter().map(|(_, _, phase)| {
        is_held = phase.map_or(is_held, |phase| phase != Continuous);
        is_held
    });
    assert_eq!(marks(&replayed), [false].into_iter().chain(held).collect::<Vec<_>>());
    assert_eq!((replayed.counts.read, replayed.counts.skipped.no_effect), (36, 3));
}

#[test]
fn a_dbn_status_with_an_action_that_is_none_is_a_bad_row() {
    let bytes = dbn_bytes(None, &[(42, "ESH4")], |encoder| {
        encoder.encode_record(&mbo(b'A', b'B', 1, 5_000_000_000_000, 5, true)).unwrap();
        encoder.encode_record(&status(99, b'Y', 5)).unwrap();
    });
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("es.dbn"), &bytes);
    let error = replay(SourceKind::Dbn, &path(&folder), &Options::default()).err().unwrap().to_string();
    assert!(error.contains("action of a status"), "{error}");
}

/// "Trading Rules of the Shanghai Stock Exchange" (2023), 3.3: orders are taken from 09:15 to 09:25, 09:30 to 11:30 and 13:00 to 15:00, no
/// cancels from 09:20 to 09:25 and 14:57 to 15:00.
#[test]
fn phases_of_shanghai_begin_by_the_clock() {
    let order = |index: u64, clock: &str, stock: &str| {
        format!("0,1,6,{stock},{clock},A,{index},{}.00,100,B,{index},{clock},1\n", 9 + index % 2)
    };
    let head = "DataStatus,OrderIndex,OrderChannel,SecurityID,OrderTime,OrderType,OrderNO,OrderPrice,Balance,OrderBSFlag,BizIndex,LocalTime,SeqNo\n";
    let trades = "DataStatus,TradeIndex,TradeChan,SecurityID,TradTime,TradPrice,TradVolume,TradeMoney,TradeBuyNo,TradeSellNo,TradeBSFlag,BizIndex,LocalTime,SeqNo\n";
    let clocks =
        ["09:15:00.020", "09:19:59.990", "09:31:00.000", "11:29:59.000", "13:00:00.000", "15:00:01.000"];
    let rows: String = clocks.iter().zip(1..).map(|(clock, index)| order(index, clock, "600519")).collect();
    let rows = rows + &order(7, "15:00:02.000", "600761");
    let days = [
        ("2023-02-01", true),
        // Before the closing auction was introduced.
        ("2018-08-17", false),
    ];
    for (date, has_closing_auction) in days {
        let folder = folder(&[("entrust.csv", &[head, &rows].concat()), ("trade.csv", trades)]);
        let options = Options { date: Some(md::source::parse_date(date).unwrap()), ..Options::default() };
        let replayed = replay(SourceKind::Sse, &path(&folder), &options).unwrap();
        let clock = |hour: u64, minute: u64| (hour * 60 + minute) * 60 * SECOND;
        let mut begins = vec![
            // The files begin within it.
            (OpeningAuction, clock(9, 15) + 20_000_000),
            (OpeningFreeze, clock(9, 20)),
            (Pause, clock(9, 25)),
            (Continuous, clock(9, 30)),
            (Pause, clock(11, 30)),
            (Continuous, clock(13, 0)),
        ];
        begins.extend(has_closing_auction.then_some((ClosingFreeze, clock(14, 57))));
        begins.push((Closed, clock(15, 1)));
        let both = begins.iter().flat_map(|&(phase, time)| [(1, phase, time), (2, phase, time)]);
        assert_eq!(replayed.phases(), both.collect::<Vec<_>>(), "{date}");
        assert_eq!(replayed.counts.read, 7);
        // No message comes before one that is earlier.
        let times: Vec<u64> = replayed.events.iter().map(|event| event.event_time.0).collect();
        assert!(times.is_sorted(), "{date}: {times:?}");
    }
    // Files that begin late begin in the phase of then.
    let late = order(1, "10:15:00.000", "600519") + &order(2, "11:30:00.500", "600519");
    let folder = folder(&[("entrust.csv", &[head, &late].concat()), ("trade.csv", trades)]);
    let replayed = replay(SourceKind::Sse, &path(&folder), &Options::default()).unwrap();
    assert_eq!(replayed.phases(), [(1, Pause, (11 * 60 + 30) * 60 * SECOND)]);
}

#[test]
fn a_window_begins_with_the_phase_that_holds() {
    const ROWS: &str = "\
34200.000000000,1,1,500,100000,1
34210.000000000,7,0,0,-1,-1
34211.000000000,1,3,50,100300,1
34230.000000000,7,0,0,1,-1
34231.000000000,1,2,10,100400,-1
";
    let folder = folder(&[("message.csv", ROWS)]);
    let from = md::source::parse_time_of_day("from", "09:30:11").unwrap();
    let options = Options { from: Some(from), ..Options::default() };
    let replayed = replay(SourceKind::Lobster, &path(&folder), &options).unwrap();
    let early: Vec<bool> =
        replayed.events.iter().filter(|event| event.phase.is_some()).map(|event| event.warm_up).collect();
    assert_eq!(early, [true, false], "who rebuilds the market gets the first one");
    assert_eq!(quoted(&replayed), [true, false, false]);
    let to = Options { to: Some(from), ..Options::default() };
    let replayed = replay(SourceKind::Lobster, &path(&folder), &to).unwrap();
    assert_eq!(replayed.phases(), [(1, Halt, OPEN + 10 * SECOND)]);
    assert_eq!(replayed.counts.skipped.after_window, 3);
}
