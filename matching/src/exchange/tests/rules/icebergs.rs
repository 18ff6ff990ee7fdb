//! Orders of which the book shows a part.

use wire::Side;

use super::super::desk::*;
use super::super::venue::Venue;
use crate::exchange::{IcebergRefresh, MarketRules, Phase};

fn the_next_part_goes_behind_the_others<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    assert_eq!(desk.enter(iceberg(sell(1, 100, 25), 10)), ["1 accepted", "1 rests: 10 of 25 @ 100"]);
    desk.stand([sell(2, 100, 5)]);
    assert_eq!(
        desk.enter(buy(3, 100, 12)),
        [
            "3 accepted",
            "3 buys 10 @ 100 from 1, left 2 and 15",
            "1 shows 10 of 15, behind",
            "3 buys 2 @ 100 from 2, left 0 and 3",
        ]
    );
    assert_eq!(desk.book(Side::Sell), ["2: 3 of 3 @ 100", "1: 10 of 15 @ 100"]);
}

fn one_incoming_order_may_take_several_parts<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([iceberg(sell(1, 100, 25), 10), sell(2, 100, 5)]);
    assert_eq!(
        desk.enter(buy(3, 100, 30)),
        [
            "3 accepted",
            "3 buys 10 @ 100 from 1, left 20 and 15",
            "1 shows 10 of 15, behind",
            "3 buys 5 @ 100 from 2, left 15 and 0",
            "3 buys 10 @ 100 from 1, left 5 and 5",
            "1 shows 5 of 5, behind",
            "3 buys 5 @ 100 from 1, left 0 and 0",
        ]
    );
}

fn the_next_part_may_keep_the_place<V: Venue>() {
    let rules = MarketRules { iceberg: IcebergRefresh::Keep, ..MarketRules::plain() };
    let mut desk = Desk::<V>::of_market(rules);
    desk.stand([iceberg(sell(1, 100, 25), 10), sell(2, 100, 5)]);
    assert_eq!(
        desk.enter(buy(3, 100, 22)),
        [
            "3 accepted",
            "3 buys 10 @ 100 from 1, left 12 and 15",
            "1 shows 10 of 15, in place",
            "3 buys 10 @ 100 from 1, left 2 and 5",
            "1 shows 5 of 5, in place",
            "3 buys 2 @ 100 from 1, left 0 and 3",
        ]
    );
    assert_eq!(desk.book(Side::Sell), ["1: 3 of 3 @ 100", "2: 5 of 5 @ 100"]);
}

fn replaced_to_less_than_its_display_it_shows_all_of_it<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([iceberg(sell(1, 100, 25), 10)]);
    assert_eq!(desk.replace(1, 100, 7), ["1 replaced: 7 @ 100, in place"]);
    assert_eq!(desk.book(Side::Sell), ["1: 7 of 7 @ 100"]);
    assert_eq!(desk.replace(1, 101, 9), ["1 replaced: 9 @ 101, anew", "1 rests: 9 @ 101"]);
}

fn coming_in_it_trades_with_all_of_its_quantity<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([buy(1, 100, 20)]);
    assert_eq!(
        desk.enter(iceberg(sell(2, 100, 25), 3)),
        ["2 accepted", "1 buys 20 @ 100 from 2, left 0 and 5", "2 rests: 3 of 5 @ 100"]
    );
}

fn the_display_outlives_a_part_that_shows_all<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([iceberg(buy(1, 100, 10), 10)]);
    assert_eq!(desk.book(Side::Buy), ["1: 10 of 10 @ 100"]);
    assert_eq!(desk.replace(1, 100, 25), ["1 replaced: 25 @ 100, anew", "1 rests: 10 of 25 @ 100"]);
}

fn the_levels_tell_shown_from_hidden<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.stand([iceberg(buy(1, 100, 25), 10), buy(2, 100, 5), buy(3, 99, 7)]);
    let levels = desk.venue.levels(STOCK, Side::Buy).unwrap();
    let levels: Vec<_> = levels.iter().map(|level| (level.0.0, level.1.0, level.2.0, level.3)).collect();
    assert_eq!(levels, [(100, 15, 15, 2), (99, 7, 0, 1)]);
}

fn in_an_auction_it_takes_part_with_all_of_it_part_after_part<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::ClosingAuction);
    desk.stand([iceberg(sell(1, 100, 25), 10), sell(2, 100, 5), iceberg(buy(3, 100, 40), 20)]);
    assert_eq!(desk.indication(), "30 @ 100, imbalance 10");
    assert_eq!(
        desk.phase(Phase::Closed)[..9],
        [
            "closing: 30 @ 100, imbalance 10",
            "3 buys 10 @ 100 from 1, left 30 and 15",
            "1 shows 10 of 15, behind",
            "3 buys 5 @ 100 from 2, left 25 and 0",
            "3 buys 5 @ 100 from 1, left 20 and 10",
            "3 shows 20 of 20, behind",
            "3 buys 5 @ 100 from 1, left 15 and 5",
            "1 shows 5 of 5, behind",
            "3 buys 5 @ 100 from 1, left 10 and 0",
        ]
    );
}

fn in_an_auction_buyers_show_their_next_part_first<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    desk.phase(Phase::VolatilityAuction);
    desk.stand([iceberg(sell(1, 100, 4), 2), iceberg(buy(2, 100, 4), 2)]);
    assert_eq!(
        desk.phase(Phase::Continuous),
        [
            "volatility: 4 @ 100, imbalance 0",
            "2 buys 2 @ 100 from 1, left 2 and 2",
            "2 shows 2 of 2, behind",
            "1 shows 2 of 2, behind",
            "2 buys 2 @ 100 from 1, left 0 and 0",
            "volatility-auction to continuous",
        ]
    );
}

fn it_does_not_come_in_too_many_parts<V: Venue>() {
    let mut desk = Desk::<V>::plain();
    assert_eq!(desk.enter(iceberg(sell(1, 100, 20_000), 1)), ["1 rejected: quantity"]);
    desk.stand([iceberg(sell(2, 100, 19_999), 1)]);
    assert_eq!(desk.replace(2, 100, 20_000), ["2 not replaced: quantity"]);
    assert_eq!(desk.book(Side::Sell), ["2: 1 of 19999 @ 100"]);
}

on_both!(
    it_does_not_come_in_too_many_parts,
    the_next_part_goes_behind_the_others,
    one_incoming_order_may_take_several_parts,
    the_next_part_may_keep_the_place,
    replaced_to_less_than_its_display_it_shows_all_of_it,
    coming_in_it_trades_with_all_of_its_quantity,
    the_display_outlives_a_part_that_shows_all,
    the_levels_tell_shown_from_hidden,
    in_an_auction_it_takes_part_with_all_of_it_part_after_part,
    in_an_auction_buyers_show_their_next_part_first,
);
