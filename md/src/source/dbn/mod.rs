//! Databento DBN, schema `mbo` (market by order), read through the `dbn` crate.
//!
//! After Databento's "Market by order" schema page and its order book examples:
//!
//! | action | is | becomes |
//! |---|---|---|
//! | A | order added | `Add` |
//! | C | `size` of an order cancelled | `Reduce`, `Delete`; nothing, where fills of the same event took it |
//! | M | price or size changed | `Modify` (loses its place when the price changes or the size grows); `Add` for an order that does not rest; nothing, where fills of the same event account for it |
//! | T | an incoming order traded; no effect on the book | trade print; `Trade` when its fills touch no displayed order |
//! | F | a resting order was filled; the C or M that follows changes the book | `Execute` with that C or M |
//! | R | the instrument's book is cleared | `Clear` |
//! | N | none | skipped |
//!
//! Prices are in 1e-9 as in this crate. A record with the flag `LAST` ends an event of the venue; the records of one
//! event, and all records of a snapshot, are one [`SourceEvent`]; in a file without that flag, the records with one
//! `ts_event` are. The event is returned when its last record or, where none is marked, a record of another time or a
//! record after the snapshot is read, whatever instrument that one is about. Its time is `ts_event` of its last record
//! (UTC), for a snapshot `ts_recv`: orders in a snapshot keep the time at which they were sent, often days before. Its
//! sequence is the record's number in the file (the venue's own repeats within an event).
//!
//! A fill without a price has that of its order. A size of 2^32 - 1 is the vendor's "none", and makes a bad row.
//!
//! Symbols come from the mappings in the metadata, each on its dates. If there are any, an id without one is a bad row. Where a
//! continuous contract rolls, each contract is an instrument of its own (`names.rs`). The market of a name that ends before others do is
//! closed from the midnight (UTC) behind its last date on. In a file without mappings (a live session) ids are listed as `#ID`. Records of the schema `status`, which a file
//! of several schemas has, are phases (`status.rs`); without one, an instrument trades. Records of other kinds (system, symbol mappings of a
//! live session) are skipped. Books are kept per instrument id: files that mix publishers (venues) of one instrument id make
//! one book of them.

mod convert;
mod names;
mod records;
mod status;

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use dbn::MboMsg;
use wire::{Instrument, InstrumentId, Symbol, TradingPhase};

use self::convert::{Record, convert};
use self::names::Names;
use self::records::{EXPECTED, Item, Records};
use super::error::Fault;
use super::fields::{DAY, SECOND};
use super::listing::{Listing, TickRule};
use super::orders::OrderTable;
use super::recorded::{Place, Window};
use super::tolerance::Watch;
use super::{BadRow, Counts, Files, OnBadRow, Options, Source, SourceError, SourceEvent, input};

/// A record received further than this from its own time has a wrong time, in nanoseconds.
const FAR: u64 = 3_600 * SECOND;
/// The records of one event of the venue are received within this time, in nanoseconds.
const LONGEST_EVENT: u64 = SECOND;

/// Records of one instrument that wait for the end of their event.
#[derive(Debug, Default)]
struct Pending {
    records: Vec<Record>,
    /// A status, which is an event of its own.
    phase: Option<TradingPhase>,
    /// The end of a name, which is no row of the file.
    is_no_row: bool,
    /// On the market's clock; of a snapshot, whose orders keep their own old times, the time when it was taken.
    time: u64,
    /// `ts_event` of the last record.
    stamp: u64,
    received: u64,
    number: u64,
    snapshot: bool,
}

/// Replays a DBN file.
pub(crate) struct DbnSource {
    path: PathBuf,
    records: Records,
    listing: Listing,
    names: Names,
    /// Instruments whose names end, with the time, by time.
    ends: VecDeque<(u64, InstrumentId)>,
    instruments: Vec<Instrument>,
    orders: OrderTable<(InstrumentId, u64)>,
    pending: BTreeMap<InstrumentId, Pending>,
    ready: VecDeque<(InstrumentId, Pending)>,
    /// `ts_recv` of the previous record.
    received: u64,
    watch: Watch,
    /// By instrument: an incoming order has traded. A crossed book before that belongs to the opening auction.
    traded: Vec<bool>,
    /// By instrument.
    phases: Vec<TradingPhase>,
    /// The file marks the last record of each event.
    marked: bool,
    window: Window,
    on_bad_row: OnBadRow,
    counts: Counts,
}

impl DbnSource {
    /// Opens a file (or the only `*.dbn*` file of a folder) and lists its instruments.
    ///
    /// # Errors
    /// [`SourceError`].
    pub(crate) fn open(files: &Files, options: &Options) -> Result<DbnSource, SourceError> {
        let path = files.only("mbo.dbn", |name| name.ends_with(".dbn"), EXPECTED)?;
        let mut records = Records::open(&path)?;
        let names = records.names();
        for (name, contracts) in &names.rolls {
            let ids: Vec<String> = contracts.iter().map(u32::to_string).collect();
            log::warn!(
                "{}: {name} stands for {} contracts, one after another: ids {}. Each is an instrument of its own, the first one \
                 under this name, the others under {name}@ID",
                path.display(),
                ids.len(),
                ids.join(", ")
            );
        }
        let rolled = names.rolls.len() as u64;
        let mut listing = Listing::new(&options.symbols, TickRule::Unknown);
        let (marked, rows) = first_pass(&mut records, &path, options, &names, &mut listing)?;
        let instruments = listing.finish()?;
        let ended = |&(day, name): &(i64, Symbol)| {
            Some((day.unsigned_abs().saturating_mul(DAY), listing.get(&name)?))
        };
        Ok(DbnSource {
            ends: names.ends.iter().filter_map(ended).collect(),
            records: Records::open(&path)?,
            traded: vec![false; instruments.len() + 1],
            phases: vec![TradingPhase::Continuous; instruments.len() + 1],
            instruments,
            listing,
            names,
            orders: OrderTable::new(),
            pending: BTreeMap::new(),
            ready: VecDeque::new(),
            marked,
            received: 0,
            watch: Watch::new(options, rows),
            window: Window::new(options)?,
            on_bad_row: options.on_bad_row,
            counts: Counts { rolled, ..Counts::default() },
            path,
        })
    }

    /// Reads one record into its event; `false` at the end of the file, when every event is ready.
    fn read(&mut self) -> Result<bool, SourceError> {
        let Some((number, item)) = self.records.next()? else {
            let mut rest: Vec<(InstrumentId, Pending)> =
                std::mem::take(&mut self.pending).into_iter().collect();
            rest.sort_by_key(|(_, pending)| pending.number);
            self.ready.extend(rest);
            return Ok(false);
        };
        self.counts.read += 1;
        let message = match item {
            Item::Mbo(message) => message,
            Item::Status(message) => {
                self.read_status(number, &message)?;
                return Ok(true);
            }
            Item::Other => {
                self.counts.skipped.no_effect += 1;
                return Ok(true);
            }
            Item::Bad(fault) => {
                self.counts.reject(self.on_bad_row, fault, &self.path, number)?;
                return Ok(true);
            }
        };
        let checked = name_of(&message, &self.names)
            .and_then(|name| convert::check(&message).map(|record| (name, record)));
        let (name, record) = match checked {
            Ok(checked) => checked,
            Err(fault) => {
                self.counts.reject(self.on_bad_row, fault, &self.path, number)?;
                return Ok(true);
            }
        };
        let Some(instrument) = self.listing.get(&name) else {
            self.counts.skipped.other_symbol += 1;
            return Ok(true);
        };
        if message.flags.is_maybe_bad_book() {
            self.counts.doubted += 1;
        }
        let snapshot = message.flags.is_snapshot();
        let (stamp, received) = (message.hd.ts_event, received(&message));
        self.end_names(received, number);
        let time = self.time(stamp, received, snapshot, number);
        if !snapshot {
            self.end_events(stamp, received);
        }
        if self.pending.get(&instrument).is_some_and(|pending| pending.snapshot != snapshot) {
            self.end_event(instrument);
        }
        let pending = self.pending.entry(instrument).or_default();
        pending.records.push(record);
        (pending.time, pending.stamp, pending.received) = (time, stamp, received);
        (pending.number, pending.snapshot) = (number, snapshot);
        if message.flags.is_last() && !snapshot {
            self.end_event(instrument);
        }
        Ok(true)
    }

    /// The time of a record: the market's own, if it is plausible.
    fn time(&mut self, stamp: u64, received: u64, snapshot: bool, number: u64) -> u64 {
        let before = std::mem::replace(&mut self.received, received);
        // Orders of a snapshot keep the old times at which they were sent.
        let is_off = stamp > received.saturating_add(FAR) || !snapshot && stamp.abs_diff(received) > FAR;
        if is_off || received < before {
            self.counts.off_time += 1;
            self.watch.note(&self.path, number, || {
                let expected = "a ts_event within an hour of ts_recv, and a ts_recv that never goes back";
                Fault::new("time", format!("ts_event {stamp}, ts_recv {received}"), expected)
            });
        }
        if snapshot || is_off { received } else { stamp }
    }

    /// Closes the market of each instrument with an expired name. It has no further records, so its last book is stale.
    fn end_names(&mut self, received: u64, number: u64) {
        while self.ends.front().is_some_and(|(time, _)| *time <= received)
            && let Some((time, instrument)) = self.ends.pop_front()
        {
            let earlier: Vec<InstrumentId> = self
                .pending
                .iter()
                .filter(|(of, pending)| **of == instrument || pending.received < time)
                .map(|(of, _)| *of)
                .collect();
            earlier.into_iter().for_each(|of| self.end_event(of));
            let phase = Some(TradingPhase::Closed);
            let end = Pending {
                phase,
                is_no_row: true,
                time,
                stamp: time,
                received: time,
                number,
                ..Pending::default()
            };
            self.ready.push_back((instrument, end));
        }
    }

    /// A record that belongs to no snapshot has come: the events of all instruments that end with it are ready. Events
    /// of a marked file wait for their own end, but for a limited time.
    fn end_events(&mut self, stamp: u64, received: u64) {
        let ends = |pending: &Pending| {
            pending.snapshot
                || !self.marked && pending.stamp != stamp
                || received > pending.received.saturating_add(LONGEST_EVENT)
        };
        let mut ended: Vec<(u64, InstrumentId)> = Vec::new();
        for (&instrument, pending) in &self.pending {
            if ends(pending) {
                ended.push((pending.number, instrument));
            }
        }
        ended.sort_unstable();
        ended.into_iter().for_each(|(_, instrument)| self.end_event(instrument));
    }

    fn end_event(&mut self, instrument: InstrumentId) {
        self.ready.extend(self.pending.remove(&instrument).map(|pending| (instrument, pending)));
    }

    fn is_halted(&self, instrument: InstrumentId) -> bool {
        self.phases[instrument.0 as usize] != TradingPhase::Continuous
    }

    fn apply(&mut self, instrument: InstrumentId, pending: &Pending, event: &mut SourceEvent) -> bool {
        let place = self.window.place(pending.time);
        if place == Place::After {
            self.counts.skipped.after_window +=
                pending.records.len() as u64 + u64::from(pending.phase.is_some() && !pending.is_no_row);
            return false;
        }
        event.begin(instrument, pending.time, pending.number, pending.number, place);
        if let Some(phase) = pending.phase {
            if std::mem::replace(&mut self.phases[instrument.0 as usize], phase) == phase {
                self.counts.skipped.no_effect += u64::from(!pending.is_no_row);
                return false;
            }
            event.enter(phase);
            if !pending.is_no_row {
                self.counts.apply(event);
            }
            return event.finish();
        }
        event.call_auction = self.is_halted(instrument);
        let (watch, path) = (&mut self.watch, &self.path);
        let note = |fault| watch.note(path, pending.number, || fault);
        convert(&pending.records, event, &mut self.orders, &mut self.counts, note);
        self.traded[instrument.0 as usize] |=
            event.trades.iter().any(|trade| trade.aggressor != wire::Aggressor::None);
        // In a halt, trades of a cross have no side in the file.
        if !matches!(self.phases[instrument.0 as usize], TradingPhase::Continuous | TradingPhase::Halt) {
            event.take_sides_off();
        }
        event.finish()
    }
}

impl Source for DbnSource {
    fn instruments(&self) -> &[Instrument] {
        &self.instruments
    }

    fn next(&mut self, event: &mut SourceEvent) -> Result<bool, SourceError> {
        loop {
            while let Some((instrument, pending)) = self.ready.pop_front() {
                let given = self.apply(instrument, &pending, event);
                self.watch.check(&self.counts)?;
                if given {
                    return Ok(true);
                }
            }
            if !self.read()? && self.ready.is_empty() {
                return Ok(false);
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
        if !self.traded[event.instrument.0 as usize] || self.is_halted(event.instrument) {
            return Ok(());
        }
        self.watch.crossed(&mut self.counts, &self.path, event.row)
    }
}

/// When the vendor received a record.
fn received(message: &MboMsg) -> u64 {
    or(message.ts_recv, message.hd.ts_event)
}

fn or(received: u64, event: u64) -> u64 {
    if received == dbn::UNDEF_TIMESTAMP { event } else { received }
}

/// The name of a record's instrument. Orders of a snapshot keep times of days before: it is the time of receipt that counts.
fn name_of(message: &MboMsg, names: &Names) -> Result<Symbol, Fault> {
    names.name(message.hd.instrument_id, received(message))
}

/// Lists the instruments; returns whether the ends of events are marked, and the number of records.
fn first_pass(
    records: &mut Records,
    path: &Path,
    options: &Options,
    names: &Names,
    listing: &mut Listing,
) -> Result<(bool, u64), SourceError> {
    let (mut understood, mut marked, mut counts) = (false, false, Counts::default());
    let mut rows = 0;
    while let Some((number, item)) = records.next()? {
        rows = number;
        let message = match item {
            Item::Mbo(message) => message,
            Item::Status(_) | Item::Other => continue,
            Item::Bad(fault) => {
                counts.reject(options.on_bad_row, fault, path, number)?;
                continue;
            }
        };
        let checked = name_of(&message, names).and_then(|name| convert::check(&message).map(|_| name));
        let name = match checked {
            Ok(name) => name,
            Err(fault) => {
                counts.reject(options.on_bad_row, fault, path, number)?;
                continue;
            }
        };
        understood = true;
        marked |= message.flags.is_last();
        listing.id(name, path)?;
    }
    if understood {
        Ok((marked, rows))
    } else if records_are_missing(path)? {
        Err(SourceError::Empty { path: path.to_owned(), expected: EXPECTED.to_owned() })
    } else {
        Err(input::nothing_understood(path, EXPECTED))
    }
}

fn records_are_missing(path: &Path) -> Result<bool, SourceError> {
    Ok(Records::open(path)?.next()?.is_none())
}
