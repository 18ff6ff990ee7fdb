//! Continuous trading: what an order does that comes in.

use wire::{Aggressor, Reason, Side};

use super::book::{Book, rank};
use super::core::{Core, Incoming};
use super::event::{Event, Sink};
use super::phase::Phase;
use super::records::{LevelPlace, Place, Span};
use super::request::SelfTrade;
use super::rules::MarketRemainder;

/// Why an incoming order stopped trading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stopped {
    /// It is filled, or nothing is left within its price.
    Done,
    /// Self-trade prevention cancels what is left of it.
    SelfTrade,
    /// It has ended and was reported.
    Ended,
}

/// Where an incoming order may trade, as ranks of the other side.
#[derive(Clone, Copy, Debug)]
struct Ranks {
    /// The worst price.
    floor: i64,
    /// The best price: beyond it lies the dynamic band.
    ceiling: i64,
}

impl Ranks {
    #[inline(always)]
    fn hold(self, rank: i64) -> bool {
        rank >= self.floor && rank <= self.ceiling
    }
}

impl Core {
    /// Carries out an order that was accepted, triggered or replaced.
    #[inline(always)]
    pub(crate) fn run<S: Sink>(&mut self, book: &mut Book, incoming: &mut Incoming, sink: &mut S) {
        if book.phase != Phase::Continuous {
            return self.rest(book, incoming, sink);
        }
        let side = incoming.side();
        let reach = reach(book, incoming);
        let opposite = book.side(side.opposite());
        if opposite.best.is_some() && opposite.best_rank >= reach {
            return self.cross(book, incoming, reach, sink);
        }
        let span = incoming.record.flags.span();
        if incoming.minimum > 0 || span == Span::FillOrKill {
            return cancelled(book, incoming, Reason::NotFillable, sink);
        }
        if incoming.record.flags.is_market() || !span.rests() {
            return cancelled(book, incoming, Reason::NoLiquidity, sink);
        }
        self.rest(book, incoming, sink);
    }

    /// Carries out an order that crosses the other side's best price.
    #[inline(never)]
    pub(crate) fn cross<S: Sink>(
        &mut self,
        book: &mut Book,
        incoming: &mut Incoming,
        reach: i64,
        sink: &mut S,
    ) {
        let side = incoming.side();
        let span = incoming.record.flags.span();
        let (worst, best) = book.band_ranks(side);
        let ranks = Ranks { floor: reach.max(worst), ceiling: best };
        let needed = if span == Span::FillOrKill { incoming.record.open } else { incoming.minimum };
        if needed > 0 && !self.can_trade(book, incoming, ranks, needed) {
            return cancelled(book, incoming, Reason::NotFillable, sink);
        }
        let filled_before = incoming.record.filled;
        let stopped = self.take(book, incoming, ranks, sink);
        if stopped == Stopped::Ended || incoming.record.open == 0 {
            return;
        }
        if stopped == Stopped::SelfTrade {
            return cancelled(book, incoming, Reason::SelfTrade, sink);
        }
        let is_market = incoming.record.flags.is_market();
        let opposite = book.side(side.opposite());
        let interrupts = !is_market && opposite.best.is_some() && opposite.best_rank >= reach;
        if interrupts {
            // Before the rest goes into the book, which it crosses: a book that is whole and crossed is an auction's.
            self.interrupt(book, sink);
        }
        let traded = incoming.record.filled > filled_before;
        if !span.rests() || is_market && !(traded && remainder_rests(book)) {
            cancelled(book, incoming, Reason::NoLiquidity, sink);
        } else {
            if is_market {
                incoming.record.price = book.last;
                incoming.record.flags.set_market(false);
            }
            self.rest(book, incoming, sink);
        }
    }

    /// Trades with the other side within these ranks.
    fn take<S: Sink>(
        &mut self,
        book: &mut Book,
        incoming: &mut Incoming,
        ranks: Ranks,
        sink: &mut S,
    ) -> Stopped {
        let side = incoming.side();
        let self_trade = incoming.record.flags.self_trade();
        while incoming.record.open > 0 {
            let opposite = book.side(side.opposite());
            if !opposite.best.is_some() || !ranks.hold(opposite.best_rank) {
                break;
            }
            let tick = rank(side.opposite(), opposite.best_rank);
            let head = self.levels[opposite.best].head;
            if self_trade != SelfTrade::Allow
                && Core::same_owner(book.market.owner, &incoming.record, &self.records[head])
            {
                match self.prevent(book, incoming, head, sink) {
                    Stopped::Done => continue,
                    stopped => return stopped,
                }
            }
            let quantity = self.records.shown(&self.records[head]).min(incoming.record.open);
            let (resting, shown) = self.fill(head, quantity);
            incoming.record.open -= quantity;
            incoming.record.filled += quantity;
            book.note_trade(resting.price, tick);
            let (own, other) = (incoming.record.state(book.id, 0), resting.state(book.id, shown));
            let trade = match side {
                Side::Buy => self.trade(resting.price, quantity, Aggressor::Buy, own, other),
                Side::Sell => self.trade(resting.price, quantity, Aggressor::Sell, other, own),
            };
            sink.event(Event::Traded(trade));
            self.settle(book, head, &resting, shown, sink);
        }
        Stopped::Done
    }

    /// The next in line is of the same owner. `Done`: the incoming order goes on.
    #[cold]
    fn prevent<S: Sink>(
        &mut self,
        book: &mut Book,
        incoming: &mut Incoming,
        head: Place,
        sink: &mut S,
    ) -> Stopped {
        match incoming.record.flags.self_trade() {
            SelfTrade::Allow => Stopped::Done,
            SelfTrade::CancelNewest => Stopped::SelfTrade,
            SelfTrade::CancelOldest => {
                self.end(book, head, Reason::SelfTrade, sink);
                Stopped::Done
            }
            SelfTrade::CancelBoth => {
                self.end(book, head, Reason::SelfTrade, sink);
                Stopped::SelfTrade
            }
            SelfTrade::Decrement => self.decrement(book, incoming, head, sink),
        }
    }

    fn decrement<S: Sink>(
        &mut self,
        book: &mut Book,
        incoming: &mut Incoming,
        head: Place,
        sink: &mut S,
    ) -> Stopped {
        let open = self.records[head].open;
        let less = open.min(incoming.record.open);
        if less == open {
            self.end(book, head, Reason::SelfTrade, sink);
        } else {
            let shown = self.shrink(head, open - less);
            sink.event(Event::Decremented(self.records[head].state(book.id, shown)));
        }
        if less == incoming.record.open {
            cancelled(book, incoming, Reason::SelfTrade, sink);
            return Stopped::Ended;
        }
        incoming.record.open -= less;
        sink.event(Event::Decremented(incoming.record.state(book.id, 0)));
        Stopped::Done
    }

    /// Whether an incoming order could trade `needed` at once within these ranks.
    fn can_trade(&self, book: &Book, incoming: &Incoming, ranks: Ranks, needed: i64) -> bool {
        let ladder = book.side(incoming.side().opposite());
        let prevents = incoming.record.flags.self_trade() != SelfTrade::Allow;
        let needed = i128::from(needed);
        let mut found = 0;
        let mut next = ladder.first();
        while let Some((rank, level)) = next
            && ranks.hold(rank)
            && found < needed
        {
            if prevents {
                let (quantity, stops) = self.available(book, incoming, level);
                found += quantity;
                if stops {
                    break;
                }
            } else {
                found += self.levels[level].quantity();
            }
            next = ladder.next(&self.levels, level);
        }
        found >= needed
    }

    /// What an incoming order can have at a level, and whether it goes no further.
    fn available(&self, book: &Book, incoming: &Incoming, level: LevelPlace) -> (i128, bool) {
        let (mut shown, mut all) = (0, 0);
        let mut place = self.levels[level].head;
        while place.is_some() {
            let record = &self.records[place];
            if !Core::same_owner(book.market.owner, &incoming.record, record) {
                shown += i128::from(self.records.shown(record));
                all += i128::from(record.open);
            } else if incoming.record.flags.self_trade() != SelfTrade::CancelOldest {
                return (shown, true);
            }
            place = record.next;
        }
        (all, false)
    }

    /// Whether anything could trade with an incoming order at once.
    pub(crate) fn would_trade(book: &Book, incoming: &Incoming) -> bool {
        let opposite = book.side(incoming.side().opposite());
        opposite.best.is_some() && opposite.best_rank >= reach(book, incoming)
    }
}

/// The worst rank on the other side that an incoming order's own price allows.
#[inline(always)]
fn reach(book: &Book, incoming: &Incoming) -> i64 {
    if incoming.record.flags.is_market() {
        return i64::MIN;
    }
    let tick = book.grid.tick(incoming.record.price).unwrap_or_default();
    rank(incoming.side().opposite(), tick)
}

fn remainder_rests(book: &Book) -> bool {
    book.market.market_remainder == MarketRemainder::RestAtLastPrice
}

/// Reports that what is left of an incoming order is cancelled.
fn cancelled<S: Sink>(book: &Book, incoming: &mut Incoming, reason: Reason, sink: &mut S) {
    sink.event(Event::Cancelled(incoming.record.state(book.id, 0), reason));
}
