//! Quotes of an exchange of strategies: md follows the book that matching publishes.
//!
//! ```text
//!  matching.market: BookEvent*, TradePrint* ──► books ──► md.quotes: TradePrint*, Quote
//! ```
//!
//! An instrument's book counts once a snapshot of it, or its beginning, was read; a missing number voids it until the next
//! snapshot. md reads as a gated reader, so numbers are missing only where a predecessor of matching or md was killed.

use node::{Component, Context, Frame, InputId, NodeState, RunError, WriteError};
use topology::config::MdConfig;
use wire::{
    BookAction, BookEvent, EndOfStream, Indicative, Instrument, MarketPhase, Message, Nanos, Quote,
    TradePrint, TradingPhase, WireError,
};

use super::publisher::Publisher;
use crate::book::Books;
use crate::sim::instruments;
use crate::source::{Counts, SourceEvent};

/// Pause before a full journal is tried again, in nanoseconds.
const RETRY: u64 = 20_000;

/// What is known of an instrument's book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// Nothing: a snapshot must come.
    No,
    /// A snapshot is being read.
    Taking,
    /// All up to this number.
    UpTo(u64),
}

/// One instrument.
#[derive(Debug)]
struct Line {
    known: Known,
    phase: TradingPhase,
    /// The event that is being read.
    event: SourceEvent,
}

/// Market data of an exchange.
pub(super) struct Exchange {
    listed: Vec<Instrument>,
    books: Books,
    lines: Vec<Line>,
    publisher: Publisher,
    /// Trades and a quote that find no room.
    waiting: Vec<Outgoing>,
    end: End,
}

/// Whether the market's end was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Open,
    Due,
    Said,
}

#[derive(Clone, Copy, Debug)]
enum Outgoing {
    Trade(TradePrint),
    Quote(Quote),
}

impl Exchange {
    pub(super) fn new(config: &MdConfig, publisher: Publisher) -> Exchange {
        let listed = instruments(config.instruments);
        let lines = listed.iter().map(|instrument| Line {
            known: Known::No,
            phase: TradingPhase::Closed,
            event: SourceEvent { instrument: instrument.id, ..SourceEvent::default() },
        });
        Exchange {
            books: Books::new(&listed),
            lines: lines.collect(),
            listed,
            publisher,
            waiting: Vec::new(),
            end: End::Open,
        }
    }

    fn take(&mut self, frame: &Frame<'_>, now: u64) -> Result<(), WireError> {
        match frame.message_id {
            BookEvent::ID => self.book_event(&BookEvent::decode(frame.payload)?, now),
            TradePrint::ID => {
                let trade = TradePrint::decode(frame.payload)?;
                if let Some(line) = self.line(trade.instrument) {
                    line.event.trades.push(TradePrint { due: Nanos(now), ..trade });
                }
            }
            MarketPhase::ID => {
                let phase = MarketPhase::decode(frame.payload)?;
                let Some(line) = self.line(phase.instrument) else { return Ok(()) };
                line.phase = phase.phase;
                if let Known::UpTo(known) = line.known {
                    line.known = next(known, phase.sequence);
                }
                line.event.sequence = phase.sequence;
                line.event.event_time = phase.event_time;
                self.publish(phase.instrument.0 as usize - 1, now);
            }
            Indicative::ID => {}
            EndOfStream::ID => self.end = End::Due,
            id => return Err(WireError::UnknownId { id }),
        }
        Ok(())
    }

    fn line(&mut self, instrument: wire::InstrumentId) -> Option<&mut Line> {
        (instrument.0 as usize).checked_sub(1).and_then(|index| self.lines.get_mut(index))
    }

    fn book_event(&mut self, event: &BookEvent, now: u64) {
        let Some(line) = self.line(event.instrument) else { return };
        let is_snapshot = event.flags & BookEvent::SNAPSHOT != 0;
        let is_last = event.flags & BookEvent::LAST != 0;
        line.known = match line.known {
            // The exchange was started again.
            _ if event.action == BookAction::Clear && !is_snapshot => Known::UpTo(event.sequence),
            Known::No if is_snapshot && event.action == BookAction::Clear => Known::Taking,
            Known::No => return,
            Known::Taking if is_snapshot => Known::Taking,
            Known::Taking => Known::No,
            Known::UpTo(_) if is_snapshot => return,
            Known::UpTo(known) => next(known, event.sequence),
        };
        match line.known {
            Known::Taking if is_last => line.known = Known::UpTo(event.sequence),
            Known::No => {
                log::warn!(
                    "instrument {}: an event is missing; its book waits for a snapshot",
                    event.instrument
                );
                line.event.book_events.clear();
                line.event.trades.clear();
                return;
            }
            Known::Taking | Known::UpTo(_) => {}
        }
        line.event.book_events.push(*event);
        (line.event.event_time, line.event.sequence) = (event.event_time, event.sequence);
        if is_last {
            self.publish(event.instrument.0 as usize - 1, now);
        }
    }

    /// The book is whole: what is new about it goes out.
    fn publish(&mut self, index: usize, now: u64) {
        let Some(line) = self.lines.get_mut(index) else { return };
        line.event.call_auction = line.phase != TradingPhase::Continuous;
        let quote = self.books.apply(&line.event).quote;
        self.waiting.extend(line.event.trades.iter().copied().map(Outgoing::Trade));
        if let Some(quote) = quote {
            self.waiting.push(Outgoing::Quote(Quote { due: Nanos(now), ..*quote }));
        }
        line.event.book_events.clear();
        line.event.trades.clear();
    }

    /// Writes what waits. False: a journal is full.
    fn write(&mut self) -> Result<bool, RunError> {
        let mut written = 0;
        let mut outcome = Ok(true);
        for message in &self.waiting {
            let sent = match message {
                Outgoing::Trade(trade) => self.publisher.trade(trade),
                Outgoing::Quote(quote) => self.publisher.quote(quote),
            };
            match sent {
                Ok(()) => written += 1,
                Err(WriteError::Full { .. }) => {
                    outcome = Ok(false);
                    break;
                }
                Err(source) => {
                    outcome = Err(self.publisher.failed(source));
                    break;
                }
            }
        }
        self.waiting.drain(..written);
        outcome
    }
}

impl Exchange {
    /// Publishes the end when it is due. False: a journal is full.
    fn finish(&mut self, context: &mut Context) -> Result<bool, RunError> {
        if self.end != End::Due {
            return Ok(true);
        }
        match self.publisher.end(&Counts::default()) {
            Ok(()) => {
                self.end = End::Said;
                context.handle().set_state(NodeState::Finished);
                Ok(true)
            }
            Err(WriteError::Full { .. }) => Ok(false),
            Err(source) => Err(self.publisher.failed(source)),
        }
    }
}

/// What is known after the event with this number.
fn next(known: u64, sequence: u64) -> Known {
    if sequence == known + 1 { Known::UpTo(sequence) } else { Known::No }
}

impl Component for Exchange {
    fn start(&mut self, _context: &mut Context) -> Result<(), RunError> {
        self.publisher.list(&self.listed)
    }

    fn turn(&mut self, context: &mut Context) -> Result<(), RunError> {
        if !self.write()? || !self.finish(context)? {
            context.add(node::Counter::Full, 1);
            context.wake_at(context.now() + RETRY);
        }
        Ok(())
    }

    fn is_settled(&self, _input: InputId) -> bool {
        self.waiting.is_empty()
    }

    fn accepts(&mut self, _input: InputId, _position: u64) -> bool {
        self.waiting.is_empty()
    }

    fn frame(&mut self, context: &mut Context, input: InputId, frame: &Frame<'_>) -> Result<(), RunError> {
        if let Err(error) = self.take(frame, context.now()) {
            context.add(node::Counter::Malformed, 1);
            log::error!("input {} at position {}: {error}; passed over", input.0, frame.position);
        }
        if self.write()? {
            self.finish(context)?;
        }
        Ok(())
    }
}
