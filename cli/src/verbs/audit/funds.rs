//! What an account has available, and what a new order holds back of it, by the books.

use std::collections::{BTreeMap, BTreeSet};

use wire::{AccountId, AccountKind, Currency, NewOrder, Side};

use super::books::{Account, Books, Key, Terms, worth};
use super::charges::{self, Of, Traded};
use super::holdings::{LONG, ONE, SHORT};
use super::order::Order;
use super::works::{Span, dearest};

impl Books {
    /// What an account that an entry has opened has available, in its own currency; `None` where it cannot be counted here.
    pub(super) fn available(&self, number: AccountId) -> Option<Span> {
        let key = Key::Opened(number);
        let account = self.accounts.get(&key)?;
        if self.unfit > 0 || self.vague.contains(&key) {
            return None;
        }
        let (mut margins, reserved) = (self.margins_of(&key), self.reserved(key));
        let currencies: BTreeSet<Currency> =
            account.purses.keys().chain(margins.keys()).chain(reserved.keys()).copied().collect();
        Some(currencies.into_iter().fold(Span::default(), |all, currency| {
            let purse = account.purses.get(&currency).copied().unwrap_or_default();
            let paid = purse.deposits - purse.withdrawals + purse.flow - purse.fees - purse.taxes;
            let own = match account.kind {
                AccountKind::Cash => paid,
                AccountKind::Margin | AccountKind::Futures => {
                    let (value, basis) = self.open_in(account, currency);
                    // What is lost is taken off, and what is gained is not there yet.
                    let equity = paid + value;
                    equity.min(equity - (value - basis)) - margins.remove(&currency).unwrap_or_default()
                }
            };
            let held = reserved.get(&currency).copied().unwrap_or_default();
            let home = |amount| self.in_currency(amount, currency, account.home);
            all.plus(Span { least: home(own - held.most), most: home(own - held.least) })
        }))
    }

    /// What positions are worth at the mark, and what they cost.
    fn open_in(&self, account: &Account, currency: Currency) -> (i128, i128) {
        let its = account.positions.iter().filter_map(|(instrument, lots)| {
            let terms = self.terms.get(instrument).filter(|terms| terms.currency == currency)?;
            let value = lots.value(self.marks.get(instrument).copied(), terms.multiplier);
            Some((value, lots.basis(LONG) - lots.basis(SHORT)))
        });
        its.fold((0, 0), |(value, basis), (more, cost)| (value + more, basis + cost))
    }

    /// What orders at work hold back.
    fn reserved(&self, key: Key) -> BTreeMap<Currency, Span> {
        let mut sums = self.opening(
            |order| order.account == key && !self.is_cash(key),
            |order, lots| self.opened(&order.request, order.prices, lots).unwrap_or_default(),
        );
        for order in self.at_work().filter(|order| order.account == key && order.open() > 0) {
            let Some(terms) = self.terms.get(&order.request.instrument) else { continue };
            let charges = order.charges_to_come(self.worst_worth(&order.request, order.prices, order.open()));
            let mut more = Span { least: 0, most: charges };
            if self.is_cash(key) && order.request.side == Side::Buy {
                let value = worth(wire::Price(order.prices.1), order.open(), terms.multiplier).max(0);
                more = more.plus(Span::of(value));
            }
            let sum = sums.entry(terms.currency).or_default();
            *sum = sum.plus(more);
        }
        sums
    }

    fn is_cash(&self, key: Key) -> bool {
        self.accounts.get(&key).is_some_and(|account| account.kind == AccountKind::Cash)
    }

    /// Initial margin, and the loss against the mark, of lots that are opened at the worst price.
    fn opened(&self, order: &NewOrder, own: (i64, i64), lots: i64) -> Option<i128> {
        let terms = self.terms.get(&order.instrument)?;
        let mark = self.marks.get(&order.instrument).copied();
        let key = super::switches::account_of(order);
        let (low, high) = terms.reach(order.side, own, self.mark_of(order.instrument));
        let at = |price: i64| {
            let value = worth(wire::Price(price), lots, terms.multiplier);
            let loss = mark.map_or(0, |mark| {
                let marked = worth(mark, lots, terms.multiplier);
                if order.side == Side::Buy { value - marked } else { marked - value }
            });
            self.margin_to_open(key, order, terms, (value, lots)) + loss.max(0)
        };
        Some(at(low).max(at(high)))
    }

    fn margin_to_open(&self, key: Key, order: &NewOrder, terms: &Terms, (value, lots): (i128, i64)) -> i128 {
        let Some(rule) = self.margin_rule(&self.of(key, order, terms)) else { return 0 };
        let (rate, per_lot) = match order.side {
            Side::Buy => (rule.long_rate, rule.long_per_lot),
            Side::Sell => (rule.short_rate, rule.short_per_lot),
        };
        let part = value.saturating_mul(i128::from(rate));
        part.div_euclid(ONE)
            + i128::from(part.rem_euclid(ONE) > 0)
            + per_lot.wide().saturating_mul(i128::from(lots))
    }

    fn of(&self, key: Key, order: &NewOrder, terms: &Terms) -> Of {
        let (account, parent) = match key {
            Key::Opened(number) => (number, self.accounts.get(&key).map_or(AccountId::OWN, |its| its.parent)),
            Key::Own(_) => (AccountId::OWN, AccountId::OWN),
        };
        Of { account, parent, instrument: order.instrument, symbol: terms.symbol }
    }

    /// What a new order holds back, in the currency of its account. `opens`: the lots that it opens.
    pub(super) fn needed(
        &self,
        number: AccountId,
        order: &NewOrder,
        own: (i64, i64),
        opens: (i64, i64),
    ) -> Option<Span> {
        let key = Key::Opened(number);
        let account = self.accounts.get(&key)?;
        let terms = self.terms.get(&order.instrument)?;
        let quantity = order.quantity.0;
        let (low, high) = terms.reach(order.side, own, self.mark_of(order.instrument));
        let value = worth(dearest((low, high)), quantity, terms.multiplier).abs();
        let rules = charges::rules(&self.fees, &self.of(key, order, terms));
        let charges = charges::to_come(&rules, order.side, &Traded::default(), (quantity, value));
        let span = match (account.kind, order.side) {
            (AccountKind::Cash, Side::Buy) => {
                let value = worth(wire::Price(high), quantity, terms.multiplier).max(0);
                Span { least: value, most: value + charges }
            }
            (AccountKind::Cash, Side::Sell) => Span { least: 0, most: charges },
            (AccountKind::Margin | AccountKind::Futures, _) => Span {
                least: self.opened(order, own, opens.0)?,
                most: self.opened(order, own, opens.1)? + charges,
            },
        };
        let home = |amount| self.in_currency(amount, terms.currency, account.home);
        Some(Span { least: home(span.least), most: home(span.most) })
    }
}

impl Order {
    /// The most that its charges may yet come to.
    fn charges_to_come(&self, worst: Option<i128>) -> i128 {
        charges::to_come(
            &self.rules,
            self.request.side,
            &self.traded,
            (self.open(), worst.unwrap_or_default()),
        )
    }
}
