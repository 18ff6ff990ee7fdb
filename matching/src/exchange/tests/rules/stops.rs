//! Orders that wait for a trade.

use wire::Side;

use super::super::desk::*;
use super::super::venue::Venue;
use crate::exchange::{Lifetime, MarketRemainder, MarketRules, Phase};

fn a_buy_stop_waits_for_a_trade_at_its_trigger_or_above<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.last_price(100);
    assert_eq!(desk.enter(stop(buy(1, 0, 5), 102)), ["1 accepted"]);
    assert!(desk.book(Side::Buy).is_empty());
    desk.stand([sell(2, 101, 1), sell(3, 103, 9)]);
    assert_eq!(desk.enter(buy(4, 101, 1)), ["4 accepted", "4 buys 1 @ 101 from 2, left 0 and 0"]);
    assert_eq!(
        desk.enter(buy(5, 103, 1)),
        [
            "5 accepted",
            "5 buys 1 @ 103 from 3, left 0 and 8",
            "1 triggered",
            "1 buys 5 @ 103 from 3, left 0 and 3",
        ]
    );
}

fn a_sell_stop_waits_for_a_trade_at_its_trigger_or_below<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.last_price(100);
    desk.stand([stop_limit(sell(1, 97, 5), 98), buy(2, 99, 1), buy(3, 98, 2)]);
    assert_eq!(desk.enter(sell(4, 99, 1)), ["4 accepted", "2 buys 1 @ 99 from 4, left 0 and 0"]);
    assert_eq!(
        desk.enter(sell(5, 98, 1)),
        [
            "5 accepted",
            "3 buys 1 @ 98 from 5, left 1 and 0",
            "1 triggered",
            "3 buys 1 @ 98 from 1, left 0 and 4",
            "1 rests: 4 @ 97",
        ]
    );
}

fn a_stop_that_the_last_price_has_reached_is_triggered_at_once<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.last_price(100);
    let order = stop(sell(1, 0, 5), 100);
    assert_eq!(desk.enter(order), ["1 accepted", "1 triggered", "1 cancelled: 5 left, no-liquidity"]);
}

fn before_the_first_trade_no_stop_is_reached<V: Venue>() {
    let mut desk = Desk::<V>::with(with_band(100, 50));
    assert_eq!(desk.enter(stop(sell(1, 0, 5), 1_000)), ["1 accepted"]);
}

fn a_trigger_at_the_end_of_all_prices_waits_like_any_other<V: Venue>() {
    let mut desk = Desk::<V>::with(with_band(100, 50));
    desk.stand([stop(sell(1, 0, 5), i64::MAX), stop(buy(2, 0, 5), i64::MIN + 1)]);
    desk.phase(Phase::ClosingAuction);
    assert_eq!(desk.phase(Phase::Continuous), ["closing: nothing", "closing-auction to continuous"]);
    let answers = desk.enter(sell(3, 100, 1));
    assert_eq!(answers, ["3 accepted", "3 rests: 1 @ 100"]);
    let answers = desk.enter(buy(4, 100, 1));
    assert_eq!(
        answers[2..],
        [
            "1 triggered",
            "1 cancelled: 5 left, no-liquidity",
            "2 triggered",
            "2 cancelled: 5 left, no-liquidity",
        ]
    );
}

fn what_is_left_of_a_triggered_stop_follows_the_rule_for_market_orders<V: Venue>() {
    let remainder = MarketRemainder::RestAtLastPrice;
    let mut desk = Desk::<V>::of_market(MarketRules { market_remainder: remainder, ..MarketRules::plain() });
    desk.stand([stop(buy(1, 0, 5), 100), sell(2, 100, 1), sell(3, 101, 1)]);
    assert_eq!(
        desk.enter(buy(4, 100, 1)),
        [
            "4 accepted",
            "4 buys 1 @ 100 from 2, left 0 and 0",
            "1 triggered",
            "1 buys 1 @ 101 from 3, left 4 and 0",
            "1 rests: 4 @ 101",
        ]
    );
}

fn stops_are_triggered_after_the_request_the_earliest_entry_first<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([stop(buy(1, 0, 1), 101), stop(buy(2, 0, 1), 100), sell(3, 100, 1), sell(4, 101, 9)]);
    assert_eq!(
        desk.enter(buy(5, 101, 3)),
        [
            "5 accepted",
            "5 buys 1 @ 100 from 3, left 2 and 0",
            "5 buys 2 @ 101 from 4, left 0 and 7",
            "1 triggered",
            "1 buys 1 @ 101 from 4, left 0 and 6",
            "2 triggered",
            "2 buys 1 @ 101 from 4, left 0 and 5",
        ]
    );
}

fn stops_reached_by_a_triggered_stop_go_behind_the_others<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    // 1 and 2 are reached by what 3 does; 4 is reached together with 3.
    desk.stand([
        stop(buy(1, 0, 1), 102),
        stop(buy(2, 0, 1), 101),
        stop(buy(3, 0, 2), 100),
        stop(buy(4, 0, 1), 100),
    ]);
    desk.stand([sell(5, 100, 1), sell(6, 101, 1), sell(7, 102, 9)]);
    assert_eq!(
        desk.enter(buy(8, 100, 1)),
        [
            "8 accepted",
            "8 buys 1 @ 100 from 5, left 0 and 0",
            "3 triggered",
            "3 buys 1 @ 101 from 6, left 1 and 0",
            "3 buys 1 @ 102 from 7, left 0 and 8",
            "4 triggered",
            "4 buys 1 @ 102 from 7, left 0 and 7",
            "1 triggered",
            "1 buys 1 @ 102 from 7, left 0 and 6",
            "2 triggered",
            "2 buys 1 @ 102 from 7, left 0 and 5",
        ]
    );
}

fn a_stop_reached_later_goes_behind_an_older_one_that_was_reached_before<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    // 3 and 4 are reached by the request, 2 by what 3 does, 1 by what 4 does.
    desk.stand([
        stop(buy(1, 0, 1), 102),
        stop(buy(2, 0, 1), 101),
        stop(buy(3, 0, 1), 100),
        stop(buy(4, 0, 1), 100),
    ]);
    desk.stand([sell(5, 100, 1), sell(6, 101, 1), sell(7, 102, 9)]);
    let answers = desk.enter(buy(8, 100, 1));
    let triggered: Vec<_> = answers.iter().filter(|line| line.ends_with("triggered")).collect();
    assert_eq!(triggered, ["3 triggered", "4 triggered", "2 triggered", "1 triggered"]);
}

fn outside_of_continuous_trading_stops_are_reached_but_not_triggered<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.last_price(100);
    desk.stand([stop(buy(1, 0, 1), 105)]);
    desk.phase(Phase::ClosingAuction);
    // The last price has reached 2 when it comes in, but 1 is the older one, reached by the auction.
    assert_eq!(desk.enter(stop(sell(2, 0, 1), 100)), ["2 accepted"]);
    desk.stand([sell(3, 105, 3), buy(4, 105, 2)]);
    assert_eq!(
        desk.phase(Phase::Continuous),
        [
            "closing: 2 @ 105, imbalance -1",
            "4 buys 2 @ 105 from 3, left 0 and 1",
            "closing-auction to continuous",
            "1 triggered",
            "1 buys 1 @ 105 from 3, left 0 and 0",
            "2 triggered",
            "2 cancelled: 1 left, no-liquidity",
        ]
    );
}

fn a_waiting_stop_is_no_market_order_that_an_auction_leaves<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::OpeningAuction);
    desk.stand([stop(buy(1, 0, 1), 105), market(buy(2, 0, 1))]);
    assert_eq!(
        desk.phase(Phase::Continuous),
        ["opening: nothing", "2 cancelled: 1 left, no-liquidity", "opening-auction to continuous"]
    );
    assert_eq!(desk.cancel(1), ["1 cancelled: 1 left, requested"]);
}

fn a_stop_that_interrupts_trading_leaves_the_others_waiting<V: Venue>() {
    let mut desk = Desk::<V>::with(with_band(100, 2));
    desk.stand([stop_limit(buy(1, 110, 1), 100), stop(buy(2, 0, 1), 100), sell(3, 100, 1), sell(4, 105, 5)]);
    assert_eq!(
        desk.enter(buy(5, 100, 1)),
        [
            "5 accepted",
            "5 buys 1 @ 100 from 3, left 0 and 0",
            "1 triggered",
            "continuous to volatility-auction",
            "1 rests: 1 @ 110",
        ]
    );
    assert_eq!(
        desk.advance(10),
        [
            "volatility: 1 @ 105, imbalance -4",
            "1 buys 1 @ 105 from 4, left 0 and 4",
            "volatility-auction to continuous",
            "2 triggered",
            "2 buys 1 @ 105 from 4, left 0 and 3",
        ]
    );
}

fn the_band_of_a_triggered_stop_is_around_the_last_price_before_it<V: Venue>() {
    let mut desk = Desk::<V>::with(with_band(100, 2));
    desk.stand([stop(buy(1, 0, 1), 102), sell(2, 102, 1), sell(3, 104, 1)]);
    assert_eq!(
        desk.enter(buy(4, 102, 1)),
        [
            "4 accepted",
            "4 buys 1 @ 102 from 2, left 0 and 0",
            "1 triggered",
            "1 buys 1 @ 104 from 3, left 0 and 0",
        ]
    );
}

fn stops_of_the_day_end_with_it<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([stop(buy(1, 0, 1), 102), lasting(stop(buy(2, 0, 1), 102), Lifetime::GoodTillCancel)]);
    assert_eq!(desk.phase(Phase::Closed), ["continuous to closed", "1 cancelled: 1 left, expired"]);
    assert_eq!(desk.venue.working_orders(), 1);
}

on_both!(
    a_buy_stop_waits_for_a_trade_at_its_trigger_or_above,
    a_sell_stop_waits_for_a_trade_at_its_trigger_or_below,
    a_stop_that_the_last_price_has_reached_is_triggered_at_once,
    before_the_first_trade_no_stop_is_reached,
    a_trigger_at_the_end_of_all_prices_waits_like_any_other,
    what_is_left_of_a_triggered_stop_follows_the_rule_for_market_orders,
    stops_are_triggered_after_the_request_the_earliest_entry_first,
    stops_reached_by_a_triggered_stop_go_behind_the_others,
    a_stop_reached_later_goes_behind_an_older_one_that_was_reached_before,
    outside_of_continuous_trading_stops_are_reached_but_not_triggered,
    a_waiting_stop_is_no_market_order_that_an_auction_leaves,
    a_stop_that_interrupts_trading_leaves_the_others_waiting,
    the_band_of_a_triggered_stop_is_around_the_last_price_before_it,
    stops_of_the_day_end_with_it,
);
