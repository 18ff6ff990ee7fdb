//! The dynamic band, and the volatility auction that it begins.

use wire::{Nanos, Price, Side};

use super::super::desk::*;
use super::super::venue::Venue;
use crate::exchange::{
    DynamicBand, InstrumentRules, Lifetime, MarketRemainder, MarketRules, Phase, SelfTrade, Width,
};

fn a_limit_order_that_meets_the_band_rests_and_interrupts_trading<V: Venue>() {
    let mut desk = Desk::<V>::with(with_band(100, 2));
    desk.stand([sell(1, 102, 5), sell(2, 103, 5)]);
    assert_eq!(
        desk.enter(buy(3, 104, 8)),
        [
            "3 accepted",
            "3 buys 5 @ 102 from 1, left 3 and 0",
            "continuous to volatility-auction",
            "3 rests: 3 @ 104",
        ]
    );
    assert_eq!(desk.indication(), "3 @ 103, imbalance -2");
    assert_eq!(desk.advance(9), NOTHING);
    assert_eq!(
        desk.advance(10),
        [
            "volatility: 3 @ 103, imbalance -2",
            "3 buys 3 @ 103 from 2, left 0 and 2",
            "volatility-auction to continuous",
        ]
    );
}

fn an_order_whose_limit_is_not_beyond_the_next_price_does_not_interrupt<V: Venue>() {
    let mut desk = Desk::<V>::with(with_band(100, 2));
    desk.stand([sell(1, 105, 5)]);
    assert_eq!(desk.enter(buy(2, 104, 8)), ["2 accepted", "2 rests: 8 @ 104"]);
    assert_eq!(desk.venue.phase(STOCK), Some(Phase::Continuous));
    // A seller finds that bid beyond the band.
    let answers = ["3 accepted", "continuous to volatility-auction", "3 rests: 1 @ 102"];
    assert_eq!(desk.enter(sell(3, 102, 1)), answers);
}

fn the_band_holds_on_both_sides<V: Venue>() {
    let mut desk = Desk::<V>::with(with_band(100, 2));
    desk.stand([sell(1, 90, 5)]);
    // The price is good for the buyer, but far from the last one.
    assert_eq!(
        desk.enter(buy(2, 100, 1)),
        ["2 accepted", "continuous to volatility-auction", "2 rests: 1 @ 100"]
    );
}

fn immediate_or_cancel_interrupts_too<V: Venue>() {
    let mut desk = Desk::<V>::with(with_band(100, 2));
    desk.stand([sell(1, 103, 5)]);
    assert_eq!(
        desk.enter(lasting(buy(2, 103, 5), Lifetime::ImmediateOrCancel)),
        ["2 accepted", "continuous to volatility-auction", "2 cancelled: 5 left, no-liquidity"]
    );
}

fn market_orders_stop_at_the_band_and_do_not_interrupt<V: Venue>() {
    for remainder in [MarketRemainder::Cancel, MarketRemainder::RestAtLastPrice] {
        let market_rules = MarketRules { market_remainder: remainder, ..MarketRules::plain() };
        let mut desk = Desk::<V>::with(InstrumentRules { market: market_rules, ..with_band(100, 2) });
        desk.stand([sell(1, 101, 1), sell(2, 103, 5)]);
        let rest = match remainder {
            MarketRemainder::Cancel => "3 cancelled: 4 left, no-liquidity",
            MarketRemainder::RestAtLastPrice => "3 rests: 4 @ 101",
        };
        assert_eq!(
            desk.enter(market(buy(3, 0, 5))),
            ["3 accepted", "3 buys 1 @ 101 from 1, left 4 and 0", rest]
        );
        assert_eq!(desk.venue.phase(STOCK), Some(Phase::Continuous));
    }
}

fn fill_or_kill_does_not_count_what_is_beyond<V: Venue>() {
    let mut desk = Desk::<V>::with(with_band(100, 2));
    desk.stand([sell(1, 102, 5), sell(2, 103, 5)]);
    let order = lasting(buy(3, 110, 6), Lifetime::FillOrKill);
    assert_eq!(desk.enter(order), ["3 accepted", "3 cancelled: 6 left, not-fillable"]);
    assert_eq!(desk.venue.phase(STOCK), Some(Phase::Continuous));
}

fn the_band_is_around_the_last_price_before_the_order<V: Venue>() {
    let mut desk = Desk::<V>::with(with_band(100, 2));
    desk.stand([sell(1, 101, 1), sell(2, 102, 1), sell(3, 103, 1), sell(4, 104, 1)]);
    // Its own trades do not move it.
    assert_eq!(desk.enter(buy(5, 102, 2)).len(), 3);
    // From now on it is around 102.
    assert_eq!(desk.enter(buy(6, 104, 2)).len(), 3);
    assert_eq!(desk.venue.phase(STOCK), Some(Phase::Continuous));
}

fn without_a_trade_and_a_reference_there_is_no_band<V: Venue>() {
    let mut desk = Desk::<V>::with(InstrumentRules { reference_price: Price::NONE, ..with_band(0, 0) });
    desk.stand([sell(1, 500, 1)]);
    assert_eq!(desk.enter(buy(2, 500, 1)), ["2 accepted", "2 buys 1 @ 500 from 1, left 0 and 0"]);
    desk.stand([sell(3, 501, 1)]);
    assert_eq!(desk.enter(buy(4, 501, 1))[1], "continuous to volatility-auction");
}

fn basis_points_are_rounded_towards_the_reference<V: Venue>() {
    for (reference, inside, outside) in [(999, 1_003, 1_004), (-999, -995, -994)] {
        // 0.49 % of 999 is 4.9.
        let band = DynamicBand { width: Width::BasisPoints(49), auction: Nanos(10) };
        let rules = InstrumentRules { dynamic_band: Some(band), ..with_band(reference, 0) };
        let mut desk = Desk::<V>::with(rules);
        desk.stand([sell(1, inside, 1), sell(2, outside, 1)]);
        let answers = desk.enter(market(buy(3, 0, 2)));
        assert_eq!(
            answers[1..],
            [format!("3 buys 1 @ {inside} from 1, left 1 and 0"), "3 cancelled: 1 left, no-liquidity".into(),]
        );
    }
}

fn the_band_is_looked_at_before_the_owner<V: Venue>() {
    let mut desk = Desk::<V>::with(with_band(100, 2));
    let own = |order| of_strategy(order, 7);
    desk.stand([own(sell(1, 103, 5))]);
    let mut order = own(buy(2, 103, 5));
    order.self_trade = Some(SelfTrade::CancelBoth);
    assert_eq!(desk.enter(order), ["2 accepted", "continuous to volatility-auction", "2 rests: 5 @ 103"]);
    assert_eq!(desk.book(Side::Sell), ["1: 5 of 5 @ 103"]);
}

fn another_phase_ends_the_volatility_auction_early<V: Venue>() {
    let mut desk = Desk::<V>::with(with_band(100, 2));
    desk.stand([sell(1, 103, 5), buy(2, 103, 5)]);
    assert_eq!(
        desk.phase(Phase::ClosingAuction),
        [
            "volatility: 5 @ 103, imbalance 0",
            "2 buys 5 @ 103 from 1, left 0 and 0",
            "volatility-auction to closing-auction",
        ]
    );
    assert_eq!(desk.advance(1_000), NOTHING);
}

fn a_volatility_auction_set_by_hand_has_no_end_of_its_own<V: Venue>() {
    let mut desk = Desk::<V>::with(with_band(100, 2));
    desk.phase(Phase::VolatilityAuction);
    assert_eq!(desk.advance(1_000), NOTHING);
    assert_eq!(desk.venue.phase(STOCK), Some(Phase::VolatilityAuction));
}

fn auctions_have_no_band<V: Venue>() {
    let mut desk = Desk::<V>::with(with_band(100, 2));
    desk.phase(Phase::OpeningAuction);
    desk.stand([sell(1, 500, 5), buy(2, 500, 5)]);
    assert_eq!(desk.phase(Phase::Continuous)[0], "opening: 5 @ 500, imbalance 0");
}

on_both!(
    a_limit_order_that_meets_the_band_rests_and_interrupts_trading,
    an_order_whose_limit_is_not_beyond_the_next_price_does_not_interrupt,
    the_band_holds_on_both_sides,
    immediate_or_cancel_interrupts_too,
    market_orders_stop_at_the_band_and_do_not_interrupt,
    fill_or_kill_does_not_count_what_is_beyond,
    the_band_is_around_the_last_price_before_the_order,
    without_a_trade_and_a_reference_there_is_no_band,
    basis_points_are_rounded_towards_the_reference,
    the_band_is_looked_at_before_the_owner,
    another_phase_ends_the_volatility_auction_early,
    a_volatility_auction_set_by_hand_has_no_end_of_its_own,
    auctions_have_no_band,
);
