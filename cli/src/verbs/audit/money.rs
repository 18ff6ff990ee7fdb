//! What the books come to in money: results of the day, margin, equity.

use std::collections::BTreeMap;

use wire::{AccountId, AccountKind, AccountScope, Currency, InstrumentId, MarginRule};

use super::books::{Account, Books, Key, Purse, Scope};
use super::charges::{self, Of};
use super::holdings::ONE;

impl Books {
    /// What an amount is worth in another currency; `None`: in the platform's. Rounded, by less than one unit.
    pub(super) fn in_currency(&self, amount: i128, from: Currency, to: Option<Currency>) -> i128 {
        let rate = |currency: Currency| i128::from(self.rates.get(&currency).copied().unwrap_or(ONE as u64));
        let to = to.map_or(ONE, rate);
        let from = rate(from);
        if from == to {
            return amount;
        }
        // Amounts have up to 100 bits, rates 40.
        let whole = (amount / to).saturating_mul(from);
        whole.saturating_add((amount % to).saturating_mul(from) / to)
    }

    /// A value in the currency of an instrument, in that of a scope's limits.
    pub(super) fn value_in(
        &self,
        (scope, subject): Scope,
        instrument: InstrumentId,
        value: impl FnOnce(u64) -> i128,
    ) -> Option<i128> {
        let terms = self.terms.get(&instrument)?;
        let to = self.currency_of((scope, subject))?;
        Some(self.in_currency(value(terms.multiplier), terms.currency, to))
    }

    /// The currency that a scope's limits count in; `None` within: the platform's.
    pub(super) fn currency_of(&self, (scope, subject): Scope) -> Option<Option<Currency>> {
        Some(match scope {
            AccountScope::Account => self.accounts.get(&Key::Opened(AccountId(subject)))?.home,
            AccountScope::Group | AccountScope::Strategy | AccountScope::Platform => None,
        })
    }

    /// What trading has brought an account in a currency, with what is open at the mark, after charges.
    pub(super) fn profit(&self, account: &Account, currency: Currency) -> i128 {
        let purse = account.purses.get(&currency).copied().unwrap_or_default();
        let its = account.positions.iter().filter_map(|(instrument, lots)| {
            let terms = self.terms.get(instrument).filter(|terms| terms.currency == currency)?;
            Some(lots.value(self.marks.get(instrument).copied(), terms.multiplier))
        });
        purse.flow - purse.fees - purse.taxes + its.sum::<i128>()
    }

    /// The result of the day in a currency; `None`: the platform's.
    fn result(&self, account: &Account, to: Option<Currency>) -> i128 {
        let of = |(currency, purse): (&Currency, &Purse)| {
            self.in_currency(self.profit(account, *currency) - purse.opened, *currency, to)
        };
        account.purses.iter().map(of).sum()
    }

    /// The result of a scope's day in the currency that its limits count in; `None` where it cannot be counted here.
    pub(super) fn day_result(&self, (scope, subject): Scope) -> Option<i128> {
        match scope {
            AccountScope::Account => {
                let key = Key::Opened(AccountId(subject));
                let account = self.accounts.get(&key)?;
                (!self.vague.contains(&key)).then(|| self.result(account, account.home))
            }
            AccountScope::Group | AccountScope::Platform => {
                let mut its = self
                    .accounts
                    .iter()
                    .filter(|(_, account)| scope == AccountScope::Platform || account.group == subject);
                its.try_fold(0, |sum: i128, (key, account)| {
                    (!self.vague.contains(key)).then(|| sum + self.result(account, None))
                })
            }
            // A strategy has no limit of losses.
            AccountScope::Strategy => None,
        }
    }

    /// Margin of an account's positions, and what it is worth, in its own currency.
    pub(super) fn margin_and_equity(&self, number: AccountId) -> Option<(i128, i128)> {
        let key = Key::Opened(number);
        let account = self.accounts.get(&key)?;
        let margins = self.margins_of(&key);
        let margin =
            margins.iter().map(|(currency, taken)| self.in_currency(*taken, *currency, account.home));
        let equity = account.purses.iter().map(|(currency, purse)| {
            let own = purse.deposits - purse.withdrawals + self.profit(account, *currency);
            self.in_currency(own, *currency, account.home)
        });
        Some((margin.sum(), equity.sum()))
    }

    /// Margin of an account's positions, by currency.
    pub(super) fn margins_of(&self, key: &Key) -> BTreeMap<Currency, i128> {
        let mut margins = BTreeMap::new();
        let Some(account) = self.accounts.get(key).filter(|account| account.kind != AccountKind::Cash) else {
            return margins;
        };
        let number = match key {
            Key::Opened(number) => *number,
            Key::Own(_) => AccountId::OWN,
        };
        for (instrument, lots) in &account.positions {
            let Some(terms) = self.terms.get(instrument) else { continue };
            let (parent, symbol) = (account.parent, terms.symbol);
            let of = Of { account: number, parent, instrument: *instrument, symbol };
            let Some(rule) = self.margin_rule(&of) else { continue };
            let rates = [(rule.long_rate, rule.long_per_lot), (rule.short_rate, rule.short_per_lot)];
            for (side, (rate, per_lot)) in rates.into_iter().enumerate() {
                let (basis, rate) = (lots.basis(side), i128::from(rate));
                let part = basis.saturating_mul(rate);
                let part = part.div_euclid(ONE) + i128::from(part.rem_euclid(ONE) > 0);
                let taken = part + per_lot.wide().saturating_mul(i128::from(lots.total(side)));
                *margins.entry(terms.currency).or_default() += taken;
            }
        }
        margins
    }

    pub(super) fn margin_rule(&self, of: &Of) -> Option<&MarginRule> {
        let ranked = self.margins.iter().filter_map(|rule| {
            Some((charges::rank((rule.account, rule.instrument, rule.prefix), of)?, rule))
        });
        ranked.max_by_key(|(rank, _)| *rank).map(|(_, rule)| rule)
    }
}
