//! Finds orders from before the first message through later messages.
//!
//! A cancel or an execution of an order that no message adds shows afterwards that the order was resting all the time:
//! with this number, at this price, with at least this quantity. The first pass collects such orders, and the replay
//! puts them into the book before its first message, the lower number first, because LOBSTER's numbers grow with
//! arrival. Volume from before the first message that no message ever touches stays unknown.
//!
//! In files of few levels an unknown order may also have been added out of view, later. It cannot have rested from the
//! start if before its first mention there was a quote or trade through its price. Such an order is not put into the
//! book.

use std::collections::{BTreeMap, HashMap, HashSet};

use wire::{Nanos, Price, Side, TradingPhase};

use super::depth::is_worse;
use super::row::{Kind, Row};
use crate::source::recorded::is_far;
use crate::source::reopening::Reopening;

/// An order that rests from before the first message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prior {
    pub(crate) id: u64,
    pub(crate) side: Side,
    pub(crate) price: Price,
    pub(crate) quantity: i64,
}

/// The collection, fed row by row.
#[derive(Debug, Default)]
pub(crate) struct Learning {
    added: HashSet<u64>,
    /// `None`: disproved.
    unknown: BTreeMap<u64, Option<Prior>>,
    seen: HashMap<Side, Price>,
    /// Price of the last trade.
    last: Option<Price>,
    halted: bool,
    /// Rows between the end of a halt and its cross prove nothing either.
    reopening: Reopening,
}

impl Learning {
    pub(crate) fn row(&mut self, row: &Row) {
        self.reopening.reach(Nanos(row.time));
        if matches!(row.kind, Kind::Execute | Kind::ExecuteHidden | Kind::Cross) {
            self.reopening.trade(Nanos(row.time));
        }
        match row.kind {
            Kind::Phase(phase) => {
                self.halted = phase != TradingPhase::Continuous;
                self.reopening.enter(phase);
            }
            Kind::New => {
                self.added.insert(row.order);
                // An order that can rest proves that the other side has no order at its price or better.
                if !is_far(row.price, self.last) {
                    self.through(row.side.opposite(), row.price);
                }
            }
            Kind::PartialCancel | Kind::Delete | Kind::Execute => {
                if !self.added.contains(&row.order) {
                    self.mention(row);
                }
                // A price far from the market's proves nothing.
                if row.kind == Kind::Execute && !is_far(row.price, self.last.replace(row.price)) {
                    // The best price trades first, so a better one cannot exist.
                    let better = match row.side {
                        Side::Buy => Price(row.price.0.saturating_add(1)),
                        Side::Sell => Price(row.price.0.saturating_sub(1)),
                    };
                    self.through(row.side, better);
                }
            }
            Kind::ExecuteHidden | Kind::Cross => {}
        }
    }

    /// `side` has no visible order at `price` or better, now. Only the extreme price matters.
    fn through(&mut self, side: Side, price: Price) {
        if self.halted || self.reopening.is_under_way() {
            return;
        }
        let extreme = self.seen.entry(side).or_insert(price);
        if is_worse(side, price, *extreme) {
            *extreme = price;
        }
    }

    fn mention(&mut self, row: &Row) {
        let refuted =
            self.seen.get(&row.side).is_some_and(|&extreme| !is_worse(row.side, row.price, extreme));
        let entry = self.unknown.entry(row.order).or_insert_with(|| {
            let prior = Prior { id: row.order, side: row.side, price: row.price, quantity: 0 };
            (!refuted).then_some(prior)
        });
        if let Some(prior) = entry {
            prior.quantity = prior.quantity.saturating_add(row.quantity);
        }
    }

    /// By number, which is the order of arrival.
    pub(crate) fn finish(self) -> Vec<Prior> {
        self.unknown.into_values().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kind: Kind, order: u64, price: i64, side: Side) -> Row {
        Row { time: 0, kind, order, quantity: 10, price: Price(price), side }
    }

    #[test]
    fn orders_never_added_are_learnt_with_all_that_is_taken_from_them() {
        let mut learning = Learning::default();
        learning.row(&row(Kind::New, 50, 200, Side::Sell));
        learning.row(&row(Kind::PartialCancel, 7, 100, Side::Buy));
        learning.row(&row(Kind::Execute, 7, 100, Side::Buy));
        learning.row(&row(Kind::Delete, 50, 200, Side::Sell));
        learning.row(&row(Kind::Delete, 3, 90, Side::Buy));
        let prior = |id, price, quantity| Prior { id, side: Side::Buy, price: Price(price), quantity };
        assert_eq!(learning.finish(), [prior(3, 90, 10), prior(7, 100, 20)]);
    }

    #[test]
    fn orders_that_the_market_went_through_before_were_not_there() {
        let mut learning = Learning::default();
        learning.row(&row(Kind::New, 50, 95, Side::Sell));
        learning.row(&row(Kind::Delete, 7, 100, Side::Buy));
        learning.row(&row(Kind::Delete, 8, 94, Side::Buy));
        learning.row(&row(Kind::Execute, 9, 90, Side::Buy));
        learning.row(&row(Kind::Delete, 10, 91, Side::Buy));
        assert_eq!(learning.finish().iter().map(|prior| prior.id).collect::<Vec<_>>(), [8, 9]);
    }

    #[test]
    fn crossed_quotes_of_a_halt_prove_nothing() {
        let mut learning = Learning::default();
        learning.row(&row(Kind::Phase(TradingPhase::Halt), 0, 0, Side::Sell));
        learning.row(&row(Kind::New, 50, 95, Side::Sell));
        learning.row(&row(Kind::Phase(TradingPhase::Continuous), 0, 0, Side::Sell));
        learning.row(&row(Kind::Delete, 7, 100, Side::Buy));
        assert_eq!(learning.finish().len(), 1);
    }

    #[test]
    fn crossed_quotes_between_the_end_of_a_halt_and_its_cross_prove_nothing() {
        let mut learning = Learning::default();
        let at = |time, row: Row| Row { time, ..row };
        learning.row(&row(Kind::Phase(TradingPhase::Halt), 0, 0, Side::Sell));
        learning.row(&at(1, row(Kind::Phase(TradingPhase::Continuous), 0, 0, Side::Sell)));
        learning.row(&at(2, row(Kind::New, 50, 95, Side::Sell)));
        learning.row(&at(3, row(Kind::Execute, 50, 97, Side::Sell)));
        learning.row(&at(3, row(Kind::Delete, 7, 100, Side::Buy)));
        learning.row(&at(4, row(Kind::New, 51, 95, Side::Sell)));
        learning.row(&at(5, row(Kind::Delete, 8, 100, Side::Buy)));
        assert_eq!(learning.finish().iter().map(|prior| prior.id).collect::<Vec<_>>(), [7]);
    }
}
