//! What orders at work may cost, by the books: the worst prices at which they may trade, and how much of them opens.
//!
//! Which of several orders closes what is held is no matter of fills alone, so what is certain and what may be lie apart.

use std::collections::BTreeMap;

use wire::{AccountKind, ContractTerms, Currency, InstrumentId, NewOrder, Offset, Price, Side};

use super::books::{Books, Key, Terms, worth};
use super::holdings::{EARLIER, LONG, SHORT, TODAY};
use super::order::Order;

/// An amount that is not known to the last unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) least: i128,
    pub(super) most: i128,
}

impl Span {
    pub(super) fn of(amount: i128) -> Span {
        Span { least: amount, most: amount }
    }

    pub(super) fn plus(self, other: Span) -> Span {
        Span { least: self.least.saturating_add(other.least), most: self.most.saturating_add(other.most) }
    }
}

impl Terms {
    /// The prices of its own at which an order may trade: its limit, or the ends of the band. `None`: it has no worst price.
    pub(super) fn own_prices(&self, order: &NewOrder, price: Price) -> Option<(i64, i64)> {
        if order.order_type.has_price() {
            return price.is_some().then_some((price.0, price.0));
        }
        (self.price_low.is_some() && self.price_high.is_some())
            .then_some((self.price_low.0, self.price_high.0))
    }

    /// All prices at which an order may trade: at its own, and at any that is better for it up to the band's end; a sale without
    /// a band up to the mark.
    pub(super) fn reach(&self, side: Side, own: (i64, i64), mark: Price) -> (i64, i64) {
        match side {
            Side::Buy if self.price_low.is_some() => (own.0.min(self.price_low.0), own.1),
            Side::Buy => own,
            // No price is the smallest number.
            Side::Sell => (own.0, own.1.max(mark.0).max(self.price_high.0)),
        }
    }
}

/// The price of a reach at which lots are worth most.
pub(super) fn dearest((low, high): (i64, i64)) -> Price {
    Price(if low.unsigned_abs() > high.unsigned_abs() { low } else { high })
}

/// The side of a position that an order of this side closes.
pub(super) fn opposite(side: Side) -> usize {
    if side == Side::Buy { SHORT } else { LONG }
}

impl Books {
    pub(super) fn mark_of(&self, instrument: InstrumentId) -> Price {
        self.marks.get(&instrument).copied().unwrap_or(Price::NONE)
    }

    /// Lots that an order of a side may close: of today, of earlier days.
    pub(super) fn closable(&self, account: Key, instrument: InstrumentId, side: Side) -> [i64; 2] {
        let lots = self.accounts.get(&account).and_then(|account| account.positions.get(&instrument));
        lots.map_or([0; 2], |lots| [lots.lots[opposite(side)][TODAY], lots.lots[opposite(side)][EARLIER]])
    }

    /// What orders at work of a side of an account may yet close.
    pub(super) fn closing(&self, account: Key, instrument: InstrumentId, side: Side) -> i64 {
        let its = self.at_work().filter(|order| {
            (order.account, order.request.instrument, order.request.side) == (account, instrument, side)
                && !self.opens_all(order.account, &order.request)
        });
        its.map(Order::open).sum()
    }

    /// Where offsets are told apart, what is sent to open opens whole.
    pub(super) fn opens_all(&self, account: Key, order: &NewOrder) -> bool {
        let kind = self.accounts.get(&account).map(|account| account.kind);
        kind == Some(AccountKind::Futures) && order.offset() == Some(Offset::Open)
    }

    /// How many lots of a request that lets `added` more trade open.
    pub(super) fn opens(&self, account: Key, order: &NewOrder, added: i64) -> (i64, i64) {
        if self.opens_all(account, order) {
            return (added, added);
        }
        let closable = self.closable(account, order.instrument, order.side);
        let closing = self.closing(account, order.instrument, order.side);
        let held: i64 = closable.iter().sum();
        if self.is_left_open(account, order) {
            let is_apart = |terms: &Terms| terms.flags & ContractTerms::TODAY_APART != 0;
            let is_apart = self.terms.get(&order.instrument).is_some_and(is_apart);
            // Where the exchange tells the days apart, all of it must fit into one.
            let fits = if is_apart { closable[TODAY].max(closable[EARLIER]) } else { held };
            let whole = |room: i64| if added > room { added } else { 0 };
            return (whole(fits), whole((fits - closing).max(0)));
        }
        ((added - held).max(0), (added - (held - closing).max(0)).max(0))
    }

    /// Whether td is to choose between opening and closing. Nothing is split there: what does not fit whole into a close opens whole.
    fn is_left_open(&self, account: Key, order: &NewOrder) -> bool {
        let kind = self.accounts.get(&account).map(|account| account.kind);
        let is_forced = order.flags & NewOrder::FORCED != 0;
        kind == Some(AccountKind::Futures) && order.offset() == Some(Offset::Auto) && !is_forced
    }

    /// What lots of an order are worth at most.
    pub(super) fn worst_worth(&self, order: &NewOrder, own: (i64, i64), lots: i64) -> Option<i128> {
        let terms = self.terms.get(&order.instrument)?;
        let reach = terms.reach(order.side, own, self.mark_of(order.instrument));
        Some(worth(dearest(reach), lots, terms.multiplier).abs())
    }

    /// A sum over orders at work of what their lots that open cost. `cost` grows evenly with the lots.
    pub(super) fn opening(
        &self,
        is_meant: impl Fn(&Order) -> bool,
        cost: impl Fn(&Order, i64) -> i128,
    ) -> BTreeMap<Currency, Span> {
        let mut sums: BTreeMap<Currency, Span> = BTreeMap::new();
        let mut pools: BTreeMap<(Key, InstrumentId, Side), Vec<&Order>> = BTreeMap::new();
        for order in self.at_work().filter(|order| order.open() > 0 && is_meant(order)) {
            let Some(terms) = self.terms.get(&order.request.instrument) else { continue };
            let all = cost(order, order.open());
            let is_certain = self.opens_all(order.account, &order.request);
            let sum = sums.entry(terms.currency).or_default();
            *sum = sum.plus(Span { least: if is_certain { all } else { 0 }, most: all });
            if !is_certain {
                let key = (order.account, order.request.instrument, order.request.side);
                pools.entry(key).or_default().push(order);
            }
        }
        for ((account, instrument, side), mut orders) in pools {
            let Some(terms) = self.terms.get(&instrument) else { continue };
            let held: i64 = self.closable(account, instrument, side).iter().sum();
            let mut left = orders.iter().map(|order| order.open()).sum::<i64>().saturating_sub(held);
            // At least so many open, and these may be the cheapest.
            orders.sort_by_key(|order| (cost(order, 1), order.request.order_id));
            for order in orders {
                let lots = left.min(order.open()).max(0);
                left -= lots;
                sums.entry(terms.currency).or_default().least += if lots > 0 { cost(order, lots) } else { 0 };
            }
        }
        sums
    }
}
