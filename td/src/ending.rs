//! Orders that must end: what executions mean for the cancels that td owes, and which of these are sent again.

use wire::{CancelOrder, InstrumentId, OrderId, OrderStatus, OrderUpdate, Reason};

use crate::gateway::{Gateway, find};

impl Gateway {
    /// Orders that must end and have not, by ascending id.
    pub fn must_end(&self) -> impl Iterator<Item = OrderId> + '_ {
        self.owed.orders()
    }

    /// True when the market has refused cancels that td owes: [`Gateway::owed_cancels`] is to be called.
    #[inline]
    pub fn owes_cancels(&self) -> bool {
        self.owed.is_waiting()
    }

    /// The instruments in which td owes cancels that the market has refused.
    pub fn owing_instruments(&self) -> impl Iterator<Item = InstrumentId> + '_ {
        self.owed.instruments()
    }

    /// How many orders must end and have not.
    #[inline]
    pub fn still_to_end(&self) -> usize {
        self.owed.len()
    }

    /// An order that works must end, since a predecessor has cancelled it by itself. Its cancel, if there is none on its way.
    pub fn end_order(&mut self, order: OrderId) -> Option<CancelOrder> {
        let Gateway { books, owed, gate, .. } = self;
        let desk = gate.as_ref().map(|gate| &gate.follower().desk);
        let why = match desk.and_then(|desk| desk.why_recalled(order)) {
            Some(why) => why,
            None if desk.is_some_and(|desk| desk.has_to_end(order)) => Reason::Killed,
            None => Reason::StrategyGone,
        };
        find(books, order.strategy())?.end_order(order, why, owed)
    }

    /// A cancel of an order that must end, although one may be on its way: nobody knows whether that one was answered.
    pub fn cancel_again(&mut self, order: OrderId) -> Option<CancelOrder> {
        let found = find(&mut self.books, order.strategy())?.orders.get_mut(order)?;
        found.ends?;
        found.cancel_sent();
        self.owed.sent(order, found.instrument);
        Some(CancelOrder::new(order, found.instrument))
    }

    /// The market of an instrument does something else from now on: a cancel is tried at once.
    pub fn market_changed(&mut self, instrument: InstrumentId) {
        self.owed.market_changed(instrument);
    }

    /// The cancels that are sent again now. `now` and `pause` are in the same unit: [`crate::back_off`] is in nanoseconds.
    pub fn owed_cancels(&mut self, now: u64, pause: impl Fn(u32) -> u64) -> Vec<CancelOrder> {
        let Gateway { books, owed, .. } = self;
        let cancel = |id: OrderId| {
            let order = find(books, id.strategy())?.orders.get_mut(id)?;
            order.cancel_sent();
            Some(CancelOrder::new(id, order.instrument))
        };
        owed.due(now, pause).into_iter().filter_map(cancel).collect()
    }

    /// When the next cancel is due, in the unit of [`Gateway::owed_cancels`].
    pub fn next_owed(&self) -> Option<u64> {
        self.owed.next()
    }

    /// What an update means for the cancels that are owed; the order has it already. Called only while an order must end.
    #[cold]
    pub(crate) fn follow_owed(&mut self, update: &OrderUpdate) {
        let Gateway { books, owed, .. } = self;
        let order = find(books, update.order_id.strategy()).and_then(|book| book.orders.get(update.order_id));
        match order {
            // It has ended, or the update is about a mass cancel.
            None => owed.ended(update.order_id),
            Some(order) if order.ends.is_some() => match update.status {
                // Perhaps its owner's, and td's is still on its way: one more does no harm.
                OrderStatus::CancelRejected => owed.refused(update.order_id, order.instrument),
                OrderStatus::Accepted
                | OrderStatus::PartiallyFilled
                | OrderStatus::Replaced
                | OrderStatus::ReplaceRejected
                | OrderStatus::Reduced
                | OrderStatus::Triggered => owed.changed(update.order_id, order.instrument),
                // Final, and yet the order works: a second one with its id was rejected.
                OrderStatus::Filled | OrderStatus::Cancelled | OrderStatus::Rejected => {}
                OrderStatus::MassCancelled => {}
            },
            Some(_) => {}
        }
        if (update.status, update.reason) == (OrderStatus::Cancelled, Reason::Requested) {
            owed.taken(update.instrument);
        }
    }
}
