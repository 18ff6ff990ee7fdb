//! An order between its request and its end.

use std::collections::{BTreeSet, VecDeque};

use wire::{
    Fill, Liquidity, Nanos, NewOrder, OrderStatus, OrderUpdate, Price, Quantity, Reason, ReplaceOrder,
};

use crate::market::Target;

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
}

/// How an order ends, once all that has traded of it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) status: OrderStatus,
    pub(super) reason: Reason,
    /// So much of it has traded.
    pub(super) filled: i64,
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
    pub(super) filled: i64,
    /// Sum of price × quantity of what has traded.
    value: i128,
    /// The market's names of what has traded.
    trades: BTreeSet<String>,
    /// So much of what has traded is known by the order's status alone: its trades may still come.
    made_up: i64,
    /// The market has told so often, when asked, of more than has come.
    pub(super) ahead: u32,
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
            value: 0,
            trades: BTreeSet::new(),
            made_up: 0,
            ahead: 0,
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
    pub(super) fn is_new(&mut self, id: &str, quantity: i64) -> i64 {
        if quantity <= 0 || !self.trades.insert(id.to_owned()) {
            return 0;
        }
        let known = self.made_up.min(quantity);
        self.made_up -= known;
        quantity - known
    }

    /// The trade that is missing when so much has traded at this average.
    pub(super) fn missing(&mut self, filled: i64, average: Option<Price>) -> (Price, i64) {
        let quantity = filled - self.filled;
        self.made_up += quantity;
        let price = average.map(|average| {
            let value = i128::from(average.0) * i128::from(filled) - self.value;
            Price(i64::try_from(value / i128::from(quantity.max(1))).unwrap_or(average.0))
        });
        (price.filter(|price| price.0 > 0).unwrap_or(self.price), quantity)
    }

    /// Some of it traded.
    pub(super) fn fill(&mut self, trade_id: u64, price: Price, quantity: i64, time: Nanos) -> Fill {
        self.filled = self.filled.saturating_add(quantity);
        self.value += i128::from(price.0) * i128::from(quantity);
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

/// What a replace asks for.
pub(super) fn terms(replace: &ReplaceOrder) -> Kind {
    Kind::Replace(replace.price, replace.quantity)
}
