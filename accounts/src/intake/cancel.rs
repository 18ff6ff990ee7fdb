//! Cancels: of one order, and of many.

use wire::{AccountId, CancelOrder, Nanos, OrderId, Reason, StrategyId};

use crate::account::NO_GROUP;
use crate::desk::Desk;

impl Desk {
    /// Takes a request to cancel an order at work. It counts for the rate of requests, and is never refused for it: a cancel
    /// takes risk away.
    ///
    /// # Errors
    /// Why it may not go out.
    pub fn cancel(&mut self, from: StrategyId, cancel: &CancelOrder, now: Nanos) -> Result<(), Reason> {
        if cancel.order_id.strategy() != from {
            return Err(Reason::NotYours);
        }
        let place = self.orders.find(cancel.order_id).ok_or(Reason::UnknownOrder)?;
        let order = self.orders.get_mut(place).filter(|order| order.is_open()).ok_or(Reason::UnknownOrder)?;
        if order.instrument() != cancel.instrument {
            return Err(Reason::Malformed);
        }
        order.cancels = order.cancels.saturating_add(1);
        let account = order.account as usize;
        self.drain_messages(Some(account), from, now);
        Ok(())
    }

    /// Notes a cancel that td sends by itself: it counts for no rate, and the order must end.
    pub fn note_cancel(&mut self, id: OrderId) {
        if let Some(order) = self.orders.find(id).and_then(|place| self.orders.get_mut(place))
            && order.is_open()
        {
            order.cancels = order.cancels.saturating_add(1);
            let account = order.account as usize;
            self.recall(id, account);
        }
    }

    /// Takes a request to cancel all orders of a strategy, or those of one account. It counts as one request, however many
    /// orders it takes: for the account that it names and its group, the strategy and the platform. It is never refused for it.
    pub fn cancel_all(&mut self, from: StrategyId, account: Option<AccountId>, now: Nanos) {
        let place = account.and_then(|account| self.place_of(account, from));
        self.drain_messages(place, from, now);
    }

    /// Counts a request that is never refused for its rate.
    pub(crate) fn drain_messages(&mut self, place: Option<usize>, from: StrategyId, now: Nanos) {
        let account = place.and_then(|place| self.accounts.get_mut(place));
        let group = account.as_ref().map_or(NO_GROUP, |account| account.group);
        let watches = self.scopes.of(group, from).into_iter().flatten().map(|scope| &mut scope.watch);
        let all = account.map(|account| &mut account.watch).into_iter().chain(watches);
        all.filter_map(|watch| watch.messages.as_mut()).for_each(|bucket| bucket.drain(now));
    }
}
