//! Readers of recorded market data.
//!
//! ```text
//! open ── first pass: instruments, their ticks, bad rows ──► Source ── next, next, next … ──► counts
//! ```
//!
//! A source reads its files twice. The first pass lists the instruments, because they must be known before the
//! first quote, and stops at the first bad row unless bad rows are to be skipped. The second streams.
//!
//! # Times
//!
//! Most files name a time of day in the exchange's own zone and no zone. An event's time is therefore the
//! **exchange's wall clock, counted as if it were UTC**, on the date that the rows name, else on
//! [`Options::date`], else on the date in the file's or its folder's name, else on 1970-01-01. DBN files hold
//! UTC and keep it. The `from` and `to` of the window are times of day on that same clock, on the date of the
//! first row. Events before `from` build the book and are marked [`SourceEvent::warm_up`]: whoever rebuilds the
//! market needs them, and nothing is published for them. Rows at or after `to` are counted and left out.
//!
//! # Accounting
//!
//! Every row ends in exactly one box: [`Counts::read`] = applied + skipped (by reason) + rejected.
//!
//! # Damage
//!
//! A row that can be read may still contradict others: a number given out twice, a clock that goes back, a trade off the
//! price of its order. Such rows are applied as well as they can be, and counted ([`Counts::irregular`]); more of them
//! than [`Options::tolerate`] end the replay with an error that names the first. What nothing else in the files speaks of
//! (the price of an order that is never touched again) cannot be checked.

mod dbn;
mod error;
mod fields;
mod files;
mod input;
mod listing;
pub mod lobster;
mod orders;
pub mod pitch;
mod recorded;
pub mod sse;
mod table;
mod tolerance;

use std::str::FromStr;

use serde::Serialize;
use wire::{BookEvent, Instrument, InstrumentId, Nanos, TradePrint};

pub use error::{BadRow, SourceError};
pub use files::Files;
pub use tolerance::Tolerance;

pub use self::dbn::DbnSource;
pub(crate) use input::Lines;

/// A recorded day, event by event.
pub trait Source: Send {
    /// Everything that can appear, by id from 1.
    fn instruments(&self) -> &[Instrument];

    /// Fills `event` with the next one; `false` at the end. After an error the source is of no further use.
    ///
    /// # Errors
    /// [`SourceError`]: a bad row (when those stop the replay), or bytes that cannot be read.
    fn next(&mut self, event: &mut SourceEvent) -> Result<bool, SourceError>;

    /// What has become of the rows up to here.
    fn counts(&self) -> &Counts;

    /// The first rows that contradict others, at most five; [`Counts::irregular`] counts all of them.
    fn contradictions(&self) -> &[BadRow];

    /// Takes note that this event left the book crossed ([`crate::book::Rebuilt::crossed`]), which only whoever rebuilds it
    /// can see. Counts it, unless it is an auction or a halt for this source: a row is missing, or wrong.
    ///
    /// # Errors
    /// [`SourceError::Irregular`] when more rows contradict others than are tolerated.
    fn crossed(&mut self, event: &SourceEvent) -> Result<(), SourceError>;
}

/// One event of the market: what it does to the book, and the trades that it makes public.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceEvent {
    /// Which instrument. One event never touches two.
    pub instrument: InstrumentId,
    /// When, on the clock of the module's doc.
    pub event_time: Nanos,
    /// The source's number of the event; grows within an instrument.
    pub sequence: u64,
    /// Line or record in its file, counted from 1.
    pub row: u64,
    /// Lies before the window: build the book, publish nothing.
    pub warm_up: bool,
    /// The market was in a call auction, or closed: see [`BookEvent::CALL_AUCTION`].
    pub call_auction: bool,
    /// In this order; the last one carries [`BookEvent::LAST`].
    pub book_events: Vec<BookEvent>,
    /// Trades to report, usually none or one.
    pub trades: Vec<TradePrint>,
}

/// How rows fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Rows read, without header lines and blank lines.
    pub read: u64,
    /// Rows that became events.
    pub applied: u64,
    /// Rows left out on purpose.
    pub skipped: Skipped,
    /// Rows not understood.
    pub rejected: u64,
    /// Applied rows of before the window, which publish nothing.
    pub warm_up: u64,
    /// Applied rows that took more from an order than was left of it; it was taken down to nothing.
    pub excess: u64,
    /// Orders dropped because their number was given out again while they still rested.
    pub displaced: u64,
    /// Orders put into the book that no row adds: they rest from before the first row (LOBSTER).
    pub prior: u64,
    /// Orders dropped because a later row proves that they had gone unseen (LOBSTER files of few levels).
    pub stale: u64,
    /// Of `displaced`: resting where a file that is put together from several sessions begins anew (PITCH).
    pub at_seams: u64,
    /// Applied rows whose time lies before that of the row before them (sse: of the same stock), or more than an hour
    /// from when they were received (DBN).
    pub off_time: u64,
    /// Applied rows whose price or side is not that of the order that they name or of the fills that they report; at more
    /// than twice or less than half of the price before it: a trade of no visible order, an order (sse), an order that
    /// would cross the book, an execution (LOBSTER).
    pub off_price: u64,
    /// Applied rows whose quantity is not that of the order that they end, or whose money is not price times quantity.
    pub off_quantity: u64,
    /// Rows about an order that no row adds, although the files begin before the market opens (sse); rows about an order
    /// that is gone, and rows that are the row before them once more (LOBSTER).
    pub unmatched: u64,
    /// Orders that got the number of one that is gone (sse, LOBSTER).
    pub reused: u64,
    /// Where rows are missing: orders dropped because a row of continuous trading proves that they are gone (sse), and
    /// events of continuous trading that left the book crossed, whose quotes are held back.
    pub crossed: u64,
    /// Files whose last row has no line end: perhaps cut off. In no share.
    pub unended: u64,
}

/// Rows left out, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Of a kind without effect on book or trades: status, halt, auction information.
    pub no_effect: u64,
    /// Of an instrument that was not asked for.
    pub other_symbol: u64,
    /// At or after the window's end.
    pub after_window: u64,
    /// About an order that never was added: it rested before the recording began.
    pub unknown_order: u64,
}

impl Counts {
    /// All rows left out.
    pub fn skipped_total(&self) -> u64 {
        let Skipped { no_effect, other_symbol, after_window, unknown_order } = self.skipped;
        no_effect + other_symbol + after_window + unknown_order
    }

    /// How often a row contradicts another one: what [`Options::tolerate`] is held against. `prior` and `stale` are
    /// none of these: files that begin in the middle of a session, or show few levels, must have them.
    pub fn irregular(&self) -> u64 {
        self.irregularities().iter().map(|(_, count)| count).sum()
    }

    fn irregularities(&self) -> [(&'static str, u64); 8] {
        [
            ("displaced", self.displaced - self.at_seams.min(self.displaced)),
            ("excess", self.excess),
            ("off_time", self.off_time),
            ("off_price", self.off_price),
            ("off_quantity", self.off_quantity),
            ("unmatched", self.unmatched),
            ("reused", self.reused),
            ("crossed", self.crossed),
        ]
    }

    /// The kinds of which there are some, with how many: `displaced 1, excess 2`.
    pub fn irregular_kinds(&self) -> String {
        let kinds = self.irregularities().into_iter().filter(|(_, count)| *count > 0);
        kinds.map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
    }

    /// Every row is in exactly one box.
    pub fn balanced(&self) -> bool {
        self.read == self.applied + self.skipped_total() + self.rejected
    }
}

/// What to do with a row that cannot be understood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBadRow {
    /// An error.
    #[default]
    Stop,
    /// Counted in [`Counts::rejected`], and on to the next.
    Skip,
}

/// How to replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Nothing is published before this time of day, in nanoseconds.
    pub from: Option<Nanos>,
    /// Nothing from this time of day on is replayed, in nanoseconds.
    pub to: Option<Nanos>,
    /// Only these instruments; empty: all. For LOBSTER, whose files name no symbol, one name is given to it.
    pub symbols: Vec<String>,
    /// Bad rows.
    pub on_bad_row: OnBadRow,
    /// How many rows may contradict others ([`Counts::irregular`]).
    pub tolerate: Tolerance,
    /// Midnight of the recorded day, for files that do not say.
    pub date: Option<Nanos>,
}

/// The kinds of recorded data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// Shanghai Stock Exchange Level 2, orders and trades.
    Sse,
    /// LOBSTER message files (Nasdaq).
    Lobster,
    /// BATS PITCH, the text form.
    Pitch,
    /// Databento, market by order.
    Dbn,
}

impl FromStr for SourceKind {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<SourceKind, SourceError> {
        match text {
            "sse" => Ok(SourceKind::Sse),
            "lobster" => Ok(SourceKind::Lobster),
            "pitch" => Ok(SourceKind::Pitch),
            "dbn" => Ok(SourceKind::Dbn),
            _ => Err(SourceError::Option {
                name: "source",
                found: format!("`{text}`"),
                expected: "sse, lobster, pitch or dbn".to_owned(),
            }),
        }
    }
}

/// Opens recorded files and makes the first pass over them.
///
/// # Errors
/// [`SourceError`]: a missing, empty, damaged or foreign file, a folder without the needed files or with too
/// many, a bad row, an unknown symbol.
pub fn open(kind: SourceKind, files: &Files, options: &Options) -> Result<Box<dyn Source>, SourceError> {
    Ok(match kind {
        SourceKind::Sse => Box::new(sse::SseSource::open(files, options)?),
        SourceKind::Lobster => Box::new(lobster::LobsterSource::open(files, options)?),
        SourceKind::Pitch => Box::new(pitch::PitchSource::open(files, options)?),
        SourceKind::Dbn => Box::new(DbnSource::open(files, options)?),
    })
}

/// Reads `HH:MM:SS`, with or without a fraction, for [`Options::from`] and [`Options::to`].
///
/// # Errors
/// [`SourceError::Option`] with the name of the key.
pub fn parse_time_of_day(name: &'static str, text: &str) -> Result<Nanos, SourceError> {
    let time = text.contains(':').then(|| fields::time_of_day(text.as_bytes())).flatten();
    time.map(Nanos).ok_or_else(|| SourceError::Option {
        name,
        found: format!("`{text}`"),
        expected: "a time of day, HH:MM:SS or HH:MM:SS.fff".to_owned(),
    })
}

/// Reads `YYYY-MM-DD` or `YYYYMMDD`, for [`Options::date`].
///
/// # Errors
/// [`SourceError::Option`].
pub fn parse_date(text: &str) -> Result<Nanos, SourceError> {
    fields::date(text.as_bytes()).map(Nanos).ok_or_else(|| SourceError::Option {
        name: "date",
        found: format!("`{text}`"),
        expected: "a date, YYYY-MM-DD".to_owned(),
    })
}
