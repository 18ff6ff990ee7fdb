//! What the market has executed and no fill can say: it is kept, counted and listed until an operator settles it.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use wire::{InstrumentId, Nanos, OrderId, Price, Side};

/// One lot, in the unit of [`Unbooked::lots`].
pub const LOT: i128 = 1_000_000_000;

/// Why an execution is not booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// A trade of an order that had ended.
    AfterEnd,
    /// A trade of more than was left of its order.
    OverFill,
    /// A trade of an order that is not known.
    UnknownOrder,
    /// A trade of a part of a lot, or at a price that no fill can carry.
    Inexact,
    /// A trade was cancelled: a fill cannot be taken back.
    Busted,
    /// A trade was corrected: a fill cannot be changed.
    Corrected,
    /// A trade at a price that is worse than the order's limit.
    BeyondLimit,
    /// A trade of which the report names another instrument or side than the order has.
    Contradicts,
    /// The market counts less traded of the order than it has reported.
    LessTraded,
    /// The market's position is another.
    Position,
}

impl Why {
    /// As it is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Why::AfterEnd => "after-end",
            Why::OverFill => "over-fill",
            Why::UnknownOrder => "unknown-order",
            Why::Inexact => "inexact",
            Why::Busted => "busted",
            Why::Corrected => "corrected",
            Why::BeyondLimit => "beyond-limit",
            Why::Contradicts => "contradicts",
            Why::LessTraded => "less-traded",
            Why::Position => "position",
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// An execution that is not booked: what it does to the position and the money, as the market counts them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unbooked {
    /// Its number, from 1.
    pub number: u64,
    /// Why it is not booked.
    pub why: Why,
    /// The order, where it is known.
    pub order: Option<OrderId>,
    /// What the market calls the order; empty for a position.
    pub name: String,
    /// What the market calls the trade; empty where there is none.
    pub trade: String,
    /// Its instrument, where it is known.
    pub instrument: Option<InstrumentId>,
    /// The side of the order, where it is known.
    pub side: Option<Side>,
    /// What it adds to the position: lots of 1e-9, below zero for a sale or a cancelled purchase. Without a side: how many lots traded.
    pub lots: i128,
    /// The price, where there is one; of a correction the new one.
    pub price: Option<Price>,
    /// What it adds to the sum of price × lots, in 1e-9, without the instrument's multiplier: above zero is bought.
    pub value: i128,
    /// When, by the market's clock; zero: not given.
    pub time: Nanos,
    /// The market's own words, where the numbers do not hold all.
    pub text: String,
}

impl Unbooked {
    /// How much of its order traded and at which price, where a late fill of the order can say it: whole lots that were traded, and not
    /// ones that were taken back.
    pub fn as_late_fill(&self) -> Option<(i64, Price)> {
        let lots = self.lots * i128::from(self.side?.sign());
        let is_trade = matches!(self.why, Why::AfterEnd | Why::OverFill | Why::BeyondLimit);
        let is_trade = is_trade && lots > 0 && lots % LOT == 0;
        Some((i64::try_from(lots / LOT).ok().filter(|_| is_trade)?, self.price?))
    }
}

impl fmt::Display for Unbooked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "number {}, {}: {} lots", self.number, self.why, decimal(self.lots))?;
        if let Some(instrument) = self.instrument {
            write!(f, " of instrument {}", instrument.0)?;
        }
        if let Some(price) = self.price {
            write!(f, " at {price}")?;
        }
        if let Some(order) = self.order {
            write!(f, ", order {order}")?;
        }
        for (what, value) in [("the market's order", &self.name), ("trade", &self.trade)] {
            if !value.is_empty() {
                write!(f, ", {what} {value}")?;
            }
        }
        if !self.text.is_empty() {
            write!(f, " ({})", self.text)?;
        }
        Ok(())
    }
}

/// A number of 1e-9 as a decimal number, without zeros at its end.
pub fn decimal(nano: i128) -> String {
    let (whole, part) = (nano.unsigned_abs() / LOT.unsigned_abs(), nano.unsigned_abs() % LOT.unsigned_abs());
    let text = format!("{}{whole}.{part:09}", if nano < 0 { "-" } else { "" });
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// How an operator settles one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// It is booked as a fill of its order.
    Book,
    /// It is dealt with elsewhere: traded away at the market, or booked by hand.
    Apart,
}

/// What an operator decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// Which one.
    pub number: u64,
    /// How.
    pub how: How,
    /// Who, and why: one line.
    pub by: String,
}

/// One that was settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// What it is.
    pub what: Unbooked,
    /// How.
    pub how: How,
    /// Who, and why.
    pub by: String,
}

/// Positions by instrument, in lots of 1e-9: `booked + open + apart` is what the market holds of this instance's trades.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// By fills in `matching.executions`.
    pub booked: i128,
    /// Not booked and not settled.
    pub open: i128,
    /// Settled apart from fills.
    pub apart: i128,
    /// The position that the market reported last, where it does.
    pub reported: Option<i128>,
    /// What of it was there before the first trade.
    pub before: i128,
}

/// All of them, open and settled.
#[derive(Clone, Debug, Default)]
pub(crate) struct List {
    last: u64,
    open: BTreeMap<u64, Unbooked>,
    settled: Vec<Settled>,
}

impl List {
    /// Adds one, and gives it its number.
    pub(crate) fn add(&mut self, mut what: Unbooked) -> &Unbooked {
        self.last += 1;
        what.number = self.last;
        self.open.entry(self.last).or_insert(what)
    }

    pub(crate) fn get(&self, number: u64) -> Option<&Unbooked> {
        self.open.get(&number)
    }

    pub(crate) fn settle(&mut self, settlement: &Settlement) {
        if let Some(what) = self.open.remove(&settlement.number) {
            self.settled.push(Settled { what, how: settlement.how, by: settlement.by.clone() });
        }
    }

    /// Takes one off the list that was none after all.
    pub(crate) fn withdraw(&mut self, number: u64) {
        self.open.remove(&number);
    }

    pub(crate) fn open(&self) -> impl ExactSizeIterator<Item = &Unbooked> {
        self.open.values()
    }

    pub(crate) fn settled(&self) -> &[Settled] {
        &self.settled
    }

    /// How many there were so far.
    pub(crate) fn count(&self) -> u64 {
        self.last
    }
}
