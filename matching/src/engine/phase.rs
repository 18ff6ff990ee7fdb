//! Phases of the recorded market ([`MarketPhase`](wire::MarketPhase)): what they permit, and what follows when they change.

use wire::{BookEvent, Quantity, Reason, Side, TradingPhase as Phase};

use super::book::Book;
use super::order::Kind;
use super::sink::Sink;
use super::trading::Core;

impl Core {
    /// The market enters a phase.
    #[cold]
    #[inline(never)]
    pub(crate) fn enter_phase<S: Sink>(&mut self, book: &mut Book, phase: Phase, sink: &mut S) {
        book.phase = phase;
        if phase == Phase::Closed {
            self.end_day(book, sink);
        }
        let is_held = phase != Phase::Continuous;
        if is_held || !book.auction {
            book.auction = is_held;
        } else if !self.is_market_crossed(book) {
            // The latest quote is of the halt: a crossed book has none. The next one follows at once.
            [Side::Buy, Side::Sell].into_iter().for_each(|side| book.half_mut(side).quoted.hide());
            self.reopen(book, sink);
        }
    }

    /// Before a message of the market, which may be marked as one of a call auction.
    #[inline]
    pub(crate) fn hold<S: Sink>(&mut self, book: &mut Book, is_marked: bool, sink: &mut S) {
        let is_held = is_marked || book.phase != Phase::Continuous;
        if is_held || !book.auction {
            book.auction = is_held;
        } else {
            self.reopen(book, sink);
        }
    }

    /// Continuous trading begins.
    fn reopen<S: Sink>(&mut self, book: &mut Book, sink: &mut S) {
        book.auction = false;
        if self.uncrosses() { self.end_call(book, sink) } else { self.end_auction(book, sink) }
    }

    /// Orders that are good for the day end with it, by number.
    fn end_day<S: Sink>(&mut self, book: &mut Book, sink: &mut S) {
        let mut slots = Vec::new();
        for side in [Side::Buy, Side::Sell] {
            let ladder = &book.half(side).ladder;
            for index in 0..ladder.len() {
                let mut slot = self.arena.levels[ladder.level_at(index)].head;
                while slot.is_some() {
                    let order = &self.arena.orders[slot];
                    if matches!(order.kind, Kind::Own | Kind::OwnPostOnly) {
                        slots.push((order.id, slot));
                    }
                    slot = order.next;
                }
            }
        }
        slots.sort_unstable_by_key(|(id, _)| *id);
        for (_, slot) in slots {
            self.cancel(book, slot, Reason::Expired, sink);
        }
    }

    /// Whether the market's own orders cross: its auction is still to come.
    fn is_market_crossed(&self, book: &Book) -> bool {
        let best = |side| {
            let ladder = &book.half(side).ladder;
            let levels = (0..ladder.len()).rev().map(|index| self.arena.levels[ladder.level_at(index)]);
            let mut levels = levels.filter(|level| {
                let mut slot = level.head;
                while slot.is_some() {
                    let order = &self.arena.orders[slot];
                    if order.kind == Kind::Market && order.open > Quantity::ZERO {
                        return true;
                    }
                    slot = order.next;
                }
                false
            });
            levels.next().map(|level| level.price)
        };
        best(Side::Buy).zip(best(Side::Sell)).is_some_and(|(bid, ask)| bid >= ask)
    }
}

impl Book {
    /// Why no order is taken now, not even for an auction; `collects`: orders are collected.
    pub(crate) fn refusal(&self, collects: bool) -> Option<Reason> {
        match self.phase {
            _ if !self.auction => None,
            Phase::Closed | Phase::Pause => Some(Reason::NotTradable),
            _ if collects => None,
            _ => Some(self.refusal_of_taker()),
        }
    }

    /// Why no order that cannot wait is taken while nothing trades.
    pub(crate) fn refusal_of_taker(&self) -> Reason {
        match self.phase {
            Phase::Closed | Phase::Pause | Phase::Halt => Reason::NotTradable,
            _ => Reason::CallAuction,
        }
    }

    /// Why no cancel is taken now.
    pub(crate) fn refusal_of_cancel(&self) -> Option<Reason> {
        match self.phase {
            Phase::OpeningFreeze | Phase::ClosingFreeze => Some(Reason::CallAuction),
            Phase::Pause => Some(Reason::NotTradable),
            _ => None,
        }
    }
}

/// Whether an event belongs to a cross: at a reopening it comes before continuous trading.
pub(crate) fn is_of_cross(event: &BookEvent) -> bool {
    event.flags & BookEvent::NO_SIDE != 0 && event.flags & BookEvent::HIDDEN == 0
}
