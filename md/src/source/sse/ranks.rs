//! Resting orders by price, to find those that cannot exist.

use std::collections::BTreeSet;

use wire::{Price, Side};

/// Both sides of one stock.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    bids: BTreeSet<(Price, u64)>,
    asks: BTreeSet<(Price, u64)>,
}

impl Ranks {
    fn side(&mut self, side: Side) -> &mut BTreeSet<(Price, u64)> {
        match side {
            Side::Buy => &mut self.bids,
            Side::Sell => &mut self.asks,
        }
    }

    pub(super) fn add(&mut self, side: Side, price: Price, order: u64) {
        self.side(side).insert((price, order));
    }

    pub(super) fn remove(&mut self, side: Side, price: Price, order: u64) {
        self.side(side).remove(&(price, order));
    }

    /// An order of `side` whose price is better than this one, or equal.
    pub(super) fn at_or_inside(&self, side: Side, price: Price) -> Option<u64> {
        let best = match side {
            Side::Buy => self.bids.last().filter(|(best, _)| *best >= price),
            Side::Sell => self.asks.first().filter(|(best, _)| *best <= price),
        };
        best.map(|&(_, order)| order)
    }

    /// An order of `side` whose price is better than this one.
    pub(super) fn inside(&self, side: Side, price: Price) -> Option<u64> {
        let next = match side {
            Side::Buy => Price(price.0.saturating_add(1)),
            Side::Sell => Price(price.0.saturating_sub(1)),
        };
        self.at_or_inside(side, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_orders_that_price_priority_rules_out_are_found() {
        let mut ranks = Ranks::default();
        ranks.add(Side::Buy, Price(9), 1);
        ranks.add(Side::Buy, Price(10), 2);
        ranks.add(Side::Sell, Price(12), 3);
        assert_eq!(ranks.inside(Side::Buy, Price(10)), None);
        assert_eq!(ranks.at_or_inside(Side::Buy, Price(10)), Some(2));
        assert_eq!(ranks.inside(Side::Buy, Price(9)), Some(2));
        assert_eq!(ranks.at_or_inside(Side::Sell, Price(11)), None);
        assert_eq!(ranks.inside(Side::Sell, Price(12)), None);
        assert_eq!(ranks.inside(Side::Sell, Price(13)), Some(3));
        ranks.remove(Side::Buy, Price(10), 2);
        assert_eq!(ranks.at_or_inside(Side::Buy, Price(1)), Some(1));
    }
}
