//! An order between its request and its end.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use wire::{
    Fill, Liquidity, Nanos, NewOrder, OrderStatus, OrderUpdate, Price, Quantity, Reason, ReplaceOrder,
};

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

/// How an order ends, once all that has traded of it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) status: OrderStatus,
    pub(super) reason: Reason,
    /// So much of it has traded, in lots of 1e-9, where the market gives it.
    pub(super) filled: Option<i128>,
    /// When the market counted that.
    pub(super) at: Nanos,
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
    /// Sum of price × quantity of what has traded.
    value: i128,
    /// What has traded, by the market's names.
    trades: BTreeMap<String, Trade>,
    /// Those that were cancelled.
    busted: BTreeSet<String>,
    /// So much of what has traded is known by the order's status alone: its trades may still come.
    made_up: i64,
    /// So much less has traded, as is known by the order's status alone: the cancelled trades may still be named.
    made_down: i64,
    /// The market has told so often, when asked, of more than has come.
    pub(super) ahead: u32,
    /// By how much less the market's last status counts, and when it was given.
    pub(super) behind: Option<(i128, Nanos)>,
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
            busted: BTreeSet::new(),
            made_up: 0,
            made_down: 0,
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

    /// How much of a trade is new: nothing, where it was told of before, in one way or the other.
    pub(super) fn is_new(&mut self, id: &str, price: Price, quantity: i64) -> i64 {
        if quantity <= 0 || self.trades.contains_key(id) {
            return 0;
        }
        self.trades.insert(id.to_owned(), Trade::Is(price, quantity));
        let known = self.made_up.min(quantity);
        self.made_up -= known;
        self.value -= i128::from(price.0) * i128::from(known);
        self.count(price, quantity - known);
        quantity - known
    }

    /// Whether a trade was reported.
    pub(super) fn is_traded(&self, id: &str) -> bool {
        self.trades.contains_key(id)
    }

    /// A trade that is not exact was reported.
    pub(super) fn note_inexact(&mut self, id: &str, lots: i128) {
        self.trades.insert(id.to_owned(), Trade::Inexact);
        self.inexact += lots;
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

    /// The trade of so many lots that is missing when so much has traded at this average.
    pub(super) fn missing(&mut self, filled: i128, quantity: i64, average: Option<Price>) -> (Price, i64) {
        let price = average.map(|average| {
            let value = i128::from(average.0) * (filled / LOT) - self.value;
            Price(i64::try_from(value / i128::from(quantity.max(1))).unwrap_or(average.0))
        });
        let price = price.filter(|price| price.0 > 0).unwrap_or(self.price);
        self.made_up += quantity;
        self.count(price, quantity);
        (price, quantity)
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

    /// A trade is cancelled. Its price and how much less has traded, where that is news. A trade that is still to come counts when it
    /// comes.
    pub(super) fn bust(
        &mut self,
        id: &str,
        price: Option<Price>,
        quantity: Option<i64>,
        filled: Option<i128>,
    ) -> Option<(Option<Price>, i64)> {
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
        if !self.busted.insert(id) {
            return None;
        }
        match quantity {
            // Nothing says how much: that too is to be seen.
            0 => Some((price, 0)),
            quantity => self.less(price, quantity),
        }
    }

    fn less(&mut self, price: Option<Price>, quantity: i64) -> Option<(Option<Price>, i64)> {
        let known = self.made_down.min(quantity);
        self.made_down -= known;
        let quantity = quantity - known;
        self.count(price.unwrap_or(Price(0)), -quantity);
        (quantity > 0).then_some((price, quantity))
    }

    /// The market counts so many lots of 1e-9 more or less than it has reported, and no trade says it.
    pub(super) fn offset(&mut self, lots: i128) {
        self.inexact += lots;
        self.made_down += i64::try_from(-lots / LOT).unwrap_or(0).max(0);
    }

    /// A trade is corrected. What it was, where the correction is news.
    pub(super) fn correct(&mut self, of: &str, new_id: &str, price: Price, quantity: i64) -> Corrected {
        let (id, known) = self.current(of);
        let was = match known {
            // A correction brings a cancelled trade back.
            Some(Trade::Is(at, _)) if self.busted.contains(&id) => (*at, 0),
            Some(Trade::Is(at, traded)) => (*at, *traded),
            // Nothing of it was counted.
            Some(Trade::Inexact) => (price, 0),
            // As it should have been reported at once.
            Some(Trade::Now(_)) | None => {
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
