//! Orders that have ended here. The market may still speak of them: a trade that was late, a trade that is cancelled, an order that works on.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use wire::{Nanos, OrderId};

use super::order::Order;

/// So many are remembered. A report of an older one is of an order that is not known: what it traded is not booked.
const REMEMBERED: usize = 65_536;
/// In nanoseconds. Markets correct and cancel trades of the day.
const DAY: u64 = 24 * 3_600 * 1_000_000_000;

#[derive(Clone, Debug, Default)]
pub(super) struct Ended {
    orders: BTreeMap<OrderId, Order>,
    /// In the order of their ends, with the time of each by the market's clock.
    row: VecDeque<(OrderId, Nanos)>,
    doubtful: BTreeSet<OrderId>,
}

impl Ended {
    /// One more, which ended at this time; zero: not known. The names of the one that is forgotten for it.
    pub(super) fn add(&mut self, mut order: Order, time: Nanos) -> Vec<String> {
        order.changes.clear();
        order.end = None;
        let order_id = order.request.order_id;
        self.orders.insert(order_id, order);
        self.row.push_back((order_id, time));
        let Some((oldest, _)) = (self.row.len() > REMEMBERED).then(|| self.row.pop_front()).flatten() else {
            return Vec::new();
        };
        self.doubtful.remove(&oldest);
        self.orders.remove(&oldest).map_or(Vec::new(), |order| order.names)
    }

    pub(super) fn get(&self, order_id: OrderId) -> Option<&Order> {
        self.orders.get(&order_id)
    }

    pub(super) fn get_mut(&mut self, order_id: OrderId) -> Option<&mut Order> {
        self.orders.get_mut(&order_id)
    }

    /// Whether the market may still work it.
    pub(super) fn doubt(&mut self, order_id: OrderId, is_doubtful: bool) {
        if is_doubtful {
            self.doubtful.insert(order_id);
        } else {
            self.doubtful.remove(&order_id);
        }
    }

    /// Those that the market had accepted and that have ended within the day before this time, the last first.
    pub(super) fn of_the_day(&self, time: Nanos) -> Vec<OrderId> {
        let is_of_the_day = |ended: Nanos| ended == Nanos(0) || ended.0.saturating_add(DAY) >= time.0;
        let its = self.row.iter().rev().filter(|(_, ended)| is_of_the_day(*ended)).map(|(id, _)| *id);
        its.filter(|id| self.orders.get(id).is_some_and(|order| order.is_accepted)).collect()
    }

    /// Those that the market may still work.
    pub(super) fn doubtful(&self) -> Vec<OrderId> {
        self.doubtful.iter().copied().collect()
    }
}
