//! Call auctions of the recorded market in which the strategies' orders take part: [`CallAuctions::Uncross`].
//!
//! The price is the recorded one, whatever strategies do. The market's orders and theirs are paired at it as an exchange
//! does, and what the market's orders trade with each other in that is history's and no concern of this engine.

use wire::{Price, Quantity, Side, TradePrint};

use super::anomalies::count;
use super::book::Book;
use super::options::CallAuctions;
use super::order::Order;
use super::sink::Sink;
use super::slab::Slot;
use super::trading::Core;

/// An order that takes part, and how much of it has no partner yet.
#[derive(Clone, Copy, Debug)]
struct Part {
    slot: Slot,
    left: Quantity,
}

impl Core {
    /// Whether the strategies' orders take part in call auctions.
    pub(crate) fn uncrosses(&self) -> bool {
        self.options.call_auctions == CallAuctions::Uncross
    }

    /// Whether an auction collects the strategies' orders now.
    pub(crate) fn collects(&self, book: &Book) -> bool {
        self.uncrosses() && book.auction && !book.uncrossed
    }

    /// The auction has traded at `price`. Its further trades change nothing.
    #[cold]
    #[inline(never)]
    pub(crate) fn uncross_at<S: Sink>(&mut self, book: &mut Book, price: Price, sink: &mut S) {
        if !price.is_some() {
            return count(&mut self.anomalies.invalid_price);
        }
        let own = book.half(Side::Buy).ladder.own + book.half(Side::Sell).ladder.own;
        if !std::mem::replace(&mut book.uncrossed, true) && own > 0 {
            self.pair(
                book,
                [Side::Buy, Side::Sell].map(|side| self.parts(book, side, price, |_| true)),
                Some(price),
                sink,
            );
        }
    }

    /// Continuous trading begins: what crosses own orders trades with them, as if these came in now.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_call<S: Sink>(&mut self, book: &mut Book, sink: &mut S) {
        book.uncrossed = false;
        if book.half(Side::Buy).ladder.own + book.half(Side::Sell).ladder.own == 0 {
            return;
        }
        let (Some(bid), Some(ask)) = (self.best_price(book, Side::Buy), self.best_price(book, Side::Sell))
        else {
            return;
        };
        let buys = self.parts(book, Side::Buy, ask, Order::is_own);
        let sells = self.parts(book, Side::Sell, bid, |_| true);
        self.pair(book, [buys, sells], None, sink);
        let buys = self.parts(book, Side::Buy, ask, |order| !order.is_own());
        let sells = self.parts(book, Side::Sell, bid, Order::is_own);
        self.pair(book, [buys, sells], None, sink);
    }

    /// A print of the auction, where no orders of the market are known: own orders at strictly better prices would have
    /// had it.
    #[cold]
    #[inline(never)]
    pub(crate) fn print_of_auction<S: Sink>(&mut self, book: &mut Book, print: &TradePrint, sink: &mut S) {
        if print.quantity <= Quantity::ZERO {
            return count(&mut self.anomalies.invalid_quantity);
        }
        self.uncross_at(book, print.price, sink);
        if print.price.is_some() {
            self.trade_on_both_sides(book, (print.price, print.quantity), Some(print.price), sink);
        }
    }

    /// Pairs buyers with sellers from the front: at `price`, or without one, as long as they cross.
    fn pair<S: Sink>(
        &mut self,
        book: &mut Book,
        [buys, sells]: [Vec<Part>; 2],
        price: Option<Price>,
        sink: &mut S,
    ) {
        let (mut buys, mut sells) = (buys.into_iter(), sells.into_iter());
        let (mut buy, mut sell) = (buys.next(), sells.next());
        while let (Some(one), Some(other)) = (&mut buy, &mut sell) {
            let quantity = one.left.min(other.left);
            if !self.trade_pair(book, (one.slot, other.slot), quantity, price, sink) {
                return;
            }
            one.left -= quantity;
            other.left -= quantity;
            if one.left == Quantity::ZERO {
                buy = buys.next();
            }
            if other.left == Quantity::ZERO {
                sell = sells.next();
            }
        }
    }

    fn best_price(&self, book: &Book, side: Side) -> Option<Price> {
        let ladder = &book.half(side).ladder;
        let index = ladder.best_available(&self.arena, ladder.len())?;
        Some(self.arena.levels[ladder.level_at(index)].price)
    }

    /// Of the orders of `side` at `worst` or better, those that take part and of which anything is left, those first that trade first.
    fn parts(&self, book: &Book, side: Side, worst: Price, takes_part: impl Fn(&Order) -> bool) -> Vec<Part> {
        let ladder = &book.half(side).ladder;
        let mut parts = Vec::new();
        for index in (0..ladder.len()).rev() {
            if ladder.rank_at(index) < ladder.rank(worst) {
                break;
            }
            let mut slot = self.arena.levels[ladder.level_at(index)].head;
            while slot.is_some() {
                let order = &self.arena.orders[slot];
                if order.available() > Quantity::ZERO && takes_part(order) {
                    parts.push(Part { slot, left: order.available() });
                }
                slot = order.next;
            }
        }
        parts
    }

    /// A buyer and a seller trade; two of the market only use each other up. False: they do not cross.
    fn trade_pair<S: Sink>(
        &mut self,
        book: &mut Book,
        (buy, sell): (Slot, Slot),
        quantity: Quantity,
        price: Option<Price>,
        sink: &mut S,
    ) -> bool {
        let (buyer, seller) = (self.arena.orders[buy], self.arena.orders[sell]);
        if price.is_none() && buyer.price < seller.price {
            return false;
        }
        if !buyer.is_own() && !seller.is_own() {
            return true;
        }
        // Without the auction's price, the market's order was there first; of two own orders, the seller names the price.
        let limit = if buyer.is_own() { seller.price } else { buyer.price };
        let trade = self.trade(price.unwrap_or(limit), quantity);
        let time = book.event_time;
        for (slot, order) in [(buy, buyer), (sell, seller)] {
            if order.is_own() {
                self.fill_resting(&mut book.half_mut(order.side).ladder, slot, trade, time, sink);
            } else {
                self.arena.set(slot, order.open, order.taken + quantity);
            }
        }
        true
    }
}
