//! What matching answers: who hears of it, what it changes, and what is named when it cannot be.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use support::*;
use td::{Anomaly, Decision, Delivery, Gateway, Limits, Outcome, RestoreError};
use wire::fold::Snapshot;
use wire::*;

fn sent(quantity: i64) -> (Gateway, NewOrder) {
    let mut gateway = gateway(Limits::NONE);
    let order = order(1, Side::Buy, quantity);
    gateway.on_new_order(ME, &order).unwrap();
    (gateway, order)
}

#[test]
fn an_execution_goes_to_its_owner_with_the_position_of_matchings_frame() {
    let (mut gateway, order) = sent(200);
    let accepted = update(&order, OrderStatus::Accepted, 0);
    let outcome = gateway.execution(640, OrderUpdate::ID, accepted.bytes());
    let report = Execution::Update(OrderUpdate { execution: 640, ..accepted });
    assert_eq!(
        outcome,
        Outcome { deliver: Some(Delivery { to: ME, report }), anomaly: None, is_copied: false }
    );
    let traded = fill(&order, 200, 0);
    let outcome = gateway.execution(704, Fill::ID, traded.bytes());
    let report = Execution::Fill(Fill { execution: 704, ..traded });
    assert_eq!(
        outcome,
        Outcome { deliver: Some(Delivery { to: ME, report }), anomaly: None, is_copied: false }
    );
    assert_eq!((report.message_id(), report.bytes().len()), (Fill::ID, Fill::SIZE));
    let outcome = gateway.on_update(768, &update(&order, OrderStatus::Filled, 200));
    assert_eq!(outcome.anomaly, None);
    assert_eq!((gateway.working_orders(ME), gateway.exposure(ME, STOCK).position), (0, 200));
    let counters = gateway.counters(ME).unwrap();
    assert_eq!((counters.orders, counters.accepted, counters.fills, counters.filled), (1, 1, 1, 1));
}

#[test]
fn what_was_seen_before_is_ignored() {
    let (mut gateway, order) = sent(200);
    let _ = gateway.on_fill(64, &fill(&order, 100, 100));
    for position in [0, 63, 64] {
        let outcome = gateway.on_fill(position, &fill(&order, 100, 0));
        assert_eq!(outcome, Outcome { deliver: None, anomaly: Some(Anomaly::Redelivered), is_copied: false });
    }
    assert_eq!(gateway.execution(64, 999, &[]).anomaly, Some(Anomaly::Redelivered));
    assert_eq!(gateway.exposure(ME, STOCK).position, 100);
}

#[test]
fn an_order_that_ends_gives_back_what_it_reserved() {
    for (status, reason) in [
        (OrderStatus::Cancelled, Reason::Requested),
        (OrderStatus::Cancelled, Reason::NoLiquidity),
        (OrderStatus::Rejected, Reason::WouldTrade),
    ] {
        let (mut gateway, order) = sent(300);
        let outcome = gateway.on_update(1, &OrderUpdate { reason, ..update(&order, status, 0) });
        assert_eq!(outcome.anomaly, None);
        assert_eq!((gateway.working_orders(ME), gateway.exposure(ME, STOCK)), (0, Default::default()));
        let counters = gateway.counters(ME).unwrap();
        assert_eq!(counters.cancelled + counters.rejected.of(reason), 1);
    }
}

#[test]
fn a_cancel_that_comes_too_late_is_answered_and_is_not_odd() {
    let (mut gateway, order) = sent(100);
    gateway.on_cancel(ME, &cancel(&order)).unwrap();
    let _ = gateway.on_fill(1, &fill(&order, 100, 0));
    let _ = gateway.on_update(2, &update(&order, OrderStatus::Filled, 100));
    let late = OrderUpdate { reason: Reason::UnknownOrder, ..update(&order, OrderStatus::CancelRejected, 0) };
    let outcome = gateway.on_update(3, &late);
    assert_eq!((outcome.deliver.map(|delivery| delivery.to), outcome.anomaly), (Some(ME), None));
    assert_eq!(gateway.counters(ME).unwrap().requests_rejected.of(Reason::UnknownOrder), 1);
}

#[test]
fn a_fill_of_an_unknown_order_is_the_markets_word() {
    let (mut gateway, order) = sent(100);
    let stranger = NewOrder { order_id: OrderId::new(ME, 1, 77), ..order };
    let outcome = gateway.on_fill(1, &fill(&stranger, 100, 0));
    assert_eq!(outcome.anomaly, Some(Anomaly::UnknownOrder));
    assert_eq!(outcome.deliver.map(|delivery| delivery.to), Some(ME));
    assert_eq!(gateway.exposure(ME, STOCK).position, 100);
    let outcome = gateway.on_update(2, &update(&stranger, OrderStatus::Filled, 100));
    assert_eq!(outcome.anomaly, Some(Anomaly::UnknownOrder));
    assert_eq!(gateway.working_orders(ME), 1, "only the first one works");
}

#[test]
fn an_unknown_order_that_matching_accepts_is_taken_over() {
    let mut gateway = gateway(Limits { max_position: Quantity(300), ..Limits::NONE });
    let unknown = order(5, Side::Sell, 200);
    let outcome = gateway.on_update(1, &update(&unknown, OrderStatus::Accepted, 0));
    assert_eq!(outcome.anomaly, Some(Anomaly::UnknownOrder));
    assert_eq!((gateway.working_orders(ME), gateway.exposure(ME, STOCK).working_sells), (1, 200));
    assert_eq!(
        gateway.on_new_order(ME, &order(6, Side::Sell, 200)).unwrap_err().reason,
        Reason::PositionLimit
    );
    assert_eq!(
        gateway.on_new_order(ME, &order(5, Side::Sell, 100)).unwrap_err().reason,
        Reason::DuplicateOrder
    );
    let outcome = gateway.on_update(2, &update(&unknown, OrderStatus::Cancelled, 0));
    assert_eq!((outcome.anomaly, gateway.working_orders(ME)), (None, 0));
}

#[test]
fn an_order_stands_when_its_second_copy_is_refused() {
    let (mut gateway, order) = sent(100);
    let duplicate =
        OrderUpdate { reason: Reason::DuplicateOrder, ..update(&order, OrderStatus::Rejected, 0) };
    let _ = gateway.on_update(1, &update(&order, OrderStatus::Accepted, 0));
    let outcome = gateway.on_update(2, &duplicate);
    assert_eq!(outcome, Outcome { deliver: None, anomaly: Some(Anomaly::OutOfStep), is_copied: false });
    assert_eq!(gateway.working_orders(ME), 1);
}

#[test]
fn an_over_fill_is_booked_and_named() {
    let (mut gateway, order) = sent(100);
    let outcome = gateway.on_fill(1, &fill(&order, 300, 0));
    assert_eq!((outcome.anomaly, outcome.deliver.is_some()), (Some(Anomaly::OverFill), true));
    let exposure = gateway.exposure(ME, STOCK);
    assert_eq!((exposure.position, exposure.working_buys), (300, 0));
    let _ = gateway.on_update(2, &update(&order, OrderStatus::Cancelled, 300));
    assert_eq!(gateway.exposure(ME, STOCK).working_buys, 0);
}

#[test]
fn what_cannot_be_is_ignored_and_named() {
    let (mut gateway, order) = sent(100);
    gateway.on_instrument(&instrument(2)).unwrap();
    let good = fill(&order, 100, 0);
    let nobody = OrderId::new(StrategyId(300), 1, 1);
    let fills = [
        (Fill { quantity: Quantity(0), ..good }, Anomaly::BadExecution),
        (Fill { quantity: Quantity(-100), ..good }, Anomaly::BadExecution),
        (Fill { side: Side::Sell, ..good }, Anomaly::BadExecution),
        (Fill { instrument: InstrumentId(2), ..good }, Anomaly::BadExecution),
        (Fill { instrument: InstrumentId(9), ..good }, Anomaly::BadExecution),
        (Fill { instrument: InstrumentId(0), ..good }, Anomaly::BadExecution),
        (Fill { order_id: nobody, ..good }, Anomaly::UnknownStrategy),
    ];
    let mut position = 0;
    for (fill, anomaly) in fills {
        position += 1;
        let outcome = gateway.on_fill(position, &fill);
        assert_eq!(outcome, Outcome { deliver: None, anomaly: Some(anomaly), is_copied: false }, "{fill:?}");
    }
    let good = update(&order, OrderStatus::Cancelled, 0);
    let updates = [
        (OrderUpdate { side: Side::Sell, ..good }, Anomaly::BadExecution),
        (OrderUpdate { instrument: InstrumentId(2), ..good }, Anomaly::BadExecution),
        (OrderUpdate { filled: Quantity(-1), ..good }, Anomaly::BadExecution),
        (OrderUpdate { order_id: nobody, ..good }, Anomaly::UnknownStrategy),
    ];
    for (update, anomaly) in updates {
        position += 1;
        let outcome = gateway.on_update(position, &update);
        assert_eq!(
            outcome,
            Outcome { deliver: None, anomaly: Some(anomaly), is_copied: false },
            "{update:?}"
        );
    }
    let outcome = gateway.execution(position + 1, Fill::ID, &[0; 3]);
    assert_eq!(outcome, Outcome { deliver: None, anomaly: Some(Anomaly::Unreadable), is_copied: false });
    assert_eq!((gateway.working_orders(ME), gateway.exposure(ME, STOCK).position), (1, 0));
    let named: Vec<_> = gateway.anomalies().iter().filter(|&(_, count)| count > 0).collect();
    assert_eq!(named, [(Anomaly::Unreadable, 1), (Anomaly::UnknownStrategy, 2), (Anomaly::BadExecution, 9)]);
}

#[test]
fn a_strategy_that_goes_has_its_orders_cancelled_and_is_refused_until_it_is_back() {
    let (mut gateway, first) = sent(100);
    let second = order(2, Side::Sell, 100);
    gateway.on_new_order(ME, &second).unwrap();
    assert_eq!(gateway.strategy_stopped(ME), [cancel(&first), cancel(&second)]);
    assert_eq!(gateway.strategy_stopped(ME), [], "once");
    assert_eq!(gateway.strategy_stopped(StrategyId(400)), []);
    let reason = |result: Result<NewOrder, OrderUpdate>| result.unwrap_err().reason;
    assert_eq!(reason(gateway.on_new_order(ME, &order(3, Side::Buy, 100))), Reason::StrategyGone);
    assert_eq!(gateway.on_cancel(ME, &cancel(&first)).unwrap_err().reason, Reason::StrategyGone);
    assert_eq!(gateway.on_replace(ME, &replace(&first, 200)).unwrap_err().reason, Reason::StrategyGone);
    let outcome = gateway.on_update(1, &update(&first, OrderStatus::Cancelled, 0));
    assert_eq!(outcome.deliver.map(|delivery| delivery.to), Some(ME), "its reports are still its own");
    gateway.strategy_started(ME, Limits::NONE).unwrap();
    assert_eq!(gateway.working_orders(ME), 1, "the second one's end has not come yet");
    let after = NewOrder { order_id: OrderId::new(ME, 2, 0), ..order(0, Side::Buy, 100) };
    assert!(gateway.on_new_order(ME, &after).is_ok());
    assert_eq!(gateway.cancel_all(ME), [cancel(&after)], "the second one's cancel is on its way");
}

#[test]
fn orders_of_an_older_epoch_are_cancelled_and_those_of_the_living_stay() {
    let mut gateway = gateway(Limits::NONE);
    let in_epoch = |epoch, sequence| NewOrder {
        order_id: OrderId::new(ME, epoch, sequence),
        ..order(sequence, Side::Buy, 100)
    };
    // Epochs wrap: 65,535 is before 0.
    let orders = [in_epoch(65_535, 1), in_epoch(65_535, 2), in_epoch(0, 1)];
    for order in &orders {
        let _ = gateway.on_new_order(ME, order).unwrap();
    }
    gateway.on_cancel(ME, &cancel(&orders[1])).unwrap();
    assert_eq!(gateway.cancel_before(ME, 65_535), []);
    assert_eq!(gateway.cancel_before(ME, 0), [cancel(&orders[0])], "the second one's cancel is on its way");
    assert_eq!(gateway.cancel_before(ME, 0), [], "once");
    assert_eq!(gateway.cancel_before(OTHER, 0), []);
}

#[test]
fn what_a_dead_process_wrote_is_refused_although_its_successor_has_joined() {
    let mut gateway = gateway(Limits::NONE);
    let late = order(1, Side::Buy, 100);
    let Decision::Answer(refused) = gateway.take_from_stopped(ME, NewOrder::ID, late.bytes()) else {
        panic!("it was sent")
    };
    assert_eq!((refused.status, refused.reason), (OrderStatus::Rejected, Reason::StrategyGone));
    let next = NewOrder { order_id: OrderId::new(ME, 2, 1), ..late };
    assert_eq!(gateway.take(ME, NewOrder::ID, next.bytes()), Decision::Send(Request::New(next)));
}

fn snapshot(
    strategy: StrategyId,
    positions: impl Into<Vec<PositionState>>,
    orders: impl Into<Vec<OrderUpdate>>,
) -> Snapshot {
    let begin =
        SnapshotBegin { snapshot: 3, execution: 1_000, strategy, reserved: [0; 3], generation: 0, trade: 0 };
    Snapshot { begin, positions: positions.into(), orders: orders.into(), quotes: Vec::new() }
}

fn held(instrument: InstrumentId) -> PositionState {
    PositionState {
        strategy: ME,
        reserved: 0,
        instrument,
        position: Quantity(-200),
        average_price: price("10"),
        realised: Money(0),
        unrealised: Money(0),
        mark_price: Price::NONE,
        bought: Quantity(0),
        sold: Quantity(200),
        fills: 1,
        orders: 2,
        cash: wire::WideMoney::from_wide(2_000 * i128::from(Price::ONE)),
    }
}

#[test]
fn a_restarted_gateway_takes_its_state_from_the_ledgers_snapshot() {
    let working = order(4, Side::Sell, 300);
    let state = OrderUpdate { execution: 900, ..update(&working, OrderStatus::PartiallyFilled, 100) };
    let snapshot = snapshot(SnapshotBegin::EVERYBODY, [held(STOCK)], [state]);
    let mut gateway = Gateway::new(Default::default()).unwrap();
    gateway.on_instrument(&instrument(1)).unwrap();
    gateway.restore(&snapshot).unwrap();
    assert_eq!(gateway.on_new_order(ME, &order(9, Side::Buy, 100)).unwrap_err().reason, Reason::StrategyGone);
    gateway.strategy_started(ME, Limits { max_position: Quantity(500), ..Limits::NONE }).unwrap();
    let exposure = gateway.exposure(ME, STOCK);
    assert_eq!((exposure.position, exposure.working_sells), (-200, 200));
    assert_eq!(
        gateway.on_new_order(ME, &order(4, Side::Sell, 100)).unwrap_err().reason,
        Reason::DuplicateOrder
    );
    assert_eq!(
        gateway.on_new_order(ME, &order(10, Side::Sell, 200)).unwrap_err().reason,
        Reason::PositionLimit
    );
    // Contained in the snapshot: passed on to whoever has not heard of it, and booked no more.
    let contained = gateway.on_fill(999, &fill(&working, 100, 100));
    assert_eq!((contained.anomaly, contained.deliver.map(|delivery| delivery.to)), (None, Some(ME)));
    assert_eq!(gateway.exposure(ME, STOCK), exposure);
    assert_eq!(gateway.on_fill(999, &fill(&working, 100, 100)).anomaly, Some(Anomaly::Redelivered), "once");
    assert_eq!(gateway.on_fill(1_000, &fill(&working, 200, 0)).anomaly, None);
    assert_eq!(gateway.on_update(1_064, &update(&working, OrderStatus::Filled, 300)).anomaly, None);
}

#[test]
fn requests_that_a_predecessor_sent_count_as_sent_once() {
    let (first, second) = (order(4, Side::Sell, 300), order(5, Side::Buy, 100));
    let state = update(&first, OrderStatus::Accepted, 0);
    let snapshot = snapshot(SnapshotBegin::EVERYBODY, [], [state]);
    let mut gateway = Gateway::new(Default::default()).unwrap();
    gateway.on_instrument(&instrument(1)).unwrap();
    gateway.restore(&snapshot).unwrap();
    for request in [
        Request::New(first),
        Request::New(second),
        Request::Replace(replace(&first, 500)),
        Request::Cancel(cancel(&second)),
    ] {
        gateway.resend(&request);
    }
    gateway.use_up(OrderId::new(ME, 1, 8));
    gateway.strategy_started(ME, Limits::NONE).unwrap();
    let exposure = gateway.exposure(ME, STOCK);
    assert_eq!((exposure.working_sells, exposure.working_buys, gateway.working_orders(ME)), (500, 100, 2));
    // In step with all that matching says about them from here.
    assert_eq!(gateway.on_update(1_064, &update(&second, OrderStatus::Accepted, 0)).anomaly, None);
    let replaced = OrderUpdate { quantity: Quantity(500), ..update(&first, OrderStatus::Replaced, 0) };
    assert_eq!(gateway.on_update(1_128, &replaced).anomaly, None);
    assert_eq!(gateway.on_update(1_192, &update(&second, OrderStatus::Cancelled, 0)).anomaly, None);
    let used = gateway.on_new_order(ME, &order(8, Side::Buy, 100)).unwrap_err().reason;
    assert_eq!(used, Reason::DuplicateOrder);
    assert_eq!(gateway.strategy_stopped(ME), [cancel(&first)]);
}

#[test]
fn a_snapshot_of_one_strategy_or_of_an_unlisted_instrument_is_refused() {
    let unlisted = InstrumentId(2);
    let order =
        OrderUpdate { instrument: unlisted, ..update(&order(4, Side::Buy, 1), OrderStatus::Accepted, 0) };
    for (snapshot, expected) in [
        (snapshot(ME, [], []), RestoreError::NotEverybody(ME)),
        (snapshot(SnapshotBegin::EVERYBODY, [held(unlisted)], []), RestoreError::UnknownInstrument(unlisted)),
        (snapshot(SnapshotBegin::EVERYBODY, [], [order]), RestoreError::UnknownInstrument(unlisted)),
    ] {
        let mut gateway = Gateway::new(Default::default()).unwrap();
        gateway.on_instrument(&instrument(1)).unwrap();
        assert_eq!(gateway.restore(&snapshot), Err(expected));
    }
}
