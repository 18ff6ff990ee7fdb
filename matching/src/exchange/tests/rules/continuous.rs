//! Limit, market, immediate-or-cancel, fill-or-kill and post-only orders, cancels.

use wire::{AccountId, Side, StrategyId};

use super::super::desk::*;
use super::super::venue::Venue;
use crate::exchange::{Filter, Lifetime, MarketRemainder, MarketRules, Order};

fn better_price_first_then_the_earlier_order<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([sell(1, 101, 5), sell(2, 100, 5), sell(3, 100, 5), sell(4, 99, 5)]);
    assert_eq!(
        desk.enter(buy(5, 101, 16)),
        [
            "5 accepted",
            "5 buys 5 @ 99 from 4, left 11 and 0",
            "5 buys 5 @ 100 from 2, left 6 and 0",
            "5 buys 5 @ 100 from 3, left 1 and 0",
            "5 buys 1 @ 101 from 1, left 0 and 4",
        ]
    );
    assert_eq!(desk.book(Side::Sell), ["1: 4 of 4 @ 101"]);
}

fn the_rest_of_a_limit_order_goes_into_the_book<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([buy(1, 100, 5), buy(2, 99, 5)]);
    assert_eq!(
        desk.enter(sell(3, 100, 7)),
        ["3 accepted", "1 buys 5 @ 100 from 3, left 0 and 2", "3 rests: 2 @ 100"]
    );
    assert_eq!(desk.book(Side::Buy), ["2: 5 of 5 @ 99"]);
}

fn the_rest_of_a_market_order_is_cancelled<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([sell(1, 100, 5), sell(2, 300, 5)]);
    assert_eq!(
        desk.enter(market(buy(3, 0, 12))),
        [
            "3 accepted",
            "3 buys 5 @ 100 from 1, left 7 and 0",
            "3 buys 5 @ 300 from 2, left 2 and 0",
            "3 cancelled: 2 left, no-liquidity",
        ]
    );
    assert_eq!(desk.enter(market(buy(3, 0, 12))), ["3 accepted", "3 cancelled: 12 left, no-liquidity"]);
}

fn the_rest_of_a_market_order_may_rest_at_its_last_price<V: Venue>() {
    let remainder = MarketRemainder::RestAtLastPrice;
    let mut desk = Desk::<V>::of_market(MarketRules { market_remainder: remainder, ..MarketRules::plain() });
    desk.stand([sell(1, 100, 5), sell(2, 102, 5)]);
    assert_eq!(
        desk.enter(market(buy(3, 0, 12))),
        [
            "3 accepted",
            "3 buys 5 @ 100 from 1, left 7 and 0",
            "3 buys 5 @ 102 from 2, left 2 and 0",
            "3 rests: 2 @ 102",
        ]
    );
    // It is a limit order from then on.
    assert_eq!(desk.replace(3, 101, 13), ["3 replaced: 3 @ 101, anew", "3 rests: 3 @ 101"]);
    // Without a trade there is no last price, and immediate-or-cancel never rests.
    assert_eq!(desk.enter(market(buy(4, 0, 1))), ["4 accepted", "4 cancelled: 1 left, no-liquidity"]);
    let at_once = lasting(market(sell(5, 0, 4)), Lifetime::ImmediateOrCancel);
    assert_eq!(
        desk.enter(at_once),
        ["5 accepted", "3 buys 3 @ 101 from 5, left 0 and 1", "5 cancelled: 1 left, no-liquidity"]
    );
}

fn immediate_or_cancel_never_rests<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([sell(1, 100, 5), sell(2, 101, 5)]);
    let order = lasting(buy(3, 100, 7), Lifetime::ImmediateOrCancel);
    assert_eq!(
        desk.enter(order),
        ["3 accepted", "3 buys 5 @ 100 from 1, left 2 and 0", "3 cancelled: 2 left, no-liquidity"]
    );
}

fn fill_or_kill_trades_in_full_or_not_at_all<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([iceberg(sell(1, 100, 5), 1), sell(2, 101, 5)]);
    let order = |quantity| lasting(buy(3, 101, quantity), Lifetime::FillOrKill);
    assert_eq!(desk.enter(order(11)), ["3 accepted", "3 cancelled: 11 left, not-fillable"]);
    let answers = desk.enter(order(10));
    assert_eq!(answers.last().unwrap(), "3 buys 5 @ 101 from 2, left 0 and 0");
    assert!(desk.book(Side::Sell).is_empty());
}

fn post_only_is_rejected_if_it_would_trade<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([sell(1, 100, 5)]);
    assert_eq!(desk.enter(post_only(buy(2, 100, 1))), ["2 rejected: would-trade"]);
    assert_eq!(desk.enter(post_only(buy(2, 99, 1))), ["2 accepted", "2 rests: 1 @ 99"]);
    // Also with its owner's own order.
    assert_eq!(desk.enter(post_only(of_strategy(sell(3, 99, 1), 2))), ["3 rejected: would-trade"]);
    // At the close it waits, and so does not trade at once.
    let at_the_close = lasting(post_only(buy(4, 100, 1)), Lifetime::AtTheClose);
    assert_eq!(desk.enter(at_the_close), ["4 accepted"]);
}

fn a_cancel_ends_what_is_left<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([buy(1, 100, 5), sell(2, 100, 2)]);
    assert_eq!(desk.cancel(1), ["1 cancelled: 3 left, requested"]);
    assert_eq!(desk.cancel(1), ["1 not cancelled: unknown-order"]);
    assert_eq!(desk.cancel(2), ["2 not cancelled: unknown-order"]);
    // Its number is free again.
    assert_eq!(desk.enter(sell(1, 100, 5)), ["1 accepted", "1 rests: 5 @ 100"]);
}

fn a_mass_cancel_takes_what_matches_all_of_its_filter<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    let of = |order: Order, strategy, account| Order {
        strategy: StrategyId(strategy),
        account: AccountId(account),
        ..order
    };
    desk.stand([
        of(buy(1, 90, 1), 1, 5),
        of(stop(buy(2, 0, 1), 200), 1, 5),
        of(sell(3, 110, 1), 1, 5),
        of(buy(4, 91, 1), 2, 5),
        of(buy(5, 92, 1), 1, 6),
        of(lasting(buy(6, 93, 1), Lifetime::AtTheClose), 1, 5),
    ]);
    let filter = Filter {
        strategy: Some(StrategyId(1)),
        account: Some(AccountId(5)),
        instrument: Some(STOCK),
        side: Some(Side::Buy),
    };
    let cancelled = ["1", "2", "6"].map(|id| format!("{id} cancelled: 1 left, requested"));
    assert_eq!(desk.mass_cancel(filter), (3, 0, cancelled.to_vec()));
    // No filter takes all, the oldest first; a replace that lost its place made order 3 younger.
    desk.replace(3, 111, 1);
    let cancelled = ["4", "5", "3"].map(|id| format!("{id} cancelled: 1 left, requested"));
    assert_eq!(desk.mass_cancel(Filter::default()), (3, 0, cancelled.to_vec()));
}

on_both!(
    better_price_first_then_the_earlier_order,
    the_rest_of_a_limit_order_goes_into_the_book,
    the_rest_of_a_market_order_is_cancelled,
    the_rest_of_a_market_order_may_rest_at_its_last_price,
    immediate_or_cancel_never_rests,
    fill_or_kill_trades_in_full_or_not_at_all,
    post_only_is_rejected_if_it_would_trade,
    a_cancel_ends_what_is_left,
    a_mass_cancel_takes_what_matches_all_of_its_filter,
);
