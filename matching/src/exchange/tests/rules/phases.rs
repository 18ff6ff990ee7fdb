//! What happens when a phase changes.

use wire::Side;

use super::super::desk::*;
use super::super::venue::Venue;
use crate::exchange::{InstrumentRules, Lifetime, MarketRules, Permission, Phase};

fn a_phase_that_it_has_already_is_no_change<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    assert_eq!(desk.phase(Phase::Continuous), NOTHING);
    desk.phase(Phase::OpeningAuction);
    assert_eq!(desk.phase(Phase::OpeningAuction), NOTHING);
}

fn phases_of_one_auction_are_one_auction<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::PreOpen);
    desk.stand([buy(1, 100, 1), sell(2, 100, 1)]);
    assert_eq!(desk.phase(Phase::OpeningAuction), ["pre-open to opening-auction"]);
    assert_eq!(desk.phase(Phase::OpeningFreeze), ["opening-auction to opening-freeze"]);
    assert_eq!(desk.phase(Phase::VolatilityAuction)[0], "opening: 1 @ 100, imbalance 0");
}

fn nothing_trades_in_a_pause<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::Pause);
    desk.stand([buy(1, 101, 2), sell(2, 100, 1)]);
    assert_eq!(desk.book(Side::Buy), ["1: 2 of 2 @ 101"]);
    assert_eq!(
        desk.phase(Phase::Continuous),
        ["no auction: 1 @ 101, imbalance 1", "1 buys 1 @ 101 from 2, left 1 and 0", "pause to continuous",]
    );
}

fn a_book_that_is_not_crossed_is_not_uncrossed<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::Pause);
    desk.stand([buy(1, 100, 2), sell(2, 101, 1)]);
    assert_eq!(desk.phase(Phase::Continuous), ["pause to continuous"]);
}

fn market_orders_do_not_stay_in_continuous_trading<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::Pause);
    desk.stand([market(buy(1, 0, 2))]);
    assert_eq!(
        desk.phase(Phase::Continuous),
        ["no auction: nothing", "1 cancelled: 2 left, no-liquidity", "pause to continuous"]
    );
}

fn a_halt_does_not_end_an_auction<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::OpeningAuction);
    desk.stand([buy(1, 100, 3), sell(2, 100, 1), lasting(sell(3, 101, 1), Lifetime::AtTheOpen)]);
    assert_eq!(desk.phase(Phase::Halt), ["opening-auction to halt"]);
    assert_eq!(desk.enter(buy(4, 100, 1)), ["4 rejected: market-closed"]);
    assert_eq!(
        desk.phase(Phase::Continuous),
        [
            "no auction: 1 @ 100, imbalance 2",
            "1 buys 1 @ 100 from 2, left 2 and 0",
            "3 cancelled: 1 left, expired",
            "halt to continuous",
        ]
    );
}

fn what_waits_is_triggered_after_the_uncross_of_a_pause<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([stop(buy(1, 0, 1), 100)]);
    desk.phase(Phase::Pause);
    desk.stand([buy(2, 100, 1), sell(3, 100, 2)]);
    assert_eq!(
        desk.phase(Phase::Continuous),
        [
            "no auction: 1 @ 100, imbalance -1",
            "2 buys 1 @ 100 from 3, left 0 and 1",
            "pause to continuous",
            "1 triggered",
            "1 buys 1 @ 100 from 3, left 0 and 0",
        ]
    );
}

fn leaving_an_auction_for_the_end_of_the_day_uncrosses_first<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::ClosingAuction);
    desk.stand([
        buy(1, 100, 3),
        lasting(sell(2, 100, 1), Lifetime::AtTheClose),
        lasting(buy(3, 99, 1), Lifetime::GoodTillCancel),
    ]);
    assert_eq!(
        desk.phase(Phase::Closed),
        [
            "closing: 1 @ 100, imbalance 2",
            "1 buys 1 @ 100 from 2, left 2 and 0",
            "closing-auction to closed",
            "1 cancelled: 2 left, expired",
        ]
    );
    assert_eq!(desk.book(Side::Buy), ["3: 1 of 1 @ 99"]);
}

fn a_whole_day<V: Venue>() {
    let mut desk = Desk::<V>::of_market(MarketRules::cme());
    desk.phase(Phase::Closed);
    assert_eq!(desk.enter(buy(1, 100, 1)), ["1 rejected: market-closed"]);
    desk.schedule(&[
        (10, Phase::PreOpen),
        (20, Phase::OpeningFreeze),
        (30, Phase::Continuous),
        (40, Phase::ClosingAuction),
        (50, Phase::Closed),
    ]);
    assert_eq!(desk.advance(10), ["closed to pre-open"]);
    desk.stand([buy(1, 100, 2), sell(2, 100, 1)]);
    assert_eq!(desk.advance(20), ["pre-open to opening-freeze"]);
    assert_eq!(desk.cancel(1), ["1 not cancelled: market-closed"]);
    assert_eq!(
        desk.advance(30),
        [
            "opening: 1 @ 100, imbalance 1",
            "1 buys 1 @ 100 from 2, left 1 and 0",
            "opening-freeze to continuous",
        ]
    );
    assert_eq!(desk.enter(sell(3, 100, 1))[1], "1 buys 1 @ 100 from 3, left 0 and 0");
    desk.stand([buy(4, 98, 1)]);
    assert_eq!(
        desk.advance(60),
        [
            "continuous to closing-auction",
            "closing: nothing",
            "closing-auction to closed",
            "4 cancelled: 1 left, expired",
        ]
    );
    assert_eq!(desk.venue.working_orders(), 0);
}

fn other_instruments_do_not_change<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    let other = wire::InstrumentId(2);
    assert!(desk.venue.list(InstrumentRules { id: other, ..stock() }));
    desk.venue.submit(&crate::exchange::Order { instrument: other, ..buy(1, 100, 1) });
    desk.stand([buy(2, 100, 1)]);
    assert_eq!(desk.phase(Phase::Closed), ["continuous to closed", "2 cancelled: 1 left, expired"]);
    assert_eq!(desk.venue.phase(other), Some(Phase::Continuous));
    assert_eq!(desk.venue.working_orders(), 1);
}

fn a_mass_cancel_passes_over_phases_that_take_none<V: Venue>() {
    let mut rules = MarketRules::plain();
    rules.permissions[Phase::Pause.index()] = Permission::ENTER;
    let mut desk = Desk::<V>::of_market(rules);
    assert!(desk.venue.list(InstrumentRules { id: wire::InstrumentId(2), ..stock() }));
    desk.stand([
        buy(1, 100, 1),
        crate::exchange::Order { instrument: wire::InstrumentId(2), ..buy(2, 100, 1) },
    ]);
    desk.phase(Phase::Pause);
    let answers = vec!["2 cancelled: 1 left, requested".to_string()];
    assert_eq!(desk.mass_cancel(Default::default()), (1, 1, answers));
}

on_both!(
    a_phase_that_it_has_already_is_no_change,
    phases_of_one_auction_are_one_auction,
    nothing_trades_in_a_pause,
    a_book_that_is_not_crossed_is_not_uncrossed,
    market_orders_do_not_stay_in_continuous_trading,
    a_halt_does_not_end_an_auction,
    what_waits_is_triggered_after_the_uncross_of_a_pause,
    leaving_an_auction_for_the_end_of_the_day_uncrosses_first,
    a_whole_day,
    other_instruments_do_not_change,
    a_mass_cancel_passes_over_phases_that_take_none,
);
