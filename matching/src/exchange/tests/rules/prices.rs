//! The price of an auction.

use proptest::prelude::*;
use wire::{Price, Side};

use super::super::desk::*;
use super::super::model::auction::Interest;
use super::super::venue::Venue;
use crate::exchange::{InstrumentRules, MarketRules, Order, Phase, TieBreak};

/// What is indicated for these orders.
fn indicated<V: Venue>(rules: InstrumentRules, orders: &[Order]) -> String {
    let mut desk = Desk::<V>::with(rules);
    desk.phase(Phase::ClosingAuction);
    desk.stand(orders.iter().copied());
    desk.indication()
}

fn by(tie_breaks: &[TieBreak], reference: i64) -> InstrumentRules {
    let market = MarketRules { tie_breaks: tie_breaks.to_vec(), ..MarketRules::plain() };
    InstrumentRules { market, reference_price: Price(reference), ..stock() }
}

fn it_trades_the_most<V: Venue>() {
    let orders = [
        buy(1, 105, 10),
        buy(2, 103, 10),
        buy(3, 101, 10),
        sell(4, 100, 5),
        sell(5, 102, 10),
        sell(6, 104, 20),
    ];
    assert_eq!(indicated::<V>(by(&[], 0), &orders), "15 @ 103, imbalance 5");
}

fn without_a_tie_break_it_is_the_highest<V: Venue>() {
    assert_eq!(indicated::<V>(by(&[], 100), &[buy(1, 105, 10), sell(2, 100, 10)]), "10 @ 105, imbalance 0");
}

fn least_imbalance<V: Venue>() {
    let orders = [buy(1, 105, 10), buy(2, 102, 5), sell(3, 100, 10)];
    // 5 more bid at 102 and below; none from 103 on.
    assert_eq!(indicated::<V>(by(&[TieBreak::LeastImbalance], 0), &orders), "10 @ 105, imbalance 0");
    let orders = [buy(1, 105, 10), sell(2, 100, 10), sell(3, 103, 5)];
    assert_eq!(indicated::<V>(by(&[TieBreak::LeastImbalance], 0), &orders), "10 @ 102, imbalance 0");
}

/// The smallest case in which the condition decides: at 99 and 98, 60 of the 160 that are bid above find no seller.
fn orders_at_better_prices_trade_in_whole<V: Venue>() {
    let orders = [sell(1, 98, 100), buy(2, 105, 60), buy(3, 100, 100)];
    for market in [MarketRules::shanghai(), MarketRules::shenzhen()] {
        let rules = InstrumentRules { market, reference_price: Price(98), ..stock() };
        assert_eq!(indicated::<V>(rules, &orders), "100 @ 100, imbalance 60");
    }
    let mirrored = [buy(1, 102, 100), sell(2, 95, 60), sell(3, 100, 100)];
    for market in [MarketRules::shanghai(), MarketRules::shenzhen()] {
        let rules = InstrumentRules { market, reference_price: Price(102), ..stock() };
        assert_eq!(indicated::<V>(rules, &mirrored), "100 @ 100, imbalance -60");
    }
}

fn pressure_of_buyers_takes_the_highest_and_of_sellers_the_lowest<V: Venue>() {
    let rules = || by(&[TieBreak::Pressure, TieBreak::Middle], 0);
    assert_eq!(indicated::<V>(rules(), &[buy(1, 105, 11), sell(2, 100, 10)]), "10 @ 105, imbalance 1");
    assert_eq!(indicated::<V>(rules(), &[buy(1, 105, 10), sell(2, 100, 11)]), "10 @ 100, imbalance -1");
    // Nobody is left over, or not the same side everywhere: it decides nothing.
    assert_eq!(indicated::<V>(rules(), &[buy(1, 105, 10), sell(2, 100, 10)]), "10 @ 103, imbalance 0");
    let both = [buy(1, 105, 10), buy(2, 101, 5), sell(3, 100, 10), sell(4, 104, 5)];
    assert_eq!(indicated::<V>(rules(), &both), "10 @ 103, imbalance 0");
}

fn nearest_to_the_reference<V: Venue>() {
    let orders = [buy(1, 105, 10), sell(2, 100, 10)];
    for (reference, price) in [(50, 100), (102, 102), (500, 105), (i64::MIN, 105)] {
        let expected = format!("10 @ {price}, imbalance 0");
        assert_eq!(indicated::<V>(by(&[TieBreak::NearestReference], reference), &orders), expected);
    }
}

fn of_two_prices_as_near_to_the_reference_it_is_the_higher<V: Venue>() {
    let tie_breaks = [TieBreak::NearestReference, TieBreak::Pressure];
    let rules = InstrumentRules { ticks: vec![(Price(0), Price(10))], ..by(&tie_breaks, 105) };
    let orders = [buy(1, 150, 10), sell(2, 50, 11)];
    assert_eq!(indicated::<V>(rules, &orders), "10 @ 110, imbalance -1");
}

fn the_reference_is_the_last_price_once_there_is_one<V: Venue>() {
    let mut desk = Desk::<V>::with(by(&[TieBreak::NearestReference], 105));
    desk.last_price(101);
    desk.phase(Phase::ClosingAuction);
    desk.stand([buy(1, 105, 10), sell(2, 100, 10)]);
    assert_eq!(desk.indication(), "10 @ 101, imbalance 0");
}

fn the_middle_is_rounded_up_to_the_tick<V: Venue>() {
    let orders = [buy(1, 105, 10), sell(2, 100, 10)];
    assert_eq!(indicated::<V>(by(&[TieBreak::Middle], 0), &orders), "10 @ 103, imbalance 0");
    let below_zero = [buy(1, -100, 10), sell(2, -105, 10)];
    assert_eq!(indicated::<V>(by(&[TieBreak::Middle], 0), &below_zero), "10 @ -102, imbalance 0");
    // A tick of 10 holds from 110 on.
    let ticks = vec![(Price(0), Price(1)), (Price(110), Price(10))];
    let rules = InstrumentRules { ticks, ..by(&[TieBreak::Middle], 0) };
    assert_eq!(indicated::<V>(rules, &[buy(1, 130, 10), sell(2, 101, 10)]), "10 @ 120, imbalance 0");
}

fn prices_between_the_limits_are_multiples_of_their_tick<V: Venue>() {
    let ticks = vec![(Price(0), Price(5)), (Price(110), Price(2)), (Price(120), Price(20))];
    for (reference, price) in [(108, 110), (107, 105), (113, 114), (119, 120), (131, 140)] {
        let rules = InstrumentRules { ticks: ticks.clone(), ..by(&[TieBreak::NearestReference], reference) };
        let expected = format!("10 @ {price}, imbalance 0");
        assert_eq!(indicated::<V>(rules, &[buy(1, 160, 10), sell(2, 90, 10)]), expected, "{reference}");
    }
}

fn only_limits_of_orders_that_could_trade_count<V: Venue>() {
    // 90 and 120 find no partner, so prices are from 100 to 105.
    let orders = [buy(1, 105, 10), sell(2, 100, 10), buy(3, 90, 5), sell(4, 120, 5)];
    for (reference, price) in [(0, 100), (500, 105)] {
        let expected = format!("10 @ {price}, imbalance 0");
        assert_eq!(indicated::<V>(by(&[TieBreak::NearestReference], reference), &orders), expected);
    }
    // A market order is a partner for every limit.
    let orders = [market(buy(1, 0, 10)), sell(2, 100, 10), sell(4, 120, 5)];
    assert_eq!(indicated::<V>(by(&[TieBreak::NearestReference], 115), &orders), "10 @ 115, imbalance 0");
}

fn market_orders_alone_trade_at_the_tick_nearest_to_the_reference<V: Venue>() {
    let orders = [market(buy(1, 0, 10)), market(sell(2, 0, 7))];
    assert_eq!(indicated::<V>(by(&[], 105), &orders), "7 @ 105, imbalance 3");
    let ticks = vec![(Price(0), Price(10))];
    assert_eq!(indicated::<V>(InstrumentRules { ticks, ..by(&[], 105) }, &orders), "7 @ 110, imbalance 3");
    assert_eq!(indicated::<V>(by(&[], i64::MIN), &orders), "nothing");
    assert_eq!(indicated::<V>(by(&[], 105), &orders[..1]), "nothing");
}

fn far_prices_cost_nothing<V: Venue>() {
    let orders = [buy(1, i64::MAX, 10), sell(2, i64::MIN + 1, 10)];
    for (tie_breaks, price) in
        [(&[][..], i64::MAX), (&[TieBreak::Middle], 0), (&[TieBreak::NearestReference], 12_345)]
    {
        assert_eq!(indicated::<V>(by(tie_breaks, 12_345), &orders), format!("10 @ {price}, imbalance 0"));
    }
}

fn nothing_crosses_nothing_trades<V: Venue>() {
    assert_eq!(indicated::<V>(by(&[], 100), &[buy(1, 100, 10), sell(2, 101, 10)]), "nothing");
    assert_eq!(indicated::<V>(by(&[], 100), &[buy(1, 100, 10)]), "nothing");
    assert_eq!(indicated::<V>(by(&[], 100), &[]), "nothing");
    let mut desk = Desk::<V>::plain();
    desk.stand([buy(1, 100, 10), sell(2, 100, 4)]);
    assert_eq!(desk.indication(), "nothing", "in continuous trading books are not crossed");
    assert_eq!(desk.book(Side::Buy), ["1: 6 of 6 @ 100"]);
}

on_both!(
    it_trades_the_most,
    without_a_tie_break_it_is_the_highest,
    least_imbalance,
    orders_at_better_prices_trade_in_whole,
    pressure_of_buyers_takes_the_highest_and_of_sellers_the_lowest,
    nearest_to_the_reference,
    of_two_prices_as_near_to_the_reference_it_is_the_higher,
    the_reference_is_the_last_price_once_there_is_one,
    the_middle_is_rounded_up_to_the_tick,
    prices_between_the_limits_are_multiples_of_their_tick,
    only_limits_of_orders_that_could_trade_count,
    market_orders_alone_trade_at_the_tick_nearest_to_the_reference,
    far_prices_cost_nothing,
    nothing_crosses_nothing_trades,
);

fn orders() -> impl Strategy<Value = Vec<(Option<i64>, i64)>> {
    let limit = prop_oneof![8 => (-4..20_i64).prop_map(Some), 1 => Just(None)];
    prop::collection::vec((limit, 1..6_i64), 0..6)
}

proptest! {
    /// The model counts ranges of prices; here each price is looked at by itself.
    #[test]
    fn ranges_of_prices_choose_as_single_prices_do(
        buys in orders(),
        sells in orders(),
        reference in prop::option::of(-6..24_i64),
        tie_breaks in prop::sample::subsequence(
            vec![
                TieBreak::BetterInWhole,
                TieBreak::LeastImbalance,
                TieBreak::Pressure,
                TieBreak::NearestReference,
                TieBreak::Middle,
            ],
            0..=5,
        ).prop_shuffle(),
        coarser in prop::bool::ANY,
    ) {
        let ticks = if coarser { vec![(Price(0), Price(2)), (Price(8), Price(1)), (Price(12), Price(3))] } else { vec![(Price(0), Price(1))] };
        let on_tick = |(limit, quantity): (Option<i64>, i64)| {
            let tick = |limit: i64| if !coarser || (8..12).contains(&limit) { 1 } else if limit < 8 { 2 } else { 3 };
            (limit.map(|limit| limit - limit.rem_euclid(tick(limit))), quantity)
        };
        let interest = Interest {
            buys: buys.into_iter().map(on_tick).collect(),
            sells: sells.into_iter().map(on_tick).collect(),
            ticks,
            reference,
            tie_breaks,
        };
        prop_assert_eq!(interest.clearing().price, one_by_one(&interest));
    }
}

/// The auction's price, from a list of all prices.
fn one_by_one(interest: &Interest) -> Option<i64> {
    let bought = |price: i64| total(&interest.buys, |limit| limit >= price);
    let sold = |price: i64| total(&interest.sells, |limit| limit <= price);
    let imbalance = |price: i64| bought(price) - sold(price);
    let reach = |orders: &[(Option<i64>, i64)], others: &[(Option<i64>, i64)], buys: bool| -> Vec<i64> {
        let partner = |limit: i64| {
            others.iter().any(|(other, _)| {
                other.is_none_or(|other| if buys { other <= limit } else { other >= limit })
            })
        };
        orders.iter().filter_map(|(limit, _)| *limit).filter(|limit| partner(*limit)).collect()
    };
    let mut limits = reach(&interest.buys, &interest.sells, true);
    limits.extend(reach(&interest.sells, &interest.buys, false));
    let (Some(low), Some(high)) = (limits.iter().min(), limits.iter().max()) else {
        let both = !interest.buys.is_empty() && !interest.sells.is_empty();
        let markets = interest.buys.iter().chain(&interest.sells).all(|(limit, _)| limit.is_none());
        return if both && markets { interest.clearing().price } else { None };
    };
    let mut left: Vec<i64> = (*low..=*high)
        .filter(|price| super::super::model::ticks::is_on_tick(&interest.ticks, *price))
        .collect();
    keep_least(&mut left, |price| -bought(price).min(sold(price)));
    for tie_break in &interest.tie_breaks {
        match (tie_break, interest.reference) {
            (TieBreak::BetterInWhole, _) if left.iter().any(|price| in_whole(interest, *price)) => {
                left.retain(|price| in_whole(interest, *price));
            }
            (TieBreak::LeastImbalance, _) => keep_least(&mut left, |price| imbalance(price).abs()),
            (TieBreak::Pressure, _) if left.iter().all(|price| imbalance(*price) > 0) => {
                left.drain(..left.len() - 1).for_each(drop)
            }
            (TieBreak::Pressure, _) if left.iter().all(|price| imbalance(*price) < 0) => left.truncate(1),
            (TieBreak::NearestReference, Some(reference)) => {
                keep_least(&mut left, |price| 2 * (price - reference).abs() - i64::from(price > reference))
            }
            (TieBreak::Middle, _) => {
                let twice = left[0] + left[left.len() - 1];
                left.retain(|price| 2 * price >= twice);
                left.truncate(1);
            }
            _ => {}
        }
    }
    left.last().copied()
}

/// Serves both sides, the best limits first, as far as the other side's quantity goes: is each order with a limit better than
/// the price served in whole?
fn in_whole(interest: &Interest, price: i64) -> bool {
    let is_served = |orders: &[(Option<i64>, i64)], others: i64, better: &dyn Fn(i64) -> i64| {
        let mut queue: Vec<(i64, i64)> =
            orders.iter().map(|(limit, quantity)| (limit.map_or(i64::MAX, better), *quantity)).collect();
        queue.sort_unstable_by_key(|(better_by, _)| std::cmp::Reverse(*better_by));
        let mut left = others;
        queue.iter().filter(|(better_by, _)| *better_by > 0).all(|(_, quantity)| {
            left -= quantity;
            left >= 0
        })
    };
    let bought = total(&interest.buys, |limit| limit >= price);
    let sold = total(&interest.sells, |limit| limit <= price);
    is_served(&interest.buys, sold, &|limit| limit - price)
        && is_served(&interest.sells, bought, &|limit| price - limit)
}

fn total(orders: &[(Option<i64>, i64)], takes: impl Fn(i64) -> bool) -> i64 {
    orders.iter().filter(|(limit, _)| limit.is_none_or(&takes)).map(|(_, quantity)| quantity).sum()
}

fn keep_least(prices: &mut Vec<i64>, measure: impl Fn(i64) -> i64) {
    let least = prices.iter().map(|price| measure(*price)).min();
    prices.retain(|price| Some(measure(*price)) == least);
}
