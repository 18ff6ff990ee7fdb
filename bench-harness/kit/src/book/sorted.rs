//! A sorted vector of levels.

use std::collections::HashMap;

use super::queue::Queue;
use super::{Book, Tally};
use crate::flow::{Add, Cancel, Side, Take};

/// One side: levels, the best at the end, where most changes happen.
#[derive(Clone, Debug, Default)]
struct Levels(Vec<(u32, Queue)>);

/// Levels in sorted vectors, a queue each, and a hash map from id to level.
#[derive(Clone, Debug, Default)]
pub struct SortedBook {
    bids: Levels,
    asks: Levels,
    index: HashMap<u64, (Side, u32)>,
}

/// Higher is better on either side.
fn rank(side: Side, tick: u32) -> u32 {
    match side {
        Side::Buy => tick,
        Side::Sell => !tick,
    }
}

impl SortedBook {
    fn levels(&mut self, side: Side) -> &mut Levels {
        match side {
            Side::Buy => &mut self.bids,
            Side::Sell => &mut self.asks,
        }
    }

    /// What is left after trading with the other side up to `limit`.
    fn trade(&mut self, side: Side, limit: Option<u32>, mut quantity: u32, tally: &mut Tally) -> u32 {
        let against = side.other();
        let (levels, index) = match against {
            Side::Buy => (&mut self.bids.0, &mut self.index),
            Side::Sell => (&mut self.asks.0, &mut self.index),
        };
        while quantity > 0
            && let Some((tick, queue)) = levels.last_mut()
            && limit.is_none_or(|limit| rank(against, *tick) >= rank(against, limit))
        {
            quantity = queue.trade(*tick, quantity, tally, |id| {
                index.remove(&id);
            });
            if queue.is_empty() {
                levels.pop();
            }
        }
        quantity
    }
}

impl Book for SortedBook {
    fn add(&mut self, add: &Add, tally: &mut Tally) {
        let quantity = self.trade(add.side, Some(add.tick), add.quantity, tally);
        if quantity == 0 {
            return;
        }
        self.index.insert(add.id, (add.side, add.tick));
        let levels = &mut self.levels(add.side).0;
        let wanted = rank(add.side, add.tick);
        let at = levels.binary_search_by_key(&wanted, |&(tick, _)| rank(add.side, tick));
        let at = at.unwrap_or_else(|at| {
            levels.insert(at, (add.tick, Queue::default()));
            at
        });
        levels[at].1.push(add.id, quantity);
    }

    fn cancel(&mut self, cancel: &Cancel, tally: &mut Tally) {
        let Some((side, tick)) = self.index.remove(&cancel.id) else { return };
        tally.cancelled += 1;
        let levels = &mut self.levels(side).0;
        let Ok(at) = levels.binary_search_by_key(&rank(side, tick), |&(tick, _)| rank(side, tick)) else {
            return;
        };
        levels[at].1.remove(cancel.id);
        if levels[at].1.is_empty() {
            levels.remove(at);
        }
    }

    fn take(&mut self, take: &Take, tally: &mut Tally) {
        self.trade(take.side, None, take.quantity, tally);
    }
}
