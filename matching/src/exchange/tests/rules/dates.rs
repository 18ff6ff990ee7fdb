//! What time brings: ends of orders, schedules, ends of volatility auctions.

use wire::{InstrumentId, Nanos, Side};

use super::super::desk::*;
use super::super::venue::Venue;
use crate::exchange::{InstrumentRules, Lifetime, MarketRules, Order, Permission, Phase};

fn till(order: Order, date: u64) -> Order {
    lasting(order, Lifetime::GoodTillDate(Nanos(date)))
}

fn a_date_that_has_come_is_rejected<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.advance(10);
    assert_eq!(desk.enter(till(buy(1, 100, 1), 9)), ["1 rejected: expired"]);
    assert_eq!(desk.enter(till(buy(1, 100, 1), 10)), ["1 rejected: expired"]);
    assert_eq!(desk.enter(till(buy(1, 100, 1), 11)), ["1 accepted", "1 rests: 1 @ 100"]);
}

fn orders_end_when_their_date_has_come<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([till(buy(1, 100, 1), 20), till(stop(buy(2, 0, 1), 200), 10), till(buy(3, 99, 1), 20)]);
    assert_eq!(desk.advance(9), NOTHING);
    assert_eq!(desk.advance(10), ["2 cancelled: 1 left, expired"]);
    assert_eq!(desk.advance(50), ["1 cancelled: 1 left, expired", "3 cancelled: 1 left, expired"]);
}

fn at_one_time_the_oldest_ends_first<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([till(buy(1, 100, 1), 20), till(buy(2, 101, 1), 20), till(buy(3, 102, 1), 20)]);
    // The older it is, the earlier; a replace that loses the place makes it young.
    desk.replace(1, 100, 2);
    let ends =
        ["2 cancelled: 1 left, expired", "3 cancelled: 1 left, expired", "1 cancelled: 2 left, expired"];
    assert_eq!(desk.advance(20), ends);
}

fn they_end_also_where_no_cancels_are_taken<V: Venue>() {
    let mut rules = MarketRules::plain();
    rules.permissions[Phase::Pause.index()] = Permission::NONE;
    let mut desk = Desk::<V>::of_market(rules);
    desk.stand([till(buy(1, 100, 1), 20)]);
    desk.phase(Phase::Pause);
    assert_eq!(desk.cancel(1), ["1 not cancelled: market-closed"]);
    assert_eq!(desk.advance(20), ["1 cancelled: 1 left, expired"]);
}

fn good_till_cancel_and_till_date_survive_the_day<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    let lifetimes = [
        Lifetime::Day,
        Lifetime::GoodTillCancel,
        Lifetime::GoodTillDate(Nanos(500)),
        Lifetime::AtTheClose,
        Lifetime::Day,
    ];
    for (id, lifetime) in (1..).zip(lifetimes) {
        desk.stand([lasting(buy(id, 100, 1), lifetime)]);
    }
    assert_eq!(
        desk.phase(Phase::Closed),
        [
            "continuous to closed",
            "1 cancelled: 1 left, expired",
            "4 cancelled: 1 left, expired",
            "5 cancelled: 1 left, expired",
        ]
    );
    assert_eq!(desk.book(Side::Buy), ["2: 1 of 1 @ 100", "3: 1 of 1 @ 100"]);
}

fn time_does_not_go_back<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.advance(10);
    desk.schedule(&[(5, Phase::Pause)]);
    assert_eq!(desk.advance(9), NOTHING);
    assert_eq!(desk.venue.now(), Nanos(10));
    // What lay in the past already is done at the next time.
    assert_eq!(desk.advance(10), ["continuous to pause"]);
}

fn a_schedule_changes_phases_in_order_of_time<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.schedule(&[(10, Phase::ClosingAuction), (20, Phase::ClosingFreeze), (30, Phase::Closed)]);
    desk.stand([sell(1, 100, 1), till(buy(2, 99, 1), 15), till(buy(3, 99, 1), 30)]);
    assert_eq!(desk.advance(9), NOTHING);
    assert_eq!(
        desk.advance(40),
        [
            "continuous to closing-auction",
            "2 cancelled: 1 left, expired",
            "closing-auction to closing-freeze",
            // At one time orders end first.
            "3 cancelled: 1 left, expired",
            "closing: nothing",
            "closing-freeze to closed",
            "1 cancelled: 1 left, expired",
        ]
    );
}

fn a_schedule_replaces_the_one_before<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.schedule(&[(10, Phase::Pause)]);
    desk.schedule(&[(20, Phase::Halt)]);
    assert_eq!(desk.advance(15), NOTHING);
    assert_eq!(desk.advance(25), ["continuous to halt"]);
    desk.schedule(&[(30, Phase::Pause)]);
    desk.schedule(&[]);
    assert_eq!(desk.advance(35), NOTHING);
}

fn each_thing_is_done_at_its_own_time<V: Venue>() {
    let mut desk = Desk::<V>::with(with_band(100, 2));
    desk.schedule(&[(5, Phase::Pause), (7, Phase::Continuous)]);
    // At 7 continuous trading begins with a stop that meets the band; the auction lasts until 17.
    desk.phase(Phase::ClosingAuction);
    desk.stand([
        stop_limit(buy(3, 110, 1), 100),
        sell(4, 110, 1),
        sell(5, 105, 1),
        sell(6, 100, 1),
        buy(7, 100, 1),
    ]);
    assert_eq!(
        desk.advance(16),
        [
            "closing: 1 @ 100, imbalance 0",
            "7 buys 1 @ 100 from 6, left 0 and 0",
            "closing-auction to pause",
            "pause to continuous",
            "3 triggered",
            "continuous to volatility-auction",
            "3 rests: 1 @ 110",
        ]
    );
    assert_eq!(
        desk.advance(17),
        [
            "volatility: 1 @ 105, imbalance 0",
            "3 buys 1 @ 105 from 5, left 0 and 0",
            "volatility-auction to continuous",
        ]
    );
}

fn at_one_time_phases_change_by_instrument<V: Venue>() {
    let mut desk = Desk::<V>::with(InstrumentRules::new(InstrumentId(9), stock().ticks[0].1));
    assert!(desk.venue.list(stock()));
    for id in [9, 1] {
        assert!(
            desk.venue.schedule(InstrumentId(id), vec![(Nanos(10), Phase::Pause), (Nanos(20), Phase::Halt)])
        );
    }
    let changed: Vec<u32> = desk
        .venue
        .advance(Nanos(20))
        .iter()
        .map(|event| match event {
            crate::exchange::Event::PhaseChanged { instrument, .. } => instrument.0,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(changed, [1, 9, 1, 9]);
}

fn an_instrument_that_is_not_listed_has_no_schedule<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    let unlisted = InstrumentId(2);
    assert!(!desk.venue.schedule(unlisted, vec![(Nanos(1), Phase::Closed)]));
    assert!(!desk.venue.set_phase(unlisted, Phase::Closed).0);
    assert_eq!(desk.advance(10), NOTHING);
    assert_eq!((desk.venue.phase(unlisted), desk.venue.equilibrium(unlisted)), (None, None));
    assert_eq!((desk.venue.last_price(unlisted), desk.venue.orders(unlisted, Side::Buy)), (None, None));
}

on_both!(
    a_date_that_has_come_is_rejected,
    orders_end_when_their_date_has_come,
    at_one_time_the_oldest_ends_first,
    they_end_also_where_no_cancels_are_taken,
    good_till_cancel_and_till_date_survive_the_day,
    time_does_not_go_back,
    a_schedule_changes_phases_in_order_of_time,
    a_schedule_replaces_the_one_before,
    each_thing_is_done_at_its_own_time,
    at_one_time_phases_change_by_instrument,
    an_instrument_that_is_not_listed_has_no_schedule,
);
