//! The matching engine: events in, executions out. It uses no clock, no file, no thread and no randomness: the same
//! input gives the same output, byte for byte.
//!
//! # The rules
//!
//! **Priority.** Better price first; at one price, the earlier order. Both sides of a trade get the price of the
//! order that rested.
//!
//! **Answers.** A new order is answered `Rejected`, or `Accepted` and then what follows from it. Each
//! [`wire::Fill`] is followed at once by an [`OrderUpdate`](wire::OrderUpdate) of the same order. Where two
//! strategies trade with each other, the resting order's pair comes first, and both fills carry one trade id.
//! `event_time` is the market's time of its latest message about the instrument, also in answers to requests
//! (a replay at full speed has no other meaningful time); it is zero before the first, in `Rejected`, and
//! in answers about an order that is not in the book. The latter know only its id: side buy, no price, quantity
//! zero. A market order's updates carry no price ([`wire::Price::NONE`]).
//!
//! | order | what it does |
//! |---|---|
//! | limit, day or good-till-cancel | trades what it can at its price or better, the rest goes into the book. A day order ends with the market's day: see phases |
//! | market | trades what it can at any price; the rest is `Cancelled`, `NoLiquidity`. It never rests, whatever its time in force; with post-only it is `Rejected`, `Malformed` |
//! | immediate-or-cancel | as limit; the rest is `Cancelled`, `NoLiquidity` |
//! | fill-or-kill | trades in full at once, or is `Accepted` and `Cancelled`, `NotFillable` without a trade |
//! | post-only | `Rejected`, `WouldTrade`, if anything could trade with it at once; else goes into the book |
//! | stop, iceberg, minimum quantity, good-till-date, at the open or close, self-trade prevention of its own | `Rejected`, `Unsupported`: [`crate::exchange`] has them |
//! | cancel | the rest is `Cancelled`, `Requested`. Not in the book: `CancelRejected`, `UnknownOrder` |
//! | mass cancel | as a cancel of each of the strategy's orders that match what is given, the longest resting first; then `MassCancelled` |
//! | replace | new price, new total quantity (what has traded included). Keeps its place only if the price stays and the quantity does not grow; else it comes in anew, and may trade. No more than has traded already: the rest is `Cancelled`, `Requested`. Post-only orders stay post-only: `ReplaceRejected`, `WouldTrade` |
//!
//! An id is used up by the first new order that carries it, even a rejected one, and with it all lower ones of the same
//! strategy: ids only grow. A second order is `Rejected`, `DuplicateOrder`, and the first is not affected. td checks tick,
//! lot, price band, limits and the owner; the engine checks only what it needs to stay consistent: that the instrument is
//! listed, the quantity positive, the price present, and the id new.
//!
//! In this table and in [`wire::Reason::NotFillable`], what an order could trade with are the market's orders and those of
//! strategies alike: post-only is refused before an order of a strategy, also its own, and fill-or-kill counts them.
//!
//! **Orders of one strategy do not trade with each other** ([`SelfTrade::CancelNewest`]): when the next in line is
//! an order of the same strategy, what is left of the incoming one is `Cancelled`, `WouldTrade`. It is neither
//! put past the resting order (that would break price-time priority) nor into the book (that would cross it). A
//! trade with oneself changes no position, is forbidden on the exchanges whose days are replayed here, and
//! would inflate every count of fills.
//!
//! Others may be chosen. [`EngineOptions::owner`] widens it to the orders of an account or of all strategies, and
//! [`EngineOptions::self_trade`] says what happens when the next in line is of the same owner. The resting order is reported
//! first.
//!
//! | `self_trade` | the resting order | the incoming order | fill-or-kill counts |
//! |---|---|---|---|
//! | `CancelNewest` | stays | `Cancelled`, `WouldTrade` | up to the owner's first order |
//! | `CancelOldest` | `Cancelled`, `SelfTrade` | goes on | all but the owner's orders |
//! | `CancelBoth` | `Cancelled`, `SelfTrade` | `Cancelled`, `SelfTrade` | up to the owner's first order |
//! | `Decrement` | both lose the smaller open quantity, of their total too: `Reduced`, `SelfTrade`; | with nothing left: `Cancelled`, `SelfTrade`, as it was before | up to the owner's first order |
//! | `Allow` | trades | trades | everything |
//!
//! ## [`FillModel::Book`]: beside a recorded market
//!
//! The book holds the market's own orders, rebuilt from [`BookEvent`]s, and the strategies' orders, in one queue
//! per price. History goes on as recorded, whatever strategies do. From that follows:
//!
//! - An incoming order takes from market and own orders as they stand in the queue. What it takes of a market
//!   order is remembered there as *taken*, and cannot be had twice. Later history reduces the order as if nothing
//!   had been taken; what is available is `open - taken`, never below zero. What history takes away comes off
//!   the part that is not taken first. A market order that is taken whole stays where the recorded market has
//!   it, and cannot be traded with.
//! - `Execute`: the recorded aggressor would have met own orders first that stand before the executed order
//!   (better price, or same price and earlier). They are filled, at their own price, from the executed quantity;
//!   the market order is reduced by all of it nevertheless. If the trade's price is not the resting order's own
//!   price, it is an auction's: own orders that asked for less than that price get that price.
//! - `Add`, and `Modify` that offers more than before: what crosses own resting orders trades with them, at their
//!   price, and counts as taken of the market order.
//! - `Modify` keeps *taken*, up to the new quantity. It goes behind all others when the price changes or
//!   [`BookEvent::LOSES_PRIORITY`] is set; else it keeps its place.
//! - `Trade` (hidden orders, crosses): own orders on `side` at strictly better prices than the trade's are filled,
//!   up to its quantity. At the same price none is: whether the hidden order came first is unknown. With
//!   [`EngineOptions::displayed_first`] they are, if the source says that the order was hidden ([`BookEvent::HIDDEN`]): on
//!   Nasdaq and BATS displayed orders trade before hidden ones at the same price.
//! - A `Trade` of which no side came in ([`BookEvent::NO_SIDE`]) treats both sides alike: own orders of both at strictly better
//!   prices trade, up to its quantity. Where a hidden order has traded and the source does not say which side it was on, each order gets
//!   its own price; otherwise it is a cross.
//! - `Clear` takes the market's orders out. Own orders stay. Of each order of the market, its place among own orders and
//!   what was taken are remembered by reference up to the next event that is no `Add`, for the snapshot that usually
//!   follows. An order that is added again with its price, and with no more than before, has its place again; with
//!   another price or more it comes behind all others. So do orders that the snapshot alone has: they came while nothing
//!   was known of the market, and what says when they did is not among an event's fields.
//! - An order that rested before the first message is unknown. `Execute` of it is a `Trade` (it was earlier than
//!   any own order at its price); `Reduce` and `Delete` of it are ignored; `Modify` of it adds it, because then
//!   all about it is known. Each is counted ([`Anomalies`]).
//!
//! ## Crosses
//!
//! A cross is a `Trade` without a side that was not hidden, each `Execute` that is not printed ([`BookEvent::UNPRINTED`]) and without a
//! side, and in a halt or an auction each `Execute` without a side. All of one instant and price, or of one halt, are one cross. Own
//! orders get its price; both sides are makers.
//!
//! - In a halt or an auction, its first event pairs all orders of the book that may trade at its price, the market's and the strategies',
//!   from the front of both sides by price and time. What a strategy's order takes of a market order counts as taken. The
//!   buyer is reported first. Orders of one owner may trade with each other, as in the exchange's auctions.
//! - `Trade` (the market's orders are not in the book): own orders of both sides at strictly better prices trade up to its quantity.
//! - `Execute` (they are): own orders before the executed order trade up to the executed quantity: at better prices, and at the same
//!   price if they are earlier.
//! - No quantity counts twice: what was paired, or filled by an earlier event of the cross, comes off.
//!
//! Beside quotes, where the market's orders are not known, a print without an aggressor in a halt or an auction is a cross: own orders
//! at strictly better prices trade with each other, and up to its quantity with the market.
//!
//! ## Call auctions
//!
//! Where the source marks the market's messages as those of a call auction ([`BookEvent::CALL_AUCTION`],
//! [`Quote::CALL_AUCTION`]; `sse` days do), the engine computes no price of its own while it lasts:
//!
//! - A new order is `Rejected`, a replace `ReplaceRejected`, both with [`Reason::CallAuction`]. A cancel is carried out.
//!   So it goes from the first marked message of the instrument to the next one that is not marked.
//! - Own orders that rest when the auction begins stay. What crosses them does not trade with them. The auction's own
//!   trades do: they are a cross.
//! - With the first message that is not marked, continuous trading begins with an auction of the whole book, beside quotes of
//!   the quote and the own orders. It has one price for all: that at which most trades and every order at a better price trades in
//!   full. Of several such prices, the lowest and the highest are limits of orders, and the one of these two that is nearer to the middle
//!   of the market's best bid and ask is taken; the lower one, if neither is or the market has no orders. A side without orders counts as
//!   the other. Priority is by price and time; at one price a quote's volume goes first.
//!
//! With [`CallAuctions::Uncross`] limit orders that rest are accepted, replaced and cancelled while the auction collects. Those that
//! cannot wait (market, immediate-or-cancel, fill-or-kill, post-only) are `Rejected`, `CallAuction`; so is a replace of a
//! post-only order that would lose its place. A call auction ends with its first trade: from there to the first message that is not marked,
//! new orders and replaces are refused as above.
//!
//! ## Phases: halts, auctions by the clock, the end of the day
//!
//! Where the source says what the market does ([`MarketPhase`]), nothing trades in any phase but the continuous one, also where no message
//! is marked. It is as in a call auction, with these differences:
//!
//! | phase | new orders, replaces | cancels |
//! |---|---|---|
//! | continuous | taken | taken |
//! | halt | as in a call auction; what is refused has [`Reason::NotTradable`] | taken |
//! | pre-open, opening, closing, volatility auction | as in a call auction | taken |
//! | opening freeze, closing freeze | new ones as in a call auction; replaces are refused, [`Reason::CallAuction`] | refused, [`Reason::CallAuction`]; a mass cancel leaves these orders |
//! | pause | refused, [`Reason::NotTradable`] | refused, [`Reason::NotTradable`] |
//! | closed | refused, [`Reason::NotTradable`] | taken |
//!
//! - A trade in a halt, or while orders are quoted before a cross (volatility auction), is the cross's only if it has no side and was not
//!   hidden. Another one fills no own order and ends nothing: orders are collected until the market enters another phase. In the
//!   phases of auctions by the clock, each trade is the auction's.
//! - When the market closes, every order that is not good till cancelled is `Cancelled`, `Expired`, by number.
//! - The continuous phase begins at the end of the instant in which it is announced, as the cross that ends the auction may follow in that
//!   instant. If the market's own orders cross then, the cross is still to come: the phase begins at the end of the instant that brings
//!   it. Trades of these instants are those of the cross. At the end what crosses trades as behind a call auction.
//! - A later message of the instrument ends an instant. For one of another instrument, a request and the end of the data,
//!   the caller of the engine does (`Engine::end_instants`).
//! - Beside quotes, the quotes of a halt offer nothing when it ends: the next one does, and shows that the market's orders do not cross.
//!
//! ## [`FillModel::Quotes`]: beside a quoted market
//!
//! The book holds own orders only. Besides, the latest quote of the instrument offers the volume of its ten
//! levels, less what own orders took at these prices.
//!
//! - What own orders took at a price stays taken as long as quotes show that price, up to the quantity that they show:
//!   the market does not know of it, and shows it again. A quote that shows more there offers the difference. A
//!   print changes nothing of it: it may be of a hidden order. The quote behind it says what is left of the level.
//! - It ends when a quote shows worse prices and not this one: the level has ended. Behind the last level that a quote
//!   shows nothing is known, and what was taken stays taken, at ten prices a side.
//!
//! - An incoming order takes from both, the better price first; at one price the quote's volume goes first.
//! - A new quote fills own resting orders that its other side reaches, each at its own price, up to the volume
//!   shown there, which is then taken.
//! - A [`TradePrint`] with an aggressor fills own resting orders at strictly better prices than its own, up to its
//!   quantity; one without an aggressor, outside of an auction, those of both sides. At the same price, all of the market's
//!   volume counts as having been there first. A resting order
//!   thus never fills earlier than it would have in the market, and often later.
//!
//! ## Invalid input
//!
//! No input makes the engine panic. Impossible events are counted in [`Anomalies`], which documents how each kind is
//! handled. Quantities are never negative, and sums of them never wrap.
//!
//! # Modules
//!
//! ```text
//! requests   new, cancel, replace ──┐                      ┌── slab     records at stable places
//! phase      MarketPhase            │
//! history    BookEvent              ├─▶ trading: what all ─┼── arena    the records of all books
//! quoted     Quote, TradePrint      ┘   rules share        ├── order    one cache line each
//!                                                          ├── ladder   levels and queues of one side
//! auction    call auctions that own orders take part in    └── own      own orders by id, by strategy
//! self_trade orders of one owner
//! ```
//!
//! # Example
//!
//! ```
//! use matching::engine::{Engine, EngineOptions};
//! use wire::*;
//!
//! # let instrument = Instrument {
//! #     id: InstrumentId(1), reserved: 0, symbol: Symbol::new("AAPL").unwrap(), tick: Price(10_000_000),
//! #     lot: Quantity(1), price_low: Price::NONE, price_high: Price::NONE, reference_price: Price::NONE,
//! #     max_quantity: Quantity(0), multiplier: 0, currency: wire::Currency::EMPTY,
//! # };
//! let mut engine = Engine::new(EngineOptions::default());
//! engine.on_instrument(&instrument);
//!
//! // The market offers 100 at 585.94 ...
//! let mut answers: Vec<Execution> = Vec::new();
//! let offer = BookEvent {
//!     instrument: instrument.id, action: BookAction::Add, side: Side::Sell, flags: BookEvent::LAST,
//!     order_ref: 16_113_575, price: "585.94".parse()?, quantity: Quantity(100),
//!     event_time: Nanos(1), sequence: 1, reserved: 0,
//! };
//! engine.on_book_event(&offer, &mut answers);
//! assert!(answers.is_empty());
//!
//! // ... and a strategy takes 30 of it.
//! let order = NewOrder {
//!     order_id: OrderId::new(StrategyId(7), 1, 1), instrument: instrument.id, side: Side::Buy,
//!     order_type: OrderType::Limit, time_in_force: TimeInForce::ImmediateOrCancel, flags: 0,
//!     price: "586".parse()?, quantity: Quantity(30), cause: Cause::NONE,
//!     account: AccountId::OWN, display_lots: 0, trigger: Price::ZERO, minimum_lots: 0, ends_s: 0,
//! };
//! engine.new_order(&order, &mut answers);
//! let [Execution::Update(accepted), Execution::Fill(fill), Execution::Update(filled)] = answers[..] else {
//!     panic!("{answers:?}")
//! };
//! assert_eq!((accepted.status, filled.status), (OrderStatus::Accepted, OrderStatus::Filled));
//! assert_eq!((fill.price.to_string(), fill.quantity), ("585.94".to_owned(), Quantity(30)));
//!
//! // History still has 100 there, but only 70 can be had.
//! let best = engine.book(instrument.id).and_then(|book| book.best(Side::Sell));
//! assert_eq!(best.map(|level| (level.market, level.available)), Some((Quantity(100), Quantity(70))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod anomalies;
mod arena;
mod auction;
mod book;

mod history;
mod image;
mod index;
mod ladder;
mod options;
mod order;
mod own;
mod phase;
mod quoted;
mod requests;
mod self_trade;
mod sink;
mod slab;
mod trading;
mod view;

#[cfg(test)]
mod tests;

use wire::{
    BookEvent, CancelAll, CancelOrder, Instrument, InstrumentId, MAX_INSTRUMENTS, MarketPhase, Nanos,
    NewOrder, OrderId, OrderStatus, OrderUpdate, Quantity, Quote, Reason, ReplaceOrder, TradePrint,
};

pub use anomalies::Anomalies;
pub(crate) use image::BookState;
pub use image::ImageError;
pub(crate) use index::{IdMap, UsedIds};
pub use options::{CallAuctions, EngineOptions, FillModel, OrderOwner, Queue, SelfTrade};
pub use sink::Sink;
pub use view::{BookView, Depth, Owner, RestingOrder};

use anomalies::count;
use book::Book;
use slab::Slot;
use trading::Core;

/// The books of all instruments. The module's documentation has the rules.
#[derive(Debug)]
pub struct Engine {
    core: Core,
    /// By instrument id.
    books: Vec<Option<Book>>,
    /// So late it is in the market, whatever its latest messages say.
    now: Nanos,
    /// Instruments whose reopening is under way.
    reopening: Vec<InstrumentId>,
}

impl Engine {
    /// An engine without instruments.
    pub fn new(options: EngineOptions) -> Engine {
        Engine { core: Core::new(options), books: Vec::new(), now: Nanos(0), reopening: Vec::new() }
    }

    /// Whether orders and price levels lie on huge pages.
    pub(crate) fn is_on_huge_pages(&self) -> bool {
        self.core.arena.orders.is_huge() && self.core.arena.levels.is_huge()
    }

    /// Numbers the next trade behind `trade`: for an engine that follows one whose trades are known.
    pub(crate) fn number_trades_after(&mut self, trade: u64) {
        self.core.number_trades_after(trade);
    }

    /// Opens an instrument's book. Listing it again changes nothing.
    pub fn on_instrument(&mut self, instrument: &Instrument) {
        let id = instrument.id;
        if id.0 == 0 || id.0 >= MAX_INSTRUMENTS {
            return count(&mut self.core.anomalies.invalid_instrument);
        }
        let index = id.0 as usize;
        if self.books.len() <= index {
            self.books.resize_with(index + 1, || None);
        }
        self.books[index].get_or_insert_with(|| Book::new(id));
    }

    /// The market's own order flow, for [`FillModel::Book`].
    pub fn on_book_event<S: Sink>(&mut self, event: &BookEvent, sink: &mut S) {
        if self.core.options.fill == FillModel::Book
            && let Some((core, book)) = self.market(event.instrument)
        {
            core.reach(book, event.event_time, sink);
            let is_marked = event.flags & BookEvent::CALL_AUCTION != 0;
            if (is_marked || !(book.auction && phase::is_of_cross(event))) && book.hold(is_marked) {
                core.reopen(book, sink);
            }
            core.apply_event(book, event, sink);
            if book.auction && phase::is_trade(event) {
                book.note_cross();
            }
        }
    }

    /// The market's best levels, for [`FillModel::Quotes`].
    pub fn on_quote<S: Sink>(&mut self, quote: &Quote, sink: &mut S) {
        if self.core.options.fill == FillModel::Quotes
            && let Some((core, book)) = self.market(quote.instrument)
        {
            core.reach(book, quote.event_time, sink);
            let begins = book.hold(quote.flags & Quote::CALL_AUCTION != 0);
            core.load_quote(book, quote);
            match (begins, book.auction) {
                (true, _) => core.reopen(book, sink),
                (false, true) => book.note_cross(),
                (false, false) => core.meet_quote(book, sink),
            }
        }
    }

    /// The market enters a phase: a halt, an auction, the end of the day.
    pub fn on_phase<S: Sink>(&mut self, phase: &MarketPhase, sink: &mut S) {
        if let Some((core, book)) = self.market(phase.instrument) {
            core.reach(book, phase.event_time, sink);
            core.enter_phase(book, phase.phase, sink);
            self.note_reopening(phase.instrument);
        }
    }

    /// The market's trades, for [`FillModel::Quotes`].
    pub fn on_trade_print<S: Sink>(&mut self, print: &TradePrint, sink: &mut S) {
        if self.core.options.fill == FillModel::Quotes
            && let Some((core, book)) = self.market(print.instrument)
        {
            core.reach(book, print.event_time, sink);
            core.apply_print(book, print, sink);
        }
    }

    /// So late it is in the market: what is answered from now on is answered then.
    pub(crate) fn pass_time(&mut self, time: Nanos) {
        self.now = self.now.max(time);
    }

    /// The latest time of a message of the market, or of an answer.
    pub(crate) fn latest(&self) -> Nanos {
        self.books.iter().flatten().map(|book| book.event_time).max().unwrap_or(Nanos(0))
    }

    /// What [`Engine::pass_time`] has come to.
    pub(crate) fn now(&self) -> Nanos {
        self.now
    }

    /// A strategy wants to trade.
    pub fn new_order<S: Sink>(&mut self, request: &NewOrder, sink: &mut S) {
        if !self.core.own.used.claim(request.order_id) {
            return sink.update(&OrderUpdate::rejection(request, Reason::DuplicateOrder));
        }
        match find(&mut self.books, request.instrument) {
            Some(book) => {
                book.event_time = book.event_time.max(self.now);
                self.core.enter(book, request, sink);
            }
            None => sink.update(&OrderUpdate::rejection(request, Reason::UnknownInstrument)),
        }
    }

    /// A strategy cancels what is left of an order.
    pub fn cancel<S: Sink>(&mut self, request: &CancelOrder, sink: &mut S) {
        match self.working(request.order_id, request.instrument) {
            Some((core, book, slot)) => core.cancel_requested(book, slot, sink),
            None => sink.update(&unknown(request.order_id, request.instrument, OrderStatus::CancelRejected)),
        }
    }

    /// A strategy changes an order's price or quantity.
    pub fn replace<S: Sink>(&mut self, request: &ReplaceOrder, sink: &mut S) {
        match self.working(request.order_id, request.instrument) {
            Some((core, book, slot)) => core.replace(book, slot, request, sink),
            None => sink.update(&unknown(request.order_id, request.instrument, OrderStatus::ReplaceRejected)),
        }
    }

    /// A strategy cancels all its orders that match what the request gives: the oldest first, an answer for each, then one
    /// for the request.
    pub fn cancel_all<S: Sink>(&mut self, request: &CancelAll, sink: &mut S) {
        for book in self.books.iter_mut().flatten() {
            book.event_time = book.event_time.max(self.now);
        }
        let cancelled = self.core.cancel_those(&mut self.books, request, sink);
        sink.update(&OrderUpdate {
            side: request.side,
            quantity: Quantity(cancelled),
            ..OrderUpdate::about(
                request.order_id,
                request.instrument,
                OrderStatus::MassCancelled,
                Reason::Requested,
            )
        });
    }

    /// An instrument's book, if it is listed.
    pub fn book(&self, instrument: InstrumentId) -> Option<BookView<'_>> {
        let book = self.books.get(instrument.0 as usize)?.as_ref()?;
        Some(BookView { book, arena: &self.core.arena })
    }

    /// A strategy's order, while it works.
    #[cfg(test)]
    pub(crate) fn order(&self, order_id: OrderId) -> Option<RestingOrder> {
        self.core.own.find(order_id).map(|slot| RestingOrder::of(&self.core.arena.orders[slot]))
    }

    /// Number of the strategies' working orders.
    pub fn working_orders(&self) -> usize {
        self.core.own.len()
    }

    /// Orders in all books: those of the market too, and those that a clear swept away and that keep their places.
    pub(crate) fn resting_orders(&self) -> usize {
        self.core.arena.orders.len()
    }

    /// Invalid input, counted by kind.
    pub fn anomalies(&self) -> &Anomalies {
        &self.core.anomalies
    }

    fn market(&mut self, instrument: InstrumentId) -> Option<(&mut Core, &mut Book)> {
        let book = find(&mut self.books, instrument);
        if book.is_none() {
            count(&mut self.core.anomalies.unknown_instrument);
        }
        Some((&mut self.core, book?))
    }

    fn working(
        &mut self,
        order_id: OrderId,
        instrument: InstrumentId,
    ) -> Option<(&mut Core, &mut Book, Slot)> {
        let slot = self.core.own.find(order_id)?;
        let book = find(&mut self.books, instrument)?;
        book.event_time = book.event_time.max(self.now);
        (self.core.arena.orders[slot].instrument() == instrument).then_some((&mut self.core, book, slot))
    }
}

/// The refusal of a change of an order that is not in the book.
fn unknown(order_id: OrderId, instrument: InstrumentId, status: OrderStatus) -> OrderUpdate {
    OrderUpdate::about(order_id, instrument, status, Reason::UnknownOrder)
}

fn find(books: &mut [Option<Book>], instrument: InstrumentId) -> Option<&mut Book> {
    books.get_mut(instrument.0 as usize)?.as_mut()
}
