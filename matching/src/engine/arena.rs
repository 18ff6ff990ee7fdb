//! The records of all books: orders and price levels, linked by slot.

use wire::{Price, Quantity};

use super::order::Order;
use super::slab::{Slab, Slot};

/// One price: the ends of its queue and what can be had there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PriceLevel {
    pub(crate) price: Price,
    pub(crate) head: Slot,
    pub(crate) tail: Slot,
    /// Sum of [`Order::available`]. Wider than one quantity, so that no sum of them saturates.
    pub(crate) available: i128,
    /// Own orders in the queue; history skips a level without any.
    pub(crate) own: u32,
}

/// The records of all books.
#[derive(Debug)]
pub(crate) struct Arena {
    pub(crate) orders: Slab<Order>,
    pub(crate) levels: Slab<PriceLevel>,
}

impl Arena {
    /// Changes how much of an order is open and taken, and its level's sum with it.
    pub(crate) fn set(&mut self, slot: Slot, open: Quantity, taken: Quantity) -> Order {
        let order = &mut self.orders[slot];
        let before = order.available();
        order.open = open;
        order.taken = taken;
        let change = i128::from(order.available().0) - i128::from(before.0);
        let order = *order;
        self.levels[order.level].available += change;
        order
    }
}
