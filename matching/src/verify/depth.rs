//! The book that the exchange's events make: what somebody who only reads them has.

use std::collections::{BTreeMap, HashMap};

use wire::{Price, Quantity, Side};

use super::input::SnapshotTotal;
use crate::exchange::{Event, OrderState};

/// A level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) price: Price,
    pub(super) quantity: i64,
    pub(super) orders: u64,
}

#[derive(Clone, Copy)]
struct Resting {
    side: Side,
    price: Price,
    quantity: i64,
}

/// Both sides of one instrument, order by order.
#[derive(Default)]
pub(super) struct Depth {
    orders: HashMap<u64, Resting>,
    bids: BTreeMap<Price, Level>,
    asks: BTreeMap<Price, Level>,
    /// Volume and orders of buyers and sellers.
    sums: [(i64, u64); 2],
}

impl Depth {
    /// Applies an event; whether the book changed.
    pub(super) fn apply(&mut self, event: &Event) -> bool {
        match event {
            Event::Rested(state) => self.rest(state),
            Event::Traded(trade) => {
                let (buy, sell) = (trade.buy.id, trade.sell.id);
                // Both, in an auction.
                self.take(buy, trade.quantity) | self.take(sell, trade.quantity)
            }
            Event::Replaced(state, None) => {
                let before = self.orders.get(&state.id).map_or(0, |order| order.quantity);
                self.take(state.id, Quantity(before.saturating_sub(state.open.0)))
            }
            Event::Replaced(state, Some(_)) => self.take(state.id, Quantity(i64::MAX)),
            Event::Cancelled(state, _) => self.take(state.id, Quantity(i64::MAX)),
            _ => false,
        }
    }

    /// The `most` best levels.
    pub(super) fn best(&self, side: Side, most: usize, levels: &mut Vec<Level>) {
        levels.clear();
        match side {
            Side::Buy => levels.extend(self.bids.values().rev().take(most)),
            Side::Sell => levels.extend(self.asks.values().take(most)),
        }
    }

    /// All of buyers and of sellers.
    pub(super) fn totals(&self) -> [SnapshotTotal; 2] {
        let total = |side: usize, levels: &BTreeMap<Price, Level>| {
            let (quantity, orders) = self.sums[side];
            SnapshotTotal { quantity, orders, levels: levels.len() as u64 }
        };
        [total(0, &self.bids), total(1, &self.asks)]
    }

    fn sum(&mut self, side: Side) -> &mut (i64, u64) {
        &mut self.sums[usize::from(side == Side::Sell)]
    }

    fn side(&mut self, side: Side) -> &mut BTreeMap<Price, Level> {
        match side {
            Side::Buy => &mut self.bids,
            Side::Sell => &mut self.asks,
        }
    }

    fn rest(&mut self, state: &OrderState) -> bool {
        let &OrderState { id, side, price, open, .. } = state;
        if !price.is_some() {
            return false;
        }
        self.orders.insert(id, Resting { side, price, quantity: open.0 });
        let level = self.side(side).entry(price).or_insert(Level { price, quantity: 0, orders: 0 });
        level.quantity = level.quantity.saturating_add(open.0);
        level.orders += 1;
        let sum = self.sum(side);
        *sum = (sum.0.saturating_add(open.0), sum.1 + 1);
        true
    }

    fn take(&mut self, id: u64, quantity: Quantity) -> bool {
        let Some(order) = self.orders.get_mut(&id) else { return false };
        let taken = quantity.0.min(order.quantity);
        order.quantity -= taken;
        let (side, price, ended) = (order.side, order.price, order.quantity == 0);
        if ended {
            self.orders.remove(&id);
        }
        let sum = self.sum(side);
        *sum = (sum.0.saturating_sub(taken), sum.1 - u64::from(ended));
        let levels = self.side(side);
        if let Some(level) = levels.get_mut(&price) {
            level.quantity -= taken;
            level.orders -= u64::from(ended);
            if level.orders == 0 {
                levels.remove(&price);
            }
        }
        taken > 0
    }
}
