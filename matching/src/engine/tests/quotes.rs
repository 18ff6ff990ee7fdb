//! Own orders beside a quoted market.

use wire::*;

use super::fixture::*;
use crate::engine::{Engine, EngineOptions, FillModel, Queue, SelfTrade};

use Side::{Buy, Sell};
use TimeInForce::{FillOrKill, ImmediateOrCancel, PostOnly};

const NOTHING: [String; 0] = [];

fn quoted() -> Engine {
    let mut engine = engine(FillModel::Quotes);
    assert_eq!(tell(&mut engine, quote(&[(98, 10), (97, 20)], &[(100, 10), (101, 20)])), NOTHING);
    engine
}

fn tell(engine: &mut Engine, quote: Quote) -> Vec<String> {
    said(&feed(engine, &Input::Quote(quote)))
}

fn printed(engine: &mut Engine, print: TradePrint) -> Vec<String> {
    said(&feed(engine, &Input::Print(print)))
}

#[test]
fn quoted_volume_is_taken_once() {
    let mut engine = quoted();
    assert_eq!(
        enter(&mut engine, market(id(1, 1), Buy, 15)),
        [
            "1-1: accepted",
            "1-1: 10 @ 100 taker",
            "1-1: partially-filled",
            "1-1: 5 @ 101 taker",
            "1-1: filled"
        ]
    );
    let order = with(limit(id(1, 2), Buy, 101, 16), FillOrKill);
    assert_eq!(enter(&mut engine, order), ["1-2: accepted", "1-2: cancelled not-fillable"]);
    let order = with(limit(id(1, 3), Buy, 101, 15), FillOrKill);
    assert_eq!(enter(&mut engine, order)[1], "1-3: 15 @ 101 taker");
    assert_eq!(enter(&mut engine, market(id(1, 4), Buy, 1)).last().unwrap(), "1-4: cancelled no-liquidity");
    assert!(engine.book(STOCK).unwrap().quoted(Sell).is_empty());
    // The next quote shows again what was taken, and two more.
    tell(&mut engine, quote(&[], &[(100, 12)]));
    assert_eq!(enter(&mut engine, market(id(1, 5), Buy, 5))[1], "1-5: 2 @ 100 taker");
}

/// Ten shares at 100, of which an own order takes six; then what the market does. What is left of it?
#[test]
fn what_was_taken_stays_taken_until_the_market_takes_it_back() {
    let more = |engine: &mut Engine| {
        let said = enter(engine, with(limit(id(1, 2), Buy, 100, 100), ImmediateOrCancel));
        said.iter().find_map(|line| line.strip_suffix(" @ 100 taker").map(str::to_owned)).unwrap_or_default()
    };
    let sell = |quantity| quote(&[(98, 10)], &[(100, quantity)]);
    let cases: [(&str, Vec<Input>, &str); 11] = [
        ("the same again", vec![Input::Quote(sell(10)); 9], "1-2: 4"),
        ("less", vec![Input::Quote(sell(7))], "1-2: 1"),
        ("less than was taken", vec![Input::Quote(sell(5))], ""),
        ("less than was taken, and ten more", vec![Input::Quote(sell(5)), Input::Quote(sell(15))], "1-2: 10"),
        ("more", vec![Input::Quote(sell(30))], "1-2: 24"),
        ("the level ends", vec![Input::Quote(quote(&[], &[(101, 5)])), Input::Quote(sell(10))], "1-2: 10"),
        ("the side ends", vec![Input::Quote(quote(&[(98, 1)], &[])), Input::Quote(sell(10))], "1-2: 10"),
        (
            "a better level, behind which nothing is known",
            vec![Input::Quote(quote(&[], &[(99, 5)])), Input::Quote(sell(10))],
            "1-2: 4",
        ),
        (
            "the market trades, first what was not taken",
            vec![Input::Print(print(Aggressor::Buy, 100, 8)), Input::Quote(sell(2)), Input::Quote(sell(10))],
            "1-2: 8",
        ),
        (
            "the market trades a hidden order",
            vec![Input::Print(print(Aggressor::Buy, 100, 8)), Input::Quote(sell(10))],
            "1-2: 4",
        ),
        (
            "the market trades elsewhere",
            vec![
                Input::Print(print(Aggressor::Sell, 100, 8)),
                Input::Print(print(Aggressor::Buy, 101, 8)),
                Input::Quote(sell(10)),
            ],
            "1-2: 4",
        ),
    ];
    for (case, inputs, expected) in cases {
        let mut engine = quoted();
        assert_eq!(enter(&mut engine, market(id(1, 1), Buy, 6))[1], "1-1: 6 @ 100 taker");
        for input in &inputs {
            feed(&mut engine, input);
        }
        assert_eq!(more(&mut engine), expected, "{case}");
    }
}

#[test]
fn a_quote_fills_the_resting_orders_that_it_reaches_at_their_own_price() {
    let mut engine = quoted();
    enter(&mut engine, limit(id(1, 1), Buy, 99, 8));
    enter(&mut engine, limit(id(2, 1), Buy, 99, 8));
    enter(&mut engine, limit(id(3, 1), Buy, 98, 8));
    assert_eq!(
        tell(&mut engine, quote(&[(96, 5)], &[(97, 6), (99, 7), (100, 50)])),
        [
            "1-1: 6 @ 99 maker",
            "1-1: partially-filled",
            "1-1: 2 @ 99 maker",
            "1-1: filled",
            "2-1: 5 @ 99 maker",
            "2-1: partially-filled",
        ]
    );
    // The volume that filled them is taken.
    assert_eq!(engine.book(STOCK).unwrap().quoted(Sell).len(), 1);
    assert_eq!(tell(&mut engine, quote(&[], &[(98, 100)])).len(), 4);
    assert_eq!(engine.book(STOCK).unwrap().quoted(Sell)[0].quantity, Quantity(100 - 3 - 8));
}

#[test]
fn quoted_volume_goes_first_at_one_price_and_own_orders_at_better_ones() {
    let mut engine = quoted();
    enter(&mut engine, limit(id(1, 1), Sell, 100, 5));
    enter(&mut engine, limit(id(1, 2), Sell, 99, 5));
    let said = enter(&mut engine, limit(id(9, 1), Buy, 100, 17));
    let trades: Vec<&str> =
        said.iter().filter(|line| line.ends_with('r') && line.starts_with('9')).map(String::as_str).collect();
    assert_eq!(trades, ["9-1: 5 @ 99 taker", "9-1: 10 @ 100 taker", "9-1: 2 @ 100 taker"]);
    assert_eq!(engine.order(id(1, 1)).map(|order| order.open), Some(Quantity(3)));
}

#[test]
fn a_print_fills_only_what_it_trades_through() {
    let mut engine = quoted();
    enter(&mut engine, limit(id(1, 1), Buy, 99, 5));
    enter(&mut engine, limit(id(1, 2), Buy, 98, 5));
    assert_eq!(printed(&mut engine, print(Aggressor::None, 99, 50)), NOTHING);
    assert_eq!(printed(&mut engine, print(Aggressor::Buy, 90, 50)), NOTHING);
    assert_eq!(printed(&mut engine, print(Aggressor::Sell, 99, 50)), NOTHING);
    assert_eq!(printed(&mut engine, print(Aggressor::Sell, 98, 50)), ["1-1: 5 @ 99 maker", "1-1: filled"]);
    printed(&mut engine, print(Aggressor::Sell, i64::MIN, 50));
    printed(&mut engine, print(Aggressor::Sell, 90, 0));
    assert_eq!((engine.working_orders(), engine.anomalies().total()), (1, 2));
}

#[test]
fn the_kinds_of_order_see_the_quote() {
    let mut engine = quoted();
    assert_eq!(
        enter(&mut engine, with(limit(id(1, 1), Buy, 100, 1), PostOnly)),
        ["1-1: rejected would-trade"]
    );
    assert_eq!(enter(&mut engine, with(limit(id(1, 2), Buy, 99, 1), PostOnly)), ["1-2: accepted"]);
    let order = with(limit(id(1, 3), Sell, 97, 50), ImmediateOrCancel);
    assert_eq!(enter(&mut engine, order).last().unwrap(), "1-3: cancelled would-trade");
    let order = with(limit(id(2, 1), Sell, 97, 50), ImmediateOrCancel);
    let said = enter(&mut engine, order);
    assert_eq!(
        said[3..],
        [
            "2-1: 1 @ 99 taker",
            "2-1: partially-filled",
            "2-1: 10 @ 98 taker",
            "2-1: partially-filled",
            "2-1: 20 @ 97 taker",
            "2-1: partially-filled",
            "2-1: cancelled no-liquidity"
        ]
    );
    assert_eq!(said_of(&mut engine, Input::New(limit(id(3, 1), Buy, 99, 3))), ["3-1: accepted"]);
    let change = Input::Replace(replace(id(3, 1), 100, 4));
    assert_eq!(said_of(&mut engine, change), ["3-1: replaced", "3-1: 4 @ 100 taker", "3-1: filled"]);
}

fn said_of(engine: &mut Engine, input: Input) -> Vec<String> {
    said(&feed(engine, &input))
}

#[test]
fn fill_or_kill_counts_the_quote_up_to_an_order_of_the_same_strategy() {
    let mut engine = quoted();
    enter(&mut engine, limit(id(1, 1), Sell, 100, 5));
    let order = with(limit(id(1, 2), Buy, 101, 11), FillOrKill);
    assert_eq!(enter(&mut engine, order).last().unwrap(), "1-2: cancelled not-fillable");
    let order = with(limit(id(1, 3), Buy, 101, 10), FillOrKill);
    assert_eq!(enter(&mut engine, order).last().unwrap(), "1-3: filled");
}

#[test]
fn quotes_that_cannot_be_are_cut_off_and_counted() {
    let mut engine = quoted();
    tell(&mut engine, quote(&[(98, 10), (99, 10)], &[(100, 10), (101, -1), (102, 5)]));
    let book = engine.book(STOCK).unwrap();
    assert_eq!((book.quoted(Buy).len(), book.quoted(Sell).len()), (1, 1));
    tell(&mut engine, quote(&[(100, 0), (99, 10)], &[(99, 10)]));
    let found = engine.anomalies();
    assert_eq!((found.garbled_quote, found.crossed_quote, found.total()), (2, 1, 3));
}

#[test]
fn an_engine_listens_to_its_own_fill_model_only() {
    let mut engine = quoted();
    assert_eq!(history(&mut engine, add(1, Sell, 90, 5)), NOTHING);
    assert_eq!(engine.resting_orders(), 0);
    let mut engine = super::fixture::engine(FillModel::Book);
    tell(&mut engine, quote(&[(98, 10)], &[(100, 10)]));
    assert!(engine.book(STOCK).unwrap().quoted(Buy).is_empty());
    enter(&mut engine, limit(id(1, 1), Buy, 99, 5));
    assert_eq!(printed(&mut engine, print(Aggressor::Sell, 90, 50)), NOTHING);
}

#[test]
fn quotes_of_a_call_auction_fill_nobody() {
    let mut engine = engine(FillModel::Quotes);
    feed(&mut engine, &Input::Quote(quote(&[(48, 10)], &[(52, 10)])));
    enter(&mut engine, limit(id(1, 1), Buy, 50, 5));
    let auction = Quote { flags: Quote::CALL_AUCTION, ..quote(&[(48, 10)], &[(49, 10)]) };
    assert!(said(&feed(&mut engine, &Input::Quote(auction))).is_empty());
    assert_eq!(enter(&mut engine, limit(id(1, 2), Buy, 52, 5)), ["1-2: rejected call-auction"]);
    let filled = said(&feed(&mut engine, &Input::Quote(quote(&[(48, 10)], &[(49, 10)]))));
    assert_eq!(filled, ["1-1: 5 @ 49 maker", "1-1: filled"]);
}

#[test]
fn before_all_an_order_trades_with_a_print_at_its_price() {
    let options =
        EngineOptions { queue: Queue::Touch, ..options(FillModel::Quotes, SelfTrade::CancelNewest) };
    let mut engine = Engine::new(options);
    engine.on_instrument(&instrument(STOCK));
    tell(&mut engine, quote(&[(98, 10)], &[(100, 10)]));
    enter(&mut engine, limit(id(1, 1), Buy, 98, 5));
    assert_eq!(printed(&mut engine, print(Aggressor::Sell, 99, 50)), NOTHING);
    assert_eq!(printed(&mut engine, print(Aggressor::Sell, 98, 50)), ["1-1: 5 @ 98 maker", "1-1: filled"]);
}

/// A trade of a hidden order of which no side is known fills orders of both sides that would have been first, each at its price.
#[test]
fn a_print_without_a_side_fills_better_orders_of_both_sides() {
    let mut engine = quoted();
    enter(&mut engine, limit(id(1, 1), Buy, 99, 5));
    assert_eq!(printed(&mut engine, print(Aggressor::None, 98, 50)), ["1-1: 5 @ 99 maker", "1-1: filled"]);
    enter(&mut engine, limit(id(1, 2), Sell, 99, 60));
    let said = printed(&mut engine, print(Aggressor::None, 100, 50));
    assert_eq!(said, ["1-2: 50 @ 99 maker", "1-2: partially-filled"]);
}

#[test]
fn before_all_an_order_trades_with_a_print_without_a_side_at_its_price() {
    let options =
        EngineOptions { queue: Queue::Touch, ..options(FillModel::Quotes, SelfTrade::CancelNewest) };
    let mut engine = Engine::new(options);
    engine.on_instrument(&instrument(STOCK));
    enter(&mut engine, limit(id(1, 1), Buy, 99, 5));
    assert_eq!(printed(&mut engine, print(Aggressor::None, 100, 50)), NOTHING);
    assert_eq!(printed(&mut engine, print(Aggressor::None, 99, 50)), ["1-1: 5 @ 99 maker", "1-1: filled"]);
}
