//! The price of an auction.

use wire::{InstrumentId, Price, Quantity, Side};

use super::Model;
use super::ticks::{round_down, round_up};
use crate::exchange::{Equilibrium, TieBreak};

/// Prices from the first to the second, both on a tick. Between two limits of orders all prices trade the same, so that
/// even prices far apart are few ranges.
type Range = (i128, i128);

/// What stands in the book before an auction: limits (`None`: market orders) and quantities.
#[derive(Clone, Debug)]
pub(in crate::exchange::tests) struct Interest {
    pub(in crate::exchange::tests) buys: Vec<(Option<i64>, i64)>,
    pub(in crate::exchange::tests) sells: Vec<(Option<i64>, i64)>,
    pub(in crate::exchange::tests) ticks: Vec<(Price, Price)>,
    pub(in crate::exchange::tests) reference: Option<i64>,
    pub(in crate::exchange::tests) tie_breaks: Vec<TieBreak>,
}

/// Price, volume, and buyers left over less sellers left over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::exchange::tests) struct Clearing {
    pub(in crate::exchange::tests) price: Option<i64>,
    pub(super) volume: i128,
    pub(super) imbalance: i128,
}

impl Model {
    pub(super) fn clearing(&self, instrument: InstrumentId) -> Clearing {
        let side =
            |side| self.queue(instrument, side).iter().map(|order| (order.price, order.open)).collect();
        let market = self.market(instrument);
        let interest = Interest {
            buys: side(Side::Buy),
            sells: side(Side::Sell),
            ticks: market.rules.ticks.clone(),
            reference: market.reference(),
            tie_breaks: market.rules.market.tie_breaks.clone(),
        };
        interest.clearing()
    }
}

impl Clearing {
    const NOTHING: Clearing = Clearing { price: None, volume: 0, imbalance: 0 };

    pub(super) fn equilibrium(&self) -> Equilibrium {
        let held = |wide: i128| wide.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
        Equilibrium {
            price: self.price.map_or(Price::NONE, Price),
            volume: Quantity(held(self.volume)),
            imbalance: held(self.imbalance),
        }
    }
}

impl Interest {
    pub(in crate::exchange::tests) fn clearing(&self) -> Clearing {
        let limits = self.limits_that_could_trade();
        let price = if limits.is_empty() {
            self.on_tick_reference()
        } else {
            Some(self.choose(self.ranges(&limits)))
        };
        match price.map(i128::from) {
            Some(at) if self.volume(at) > 0 => {
                Clearing { price, volume: self.volume(at), imbalance: self.imbalance(at) }
            }
            _ => Clearing::NOTHING,
        }
    }

    fn bought(&self, price: i128) -> i128 {
        let takes = |limit: Option<i64>| limit.is_none_or(|limit| i128::from(limit) >= price);
        self.buys.iter().filter(|(limit, _)| takes(*limit)).map(|(_, quantity)| i128::from(*quantity)).sum()
    }

    fn sold(&self, price: i128) -> i128 {
        let takes = |limit: Option<i64>| limit.is_none_or(|limit| i128::from(limit) <= price);
        self.sells.iter().filter(|(limit, _)| takes(*limit)).map(|(_, quantity)| i128::from(*quantity)).sum()
    }

    fn volume(&self, price: i128) -> i128 {
        self.bought(price).min(self.sold(price))
    }

    fn imbalance(&self, price: i128) -> i128 {
        self.bought(price) - self.sold(price)
    }

    /// Limits of orders that have a partner on the other side, ascending.
    fn limits_that_could_trade(&self) -> Vec<i128> {
        let meet = |buy: Option<i64>, sell: Option<i64>| buy.is_none() || sell.is_none() || buy >= sell;
        let buys = self.buys.iter().filter(|(buy, _)| self.sells.iter().any(|(sell, _)| meet(*buy, *sell)));
        let sells = self.sells.iter().filter(|(sell, _)| self.buys.iter().any(|(buy, _)| meet(*buy, *sell)));
        let mut limits: Vec<i128> =
            buys.chain(sells).filter_map(|(limit, _)| limit.map(i128::from)).collect();
        limits.sort_unstable();
        limits.dedup();
        limits
    }

    /// All prices from the lowest to the highest limit: each limit, and what lies between two of them.
    fn ranges(&self, limits: &[i128]) -> Vec<Range> {
        let at = limits.iter().map(|limit| (*limit, *limit));
        let between = limits
            .windows(2)
            .map(|two| (round_up(&self.ticks, two[0] + 1), round_down(&self.ticks, two[1] - 1)))
            .filter(|(low, high)| low <= high);
        let mut ranges: Vec<Range> = at.chain(between).collect();
        ranges.sort_unstable();
        ranges
    }

    fn choose(&self, ranges: Vec<Range>) -> i64 {
        let most = ranges.iter().map(|range| self.volume(range.0)).max().unwrap();
        let mut left: Vec<Range> = ranges.into_iter().filter(|range| self.volume(range.0) == most).collect();
        for tie_break in &self.tie_breaks {
            left = match tie_break {
                TieBreak::BetterInWhole => self.better_in_whole(left),
                TieBreak::LeastImbalance => self.least_imbalance(left),
                TieBreak::Pressure => self.pressure(left),
                TieBreak::NearestReference => self.nearest_reference(left),
                TieBreak::Middle => self.middle(&left),
            };
        }
        highest(&left).try_into().unwrap()
    }

    fn better_in_whole(&self, ranges: Vec<Range>) -> Vec<Range> {
        let is_one =
            |range: &Range| self.bought(range.1 + 1).max(self.sold(range.0 - 1)) <= self.volume(range.0);
        let found: Vec<Range> = ranges.iter().copied().filter(is_one).collect();
        if found.is_empty() { ranges } else { found }
    }

    fn least_imbalance(&self, ranges: Vec<Range>) -> Vec<Range> {
        let least = ranges.iter().map(|range| self.imbalance(range.0).abs()).min().unwrap();
        ranges.into_iter().filter(|range| self.imbalance(range.0).abs() == least).collect()
    }

    fn pressure(&self, ranges: Vec<Range>) -> Vec<Range> {
        if ranges.iter().all(|range| self.imbalance(range.0) > 0) {
            vec![(highest(&ranges), highest(&ranges))]
        } else if ranges.iter().all(|range| self.imbalance(range.0) < 0) {
            vec![(lowest(&ranges), lowest(&ranges))]
        } else {
            ranges
        }
    }

    fn nearest_reference(&self, ranges: Vec<Range>) -> Vec<Range> {
        let Some(reference) = self.reference.map(i128::from) else { return ranges };
        let in_each = ranges.iter().flat_map(|&(low, high)| self.neighbours(reference.clamp(low, high)));
        let nearest = nearest(reference, in_each);
        vec![(nearest, nearest)]
    }

    /// Where market orders trade with each other.
    fn on_tick_reference(&self) -> Option<i64> {
        let reference = i128::from(self.reference?);
        let fits = self.neighbours(reference).into_iter().filter(|price| i64::try_from(*price).is_ok());
        nearest(reference, fits).try_into().ok()
    }

    /// The prices on the tick around a price; the same one twice if it is one.
    fn neighbours(&self, price: i128) -> [i128; 2] {
        [round_down(&self.ticks, price), round_up(&self.ticks, price)]
    }

    fn middle(&self, ranges: &[Range]) -> Vec<Range> {
        let twice = lowest(ranges) + highest(ranges);
        let middle = round_up(&self.ticks, twice.div_euclid(2) + twice.rem_euclid(2));
        vec![(middle, middle)]
    }
}

/// Of two that are as near, the higher.
fn nearest(reference: i128, prices: impl Iterator<Item = i128>) -> i128 {
    prices.min_by_key(|price| ((price - reference).abs(), -price)).unwrap()
}

fn lowest(ranges: &[Range]) -> i128 {
    ranges.iter().map(|range| range.0).min().unwrap()
}

fn highest(ranges: &[Range]) -> i128 {
    ranges.iter().map(|range| range.1).max().unwrap()
}
