//! Publishing what a recorder has of another run: its instruments, quotes, trade prints and order flow, in the order of their
//! times.
//!
//! Of quotes and best bids and asks the quotes are read, since the best follows from them; a recording with the best
//! alone gives quotes of one level.

use node::{Component, Context, Exit, Frame, InputId, Node, NodeState, Phase, RunError, WriteError};
use recorder::read::{Frames, RecordedFrame, Recording as Recorded};
use recorder::recover::only;
use settings::TimeOfDay;
use topology::config::{self, MdConfig};
use wire::{Best, BookEvent, Instrument, InstrumentId, MarketPhase, Message, Nanos, Quote, TradePrint};

use super::lock_step::LockStep;
use super::market_time::MarketClock;
use super::publisher::Publisher;
use crate::pace::{Pace, Speed};
use crate::source::Counts;

/// Messages published in one turn, before the node checks whether to stop.
const BURST: usize = 256;
/// Pause before a full journal is tried again, in nanoseconds.
const RETRY: u64 = 20_000;
/// Nanoseconds of a day.
const DAY: u64 = 86_400_000_000_000;

/// A recording being published.
pub(super) struct Recording {
    instruments: Vec<Instrument>,
    tracks: Vec<Track>,
    /// Quotes and trades outside of these times are left out; the flow before them still builds books.
    from: u64,
    to: u64,
    speed: Speed,
    pace: Option<Pace>,
    publisher: Publisher,
    outgoing: Option<Outgoing>,
    due: u64,
    lock_step: LockStep,
    clock: MarketClock,
    counts: Counts,
    /// The message that waits is from before `md.from`.
    is_before: bool,
    is_ended: bool,
}

/// A recorded journal, and its next message.
struct Track {
    frames: Frames<'static>,
    next: Option<Recalled>,
}

#[derive(Clone, Copy)]
struct Recalled {
    time: u64,
    message: Outgoing,
}

#[derive(Clone, Copy)]
#[allow(clippy::large_enum_variant, reason = "one for each journal")]
enum Outgoing {
    Phase(MarketPhase),
    Book(BookEvent),
    Trade(TradePrint),
    Quote(Quote),
}

fn unusable(message: String) -> RunError {
    RunError::Component { message, exit: Exit::Usage }
}

impl Outgoing {
    /// The market's own time.
    fn time(&self) -> Nanos {
        match self {
            Outgoing::Phase(phase) => phase.event_time,
            Outgoing::Book(event) => event.event_time,
            Outgoing::Trade(trade) => trade.event_time,
            Outgoing::Quote(quote) => quote.event_time,
        }
    }
}

impl Recording {
    pub(super) fn open(config: &MdConfig, publisher: Publisher, node: &Node) -> Result<Recording, RunError> {
        let Some(config::Files::Path(folder)) = &config.files else {
            return Err(unusable("md.files is not the folder of a recording".to_owned()));
        };
        let folder =
            only(folder).map_err(|error| unusable(format!("md.files: {}: {error}", folder.display())))?;
        let recorded = Recorded::open(&folder)
            .map_err(|error| unusable(format!("md.files: {}: {error}", folder.display())))?;
        // It is read as long as this process lives.
        let recorded: &'static Recorded = Box::leak(Box::new(recorded));
        let description = recorded.description();
        let lacks = |what: &str| unusable(format!("md.files: {}: {what} was not recorded", folder.display()));
        let listed = description.journal("md.instruments").ok_or_else(|| lacks("md.instruments"))?;
        let quotes = description.journal("md.quotes").or_else(|| description.journal("md.best"));
        let flow = description.journal("md.flow");
        if publisher.wants_quotes() && quotes.is_none() {
            return Err(lacks("neither md.quotes nor md.best, which this platform reads,"));
        }
        if publisher.wants_flow() && flow.is_none() {
            return Err(lacks("md.flow, which this platform reads,"));
        }
        let mut tracks = Vec::new();
        let mut begins = u64::MAX;
        // Of equal times the flow comes first, so that no book is older than the quote that a strategy answers.
        for journal in flow.filter(|_| publisher.wants_flow()).into_iter().chain(quotes) {
            let mut track = Track { frames: recorded.frames(journal, 0), next: None };
            track.advance()?;
            begins = begins.min(track.next.map_or(u64::MAX, |next| next.time));
            tracks.push(track);
        }
        let speed = match config.speed {
            config::Speed::Word(_) => Speed::Max,
            config::Speed::Times(factor) => {
                Speed::times(factor).map_err(|error| unusable(error.to_string()))?
            }
        };
        let from = config.from.map_or(0, |time| next(time, begins));
        let was_simulated = description.topology["nodes"].as_array().is_some_and(|nodes| {
            nodes.iter().any(|node| node["kind"] == "md" && node["section"]["source"] == "sim")
        });
        let lock_step = LockStep::of(node)?;
        Ok(Recording {
            instruments: instruments(recorded.frames(listed, 0))?,
            tracks,
            from,
            to: config.to.map_or(u64::MAX, |time| next(time, begins.max(from))),
            speed,
            pace: None,
            // As the simulation publishes it.
            publisher: if was_simulated { publisher.every_best() } else { publisher },
            outgoing: None,
            is_before: false,
            due: 0,
            clock: MarketClock::of(node, &lock_step)?,
            lock_step,
            counts: Counts::default(),
            is_ended: false,
        })
    }

    /// Takes the next message of the recording; false at the end.
    fn fetch(&mut self) -> Result<bool, RunError> {
        loop {
            let times = self.tracks.iter().enumerate();
            let first = times.filter_map(|(index, track)| Some((track.next.as_ref()?.time, index))).min();
            let Some((time, index)) = first.filter(|(time, _)| *time <= self.to) else { return Ok(false) };
            let taken = self.tracks[index].next.take();
            self.tracks[index].advance()?;
            let Some(Recalled { message, .. }) = taken else { return Ok(false) };
            self.counts.read += 1;
            let is_before = time < self.from;
            if is_before && !matches!(message, Outgoing::Book(_) | Outgoing::Phase(_)) {
                continue;
            }
            // Each journal has every phase.
            if index > 0 && matches!(message, Outgoing::Phase(_)) {
                continue;
            }
            self.is_before = is_before;
            let due = match &mut self.pace {
                Some(pace) if !is_before && !self.publisher.is_skipping() => pace.due(Nanos(time)),
                _ => None,
            };
            self.due = due.map_or(0, |due| due.0);
            self.outgoing = Some(message);
            return Ok(true);
        }
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        let due = Nanos(self.due);
        match &self.outgoing {
            Some(Outgoing::Phase(phase)) => self.publisher.phase(phase, self.is_before)?,
            Some(Outgoing::Book(event)) => self.publisher.book_event(event)?,
            Some(Outgoing::Trade(trade)) => self.publisher.trade(&TradePrint { due, ..*trade })?,
            Some(Outgoing::Quote(quote)) => self.publisher.quote(&Quote { due, ..*quote })?,
            None => {}
        }
        if let Some(message) = self.outgoing.take() {
            self.clock.published(message.time());
        }
        self.lock_step.wrote();
        Ok(())
    }

    /// Publishes one message. When to come again, if not at once; `u64::MAX`: never.
    fn step(&mut self, context: &mut Context) -> Result<Option<u64>, RunError> {
        if self.is_ended {
            return Ok(Some(u64::MAX));
        }
        if !self.lock_step.is_quiet() {
            if self.lock_step.goes_on() {
                context.worked();
            }
            return Ok(Some(context.now() + RETRY));
        }
        let is_over = self.outgoing.is_none() && !self.fetch()?;
        let next = self.outgoing.as_ref().map(Outgoing::time);
        if let Some(time) = self.clock.due_before(next).filter(|_| !self.publisher.is_skipping()) {
            return match self.publisher.market_time(time) {
                Ok(()) => {
                    self.clock.announced(time);
                    self.lock_step.wrote();
                    Ok(None)
                }
                Err(error) => self.later(error, context),
            };
        }
        if is_over {
            self.publisher.count_source(&self.counts);
            if let Err(error) = self.publisher.end(&self.counts) {
                return self.later(error, context);
            }
            context.handle().set_state(NodeState::Finished);
            self.is_ended = true;
            return Ok(Some(u64::MAX));
        }
        if self.due > context.now() {
            return Ok(Some(self.due));
        }
        match self.flush() {
            Ok(()) => Ok(None),
            Err(error) => self.later(error, context),
        }
    }

    fn later(&self, error: WriteError, context: &Context) -> Result<Option<u64>, RunError> {
        match error {
            WriteError::Full { .. } => {
                context.add(node::Counter::Full, 1);
                Ok(Some(context.now() + RETRY))
            }
            source => Err(self.publisher.failed(source)),
        }
    }
}

impl Track {
    /// Reads the next message of market data.
    fn advance(&mut self) -> Result<(), RunError> {
        loop {
            let frame = self.frames.next().map_err(|error| {
                RunError::failed(format!(
                    "the recording is not whole: {error}; md.to before it, md.from behind it"
                ))
            })?;
            let Some(frame) = frame else { return Ok(()) };
            let time = frame.time;
            if let Some(message) = message(&frame)? {
                self.next = Some(Recalled { time, message });
                return Ok(());
            }
        }
    }
}

/// What a frame says of the market; `None`: nothing.
fn message(frame: &RecordedFrame<'_>) -> Result<Option<Outgoing>, RunError> {
    let decoded = match frame.message_id {
        Quote::ID => Quote::decode(frame.payload).map(Outgoing::Quote),
        Best::ID => Best::decode(frame.payload).map(|best| Outgoing::Quote(quote_of(frame, &best))),
        TradePrint::ID => TradePrint::decode(frame.payload).map(Outgoing::Trade),
        BookEvent::ID => BookEvent::decode(frame.payload).map(Outgoing::Book),
        MarketPhase::ID => MarketPhase::decode(frame.payload).map(Outgoing::Phase),
        _ => return Ok(None),
    };
    let unreadable =
        |error| RunError::failed(format!("the recording's frame at position {}: {error}", frame.position));
    decoded.map(Some).map_err(unreadable)
}

/// A quote of what is known of it: one level, published at the frame's time.
fn quote_of(frame: &RecordedFrame<'_>, best: &Best) -> Quote {
    let mut quote = Quote::empty(InstrumentId(frame.topic));
    (quote.event_time, quote.sequence) = (Nanos(frame.time), frame.position);
    if let Some(bid) = best.best_bid() {
        quote.bids[0] = bid;
    }
    if let Some(ask) = best.best_ask() {
        quote.asks[0] = ask;
    }
    quote
}

fn instruments(mut frames: Frames<'_>) -> Result<Vec<Instrument>, RunError> {
    let mut found = Vec::new();
    while let Some(frame) = frames.next().map_err(|error| RunError::failed(error.to_string()))? {
        if frame.message_id == Instrument::ID {
            found.push(
                Instrument::decode(frame.payload).map_err(|error| RunError::failed(error.to_string()))?,
            );
        }
    }
    Ok(found)
}

/// The first time from `begins` on at which it is this time of day, in UTC.
fn next(time: TimeOfDay, begins: u64) -> u64 {
    let today = begins - begins % DAY + time.0;
    if today < begins { today + DAY } else { today }
}

impl Component for Recording {
    fn start(&mut self, _context: &mut Context) -> Result<(), RunError> {
        self.publisher.list(&self.instruments)
    }

    fn turn(&mut self, context: &mut Context) -> Result<(), RunError> {
        if context.handle().phase() == Phase::Starting {
            context.wake_at(context.now() + 1_000_000);
            return Ok(());
        }
        if self.pace.is_none() {
            self.pace = Some(Pace::new(self.speed, Nanos(context.now())));
        }
        self.lock_step.begin_turn();
        for _ in 0..BURST {
            // Nothing more is published after a stop.
            if context.handle().is_stopping() {
                return Ok(());
            }
            match self.step(context)? {
                None => {}
                Some(u64::MAX) => return Ok(()),
                Some(time) => {
                    context.wake_at(time);
                    return Ok(());
                }
            }
        }
        // More is ready: only check the stop flag, without a sleep.
        context.wake_at(context.now());
        Ok(())
    }

    fn frame(&mut self, _context: &mut Context, _input: InputId, _frame: &Frame<'_>) -> Result<(), RunError> {
        Ok(())
    }
}
