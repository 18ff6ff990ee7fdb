//! Sums of accounts, groups, strategies and the platform: net positions, what may yet be bought and sold, orders at work.

use std::collections::{BTreeMap, BTreeSet};

use wire::{AccountScope, InstrumentId, StrategyId};

use super::books::{Books, Key, Scope};
use super::order::Order;

impl Books {
    pub(super) fn count(&mut self, order: &Order, times: i64) {
        for scope in self.scopes_of(order.account, order.strategy()) {
            let sums = self.sums.entry((scope.0, scope.1, order.request.instrument)).or_default();
            sums[1 + order.side()] += times * order.open();
            *self.open.entry(scope).or_default() += times * i64::from(!order.has_ended);
        }
        if times > 0 && !order.has_ended {
            self.working.insert(order.request.order_id);
        } else {
            self.working.remove(&order.request.order_id);
        }
    }

    /// All orders at work, by their ids.
    pub(super) fn at_work(&self) -> impl Iterator<Item = &Order> {
        self.working.iter().filter_map(|id| self.orders.get(id))
    }

    pub(super) fn net(&mut self, order: &Order, lots: i64) {
        for scope in self.scopes_of(order.account, order.strategy()) {
            self.sums.entry((scope.0, scope.1, order.request.instrument)).or_default()[0] += lots;
        }
    }

    /// All that an order counts in: its account if an entry has opened it, the account's group, its strategy, the platform.
    pub(super) fn scopes_of(&self, account: Key, strategy: StrategyId) -> Vec<Scope> {
        let mut scopes = Vec::with_capacity(4);
        if let Key::Opened(number) = account {
            scopes.push((AccountScope::Account, number.0));
        }
        let group = self.accounts.get(&account).map_or(0, |account| account.group);
        if group != 0 {
            scopes.push((AccountScope::Group, group));
        }
        scopes.extend([(AccountScope::Strategy, u32::from(strategy.0)), (AccountScope::Platform, 0)]);
        scopes
    }

    /// Net position of a scope in an instrument, and what may yet be bought and sold.
    pub(super) fn sums(&self, scope: Scope, instrument: InstrumentId) -> [i64; 3] {
        self.sums.get(&(scope.0, scope.1, instrument)).copied().unwrap_or_default()
    }

    /// All sums of a scope that are not zero, by instrument.
    pub(super) fn all_sums(&self, scope: Scope) -> BTreeMap<InstrumentId, [i64; 3]> {
        let its = self
            .sums
            .iter()
            .filter(|((kind, subject, _), sums)| (*kind, *subject) == scope && **sums != [0; 3]);
        its.map(|((.., instrument), sums)| (*instrument, *sums)).collect()
    }

    /// The scopes that anything was counted in.
    pub(super) fn scopes(&self) -> BTreeSet<Scope> {
        self.open.keys().copied().collect()
    }

    pub(super) fn orders_at_work(&self, scope: Scope) -> i64 {
        self.open.get(&scope).copied().unwrap_or_default()
    }
}
