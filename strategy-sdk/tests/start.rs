//! Starting: the list of instruments, the ledger's snapshot, and what must not be counted twice.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::time::Duration;

use strategy_sdk::testing::{Harness, Role, Setup};
use strategy_sdk::*;
use support::*;

fn waiting() -> (Harness<Probe>, InstrumentId) {
    let mut harness = probe(Setup { ledger: true, ..setup() }, |_, _| {});
    let instrument = harness.list("A", "0.01", 1);
    harness.start();
    (harness, instrument)
}

fn old_order() -> OrderId {
    OrderId::new(StrategyId(7), 0, 5)
}

#[test]
fn without_a_ledger_it_starts_once_the_list_is_whole() {
    let mut harness = listener(setup());
    harness.list("A", "0.01", 1);
    harness.turn();
    assert!(!harness.is_started());
    harness.list("B", "0.01", 1);
    harness.start();
    let expected = [Event::Start, Event::Instrument(InstrumentId(1)), Event::Instrument(InstrumentId(2))];
    assert_eq!(harness.strategy().events(), expected);
}

#[test]
fn with_a_ledger_it_starts_with_what_the_ledger_knows() {
    let (mut harness, instrument) = waiting();
    assert!(!harness.is_started());
    let order = update(old_order(), instrument, OrderStatus::PartiallyFilled, 900);
    let mut quote = Quote::empty(instrument);
    quote.sequence = 3;
    let state = Snapshot { positions: &[(instrument, -40)], orders: &[order], quotes: &[quote], ..SNAPSHOT };
    state.give(&mut harness);
    harness.turn();
    assert_eq!(harness.strategy().events(), [Event::Start, Event::Instrument(instrument)]);
    let context = harness.context();
    let position = context.position(instrument);
    assert_eq!((position.quantity, position.sold), (Quantity(-40), Quantity(40)));
    // Short 40 at 2, and 5 realised: at 1.5 it is 20 and 5.
    assert_eq!(position.profit("1.5".parse().unwrap()), Money(25 * Money::ONE));
    let working: Vec<OrderId> = context.working_orders().map(|order| order.id).collect();
    assert_eq!(working, [old_order()]);
    assert!(context.working_order(old_order()).unwrap().accepted);
    assert_eq!(context.last_quote(instrument), Some(&quote));
}

#[test]
fn a_snapshot_that_is_not_for_this_start_or_not_whole_is_passed_over() {
    let (mut harness, instrument) = waiting();
    let state = Snapshot { positions: &[(instrument, 1)], ..SNAPSHOT };
    let not_started = |harness: &mut Harness<Probe>, why: &str| {
        harness.turn();
        assert!(!harness.is_started(), "started with {why}");
    };
    Snapshot { generation: 2, ..state }.give(&mut harness);
    not_started(&mut harness, "that of another generation");
    Snapshot { strategy: StrategyId(8), ..state }.give(&mut harness);
    not_started(&mut harness, "that of another strategy");
    Snapshot { strategy: wire::SnapshotBegin::EVERYBODY, ..state }.give(&mut harness);
    not_started(&mut harness, "that of everybody");
    state.body(&mut harness);
    state.end(&mut harness);
    not_started(&mut harness, "one without a beginning");
    state.begin(&mut harness);
    state.end(&mut harness);
    not_started(&mut harness, "one with a frame too few");
    state.begin(&mut harness);
    Snapshot { number: 2, ..state }.body(&mut harness);
    Snapshot { number: 2, ..state }.end(&mut harness);
    not_started(&mut harness, "the end of another");
    state.begin(&mut harness);
    harness.gap(Role::State, Gap { from: 64, resumed_at: 128 });
    state.body(&mut harness);
    state.end(&mut harness);
    not_started(&mut harness, "one with a gap");

    // The ledger died in the middle, and its successor begins again.
    state.begin(&mut harness);
    state.body(&mut harness);
    Snapshot { number: 3, positions: &[(instrument, 2)], ..SNAPSHOT }.give(&mut harness);
    harness.turn();
    assert!(harness.is_started());
    assert_eq!(harness.context().position(instrument).quantity, Quantity(2));
}

#[test]
fn it_asks_for_its_state_and_again_when_the_answer_may_be_lost() {
    let (mut harness, instrument) = waiting();
    assert_eq!(harness.asked(), (1, false), "once the list is whole");
    harness.turn();
    assert_eq!(harness.asked(), (1, false));
    SNAPSHOT.begin(&mut harness);
    harness.gap(Role::State, Gap { from: 64, resumed_at: 128 });
    assert_eq!(harness.asked(), (2, false));
    Snapshot { positions: &[(instrument, 3)], ..SNAPSHOT }.give(&mut harness);
    assert_eq!(harness.asked(), (2, true));
    harness.turn();
    harness.gap(Role::State, Gap { from: 128, resumed_at: 256 });
    assert_eq!(harness.asked(), (2, true), "it knows all that it wants");
    assert_eq!(harness.context().position(instrument).quantity, Quantity(3));
}

#[test]
fn who_waits_no_longer_says_so() {
    let (mut harness, _) = waiting();
    harness.advance(Duration::from_secs(2));
    assert!(harness.is_started());
    assert_eq!(harness.asked(), (1, true));
}

#[test]
fn without_a_snapshot_it_starts_after_two_seconds_and_a_late_one_changes_nothing() {
    let (mut harness, instrument) = waiting();
    let began = harness.now();
    assert_eq!(harness.deadline(), Some(began + Nanos(2_000_000_000)));
    harness.advance(Duration::from_millis(1_999));
    assert!(!harness.is_started());
    harness.advance(Duration::from_millis(1));
    assert!(harness.is_started());
    Snapshot { positions: &[(instrument, 1)], ..SNAPSHOT }.give(&mut harness);
    assert_eq!(harness.context().position(instrument), Position::default());
    let first = fill(OrderId::new(StrategyId(7), 0, 1), instrument, 3, 64);
    harness.send(Role::Reports, 0, &first);
    assert_eq!(harness.context().position(instrument).quantity, Quantity(3), "no snapshot has it");
}

#[test]
fn reports_wait_for_the_start_and_those_in_the_snapshot_are_not_counted_again() {
    let (mut harness, instrument) = waiting();
    let early = fill(old_order(), instrument, 4, 900);
    assert!(!harness.send(Role::Reports, 0, &early), "reports stay where they are");
    let order = update(old_order(), instrument, OrderStatus::Accepted, 640);
    Snapshot { positions: &[(instrument, 4)], orders: &[order], ..SNAPSHOT }.give(&mut harness);
    harness.turn();

    assert!(harness.send(Role::Reports, 0, &early));
    let earlier_end = update(old_order(), instrument, OrderStatus::Cancelled, 999);
    harness.send(Role::Reports, 0, &earlier_end);
    let heard = harness.strategy().events().len();
    assert_eq!(heard, 2, "start and instrument: what the snapshot has is not told");
    assert_eq!(harness.context().position(instrument).quantity, Quantity(4));
    assert_eq!(harness.context().working_orders().count(), 1);

    harness.send(Role::Reports, 0, &fill(old_order(), instrument, 3, 1_000));
    assert_eq!(harness.context().position(instrument).quantity, Quantity(7));
    harness.send(Role::Reports, 0, &update(old_order(), instrument, OrderStatus::Cancelled, 1_064));
    assert_eq!(harness.context().working_orders().count(), 0);
    assert_eq!(harness.strategy().events().len(), 4, "both were news");
}

#[test]
fn tds_own_answers_to_a_predecessor_are_passed_over_unless_its_order_works() {
    let (mut harness, instrument) = waiting();
    let order = update(old_order(), instrument, OrderStatus::Accepted, 640);
    Snapshot { orders: &[order], ..SNAPSHOT }.give(&mut harness);
    harness.turn();
    let other = OrderId::new(StrategyId(7), 0, 6);
    harness.send(Role::Reports, 0, &update(other, instrument, OrderStatus::Rejected, 0));
    assert_eq!(harness.strategy().events().len(), 2);
    // td ends it by itself when the market is gone.
    harness.send(Role::Reports, 0, &update(old_order(), instrument, OrderStatus::Cancelled, 0));
    assert_eq!(harness.strategy().events().len(), 3);
    assert_eq!(harness.context().working_orders().count(), 0);
    // What was on its way into the market when the snapshot was taken is taken over.
    harness.send(Role::Reports, 0, &update(other, instrument, OrderStatus::Accepted, 1_000));
    assert!(harness.context().working_order(other).unwrap().accepted);
}

#[test]
fn quotes_from_before_the_start_wait_and_are_handed_over_behind_it() {
    for deterministic in [false, true] {
        let mut harness = listener(Setup { ledger: true, deterministic, ..setup() });
        let instrument = harness.list("A", "0.01", 1);
        harness.start();
        assert!(!harness.accepts(Role::Quotes), "they stay in their journal");
        SNAPSHOT.give(&mut harness);
        harness.turn();
        assert!(harness.accepts(Role::Quotes));
        harness.quote(instrument, "1", "2", 5);
        harness.quote(instrument, "3", "4", 5);
        let [start, listed, first, second] = &harness.strategy().events()[..] else { panic!("four events") };
        assert_eq!((start, listed), (&Event::Start, &Event::Instrument(instrument)));
        assert_ne!(first, second);
    }
}

#[test]
fn stopped_before_its_start_it_hears_nothing() {
    let (mut harness, _) = waiting();
    harness.stop();
    assert!(harness.strategy().events().is_empty());
    assert!(harness.sent().is_empty());
}
