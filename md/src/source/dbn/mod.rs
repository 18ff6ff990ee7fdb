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
//! Prices are in 1e-9 as they are here. A record that carries the flag `LAST` ends an event of the venue; the records
//! of one event, and all records of a snapshot, are one [`SourceEvent`]; in a file without that flag, the records of
//! one `ts_event` are. Its time is `ts_event` of its last record
//! (UTC), its sequence the record's number in the file (the venue's own repeats within an event).
//!
//! Symbols come from the mappings in the metadata; an id without one is listed as `#ID`. Records of other kinds
//! (status, system, symbol mappings of a live session) are skipped. Books are kept per instrument id: files that
//! mix publishers (venues) of one instrument id make one book of them.

mod convert;
mod records;

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use wire::{Instrument, InstrumentId, Symbol};

use self::convert::{Action, Record, convert};
use self::records::{EXPECTED, Item, Records};
use super::listing::{Listing, TickRule};
use super::orders::OrderTable;
use super::recorded::{Place, Window};
use super::{Counts, Files, OnBadRow, Options, Source, SourceError, SourceEvent, input};

/// Records of one instrument that wait for the end of their event.
#[derive(Debug, Default)]
struct Pending {
    records: Vec<Record>,
    time: u64,
    number: u64,
    snapshot: bool,
}

/// Replays a DBN file.
pub struct DbnSource {
    path: PathBuf,
    records: Records,
    listing: Listing,
    names: BTreeMap<u32, Symbol>,
    instruments: Vec<Instrument>,
    orders: OrderTable<(InstrumentId, u64)>,
    pending: BTreeMap<InstrumentId, Pending>,
    ready: VecDeque<(InstrumentId, Pending)>,
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
    pub fn open(files: &Files, options: &Options) -> Result<DbnSource, SourceError> {
        let path = files.only("mbo.dbn", |name| name.ends_with(".dbn"), EXPECTED)?;
        let mut records = Records::open(&path)?;
        let mut names = BTreeMap::new();
        for (id, name) in records.names() {
            if let Some(symbol) = Symbol::new(&name) {
                names.insert(id, symbol);
            }
        }
        let mut listing = Listing::new(&options.symbols, TickRule::Learnt);
        let marked = first_pass(&mut records, &path, options, &names, &mut listing)?;
        Ok(DbnSource {
            records: Records::open(&path)?,
            instruments: listing.finish()?,
            listing,
            names,
            orders: OrderTable::new(),
            pending: BTreeMap::new(),
            ready: VecDeque::new(),
            marked,
            window: Window::new(options)?,
            on_bad_row: options.on_bad_row,
            counts: Counts::default(),
            path,
        })
    }

    /// Reads one record into its event; `false` at the end of the file, when every event is ready.
    fn read(&mut self) -> Result<bool, SourceError> {
        let Some((number, item)) = self.records.next()? else {
            self.ready.extend(std::mem::take(&mut self.pending));
            return Ok(false);
        };
        self.counts.read += 1;
        let message = match item {
            Item::Mbo(message) => message,
            Item::Other => {
                self.counts.skipped.no_effect += 1;
                return Ok(true);
            }
            Item::Bad(fault) => {
                self.counts.reject(self.on_bad_row, fault, &self.path, number)?;
                return Ok(true);
            }
        };
        let name = symbol(message.hd.instrument_id, &self.names);
        let Some(instrument) = name.and_then(|name| self.listing.get(&name)) else {
            self.counts.skipped.other_symbol += 1;
            return Ok(true);
        };
        let record = match convert::check(&message) {
            Ok(record) => record,
            Err(fault) => {
                self.counts.reject(self.on_bad_row, fault, &self.path, number)?;
                return Ok(true);
            }
        };
        let snapshot = message.flags.is_snapshot();
        let pending = self.pending.entry(instrument).or_default();
        let unmarked_end = !self.marked && !snapshot && pending.time != message.hd.ts_event;
        if !pending.records.is_empty() && (pending.snapshot != snapshot || unmarked_end) {
            self.ready.push_back((instrument, std::mem::take(pending)));
        }
        pending.records.push(record);
        (pending.time, pending.number, pending.snapshot) = (message.hd.ts_event, number, snapshot);
        if message.flags.is_last() && !snapshot {
            self.ready.push_back((instrument, std::mem::take(pending)));
        }
        Ok(true)
    }

    fn apply(&mut self, instrument: InstrumentId, pending: &Pending, event: &mut SourceEvent) -> bool {
        let place = self.window.place(pending.time);
        if place == Place::After {
            self.counts.skipped.after_window += pending.records.len() as u64;
            return false;
        }
        event.begin(instrument, pending.time, pending.number, pending.number, place);
        convert(&pending.records, event, &mut self.orders, &mut self.counts);
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
                if self.apply(instrument, &pending, event) {
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
}

fn symbol(id: u32, names: &BTreeMap<u32, Symbol>) -> Option<Symbol> {
    names.get(&id).copied().or_else(|| Symbol::new(&format!("#{id}")))
}

/// Lists the instruments; answers whether the ends of events are marked.
fn first_pass(
    records: &mut Records,
    path: &Path,
    options: &Options,
    names: &BTreeMap<u32, Symbol>,
    listing: &mut Listing,
) -> Result<bool, SourceError> {
    let (mut understood, mut marked, mut counts) = (false, false, Counts::default());
    while let Some((number, item)) = records.next()? {
        let message = match item {
            Item::Mbo(message) => message,
            Item::Other => continue,
            Item::Bad(fault) => {
                counts.reject(options.on_bad_row, fault, path, number)?;
                continue;
            }
        };
        let record = match convert::check(&message) {
            Ok(record) => record,
            Err(fault) => {
                counts.reject(options.on_bad_row, fault, path, number)?;
                continue;
            }
        };
        understood = true;
        marked |= message.flags.is_last();
        let Some(name) = symbol(message.hd.instrument_id, names) else { continue };
        let Some(instrument) = listing.id(name, path)? else { continue };
        match record.action {
            Action::Add => listing.order(instrument, record.price),
            Action::Trade => listing.trade(instrument, record.price),
            _ => {}
        }
    }
    if understood {
        Ok(marked)
    } else if records_are_missing(path)? {
        Err(SourceError::Empty { path: path.to_owned(), expected: EXPECTED.to_owned() })
    } else {
        Err(input::nothing_understood(path, EXPECTED))
    }
}

fn records_are_missing(path: &Path) -> Result<bool, SourceError> {
    Ok(Records::open(path)?.next()?.is_none())
}
