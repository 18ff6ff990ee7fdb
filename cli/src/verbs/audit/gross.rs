//! What positions and orders at work are worth together, by the books: what a limit of gross notional counts.

use std::collections::BTreeMap;

use wire::{AccountId, AccountScope, Currency, StrategyId};

use super::books::{Books, Key, Scope};
use super::holdings::{LONG, SHORT};
use super::order::Order;
use super::works::Span;

impl Books {
    /// In the currency that a scope's limits count in; `None` where it cannot be counted here.
    pub(super) fn gross(&self, scope: Scope) -> Option<Span> {
        if self.unfit > 0 {
            return None;
        }
        let mut sums = self.opening(
            |order| self.scopes_of(order.account, order.strategy()).contains(&scope),
            |order, lots| self.gross_of(order, lots),
        );
        for (currency, basis) in self.basis_of(scope)? {
            let sum = sums.entry(currency).or_default();
            *sum = sum.plus(Span::of(basis));
        }
        let to = self.currency_of(scope)?;
        let own = |amount, currency| self.in_currency(amount, currency, to);
        Some(sums.into_iter().fold(Span::default(), |all, (currency, sum)| {
            all.plus(Span { least: own(sum.least, currency), most: own(sum.most, currency) })
        }))
    }

    fn gross_of(&self, order: &Order, lots: i64) -> i128 {
        self.worst_worth(&order.request, order.prices, lots).unwrap_or_default()
    }

    /// What positions cost, or were worth at the last settlement. A strategy's own position has its own cost, whatever accounts it
    /// is in.
    fn basis_of(&self, (scope, subject): Scope) -> Option<BTreeMap<Currency, i128>> {
        let mut sums: BTreeMap<Currency, i128> = BTreeMap::new();
        if scope == AccountScope::Strategy {
            let strategy = StrategyId(u16::try_from(subject).ok()?);
            for ((of, instrument), lots) in &self.by_strategy {
                if *of == strategy {
                    let terms = self.terms.get(instrument)?;
                    *sums.entry(terms.currency).or_default() +=
                        lots.basis(LONG).abs() + lots.basis(SHORT).abs();
                }
            }
            return Some(sums);
        }
        for (key, account) in &self.accounts {
            let is_its = match scope {
                AccountScope::Account => *key == Key::Opened(AccountId(subject)),
                AccountScope::Group => account.group == subject,
                AccountScope::Strategy | AccountScope::Platform => true,
            };
            if !is_its {
                continue;
            }
            if self.vague.contains(key) {
                return None;
            }
            for (instrument, lots) in &account.positions {
                let terms = self.terms.get(instrument)?;
                *sums.entry(terms.currency).or_default() += lots.basis(LONG).abs() + lots.basis(SHORT).abs();
            }
        }
        Some(sums)
    }
}
