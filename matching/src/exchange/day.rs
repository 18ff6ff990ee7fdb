//! The course of a day: phases, what happens when they change, and time.

use wire::{Nanos, Reason, Side};

use super::book::{Book, rank};
use super::core::Core;
use super::event::{Event, Sink};
use super::phase::{Auction, Phase, auction_of};
use super::records::{Place, Record, Span};

impl Core {
    /// Changes the phase of an instrument's market, with all that follows from it.
    pub(crate) fn set_phase<S: Sink>(&mut self, book: &mut Book, to: Phase, sink: &mut S) {
        let from = book.phase;
        if from == to {
            return;
        }
        book.auction_ends = None;
        let left = auction_of(from).filter(|auction| auction_of(to) != Some(*auction) && to != Phase::Halt);
        let crossed = to == Phase::Continuous && is_crossed(book, self);
        if left.is_some() || crossed {
            self.uncross(book, left, sink);
            self.note_trades(book);
            self.end_those(book, Reason::NoLiquidity, sink, |record| {
                record.flags.is_market() && record.level.is_some()
            });
        }
        if left == Some(Auction::Opening) || to == Phase::Continuous {
            self.end_those(book, Reason::Expired, sink, |record| record.flags.span() == Span::AtTheOpen);
        }
        if left == Some(Auction::Closing) || to == Phase::Continuous {
            self.end_those(book, Reason::Expired, sink, |record| {
                record.flags.span() == Span::AtTheClose && record.level.is_some()
            });
        }
        self.change(book, to, sink);
        match to {
            Phase::Closed => self.close(book, sink),
            Phase::Continuous => {
                let mut reached = std::mem::take(&mut book.reached);
                reached.make_contiguous().sort_by_key(|place| std::cmp::Reverse(self.age(*place)));
                book.reached = reached;
                self.trigger_reached(book, sink);
            }
            _ if auction_of(to) == Some(Auction::Closing) && auction_of(from) != Some(Auction::Closing) => {
                for place in std::mem::take(&mut book.at_the_close) {
                    // It is in no list any more: only its record is taken back.
                    let mut incoming = self.take_out(book, place);
                    self.rest(book, &mut incoming, sink);
                }
            }
            _ => {}
        }
    }

    /// A trade beyond the dynamic band would follow: an auction begins.
    #[cold]
    pub(crate) fn interrupt<S: Sink>(&mut self, book: &mut Book, sink: &mut S) {
        self.change(book, Phase::VolatilityAuction, sink);
        self.interrupted = true;
        book.auction_ends = Some(Nanos(self.now.saturating_add(book.auction_time().0)));
    }

    fn change<S: Sink>(&mut self, book: &mut Book, to: Phase, sink: &mut S) {
        let from = book.set_phase(to);
        sink.event(Event::PhaseChanged { instrument: book.id, from, to });
    }

    fn close<S: Sink>(&mut self, book: &mut Book, sink: &mut S) {
        self.end_those(book, Reason::Expired, sink, |record| {
            !matches!(record.flags.span(), Span::GoodTillCancel | Span::GoodTillDate)
        });
    }

    /// Ends the orders of a book that are such, the oldest first.
    fn end_those<S: Sink>(
        &mut self,
        book: &mut Book,
        reason: Reason,
        sink: &mut S,
        are: impl Fn(&Record) -> bool,
    ) {
        let mut places = Vec::new();
        self.for_each(book, |core, place| {
            if are(&core.records[place]) {
                places.push(place);
            }
        });
        self.end_all(book, places, reason, sink);
    }

    /// Calls `each` for every working order of a book.
    fn for_each(&self, book: &Book, mut each: impl FnMut(&Core, Place)) {
        for side in [Side::Buy, Side::Sell] {
            for place in self.resting(book, side) {
                each(self, place);
            }
        }
        let stops = book.stops.iter().flatten().map(|(_, place)| place);
        for place in stops.chain(&book.reached).chain(&book.at_the_close) {
            each(self, *place);
        }
    }

    /// When the next thing is due in a book, and which phase it brings.
    pub(crate) fn due(book: &Book) -> Option<(Nanos, Phase)> {
        let auction = book.auction_ends.map(|ends| (ends, Phase::Continuous));
        let scheduled = book.schedule.front().copied();
        match (scheduled, auction) {
            (Some(scheduled), Some(auction)) => {
                Some(if auction.0 < scheduled.0 { auction } else { scheduled })
            }
            (scheduled, auction) => scheduled.or(auction),
        }
    }
}

fn is_crossed(book: &Book, core: &Core) -> bool {
    let market = |side| book.queue(side).is_some_and(|queue| core.levels[queue].orders > 0);
    let best = |side| book.side(side).first().map(|(rank_of, _)| rank(side, rank_of));
    let crossed = best(Side::Buy).zip(best(Side::Sell)).is_some_and(|(bid, ask)| bid >= ask);
    crossed || market(Side::Buy) || market(Side::Sell)
}
