//! Orders that trade at least so much at once, or nothing.

use wire::{Price, Side};

use super::super::desk::*;
use super::super::venue::Venue;
use crate::exchange::{Lifetime, Phase, SelfTrade};

fn less_than_the_minimum_trades_nothing<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([sell(1, 100, 5), sell(2, 102, 5)]);
    let order = at_least(buy(3, 101, 10), 6);
    assert_eq!(desk.enter(order), ["3 accepted", "3 cancelled: 10 left, not-fillable"]);
    assert_eq!(desk.book(Side::Sell), ["1: 5 of 5 @ 100", "2: 5 of 5 @ 102"]);
}

fn the_rest_beyond_the_minimum_goes_on_as_its_lifetime_says<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([sell(1, 100, 5), sell(2, 101, 5)]);
    let order = at_least(buy(3, 100, 10), 5);
    assert_eq!(desk.enter(order), ["3 accepted", "3 buys 5 @ 100 from 1, left 5 and 0", "3 rests: 5 @ 100"]);
    let order = lasting(at_least(buy(4, 101, 10), 5), Lifetime::ImmediateOrCancel);
    assert_eq!(
        desk.enter(order),
        ["4 accepted", "4 buys 5 @ 101 from 2, left 5 and 0", "4 cancelled: 5 left, no-liquidity"]
    );
}

fn the_minimum_counts_hidden_parts<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([iceberg(sell(1, 100, 5), 1)]);
    assert_eq!(
        desk.enter(market(at_least(buy(2, 0, 5), 5))).last().unwrap(),
        "2 buys 1 @ 100 from 1, left 0 and 0"
    );
}

fn the_minimum_does_not_count_what_is_beyond_the_band<V: Venue>() {
    let mut desk = Desk::<V>::with(with_band(100, 2));
    desk.stand([sell(1, 102, 3), sell(2, 103, 9)]);
    for order in [at_least(buy(3, 110, 9), 4), market(at_least(buy(3, 0, 9), 4))] {
        assert_eq!(desk.enter(order), ["3 accepted", "3 cancelled: 9 left, not-fillable"]);
    }
    // With its minimum within the band it interrupts trading like any other limit order.
    assert_eq!(
        desk.enter(at_least(buy(3, 110, 9), 3)),
        [
            "3 accepted",
            "3 buys 3 @ 102 from 1, left 6 and 0",
            "continuous to volatility-auction",
            "3 rests: 6 @ 110",
        ]
    );
}

fn the_minimum_counts_up_to_the_owners_first_order<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([sell(1, 100, 3), of_strategy(sell(2, 100, 3), 5), sell(3, 100, 3)]);
    let mut order = of_strategy(at_least(buy(4, 100, 9), 4), 5);
    assert_eq!(desk.enter(order), ["4 accepted", "4 cancelled: 9 left, not-fillable"]);
    order.self_trade = Some(SelfTrade::CancelOldest);
    let answers = desk.enter(order);
    assert_eq!(
        answers[2..],
        ["2 cancelled: 3 left, self-trade", "4 buys 3 @ 100 from 3, left 3 and 0", "4 rests: 3 @ 100"]
    );
}

fn once_the_order_rests_the_minimum_no_longer_counts<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([sell(1, 100, 5), at_least(buy(2, 100, 10), 5)]);
    assert_eq!(desk.enter(sell(3, 100, 1)), ["3 accepted", "2 buys 1 @ 100 from 3, left 4 and 0"]);
    desk.stand([sell(4, 101, 1)]);
    assert_eq!(
        desk.replace(2, 101, 10),
        ["2 replaced: 4 @ 101, anew", "2 buys 1 @ 101 from 4, left 3 and 0", "2 rests: 3 @ 101"]
    );
}

fn a_minimum_is_for_continuous_trading_only<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::Pause);
    assert_eq!(desk.enter(at_least(buy(1, 100, 5), 1)), ["1 rejected: market-closed"]);
    assert_eq!(desk.venue.last_price(STOCK), None::<Price>);
}

on_both!(
    less_than_the_minimum_trades_nothing,
    the_rest_beyond_the_minimum_goes_on_as_its_lifetime_says,
    the_minimum_counts_hidden_parts,
    the_minimum_does_not_count_what_is_beyond_the_band,
    the_minimum_counts_up_to_the_owners_first_order,
    once_the_order_rests_the_minimum_no_longer_counts,
    a_minimum_is_for_continuous_trading_only,
);
