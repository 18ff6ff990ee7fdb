//! Orders of one owner that would trade with each other.

use wire::{AccountId, Nanos, OrderId, OrderStatus, Quantity, Reason};

use super::ladder::Ladder;
use super::options::{OrderOwner, SelfTrade};
use super::order::Order;
use super::sink::Sink;
use super::slab::Slot;
use super::trading::Core;

/// Why an incoming order stopped taking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It is filled, or the book has no more at its price.
    Done,
    /// The next in line is an order of the same owner, which stays.
    OwnOrder,
    /// It ended together with an order of the same owner.
    SelfTrade,
}

impl Core {
    /// Whether these two must not trade with each other.
    #[inline]
    pub(crate) fn is_self_trade(&self, taker: &Order, resting: &Order) -> bool {
        resting.is_own()
            && self.options.self_trade != SelfTrade::Allow
            && self.is_same_owner(OrderId(taker.id), OrderId(resting.id))
    }

    #[inline]
    fn is_same_owner(&self, one: OrderId, other: OrderId) -> bool {
        match self.options.owner {
            OrderOwner::Strategy => one.strategy() == other.strategy(),
            OrderOwner::Account => self.is_same_account(one, other),
            OrderOwner::Firm => true,
        }
    }

    #[inline(never)]
    fn is_same_account(&self, one: OrderId, other: OrderId) -> bool {
        let account_of_one = self.account_of(one);
        account_of_one == self.account_of(other)
            && (account_of_one != AccountId::OWN || one.strategy() == other.strategy())
    }

    /// For which account a working order is.
    pub(crate) fn account_of(&self, id: OrderId) -> AccountId {
        self.accounts.get(&id.0).copied().unwrap_or(AccountId::OWN)
    }

    /// Remembers for which account an order is: for mass cancels, and where an account must not trade with itself. Most platforms
    /// keep no accounts, and pay one comparison.
    #[inline(always)]
    pub(crate) fn note_account(&mut self, id: OrderId, account: AccountId) {
        if account != AccountId::OWN {
            self.insert_account(id.0, account);
        }
    }

    /// The order has ended.
    #[inline(always)]
    pub(crate) fn forget_account(&mut self, id: u64) {
        if !self.accounts.is_empty() {
            self.remove_account(id);
        }
    }

    // Out of line: orders end on the hottest ways, and most are for no account.
    #[inline(never)]
    fn insert_account(&mut self, id: u64, account: AccountId) {
        self.accounts.insert(id, account);
    }

    #[inline(never)]
    fn remove_account(&mut self, id: u64) {
        self.accounts.remove(&id);
    }

    /// Instead of a trade of `taker` with the order at `slot`.
    #[cold]
    #[inline(never)]
    pub(crate) fn prevent<S: Sink>(
        &mut self,
        ladder: &mut Ladder,
        slot: Slot,
        taker: &mut Order,
        time: Nanos,
        sink: &mut S,
    ) -> Stop {
        match self.options.self_trade {
            SelfTrade::Allow => Stop::Done,
            SelfTrade::CancelNewest => Stop::OwnOrder,
            SelfTrade::CancelOldest => {
                self.cancel_resting(ladder, slot, time, sink);
                Stop::Done
            }
            SelfTrade::CancelBoth => {
                self.cancel_resting(ladder, slot, time, sink);
                Stop::SelfTrade
            }
            SelfTrade::Decrement => self.decrement(ladder, slot, taker, time, sink),
        }
    }

    fn cancel_resting<S: Sink>(&mut self, ladder: &mut Ladder, slot: Slot, time: Nanos, sink: &mut S) {
        let order = self.remove_own(ladder, slot);
        self.forget_account(order.id);
        sink.update(&order.update(OrderStatus::Cancelled, Reason::SelfTrade, time));
    }

    /// Both lose the smaller of their open quantities; one that has nothing left is cancelled.
    fn decrement<S: Sink>(
        &mut self,
        ladder: &mut Ladder,
        slot: Slot,
        taker: &mut Order,
        time: Nanos,
        sink: &mut S,
    ) -> Stop {
        let resting = self.arena.orders[slot];
        let quantity = resting.open.min(taker.open);
        if quantity == resting.open {
            self.cancel_resting(ladder, slot, time, sink);
        } else {
            self.arena.set(slot, resting.open - quantity, Quantity::ZERO);
            self.arena.orders[slot].quantity -= quantity;
            sink.update(&self.arena.orders[slot].update(OrderStatus::Reduced, Reason::SelfTrade, time));
        }
        if quantity == taker.open {
            return Stop::SelfTrade;
        }
        taker.open -= quantity;
        taker.quantity -= quantity;
        sink.update(&taker.update(OrderStatus::Reduced, Reason::SelfTrade, time));
        Stop::Done
    }
}
