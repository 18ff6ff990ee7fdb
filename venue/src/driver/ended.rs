//! Orders that have ended here. The market may still speak of them: a trade that was late, a trade that is cancelled, an order that works on.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use wire::OrderId;

use super::order::Order;

/// So many are remembered. A report of an older one is of an order that is not known: what it traded is not booked.
const REMEMBERED: usize = 65_536;

#[derive(Clone, Debug, Default)]
pub(super) struct Ended {
    orders: BTreeMap<OrderId, Order>,
    /// By the time of their end.
    row: VecDeque<OrderId>,
    doubtful: BTreeSet<OrderId>,
}

impl Ended {
    /// One more. The names of the one that is forgotten for it.
    pub(super) fn add(&mut self, mut order: Order) -> Vec<String> {
        order.changes.clear();
        order.end = None;
        let order_id = order.request.order_id;
        self.orders.insert(order_id, order);
        self.row.push_back(order_id);
        let Some(oldest) = (self.row.len() > REMEMBERED).then(|| self.row.pop_front()).flatten() else {
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

    /// Those that the market may still work.
    pub(super) fn doubtful(&self) -> Vec<OrderId> {
        self.doubtful.iter().copied().collect()
    }
}
