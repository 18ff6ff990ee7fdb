//! An exchange of our own: the participants' orders trade with each other, in phases, with auctions.
//!
//! Like the engine beside recorded markets it is pure: no clock, no file, no thread, no randomness. The same calls give
//! the same events. Time is what [`Exchange::advance`] was last told.
//!
//! # Entering
//!
//! A new order is checked in this order, and the first check that fails names the [`Reason`](wire::Reason):
//!
//! | check | reason |
//! |---|---|
//! | the instrument is listed | `UnknownInstrument` |
//! | no working order has its id | `DuplicateOrder` |
//! | the phase takes new orders | `MarketClosed` |
//! | outside of [`Phase::Continuous`]: not immediate-or-cancel, not fill-or-kill, no minimum quantity; not a market order, unless the market's rules take them in auctions. That holds for market orders at the close in every phase | `MarketClosed` |
//! | at-the-open: the phase is of the opening auction | `MarketClosed` |
//! | good-till-date: later than now | `Expired` |
//! | quantity positive, a multiple of the lot, not over the limit; display and minimum not negative, not over the quantity, multiples of the lot; a display at least a ten-thousandth of the quantity, rounded down | `Quantity` |
//! | post-only: only with limit, and not with immediate-or-cancel, fill-or-kill or a minimum. Display: only with limit or stop-limit. At-the-open and at-the-close: not with a stop or a minimum. Stops: not with immediate-or-cancel, fill-or-kill or a minimum | `Malformed` |
//! | price and trigger present, multiples of the tick that holds at that price | `OffTick` (absent: `Malformed`) |
//! | price and trigger within the price limits | `PriceBand` |
//! | post-only, in continuous trading: nothing could trade with it at once | `WouldTrade` |
//!
//! It is then [`Event::Accepted`], even if it ends at once. An order for which there is no room where it is to rest is
//! cancelled, `Overload`: beyond 2^32 - 1 working orders, or where the quantities at one price, hidden parts included, would
//! exceed `i64::MAX`.
//!
//! # Continuous trading
//!
//! **Priority.** Better price first; at one price the earlier order. Each trade is at the resting order's price.
//!
//! | order | what it does |
//! |---|---|
//! | limit | trades what it can at its price or better; the rest goes into the book |
//! | market | trades what it can within the price bands. Its rest is cancelled (`NoLiquidity`), or by [`MarketRemainder`] rests at the price of its last trade; with immediate-or-cancel it never rests |
//! | immediate-or-cancel | its rest is cancelled, `NoLiquidity` |
//! | fill-or-kill | trades in full, or is cancelled, `NotFillable`, without a trade |
//! | minimum quantity | trades at least that much at once, or is cancelled, `NotFillable`, without a trade; then as its lifetime says |
//! | post-only | never trades when it comes in. In an auction it is like any other |
//! | iceberg | the book shows up to `display`. What is shown trades like any order; then the next part is shown, behind all others at that price (or in its place: [`IcebergRefresh`]), also within one incoming order. Coming in it trades with all of its quantity |
//! | stop, stop-limit | waits outside of the book; see below |
//!
//! **Fill-or-kill and minimum** count what the incoming order could trade with within its price and the dynamic band, hidden
//! parts included, up to the first order that self-trade prevention would stop it at: with `CancelOldest` the owner's
//! orders are left out and the rest counts; with `CancelNewest`, `CancelBoth` and `Decrement` nothing counts from the
//! first order of the owner on. At the price where that order rests, what is shown before it counts, hidden parts do not.
//!
//! **Self-trade prevention.** The incoming order's [`SelfTrade`] decides when the next order in line is of the same
//! [`Owner`]. `CancelNewest`: the incoming rest is cancelled, `SelfTrade`. `CancelOldest`: the resting order is cancelled,
//! `SelfTrade`. `CancelBoth`: the resting order first, then the incoming one. `Decrement`: both lose the smaller of the
//! two open quantities (hidden part included); the resting order is reported first, each as [`Event::Decremented`] or, with
//! nothing left, as [`Event::Cancelled`], `SelfTrade`, with `open` as it was before. A resting order that is decremented
//! keeps its place and shows the smaller of what it showed and what is left. Auctions do not prevent self-trades.
//!
//! **Price limits** of the instrument hold for every order. **The dynamic band** keeps continuous trading near the last
//! price before the request (before the first trade, near the reference price; without either there is no band). No trade
//! lies beyond it, above or below. When an incoming limit order has quantity left and the next resting price is within its limit but
//! beyond the band, the instrument goes into [`Phase::VolatilityAuction`] for the time that the band says, and the rest into
//! the book (immediate-or-cancel: is cancelled). Market orders are protected by the band: they stop there,
//! and do not interrupt trading. Fill-or-kill and minimum do not count what is beyond it.
//!
//! **Replace** sets limit price and total quantity. With no more than has traded already, the rest is cancelled,
//! `Requested`. An order whose price stays and whose quantity does not grow keeps its place ([`MarketRules`] may say
//! otherwise), an iceberg shows the smaller of what it showed and what is left. Any other leaves the book and comes in
//! anew for its open quantity, by the rules of its lifetime, post-only included (`WouldTrade` refuses the replace and the
//! order stays as it was); a minimum no longer counts, and an
//! at-the-close order that was in the book goes into the book. Checked in this order: `UnknownOrder`; `MarketClosed` where the phase does
//! not take both new orders and cancels; the quantity as that of a new order, an iceberg's also against the number of its parts; whether it is no more than has traded; the
//! price, if the order has one. An iceberg may become smaller than its display, which a replace does not name: it then shows all of it.
//! Waiting orders (stop, at the close) are changed where they wait, and go behind the other waiting ones if the price changes
//! or the quantity grows; the trigger stays.
//!
//! **Cancel.** `UnknownOrder`; `MarketClosed` where the phase takes none; else cancelled, `Requested`. A mass cancel does so
//! with every order that its [`Filter`] takes, oldest first, and passes over those whose phase takes no cancels.
//!
//! # Stops
//!
//! A buy stop is reached by a trade at its trigger or above, a sell stop by one at its trigger or below. Trades count
//! from the stop's entry on, and the last price before it. Nothing triggers while a request is carried out. After it, in
//! continuous trading only, all stops that its trades reached are triggered, the earliest entry first, one after another;
//! each then trades like an incoming order, with the band around the last price before it. Stops that the trades of one reach
//! go behind the others that were reached, the earliest of them first. What was reached before continuous trading begins is
//! triggered then, the earliest entry first.
//! A stop that the last price has reached already when it comes in is triggered at once. Trades of an auction count
//! once continuous trading goes on.
//!
//! # Phases and auctions
//!
//! [`Phase`] names them, the market's rules say what each permits, [`Exchange::set_phase`] or a schedule changes them. What
//! happens at a change:
//!
//! 1. Leaving the phases of an auction, but for a halt, uncrosses the book ([`Event::Uncrossed`], also without a trade). So
//!    does continuous trading that begins otherwise, if best bid and ask cross or market orders rest (its auction is `None`).
//!    Market orders that are left are then cancelled, `NoLiquidity`.
//! 2. At-the-open orders that are left end after the opening auction, or when continuous trading begins; at-the-close orders
//!    that are left in the book end after the closing auction, or when continuous trading begins: `Expired`, the former
//!    first. Several orders that end for one reason do so oldest first: by when they came in, or last lost
//!    their place by a replace or a trigger.
//! 3. [`Event::PhaseChanged`].
//! 4. The closing auction begins: at-the-close orders that waited go into the book, in the order in which they came.
//! 5. [`Phase::Closed`] begins: all orders but good-till-cancel and good-till-date are cancelled, `Expired`, oldest first. A phase that an instrument has already is no change.
//! 6. Continuous trading begins: stops that were reached are triggered.
//!
//! **The auction's price** is one that trades the most. Of several, the market's [`TieBreak`]s choose one after the other (one that
//! none of them fulfils decides nothing),
//! and of what still remains, the highest. All prices that are multiples of the tick count between the lowest and the
//! highest limit of the orders that could trade. If only market orders trade, it is the multiple of the tick nearest to the reference, of two the higher (no reference: nothing trades).
//! **Allocation**: buyers in priority (market orders, then higher prices, then time), sellers likewise, are paired
//! from the front until the volume is used up; each trade is as large as both allow. Icebergs take part with all of
//! their quantity, part after part: a part that has traded goes behind the others at its price, as in continuous trading.
//!
//! # Time
//!
//! [`Exchange::advance`] sets the time and does what is due, in order of time: phases of schedules, the end of volatility
//! auctions, and ends of good-till-date orders (`Expired`; also where the phase takes no cancels). At one time orders end
//! first, then phases change, by instrument.
//!
//! # Numbers and prices
//!
//! Order numbers are any 64-bit numbers, one working order each. Prices are any multiples of the tick that fit; levels far
//! from all others cost no more than those next to each other, and a book's memory follows its orders and not its prices.
//!
//! # Example
//!
//! ```
//! use matching::exchange::{Event, Exchange, InstrumentRules, Order};
//! use wire::{InstrumentId, Quantity, Side, StrategyId};
//!
//! let stock = InstrumentId(1);
//! let mut exchange = Exchange::new(Default::default());
//! exchange.list(InstrumentRules::new(stock, "0.01".parse()?))?;
//!
//! let mut events: Vec<Event> = Vec::new();
//! exchange.submit(&Order::limit(1, stock, Side::Sell, "10.02".parse()?, Quantity(300)), &mut events);
//! let buy = Order::limit(2, stock, Side::Buy, "10.05".parse()?, Quantity(200));
//! exchange.submit(&Order { strategy: StrategyId(9), ..buy }, &mut events);
//! let [Event::Accepted(_), Event::Rested(_), Event::Accepted(_), Event::Traded(trade)] = events[..] else {
//!     panic!("{events:?}")
//! };
//! assert_eq!((trade.price.to_string(), trade.quantity, trade.sell.open), ("10.02".into(), Quantity(200), Quantity(100)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! ```text
//! quick                    the short ways of most requests
//! requests ── check        new, cancel, replace             ┌── ladder   levels of a side, best first
//! trading                  what an incoming order does      ├── levels   sixteen prices a chunk
//! stops                    what trades trigger         core ┼── records  a line a working order
//! auction                  price and trades of an uncross   ├── index    orders by number
//! day                      phases and time                  └── grid     prices as numbers of ticks
//! rules, phase, request, event, view                        what others see
//! image                    an exchange as images of its orders, and one made of them
//! ```

mod auction;
mod book;
mod check;
mod core;
mod day;
mod event;
mod grid;
mod image;
mod index;
mod ladder;
mod levels;
mod phase;
mod quick;
mod records;
mod request;
mod requests;
mod rules;
mod stops;
mod trading;
mod view;

#[cfg(test)]
mod tests;

use wire::{InstrumentId, Nanos, Price, Reason};

pub use event::{Discard, Equilibrium, Event, OrderState, Refusal, Sink, Trade};
pub use image::{Counts, ImageError, MarketState};
pub use phase::{Auction, PHASES, Permission, Phase, auction_of};
pub use request::{Filter, Kind, Lifetime, Order, Replace, SelfTrade};
pub use rules::{
    DynamicBand, IcebergRefresh, InstrumentRules, MarketRemainder, MarketRules, Owner, TieBreak, Width,
};
pub use view::{BookView, LevelState};

use book::Book;
use core::Core;

/// How an exchange works, for its whole life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExchangeOptions {
    /// Room for so many working orders is set aside at the start. More of them are no error, but cost an allocation now
    /// and then.
    pub expected_orders: usize,
    /// Orders and price levels lie on huge pages, if enough are free; it changes no answer.
    pub huge_pages: bool,
}

impl Default for ExchangeOptions {
    /// Room for 65,536 orders, on ordinary pages.
    fn default() -> ExchangeOptions {
        ExchangeOptions { expected_orders: 1 << 16, huge_pages: false }
    }
}

/// Why an instrument cannot be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// It is listed already.
    #[error("the instrument is listed already")]
    Listed,
    /// Its number is zero or beyond the largest.
    #[error("an instrument's number is from 1 to {}", wire::MAX_INSTRUMENTS - 1)]
    Number,
    /// The table of ticks makes no sense.
    #[error(
        "a table of ticks has at least one row, ascending prices, and positive ticks; the price from which a tick holds is a \
         multiple of it"
    )]
    Ticks,
    /// The lot is not positive.
    #[error("a lot is at least 1")]
    Lot,
    /// The largest quantity is negative.
    #[error("the largest quantity of an order is positive, or zero for none")]
    MaxQuantity,
    /// No price lies between the price limits.
    #[error("no price lies between the lowest and the highest that are allowed")]
    Limits,
}

/// What a mass cancel did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MassCancelled {
    /// Orders that were cancelled.
    pub cancelled: u64,
    /// Orders that it would have taken, but whose phase takes no cancels.
    pub passed_over: u64,
}

/// The books of all instruments. The module's documentation has the rules.
#[derive(Debug)]
pub struct Exchange {
    core: Core,
    books: Vec<Book>,
    /// Number of the book by instrument id.
    listed: Vec<Option<u16>>,
    /// When something is due in a book, as far as is known; `None`: look.
    due: Option<u64>,
}

impl Exchange {
    /// An exchange without instruments.
    pub fn new(options: ExchangeOptions) -> Exchange {
        Exchange { core: Core::new(options), books: Vec::new(), listed: Vec::new(), due: None }
    }

    /// Lists an instrument. Its market begins in [`Phase::Continuous`].
    ///
    /// # Errors
    /// [`ListError`] says what is wrong with its rules.
    pub fn list(&mut self, rules: InstrumentRules) -> Result<(), ListError> {
        let id = rules.id;
        if id.0 == 0 || id.0 >= wire::MAX_INSTRUMENTS {
            return Err(ListError::Number);
        }
        let index = id.0 as usize;
        if self.listed.get(index).copied().flatten().is_some() {
            return Err(ListError::Listed);
        }
        // Fewer than 65,536 by the check of the number.
        let number = self.books.len() as u16;
        self.books.push(Book::new(number, rules)?);
        if self.listed.len() <= index {
            self.listed.resize(index + 1, None);
        }
        self.listed[index] = Some(number);
        Ok(())
    }

    /// A new order.
    #[inline(always)]
    pub fn submit<S: Sink>(&mut self, order: &Order, sink: &mut S) {
        match book_of(&self.listed, &mut self.books, order.instrument) {
            Some(book) => self.core.submit(book, order, sink),
            None => sink.event(Event::Rejected(*order, Reason::UnknownInstrument)),
        }
    }

    /// Cancels what is left of a working order.
    #[inline]
    pub fn cancel<S: Sink>(&mut self, id: u64, sink: &mut S) {
        if !self.core.cancel_at_once(&mut self.books, id, sink) {
            self.core.cancel_any(&mut self.books, id, sink);
        }
    }

    /// Changes price or quantity of a working order.
    #[inline]
    pub fn replace<S: Sink>(&mut self, request: &Replace, sink: &mut S) {
        match self.core.find(request.id) {
            Some(place) => {
                let book = &mut self.books[usize::from(self.core.records[place].book)];
                self.core.replace(book, place, request, sink);
            }
            None => requests::refuse(request.id, Refusal::Replace, Reason::UnknownOrder, sink),
        }
    }

    /// Cancels all orders that `filter` takes, the oldest first. It looks at every working order.
    pub fn mass_cancel<S: Sink>(&mut self, filter: &Filter, sink: &mut S) -> MassCancelled {
        let mut done = MassCancelled::default();
        let mut places = Vec::new();
        for (place, record) in self.core.records.iter() {
            let book = &self.books[usize::from(record.book)];
            if !filter.takes(book.id, record) {
                continue;
            }
            if book.permission.cancel {
                places.push(place);
                done.cancelled += 1;
            } else {
                done.passed_over += 1;
            }
        }
        places.sort_by_key(|place| std::cmp::Reverse(self.core.age(*place)));
        for place in places {
            let book = &mut self.books[usize::from(self.core.records[place].book)];
            self.core.end(book, place, Reason::Requested, sink);
        }
        done
    }

    /// Changes the phase of an instrument's market. False: it is not listed.
    pub fn set_phase<S: Sink>(&mut self, instrument: InstrumentId, phase: Phase, sink: &mut S) -> bool {
        let Some(book) = book_of(&self.listed, &mut self.books, instrument) else { return false };
        self.core.set_phase(book, phase, sink);
        self.due = None;
        true
    }

    /// Sets the phases to come, by ascending time; they replace those set before. False: the instrument is not listed.
    pub fn schedule(&mut self, instrument: InstrumentId, mut phases: Vec<(Nanos, Phase)>) -> bool {
        let Some(book) = book_of(&self.listed, &mut self.books, instrument) else { return false };
        phases.sort_by_key(|(time, _)| *time);
        book.schedule = phases.into();
        self.due = None;
        true
    }

    /// Sets the time, and does what is due until then, each thing at its own time. An earlier time than before changes
    /// nothing.
    pub fn advance<S: Sink>(&mut self, now: Nanos, sink: &mut S) {
        if now.0 < self.core.now {
            return;
        }
        if self.due_by(now).is_some() {
            self.catch_up(now.0, sink);
        }
        self.core.now = now.0;
    }

    /// The earliest time by `now` at which [`Exchange::advance`] has something to do.
    pub fn due_by(&mut self, now: Nanos) -> Option<Nanos> {
        if self.core.interrupted || self.due.is_none() {
            self.core.interrupted = false;
            self.due = Some(self.next_due().map_or(u64::MAX, |(time, _)| time));
        }
        let ends = self.core.ends.first().map_or(u64::MAX, |(time, _)| *time);
        let due = self.due.unwrap_or(0).min(ends);
        (due <= now.0).then_some(Nanos(due))
    }

    #[cold]
    fn catch_up<S: Sink>(&mut self, now: u64, sink: &mut S) {
        loop {
            let phase = self.next_due().filter(|(time, _)| *time <= now);
            let ends = self.core.ends.first().map(|(time, _)| *time).filter(|time| *time <= now);
            match (ends, phase) {
                (Some(ends), phase) if phase.is_none_or(|(time, _)| ends <= time) => {
                    self.core.now = self.core.now.max(ends);
                    self.end_dated(ends, sink);
                }
                (_, Some((time, number))) => {
                    self.core.now = self.core.now.max(time);
                    let book = &mut self.books[number];
                    let Some((due, to)) = Core::due(book) else { continue };
                    if book.schedule.front() == Some(&(due, to)) {
                        book.schedule.pop_front();
                    } else {
                        book.auction_ends = None;
                    }
                    self.core.set_phase(book, to, sink);
                }
                (_, None) => break,
            }
        }
        self.due = None;
    }

    /// Ends the good-till-date orders of this time, oldest first.
    fn end_dated<S: Sink>(&mut self, time: u64, sink: &mut S) {
        let due = self.core.ends.iter().take_while(|(ends, _)| *ends <= time);
        let mut places: Vec<_> = due.map(|(_, place)| *place).collect();
        places.sort_by_key(|place| std::cmp::Reverse(self.core.age(*place)));
        for place in places {
            let book = &mut self.books[usize::from(self.core.records[place].book)];
            self.core.end(book, place, Reason::Expired, sink);
        }
    }

    /// The earliest time at which a phase changes, and the book; of several books, that of the lowest instrument.
    fn next_due(&self) -> Option<(u64, usize)> {
        let books = self.books.iter().enumerate();
        let due = books.filter_map(|(number, book)| Some((Core::due(book)?.0.0, book.id.0, number)));
        due.min().map(|(time, _, number)| (time, number))
    }

    /// Numbers the next trade behind `trade`: for an exchange that follows one whose trades are known.
    pub fn number_trades_after(&mut self, trade: u64) {
        self.core.trades = trade;
    }

    /// When [`Exchange::advance`] has something to do next.
    pub fn next_event(&self) -> Option<Nanos> {
        let ends = self.core.ends.first().map(|(time, _)| Nanos(*time));
        ends.into_iter().chain(self.next_phase()).min()
    }

    /// When a phase changes next, by a schedule or at the end of a volatility auction.
    pub fn next_phase(&self) -> Option<Nanos> {
        self.next_due().map(|(time, _)| Nanos(time))
    }

    /// What [`Exchange::advance`] was last told.
    pub fn now(&self) -> Nanos {
        Nanos(self.core.now)
    }

    /// The phase of an instrument's market.
    pub fn phase(&self, instrument: InstrumentId) -> Option<Phase> {
        self.listed(instrument).map(|book| book.phase)
    }

    /// What an auction would trade now.
    pub fn equilibrium(&self, instrument: InstrumentId) -> Option<Equilibrium> {
        self.listed(instrument).map(|book| self.core.equilibrium(book))
    }

    /// The price of an instrument's last trade.
    pub fn last_price(&self, instrument: InstrumentId) -> Option<Price> {
        self.listed(instrument).map(|book| book.last).filter(|price| price.is_some())
    }

    /// A working order.
    pub fn order(&self, id: u64) -> Option<OrderState> {
        let place = self.core.find(id)?;
        let book = &self.books[usize::from(self.core.records[place].book)];
        Some(self.core.state(book, place))
    }

    /// Number of orders that rest or wait.
    pub fn working_orders(&self) -> usize {
        self.core.numbers.len()
    }

    /// The book of an instrument.
    pub fn book(&self, instrument: InstrumentId) -> Option<BookView<'_>> {
        self.listed(instrument).map(|book| BookView { core: &self.core, book })
    }

    /// Bytes that orders, levels and indexes occupy, those set aside for later not counted but for the index of numbers.
    pub fn bytes(&self) -> usize {
        let core = &self.core;
        core.records.bytes()
            + core.levels.bytes()
            + core.numbers.bytes()
            + self.books.iter().map(Book::bytes).sum::<usize>()
    }

    /// Whether orders and levels lie on huge pages.
    pub fn is_on_huge_pages(&self) -> bool {
        self.core.records.is_huge() && self.core.levels.is_huge()
    }

    fn listed(&self, instrument: InstrumentId) -> Option<&Book> {
        let number = self.listed.get(instrument.0 as usize).copied().flatten()?;
        self.books.get(usize::from(number))
    }
}

#[inline(always)]
fn book_of<'a>(
    listed: &[Option<u16>],
    books: &'a mut [Book],
    instrument: InstrumentId,
) -> Option<&'a mut Book> {
    let number = listed.get(instrument.0 as usize).copied().flatten()?;
    books.get_mut(usize::from(number))
}
