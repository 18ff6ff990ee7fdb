//! Between the message that ends a halt and the cross that it announces.

use wire::{Nanos, TradingPhase};

/// Whether a book may be crossed although continuous trading is announced: the orders that a halt or an auction collected cross until
/// the cross that ends it, and its rows may follow the announcement.
///
/// That is so while the book has been crossed since the announcement, and until the end of the instant in which the market first trades:
/// a later crossed book is a sign of missing rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reopening {
    is_under_way: bool,
    traded: Option<Nanos>,
}

impl Reopening {
    /// The market enters a phase. An announcement ends a phase in which a book may be crossed: the first phase of a day is none.
    pub(crate) fn enter(&mut self, phase: TradingPhase) {
        *self = Reopening { is_under_way: phase == TradingPhase::Continuous, traded: None };
    }

    /// The market comes to this time.
    #[inline]
    pub(crate) fn reach(&mut self, time: Nanos) {
        if self.traded.is_some_and(|traded| traded < time) {
            *self = Reopening::default();
        }
    }

    /// The market trades.
    pub(crate) fn trade(&mut self, time: Nanos) {
        if self.is_under_way {
            self.traded.get_or_insert(time);
        }
    }

    /// A row leaves the book like this. One that is not crossed before the market trades has no cross to come.
    #[inline]
    pub(crate) fn leave(&mut self, is_crossed: bool) {
        if self.is_under_way && !is_crossed && self.traded.is_none() {
            *self = Reopening::default();
        }
    }

    /// Whether the book may be crossed.
    #[inline]
    pub(crate) fn is_under_way(&self) -> bool {
        self.is_under_way
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_book_may_be_crossed_until_the_end_of_the_instant_of_the_cross() {
        let mut reopening = Reopening::default();
        assert!(!reopening.is_under_way());
        reopening.enter(TradingPhase::Halt);
        assert!(!reopening.is_under_way());
        reopening.enter(TradingPhase::Continuous);
        for time in [10, 20] {
            reopening.reach(Nanos(time));
            reopening.leave(true);
            assert!(reopening.is_under_way());
        }
        reopening.trade(Nanos(20));
        for is_crossed in [true, false] {
            reopening.reach(Nanos(20));
            reopening.leave(is_crossed);
            assert!(reopening.is_under_way());
        }
        reopening.reach(Nanos(21));
        assert!(!reopening.is_under_way());
        reopening.trade(Nanos(21));
        assert!(!reopening.is_under_way());
    }

    #[test]
    fn a_book_that_is_not_crossed_has_no_cross_to_come() {
        let mut reopening = Reopening::default();
        reopening.enter(TradingPhase::Continuous);
        reopening.leave(false);
        assert!(!reopening.is_under_way());
    }
}
