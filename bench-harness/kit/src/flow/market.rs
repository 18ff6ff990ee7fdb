//! The generator's own book: who lives, and where.
//!
//! Written for being obvious and for picking orders at random, not for speed; it shares nothing with the books that are
//! measured, so that what it expects of them is a second opinion.

use std::collections::{BTreeMap, VecDeque};

use super::operation::{Add, Side, Take};
use crate::book::Tally;

/// A living order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Living {
    pub(super) add: Add,
    open: u32,
    /// Where it stands among the living.
    index: usize,
}

/// A queue at one tick. Cancelled orders stay in it until they come to its front.
#[derive(Debug, Default)]
struct Queue {
    orders: VecDeque<(u32, u64)>,
    living: usize,
}

/// The book.
#[derive(Debug, Default)]
pub(super) struct Market {
    /// By place.
    orders: Vec<Option<Living>>,
    /// Places that are free, the one freed last at the end.
    free: Vec<u32>,
    /// Places of the living, in no order.
    living: Vec<u32>,
    /// By tick: of bids and of asks.
    queues: [BTreeMap<u32, Queue>; 2],
    pub(super) tally: Tally,
}

impl Market {
    /// How many orders live.
    pub(super) fn len(&self) -> usize {
        self.living.len()
    }

    /// The living order number `index`, in no order that means anything.
    pub(super) fn nth(&self, index: usize) -> Option<Living> {
        self.living.get(index).and_then(|&place| self.orders[place as usize])
    }

    /// The order, if it lives.
    pub(super) fn get(&self, place: u32, id: u64) -> Option<Living> {
        self.orders.get(place as usize).copied().flatten().filter(|living| living.add.id == id)
    }

    /// The place that the next order gets.
    pub(super) fn next_place(&self) -> u32 {
        self.free.last().copied().unwrap_or(self.orders.len() as u32)
    }

    /// The best tick of a side.
    pub(super) fn best(&self, side: Side) -> Option<u32> {
        let queues = &self.queues[side as usize];
        match side {
            Side::Buy => queues.last_key_value(),
            Side::Sell => queues.first_key_value(),
        }
        .map(|(&tick, _)| tick)
    }

    /// Levels of both sides that have orders.
    pub(super) fn levels(&self) -> usize {
        self.queues.iter().map(BTreeMap::len).sum()
    }

    /// How much rests on the best `ticks` ticks of a side, of at most `most` orders.
    pub(super) fn resting(&self, side: Side, ticks: u32, most: usize) -> u32 {
        let Some(best) = self.best(side) else { return 0 };
        let queues = match side {
            Side::Buy => self.queues[0].range(best.saturating_sub(ticks - 1)..=best),
            Side::Sell => self.queues[1].range(best..best + ticks),
        };
        let mut queues: Vec<&Queue> = queues.map(|(_, queue)| queue).collect();
        if side == Side::Buy {
            queues.reverse();
        }
        let orders = queues.into_iter().flat_map(|queue| &queue.orders);
        orders.filter_map(|&(place, id)| self.get(place, id)).take(most).map(|living| living.open).sum()
    }

    /// Carries out an add; its place is [`Market::next_place`].
    pub(super) fn add(&mut self, add: Add) {
        // Taken before the trades, which free places of others.
        if self.free.pop().is_none() {
            self.orders.push(None);
        }
        let open = self.trade(add.side, Some(add.tick), add.quantity);
        if open == 0 {
            return self.free.push(add.place);
        }
        self.orders[add.place as usize] = Some(Living { add, open, index: self.living.len() });
        self.living.push(add.place);
        let queue = self.queues[add.side as usize].entry(add.tick).or_default();
        queue.orders.push_back((add.place, add.id));
        queue.living += 1;
    }

    /// Carries out a take.
    pub(super) fn take(&mut self, take: Take) {
        self.trade(take.side, None, take.quantity);
    }

    /// Carries out the cancel of a living order.
    pub(super) fn cancel(&mut self, living: Living) {
        self.tally.cancelled += 1;
        self.end(living);
    }

    /// What is left after trading with the other side, up to `limit`.
    fn trade(&mut self, side: Side, limit: Option<u32>, mut quantity: u32) -> u32 {
        let against = side.other();
        while quantity > 0
            && let Some(tick) = self.best(against)
            && limit.is_none_or(|limit| if side == Side::Buy { tick <= limit } else { tick >= limit })
        {
            let Some(first) = self.first(against, tick) else { break };
            let traded = quantity.min(first.open);
            quantity -= traded;
            self.tally.trade(tick, traded);
            if traded == first.open {
                self.end(first);
            } else if let Some(order) = &mut self.orders[first.add.place as usize] {
                order.open -= traded;
            }
        }
        quantity
    }

    /// The oldest living order at a tick.
    fn first(&mut self, side: Side, tick: u32) -> Option<Living> {
        loop {
            let &(place, id) = self.queues[side as usize].get(&tick)?.orders.front()?;
            if let Some(living) = self.get(place, id) {
                return Some(living);
            }
            self.queues[side as usize].get_mut(&tick)?.orders.pop_front();
        }
    }

    fn end(&mut self, ended: Living) {
        let place = ended.add.place;
        self.orders[place as usize] = None;
        self.free.push(place);
        self.living.swap_remove(ended.index);
        if let Some(&moved) = self.living.get(ended.index)
            && let Some(order) = &mut self.orders[moved as usize]
        {
            order.index = ended.index;
        }
        let queues = &mut self.queues[ended.add.side as usize];
        if let Some(queue) = queues.get_mut(&ended.add.tick) {
            queue.living -= 1;
            if queue.living == 0 {
                queues.remove(&ended.add.tick);
            }
        }
    }
}
