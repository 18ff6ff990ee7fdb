//! Orders that have not ended.

use std::collections::VecDeque;

use wire::{Fill, InstrumentId, Nanos, OrderId, OrderStatus, OrderUpdate, Price, Quantity, Reason, Side};

/// An order from its sending to its end, as of the reports so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkingOrder {
    /// Its id.
    pub id: OrderId,
    /// Its instrument.
    pub instrument: InstrumentId,
    /// Buy or sell.
    pub side: Side,
    /// Limit price: the confirmed one, or as sent; [`Price::NONE`] for a market order.
    pub price: Price,
    /// Total quantity: the confirmed one, or as sent.
    pub quantity: Quantity,
    /// How much of it has traded.
    pub filled: Quantity,
    /// When it was sent, on the strategy's clock; when it was taken over, if a predecessor sent it.
    pub sent: Nanos,
    /// True once the market has it.
    pub accepted: bool,
    /// True while a cancel is on its way.
    pub cancelling: bool,
    /// Replaces on their way.
    pub replacing: u32,
}

impl WorkingOrder {
    /// How much of it may still trade.
    pub fn remaining(&self) -> Quantity {
        Quantity((self.quantity - self.filled).0.max(0))
    }

    /// True while a cancel or a replace is on its way.
    pub fn is_changing(&self) -> bool {
        self.cancelling || self.replacing > 0
    }

    fn adopted(update: &OrderUpdate, now: Nanos) -> WorkingOrder {
        WorkingOrder {
            id: update.order_id,
            instrument: update.instrument,
            side: update.side,
            price: update.price,
            quantity: update.quantity,
            filled: update.filled,
            sent: now,
            accepted: true,
            cancelling: false,
            replacing: 0,
        }
    }
}

/// Room for this many orders before the first allocation.
const RESERVED: usize = 256;

/// By ascending id. Ids grow, so that a new one goes to the end, and old ones leave mostly from the front.
#[derive(Clone, Debug)]
pub(crate) struct WorkingOrders(VecDeque<WorkingOrder>);

impl WorkingOrders {
    pub(crate) fn new() -> WorkingOrders {
        WorkingOrders(VecDeque::with_capacity(RESERVED))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &WorkingOrder> {
        self.0.iter()
    }

    pub(crate) fn get(&self, id: OrderId) -> Option<&WorkingOrder> {
        self.find(id).ok().map(|index| &self.0[index])
    }

    pub(crate) fn get_mut(&mut self, id: OrderId) -> Option<&mut WorkingOrder> {
        self.find(id).ok().map(|index| &mut self.0[index])
    }

    /// Where the order is, or where it would go.
    fn find(&self, id: OrderId) -> Result<usize, usize> {
        self.0.binary_search_by_key(&id, |order| order.id)
    }

    pub(crate) fn insert(&mut self, order: WorkingOrder) {
        match self.find(order.id) {
            Ok(index) => self.0[index] = order,
            Err(index) => self.0.insert(index, order),
        }
    }

    fn remove(&mut self, id: OrderId) {
        if let Ok(index) = self.find(id) {
            self.0.remove(index);
        }
    }

    pub(crate) fn on_fill(&mut self, fill: &Fill) {
        if let Some(order) = self.get_mut(fill.order_id) {
            order.accepted = true;
            order.filled += fill.quantity;
        }
    }

    /// `now` is taken as the sending time of an order that is not known yet: a predecessor's.
    pub(crate) fn on_update(&mut self, update: &OrderUpdate, now: Nanos) {
        match update.status {
            OrderStatus::Filled | OrderStatus::Cancelled | OrderStatus::Rejected => {
                self.remove(update.order_id);
            }
            OrderStatus::CancelRejected | OrderStatus::ReplaceRejected => self.on_refusal(update),
            // About a request, and no order.
            OrderStatus::MassCancelled => {}
            OrderStatus::Accepted
            | OrderStatus::PartiallyFilled
            | OrderStatus::Replaced
            | OrderStatus::Reduced
            | OrderStatus::Triggered => {
                let replaced = u32::from(update.status == OrderStatus::Replaced);
                match self.get_mut(update.order_id) {
                    Some(order) => {
                        order.accepted = true;
                        order.price = update.price;
                        order.quantity = update.quantity;
                        order.filled = update.filled;
                        order.replacing = order.replacing.saturating_sub(replaced);
                    }
                    None => self.insert(WorkingOrder::adopted(update, now)),
                }
            }
        }
    }

    fn on_refusal(&mut self, update: &OrderUpdate) {
        if update.reason == Reason::UnknownOrder {
            // The order ended before this refusal, or is unknown in the market: no end will follow.
            return self.remove(update.order_id);
        }
        if let Some(order) = self.get_mut(update.order_id) {
            match update.status {
                OrderStatus::CancelRejected => order.cancelling = false,
                _ => order.replacing = order.replacing.saturating_sub(1),
            }
        }
    }
}
