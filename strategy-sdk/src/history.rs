//! What the market did before the strategy came.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use recorder::read::{FrameError, Frames, OpenError, RecordedFrame, Recording};
use recorder::recover::only;
use topology::config::MarketData;
use wire::{Best, BookEvent, Instrument, InstrumentId, Message, Nanos, Quote, Symbol, TradePrint, WireError};

use crate::session::Market;

/// Market data of before the start, the oldest first.
pub(crate) trait History: std::fmt::Debug {
    /// The next message.
    ///
    /// # Errors
    /// In words: why there is no more.
    fn next(&mut self) -> Result<Option<Past>, String>;
}

/// A message of before the start. Its instrument's number is that of its own platform, so the symbol says which one it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Past {
    pub(crate) symbol: Symbol,
    pub(crate) time: Nanos,
    pub(crate) market: Market,
}

/// The folder holds no history that the strategy could hear.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HistoryError {
    #[error("history: {}: {source}", .folder.display())]
    Open { folder: PathBuf, source: OpenError },
    #[error("history: {}: {what} was not recorded, which a strategy with data = \"{data}\" hears", .folder.display())]
    Lacks { folder: PathBuf, what: &'static str, data: &'static str },
    #[error("history: {}: {source}", .folder.display())]
    Read { folder: PathBuf, source: FrameError },
    #[error("history: {}: at position {position}: {source}", .folder.display())]
    Malformed { folder: PathBuf, position: u64, source: WireError },
}

/// The last part of a recording.
#[derive(Debug)]
pub(crate) struct Recorded {
    frames: Frames<'static>,
    symbols: BTreeMap<InstrumentId, Symbol>,
    data: MarketData,
    /// Market data before this time is left out.
    from: Nanos,
    /// When the frame that was read last was written.
    written: u64,
}

impl Recorded {
    /// The last of what the recording in this folder holds of the market: so long, by the market's time.
    pub(crate) fn open(folder: &Path, lasts: Duration, data: MarketData) -> Result<Recorded, HistoryError> {
        let named = || folder.to_owned();
        let opened = |source| HistoryError::Open { folder: named(), source };
        let recording = Recording::open(&only(folder).map_err(opened)?).map_err(opened)?;
        // Read once, at the start of a process; the reader borrows it.
        let recording: &'static Recording = Box::leak(Box::new(recording));
        let journal = |name| recording.description().journal(name);
        let (wanted, what, word) = match data {
            MarketData::Depth => (journal("md.quotes"), "md.quotes", "depth"),
            MarketData::Best => {
                (journal("md.quotes").or_else(|| journal("md.best")), "neither md.quotes nor md.best", "best")
            }
            MarketData::Flow => (journal("md.flow"), "md.flow", "flow"),
        };
        let wanted = wanted.ok_or_else(|| HistoryError::Lacks { folder: named(), what, data: word })?;
        let listed = journal("md.instruments").ok_or_else(|| HistoryError::Lacks {
            folder: named(),
            what: "md.instruments",
            data: word,
        })?;
        let symbols = symbols(recording.frames(listed, 0), folder)?;
        let lasts = u64::try_from(lasts.as_nanos()).unwrap_or(u64::MAX);
        let since = |time| Recorded {
            frames: recording.frames_since(wanted, 0, time),
            symbols: symbols.clone(),
            data,
            from: Nanos(0),
            written: 0,
        };
        // The market may have been still for long when the recording ended: further and further back.
        let (end, begin) = (recording.end().time, recording.begins());
        let mut back = lasts;
        loop {
            let from = end.saturating_sub(back);
            let (mut last, mut part) = (None, since(from));
            while let Some(past) = part.step(false).unwrap_or_default() {
                last = last.max(Some(past.time));
            }
            if let Some(last) = last {
                // The market's time goes at least as fast as that of the recording.
                let part = since(part.written.saturating_sub(lasts));
                return Ok(Recorded { from: last - Nanos(lasts), ..part });
            }
            if from <= begin {
                return Ok(part);
            }
            back = back.saturating_mul(4);
        }
    }

    /// The next message that the strategy would hear. What is missing is passed over.
    fn step(&mut self, says: bool) -> Result<Option<Past>, String> {
        loop {
            let frame = match self.frames.next() {
                Ok(Some(frame)) => frame,
                Ok(None) => return Ok(None),
                Err(error @ FrameError::Missing { .. }) => {
                    if says {
                        log::warn!("history is not whole: {error}");
                    }
                    continue;
                }
                Err(error) => return Err(error.to_string()),
            };
            self.written = frame.time;
            let Some(symbol) = self.symbols.get(&InstrumentId(frame.topic)) else { continue };
            let read = market(&frame, self.data);
            let read = read.map_err(|error| format!("at position {}: {error}", frame.position))?;
            if let Some((time, market)) = read.filter(|(time, _)| *time >= self.from) {
                return Ok(Some(Past { symbol: *symbol, time, market }));
            }
        }
    }
}

impl History for Recorded {
    fn next(&mut self) -> Result<Option<Past>, String> {
        self.step(true)
    }
}

fn symbols(mut frames: Frames<'_>, folder: &Path) -> Result<BTreeMap<InstrumentId, Symbol>, HistoryError> {
    let failed = |source| HistoryError::Read { folder: folder.to_owned(), source };
    let mut symbols = BTreeMap::new();
    while let Some(frame) = frames.next().map_err(failed)? {
        if frame.message_id == Instrument::ID {
            let position = frame.position;
            let listed = Instrument::decode(frame.payload).map_err(|source| HistoryError::Malformed {
                folder: folder.to_owned(),
                position,
                source,
            })?;
            symbols.insert(listed.id, listed.symbol);
        }
    }
    Ok(symbols)
}

/// What a frame says of the market to a strategy that hears this, and the market's time.
fn market(frame: &RecordedFrame<'_>, data: MarketData) -> Result<Option<(Nanos, Market)>, WireError> {
    Ok(match frame.message_id {
        Quote::ID => {
            let quote = Quote::decode(frame.payload)?;
            let market = match data {
                MarketData::Best => Market::Best(quote.instrument, Best::of(&quote)),
                _ => Market::Quote(quote),
            };
            Some((quote.event_time, market))
        }
        // It does not hold the market's time: that of its frame is a little later.
        Best::ID => {
            let best = Market::Best(InstrumentId(frame.topic), Best::decode(frame.payload)?);
            Some((Nanos(frame.time), best))
        }
        TradePrint::ID => {
            let trade = TradePrint::decode(frame.payload)?;
            Some((trade.event_time, Market::Trade(trade)))
        }
        BookEvent::ID => {
            let event = BookEvent::decode(frame.payload)?;
            Some((event.event_time, Market::Event(event)))
        }
        _ => None,
    })
}
