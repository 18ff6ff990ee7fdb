//! Who trades in an auction, and what becomes of the orders that are left.

use wire::{Aggressor, Side};

use super::super::desk::*;
use super::super::venue::Venue;
use crate::exchange::{Event, Lifetime, MarketRules, Permission, Phase};

fn buyers_and_sellers_are_paired_in_priority<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::OpeningAuction);
    desk.stand([
        buy(1, 100, 5),
        buy(2, 102, 5),
        buy(3, 102, 5),
        market(buy(4, 0, 5)),
        sell(5, 100, 8),
        sell(6, 99, 4),
        market(sell(7, 0, 3)),
    ]);
    assert_eq!(
        desk.book(Side::Buy),
        ["4: 5 of 5 @ market", "2: 5 of 5 @ 102", "3: 5 of 5 @ 102", "1: 5 of 5 @ 100"]
    );
    // 15 are bid from 101 on, and 15 offered from 100 on.
    assert_eq!(
        desk.phase(Phase::Continuous),
        [
            "opening: 15 @ 102, imbalance 0",
            "4 buys 3 @ 102 from 7, left 2 and 0",
            "4 buys 2 @ 102 from 6, left 0 and 2",
            "2 buys 2 @ 102 from 6, left 3 and 0",
            "2 buys 3 @ 102 from 5, left 0 and 5",
            "3 buys 5 @ 102 from 5, left 0 and 0",
            "opening-auction to continuous",
        ]
    );
    assert_eq!(desk.book(Side::Buy), ["1: 5 of 5 @ 100"]);
}

fn the_side_that_offers_more_trades_in_part<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::ClosingAuction);
    desk.stand([buy(1, 100, 5), buy(2, 100, 5), buy(3, 100, 5), sell(4, 100, 7)]);
    assert_eq!(
        desk.phase(Phase::Pause),
        [
            "closing: 7 @ 100, imbalance 8",
            "1 buys 5 @ 100 from 4, left 0 and 2",
            "2 buys 2 @ 100 from 4, left 3 and 0",
            "closing-auction to pause",
        ]
    );
    assert_eq!(desk.book(Side::Buy), ["2: 3 of 3 @ 100", "3: 5 of 5 @ 100"]);
}

fn an_auctions_trades_have_no_aggressor_and_one_price<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::OpeningAuction);
    desk.stand([buy(1, 105, 5), sell(2, 100, 5)]);
    let (_, events) = desk.venue.set_phase(STOCK, Phase::Continuous);
    let Event::Traded(trade) = events[1] else { panic!("{events:?}") };
    assert_eq!((trade.id, trade.aggressor), (1, Aggressor::None));
    assert_eq!(desk.venue.last_price(STOCK), Some(trade.price));
    // Numbers go on in continuous trading.
    desk.stand([buy(1, 100, 1)]);
    let events = desk.venue.submit(&sell(2, 100, 1));
    let Event::Traded(trade) = events[1] else { panic!("{events:?}") };
    assert_eq!((trade.id, trade.aggressor), (2, Aggressor::Sell));
}

fn an_auction_without_a_trade_is_reported_too<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::OpeningAuction);
    desk.stand([buy(1, 99, 5), sell(2, 100, 5)]);
    assert_eq!(desk.phase(Phase::Pause), ["opening: nothing", "opening-auction to pause"]);
}

fn market_orders_that_are_left_are_cancelled_oldest_first<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::OpeningAuction);
    desk.stand([
        market(sell(1, 0, 4)),
        market(buy(2, 0, 9)),
        lasting(market(buy(3, 0, 9)), Lifetime::GoodTillCancel),
    ]);
    desk.stand([buy(4, 100, 1), sell(5, 100, 2)]);
    assert_eq!(
        desk.phase(Phase::Pause),
        [
            "opening: 6 @ 100, imbalance 13",
            "2 buys 4 @ 100 from 1, left 5 and 0",
            "2 buys 2 @ 100 from 5, left 3 and 0",
            "2 cancelled: 3 left, no-liquidity",
            "3 cancelled: 9 left, no-liquidity",
            "opening-auction to pause",
        ]
    );
    assert_eq!(desk.book(Side::Buy), ["4: 1 of 1 @ 100"]);
}

fn at_the_open_orders_that_are_left_end_with_the_opening_auction<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::PreOpen);
    let at_the_open = |order| lasting(order, Lifetime::AtTheOpen);
    desk.stand([
        buy(1, 99, 1),
        at_the_open(buy(2, 98, 1)),
        at_the_open(market(buy(3, 0, 1))),
        at_the_open(buy(4, 99, 1)),
    ]);
    assert_eq!(desk.phase(Phase::OpeningFreeze), ["pre-open to opening-freeze"]);
    assert_eq!(
        desk.phase(Phase::Pause),
        [
            "opening: nothing",
            "3 cancelled: 1 left, no-liquidity",
            "2 cancelled: 1 left, expired",
            "4 cancelled: 1 left, expired",
            "opening-freeze to pause",
        ]
    );
    assert_eq!(desk.book(Side::Buy), ["1: 1 of 1 @ 99"]);
}

fn at_the_close_orders_wait_for_the_closing_auction<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    let at_the_close = |order| lasting(order, Lifetime::AtTheClose);
    desk.stand([sell(1, 100, 5)]);
    assert_eq!(desk.enter(at_the_close(iceberg(buy(2, 100, 5), 2))), ["2 accepted"]);
    assert_eq!(desk.enter(at_the_close(market(buy(3, 0, 1)))), ["3 accepted"]);
    assert!(desk.book(Side::Buy).is_empty());
    assert_eq!(
        desk.phase(Phase::ClosingAuction),
        ["continuous to closing-auction", "2 rests: 2 of 5 @ 100", "3 rests: 1 @ market"]
    );
    // Once the closing auction has begun they go into the book at once.
    desk.phase(Phase::ClosingFreeze);
    assert_eq!(desk.enter(at_the_close(buy(4, 99, 1))), ["4 accepted", "4 rests: 1 @ 99"]);
    assert_eq!(
        desk.phase(Phase::Pause),
        [
            "closing: 5 @ 100, imbalance 1",
            "3 buys 1 @ 100 from 1, left 0 and 4",
            "2 buys 2 @ 100 from 1, left 3 and 2",
            "2 shows 2 of 3, behind",
            "2 buys 2 @ 100 from 1, left 1 and 0",
            "2 shows 1 of 1, behind",
            "2 cancelled: 1 left, expired",
            "4 cancelled: 1 left, expired",
            "closing-freeze to pause",
        ]
    );
}

fn at_the_close_orders_in_the_book_outlive_a_halt_but_not_the_auction<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    let at_the_close = |order| lasting(order, Lifetime::AtTheClose);
    desk.phase(Phase::ClosingAuction);
    desk.stand([at_the_close(buy(1, 100, 5)), at_the_close(buy(2, 100, 5))]);
    let mut open_halt = MarketRules::plain();
    open_halt.permissions[Phase::Halt.index()] = Permission::ALL;
    assert_eq!(desk.phase(Phase::Halt), ["closing-auction to halt"]);
    assert_eq!(desk.book(Side::Buy), ["1: 5 of 5 @ 100", "2: 5 of 5 @ 100"]);
    assert_eq!(
        desk.phase(Phase::Continuous),
        ["1 cancelled: 5 left, expired", "2 cancelled: 5 left, expired", "halt to continuous"]
    );
    // Where a halt takes orders, one that comes in waits, and one that was in the book stays there.
    let mut desk = Desk::<V>::of_market(open_halt);
    desk.phase(Phase::ClosingAuction);
    desk.stand([at_the_close(buy(1, 100, 5))]);
    desk.phase(Phase::Halt);
    assert_eq!(desk.enter(at_the_close(buy(2, 100, 5))), ["2 accepted"]);
    assert_eq!(desk.replace(1, 100, 6), ["1 replaced: 6 @ 100, anew", "1 rests: 6 @ 100"]);
    assert_eq!(desk.phase(Phase::Continuous), ["1 cancelled: 6 left, expired", "halt to continuous"]);
    assert_eq!(desk.phase(Phase::ClosingFreeze), ["continuous to closing-freeze", "2 rests: 5 @ 100"]);
}

fn at_the_open_orders_end_before_at_the_close_orders<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::PreOpen);
    desk.stand([lasting(buy(1, 100, 1), Lifetime::AtTheClose), lasting(buy(2, 100, 1), Lifetime::AtTheOpen)]);
    desk.phase(Phase::Halt);
    assert_eq!(desk.phase(Phase::ClosingAuction), ["halt to closing-auction", "1 rests: 1 @ 100"]);
    assert_eq!(
        desk.phase(Phase::Continuous),
        [
            "closing: nothing",
            "2 cancelled: 1 left, expired",
            "1 cancelled: 1 left, expired",
            "closing-auction to continuous",
        ]
    );
}

fn in_other_auctions_at_the_close_orders_wait_too<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::OpeningAuction);
    assert_eq!(desk.enter(lasting(buy(1, 100, 5), Lifetime::AtTheClose)), ["1 accepted"]);
    desk.stand([sell(2, 100, 5)]);
    assert_eq!(desk.phase(Phase::Continuous)[0], "opening: nothing");
    assert_eq!(desk.cancel(1), ["1 cancelled: 5 left, requested"]);
}

fn the_permissions_of_the_market_hold_in_its_phases<V: Venue>() {
    let mut desk = Desk::<V>::of_market(MarketRules::shanghai());
    desk.phase(Phase::OpeningAuction);
    desk.stand([buy(1, 100, 5), buy(2, 100, 5)]);
    assert_eq!(desk.cancel(1), ["1 cancelled: 5 left, requested"]);
    desk.phase(Phase::OpeningFreeze);
    assert_eq!(desk.cancel(2), ["2 not cancelled: market-closed"]);
    assert_eq!(desk.replace(2, 100, 4), ["2 not replaced: market-closed"]);
    assert_eq!(desk.mass_cancel(Default::default()), (0, 1, vec![]));
    assert_eq!(desk.enter(sell(3, 101, 1)), ["3 accepted", "3 rests: 1 @ 101"]);
    desk.phase(Phase::Pause);
    assert_eq!(desk.enter(sell(4, 101, 1)), ["4 rejected: market-closed"]);
    assert_eq!(desk.cancel(3), ["3 not cancelled: market-closed"]);
    desk.phase(Phase::Continuous);
    assert_eq!(desk.cancel(3), ["3 cancelled: 1 left, requested"]);
}

on_both!(
    buyers_and_sellers_are_paired_in_priority,
    the_side_that_offers_more_trades_in_part,
    an_auctions_trades_have_no_aggressor_and_one_price,
    an_auction_without_a_trade_is_reported_too,
    market_orders_that_are_left_are_cancelled_oldest_first,
    at_the_open_orders_that_are_left_end_with_the_opening_auction,
    at_the_close_orders_wait_for_the_closing_auction,
    at_the_close_orders_in_the_book_outlive_a_halt_but_not_the_auction,
    at_the_open_orders_end_before_at_the_close_orders,
    in_other_auctions_at_the_close_orders_wait_too,
    the_permissions_of_the_market_hold_in_its_phases,
);
