//! One side of a book: price levels, best first, and in each a queue of orders, oldest first.
//!
//! ```text
//! rungs   worst ... ┌──────┬───────┐ best      a sorted Vec of 16 bytes each, the best at its end: most
//!                   │ rank │ level ┼──┐        changes happen there, and move next to nothing
//!                   └──────┴───────┘  ▼
//! levels                          ┌───────┐ head    ┌───────┐ next   ┌───────┐
//!                                 │ Level ┼────────▶│ Order ┼───────▶│ Order │    both in slabs, linked by slot
//!                                 └───────┘         └───────┘        └───────┘
//! ```
//!
//! A *rank* orders prices so that better is higher on either side: the price itself for bids, its bitwise
//! complement for asks (which turns the order round and cannot overflow).

use wire::{Price, Side};

use super::arena::{Arena, PriceLevel};
use super::order::Order;
use super::slab::Slot;

#[derive(Clone, Copy, Debug)]
struct Rung {
    rank: i64,
    level: Slot,
}

/// The levels of one side.
#[derive(Debug)]
pub(crate) struct Ladder {
    side: Side,
    rungs: Vec<Rung>,
    /// Own orders on this side.
    pub(crate) own: u32,
}

/// So many levels from the best are searched one by one before the rest is searched by halves.
const NEAR: usize = 8;

impl Ladder {
    pub(crate) fn new(side: Side) -> Ladder {
        Ladder { side, rungs: Vec::new(), own: 0 }
    }

    /// Higher is better on this side.
    pub(crate) fn rank(&self, price: Price) -> i64 {
        match self.side {
            Side::Buy => price.0,
            Side::Sell => !price.0,
        }
    }

    /// Number of levels. The best has the index `len() - 1`.
    pub(crate) fn len(&self) -> usize {
        self.rungs.len()
    }

    pub(crate) fn rank_at(&self, index: usize) -> i64 {
        self.rungs[index].rank
    }

    pub(crate) fn level_at(&self, index: usize) -> Slot {
        self.rungs[index].level
    }

    /// Index of the best level below `end` that has anything to give.
    pub(crate) fn best_available(&self, arena: &Arena, end: usize) -> Option<usize> {
        (0..end).rev().find(|&index| arena.levels[self.rungs[index].level].available > 0)
    }

    fn search(&self, rank: i64) -> Result<usize, usize> {
        let near = self.rungs.len().saturating_sub(NEAR);
        for index in (near..self.rungs.len()).rev() {
            match self.rungs[index].rank {
                found if found == rank => return Ok(index),
                found if found < rank => return Err(index + 1),
                _ => {}
            }
        }
        self.rungs[..near].binary_search_by_key(&rank, |rung| rung.rank)
    }

    /// Puts `order` behind all others at its price. `None`, and nothing changed, when there is no room.
    pub(crate) fn push_back(&mut self, arena: &mut Arena, mut order: Order) -> Option<Slot> {
        let rank = self.rank(order.price);
        let level = match self.search(rank) {
            Ok(index) => self.rungs[index].level,
            Err(index) => {
                let level = arena.levels.insert(PriceLevel {
                    price: order.price,
                    head: Slot::NONE,
                    tail: Slot::NONE,
                    available: 0,
                    own: 0,
                })?;
                self.rungs.insert(index, Rung { rank, level });
                level
            }
        };
        let tail = arena.levels[level].tail;
        (order.level, order.prev, order.next) = (level, tail, Slot::NONE);
        let Some(slot) = arena.orders.insert(order) else {
            self.remove_if_empty(arena, level);
            return None;
        };
        if tail.is_some() {
            arena.orders[tail].next = slot;
        } else {
            arena.levels[level].head = slot;
        }
        let entry = &mut arena.levels[level];
        entry.tail = slot;
        entry.available += i128::from(order.available().0);
        if order.is_own() {
            entry.own += 1;
            self.own += 1;
        }
        Some(slot)
    }

    /// Makes a level of a queue that is there already, linked from `head` on. None: it is broken, there is such a level, or
    /// no room; else the number of its orders.
    pub(crate) fn restore_level(&mut self, arena: &mut Arena, head: Slot) -> Option<usize> {
        let price = arena.orders[head].price;
        let rank = self.rank(price);
        let index = self.search(rank).err()?;
        let level = arena.levels.insert(PriceLevel { price, head, tail: head, available: 0, own: 0 })?;
        self.rungs.insert(index, Rung { rank, level });
        let (mut slot, mut count, mut previous) = (head, 0, Slot::NONE);
        while slot.is_some() {
            let order = arena.orders.get_mut(slot)?;
            if (order.price, order.side, order.prev) != (price, self.side, previous) || order.level.is_some()
            {
                return None;
            }
            order.level = level;
            let order = *order;
            let entry = &mut arena.levels[level];
            entry.tail = slot;
            entry.available += i128::from(order.available().0);
            entry.own += u32::from(order.is_own());
            self.own += u32::from(order.is_own());
            (previous, slot, count) = (slot, order.next, count + 1);
        }
        Some(count)
    }

    /// Takes an order out of its queue, and its level out of the ladder if that was the last one.
    pub(crate) fn remove(&mut self, arena: &mut Arena, slot: Slot) -> Order {
        let order = arena.orders.remove(slot);
        if order.prev.is_some() {
            arena.orders[order.prev].next = order.next;
        } else {
            arena.levels[order.level].head = order.next;
        }
        if order.next.is_some() {
            arena.orders[order.next].prev = order.prev;
        } else {
            arena.levels[order.level].tail = order.prev;
        }
        let level = &mut arena.levels[order.level];
        level.available -= i128::from(order.available().0);
        if order.is_own() {
            level.own -= 1;
            self.own -= 1;
        }
        self.remove_if_empty(arena, order.level);
        order
    }

    fn remove_if_empty(&mut self, arena: &mut Arena, slot: Slot) {
        let level = arena.levels[slot];
        if level.head.is_some() {
            return;
        }
        if let Ok(index) = self.search(self.rank(level.price)) {
            self.rungs.remove(index);
        }
        arena.levels.remove(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::order::Kind;
    use crate::engine::slab::Slab;
    use wire::{InstrumentId, Quantity};

    #[test]
    fn levels_stay_sorted_on_both_sides_and_go_when_empty() {
        for side in [Side::Buy, Side::Sell] {
            let mut arena =
                Arena { orders: Slab::with_capacity(0, false), levels: Slab::with_capacity(0, false) };
            let mut ladder = Ladder::new(side);
            let prices: Vec<i64> =
                (0..40).map(|n| n * 7919 % 40 - 20).chain([i64::MAX, i64::MIN + 1]).collect();
            let slots: Vec<Slot> = prices
                .iter()
                .map(|&price| {
                    let order =
                        Order::new(Kind::Market, 1, InstrumentId(1), side, Price(price), Quantity(i64::MAX));
                    ladder.push_back(&mut arena, order).unwrap();
                    ladder.push_back(&mut arena, order).unwrap()
                })
                .collect();
            assert_eq!(ladder.len(), prices.len());
            assert!((1..ladder.len()).all(|index| ladder.rank_at(index - 1) < ladder.rank_at(index)));
            let best = arena.levels[ladder.level_at(ladder.len() - 1)];
            assert_eq!(best.price.0, if side == Side::Buy { i64::MAX } else { i64::MIN + 1 });
            assert_eq!(best.available, 2 * i128::from(i64::MAX));
            for slot in slots {
                let first = arena.levels[arena.orders[slot].level].head;
                ladder.remove(&mut arena, first);
                ladder.remove(&mut arena, slot);
            }
            assert_eq!((ladder.len(), arena.orders.len(), arena.levels.len()), (0, 0, 0));
        }
    }
}
