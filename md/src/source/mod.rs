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
//! Most files give a time of day in the exchange's own zone without naming it. An event's time is therefore the
//! **exchange's wall clock, counted as if it were UTC**, on the date of the rows, otherwise on [`Options::date`],
//! otherwise on the date in the name of the file or its folder, otherwise on 1970-01-01. DBN files contain UTC, which
//! is kept. The `from` and `to` of the window are times of day on that same clock, on the date of the first row. Events
//! before `from` build the book and are marked [`SourceEvent::warm_up`]: they are needed to rebuild the market, and
//! nothing is published for them. Rows at or after `to` are counted and left out.
//!
//! # Accounting
//!
//! Every row is counted exactly once: [`Counts::read`] = applied + skipped (by reason) + rejected.
//!
//! # Damage
//!
//! A row that can be read may still contradict others: a number that is assigned twice, a clock that goes back, a trade
//! off the price of its order. Such rows are applied as well as possible, and counted ([`Counts::irregular`]); more of
//! them than [`Options::tolerate`] end the replay with an error that names the first. A value that nothing else in the
//! files relates to (the price of an order that is never touched again) cannot be checked.

mod dbn;
mod error;
mod fields;
mod files;
mod input;
pub mod itch;
mod listing;
pub mod lobster;
pub mod multicast;
mod orders;
pub mod pitch;
mod published;
mod recorded;
pub(crate) mod reopening;
pub mod sse;
mod table;
mod tolerance;

use std::str::FromStr;

use serde::Serialize;
use wire::{BookEvent, Instrument, InstrumentId, Irregularity, Nanos, TradePrint, TradingPhase, Verdict};

pub(crate) use self::dbn::DbnSource;
pub use error::{BadRow, SourceError};
pub use files::Files;
pub use published::{Published, PublishedDay, PublishedFile, PublishedRow};
pub use tolerance::Tolerance;

pub(crate) use input::Lines;

/// A recorded day, event by event.
pub trait Source: Send {
    /// All instruments, by id from 1.
    fn instruments(&self) -> &[Instrument];

    /// Fills `event` with the next one; `false` at the end. After an error the source must not be used any more.
    ///
    /// # Errors
    /// [`SourceError`]: a bad row (when those stop the replay), or bytes that cannot be read.
    fn next(&mut self, event: &mut SourceEvent) -> Result<bool, SourceError>;

    /// After `next` has answered `false`: true when more may come, so that it is to be asked again; only a live source
    /// waits.
    fn is_waiting(&self) -> bool {
        false
    }

    /// The counts of the rows so far.
    fn counts(&self) -> &Counts;

    /// The first rows that contradict others, at most five; [`Counts::irregular`] counts all of them.
    fn contradictions(&self) -> &[BadRow];

    /// Notes that the event that was given last is published as a quote, which only the caller that rebuilds the book can see.
    fn quoted(&mut self) {}

    /// Notes that this event left the book crossed ([`crate::book::Rebuilt::crossed`]), which only the caller that
    /// rebuilds the book can see. Counts it, unless this source considers it an auction or a halt: then a row is
    /// missing or wrong.
    ///
    /// # Errors
    /// [`SourceError::Irregular`] when more rows contradict others than are tolerated.
    fn crossed(&mut self, event: &SourceEvent) -> Result<(), SourceError>;
}

/// One event of the market: its changes to the book, and its published trades.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceEvent {
    /// The instrument. One event never touches two.
    pub instrument: InstrumentId,
    /// The time, on the clock described in the module's doc.
    pub event_time: Nanos,
    /// The source's number of the event; grows within an instrument.
    pub sequence: u64,
    /// Line or record in its file, counted from 1.
    pub row: u64,
    /// Before the window: build the book, publish nothing.
    pub warm_up: bool,
    /// The market was in a call auction, or closed: see [`BookEvent::CALL_AUCTION`].
    pub call_auction: bool,
    /// The market enters this phase, before the changes.
    pub phase: Option<TradingPhase>,
    /// The changes in order; the last one has [`BookEvent::LAST`].
    pub book_events: Vec<BookEvent>,
    /// Trades to report, usually none or one.
    pub trades: Vec<TradePrint>,
}

/// Counts of rows.
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
    /// Applied rows that took more from an order than was left of it; the order was reduced to nothing.
    pub excess: u64,
    /// Orders dropped because their number was assigned again while they still rested.
    pub displaced: u64,
    /// Orders put into the book that no row adds: they rest from before the first row (LOBSTER).
    pub prior: u64,
    /// Published quotes whose best bid or ask holds such an order (LOBSTER): they rest on what only later rows say.
    pub prior_quotes: u64,
    /// Orders dropped because a later row proves that they ended unseen (LOBSTER files of few levels).
    pub stale: u64,
    /// Of `displaced`: orders that rested where a file put together from several sessions begins anew (PITCH).
    pub at_seams: u64,
    /// Applied rows whose time lies before that of the row before them (sse: of the same stock), or more than an hour
    /// from when they were received (DBN).
    pub off_time: u64,
    /// Applied rows whose price or side differs from that of their order or of the fills that they report; and rows at
    /// more than twice or less than half of the previous price: a trade of no visible order, an order (sse), an order
    /// that would cross the book, an execution (LOBSTER).
    pub off_price: u64,
    /// Applied rows whose quantity differs from that of the order that they end, or whose money is not price times
    /// quantity.
    pub off_quantity: u64,
    /// Rows about an order that no row adds, although the files begin before the market opens (sse); rows about an
    /// order that has ended (LOBSTER); rows that repeat the previous one (LOBSTER, ITCH); stock locates of another stock
    /// (ITCH).
    pub unmatched: u64,
    /// Orders with the number of an order that has ended (sse, LOBSTER).
    pub reused: u64,
    /// Signs of missing rows: orders dropped because a row of continuous trading proves that they ended (sse), and
    /// events of continuous trading that left the book crossed, whose quotes are held back.
    pub crossed: u64,
    /// Files whose last row has no line end, or that lack the message that says that none follows (ITCH): perhaps cut off. Not part of the tolerated share.
    pub unended: u64,
    /// Records that the vendor marks: a gap was not recovered, and the book may be bad (DBN, `F_MAYBE_BAD_BOOK`).
    pub doubted: u64,
    /// Continuous contracts of which one contract follows another (DBN).
    pub rolled: u64,
}

/// Rows left out, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Of a kind without effect on book, trades or phase: notes, auction information, a status that is the one before.
    pub no_effect: u64,
    /// Of an instrument that was not requested.
    pub other_symbol: u64,
    /// At or after the window's end.
    pub after_window: u64,
    /// About an order that was never added: it rested before the recording began.
    pub unknown_order: u64,
}

impl Counts {
    /// All rows left out.
    pub fn skipped_total(&self) -> u64 {
        let Skipped { no_effect, other_symbol, after_window, unknown_order } = self.skipped;
        no_effect + other_symbol + after_window + unknown_order
    }

    /// How often this was seen.
    pub fn of(&self, kind: Irregularity) -> u64 {
        match kind {
            Irregularity::Displaced => self.displaced,
            Irregularity::Excess => self.excess,
            Irregularity::Prior => self.prior,
            Irregularity::PriorQuotes => self.prior_quotes,
            Irregularity::Stale => self.stale,
            Irregularity::AtSeams => self.at_seams,
            Irregularity::OffTime => self.off_time,
            Irregularity::OffPrice => self.off_price,
            Irregularity::OffQuantity => self.off_quantity,
            Irregularity::Unmatched => self.unmatched,
            Irregularity::Reused => self.reused,
            Irregularity::Unended => self.unended,
            Irregularity::Doubted => self.doubted,
            Irregularity::Rolled => self.rolled,
            Irregularity::Unknown => self.skipped.unknown_order,
            Irregularity::Crossed => self.crossed,
        }
    }

    /// Number of rows that contradict others, compared with [`Options::tolerate`]. What sound files may have is not
    /// included: files that begin in the middle of a session, or show few levels, necessarily have some.
    pub fn irregular(&self) -> u64 {
        self.contradictions().map(|(_, count)| count).sum()
    }

    fn contradictions(&self) -> impl Iterator<Item = (Irregularity, u64)> {
        Irregularity::seen(&[Verdict::Contradiction], |kind| self.of(kind))
    }

    /// The kinds with a count above zero: `displaced 1, excess 2`.
    pub fn irregular_kinds(&self) -> String {
        let kinds = self.contradictions().map(|(kind, count)| format!("{} {count}", kind.as_str()));
        kinds.collect::<Vec<_>>().join(", ")
    }

    /// Whether every row is counted exactly once.
    pub fn balanced(&self) -> bool {
        self.read == self.applied + self.skipped_total() + self.rejected
    }
}

/// How to treat a row that cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBadRow {
    /// Stop with an error.
    #[default]
    Stop,
    /// Count it in [`Counts::rejected`], and continue.
    Skip,
}

/// Which orders from before its first row a book begins with, where the rows show such orders (LOBSTER).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PriorOrders {
    /// Those that a later row names.
    #[default]
    LaterRows,
    /// None.
    None,
}

/// Options of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Nothing is published before this time of day, in nanoseconds.
    pub from: Option<Nanos>,
    /// Nothing from this time of day on is replayed, in nanoseconds.
    pub to: Option<Nanos>,
    /// Only these instruments; empty: all. LOBSTER files name no symbol, so a single name here names theirs.
    pub symbols: Vec<String>,
    /// How to treat bad rows.
    pub on_bad_row: OnBadRow,
    /// How many rows may contradict others ([`Counts::irregular`]).
    pub tolerate: Tolerance,
    /// Which orders from before its first row a book begins with.
    pub prior: PriorOrders,
    /// Midnight of the recorded day, for files that do not contain it.
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
    /// Nasdaq TotalView-ITCH 5.0.
    Itch,
}

impl FromStr for SourceKind {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<SourceKind, SourceError> {
        match text {
            "sse" => Ok(SourceKind::Sse),
            "lobster" => Ok(SourceKind::Lobster),
            "pitch" => Ok(SourceKind::Pitch),
            "dbn" => Ok(SourceKind::Dbn),
            "itch" => Ok(SourceKind::Itch),
            _ => Err(SourceError::Option {
                name: "source",
                found: format!("`{text}`"),
                expected: "sse, lobster, pitch, dbn or itch".to_owned(),
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
        SourceKind::Itch => Box::new(itch::ItchSource::open(files, options)?),
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
