//! The strategies' working orders, by id and by strategy.

use wire::{OrderId, StrategyId};

use super::arena::Arena;
use super::index::{IdMap, UsedIds};
use super::slab::Slot;

#[derive(Clone, Copy, Debug)]
struct Peers {
    oldest: Slot,
    newest: Slot,
}

impl Peers {
    const EMPTY: Peers = Peers { oldest: Slot::NONE, newest: Slot::NONE };
}

/// All own orders that rest. Each strategy's are linked through their records, by age.
#[derive(Debug, Default)]
pub(crate) struct OwnOrders {
    by_id: IdMap<Slot>,
    by_strategy: Vec<Peers>,
    /// Ids of new orders, the rejected ones too.
    pub(crate) used: UsedIds,
}

impl OwnOrders {
    pub(crate) fn reserve(&mut self, orders: usize) {
        self.by_id.reserve(orders);
    }

    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(crate) fn find(&self, id: OrderId) -> Option<Slot> {
        self.by_id.get(&id.0).copied()
    }

    /// The strategy's order that has rested longest, or [`Slot::NONE`].
    pub(crate) fn oldest(&self, strategy: StrategyId) -> Slot {
        self.by_strategy.get(usize::from(strategy.0)).map_or(Slot::NONE, |peers| peers.oldest)
    }

    /// Adds an own order that was just put into a queue.
    pub(crate) fn link(&mut self, arena: &mut Arena, slot: Slot) {
        let id = OrderId(arena.orders[slot].id);
        let strategy = usize::from(id.strategy().0);
        if self.by_strategy.len() <= strategy {
            self.by_strategy.resize(strategy + 1, Peers::EMPTY);
        }
        let peers = &mut self.by_strategy[strategy];
        let newest = std::mem::replace(&mut peers.newest, slot);
        if newest.is_some() {
            arena.orders[newest].peer_next = slot;
        } else {
            peers.oldest = slot;
        }
        let order = &mut arena.orders[slot];
        (order.peer_prev, order.peer_next) = (newest, Slot::NONE);
        self.by_id.insert(id.0, slot);
    }

    /// Takes up a strategy's list that is there already, linked from its oldest order on. None: it is broken; else the number
    /// of its orders.
    pub(crate) fn restore_list(&mut self, arena: &Arena, oldest: Slot) -> Option<usize> {
        let strategy = OrderId(arena.orders[oldest].id).strategy();
        let seat = usize::from(strategy.0);
        if self.by_strategy.len() <= seat {
            self.by_strategy.resize(seat + 1, Peers::EMPTY);
        }
        if self.by_strategy[seat].oldest.is_some() {
            return None;
        }
        let (mut slot, mut count, mut previous) = (oldest, 0, Slot::NONE);
        while slot.is_some() {
            let order = arena.orders.get(slot).filter(|order| order.is_own())?;
            if order.peer_prev != previous || OrderId(order.id).strategy() != strategy {
                return None;
            }
            self.by_id.insert(order.id, slot);
            (previous, slot, count) = (slot, order.peer_next, count + 1);
        }
        self.by_strategy[seat] = Peers { oldest, newest: previous };
        Some(count)
    }

    /// Removes an own order that is about to leave its queue.
    pub(crate) fn unlink(&mut self, arena: &mut Arena, slot: Slot) {
        let order = arena.orders[slot];
        let id = OrderId(order.id);
        let peers = &mut self.by_strategy[usize::from(id.strategy().0)];
        if order.peer_prev.is_some() {
            arena.orders[order.peer_prev].peer_next = order.peer_next;
        } else {
            peers.oldest = order.peer_next;
        }
        if order.peer_next.is_some() {
            arena.orders[order.peer_next].peer_prev = order.peer_prev;
        } else {
            peers.newest = order.peer_prev;
        }
        self.by_id.remove(&id.0);
    }
}
