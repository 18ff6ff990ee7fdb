//! Call auctions and crosses of the recorded market, and the auction with which trading resumes.

use wire::{BookAction, BookEvent, Nanos, Price, Quantity, Side, TradePrint};

use super::anomalies::count;
use super::book::Book;
use super::options::CallAuctions;
use super::order::Order;
use super::phase::Reopening;
use super::sink::Sink;
use super::slab::Slot;
use super::trading::{Aggression, Core};

/// Quantity that takes part in an auction: an order, or without a slot a level of the latest quote.
#[derive(Clone, Copy, Debug)]
struct Part {
    slot: Slot,
    price: Price,
    /// It has no partner yet.
    left: Quantity,
}

/// The cross that has traded: which quantities are accounted for. By side, buyers first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cross {
    pub(crate) time: Nanos,
    pub(crate) price: Price,
    /// Traded by orders that are not in the book.
    pub(crate) volume: Quantity,
    /// What the orders of the book trade with each other at the price, and what own orders have traded beyond that.
    pub(crate) paired: [Quantity; 2],
    /// What the market's orders in the book have executed.
    pub(crate) executed: [Quantity; 2],
}

impl Core {
    /// Whether orders are collected now, for the auction that is on or for the one that ends a halt.
    pub(crate) fn collects(&self, book: &Book) -> bool {
        let has_ended = book.is_auction_by_clock() && book.cross.is_some();
        book.auction && !has_ended && self.options.call_auctions == CallAuctions::Uncross
    }

    /// A cross trades at `price`. In an auction its first trade pairs all orders of the book that may trade there.
    fn begin_cross<S: Sink>(&mut self, book: &mut Book, price: Price, sink: &mut S) {
        let time = book.event_time;
        if book.cross.is_some_and(|cross| book.auction || (cross.time, cross.price) == (time, price)) {
            return;
        }
        let paired = match (book.auction, book.has_own()) {
            (true, true) => self.pair_book(book, price, sink),
            (true, false) => Quantity(i64::MAX),
            (false, true) => Quantity::ZERO,
            (false, false) => return,
        };
        let none = Quantity::ZERO;
        book.cross = Some(Cross { time, price, volume: none, paired: [paired; 2], executed: [none; 2] });
    }

    /// A cross executes an order of the market: own orders before it in its queue trade first, with what the book's own
    /// pairs do not account for.
    #[cold]
    #[inline(never)]
    pub(crate) fn execute_in_cross<S: Sink>(
        &mut self,
        book: &mut Book,
        slot: Slot,
        event: &BookEvent,
        sink: &mut S,
    ) {
        if !event.price.is_some() {
            return count(&mut self.anomalies.invalid_price);
        }
        self.begin_cross(book, event.price, sink);
        let order = self.arena.orders[slot];
        let (side, time) = (index(order.side), book.event_time);
        let Some(cross) = &mut book.cross else { return };
        let accounted = cross.paired[side].max(cross.executed[side]);
        cross.executed[side] += event.quantity.min(order.open);
        let quantity = cross.executed[side] - accounted;
        if quantity > Quantity::ZERO {
            let ladder = &mut book.half_mut(order.side).ladder;
            let floor = ladder.rank(order.price).max(ladder.rank(event.price));
            let aggression = Aggression { floor, stop: slot, quantity, auction: Some(event.price) };
            let filled = self.serve(ladder, aggression, time, sink);
            book.account(order.side, filled);
        }
    }

    /// A trade of a cross between orders that are not in the book: own orders at strictly better prices trade first.
    #[cold]
    #[inline(never)]
    pub(crate) fn trade_in_cross<S: Sink>(&mut self, book: &mut Book, event: &BookEvent, sink: &mut S) {
        if !event.price.is_some() {
            return count(&mut self.anomalies.invalid_price);
        }
        if event.quantity <= Quantity::ZERO {
            return count(&mut self.anomalies.invalid_quantity);
        }
        self.begin_cross(book, event.price, sink);
        let Some(cross) = &mut book.cross else { return };
        match (event.flags & BookEvent::UNPRINTED != 0, event.action) {
            // The cross's own event has the quantity.
            (true, BookAction::Execute) => return,
            // The sum of what has its own events.
            (true, _) => cross.volume = cross.volume.max(event.quantity),
            (false, _) => cross.volume += event.quantity,
        }
        let left = cross.paired.map(|paired| cross.volume - paired);
        let filled = self.trade_on_both_sides(book, event.price, left, Some(event.price), sink);
        book.account(Side::Buy, filled[0]);
        book.account(Side::Sell, filled[1]);
    }

    /// A print of a cross, where no orders of the market are known: own orders at strictly better prices trade with each
    /// other, and up to its quantity with the market.
    #[cold]
    #[inline(never)]
    pub(crate) fn print_of_cross<S: Sink>(&mut self, book: &mut Book, print: &TradePrint, sink: &mut S) {
        if !print.price.is_some() {
            return count(&mut self.anomalies.invalid_price);
        }
        if print.quantity <= Quantity::ZERO {
            return count(&mut self.anomalies.invalid_quantity);
        }
        let parts = [Side::Buy, Side::Sell].map(|side| {
            let mut parts = self.parts(book, side, print.price);
            parts.retain(|part| part.slot.is_some() && part.price != print.price);
            parts
        });
        self.pair(book, parts, print.price, sink);
        self.trade_on_both_sides(book, print.price, [print.quantity; 2], Some(print.price), sink);
    }

    /// Continuous trading begins with an auction of the whole book, if own orders cross anything.
    pub(crate) fn reopen<S: Sink>(&mut self, book: &mut Book, sink: &mut S) {
        (book.auction, book.reopening, book.cross) = (false, Reopening::None, None);
        if book.has_own()
            && let Some(price) = self.auction_price(book)
        {
            self.pair_book(book, price, sink);
        }
    }

    /// The price at which most trades and every order at a better price trades in full. Of several such prices, of which
    /// the lowest and the highest are limits of orders, that one of these two which is nearer to the middle of the market's
    /// best bid and ask; the lower one, if neither is. `None`: nothing crosses.
    fn auction_price(&self, book: &Book) -> Option<Price> {
        let (bid, ask) = (self.best_price(book, Side::Buy)?, self.best_price(book, Side::Sell)?);
        let (mut buys, mut sells) = (self.parts(book, Side::Buy, ask), self.parts(book, Side::Sell, bid));
        let (mut buys, mut sells) = (buys.iter_mut().peekable(), sells.iter_mut().peekable());
        let mut last = None;
        while let (Some(buy), Some(sell)) = (buys.peek_mut(), sells.peek_mut())
            && buy.price >= sell.price
        {
            last = Some((buy.price, sell.price));
            let quantity = buy.left.min(sell.left);
            buy.left -= quantity;
            sell.left -= quantity;
            let (is_bought, is_sold) = (buy.left == Quantity::ZERO, sell.left == Quantity::ZERO);
            buys.next_if(|_| is_bought);
            sells.next_if(|_| is_sold);
        }
        let (lowest_buy, highest_sell) = last?;
        let low = buys.peek().map_or(highest_sell, |buy| highest_sell.max(buy.price));
        let high = sells.peek().map_or(lowest_buy, |sell| lowest_buy.min(sell.price));
        let (bid, ask) = (self.market_best(book, Side::Buy), self.market_best(book, Side::Sell));
        let Some((bid, ask)) = bid.or(ask).zip(ask.or(bid)) else { return Some(low) };
        let distance = |price: Price| (2 * i128::from(price.0) - i128::from(bid.0) - i128::from(ask.0)).abs();
        Some(if distance(high) < distance(low) { high } else { low })
    }

    /// Pairs all that may trade at `price`, by price and time. Returns its quantity.
    fn pair_book<S: Sink>(&mut self, book: &mut Book, price: Price, sink: &mut S) -> Quantity {
        let parts = [Side::Buy, Side::Sell].map(|side| self.parts(book, side, price));
        self.pair(book, parts, price, sink)
    }

    /// Pairs buyers with sellers from the front. Returns the quantity.
    fn pair<S: Sink>(
        &mut self,
        book: &mut Book,
        [buys, sells]: [Vec<Part>; 2],
        price: Price,
        sink: &mut S,
    ) -> Quantity {
        let (mut buys, mut sells) = (buys.into_iter(), sells.into_iter());
        let (mut buy, mut sell) = (buys.next(), sells.next());
        let mut paired = Quantity::ZERO;
        while let (Some(one), Some(other)) = (&mut buy, &mut sell) {
            let quantity = one.left.min(other.left);
            self.trade_pair(book, [(Side::Buy, one.slot), (Side::Sell, other.slot)], (price, quantity), sink);
            paired += quantity;
            one.left -= quantity;
            other.left -= quantity;
            if one.left == Quantity::ZERO {
                buy = buys.next();
            }
            if other.left == Quantity::ZERO {
                sell = sells.next();
            }
        }
        paired
    }

    /// The best price of `side` at which anything is left.
    fn best_price(&self, book: &Book, side: Side) -> Option<Price> {
        let (ladder, quoted) = (&book.half(side).ladder, book.half(side).quoted.best());
        let index = ladder.best_available(&self.arena, ladder.len());
        let resting = index.map(|index| self.arena.levels[ladder.level_at(index)].price);
        let quoted = quoted.map(|level| level.price);
        resting.into_iter().chain(quoted).max_by_key(|price| ladder.rank(*price))
    }

    /// What is left of `side` at `worst` or better, those first that trade first: at one price a quote's volume.
    fn parts(&self, book: &Book, side: Side, worst: Price) -> Vec<Part> {
        let (ladder, quoted) = (&book.half(side).ladder, &book.half(side).quoted);
        let floor = ladder.rank(worst);
        let levels = quoted.levels().iter().filter(|level| ladder.rank(level.price) >= floor);
        let mut parts: Vec<Part> =
            levels.map(|level| Part { slot: Slot::NONE, price: level.price, left: level.quantity }).collect();
        let is_quoted = !parts.is_empty();
        for index in (0..ladder.len()).rev() {
            if ladder.rank_at(index) < floor {
                break;
            }
            let mut slot = self.arena.levels[ladder.level_at(index)].head;
            while slot.is_some() {
                let order = &self.arena.orders[slot];
                if order.available() > Quantity::ZERO {
                    parts.push(Part { slot, price: order.price, left: order.available() });
                }
                slot = order.next;
            }
        }
        if is_quoted {
            parts.sort_by_key(|part| std::cmp::Reverse(ladder.rank(part.price)));
        }
        parts
    }

    /// A buyer and a seller trade. Two of the market only use each other up: at a cross, until their own events come.
    fn trade_pair<S: Sink>(
        &mut self,
        book: &mut Book,
        pair: [(Side, Slot); 2],
        (price, quantity): (Price, Quantity),
        sink: &mut S,
    ) {
        let orders = pair.map(|(_, slot)| slot.is_some().then(|| self.arena.orders[slot]));
        let is_own = orders.iter().flatten().any(Order::is_own);
        let trade = is_own.then(|| self.trade(price, quantity));
        let (time, is_cross) = (book.event_time, book.auction);
        for ((side, slot), order) in pair.into_iter().zip(orders) {
            match (order, trade) {
                (Some(order), Some(trade)) if order.is_own() => {
                    self.fill_resting(&mut book.half_mut(side).ladder, slot, trade, time, sink);
                }
                (Some(_), None) if is_cross => {}
                (Some(order), _) => {
                    self.arena.set(slot, order.open, order.taken + quantity);
                }
                (None, Some(_)) => book.half_mut(side).quoted.take(quantity),
                (None, None) => book.half_mut(side).quoted.use_up(quantity),
            }
        }
    }
}

impl Book {
    fn has_own(&self) -> bool {
        self.half(Side::Buy).ladder.own + self.half(Side::Sell).ladder.own > 0
    }

    /// Own orders of `side` have traded in the cross.
    fn account(&mut self, side: Side, filled: Quantity) {
        if let Some(cross) = &mut self.cross {
            cross.paired[index(side)] += filled;
        }
    }
}

fn index(side: Side) -> usize {
    usize::from(side == Side::Sell)
}
