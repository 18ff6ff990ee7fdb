//! The kill switch.

use wire::{AccountScope, InstrumentId, NewOrder, OrderId, Reason, StrategyId};

use crate::desk::Desk;
use crate::limits::KillCause;
use crate::orders::Order;
use crate::state::state;

/// A kill switch has fallen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kill {
    /// What is killed.
    pub scope: AccountScope,
    /// Number of the account, group or strategy. A strategy's own account is killed as the strategy.
    pub subject: u32,
    /// Why.
    pub cause: KillCause,
}
state!(Kill { scope, subject, cause });

impl Desk {
    /// The kill switches that have fallen since the last call, oldest first. What works under each must end:
    /// [`Desk::working_in`].
    pub fn take_kills(&mut self) -> Vec<Kill> {
        std::mem::take(&mut self.kills)
    }

    /// True when [`Desk::take_kills`] has something to say.
    pub fn has_kills(&self) -> bool {
        !self.kills.is_empty()
    }

    /// What is killed now.
    pub fn killed(&self) -> Vec<(AccountScope, u32)> {
        let mut all = Vec::new();
        let scopes = &self.scopes;
        if scopes.platform.watch.killed.is_some() {
            all.push((AccountScope::Platform, 0));
        }
        let groups = scopes.groups.iter().filter(|(_, scope)| scope.watch.killed.is_some());
        all.extend(groups.map(|(number, _)| (AccountScope::Group, *number)));
        for (seat, scope) in (0_u32..).zip(&scopes.strategies) {
            if scope.as_ref().is_some_and(|scope| scope.watch.killed.is_some()) {
                all.push((AccountScope::Strategy, seat));
            }
        }
        let accounts = self.accounts.iter().filter(|account| !account.is_own());
        let fallen = accounts.filter(|account| account.watch.killed.is_some());
        all.extend(fallen.map(|account| (AccountScope::Account, account.id.0)));
        all
    }

    /// The orders at work in the scope, by ascending id. Orders that close by force are the ledger's: no kill switch ends them.
    pub fn working_in(&self, scope: AccountScope, subject: u32) -> Vec<(OrderId, InstrumentId)> {
        let group = self.scopes.group(subject);
        let is_in = |order: &Order| match scope {
            AccountScope::Account => self
                .accounts
                .get(order.account as usize)
                .is_some_and(|account| !account.is_own() && account.id.0 == subject),
            AccountScope::Group => group.is_some_and(|group| {
                self.accounts.get(order.account as usize).is_some_and(|account| account.group == group)
            }),
            AccountScope::Strategy => u32::from(order.strategy().0) == subject,
            AccountScope::Platform => true,
        };
        let is_forced = |order: &Order| order.request.flags & NewOrder::FORCED != 0;
        let wanted = self.orders.open().filter(|(_, order)| !is_forced(order) && is_in(order));
        let mut found: Vec<_> =
            wanted.map(|(_, order)| (order.request.order_id, order.instrument())).collect();
        found.sort_unstable();
        found
    }

    /// The orders at work that must end because a kill switch fell over them, by ascending id. A switch that is lifted changes
    /// nothing about them.
    pub fn must_end(&self) -> impl Iterator<Item = OrderId> + '_ {
        self.must_end.iter().copied()
    }

    /// Whether an order must end, and has not.
    pub fn has_to_end(&self, order: OrderId) -> bool {
        self.must_end.contains(&order)
    }

    /// The orders at work that td has cancelled by itself, by ascending id. They must end, also when the market refuses the cancel.
    pub fn recalled(&self) -> impl Iterator<Item = OrderId> + '_ {
        self.recalled.keys().copied()
    }

    /// Why td has cancelled an order that works by itself; `None`: it has not.
    pub fn why_recalled(&self, order: OrderId) -> Option<Reason> {
        self.recalled.get(&order).copied()
    }

    /// td cancels an order at work, of the account at a place.
    pub(crate) fn recall(&mut self, order: OrderId, place: usize) {
        let why = if self.must_end.contains(&order) {
            Reason::Killed
        } else if self.accounts.get(place).is_some_and(|account| account.frozen.is_by_force()) {
            Reason::ForcedLiquidation
        } else {
            Reason::StrategyGone
        };
        self.recalled.entry(order).or_insert(why);
    }

    /// Kills a scope, once.
    pub(crate) fn kill(&mut self, scope: AccountScope, subject: u32, cause: KillCause) -> Option<bool> {
        let watch = match scope {
            AccountScope::Account => {
                let place = self.find(wire::AccountId(subject))?;
                &mut self.accounts.get_mut(place)?.watch
            }
            AccountScope::Group => {
                let place = self.scopes.group(subject)?;
                &mut self.scopes.groups.get_mut(place as usize)?.1.watch
            }
            AccountScope::Strategy => {
                &mut self.scopes.strategy(StrategyId(u16::try_from(subject).ok()?)).watch
            }
            AccountScope::Platform => &mut self.scopes.platform.watch,
        };
        let is_new = watch.kill(cause);
        if is_new {
            self.kills.push(Kill { scope, subject, cause });
            let working = self.working_in(scope, subject);
            self.must_end.extend(working.into_iter().map(|(order, _)| order));
        }
        Some(is_new)
    }

    /// Kills the account at a place; of a strategy's own account the strategy.
    pub(crate) fn kill_account(&mut self, place: usize, cause: KillCause) {
        let Some(account) = self.accounts.get(place) else { return };
        match account.owner {
            Some(strategy) => self.kill(AccountScope::Strategy, strategy.0.into(), cause),
            None => self.kill(AccountScope::Account, account.id.0, cause),
        };
    }

    /// Kills the account where it has lost more in a day than it may.
    pub(crate) fn watch_loss(&mut self, place: usize) {
        if self.accounts.get(place).is_some_and(|account| self.has_lost_too_much(account)) {
            self.kill_account(place, KillCause::Loss);
        }
    }
}
