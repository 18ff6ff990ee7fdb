//! Orders of one owner that would trade with each other.

use wire::{AccountId, Side};

use super::super::desk::*;
use super::super::venue::Venue;
use crate::exchange::{Lifetime, MarketRules, Order, Owner, Phase, SelfTrade};

fn own(order: Order) -> Order {
    of_strategy(order, 7)
}

fn with(order: Order, policy: SelfTrade) -> Order {
    Order { self_trade: Some(policy), ..own(order) }
}

/// An order of another, one of the owner, one of another.
fn between_others<V: Venue>() -> Desk<V> {
    let mut desk = Desk::<V>::plain();
    desk.stand([sell(1, 100, 5), own(sell(2, 100, 5)), sell(3, 100, 5)]);
    desk
}

fn allow_lets_them_trade<V: Venue>() {
    let mut desk = between_others::<V>();
    let answers = desk.enter(with(buy(4, 100, 7), SelfTrade::Allow));
    assert_eq!(answers[2], "4 buys 2 @ 100 from 2, left 0 and 3");
}

fn cancel_newest_ends_the_incoming_rest<V: Venue>() {
    let mut desk = between_others::<V>();
    let expected = ["4 accepted", "4 buys 5 @ 100 from 1, left 6 and 0", "4 cancelled: 6 left, self-trade"];
    assert_eq!(desk.enter(with(buy(4, 100, 11), SelfTrade::CancelNewest)), expected);
    assert_eq!(desk.book(Side::Sell), ["2: 5 of 5 @ 100", "3: 5 of 5 @ 100"]);
}

fn cancel_oldest_ends_the_resting_order<V: Venue>() {
    let mut desk = between_others::<V>();
    let expected = [
        "4 accepted",
        "4 buys 5 @ 100 from 1, left 6 and 0",
        "2 cancelled: 5 left, self-trade",
        "4 buys 5 @ 100 from 3, left 1 and 0",
        "4 rests: 1 @ 100",
    ];
    assert_eq!(desk.enter(with(buy(4, 100, 11), SelfTrade::CancelOldest)), expected);
}

fn cancel_both_ends_the_resting_order_first<V: Venue>() {
    let mut desk = between_others::<V>();
    let expected = [
        "4 accepted",
        "4 buys 5 @ 100 from 1, left 6 and 0",
        "2 cancelled: 5 left, self-trade",
        "4 cancelled: 6 left, self-trade",
    ];
    assert_eq!(desk.enter(with(buy(4, 100, 11), SelfTrade::CancelBoth)), expected);
}

fn decrement_takes_the_smaller_quantity_from_both<V: Venue>() {
    let mut desk = between_others::<V>();
    let expected = [
        "4 accepted",
        "4 buys 5 @ 100 from 1, left 2 and 0",
        "2 decremented: 3 left",
        "4 cancelled: 2 left, self-trade",
    ];
    assert_eq!(desk.enter(with(buy(4, 100, 7), SelfTrade::Decrement)), expected);
    assert_eq!(desk.book(Side::Sell), ["2: 3 of 3 @ 100", "3: 5 of 5 @ 100"]);
    let expected = [
        "4 accepted",
        "2 cancelled: 3 left, self-trade",
        "4 decremented: 6 left",
        "4 buys 5 @ 100 from 3, left 1 and 0",
        "4 rests: 1 @ 100",
    ];
    assert_eq!(desk.enter(with(buy(4, 100, 9), SelfTrade::Decrement)), expected);
}

fn decrement_of_two_equals_ends_both<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([own(sell(1, 100, 5))]);
    assert_eq!(
        desk.enter(with(buy(2, 100, 5), SelfTrade::Decrement)),
        ["2 accepted", "1 cancelled: 5 left, self-trade", "2 cancelled: 5 left, self-trade"]
    );
}

fn a_decremented_iceberg_loses_what_it_hides_first<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([iceberg(own(sell(1, 100, 20)), 5), sell(2, 100, 1)]);
    desk.enter(with(buy(3, 100, 12), SelfTrade::Decrement));
    assert_eq!(desk.book(Side::Sell), ["1: 5 of 8 @ 100", "2: 1 of 1 @ 100"]);
    desk.enter(with(buy(3, 100, 6), SelfTrade::Decrement));
    assert_eq!(desk.book(Side::Sell), ["1: 2 of 2 @ 100", "2: 1 of 1 @ 100"]);
}

fn what_was_decremented_does_not_come_back_in_a_replace<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([own(sell(1, 100, 10)), with(buy(2, 100, 4), SelfTrade::Decrement)]);
    // Its total is now 6, so 8 is more than before, and it goes behind.
    desk.stand([sell(3, 100, 1)]);
    assert_eq!(desk.replace(1, 100, 8), ["1 replaced: 8 @ 100, anew", "1 rests: 8 @ 100"]);
    assert_eq!(desk.book(Side::Sell), ["3: 1 of 1 @ 100", "1: 8 of 8 @ 100"]);
}

fn the_incoming_order_decides_and_the_market_for_one_that_does_not<V: Venue>() {
    let rules = MarketRules { self_trade: SelfTrade::CancelOldest, ..MarketRules::plain() };
    let mut desk = Desk::<V>::of_market(rules);
    desk.stand([
        with(sell(1, 100, 5), SelfTrade::CancelNewest),
        with(sell(2, 100, 5), SelfTrade::CancelNewest),
    ]);
    assert_eq!(
        desk.enter(with(buy(3, 100, 1), SelfTrade::CancelNewest)),
        ["3 accepted", "3 cancelled: 1 left, self-trade"]
    );
    assert_eq!(
        desk.enter(own(buy(3, 100, 1))),
        [
            "3 accepted",
            "1 cancelled: 5 left, self-trade",
            "2 cancelled: 5 left, self-trade",
            "3 rests: 1 @ 100",
        ]
    );
}

fn the_owner_may_be_the_account<V: Venue>() {
    let rules = MarketRules { owner: Owner::Account, ..MarketRules::plain() };
    let mut desk = Desk::<V>::of_market(rules);
    let of = |order: Order, strategy, account| Order {
        account: AccountId(account),
        ..of_strategy(order, strategy)
    };
    desk.stand([of(sell(1, 100, 5), 1, 4), of(sell(2, 101, 5), 1, 0)]);
    // Another account of the same strategy trades; the same account of another does not.
    assert_eq!(desk.enter(of(buy(3, 100, 1), 1, 5))[1], "3 buys 1 @ 100 from 1, left 0 and 4");
    assert_eq!(desk.enter(of(buy(3, 100, 1), 2, 4))[1], "3 cancelled: 1 left, self-trade");
    desk.stand([of(buy(4, 100, 4), 1, 5)]);
    // Account 0 is one account for each strategy.
    assert_eq!(desk.enter(of(buy(3, 101, 1), 1, 0))[1], "3 cancelled: 1 left, self-trade");
    assert_eq!(desk.enter(of(buy(3, 101, 1), 2, 0))[1], "3 buys 1 @ 101 from 2, left 0 and 4");
}

fn only_the_next_order_in_line_is_looked_at<V: Venue>() {
    let mut desk = between_others::<V>();
    let expected = ["4 accepted", "4 buys 5 @ 100 from 1, left 0 and 0"];
    assert_eq!(desk.enter(with(buy(4, 100, 5), SelfTrade::CancelOldest)), expected);
}

fn fill_or_kill_counts_up_to_the_owners_first_order<V: Venue>() {
    for policy in [SelfTrade::CancelNewest, SelfTrade::CancelBoth, SelfTrade::Decrement] {
        let mut desk = Desk::<V>::plain();
        // At the price of the owner's order, hidden parts do not count.
        desk.stand([
            iceberg(sell(1, 99, 5), 1),
            iceberg(sell(2, 100, 9), 2),
            own(sell(3, 100, 5)),
            sell(4, 100, 9),
        ]);
        let order = |quantity| lasting(with(buy(5, 100, quantity), policy), Lifetime::FillOrKill);
        assert_eq!(desk.enter(order(8)), ["5 accepted", "5 cancelled: 8 left, not-fillable"]);
        assert_eq!(desk.enter(order(7)).last().unwrap(), "2 shows 2 of 7, behind");
        assert_eq!(desk.venue.order(5), None);
    }
}

fn fill_or_kill_leaves_out_what_cancel_oldest_would_end<V: Venue>() {
    let mut desk = between_others::<V>();
    let order =
        |quantity| lasting(with(buy(4, 100, quantity), SelfTrade::CancelOldest), Lifetime::FillOrKill);
    assert_eq!(desk.enter(order(11)), ["4 accepted", "4 cancelled: 11 left, not-fillable"]);
    let expected = [
        "4 accepted",
        "4 buys 5 @ 100 from 1, left 5 and 0",
        "2 cancelled: 5 left, self-trade",
        "4 buys 5 @ 100 from 3, left 0 and 0",
    ];
    assert_eq!(desk.enter(order(10)), expected);
}

fn auctions_do_not_prevent_self_trades<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::OpeningAuction);
    desk.stand([own(sell(1, 100, 5)), own(buy(2, 100, 5))]);
    assert_eq!(
        desk.phase(Phase::Continuous),
        [
            "opening: 5 @ 100, imbalance 0",
            "2 buys 5 @ 100 from 1, left 0 and 0",
            "opening-auction to continuous"
        ]
    );
}

on_both!(
    allow_lets_them_trade,
    cancel_newest_ends_the_incoming_rest,
    cancel_oldest_ends_the_resting_order,
    cancel_both_ends_the_resting_order_first,
    decrement_takes_the_smaller_quantity_from_both,
    decrement_of_two_equals_ends_both,
    a_decremented_iceberg_loses_what_it_hides_first,
    what_was_decremented_does_not_come_back_in_a_replace,
    the_incoming_order_decides_and_the_market_for_one_that_does_not,
    the_owner_may_be_the_account,
    only_the_next_order_in_line_is_looked_at,
    fill_or_kill_counts_up_to_the_owners_first_order,
    fill_or_kill_leaves_out_what_cancel_oldest_would_end,
    auctions_do_not_prevent_self_trades,
);
