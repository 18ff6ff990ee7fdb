//! LOBSTER: reconstructed Nasdaq order flow, one stock and one day a file.
//!
//! After LOBSTER's own "Output" and "Sample Files Readme" pages (lobsterdata.com). A message has six columns
//! without a header: seconds after midnight (New York), type, order number, size, price × 10,000, direction of
//! the **resting** order (1 buy, −1 sell).
//!
//! | type | is | becomes |
//! |---|---|---|
//! | 1 | new limit order | `Add` |
//! | 2 | part of it cancelled | `Reduce` |
//! | 3 | all of it deleted | `Delete` |
//! | 4 | visible order executed | `Execute`, trade print; the aggressor is the other side |
//! | 5 | hidden order executed | `Trade` (no effect on the book), trade print |
//! | 6 | cross (auction): sums up executions that have messages of their own | `Trade` without a side; no trade print, as those have theirs. In a halt, and until the cross that ends it, those executions get its price: their own rows may name the order's limit |
//! | 7 | halt (price −1), quoting resumes (0), trading resumes (1) | a phase: halt, auction, continuous; see below too |
//!
//! # Volume that rests from before the first message
//!
//! The file starts with resting orders that no message adds. They are treated as follows:
//!
//! 1. Orders that a later message mentions are learnt in the first pass and put into the book before the first
//!    message ([`Counts::prior`]; the reasoning is in `prior.rs`), unless [`Options::prior`] forbids it: it looks ahead.
//! 2. With `files.orderbook` (LOBSTER's own book, one row a message), the first row without the effect of the first
//!    message gives the other orders within its levels: put into the book as one anonymous order a price.
//! 3. The rest is unknown. An execution of such an order is a `Trade` with its print; a cancel is skipped as
//!    `unknown_order`.
//!
//! # Files of few levels
//!
//! LOBSTER writes only the messages of the requested number of levels. An order that falls out of them may be cancelled
//! unseen. Without an orderbook file such an order stays until a message proves it gone: a quote or trade through its
//! price ([`Counts::stale`]; not during a halt, when quotes may cross). With one, the prices that **newly** come into
//! its view are set to what it shows; prices that were in view already are never changed, so that a comparison with the
//! same file still means something.
//!
//! # Limits
//!
//! A missing row shows only when a later row names its order: an order that was deleted unseen looks like one that left
//! the file's levels. The price or side of an order that crosses nothing, and that no later row names, is stated
//! nowhere else. An order at a wrong price within half and twice the market's, or on the wrong side, drops the orders
//! that it crosses as `stale`, like an order that came unseen; it shows when one of the dropped orders, or the order
//! itself, is named again.
//!
//! # Names and dates
//!
//! The symbol is `symbols = ["AAPL"]`, otherwise the first part of an official file name
//! (`AAPL_2012-06-21_34200000_57600000_message_10.csv`), otherwise `LOBSTER`. For the date see the parent module.

/// In nanoseconds.
const MILLISECOND: u64 = 1_000_000;

mod depth;
mod orderbook;
mod prior;
mod published;
mod row;
mod rows;

use std::collections::HashSet;
use std::path::Path;

use wire::{Aggressor, BookAction, BookEvent, Instrument, InstrumentId, Price, Side, Symbol, TradingPhase};

use super::error::Fault;
use super::listing::{Listing, TickRule};
use super::recorded::{Place, Window, aggressor_against, is_far};
use super::reopening::Reopening;
use super::table::Table;
use super::tolerance::Watch;
use super::{
    BadRow, Counts, Files, OnBadRow, Options, PriorOrders, Source, SourceError, SourceEvent, fields, input,
};
use depth::Depth;
use orderbook::Orderbook;
use prior::{Learning, Prior};
use row::{Kind, Row};
use rows::Rows;

pub use published::read;
pub(crate) use row::View;

const EXPECTED: &str = "a LOBSTER message file";

/// Replays a LOBSTER message file.
pub(crate) struct LobsterSource {
    messages: Rows,
    orderbook: Option<Orderbook>,
    instruments: Vec<Instrument>,
    prior: Vec<Prior>,
    depth: Depth,
    window: Window,
    midnight: u64,
    phase: TradingPhase,
    reopening: Reopening,
    started: bool,
    latest: u64,
    last_price: Option<Price>,
    /// Numbers of all orders so far.
    used: HashSet<u64>,
    /// The previous row.
    before: Option<Row>,
    watch: Watch,
    on_bad_row: OnBadRow,
    counts: Counts,
}

/// Whether a row can be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fits {
    Usable,
    /// Its price is impossible: counted as applied without effect, because it would remove the whole other side.
    LeftOut,
    /// It repeats an earlier row.
    Repeated,
}

/// The result of one row of the message file.
pub(crate) enum Step {
    /// An event; from this book event on, it holds what the orderbook file newly shows.
    Event { revealed_from: usize },
    /// Counted, without an event.
    Quiet,
    /// No more rows.
    End,
}

impl LobsterSource {
    /// Opens a message file, or the only one of a folder, and, when it is named, its orderbook file.
    ///
    /// # Errors
    /// [`SourceError`].
    pub(crate) fn open(files: &Files, options: &Options) -> Result<LobsterSource, SourceError> {
        let (path, orderbook) = match files {
            Files::Named(named) => {
                let [messages, orderbook] = Files::roles(named, ["messages", "orderbook"], 1)?;
                (messages.unwrap_or_default(), orderbook)
            }
            Files::Path(_) => (files.only("message.csv", |name| name.contains("message"), EXPECTED)?, None),
        };
        input::check_content(&path, input::Content::LobsterMessages, EXPECTED)?;
        let orderbook = orderbook.as_deref().map(Orderbook::open).transpose()?;
        let mut listing = Listing::new(&[], TickRule::Cents);
        listing.id(symbol(&path, options)?, &path)?;
        let (mut prior, rows) = first_pass(&path, options)?;
        if options.prior == PriorOrders::None {
            prior.clear();
        }
        let date = options.date.map(|date| date.0).or_else(|| fields::date_in_path(&path)).unwrap_or(0);
        Ok(LobsterSource {
            messages: Rows::open(&path, EXPECTED)?,
            depth: Depth::new(orderbook.is_some()),
            orderbook,
            instruments: listing.finish()?,
            prior,
            window: Window::new(options)?,
            midnight: date,
            phase: TradingPhase::Continuous,
            reopening: Reopening::default(),
            started: false,
            latest: 0,
            last_price: None,
            used: HashSet::new(),
            before: None,
            watch: Watch::new(options, rows),
            on_bad_row: options.on_bad_row,
            counts: Counts::default(),
        })
    }

    /// The orderbook file's row for the message read last, and how many levels it has.
    pub(crate) fn view(&self) -> Option<(&View, usize)> {
        self.orderbook.as_ref().map(|orderbook| (orderbook.view(), orderbook.levels()))
    }

    /// Behind the last message: the orderbook file must be at its end too.
    ///
    /// # Errors
    /// [`SourceError::Format`] when it has more rows.
    pub(crate) fn check_orderbook_end(&mut self) -> Result<(), SourceError> {
        match &mut self.orderbook {
            Some(orderbook) => orderbook.check_end(self.messages.path()),
            None => Ok(()),
        }
    }

    pub(crate) fn step(&mut self, event: &mut SourceEvent) -> Result<Step, SourceError> {
        let Some((number, row)) = self.messages.next()? else {
            self.counts.unended = u64::from(self.messages.is_unended());
            return Ok(Step::End);
        };
        self.counts.read += 1;
        if let Some(orderbook) = &mut self.orderbook {
            orderbook.next(number, self.messages.path())?;
        }
        let row = match row {
            Ok(row) => row,
            Err(fault) => {
                self.counts.reject(self.on_bad_row, fault, self.messages.path(), number)?;
                return Ok(Step::Quiet);
            }
        };
        let time = self.midnight + row.time;
        let place = self.window.place(time);
        if place == Place::After {
            self.counts.skipped.after_window += 1;
            return Ok(Step::Quiet);
        }
        event.begin(InstrumentId(1), time, number, number, place);
        event.call_auction = self.is_halted();
        self.reopening.reach(event.event_time);
        if !self.started {
            self.started = true;
            self.put_prior(event, &row);
        }
        let before = std::mem::replace(&mut self.latest, time);
        if time < before {
            self.counts.off_time += 1;
            let found = format!("{} ns before the row before it", before - time);
            self.watch.note(self.messages.path(), number, || {
                Fault::new("time (column 1)", found, "times that never go back")
            });
        }
        let applied = match self.compare(&row, number) {
            Fits::Usable => self.apply(event, &row),
            Fits::LeftOut => true,
            Fits::Repeated => {
                self.counts.skipped.unknown_order += 1;
                false
            }
        };
        let revealed_from = event.book_events.len();
        if let Some(orderbook) = &self.orderbook {
            orderbook.reveal(&mut self.depth, event);
        }
        if applied {
            self.counts.apply(event);
            self.follow_cross(event, &row)?;
        }
        self.watch.check(&self.counts)?;
        Ok(if event.finish() { Step::Event { revealed_from } } else { Step::Quiet })
    }

    /// Counts a row that contradicts its order, or earlier rows.
    fn compare(&mut self, row: &Row, number: u64) -> Fits {
        let known = self.depth.order(row.order);
        // One order cannot trade or be reduced twice in the same nanosecond by the same amount, but in the same millisecond, which
        // is all that the times of some periods say. Hidden orders have no number.
        let is_single = match row.kind {
            Kind::New | Kind::Delete => true,
            Kind::PartialCancel | Kind::Execute => !row.time.is_multiple_of(MILLISECOND),
            _ => false,
        };
        let is_repeated = self.before.replace(*row) == Some(*row) && is_single;
        let ends = matches!(row.kind, Kind::PartialCancel | Kind::Delete | Kind::Execute);
        let is_far = !self.may_cross() && self.is_far(row);
        let mut fits = Fits::Usable;
        let fault = match (row.kind, known) {
            _ if is_repeated => {
                self.counts.unmatched += 1;
                fits = Fits::Repeated;
                Some(Fault::new("the row", "the row before it once more", "each row once"))
            }
            (Kind::New, None) if is_far && self.depth.crosses(row.side, row.price) => {
                self.counts.off_price += 1;
                fits = Fits::LeftOut;
                let expected =
                    "a price that does not cross the book, between half and twice that of the trade before";
                Some(Fault::new("price (column 5)", row.price, expected))
            }
            (_, None) if ends && self.used.contains(&row.order) => {
                self.counts.unmatched += 1;
                let expected =
                    "an order that is not gone, by its own rows or because others went through its price";
                Some(Fault::new("order id (column 3)", row.order, expected))
            }
            (Kind::Execute, None) if is_far => {
                self.counts.off_price += 1;
                Some(Fault::new("price (column 5)", row.price, "a price near the trade before"))
            }
            (Kind::New, Some(_)) => {
                Some(Fault::new("order id (column 3)", row.order, "a number that is free"))
            }
            (Kind::New, None) if !self.used.insert(row.order) => {
                self.counts.reused += 1;
                Some(Fault::new("order id (column 3)", row.order, "a number that no order before has"))
            }
            (Kind::PartialCancel | Kind::Delete | Kind::Execute, Some((side, price, left))) => {
                // In a cross it trades at the cross's price, which is no worse than its own.
                let is_better = if side == Side::Buy { row.price <= price } else { row.price >= price };
                let is_of_cross = row.kind == Kind::Execute && self.may_cross() && is_better;
                let is_off = side != row.side || price != row.price && !is_of_cross;
                self.counts.off_price += u64::from(is_off);
                (is_off || row.quantity > left).then(|| {
                    let found = format!("{} at {} {}", row.quantity, row.price, row.side);
                    let expected = format!("at most {left} at {price} {side}, as order {} has it", row.order);
                    Fault::new("the row", found, expected)
                })
            }
            (Kind::ExecuteHidden, _) if is_far => {
                self.counts.off_price += 1;
                Some(Fault::new("price (column 5)", row.price, "a price near the trade before"))
            }
            _ => None,
        };
        match row.kind {
            Kind::Execute if known.is_none() && is_far => {}
            Kind::Execute => self.last_price = Some(known.map_or(row.price, |(_, price, _)| price)),
            Kind::ExecuteHidden if fault.is_none() => self.last_price = Some(row.price),
            _ => {}
        }
        if let Some(fault) = fault {
            self.watch.note(self.messages.path(), number, || fault);
        }
        fits
    }

    /// The price is more than twice or less than half of that of the previous trade; before any trade, of the other
    /// side's best.
    fn is_far(&self, row: &Row) -> bool {
        is_far(row.price, self.last_price.or_else(|| self.depth.best(row.side.opposite())))
    }

    /// Nothing trades but in a cross.
    fn is_halted(&self) -> bool {
        self.phase != TradingPhase::Continuous
    }

    /// Orders may cross: those that a halt collects, until their cross.
    fn may_cross(&self) -> bool {
        self.is_halted() || self.reopening.is_under_way()
    }

    /// In a halt, and between its end and its cross, what trades in the instant of a cross is of the cross and has its price.
    fn follow_cross(&mut self, event: &mut SourceEvent, row: &Row) -> Result<(), SourceError> {
        if !self.may_cross() {
            return Ok(());
        }
        if event.trades() {
            if let Some(price) = self.messages.cross_price(row)? {
                event.pay(price);
                event.take_sides_off();
            }
            self.reopening.trade(event.event_time);
        }
        self.reopening.leave(self.depth.is_crossed());
        Ok(())
    }

    /// Fills the book with the orders from before the first message.
    fn put_prior(&mut self, event: &mut SourceEvent, first: &Row) {
        for Prior { id, side, price, quantity } in std::mem::take(&mut self.prior) {
            self.depth.add_prior(event, id, side, price, quantity);
            self.counts.prior += 1;
        }
        if let Some(orderbook) = &self.orderbook {
            orderbook.seed(&mut self.depth, event, first);
        }
    }

    /// Adds a row's effect to the event; `false` when it has none and was counted as skipped.
    fn apply(&mut self, event: &mut SourceEvent, row: &Row) -> bool {
        let &Row { kind, order, quantity, price, side, .. } = row;
        match kind {
            Kind::Phase(phase) if phase == self.phase => {
                self.counts.skipped.no_effect += 1;
                return false;
            }
            Kind::Phase(phase) => {
                self.phase = phase;
                self.reopening.enter(phase);
                event.enter(phase);
            }
            Kind::New => {
                if !self.may_cross() {
                    self.counts.stale += self.depth.drop_refuted(event, side.opposite(), price, true);
                }
                if self.depth.knows(order) {
                    self.counts.displaced += 1;
                    self.depth.delete(event, order);
                }
                self.depth.add(event, order, side, price, quantity);
            }
            Kind::PartialCancel | Kind::Delete => {
                let action = if kind == Kind::Delete { BookAction::Delete } else { BookAction::Reduce };
                let found = self.depth.take(event, action, order, side, price, quantity);
                self.counts.excess += u64::from(found.excess);
                if found.quantity == 0 {
                    self.counts.skipped.unknown_order += 1;
                    return false;
                }
            }
            Kind::Execute => {
                // A price other than the order's own proves nothing about other orders.
                let is_own = self.depth.order(order).is_none_or(|(_, own, _)| own == price)
                    && !is_far(price, self.last_price);
                if !self.may_cross() && is_own {
                    self.counts.stale += self.depth.drop_refuted(event, side, price, false);
                }
                let found = self.depth.take(event, BookAction::Execute, order, side, price, quantity);
                self.counts.excess += u64::from(found.excess);
                if found.quantity == 0 {
                    event.unseen_trade(aggressor_against(side), price, quantity, 0);
                } else {
                    event.print(aggressor_against(side), price, quantity, 0);
                }
            }
            Kind::ExecuteHidden => {
                event.unseen_trade(aggressor_against(side), price, quantity, 0);
                event.mark(BookEvent::HIDDEN);
            }
            Kind::Cross => {
                event.unprinted_trade(Aggressor::None, price, quantity);
                event.mark(BookEvent::UNPRINTED);
            }
        }
        true
    }
}

impl Source for LobsterSource {
    fn instruments(&self) -> &[Instrument] {
        &self.instruments
    }

    fn next(&mut self, event: &mut SourceEvent) -> Result<bool, SourceError> {
        loop {
            match self.step(event)? {
                Step::Event { .. } => return Ok(true),
                Step::Quiet => {}
                Step::End => return Ok(false),
            }
        }
    }

    fn counts(&self) -> &Counts {
        &self.counts
    }

    fn contradictions(&self) -> &[BadRow] {
        self.watch.first()
    }

    fn quoted(&mut self) {
        self.counts.prior_quotes += u64::from(self.depth.stands_on_prior());
    }

    fn crossed(&mut self, event: &SourceEvent) -> Result<(), SourceError> {
        if self.may_cross() {
            return Ok(());
        }
        self.watch.crossed(&mut self.counts, self.messages.path(), event.row)
    }
}

fn first_pass(path: &Path, options: &Options) -> Result<(Vec<Prior>, u64), SourceError> {
    let mut messages = Table::open(path, EXPECTED)?;
    let mut rows = 0;
    let (mut learning, mut counts, mut understood) = (Learning::default(), Counts::default(), false);
    while let Some(number) = messages.next()? {
        rows += 1;
        match row::message(messages.record()) {
            Ok(row) => {
                understood = true;
                learning.row(&row);
            }
            Err(fault) => counts.reject(options.on_bad_row, fault, path, number)?,
        }
    }
    if understood { Ok((learning.finish(), rows)) } else { Err(input::nothing_understood(path, EXPECTED)) }
}

fn symbol(path: &Path, options: &Options) -> Result<Symbol, SourceError> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let parts: Vec<&str> = name.split('_').collect();
    let official = match parts[..] {
        [ticker, date, ..] if fields::date(date.as_bytes()).is_some() => Some(ticker),
        _ => None,
    };
    let refused = |found: String, expected: &str| SourceError::Option {
        name: "symbols",
        found,
        expected: expected.to_owned(),
    };
    let text = match (&options.symbols[..], official) {
        ([], official) => official.unwrap_or("LOBSTER"),
        ([one], Some(official)) if one != official => {
            return Err(refused(
                format!("`{one}`"),
                &format!("`{official}`, the stock that {name} is about"),
            ));
        }
        ([one], _) => one,
        (several, _) => {
            return Err(refused(
                format!("{} names", several.len()),
                "one name: a LOBSTER file holds one stock",
            ));
        }
    };
    Symbol::new(text).ok_or_else(|| refused(format!("`{text}`"), "a name of 1 to 24 bytes"))
}
