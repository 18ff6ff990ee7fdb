//! The resting orders. Every source keeps this table, so that its events never name an order that does not exist and
//! never take more from one than it has: a book can be rebuilt from them without guesses.

use std::collections::HashMap;
use std::hash::Hash;

use wire::{InstrumentId, Price, Side};

/// An order in the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resting {
    pub(crate) instrument: InstrumentId,
    pub(crate) side: Side,
    pub(crate) price: Price,
    pub(crate) remaining: i64,
}

/// The result of taking from an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// The order as it was before.
    pub(crate) order: Resting,
    /// The quantity actually taken: that of the row, or all there was.
    pub(crate) quantity: i64,
    /// Nothing is left.
    pub(crate) last: bool,
    /// The row takes more than there was.
    pub(crate) excess: bool,
}

/// Resting orders by their market's number. Only looked up, or sorted before it is iterated, so that its own order has
/// no effect.
pub(crate) struct OrderTable<K>(HashMap<K, Resting>);

impl<K: Hash + Eq + Copy> OrderTable<K> {
    pub(crate) fn new() -> OrderTable<K> {
        OrderTable(HashMap::new())
    }

    /// Adds an order; returns the one with the same number that it replaces, if there was one.
    pub(crate) fn add(&mut self, key: K, order: Resting) -> Option<Resting> {
        self.0.insert(key, order)
    }

    pub(crate) fn remove(&mut self, key: K) -> Option<Resting> {
        self.0.remove(&key)
    }

    /// Takes `quantity` from an order, or all there is; `None` when it does not rest.
    pub(crate) fn take(&mut self, key: K, quantity: i64) -> Option<Taken> {
        let order = self.0.get_mut(&key)?;
        let before = *order;
        let taken = quantity.min(before.remaining);
        order.remaining -= taken;
        let last = order.remaining == 0;
        if last {
            self.0.remove(&key);
        }
        Some(Taken { order: before, quantity: taken, last, excess: quantity > before.remaining })
    }

    pub(crate) fn contains(&self, key: K) -> bool {
        self.0.contains_key(&key)
    }

    /// Removes all orders, sorted by instrument and number.
    pub(crate) fn drain(&mut self) -> Vec<(K, Resting)>
    where
        K: Ord,
    {
        let mut orders: Vec<(K, Resting)> = self.0.drain().collect();
        orders.sort_unstable_by_key(|(key, order)| (order.instrument, *key));
        orders
    }

    /// Removes every order of one instrument.
    pub(crate) fn clear(&mut self, instrument: InstrumentId) {
        self.0.retain(|_, order| order.instrument != instrument);
    }
}
