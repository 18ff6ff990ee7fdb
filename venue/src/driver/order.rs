//! An order between its request and its end.

use std::collections::{BTreeMap, VecDeque};

use wire::{
    Fill, Liquidity, Nanos, NewOrder, OrderStatus, OrderUpdate, Price, Quantity, Reason, ReplaceOrder,
};

use crate::average::{Average, divide};
use crate::market::Target;
use crate::unbooked::LOT;

/// What is wanted of an order beside that it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Cancel,
    /// Of a mass cancel, which has an answer of its own.
    Mass,
    Replace(Price, Quantity),
}

/// A request about an order that is not answered.
#[derive(Clone, Debug)]
pub(super) struct Change {
    /// Its position in `td.orders`.
    pub(super) position: u64,
    pub(super) kind: Kind,
    /// What it was called when it was sent last; `None`: it waits.
    pub(super) name: Option<String>,
    /// How often it was sent.
    pub(super) attempts: u32,
    /// The market refuses it, and when it said so; how the order stands after that says the rest.
    pub(super) refused: Option<(Reason, Nanos)>,
    /// A cancel that was sent while a replace was under way. A market that is at work on the replace, or knows the order by its new name
    /// already, refuses the cancel: it is sent again behind the replace.
    pub(super) is_crossed: bool,
}

impl Change {
    /// Not sent yet.
    pub(super) fn new(position: u64, kind: Kind) -> Change {
        Change { position, kind, name: None, attempts: 0, refused: None, is_crossed: false }
    }
}

/// Markets give average prices with six decimals at least: so much of the value of each lot is no difference.
const ROUNDING: i128 = 1_000;

/// The last unit of an average price in 1e-9, where a market gives so many decimals: within it the price is rounded or cut off.
fn last_unit(decimals: u32) -> i128 {
    ROUNDING.max(10_i128.pow(9_u32.saturating_sub(decimals)))
}

/// Why the value of an order is open until the market gives its average price.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Open {
    /// A trade that was not reported was corrected or cancelled: what it had counted was another price.
    Trade(String),
    /// Reports may be lost, and one of them may have been a correction.
    Any,
}

/// How an order ends, once all that has traded of it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) status: OrderStatus,
    pub(super) reason: Reason,
    /// So much of it has traded, in lots of 1e-9, where the market gives it.
    pub(super) filled: Option<i128>,
    /// At which price on average, where the market gives it.
    pub(super) average: Option<Average>,
    /// When the market counted that.
    pub(super) at: Nanos,
}

/// Lots that were counted without the reports of their trades.
#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    lots: i64,
    /// Counted for them, less what the reports since then account for.
    value: i128,
    /// An average price is rounded: so much of the value is no difference.
    rounding: i128,
}

impl Estimate {
    /// So many lots, counted by the average of `filled` lots of 1e-9.
    fn add(&mut self, lots: i64, value: i128, filled: i128) {
        (self.lots, self.value) = (self.lots + lots, self.value + value);
        self.rounding += filled / LOT + i128::from(lots) + 1;
    }

    fn price(&self) -> Option<Price> {
        let value = self.value / i128::from(Some(self.lots).filter(|lots| *lots > 0)?);
        i64::try_from(value).ok().map(Price)
    }

    /// The report of some of them. Once all are reported: by how much their true value exceeds what was counted.
    fn report(&mut self, lots: i64, value: i128) -> i128 {
        (self.lots, self.value) = (self.lots - lots, self.value - value);
        if lots == 0 || self.lots > 0 {
            return 0;
        }
        let Estimate { value, rounding, .. } = std::mem::take(self);
        if value.abs() > rounding { -value } else { 0 }
    }
}

/// What a report adds to an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Added {
    /// Lots that were not counted before.
    pub(super) lots: i64,
    /// Value of lots that were counted before at another price.
    pub(super) value: i128,
}

/// A trade that was reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trade {
    /// It counts with this price and quantity.
    Is(Price, i64),
    /// It is corrected, and counts under this name.
    Now(String),
    /// It is not exact, and counts nothing here.
    Inexact,
}

#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) request: NewOrder,
    /// Where it was asked for, in `td.orders`.
    pub(super) position: u64,
    /// What the market calls it now.
    pub(super) name: String,
    /// All names that were given for it.
    pub(super) names: Vec<String>,
    pub(super) is_accepted: bool,
    pub(super) is_triggered: bool,
    pub(super) price: Price,
    pub(super) quantity: i64,
    /// So much of it is booked by fills.
    pub(super) filled: i64,
    /// So much of it has traded at the market, as its reports say: trades that are not booked count, cancelled ones do not.
    pub(super) traded: i64,
    /// What of it has traded without a trade that counts in `traded`: parts of lots, differences. In lots of 1e-9.
    inexact: i128,
    /// Sum of price × lots of what is booked and not booked of it.
    value: i128,
    /// What has traded, by the market's names.
    trades: BTreeMap<String, Trade>,
    /// Those that were cancelled: how many lots of each were taken back without its price, and the value that was taken back for them.
    busted: BTreeMap<String, (i64, i128)>,
    /// Known by the order's status alone: the reports of these trades may still come.
    made_up: Estimate,
    /// What it counts may have another value, which the order's average price tells.
    unsure: Option<Open>,
    /// One of those that were taken back without its price, until the market gives the order's average price.
    unpriced: Option<String>,
    /// So much had traded, in lots of 1e-9, when lots were counted by status last; what was cancelled since is taken off.
    counted_up_to: i128,
    /// What was cancelled since in lots of 1e-9, and when the last of it was, by the market's clock.
    cancelled: (i128, Nanos),
    /// Taken back by the order's status alone: the reports of these cancelled trades may still come.
    made_down: Estimate,
    /// The worst limit price that the order had, or was sent a replace for.
    worst_limit: Price,
    /// The market has told so often, when asked, of more than has come.
    pub(super) ahead: u32,
    /// By how much less the market's last statuses count, when the first of them was given, and how many there were.
    pub(super) behind: Option<(i128, Nanos, u32)>,
    /// Of the last trade, by the market's clock.
    pub(super) last_trade: Nanos,
    pub(super) end: Option<End>,
    /// In the order of their requests.
    pub(super) changes: VecDeque<Change>,
}

impl Order {
    pub(super) fn new(request: NewOrder, position: u64, name: String) -> Order {
        Order {
            request,
            position,
            names: vec![name.clone()],
            name,
            is_accepted: false,
            is_triggered: false,
            price: request.price,
            quantity: request.quantity.0,
            filled: 0,
            traded: 0,
            inexact: 0,
            value: 0,
            trades: BTreeMap::new(),
            busted: BTreeMap::new(),
            unsure: None,
            unpriced: None,
            counted_up_to: 0,
            cancelled: (0, Nanos(0)),
            made_up: Estimate::default(),
            made_down: Estimate::default(),
            worst_limit: request.price,
            ahead: 0,
            behind: None,
            last_trade: Nanos(0),
            end: None,
            changes: VecDeque::new(),
        }
    }

    pub(super) fn target(&self) -> Target {
        Target {
            name: self.name.clone(),
            order: self.request,
            quantity: Quantity(self.quantity),
            price: self.price,
        }
    }

    pub(super) fn remaining(&self) -> i64 {
        self.quantity.saturating_sub(self.filled).max(0)
    }

    /// A replace is under way after which more of it would be left.
    pub(super) fn may_grow(&self) -> bool {
        self.changes.iter().any(|change| {
            let Kind::Replace(_, quantity) = change.kind else { return false };
            // Of one that was sent more than once, an earlier one may have been carried out.
            let may_be = change.refused.is_none() || change.attempts > 1;
            change.name.is_some() && may_be && quantity.0 > self.filled
        })
    }

    /// A replace is at the market, and not answered.
    pub(super) fn is_being_replaced(&self) -> bool {
        let is_out = |change: &Change| {
            matches!(change.kind, Kind::Replace(..)) && change.name.is_some() && change.refused.is_none()
        };
        self.changes.iter().any(is_out)
    }

    /// The replace that is under way and explains that so much has traded, where that is more than the order has.
    pub(super) fn grown_to(&self, filled: i64) -> Option<(String, Price, Quantity)> {
        let sent = self.changes.iter().filter(|_| filled > self.quantity);
        let mut sent = sent.filter_map(|change| match (change.kind, &change.name) {
            (Kind::Replace(price, quantity), Some(name)) => Some((name.clone(), price, quantity)),
            _ => None,
        });
        sent.find(|(_, _, quantity)| quantity.0 >= filled)
    }

    /// The replace that is under way and explains these terms, where they are not those that the order has.
    pub(super) fn made(&self, terms: (Price, Quantity)) -> Option<String> {
        let differs = terms != (self.price, Quantity(self.quantity));
        let mut sent =
            self.changes.iter().filter(|change| differs && change.kind == Kind::Replace(terms.0, terms.1));
        sent.find_map(|change| change.name.clone())
    }

    pub(super) fn update(&self, status: OrderStatus, reason: Reason, time: Nanos) -> OrderUpdate {
        OrderUpdate {
            side: self.request.side,
            price: self.price,
            quantity: Quantity(self.quantity),
            filled: Quantity(self.filled),
            remaining: Quantity(if status.is_final() { 0 } else { self.remaining() }),
            event_time: time,
            ..OrderUpdate::about(self.request.order_id, self.request.instrument, status, reason)
        }
    }

    /// Counts a trade that is reported. It may be one that a status has counted before.
    pub(super) fn add_trade(
        &mut self,
        id: &str,
        (price, quantity): (Price, i64),
        filled: Option<i128>,
        time: Nanos,
    ) -> Added {
        if quantity <= 0 || self.trades.contains_key(id) {
            return Added::default();
        }
        self.trades.insert(id.to_owned(), Trade::Is(price, quantity));
        let known =
            self.made_up.lots.min(filled.filter(|_| !self.is_busted(id)).map_or(quantity, |filled| {
                // By all that had traded before it.
                let before = filled - i128::from(quantity) * LOT;
                i64::try_from((self.counted_at(time) - before) / LOT).unwrap_or(i64::MAX).clamp(0, quantity)
            }));
        self.count(price, quantity - known);
        let more = self.made_up.report(known, i128::from(price.0) * i128::from(known));
        let (unpriced, taken_back) = self.busted.get_mut(id).map_or((0, 0), std::mem::take);
        let value = more - (i128::from(price.0) * i128::from(unpriced) - taken_back);
        self.value += value;
        Added { lots: quantity - known, value }
    }

    /// [`Order::counted_up_to`], as a report of this time counts: it knows of no trade that was cancelled after it.
    fn counted_at(&self, time: Nanos) -> i128 {
        let (lots, at) = self.cancelled;
        self.counted_up_to + if time < at { lots } else { 0 }
    }

    /// The market takes so many lots back, or adds them where they are below zero.
    fn cancel_trade(&mut self, lots: i64, time: Nanos) {
        let lots = i128::from(lots) * LOT;
        self.counted_up_to -= lots;
        self.cancelled = (self.cancelled.0 + lots, self.cancelled.1.max(time));
    }

    /// Whether it was cancelled before.
    pub(super) fn is_busted(&self, id: &str) -> bool {
        self.busted.contains_key(id)
    }

    /// Whether a price is worse than each limit that the order had.
    pub(super) fn is_beyond_limit(&self, price: Price) -> bool {
        let worse = (price.0 - self.worst_limit.0).saturating_mul(self.request.side.sign());
        self.request.order_type.has_price() && worse > 0
    }

    /// A replace with this limit is sent: it may trade at it from now on.
    pub(super) fn widen_limit(&mut self, price: Price) {
        if self.is_beyond_limit(price) {
            self.worst_limit = price;
        }
    }

    /// Whether a trade was reported.
    pub(super) fn is_traded(&self, id: &str) -> bool {
        self.trades.contains_key(id)
    }

    /// A trade that is not exact was reported.
    pub(super) fn note_inexact(&mut self, id: &str, lots: i128, price: Option<Price>) {
        self.trades.insert(id.to_owned(), Trade::Inexact);
        self.inexact += lots;
        self.value += value(lots, price);
    }

    /// The market's last status counts another quantity than its reports, so it is asked once more.
    pub(super) fn is_counted_again(&self) -> bool {
        self.ahead > 0 || self.behind.is_some()
    }

    /// How much more than was reported has traded, in lots of 1e-9, when so much has traded altogether.
    pub(super) fn lacks(&self, filled: i128) -> i128 {
        filled - i128::from(self.traded) * LOT - self.inexact
    }

    /// So much more has traded at the market.
    fn count(&mut self, price: Price, quantity: i64) {
        self.traded = self.traded.saturating_add(quantity);
        self.value += i128::from(price.0) * i128::from(quantity);
    }

    /// The value that is missing when so many lots of 1e-9 have traded at this average, where the market gives it.
    fn lacks_value(&self, filled: i128, average: Option<Average>) -> Option<i128> {
        let value = average.map(|average| average.value(filled)).or((filled == 0).then_some(0));
        value.map(|value| value - self.value)
    }

    /// Reports of it may be lost: a correction that changes no quantity is seen by the order's average price.
    pub(super) fn may_be_corrected(&mut self) {
        if self.traded != 0 || self.inexact != 0 {
            self.unsure.get_or_insert(Open::Any);
        }
    }

    /// By how much the order's average price differs from what is counted, where only that tells what a trade was. `decimals`: as
    /// many as the market gives average prices with.
    pub(super) fn revalue(
        &mut self,
        filled: i128,
        average: Option<Average>,
        decimals: u32,
    ) -> Option<Revalued> {
        let value = self.lacks_value(filled, average)?;
        let (unpriced, unsure) = (self.unpriced.take(), self.unsure.take());
        let (change, rounding) = match (unpriced, unsure) {
            (Some(id), _) => (Revalued::Busted(id, value), filled / LOT + 1),
            (None, Some(Open::Trade(id))) => (Revalued::Corrected(id, value), filled / LOT * ROUNDING),
            (None, Some(Open::Any)) => {
                // One unit of the last decimal is a difference.
                let rounding = (filled * last_unit(decimals) / LOT - 1).max(0);
                (Revalued::Corrected(String::new(), value), rounding)
            }
            (None, None) => return None,
        };
        if value.abs() <= rounding {
            return None;
        }
        self.value += value;
        match &change {
            Revalued::Busted(id, _) => {
                if let Some((_, taken_back)) = self.busted.get_mut(id) {
                    *taken_back -= value;
                }
            }
            Revalued::Corrected(..) if self.made_up.lots > 0 => self.made_up.value += value,
            Revalued::Corrected(..) => {}
        }
        Some(change)
    }

    /// Counts the trade of so many lots that is missing when so much has traded at this average, and returns its price. `decimals`: as
    /// many as the market gives average prices with.
    pub(super) fn missing(
        &mut self,
        filled: i128,
        quantity: i64,
        average: Option<Average>,
        (decimals, tick): (u32, Price),
    ) -> Price {
        let open = filled.saturating_mul(10_i128.pow(18_u32.saturating_sub(decimals))) / LOT / LOT;
        let price =
            self.lacks_value(filled, average).and_then(|value| self.likely(value, open, quantity, tick));
        let price = price.filter(|price| price.0 > 0).unwrap_or(self.price);
        self.made_up.add(quantity, i128::from(price.0) * i128::from(quantity), filled);
        self.count(price, quantity);
        (self.counted_up_to, self.cancelled) = (filled, (0, Nanos(0)));
        // With it all is counted by the average.
        self.unsure = None;
        price
    }

    /// The price of so many lots of this value, of which the average leaves so much open: the nearest at which the market trades, where one is
    /// within what is open. Lots of several trades may have none.
    fn likely(&self, value: i128, open: i128, quantity: i64, tick: Price) -> Option<Price> {
        let quantity = i128::from(quantity.max(1));
        let nearest = |unit: i128| i64::try_from(divide(value, quantity * unit) * unit).ok().map(Price);
        let exact = nearest(1)?;
        let at = match self.is_beyond_limit(exact) {
            true => Some(self.worst_limit),
            false => nearest(i128::from(tick.0.max(1))),
        };
        let is_open = |at: &Price| (i128::from(at.0) * quantity - value).abs() <= open;
        at.filter(is_open).or(Some(exact))
    }

    /// The trade that the market calls so now: one that was corrected has another name since.
    pub(super) fn current(&self, id: &str) -> (String, Option<&Trade>) {
        let mut id = id.to_owned();
        // Each correction gives a name that was not used: the chain has an end.
        for _ in 0..=self.trades.len() {
            match self.trades.get(&id) {
                Some(Trade::Now(next)) => id.clone_from(next),
                found => return (id, found),
            }
        }
        (id, None)
    }

    /// A trade is cancelled. Its price and what that adds, where it is news. A trade that is still to come counts when it comes.
    pub(super) fn bust(
        &mut self,
        id: &str,
        price: Option<Price>,
        quantity: Option<i64>,
        (filled, time): (Option<i128>, Nanos),
    ) -> Option<(Option<Price>, Added)> {
        let (id, known) = self.current(id);
        let quantity = quantity.filter(|quantity| *quantity > 0);
        let (price, quantity) = match known {
            Some(Trade::Is(at, traded)) => (Some(*at), quantity.unwrap_or(*traded)),
            Some(Trade::Inexact | Trade::Now(_)) | None => (
                price,
                quantity
                    .or(filled.and_then(|filled| i64::try_from(-self.lacks(filled) / LOT).ok()))
                    .unwrap_or(0)
                    .max(0),
            ),
        };
        if self.is_busted(&id) {
            return None;
        }
        self.cancel_trade(quantity, time);
        let has_price = price.is_some();
        if has_price && !self.trades.contains_key(&id) {
            // Its correction may be lost: then what was counted for it is another price.
            self.unsure = Some(Open::Trade(id.clone()));
        }
        // Without a report of the trade it was counted at an average price.
        let price = price.or(self.made_up.price());
        let less = self.less(price, quantity);
        let value = i128::from(price.map_or(0, |price| price.0)) * i128::from(-less.lots);
        if !has_price && less.lots < 0 {
            self.unpriced = Some(id.clone());
        }
        self.busted.insert(id, if has_price { (0, 0) } else { (-less.lots, value) });
        // Where nothing says how much, that too is to be seen.
        Some((price, less)).filter(|(_, less)| quantity == 0 || *less != Added::default())
    }

    fn less(&mut self, price: Option<Price>, quantity: i64) -> Added {
        let known = self.made_down.lots.min(quantity);
        let new = quantity - known;
        self.count(price.unwrap_or(Price(0)), -new);
        let value = match price {
            Some(price) => self.made_down.report(known, -i128::from(price.0) * i128::from(known)),
            None => {
                self.made_down = Estimate { lots: self.made_down.lots - known, ..Estimate::default() };
                0
            }
        };
        self.value += value;
        Added { lots: -new, value }
    }

    /// The market counts so many lots of 1e-9 more or less than it has reported, and no trade says it. The value of the difference, as far
    /// as the average gives it.
    pub(super) fn offset(&mut self, lots: i128, (filled, average): (i128, Option<Average>)) -> i128 {
        let value = self.lacks_value(filled, average).unwrap_or(0);
        self.unsure = None;
        self.inexact += lots;
        self.value += value;
        let less = i64::try_from(-lots / LOT).unwrap_or(0).max(0);
        if less > 0 {
            self.made_down.add(less, value, filled);
        }
        value
    }

    /// A trade is corrected. What it was, where the correction is news.
    pub(super) fn correct(
        &mut self,
        (of, new_id): (&str, &str),
        (price, quantity): (Price, i64),
        time: Nanos,
    ) -> Corrected {
        let (id, known) = self.current(of);
        let was = match known {
            // A correction brings a cancelled trade back.
            Some(Trade::Is(at, _)) if self.is_busted(&id) => (*at, 0),
            Some(Trade::Is(at, traded)) => (*at, *traded),
            // Nothing of it was counted.
            Some(Trade::Inexact) => (price, 0),
            // As it should have been reported at once.
            Some(Trade::Now(_)) | None => {
                if self.made_up.lots > 0 {
                    // A status has counted it as it was, and together with others.
                    self.unsure = Some(Open::Trade(new_id.to_owned()));
                }
                if id != new_id {
                    self.trades.insert(id, Trade::Now(new_id.to_owned()));
                }
                return Corrected::First;
            }
        };
        if was == (price, quantity) || (of != new_id && self.trades.contains_key(new_id)) {
            return Corrected::Again;
        }
        self.busted.remove(&id);
        if id != new_id {
            self.trades.insert(id, Trade::Now(new_id.to_owned()));
        }
        self.trades.insert(new_id.to_owned(), Trade::Is(price, quantity));
        self.cancel_trade(was.1 - quantity, time);
        self.count(was.0, -was.1);
        self.count(price, quantity);
        Corrected::From(was.0, was.1)
    }

    /// Some of it traded.
    pub(super) fn fill(&mut self, trade_id: u64, price: Price, quantity: i64, time: Nanos) -> Fill {
        self.filled = self.filled.saturating_add(quantity);
        Fill {
            order_id: self.request.order_id,
            trade_id,
            instrument: self.request.instrument,
            side: self.request.side,
            // Whether it rested there is not asked.
            liquidity: Liquidity::Taker,
            reserved: [0; 2],
            price,
            quantity: Quantity(quantity),
            remaining: Quantity(self.remaining()),
            event_time: time,
            execution: 0,
            answered_up_to: 0,
        }
    }
}

/// Lots of 1e-9 × price.
pub(super) fn value(lots: i128, price: Option<Price>) -> i128 {
    price.map_or(0, |price| lots.saturating_mul(i128::from(price.0)) / LOT)
}

/// What the average price of an order adds to its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Revalued {
    /// This trade was cancelled without its price.
    Busted(String, i128),
    /// This trade was corrected, and what it was is not known; without a name: one of which no report came.
    Corrected(String, i128),
}

/// What a correction changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Corrected {
    /// It was reported before.
    Again,
    /// The trade itself was not: it is one, as corrected.
    First,
    /// From this price and quantity.
    From(Price, i64),
}

/// What a replace asks for.
pub(super) fn terms(replace: &ReplaceOrder) -> Kind {
    Kind::Replace(replace.price, replace.quantity)
}
