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
    levels: [Level; LEVELS],
    length: usize,
    /// Index of the best level that has anything left.
    first: usize,
}

impl Default for QuotedSide {
    fn default() -> QuotedSide {
        QuotedSide { levels: [Level::EMPTY; LEVELS], length: 0, first: 0 }
    }
}

impl QuotedSide {
    /// Levels that have anything left, best first.
    pub(crate) fn levels(&self) -> &[Level] {
        &self.levels[self.first..self.length]
    }

    /// The best level that has anything left.
    pub(crate) fn best(&self) -> Option<Level> {
        self.levels().first().copied()
    }

    /// Takes `quantity`, which is no more than it has, from the best level.
    pub(crate) fn take(&mut self, quantity: Quantity) {
        self.levels[self.first].quantity -= quantity;
        if self.levels[self.first].quantity <= Quantity::ZERO {
            self.first += 1;
        }
    }

    /// Replaces all levels by a quote's; false when some had to be cut off because they cannot be.
    pub(crate) fn load(&mut self, side: Side, shown: &[Level; LEVELS]) -> bool {
        (self.length, self.first) = (0, 0);
        let mut last: Option<Price> = None;
        for level in shown.iter().take_while(|level| level.is_some()) {
            let in_order = last.is_none_or(|last| match side {
                Side::Buy => level.price < last,
                Side::Sell => level.price > last,
            });
            if !in_order || level.quantity < Quantity::ZERO {
                return false;
            }
            last = Some(level.price);
            if level.quantity > Quantity::ZERO {
                self.levels[self.length] = *level;
                self.length += 1;
            }
        }
        true
    }
}

impl Core {
    /// A new quote: own orders that it crosses are filled, bids first.
    pub(crate) fn apply_quote<S: Sink>(&mut self, book: &mut Book, quote: &Quote, sink: &mut S) {
        for (side, shown) in [(Side::Buy, &quote.bids), (Side::Sell, &quote.asks)] {
            if !book.half_mut(side).quoted.load(side, shown) {
                count(&mut self.anomalies.garbled_quote);
            }
        }
        if let (Some(bid), Some(ask)) =
            (book.half(Side::Buy).quoted.best(), book.half(Side::Sell).quoted.best())
            && bid.price >= ask.price
        {
            count(&mut self.anomalies.crossed_quote);
        }
        if book.auction {
            return;
        }
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
            Aggressor::Buy => Side::Sell,
            Aggressor::Sell => Side::Buy,
            Aggressor::None => {
                if self.uncrosses() && book.auction {
                    self.print_of_auction(book, print, sink);
                }
                return;
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
