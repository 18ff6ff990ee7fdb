//! What the latest quote offers, less what own orders took of it; and how quotes and prints fill own orders.

use wire::{Aggressor, LEVELS, Level, Price, Quantity, Quote, Side, TradePrint};

use super::anomalies::count;
use super::book::Book;
use super::options::Queue;
use super::sink::Sink;
use super::slab::Slot;
use super::trading::{Aggression, Core};

/// One side of the latest quote.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuotedSide {
    side: Side,
    /// What is left, best first.
    levels: [Level; LEVELS],
    length: usize,
    /// Index of the best level that has anything left.
    first: usize,
    /// What own orders took and the market still shows, or may show again, best first.
    taken: [Level; LEVELS],
    takes: usize,
}

impl QuotedSide {
    /// Shows nothing.
    pub(crate) fn new(side: Side) -> QuotedSide {
        let (levels, taken) = ([Level::EMPTY; LEVELS], [Level::EMPTY; LEVELS]);
        QuotedSide { side, levels, length: 0, first: 0, taken, takes: 0 }
    }

    /// Levels that have anything left, best first.
    pub(crate) fn levels(&self) -> &[Level] {
        &self.levels[self.first..self.length]
    }

    /// The best level that has anything left.
    pub(crate) fn best(&self) -> Option<Level> {
        self.levels().first().copied()
    }

    /// What own orders took, best first.
    pub(crate) fn taken(&self) -> &[Level] {
        &self.taken[..self.takes]
    }

    /// Takes up what another engine's orders took, in its order.
    pub(crate) fn restore_taken(&mut self, taken: impl Iterator<Item = Level>) {
        self.takes = 0;
        for taken in taken.take(LEVELS) {
            self.taken[self.takes] = taken;
            self.takes += 1;
        }
    }

    /// Takes `quantity`, which is no more than it has, from the best level.
    pub(crate) fn take(&mut self, quantity: Quantity) {
        self.note(self.levels[self.first].price, quantity);
        self.use_up(quantity);
    }

    /// As [`QuotedSide::take`], of what the market's own orders trade with each other.
    pub(crate) fn use_up(&mut self, quantity: Quantity) {
        self.levels[self.first].quantity -= quantity;
        if self.levels[self.first].quantity <= Quantity::ZERO {
            self.first += 1;
        }
    }

    /// Remembers what was taken at a price. Without room, the worst price is forgotten.
    fn note(&mut self, price: Price, quantity: Quantity) {
        let at = self.taken().iter().position(|taken| !is_before(self.side, taken.price, price));
        let at = at.unwrap_or(self.takes);
        if at < self.takes && self.taken[at].price == price {
            return self.taken[at].quantity += quantity;
        }
        if at < LEVELS {
            self.takes = (self.takes + 1).min(LEVELS);
            self.taken.copy_within(at..self.takes - 1, at + 1);
            self.taken[at] = Level { price, quantity };
        }
    }

    /// Offers nothing until the next quote. What own orders took stays taken.
    pub(crate) fn hide(&mut self) {
        (self.length, self.first) = (0, 0);
    }

    /// Replaces all levels by a quote's, less what own orders took of what these still show; false when some had to be cut
    /// off because they cannot be.
    pub(crate) fn load(&mut self, shown: &[Level; LEVELS]) -> bool {
        (self.length, self.first) = (0, 0);
        let mut last: Option<Price> = None;
        let mut is_sound = true;
        let (mut next, mut kept) = (0, 0);
        for level in shown.iter().take_while(|level| level.is_some()) {
            is_sound = level.quantity >= Quantity::ZERO
                && last.is_none_or(|last| is_before(self.side, last, level.price));
            if !is_sound {
                break;
            }
            last = Some(level.price);
            let mut left = level.quantity;
            // What was taken at better prices was of levels that the market has no more.
            while next < self.takes && is_before(self.side, self.taken[next].price, level.price) {
                next += 1;
            }
            if next < self.takes && self.taken[next].price == level.price {
                let quantity = self.taken[next].quantity.min(left);
                left -= quantity;
                next += 1;
                if quantity > Quantity::ZERO {
                    self.taken[kept] = Level { price: level.price, quantity };
                    kept += 1;
                }
            }
            if left > Quantity::ZERO {
                self.levels[self.length] = Level { quantity: left, ..*level };
                self.length += 1;
            }
        }
        // Behind the last level, nothing is known of the market.
        if last.is_some() {
            self.taken.copy_within(next..self.takes, kept);
            kept += self.takes - next;
        }
        self.takes = kept;
        is_sound
    }
}

/// Whether `price` trades before `other` on this side.
fn is_before(side: Side, price: Price, other: Price) -> bool {
    match side {
        Side::Buy => price > other,
        Side::Sell => price < other,
    }
}

impl Core {
    /// A new quote takes the place of the one before.
    pub(crate) fn load_quote(&mut self, book: &mut Book, quote: &Quote) {
        for (side, shown) in [(Side::Buy, &quote.bids), (Side::Sell, &quote.asks)] {
            if !book.half_mut(side).quoted.load(shown) {
                count(&mut self.anomalies.garbled_quote);
            }
        }
        if let (Some(bid), Some(ask)) =
            (book.half(Side::Buy).quoted.best(), book.half(Side::Sell).quoted.best())
            && bid.price >= ask.price
        {
            count(&mut self.anomalies.crossed_quote);
        }
    }

    /// Own orders that the latest quote crosses are filled, bids first.
    pub(crate) fn meet_quote<S: Sink>(&mut self, book: &mut Book, sink: &mut S) {
        let time = book.event_time;
        for side in [Side::Buy, Side::Sell] {
            let (ladder, quoted) = book.facing(side);
            while let Some(offer) = quoted.best() {
                let aggression = Aggression {
                    floor: ladder.rank(offer.price),
                    stop: Slot::NONE,
                    quantity: offer.quantity,
                    auction: None,
                };
                let filled = self.serve(ladder, aggression, time, sink);
                if filled > Quantity::ZERO {
                    quoted.take(filled);
                }
                if filled < offer.quantity {
                    break;
                }
            }
        }
    }

    /// A trade in the market: own orders at strictly better prices would have been first.
    pub(crate) fn apply_print<S: Sink>(&mut self, book: &mut Book, print: &TradePrint, sink: &mut S) {
        let side = match print.aggressor {
            Aggressor::Buy | Aggressor::Sell if book.auction => return,
            Aggressor::Buy => Side::Sell,
            Aggressor::Sell => Side::Buy,
            Aggressor::None => {
                // One without a side: it was hidden, or a cross. Own orders of both sides at better prices would have been first.
                if !book.auction {
                    return self.trade_without_side(book, (print.price, print.quantity), sink);
                }
                self.print_of_cross(book, print, sink);
                return book.note_cross();
            }
        };
        self.trade_through(
            book,
            side,
            (print.price, print.quantity),
            self.options.queue == Queue::Touch,
            sink,
        );
    }
}
