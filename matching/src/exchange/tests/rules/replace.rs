//! Changing a working order.

use wire::{Price, Quantity, Side};

use super::super::desk::*;
use super::super::venue::Venue;
use crate::exchange::{InstrumentRules, Lifetime, MarketRules, Phase};

fn less_at_the_same_price_keeps_the_place<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([buy(1, 100, 10), buy(2, 100, 10)]);
    assert_eq!(desk.replace(1, 100, 7), ["1 replaced: 7 @ 100, in place"]);
    assert_eq!(desk.replace(1, 100, 7), ["1 replaced: 7 @ 100, in place"]);
    assert_eq!(desk.book(Side::Buy), ["1: 7 of 7 @ 100", "2: 10 of 10 @ 100"]);
}

fn more_or_another_price_comes_in_anew<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([buy(1, 100, 10), buy(2, 100, 10), sell(3, 101, 4)]);
    assert_eq!(desk.replace(1, 100, 11), ["1 replaced: 11 @ 100, anew", "1 rests: 11 @ 100"]);
    assert_eq!(desk.book(Side::Buy), ["2: 10 of 10 @ 100", "1: 11 of 11 @ 100"]);
    assert_eq!(
        desk.replace(2, 101, 10),
        ["2 replaced: 10 @ 101, anew", "2 buys 4 @ 101 from 3, left 6 and 0", "2 rests: 6 @ 101"]
    );
}

fn the_market_may_let_every_replace_lose_its_place<V: Venue>() {
    let rules = MarketRules { replace_keeps_place: false, ..MarketRules::plain() };
    let mut desk = Desk::<V>::of_market(rules);
    desk.stand([buy(1, 100, 10), buy(2, 100, 10)]);
    assert_eq!(desk.replace(1, 100, 7), ["1 replaced: 7 @ 100, anew", "1 rests: 7 @ 100"]);
    assert_eq!(desk.book(Side::Buy), ["2: 10 of 10 @ 100", "1: 7 of 7 @ 100"]);
}

fn the_quantity_includes_what_has_traded<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([buy(1, 100, 10), sell(2, 100, 4)]);
    assert_eq!(desk.replace(1, 100, 9), ["1 replaced: 5 @ 100, in place"]);
    assert_eq!(desk.replace(1, 99, 9), ["1 replaced: 5 @ 99, anew", "1 rests: 5 @ 99"]);
    // No more than has traded: the rest ends, whatever the price.
    assert_eq!(desk.replace(1, i64::MIN, 4), ["1 cancelled: 5 left, requested"]);
}

fn an_iceberg_in_its_place_shows_the_smaller_of_what_it_showed_and_what_is_left<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([iceberg(buy(1, 100, 30), 10), sell(2, 100, 4)]);
    desk.replace(1, 100, 20);
    assert_eq!(desk.book(Side::Buy), ["1: 6 of 16 @ 100"]);
    desk.replace(1, 100, 9);
    assert_eq!(desk.book(Side::Buy), ["1: 5 of 5 @ 100"]);
    desk.replace(1, 100, 29);
    assert_eq!(desk.book(Side::Buy), ["1: 10 of 25 @ 100"]);
}

fn post_only_refuses_the_replace_and_stays<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([post_only(buy(1, 99, 5)), sell(2, 101, 5)]);
    assert_eq!(desk.replace(1, 101, 5), ["1 not replaced: would-trade"]);
    assert_eq!(desk.book(Side::Buy), ["1: 5 of 5 @ 99"]);
    assert_eq!(desk.replace(1, 100, 5), ["1 replaced: 5 @ 100, anew", "1 rests: 5 @ 100"]);
}

fn checks_come_in_their_order<V: Venue>() {
    let mut desk = Desk::<V>::with(InstrumentRules {
        ticks: vec![(Price(0), Price(5))],
        lot: Quantity(10),
        max_quantity: Quantity(100),
        price_low: Price(50),
        price_high: Price(150),
        ..stock()
    });
    assert_eq!(desk.replace(1, 0, 0), ["1 not replaced: unknown-order"]);
    desk.stand([lasting(buy(1, 100, 20), Lifetime::GoodTillCancel)]);
    desk.phase(Phase::Halt);
    assert_eq!(desk.replace(1, 0, 0), ["1 not replaced: market-closed"]);
    desk.phase(Phase::Continuous);
    for quantity in [0, -10, 15, 110, i64::MIN] {
        assert_eq!(desk.replace(1, i64::MIN, quantity), ["1 not replaced: quantity"]);
    }
    assert_eq!(desk.replace(1, i64::MIN, 20), ["1 not replaced: malformed"]);
    assert_eq!(desk.replace(1, 1_001, 20), ["1 not replaced: off-tick"]);
    assert_eq!(desk.replace(1, 155, 20), ["1 not replaced: price-band"]);
    assert_eq!(desk.replace(1, 45, 20), ["1 not replaced: price-band"]);
    assert_eq!(desk.book(Side::Buy), ["1: 20 of 20 @ 100"]);
}

fn a_waiting_stop_is_changed_where_it_waits<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([stop_limit(buy(1, 110, 5), 105), stop_limit(buy(2, 110, 5), 105), stop(buy(3, 0, 5), 105)]);
    // Less: it stays the first. Another price, or more: behind the others. A stop's price is ignored.
    assert_eq!(desk.replace(1, 110, 4), ["1 replaced: 4 @ 110, in place"]);
    assert_eq!(desk.replace(2, 111, 5), ["2 replaced: 5 @ 111, anew"]);
    assert_eq!(desk.replace(3, 777, 5), ["3 replaced: 5 @ market, in place"]);
    desk.stand([sell(4, 105, 1), sell(5, 106, 99)]);
    assert_eq!(
        desk.enter(buy(6, 105, 1))[2..],
        [
            "1 triggered",
            "1 buys 4 @ 106 from 5, left 0 and 95",
            "3 triggered",
            "3 buys 5 @ 106 from 5, left 0 and 90",
            "2 triggered",
            "2 buys 5 @ 106 from 5, left 0 and 85",
        ]
    );
}

fn an_order_waiting_for_the_close_is_changed_where_it_waits<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    let at_the_close = |order| lasting(order, Lifetime::AtTheClose);
    desk.stand([at_the_close(buy(1, 100, 5)), at_the_close(buy(2, 100, 5)), at_the_close(buy(3, 100, 5))]);
    assert_eq!(desk.replace(1, 100, 6), ["1 replaced: 6 @ 100, anew"]);
    assert_eq!(desk.replace(2, 100, 4), ["2 replaced: 4 @ 100, in place"]);
    assert_eq!(
        desk.phase(Phase::ClosingAuction),
        ["continuous to closing-auction", "2 rests: 4 @ 100", "3 rests: 5 @ 100", "1 rests: 6 @ 100"]
    );
}

fn a_market_order_in_an_auction_has_no_price_to_replace<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::OpeningAuction);
    desk.stand([market(buy(1, 0, 5)), market(buy(2, 0, 5))]);
    assert_eq!(desk.replace(1, 55, 4), ["1 replaced: 4 @ market, in place"]);
    assert_eq!(desk.replace(1, 55, 6), ["1 replaced: 6 @ market, anew", "1 rests: 6 @ market"]);
    assert_eq!(desk.book(Side::Buy), ["2: 5 of 5 @ market", "1: 6 of 6 @ market"]);
}

fn a_replace_in_an_auction_only_changes_the_book<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::ClosingAuction);
    desk.stand([buy(1, 100, 5), sell(2, 101, 5)]);
    assert_eq!(desk.replace(1, 102, 5), ["1 replaced: 5 @ 102, anew", "1 rests: 5 @ 102"]);
    assert_eq!(desk.indication(), "5 @ 102, imbalance 0");
}

fn a_replace_triggers_stops_and_meets_the_band<V: Venue>() {
    let mut desk = Desk::<V>::with(with_band(100, 2));
    desk.stand([stop(sell(1, 0, 1), 101), sell(2, 101, 1), sell(3, 110, 1), buy(4, 99, 3), buy(5, 99, 3)]);
    assert_eq!(
        desk.replace(4, 101, 3),
        [
            "4 replaced: 3 @ 101, anew",
            "4 buys 1 @ 101 from 2, left 2 and 0",
            "4 rests: 2 @ 101",
            "1 triggered",
            "4 buys 1 @ 101 from 1, left 1 and 0",
        ]
    );
    assert_eq!(
        desk.replace(5, 110, 3),
        ["5 replaced: 3 @ 110, anew", "continuous to volatility-auction", "5 rests: 3 @ 110"]
    );
}

on_both!(
    less_at_the_same_price_keeps_the_place,
    more_or_another_price_comes_in_anew,
    the_market_may_let_every_replace_lose_its_place,
    the_quantity_includes_what_has_traded,
    an_iceberg_in_its_place_shows_the_smaller_of_what_it_showed_and_what_is_left,
    post_only_refuses_the_replace_and_stays,
    checks_come_in_their_order,
    a_waiting_stop_is_changed_where_it_waits,
    an_order_waiting_for_the_close_is_changed_where_it_waits,
    a_market_order_in_an_auction_has_no_price_to_replace,
    a_replace_in_an_auction_only_changes_the_book,
    a_replace_triggers_stops_and_meets_the_band,
);
