//! A day as a platform's recorder has it.

use std::collections::BTreeSet;
use std::path::Path;

use recorder::read::{Frames, Recording};
use recorder::recover::only;
use strategy_sdk::{Best, BookEvent, Instrument, InstrumentId, MarketPhase, Nanos, Quote, TradePrint};
use wire::Message;

use crate::day::ReplayError;
use crate::market::{Market, Published};

const DAY: u64 = 86_400_000_000_000;

/// Quotes, trades and, where it was recorded, the flow of orders.
pub(crate) struct Recorded {
    instruments: Vec<Instrument>,
    listed: BTreeSet<InstrumentId>,
    /// The flow first: of equal times no book is older than the quote that a strategy answers.
    tracks: Vec<Track>,
    has_flow: bool,
    from: u64,
    to: u64,
}

struct Track {
    frames: Frames<'static>,
    next: Option<(u64, Published)>,
}

impl Recorded {
    pub(crate) fn open(
        folder: &Path,
        symbols: &[String],
        from: Option<Nanos>,
        to: Option<Nanos>,
    ) -> Result<Recorded, String> {
        let folder = only(folder).map_err(|error| error.to_string())?;
        let recording = Recording::open(&folder).map_err(|error| error.to_string())?;
        // Of one test; the reader borrows it.
        let recording: &'static Recording = Box::leak(Box::new(recording));
        let journal = |name| recording.description().journal(name);
        let listed = journal("md.instruments").ok_or("md.instruments was not recorded")?;
        let quotes = journal("md.quotes").or_else(|| journal("md.best"));
        let quotes = quotes.ok_or("neither md.quotes nor md.best was recorded")?;
        let flow = journal("md.flow");
        let is_meant = |listed: &Instrument| {
            symbols.is_empty() || symbols.iter().any(|symbol| symbol == listed.symbol.as_str())
        };
        let mut instruments = Vec::new();
        let mut frames = recording.frames(listed, 0);
        while let Some(frame) = frames.next().map_err(|error| error.to_string())? {
            if frame.message_id == Instrument::ID {
                let listed = Instrument::decode(frame.payload).map_err(|error| error.to_string())?;
                if is_meant(&listed) {
                    instruments.push(listed);
                }
            }
        }
        let mut tracks = Vec::new();
        for journal in flow.into_iter().chain([quotes]) {
            let mut track = Track { frames: recording.frames(journal, 0), next: None };
            track.advance()?;
            tracks.push(track);
        }
        let begins = tracks.iter().filter_map(|track| Some(track.next.as_ref()?.0)).min().unwrap_or(0);
        let at = |time: Nanos| {
            let today = begins - begins % DAY + time.0;
            if today < begins { today + DAY } else { today }
        };
        Ok(Recorded {
            listed: instruments.iter().map(|listed| listed.id).collect(),
            instruments,
            tracks,
            has_flow: flow.is_some(),
            from: from.map_or(0, at),
            to: to.map_or(u64::MAX, at),
        })
    }

    fn step(&mut self) -> Result<Option<Published>, String> {
        loop {
            let times = self.tracks.iter().enumerate();
            let first = times.filter_map(|(index, track)| Some((track.next.as_ref()?.0, index))).min();
            let Some((time, index)) = first.filter(|(time, _)| *time < self.to) else { return Ok(None) };
            let track = &mut self.tracks[index];
            let Some((_, published)) = track.next.take() else { return Ok(None) };
            track.advance()?;
            let (instrument, builds_books) = match &published {
                // Each journal has every phase.
                Published::Phase(..) if index > 0 => continue,
                Published::Phase(phase, _) => (phase.instrument, true),
                Published::Flow(event) => (event.instrument, true),
                Published::Trade(trade) => (trade.instrument, false),
                Published::Quote(quote) => (quote.instrument, false),
            };
            if self.listed.contains(&instrument) && (builds_books || time >= self.from) {
                return Ok(Some(match published {
                    Published::Phase(phase, _) => Published::Phase(phase, time < self.from),
                    other => other,
                }));
            }
        }
    }
}

impl Track {
    fn advance(&mut self) -> Result<(), String> {
        while let Some(frame) = self.frames.next().map_err(|error| error.to_string())? {
            let position = frame.position;
            let published = match frame.message_id {
                Quote::ID => Quote::decode(frame.payload).map(Published::Quote),
                TradePrint::ID => TradePrint::decode(frame.payload).map(Published::Trade),
                BookEvent::ID => BookEvent::decode(frame.payload).map(Published::Flow),
                MarketPhase::ID => {
                    MarketPhase::decode(frame.payload).map(|phase| Published::Phase(phase, false))
                }
                Best::ID => Best::decode(frame.payload).map(|best| {
                    // As much of a quote as is known.
                    let mut quote = Quote::empty(InstrumentId(frame.topic));
                    (quote.event_time, quote.sequence) = (Nanos(frame.time), position);
                    (quote.bids[0], quote.asks[0]) =
                        (best.best_bid().unwrap_or(quote.bids[0]), best.best_ask().unwrap_or(quote.asks[0]));
                    Published::Quote(quote)
                }),
                _ => continue,
            };
            let published = published.map_err(|error| format!("at position {position}: {error}"))?;
            self.next = Some((frame.time, published));
            return Ok(());
        }
        Ok(())
    }
}

impl Market for Recorded {
    fn instruments(&self) -> &[Instrument] {
        &self.instruments
    }

    fn has_flow(&self) -> bool {
        self.has_flow
    }

    fn next(&mut self) -> Result<Option<Published>, ReplayError> {
        self.step().map_err(|problem| ReplayError::Recording { folder: "recording".into(), problem })
    }
}
