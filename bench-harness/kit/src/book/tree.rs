//! A `BTreeMap` of levels.

use std::collections::{BTreeMap, HashMap};

use super::queue::Queue;
use super::{Book, Tally};
use crate::flow::{Add, Cancel, Side, Take};

/// Levels in trees, a queue each, and a hash map from id to level.
#[derive(Clone, Debug, Default)]
pub struct TreeBook {
    bids: BTreeMap<u32, Queue>,
    asks: BTreeMap<u32, Queue>,
    index: HashMap<u64, (Side, u32)>,
}

impl TreeBook {
    fn levels(&mut self, side: Side) -> &mut BTreeMap<u32, Queue> {
        match side {
            Side::Buy => &mut self.bids,
            Side::Sell => &mut self.asks,
        }
    }

    /// What is left after trading with the other side up to `limit`.
    fn trade(&mut self, side: Side, limit: Option<u32>, mut quantity: u32, tally: &mut Tally) -> u32 {
        let TreeBook { bids, asks, index } = self;
        while quantity > 0 {
            let best = match side {
                Side::Buy => asks.first_entry().filter(|best| limit.is_none_or(|limit| *best.key() <= limit)),
                Side::Sell => bids.last_entry().filter(|best| limit.is_none_or(|limit| *best.key() >= limit)),
            };
            let Some(mut best) = best else { break };
            let tick = *best.key();
            quantity = best.get_mut().trade(tick, quantity, tally, |id| {
                index.remove(&id);
            });
            if best.get().is_empty() {
                best.remove();
            }
        }
        quantity
    }
}

impl Book for TreeBook {
    fn add(&mut self, add: &Add, tally: &mut Tally) {
        let quantity = self.trade(add.side, Some(add.tick), add.quantity, tally);
        if quantity > 0 {
            self.index.insert(add.id, (add.side, add.tick));
            self.levels(add.side).entry(add.tick).or_default().push(add.id, quantity);
        }
    }

    fn cancel(&mut self, cancel: &Cancel, tally: &mut Tally) {
        let Some((side, tick)) = self.index.remove(&cancel.id) else { return };
        tally.cancelled += 1;
        let levels = self.levels(side);
        if let Some(queue) = levels.get_mut(&tick) {
            queue.remove(cancel.id);
            if queue.is_empty() {
                levels.remove(&tick);
            }
        }
    }

    fn take(&mut self, take: &Take, tally: &mut Tally) {
        self.trade(take.side, None, take.quantity, tally);
    }
}
