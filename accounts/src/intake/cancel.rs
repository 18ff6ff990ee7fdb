//! A cancel.

use wire::{CancelOrder, Nanos, Reason, StrategyId};

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
        let Some(account) = self.accounts.get_mut(account) else { return Ok(()) };
        let scopes = self.scopes.of(account.group, from);
        let watches = scopes.into_iter().flatten().map(|scope| &mut scope.watch);
        let buckets = std::iter::once(&mut account.watch).chain(watches);
        buckets.filter_map(|watch| watch.messages.as_mut()).for_each(|bucket| bucket.drain(now));
        Ok(())
    }
}
