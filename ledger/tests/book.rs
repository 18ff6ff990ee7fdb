//! Each kind of input, at its edges.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use ledger::{Anomaly, Book, RestoreError, SnapshotMessage, Totals};
use support::*;
use wire::fold::Snapshot;
use wire::*;

#[test]
fn an_order_works_from_its_acceptance_to_its_end() {
    let mut book = Book::new();
    let order = id(7, 1);
    assert_eq!(book.on_update(64, &update(order, OrderStatus::Accepted, 10, 0)), None);
    assert_eq!(book.totals(ME), Totals { orders: 1, working: 1, ..Totals::default() });
    assert_eq!(book.on_fill(128, &fill(order, 10, 4, 6)), None);
    // Between a fill and the update that follows it, the order shows what the position does.
    let SnapshotMessage::Order(between) = state(&mut book, ME)[2] else { panic!("no order") };
    assert_eq!((between.filled, between.remaining), (Quantity(4), Quantity(6)));
    assert_eq!((between.status, between.execution), (OrderStatus::PartiallyFilled, 128));
    assert_eq!(book.on_update(192, &update(order, OrderStatus::PartiallyFilled, 10, 4)), None);
    assert_eq!(book.on_update(256, &update(order, OrderStatus::CancelRejected, 10, 4)), None);
    assert_eq!(book.on_update(320, &update(order, OrderStatus::ReplaceRejected, 10, 4)), None);
    assert_eq!(book.on_update(384, &update(order, OrderStatus::Replaced, 8, 4)), None);
    let SnapshotMessage::Order(replaced) = state(&mut book, ME)[2] else { panic!("no order") };
    assert_eq!((replaced.quantity, replaced.remaining, replaced.execution), (Quantity(8), Quantity(4), 384));
    assert_eq!(book.on_update(448, &update(order, OrderStatus::Cancelled, 8, 4)), None);
    let ended = Totals { orders: 1, fills: 1, position: Quantity(4), ..Totals::default() };
    assert_eq!((book.totals(ME), book.next_execution()), (ended, 449));
}

#[test]
fn a_rejected_order_never_works_and_its_second_copy_changes_nothing() {
    let mut book = Book::new();
    let order = id(7, 1);
    assert_eq!(book.on_update(1, &update(order, OrderStatus::Rejected, 10, 0)), None);
    assert_eq!(book.totals(ME), Totals::default());
    assert_eq!(book.on_update(2, &update(order, OrderStatus::Accepted, 10, 0)), None);
    let rejected = update(order, OrderStatus::Rejected, 10, 0);
    let of_a_copy = OrderUpdate { reason: Reason::DuplicateOrder, ..rejected };
    assert_eq!(book.on_update(3, &of_a_copy), Some(Anomaly::OutOfStep));
    assert_eq!(book.on_update(4, &update(order, OrderStatus::Accepted, 10, 0)), Some(Anomaly::OutOfStep));
    assert_eq!(book.totals(ME).working, 1);
    // Of the order itself it is the end, as td and the accounts have it.
    assert_eq!(book.on_update(5, &rejected), Some(Anomaly::OutOfStep));
    assert_eq!(book.totals(ME).working, 0);
    assert_eq!(book.on_update(6, &of_a_copy), None, "it has ended");
}

#[test]
fn what_cannot_be_is_named() {
    let mut book = Book::new();
    let order = id(7, 1);
    book.on_update(0, &update(order, OrderStatus::Accepted, 10, 0));
    let good = fill(order, 10, 4, 6);
    let fills = [
        (Fill { quantity: Quantity(0), ..good }, Anomaly::BadExecution),
        (Fill { quantity: Quantity(-4), ..good }, Anomaly::BadExecution),
        (Fill { remaining: Quantity(-1), ..good }, Anomaly::BadExecution),
        (Fill { side: Side::Sell, ..good }, Anomaly::BadExecution),
        (Fill { instrument: InstrumentId(4), ..good }, Anomaly::BadExecution),
        (Fill { order_id: id(7, 2), ..good }, Anomaly::UnknownOrder),
        (Fill { quantity: Quantity(11), ..good }, Anomaly::OverFill),
        (Fill { quantity: Quantity(i64::MAX), ..good }, Anomaly::Overflow),
    ];
    for (position, (fill, anomaly)) in (1..).zip(fills) {
        assert_eq!(book.on_fill(position, &fill), Some(anomaly), "{fill:?}");
    }
    assert_eq!(book.position(ME, STOCK).quantity(), 15, "the unknown order's 4 and the 11 too many");
    let good = update(order, OrderStatus::Cancelled, 10, 0);
    for (position, wrong) in (10..).zip([
        OrderUpdate { side: Side::Sell, ..good },
        OrderUpdate { instrument: InstrumentId(4), ..good },
        OrderUpdate { quantity: Quantity(-1), ..good },
        OrderUpdate { filled: Quantity(-1), ..good },
        OrderUpdate { remaining: Quantity(-1), ..good },
    ]) {
        assert_eq!(book.on_update(position, &wrong), Some(Anomaly::BadExecution), "{wrong:?}");
    }
    let stranger = update(id(9, 1), OrderStatus::Filled, 10, 10);
    assert_eq!(book.on_update(20, &stranger), Some(Anomaly::UnknownOrder));
    assert_eq!(book.on_execution(21, Fill::ID, &[1, 2, 3]), Some(Anomaly::Unreadable));
    assert_eq!(book.on_execution(21, Quote::ID, &[]), Some(Anomaly::Redelivered));
    assert_eq!(book.on_market(0, OrderUpdate::ID, stranger.bytes()), Some(Anomaly::Unreadable));
    assert_eq!(book.on_market(0, Quote::ID, quote(0, 1, 2).bytes()), Some(Anomaly::UnknownInstrument));
    assert_eq!(book.on_market(0, TradePrint::ID, print(0, 1).bytes()), Some(Anomaly::UnknownInstrument));
    assert_eq!(book.on_market(0, EndOfStream::ID, &[]), None);
    let counted: u64 = book.anomalies().iter().map(|(_, count)| count).sum();
    assert_eq!((counted, book.anomalies().of(Anomaly::BadExecution)), (8 + 5 + 1 + 2 + 3, 10));
}

#[test]
fn a_refused_fill_leaves_no_trace() {
    let mut book = Book::new();
    let most = fill(id(7, 1), i64::MAX, i64::MAX, 0);
    assert_eq!(book.on_fill(1, &most), Some(Anomaly::UnknownOrder));
    let before = state(&mut book, ME);
    assert_eq!(book.on_fill(2, &fill(id(7, 1), 1, 1, 0)), Some(Anomaly::Overflow));
    assert_eq!(state(&mut book, ME)[1..], before[1..]);
}

#[test]
fn the_money_is_marked_at_the_latest_mid() {
    let mut book = Book::new();
    let (thousand, order) = (1_000 * Price::ONE, id(7, 1));
    book.on_fill(1, &fill(order, thousand, 5, 0));
    assert_eq!(book.totals(ME).unrealised, Money(0), "no mark yet");
    book.on_quote(&quote(STOCK.0, thousand, thousand + 4 * Price::ONE));
    assert_eq!(book.totals(ME).unrealised, Money(10 * Money::ONE));
    book.on_fill(2, &Fill { side: Side::Sell, ..fill(order, thousand - Price::ONE, 2, 0) });
    let totals = book.totals(ME);
    assert_eq!((totals.realised, totals.unrealised), (Money(-2 * Money::ONE), Money(6 * Money::ONE)));
    assert_eq!(book.totals(SnapshotBegin::EVERYBODY), totals);
    assert_eq!((book.mark(STOCK).0, book.strategies()), (thousand + 2 * Price::ONE, vec![ME]));
    assert!(book.quote(STOCK).is_some() && book.quote(InstrumentId(1)).is_none());
}

#[test]
fn a_snapshot_is_of_one_strategy_or_of_all_in_a_fixed_order() {
    let mut book = Book::new();
    for (position, (strategy, sequence)) in (1..).zip([(9, 2), (7, 5), (8, 1), (7, 4)]) {
        book.on_update(position, &update(id(strategy, sequence), OrderStatus::Accepted, 10, 0));
    }
    book.on_quote(&quote(9, 1, 2));
    book.on_quote(&quote(2, 1, 2));
    let event = NodeEvent { change: NodeChange::Died, ..joined(7, 1) };
    assert_eq!(book.on_node_event(&event), None);
    assert_eq!(book.on_node_event(&NodeEvent { role: NodeRole::Platform, ..joined(7, 1) }), None);
    assert_eq!(book.on_node_event(&joined(7, 12)), Some(ME));

    let one: Vec<_> = book.snapshot(ME).collect();
    let SnapshotMessage::Begin(begin) = one[0] else { panic!("no begin") };
    assert_eq!((begin.snapshot, begin.execution, begin.strategy, begin.generation), (1, 5, ME, 12));
    let what = |messages: &[SnapshotMessage]| -> Vec<(&'static str, u64)> {
        messages.iter().map(|&message| (AnyMessage::from(message).name(), key(&message))).collect()
    };
    let order = |strategy, sequence| ("OrderUpdate", id(strategy, sequence).0);
    assert_eq!(
        what(&one[1..]),
        [("PositionState", 7), order(7, 4), order(7, 5), ("Quote", 2), ("Quote", 9), ("SnapshotEnd", 5)]
    );
    let all: Vec<_> = book.snapshot(SnapshotBegin::EVERYBODY).collect();
    assert_eq!(
        what(&all),
        [
            ("SnapshotBegin", 2),
            ("PositionState", 7),
            ("PositionState", 8),
            ("PositionState", 9),
            order(7, 4),
            order(7, 5),
            order(8, 1),
            order(9, 2),
            ("Quote", 2),
            ("Quote", 9),
            ("SnapshotEnd", 9)
        ]
    );
    for message in all {
        assert_eq!(AnyMessage::decode(message.message_id(), message.bytes()), Ok(message.into()));
    }
}

fn key(message: &SnapshotMessage) -> u64 {
    match message {
        SnapshotMessage::Begin(begin) => begin.snapshot,
        SnapshotMessage::Position(position) => u64::from(position.strategy.0),
        SnapshotMessage::Order(order) => order.order_id.0,
        SnapshotMessage::Quote(quote) => u64::from(quote.instrument.0),
        SnapshotMessage::End(end) => end.frames,
    }
}

#[test]
fn a_strategy_that_did_nothing_gets_an_empty_snapshot() {
    let mut book = Book::new();
    let messages: Vec<_> = book.snapshot(StrategyId(0)).collect();
    assert!(matches!(
        messages[..],
        [SnapshotMessage::Begin(SnapshotBegin { execution: 0, .. }), SnapshotMessage::End(end)] if end.frames == 0
    ));
}

#[test]
fn what_is_no_whole_snapshot_of_everybody_is_refused() {
    let mut book = Book::new();
    book.on_fill(1, &fill(id(7, 1), 10, 1, 0));
    book.on_quote(&quote(STOCK.0, 100, 102));
    let messages: Vec<AnyMessage> = book.snapshot(SnapshotBegin::EVERYBODY).map(AnyMessage::from).collect();
    for missing in 0..messages.len() {
        let mut messages = messages.clone();
        messages.remove(missing);
        assert_eq!(whole(messages), None, "without message {missing}");
    }
    let taken = whole(messages).unwrap();
    assert!(Book::restore(&taken, &[]).is_ok());
    let error = |change: &dyn Fn(&mut Snapshot)| {
        let mut snapshot = taken.clone();
        change(&mut snapshot);
        Book::restore(&snapshot, &[]).err()
    };
    assert_eq!(error(&|taken| taken.begin.strategy = ME), Some(RestoreError::NotEverybody(ME)));
    let nowhere = InstrumentId(0);
    assert_eq!(error(&|taken| taken.quotes[0].instrument = nowhere), Some(RestoreError::Instrument(nowhere)));
    let beyond = InstrumentId(MAX_INSTRUMENTS);
    assert_eq!(
        error(&|taken| taken.positions[0].instrument = beyond),
        Some(RestoreError::Instrument(beyond))
    );
}

#[test]
fn the_number_of_the_last_trade_outlives_the_executions_in_which_it_stood() {
    let mut book = Book::new();
    book.on_fill(1, &Fill { trade_id: 854, ..fill(id(7, 1), 10, 1, 0) });
    let trade_of = |book: &mut Book| match book.snapshot(SnapshotBegin::EVERYBODY).next() {
        Some(SnapshotMessage::Begin(begin)) => begin.trade,
        other => panic!("{other:?}"),
    };
    assert_eq!(trade_of(&mut book), 854);
    let mut restored = Book::restore(&snapshot(&mut book), &[]).unwrap();
    assert_eq!(trade_of(&mut restored), 854, "no fill since");
}
