//! BATS PITCH, the text form: one line a message, many symbols in one file.
//!
//! `message.rs` describes the columns. This reader relies on these facts of the specification:
//!
//! - Executions (`E`) and cancels (`X`) name the order and not the symbol, so the reader keeps every resting order,
//!   including those of unwanted symbols.
//! - A trade (`P`, `r`) is against a hidden order: it never changes the displayed book.
//! - `X` gives the number of cancelled shares; the order ends when none are left.
//!
//! Choices:
//!
//! - An order number that is added while it still rests means that the old order ended unseen: it is deleted, then the
//!   new one added ([`Counts::displaced`]). Within a session that does not happen. In a file put together from several,
//!   the clock goes back at the seam too: once it has gone back by more than a minute, the first repeated number proves
//!   a new session, and every order from before the seam is deleted with it.
//! - An `X` or `E` about an order that was never added is skipped as `unknown_order`: it rested from before the file's
//!   first message, and without an add its symbol is unknown.
//! - A symbol trades until a trading status (`H`) says otherwise. Where the clock goes back by more than a minute, the session before has
//!   ended: each symbol is closed, and its next session begins, which trades.
//! - The rows have no date; see the parent module. A session behind a seam begins a second after the one before, whatever
//!   its rows say, so that no clock that follows them goes back.

pub(crate) mod message;
mod published;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use wire::{BookAction, BookEvent, Instrument, InstrumentId, Price, TradingPhase};

use super::error::Fault;
use super::listing::{Listing, TickRule};
use super::orders::{OrderTable, Resting, Taken};
use super::recorded::{Place, Window, aggressor_against, is_far};
use super::tolerance::Watch;
use super::{
    BadRow, Counts, Files, Lines, OnBadRow, Options, Source, SourceError, SourceEvent, fields, input,
};
use message::{Body, Message};

pub use published::read;

const EXPECTED: &str = "BATS PITCH messages as text";
/// The messages of one session are stamped by several clocks, which differ by a few milliseconds.
const JITTER: u64 = fields::SECOND / 10;
/// The clock of a session never goes back by this much.
const SEAM: u64 = 60 * fields::SECOND;
/// From the last message of a session to the first of the next.
const GAP: u64 = fields::SECOND;
/// A new session repeats a number within this many rows.
const PROOF: u64 = 1_000;

/// Replays a PITCH file.
pub(crate) struct PitchSource {
    path: PathBuf,
    lines: Lines,
    listing: Listing,
    instruments: Vec<Instrument>,
    orders: OrderTable<u64>,
    window: Window,
    midnight: u64,
    /// What is added to the times of this session's rows.
    shift: u64,
    on_bad_row: OnBadRow,
    counts: Counts,
    row: u64,
    latest: u64,
    /// A row whose clock went back by more than a session's does, and by how many ms: the start of a new session, or an
    /// error.
    back: Option<(u64, u64)>,
    /// Time of the previous message.
    before: u64,
    /// Price of the last trade, by instrument.
    last_price: Vec<Option<Price>>,
    watch: Watch,
    /// Orders from before a place where the clock went back.
    earlier: OrderTable<u64>,
    held: VecDeque<Held>,
    /// Shares of dropped orders, by instrument.
    displaced: Vec<i64>,
    /// By instrument.
    phases: Vec<TradingPhase>,
}

/// What is returned before the next line is read.
enum Held {
    /// An instrument enters a phase.
    Phase(InstrumentId, TradingPhase),
    /// Removed orders of one instrument.
    Drop(Vec<(u64, Resting)>),
    /// The message that proved it.
    Message(Message),
}

impl PitchSource {
    /// Opens a file (or the only `*pitch*` file of a folder) and lists its symbols.
    ///
    /// # Errors
    /// [`SourceError`].
    pub(crate) fn open(files: &Files, options: &Options) -> Result<PitchSource, SourceError> {
        let path = files.only("pitch.txt", |name| name.contains("pitch"), EXPECTED)?;
        input::check_content(&path, input::Content::Pitch, EXPECTED)?;
        let (listing, rows) = first_pass(&path, options)?;
        let date = options.date.map(|date| date.0).or_else(|| fields::date_in_path(&path)).unwrap_or(0);
        let instruments = listing.finish()?;
        Ok(PitchSource {
            lines: Lines::open(&path, EXPECTED)?,
            displaced: vec![0; instruments.len() + 1],
            phases: vec![TradingPhase::Continuous; instruments.len() + 1],
            last_price: vec![None; instruments.len() + 1],
            before: 0,
            back: None,
            watch: Watch::new(options, rows),
            instruments,
            listing,
            orders: OrderTable::new(),
            window: Window::new(options)?,
            midnight: date,
            shift: 0,
            on_bad_row: options.on_bad_row,
            counts: Counts::default(),
            latest: 0,
            earlier: OrderTable::new(),
            held: VecDeque::new(),
            row: 0,
            path,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Shares of an instrument's orders that were dropped so far because their numbers were assigned again.
    pub(crate) fn displaced(&self, instrument: InstrumentId) -> i64 {
        self.displaced.get(instrument.0 as usize).copied().unwrap_or(0)
    }

    /// Converts one message into an event; `false` when it has none, and is counted.
    fn apply(&mut self, message: Message, event: &mut SourceEvent) -> bool {
        let row = self.row;
        let of_day = self.midnight + message.time;
        let place = self.window.place(of_day);
        if place == Place::After {
            self.counts.skipped.after_window += 1;
            return false;
        }
        let mut time = of_day + self.shift;
        let before = std::mem::replace(&mut self.before, time);
        if time + JITTER < before {
            self.end_seam();
            self.back = Some((row, (before - time) / 1_000_000));
        }
        if self.back.is_some_and(|(at, ms)| ms < SEAM / 1_000_000 || row > at + PROOF) {
            self.end_seam();
        }
        if time + SEAM < self.latest {
            for (order, resting) in self.orders.drain() {
                self.earlier.add(order, resting);
            }
            let begin = self.latest + GAP;
            self.shift += begin - time;
            time = begin;
            (self.before, self.latest) = (time, time);
            self.end_session();
            self.held.push_back(Held::Message(message));
            return false;
        }
        self.latest = self.latest.max(time);
        let at = (time, place);
        match message.body {
            Body::NoEffect => {
                self.counts.skipped.no_effect += 1;
                return false;
            }
            Body::Status { symbol, phase } => {
                let instrument = self.listing.get(&symbol).unwrap_or_default();
                self.begin(event, instrument, at);
                if instrument != InstrumentId::default() {
                    if self.phases[instrument.0 as usize] == phase {
                        self.counts.skipped.no_effect += 1;
                        return false;
                    }
                    self.phases[instrument.0 as usize] = phase;
                    event.enter(phase);
                }
            }
            Body::Add { order, side, quantity, symbol, price } => {
                if self.make_room(order) {
                    self.held.push_back(Held::Message(message));
                    return false;
                }
                let instrument = self.listing.get(&symbol).unwrap_or_default();
                self.orders.add(order, Resting { instrument, side, price, remaining: quantity });
                self.begin(event, instrument, at);
                event.push(BookAction::Add, side, order, price, quantity);
            }
            Body::Cancel { order, quantity } => {
                let Some(taken) = self.take(order, quantity) else { return false };
                let Taken { order: resting, quantity, last, .. } = taken;
                self.begin(event, resting.instrument, at);
                let action = if last { BookAction::Delete } else { BookAction::Reduce };
                event.push(action, resting.side, order, resting.price, quantity);
            }
            Body::Execute { order, quantity, execution } => {
                let Some(taken) = self.take(order, quantity) else { return false };
                let Taken { order: resting, quantity, .. } = taken;
                self.begin(event, resting.instrument, at);
                event.push(BookAction::Execute, resting.side, order, resting.price, quantity);
                event.print(aggressor_against(resting.side), resting.price, quantity, execution);
                if self.phases[event.instrument.0 as usize] == TradingPhase::VolatilityAuction {
                    event.take_sides_off();
                }
                self.last_price[event.instrument.0 as usize] = Some(resting.price);
            }
            Body::HiddenTrade { side, quantity, symbol, price, execution } => {
                self.begin(event, self.listing.get(&symbol).unwrap_or_default(), at);
                let last = &mut self.last_price[event.instrument.0 as usize];
                if event.instrument != InstrumentId::default() && is_far(price, last.replace(price)) {
                    self.counts.off_price += 1;
                    self.watch.note(&self.path, row, || {
                        Fault::new("price", price, "a price near the trade before")
                    });
                }
                event.unseen_trade(aggressor_against(side), price, quantity, execution);
                event.mark(BookEvent::HIDDEN);
            }
            Body::Clear { symbol } => {
                let instrument = self.listing.get(&symbol).unwrap_or_default();
                if instrument != InstrumentId::default() {
                    self.orders.clear(instrument);
                    self.earlier.clear(instrument);
                }
                self.begin(event, instrument, at);
                event.push(BookAction::Clear, wire::Side::Buy, 0, Price::NONE, 0);
            }
        }
        if event.instrument == InstrumentId::default() {
            self.counts.skipped.other_symbol += 1;
            return false;
        }
        self.counts.apply(event);
        event.finish()
    }

    /// The session has ended: so has the day of each instrument, and its next one begins.
    fn end_session(&mut self) {
        for instrument in &self.instruments {
            self.held.push_back(Held::Phase(instrument.id, TradingPhase::Closed));
            self.held.push_back(Held::Phase(instrument.id, TradingPhase::Continuous));
            self.phases[instrument.id.0 as usize] = TradingPhase::Continuous;
        }
    }

    fn begin(&self, event: &mut SourceEvent, instrument: InstrumentId, (time, place): (u64, Place)) {
        event.begin(instrument, time, self.row, self.row, place);
        event.call_auction = self.is_halted(instrument);
    }

    fn is_halted(&self, instrument: InstrumentId) -> bool {
        self.phases[instrument.0 as usize] != TradingPhase::Continuous
    }

    /// Holds the deletion of the orders that a new order with this number proves ended; `false` when there are none.
    fn make_room(&mut self, order: u64) -> bool {
        let (gone, is_seam) = match self.orders.remove(order) {
            Some(old) => (vec![(order, old)], false),
            None if self.earlier.contains(order) => (self.earlier.drain(), true),
            None => return false,
        };
        for orders in gone.chunk_by(|one, next| one.1.instrument == next.1.instrument) {
            let instrument = orders[0].1.instrument;
            if is_seam {
                self.back = None;
            }
            if instrument != InstrumentId::default() {
                self.displaced[instrument.0 as usize] +=
                    orders.iter().map(|(_, old)| old.remaining).sum::<i64>();
                self.counts.displaced += orders.len() as u64;
                if is_seam {
                    self.counts.at_seams += orders.len() as u64;
                } else {
                    self.watch.note(&self.path, self.row, || {
                        Fault::new("order id", order, "a number that is free")
                    });
                }
                self.held.push_back(Held::Drop(orders.to_vec()));
            }
        }
        true
    }

    /// Counts a row whose clock went back without a new session.
    fn end_seam(&mut self) {
        let Some((row, ms)) = self.back.take() else { return };
        self.counts.off_time += 1;
        self.watch.note(&self.path, row, || {
            let found = format!("{ms} ms before the message before it");
            Fault::new("timestamp", found, "times that never go back")
        });
    }

    fn give_held(&mut self, held: Held, event: &mut SourceEvent) -> bool {
        match held {
            Held::Message(message) => self.apply(message, event),
            Held::Phase(instrument, phase) => {
                let place = self.window.place(self.latest - self.shift);
                event.begin(instrument, self.latest, self.row, self.row, place);
                event.enter(phase);
                event.finish()
            }
            Held::Drop(orders) => {
                let instrument = orders.first().map_or(InstrumentId::default(), |(_, old)| old.instrument);
                let place = self.window.place(self.latest - self.shift);
                self.begin(event, instrument, (self.latest, place));
                for (order, old) in orders {
                    event.push(BookAction::Delete, old.side, order, old.price, old.remaining);
                }
                event.finish()
            }
        }
    }

    fn take(&mut self, order: u64, quantity: i64) -> Option<Taken> {
        let taken = self.orders.take(order, quantity).or_else(|| self.earlier.take(order, quantity));
        match &taken {
            None => self.counts.skipped.unknown_order += 1,
            Some(taken) if taken.order.instrument != InstrumentId::default() => {
                self.counts.excess += u64::from(taken.excess);
                if taken.excess {
                    let expected = format!("at most {}, what is left of the order", taken.order.remaining);
                    self.watch.note(&self.path, self.row, || Fault::new("shares", quantity, expected));
                }
            }
            Some(_) => {}
        }
        taken
    }
}

impl Source for PitchSource {
    fn instruments(&self) -> &[Instrument] {
        &self.instruments
    }

    fn next(&mut self, event: &mut SourceEvent) -> Result<bool, SourceError> {
        loop {
            if let Some(held) = self.held.pop_front() {
                if self.give_held(held, event) {
                    return Ok(true);
                }
                continue;
            }
            let Some((row, line)) = self.lines.next(&self.path)? else {
                self.counts.unended = u64::from(self.lines.is_unended());
                self.end_seam();
                self.watch.check(&self.counts)?;
                return Ok(false);
            };
            self.counts.read += 1;
            self.row = row;
            match message::parse(line) {
                Ok(message) => {
                    let given = self.apply(message, event);
                    self.watch.check(&self.counts)?;
                    if given {
                        return Ok(true);
                    }
                }
                Err(fault) => self.counts.reject(self.on_bad_row, fault, &self.path, row)?,
            }
        }
    }

    fn counts(&self) -> &Counts {
        &self.counts
    }

    fn contradictions(&self) -> &[BadRow] {
        self.watch.first()
    }

    fn crossed(&mut self, event: &SourceEvent) -> Result<(), SourceError> {
        // At a seam, orders of the previous session are still there.
        if self.back.is_some() || self.is_halted(event.instrument) {
            return Ok(());
        }
        self.watch.crossed(&mut self.counts, &self.path, event.row)
    }
}

fn first_pass(path: &Path, options: &Options) -> Result<(Listing, u64), SourceError> {
    let mut rows = 0;
    let mut listing = Listing::new(&options.symbols, TickRule::Cents);
    let mut lines = Lines::open(path, EXPECTED)?;
    let (mut understood, mut counts) = (false, Counts::default());
    while let Some((row, line)) = lines.next(path)? {
        rows += 1;
        let body = match message::parse(line) {
            Ok(message) => message.body,
            Err(fault) => {
                counts.reject(options.on_bad_row, fault, path, row)?;
                continue;
            }
        };
        understood = true;
        if let Body::Add { symbol, .. } | Body::HiddenTrade { symbol, .. } = body {
            listing.id(symbol, path)?;
        }
    }
    if understood { Ok((listing, rows)) } else { Err(input::nothing_understood(path, EXPECTED)) }
}
