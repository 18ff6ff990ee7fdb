//! Books of all instruments, and their due quotes.

use wire::{Instrument, InstrumentId, Nanos, Quote};

use super::{Anomalies, Book};
use crate::source::SourceEvent;
use crate::source::reopening::Reopening;

/// The books of a source's instruments.
#[derive(Debug)]
pub struct Books {
    books: Vec<State>,
    anomalies: Anomalies,
    crossed: u64,
}

#[derive(Debug)]
struct State {
    book: Book,
    quote: Quote,
    /// A change was not published: before the window, or while crossed.
    held: bool,
    /// Whether the cross that ends a halt or an auction is still to come.
    reopening: Reopening,
}

/// The result of an event.
#[derive(Debug)]
pub struct Rebuilt<'a> {
    /// The quote to publish after the event's trades; `None` when nothing visible changed or the book is crossed.
    pub quote: Option<&'a Quote>,
    /// The event changed a book that is crossed outside of a marked call auction, and not by orders whose cross is still to come. The
    /// source decides whether a row is missing ([`crate::source::Source::crossed`]).
    pub crossed: bool,
}

impl State {
    /// The event is applied to the book.
    #[inline]
    fn follow_reopening(&mut self, event: &SourceEvent) {
        if let Some(phase) = event.phase {
            self.reopening.enter(phase);
        }
        if self.reopening.is_under_way() {
            self.reopening.reach(event.event_time);
            if event.trades() {
                self.reopening.trade(event.event_time);
            }
            self.reopening.leave(self.book.is_crossed());
        }
    }
}

impl Books {
    /// One empty book for each instrument; ids count from 1, in order.
    pub fn new(instruments: &[Instrument]) -> Books {
        let books = instruments
            .iter()
            .map(|instrument| State {
                book: Book::new(),
                quote: Quote::empty(instrument.id),
                held: false,
                reopening: Reopening::default(),
            })
            .collect();
        Books { books, anomalies: Anomalies::default(), crossed: 0 }
    }

    /// Applies a source's event, and returns the quote if one is due. An event about an instrument that is not listed
    /// changes nothing.
    pub fn apply(&mut self, event: &SourceEvent) -> Rebuilt<'_> {
        let Some(state) = (event.instrument.0 as usize).checked_sub(1).and_then(|at| self.books.get_mut(at))
        else {
            return Rebuilt { quote: None, crossed: false };
        };
        for part in &event.book_events {
            if let Err(error) = state.book.apply(part) {
                self.anomalies.count(error);
            }
        }
        state.follow_reopening(event);
        let quote = &mut state.quote;
        if let Some(trade) = event.trades.last() {
            (quote.last_price, quote.last_quantity) = (trade.price, trade.quantity);
        }
        (quote.event_time, quote.sequence) = (event.event_time, event.sequence);
        let flags = if event.call_auction { Quote::CALL_AUCTION } else { 0 };
        let is_other = event.phase.is_some() && std::mem::replace(&mut quote.flags, flags) != flags;
        quote.flags = flags;
        let changed = state.book.quote(quote) || !event.trades.is_empty();
        // A phase changes what the levels mean, where there are any. That trading begins is said by the first quote.
        let has_levels = quote.best_bid().is_some() || quote.best_ask().is_some();
        let changed = changed || is_other && (flags == 0 || has_levels);
        if event.warm_up {
            state.held |= changed;
            return Rebuilt { quote: None, crossed: false };
        }
        if state.book.is_crossed() {
            self.crossed += u64::from(changed);
            state.held |= changed;
            let crossed = changed && !event.call_auction && !state.reopening.is_under_way();
            return Rebuilt { quote: None, crossed };
        }
        let due = changed || state.held;
        state.held = false;
        Rebuilt { quote: due.then_some(&state.quote), crossed: false }
    }

    /// As [`Books::apply`]; the quote, if one is due, says that it was due at `due`.
    pub(crate) fn apply_due(&mut self, event: &SourceEvent, due: Nanos) -> Option<&Quote> {
        if let Some(state) =
            (event.instrument.0 as usize).checked_sub(1).and_then(|at| self.books.get_mut(at))
        {
            state.quote.due = due;
        }
        self.apply(event).quote
    }

    /// One instrument's ten best levels, with its last trade.
    pub(crate) fn quote(&self, instrument: InstrumentId) -> Option<&Quote> {
        (instrument.0 as usize).checked_sub(1).and_then(|at| self.books.get(at)).map(|state| &state.quote)
    }

    /// One instrument's book.
    pub fn book(&self, instrument: InstrumentId) -> Option<&Book> {
        (instrument.0 as usize).checked_sub(1).and_then(|at| self.books.get(at)).map(|state| &state.book)
    }

    /// Events that did not fit; the sources of this crate give none.
    pub fn anomalies(&self) -> &Anomalies {
        &self.anomalies
    }

    /// Quotes held back because the book was crossed, including those in auctions.
    pub fn crossed(&self) -> u64 {
        self.crossed
    }
}
