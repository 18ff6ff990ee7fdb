//! What an account has available, and what a new order holds back of it, by the books.

use std::collections::{BTreeMap, BTreeSet};

use wire::{AccountId, AccountKind, Currency, NewOrder, OrderId, Side};

use super::books::{Account, Books, Key, Terms, worth};
use super::charges::{self, Of, Traded};
use super::holdings::{LONG, ONE, SHORT};
use super::order::Order;
use super::works::{Span, dearest};

/// What a request makes its order hold back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needed {
    /// In all, in the currency of the account.
    pub(super) all: Span,
    /// More than it does now, in the currency of the instrument.
    pub(super) more: Span,
    /// Lots of it that open, at least and at most.
    pub(super) opens: (i64, i64),
}

impl Books {
    /// What an account that an entry has opened has available, in its own currency; `None` where it cannot be counted here.
    /// `without`: as if this order held back nothing.
    pub(super) fn available(&self, number: AccountId, without: Option<OrderId>) -> Option<Span> {
        let key = Key::Opened(number);
        let account = self.accounts.get(&key)?;
        if self.unfit > 0 || self.vague.contains(&key) {
            return None;
        }
        let (mut margins, reserved) = (self.margins_of(&key), self.reserved(key, without));
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
    fn reserved(&self, key: Key, without: Option<OrderId>) -> BTreeMap<Currency, Span> {
        let is_one = |order: &Order| order.account == key && without != Some(order.request.order_id);
        let mut sums = self.opening(
            |order| is_one(order) && !self.is_cash(key),
            |order, lots| self.opened(&order.request, order.prices, lots).unwrap_or_default(),
        );
        for order in self.at_work().filter(|order| is_one(order) && order.open() > 0) {
            let Some(terms) = self.terms.get(&order.request.instrument) else { continue };
            let worst = self.worst_worth(&order.request, order.prices, order.open());
            let charges = order.charges_to_come(order.open(), worst);
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

    /// What a new order holds back. `opens`: the lots that it opens.
    pub(super) fn needed(
        &self,
        number: AccountId,
        order: &NewOrder,
        own: (i64, i64),
        opens: (i64, i64),
    ) -> Option<Needed> {
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
        Some(Needed { all: Span { least: home(span.least), most: home(span.most) }, more: span, opens })
    }

    /// What an order at work holds back once a replace lets it trade `added` more, at least and at most `opens` of which open, at
    /// its own prices and those that it may get.
    pub(super) fn needed_by_change(
        &self,
        number: AccountId,
        order: &Order,
        own: (i64, i64),
        (added, opens): (i64, (i64, i64)),
    ) -> Option<Needed> {
        let key = Key::Opened(number);
        let account = self.accounts.get(&key)?;
        let request = &order.request;
        let terms = self.terms.get(&request.instrument)?;
        let (open, now) = (order.open() + added, self.opening_of(order, order.open()));
        let then = ((now.0 + opens.0).max(self.opening_of(order, open).0), now.1 + opens.1);
        // Prices only spread, so what opens holds back the more over what it does now, the more of it there is.
        let before = now.1.min(then.0 - opens.0);
        let (least, most) = match (account.kind, request.side) {
            (AccountKind::Cash, Side::Buy) => {
                let value = |price, lots| worth(wire::Price(price), lots, terms.multiplier).max(0);
                let (now, then) = (value(order.prices.1, order.open()), value(own.1, open));
                ((then, then - now), (then, then - now))
            }
            (AccountKind::Cash, Side::Sell) => ((0, 0), (0, 0)),
            (AccountKind::Margin | AccountKind::Futures, _) => {
                let at = |now, then| {
                    let then = self.opened(request, own, then)?;
                    Some((then, then - self.opened(request, order.prices, now)?))
                };
                (at(before, then.0)?, at(now.1, then.1)?)
            }
        };
        let charged = |prices, lots| order.charges_to_come(lots, self.worst_worth(request, prices, lots));
        let charges = charged(own, open);
        // Charges of the same lots at the same prices are the same.
        let is_same = added == 0
            && self.worst_worth(request, own, open) == self.worst_worth(request, order.prices, open);
        let (fewer, further) = if is_same { (0, 0) } else { (charged(order.prices, order.open()), charges) };
        let home = |amount| self.in_currency(amount, terms.currency, account.home);
        Some(Needed {
            all: Span { least: home(least.0), most: home(most.0 + charges) },
            more: Span { least: least.1 - fewer, most: most.1 + further },
            opens: then,
        })
    }

    /// How many lots of an order at work open, at least and at most, if so many of it may yet trade.
    fn opening_of(&self, order: &Order, open: i64) -> (i64, i64) {
        if self.opens_all(order.account, &order.request) {
            return (open, open);
        }
        let held = self.closable(order.account, order.request.instrument, order.request.side);
        ((open - held.iter().sum::<i64>()).max(0), open)
    }
}

impl Order {
    /// The most that the charges of so many of its lots may yet come to.
    fn charges_to_come(&self, lots: i64, worst: Option<i128>) -> i128 {
        charges::to_come(&self.rules, self.request.side, &self.traded, (lots, worst.unwrap_or_default()))
    }
}
