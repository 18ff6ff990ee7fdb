//! Phases of the recorded market ([`MarketPhase`](wire::MarketPhase)): what they permit, and what follows when they change.

use wire::{
    BookAction, BookEvent, InstrumentId, Nanos, Price, Quantity, Reason, Side, TradingPhase as Phase,
};

use super::book::Book;
use super::order::Kind;
use super::sink::Sink;
use super::trading::Core;
use super::{Engine, FillModel, find};

/// Between the message that announces continuous trading and the end of the instant in which it begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Reopening {
    /// It is not under way.
    #[default]
    None,
    /// Announced. The cross that ends the auction may still come, in this instant or, while the market's own orders cross, later.
    Announced,
    /// The cross has come, or what shows that none does: continuous trading begins when the instant ends.
    Due,
}

impl Engine {
    /// The instants before `time` are over: where the market announced continuous trading in one of them, it begins, and
    /// what crosses trades. Returns the instruments. Callers with several instruments call it before each later message, as
    /// the market's next message about the instrument itself may be hours away.
    pub fn end_instants<S: Sink>(&mut self, time: Nanos, sink: &mut S) -> Vec<InstrumentId> {
        let mut reopened = Vec::new();
        self.reopening.retain(|instrument| {
            let Some(book) = find(&mut self.books, *instrument) else { return false };
            if book.event_time < time && self.core.end_instant(book, sink) {
                reopened.push(*instrument);
            }
            book.reopening != Reopening::None
        });
        reopened
    }

    /// Whether an instrument's reopening is under way.
    #[inline]
    pub(crate) fn is_reopening(&self) -> bool {
        !self.reopening.is_empty()
    }

    /// The instant at whose end the next reopening happens.
    pub(crate) fn reopens_at(&self) -> Option<Nanos> {
        let books = self.reopening.iter().filter_map(|id| self.books.get(id.0 as usize)?.as_ref());
        books.filter(|book| self.core.may_reopen(book)).map(|book| book.event_time).min()
    }

    /// An instrument's reopening is under way.
    pub(crate) fn note_reopening(&mut self, instrument: InstrumentId) {
        let is_under_way =
            find(&mut self.books, instrument).is_some_and(|book| book.reopening != Reopening::None);
        // In the order of their numbers, so that a successor answers in the same order.
        if is_under_way && let Err(place) = self.reopening.binary_search(&instrument) {
            self.reopening.insert(place, instrument);
        }
    }
}

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
        if is_held && !matches!(phase, Phase::Pause | Phase::Closed) {
            // Orders are collected anew.
            book.cross = None;
        }
        if is_held || !book.auction {
            (book.auction, book.reopening) = (is_held, Reopening::None);
        } else if book.reopening == Reopening::None {
            // The latest quote is of the halt. The next one follows at once, if the book is not crossed.
            [Side::Buy, Side::Sell].into_iter().for_each(|side| book.half_mut(side).quoted.hide());
            book.reopening = Reopening::Announced;
        }
    }

    /// A message of the market of this time comes.
    #[inline]
    pub(crate) fn reach<S: Sink>(&mut self, book: &mut Book, time: Nanos, sink: &mut S) {
        if book.auction && book.event_time < time {
            self.end_instant(book, sink);
        }
        book.event_time = time;
    }

    /// Nothing more comes of the instant of the latest message: continuous trading begins, if that is due. Says whether it did.
    #[cold]
    #[inline(never)]
    fn end_instant<S: Sink>(&mut self, book: &mut Book, sink: &mut S) -> bool {
        let begins = self.may_reopen(book);
        if begins {
            self.reopen(book, sink);
        }
        begins
    }

    /// Whether continuous trading begins when the instant ends.
    fn may_reopen(&self, book: &Book) -> bool {
        match book.reopening {
            Reopening::None => false,
            // Beside quotes, the first one shows that the market's own orders do not cross.
            Reopening::Announced => self.options.fill == FillModel::Book && !self.is_market_crossed(book),
            Reopening::Due => true,
        }
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
        let (bid, ask) = (self.market_best(book, Side::Buy), self.market_best(book, Side::Sell));
        bid.zip(ask).is_some_and(|(bid, ask)| bid >= ask)
    }

    /// The best price of the market's own orders, or of the latest quote.
    pub(crate) fn market_best(&self, book: &Book, side: Side) -> Option<Price> {
        if self.options.fill == FillModel::Quotes {
            return book.half(side).quoted.best().map(|level| level.price);
        }
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
    }
}

impl Book {
    /// Before a message of the market, which may be marked as one of a call auction. Says whether continuous trading begins with it.
    #[inline]
    pub(crate) fn hold(&mut self, is_marked: bool) -> bool {
        let is_held = is_marked || self.phase != Phase::Continuous;
        if is_held && !self.auction {
            self.cross = None;
        }
        if is_held || !self.auction {
            (self.auction, self.reopening) = (is_held, Reopening::None);
            return false;
        }
        self.reopening == Reopening::None
    }

    /// Whether the phase itself is an auction: each trade in it is the auction's, and it ends with them. Where messages announce
    /// halts and quoting, others announce or mark the cross.
    pub(crate) fn is_auction_by_clock(&self) -> bool {
        let is_other = match self.phase {
            Phase::Halt | Phase::VolatilityAuction => true,
            Phase::Continuous => self.reopening != Reopening::None,
            _ => false,
        };
        self.auction && !is_other
    }

    /// Whether a trade is of a cross, or of the auction that is on.
    pub(crate) fn is_crossed_by(&self, trade: &BookEvent) -> bool {
        is_of_cross(trade) || self.is_auction_by_clock() && trade.flags & BookEvent::HIDDEN == 0
    }

    /// The cross, or what shows that none comes.
    pub(crate) fn note_cross(&mut self) {
        if self.reopening == Reopening::Announced {
            self.reopening = Reopening::Due;
        }
    }

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

/// Whether an event trades: at a reopening it is of the cross, or shows that none comes.
pub(crate) fn is_trade(event: &BookEvent) -> bool {
    matches!(event.action, BookAction::Execute | BookAction::Trade)
}

/// Whether an event belongs to a cross: at a reopening it comes before continuous trading.
pub(crate) fn is_of_cross(event: &BookEvent) -> bool {
    event.flags & BookEvent::NO_SIDE != 0 && event.flags & BookEvent::HIDDEN == 0
}
