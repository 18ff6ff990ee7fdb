//! Quantities that do not fit.

use wire::{Quantity, Side};

use super::super::desk::*;
use super::super::venue::Venue;
use crate::exchange::Phase;

const MOST: i64 = i64::MAX;

fn the_quantities_at_one_price_fit<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([buy(1, 100, MOST - 5)]);
    assert_eq!(desk.enter(buy(2, 100, 6)), ["2 accepted", "2 cancelled: 6 left, overload"]);
    assert_eq!(desk.enter(buy(2, 100, 5)), ["2 accepted", "2 rests: 5 @ 100"]);
    // At another price there is room.
    assert_eq!(desk.enter(buy(3, 99, MOST)).last().unwrap(), &format!("3 rests: {MOST} @ 99"));
}

fn what_is_hidden_counts<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([iceberg(buy(1, 100, MOST - 5), 1)]);
    assert_eq!(desk.enter(iceberg(buy(2, 100, 6), 1)), ["2 accepted", "2 cancelled: 6 left, overload"]);
    assert_eq!(desk.enter(iceberg(buy(2, 100, 5), 1)), ["2 accepted", "2 rests: 1 of 5 @ 100"]);
}

fn only_what_is_to_rest_needs_room<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([buy(1, 100, MOST), sell(2, 101, 5)]);
    assert_eq!(desk.enter(buy(3, 101, 5)), ["3 accepted", "3 buys 5 @ 101 from 2, left 0 and 0"]);
    assert_eq!(
        desk.replace(1, 99, MOST),
        [format!("1 replaced: {MOST} @ 99, anew"), format!("1 rests: {MOST} @ 99")]
    );
}

fn a_replace_that_finds_no_room_ends_the_order<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([buy(1, 100, MOST), buy(2, 99, 5)]);
    assert_eq!(desk.replace(2, 100, 5), ["2 replaced: 5 @ 100, anew", "2 cancelled: 5 left, overload"]);
    assert_eq!(desk.venue.order(2), None);
}

fn the_largest_quantities_trade<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([buy(1, 100, MOST), buy(2, 99, MOST), buy(3, 98, MOST)]);
    let answers = desk.enter(sell(4, 98, MOST));
    assert_eq!(answers[1], format!("1 buys {MOST} @ 100 from 4, left 0 and 0"));
    let order = lasting(at_least(sell(4, 98, MOST), MOST), crate::exchange::Lifetime::FillOrKill);
    assert_eq!(desk.enter(order).len(), 2);
    assert_eq!(desk.venue.levels(STOCK, Side::Buy).unwrap()[0].1, Quantity(MOST));
}

fn an_imbalance_beyond_the_numbers_is_held_at_the_last_one<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::ClosingAuction);
    desk.stand([buy(1, 100, MOST), market(buy(2, 0, MOST)), sell(3, 100, 7)]);
    assert_eq!(desk.indication(), format!("7 @ 100, imbalance {MOST}"));
    desk.cancel(1);
    desk.cancel(2);
    desk.stand([buy(1, 100, 7), sell(4, 100, MOST - 7), market(sell(5, 0, MOST))]);
    assert_eq!(desk.indication(), format!("7 @ 100, imbalance {}", i64::MIN));
}

fn a_volume_beyond_the_numbers_trades_and_is_held_at_the_last_one<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::ClosingAuction);
    desk.stand([buy(1, 100, MOST), market(buy(2, 0, MOST)), sell(3, 100, MOST), market(sell(4, 0, MOST))]);
    assert_eq!(
        desk.phase(Phase::Pause),
        [
            format!("closing: {MOST} @ 100, imbalance 0"),
            format!("2 buys {MOST} @ 100 from 4, left 0 and 0"),
            format!("1 buys {MOST} @ 100 from 3, left 0 and 0"),
            "closing-auction to pause".into(),
        ]
    );
}

fn market_orders_in_an_auction_fit_too<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::ClosingAuction);
    desk.stand([market(buy(1, 0, MOST))]);
    assert_eq!(desk.enter(market(buy(2, 0, 1))), ["2 accepted", "2 cancelled: 1 left, overload"]);
}

fn a_part_that_is_shown_next_has_room<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    // Half of the iceberg's part has traded, and another order fills what became free.
    desk.stand([iceberg(sell(1, 100, 100), 10), buy(2, 100, 5), sell(3, 100, MOST - 95)]);
    assert_eq!(
        desk.enter(buy(4, 100, 5)),
        ["4 accepted", "4 buys 5 @ 100 from 1, left 0 and 90", "1 shows 10 of 90, behind"]
    );
}

on_both!(
    the_quantities_at_one_price_fit,
    what_is_hidden_counts,
    only_what_is_to_rest_needs_room,
    a_replace_that_finds_no_room_ends_the_order,
    the_largest_quantities_trade,
    an_imbalance_beyond_the_numbers_is_held_at_the_last_one,
    a_volume_beyond_the_numbers_trades_and_is_held_at_the_last_one,
    market_orders_in_an_auction_fit_too,
    a_part_that_is_shown_next_has_room,
);
