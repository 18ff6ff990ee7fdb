//! A market for property tests: does with each request what a die says, in the order in which they came.

use std::collections::{BTreeMap, VecDeque};

use wire::*;

use crate::support::{self, fill, update};

pub(crate) struct Market {
    pub(crate) queue: VecDeque<Request>,
    /// Orders in the book, with what has traded of each.
    pub(crate) resting: BTreeMap<OrderId, (NewOrder, i64)>,
    /// False in a phase in which cancels are refused.
    pub(crate) takes_cancels: bool,
}

impl Default for Market {
    fn default() -> Market {
        Market { queue: VecDeque::new(), resting: BTreeMap::new(), takes_cancels: true }
    }
}

impl Market {
    /// Takes the next request from the queue.
    pub(crate) fn step(&mut self, die: u8) -> Vec<Execution> {
        match self.queue.pop_front() {
            None => Vec::new(),
            Some(Request::New(order)) => self.on_new(order, die),
            Some(Request::Cancel(cancel))
                if !self.takes_cancels && self.resting.contains_key(&cancel.order_id) =>
            {
                let (order, filled) = &self.resting[&cancel.order_id];
                let refused = update(order, OrderStatus::CancelRejected, *filled);
                vec![Execution::Update(OrderUpdate { reason: Reason::MarketClosed, ..refused })]
            }
            Some(Request::Cancel(cancel)) => match self.resting.remove(&cancel.order_id) {
                Some((order, filled)) => {
                    let ended = update(&order, OrderStatus::Cancelled, filled);
                    vec![Execution::Update(OrderUpdate { reason: Reason::Requested, ..ended })]
                }
                None => vec![refusal(cancel.order_id, cancel.instrument, OrderStatus::CancelRejected)],
            },
            Some(Request::CancelAll(cancel)) => self.on_cancel_all(&cancel),
            Some(Request::Replace(replace)) => match self.resting.get_mut(&replace.order_id) {
                Some((order, filled)) if !die.is_multiple_of(3) && replace.quantity.0 > *filled => {
                    order.quantity = replace.quantity;
                    order.price = replace.price;
                    vec![Execution::Update(update(order, OrderStatus::Replaced, *filled))]
                }
                _ => vec![refusal(replace.order_id, replace.instrument, OrderStatus::ReplaceRejected)],
            },
        }
    }

    fn on_cancel_all(&mut self, cancel: &CancelAll) -> Vec<Execution> {
        let taken: Vec<OrderId> = self
            .resting
            .values()
            .filter(|(order, _)| {
                self.takes_cancels
                    && order.order_id.strategy() == cancel.order_id.strategy()
                    && cancel.of_instrument().is_none_or(|instrument| instrument == order.instrument)
                    && cancel.of_side().is_none_or(|side| side == order.side)
            })
            .map(|(order, _)| order.order_id)
            .collect();
        let quantity = Quantity(taken.len() as i64);
        let mut executions: Vec<Execution> = Vec::new();
        for (order, filled) in taken.iter().filter_map(|id| self.resting.remove(id)) {
            let ended = update(&order, OrderStatus::Cancelled, filled);
            executions.push(Execution::Update(OrderUpdate { reason: Reason::Requested, ..ended }));
        }
        let (status, reason) = (OrderStatus::MassCancelled, Reason::Requested);
        let about = OrderUpdate::about(cancel.order_id, cancel.instrument, status, reason);
        executions.push(Execution::Update(OrderUpdate { quantity, ..about }));
        executions
    }

    /// Self-trade prevention takes up to `quantity` of a resting order away, but not all of it.
    pub(crate) fn reduce(&mut self, id: OrderId, quantity: i64) -> Vec<Execution> {
        let Some((order, filled)) = self.resting.get_mut(&id) else { return Vec::new() };
        let quantity = quantity.min(order.quantity.0 - *filled - 1);
        if quantity == 0 {
            return Vec::new();
        }
        order.quantity.0 -= quantity;
        let reduced = update(order, OrderStatus::Reduced, *filled);
        vec![Execution::Update(OrderUpdate { reason: Reason::SelfTrade, ..reduced })]
    }

    fn on_new(&mut self, order: NewOrder, die: u8) -> Vec<Execution> {
        let reply = |status, reason| Execution::Update(OrderUpdate { reason, ..update(&order, status, 0) });
        match die % 8 {
            0 => return vec![reply(OrderStatus::Rejected, Reason::WouldTrade)],
            1 => return vec![reply(OrderStatus::Cancelled, Reason::NotFillable)],
            _ => {}
        }
        let mut executions = vec![reply(OrderStatus::Accepted, Reason::None)];
        self.resting.insert(order.order_id, (order, 0));
        match die % 8 {
            2 => executions.extend(self.trade(order.order_id, i64::MAX)),
            3 => executions.extend(self.trade(order.order_id, 1)),
            _ => {}
        }
        executions
    }

    /// Trades up to `quantity` of a resting order.
    pub(crate) fn trade(&mut self, id: OrderId, quantity: i64) -> Vec<Execution> {
        let Some((order, filled)) = self.resting.get_mut(&id) else { return Vec::new() };
        let quantity = quantity.min(order.quantity.0 - *filled);
        *filled += quantity;
        let (order, filled) = (*order, *filled);
        let remaining = order.quantity.0 - filled;
        let status = if remaining == 0 { OrderStatus::Filled } else { OrderStatus::PartiallyFilled };
        if remaining == 0 {
            self.resting.remove(&id);
        }
        vec![
            Execution::Fill(fill(&order, quantity, remaining)),
            Execution::Update(update(&order, status, filled)),
        ]
    }

    /// Orders that have not ended: in the book, or on their way to it. With what has traded.
    pub(crate) fn live(&self) -> Vec<(NewOrder, i64)> {
        let on_their_way = self.queue.iter().filter_map(|request| match request {
            Request::New(order) => Some((*order, 0)),
            _ => None,
        });
        self.resting.values().copied().chain(on_their_way).collect()
    }

    /// The largest total that an order has, or may get by a replace in the queue; and how many such there are.
    pub(crate) fn largest_total(&self, order: &NewOrder) -> (i64, usize) {
        let totals: Vec<i64> = self
            .queue
            .iter()
            .filter_map(|request| match request {
                Request::Replace(replace) if replace.order_id == order.order_id => Some(replace.quantity.0),
                _ => None,
            })
            .collect();
        (totals.iter().copied().fold(order.quantity.0, i64::max), totals.len())
    }
}

fn refusal(order_id: OrderId, instrument: InstrumentId, status: OrderStatus) -> Execution {
    let blank = NewOrder { order_id, instrument, ..support::order(0, Side::Buy, 0) };
    Execution::Update(OrderUpdate { reason: Reason::UnknownOrder, ..update(&blank, status, 0) })
}
