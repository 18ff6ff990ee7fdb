//! Nasdaq TotalView-ITCH 5.0: a day of all stocks in one file, or as it comes over multicast.
//!
//! `message.rs` describes the columns, `frames.rs` how messages lie in a file, `decoder.rs` makes events of them for the file and for
//! [`super::multicast`]. This reader relies on these facts of the specification:
//!
//! - Executions, cancels, deletes and replaces name the order and not the stock, so every resting order is kept, including those of
//!   unwanted stocks.
//! - A replace ends one order and adds another, of the same stock and side.
//! - A trade `P` is against a hidden order, a cross `Q` sums up executions that have messages of their own: neither changes the
//!   book. An execution at another price (`C`) that is not printable is part of a cross: it changes the book and prints nothing.
//!
//! - A stock trades until a trading action (`H`) or an operational halt of this market (`h`, market code `Q`) says otherwise, and what it
//!   does then is its phase: `H` and `P` halt it, in `Q` it is quoted for the cross that ends the halt, `T` ends it.
//!
//! Choices:
//!
//! - What is about an order that was never added is skipped as `unknown_order`. Where the messages begin with the start of
//!   messages, it also contradicts them: no order is from before.
//! - A number that is added while it still rests means that the old order ended unseen: it is deleted, then the new one
//!   added ([`Counts::displaced`]).
//! - Since 2014 each hidden trade is called a purchase. The sides count from the first sale on, and in a halt, where only a cross has none.
//! - The messages have no date; see the parent module.
//! - A file without the message that says that no other follows may have been cut between two messages: [`Counts::unended`].

pub(crate) mod decoder;
mod frames;
pub(crate) mod message;

use std::path::Path;

use wire::{Instrument, InstrumentId};

use super::listing::{Listing, TickRule};
use super::{BadRow, Counts, Files, OnBadRow, Options, Source, SourceError, SourceEvent, fields, input};
use decoder::{Decoder, Look};
use frames::Frames;

pub(crate) use frames::is_itch;

const EXPECTED: &str = "Nasdaq TotalView-ITCH 5.0, each message behind two bytes of length";

/// Replays an ITCH file.
pub(crate) struct ItchSource {
    frames: Frames,
    decoder: Decoder,
    on_bad_row: OnBadRow,
}

impl ItchSource {
    /// Opens a file (or the only `*itch*` file of a folder) and lists its stocks.
    ///
    /// # Errors
    /// [`SourceError`].
    pub(crate) fn open(files: &Files, options: &Options) -> Result<ItchSource, SourceError> {
        let path = files.only("itch", |name| name.contains("itch"), EXPECTED)?;
        input::check_content(&path, input::Content::Itch, EXPECTED)?;
        let (look, rows) = first_pass(&path, options)?;
        let date = options.date.map(|date| date.0).or_else(|| fields::date_in_path(&path)).unwrap_or(0);
        Ok(ItchSource {
            frames: Frames::open(&path, EXPECTED)?,
            decoder: Decoder::new(path, look.listing, rows, date, options)?,
            on_bad_row: options.on_bad_row,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.decoder.path()
    }

    /// Shares of an instrument's orders that were dropped because their numbers were given out again.
    pub(crate) fn displaced(&self, instrument: InstrumentId) -> i64 {
        self.decoder.displaced(instrument)
    }
}

impl Source for ItchSource {
    fn instruments(&self) -> &[Instrument] {
        &self.decoder.instruments
    }

    fn next(&mut self, event: &mut SourceEvent) -> Result<bool, SourceError> {
        let Decoder { path, .. } = &self.decoder;
        let path = path.clone();
        while let Some(framed) = self.frames.next(&path)? {
            self.decoder.counts.read += 1;
            match message::parse(framed.bytes) {
                Ok(message) => {
                    if self.decoder.apply(framed.number, framed.bytes, message, event)? {
                        return Ok(true);
                    }
                }
                Err(fault) => {
                    let fault = frames::at(fault, framed.offset);
                    self.decoder.counts.reject(self.on_bad_row, fault, &path, framed.number)?;
                }
            }
        }
        self.decoder.counts.unended = u64::from(!self.decoder.has_ended());
        Ok(false)
    }

    fn counts(&self) -> &Counts {
        &self.decoder.counts
    }

    fn contradictions(&self) -> &[BadRow] {
        self.decoder.watch.first()
    }

    fn crossed(&mut self, event: &SourceEvent) -> Result<(), SourceError> {
        self.decoder.crossed(event)
    }
}

/// Visits all messages of a file that can be understood.
///
/// # Errors
/// [`SourceError`]
pub(crate) fn visit(
    path: &Path,
    on_bad_row: OnBadRow,
    mut take: impl FnMut(message::Message) -> Result<(), SourceError>,
) -> Result<u64, SourceError> {
    let (mut rows, mut counts) = (0, Counts::default());
    let mut frames = Frames::open(path, EXPECTED)?;
    while let Some(framed) = frames.next(path)? {
        rows += 1;
        match message::parse(framed.bytes) {
            Ok(message) => take(message)?,
            Err(fault) => {
                counts.reject(on_bad_row, frames::at(fault, framed.offset), path, framed.number)?;
            }
        }
    }
    Ok(rows)
}

/// The bytes of all messages of a file, in order, without their lengths.
///
/// # Errors
/// [`SourceError`]: a file that cannot be used, a message that cannot be understood.
pub fn messages(path: &Path) -> Result<Vec<Vec<u8>>, SourceError> {
    input::check_content(path, input::Content::Itch, EXPECTED)?;
    let mut all = Vec::new();
    let mut frames = Frames::open(path, EXPECTED)?;
    while let Some(framed) = frames.next(path)? {
        message::parse(framed.bytes)
            .map_err(|fault| SourceError::from(frames::at(fault, framed.offset).at(path, framed.number)))?;
        all.push(framed.bytes.to_vec());
    }
    Ok(all)
}

/// The date in the name of a file or its folder, as YYYYMMDD: a session that is called so has it. `colo` where there is none.
pub fn date_in_name(path: &Path) -> String {
    let names = [path.file_name(), path.parent().and_then(Path::file_name)];
    let digits = |name: &std::ffi::OsStr| {
        let name = name.to_string_lossy().into_owned();
        let runs = name.split(|letter: char| !letter.is_ascii_digit());
        runs.filter(|run| run.len() == 8)
            .find(|run| fields::date(run.as_bytes()).is_some())
            .map(str::to_owned)
    };
    names.into_iter().flatten().find_map(digits).unwrap_or_else(|| "colo".to_owned())
}

fn first_pass(path: &Path, options: &Options) -> Result<(Look, u64), SourceError> {
    let mut look = Look::new(Listing::new(&options.symbols, TickRule::Cents));
    let mut understood = false;
    let rows = visit(path, options.on_bad_row, |message| {
        understood = true;
        look.take(message.body, path)
    })?;
    if understood { Ok((look, rows)) } else { Err(input::nothing_understood(path, EXPECTED)) }
}
