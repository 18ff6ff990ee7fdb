//! Quotes of an exchange of strategies: md follows the book that matching publishes.
//!
//! ```text
//!  matching.market: BookEvent*, TradePrint* ──► books ──► md.quotes: TradePrint*, Quote
//! ```
//!
//! md reads as a gated reader, so numbers are missing only where it or matching was killed; a snapshot brings the book back.
//! Trades are passed on meanwhile, each once.

use std::collections::VecDeque;

use node::{Component, Context, Frame, InputId, Node, NodeState, RunError, WriteError};
use topology::config::MdConfig;
use wire::{Instrument, Nanos, Quote, TradePrint};

use super::publisher::Publisher;
use crate::book::{Followed, Follower};
use crate::sim::instruments;
use crate::source::Counts;

/// Pause before a full journal is tried again, in nanoseconds.
const RETRY: u64 = 20_000;

/// Market data of an exchange.
pub(super) struct Exchange {
    listed: Vec<Instrument>,
    follower: Follower,
    publisher: Publisher,
    /// Trades and a quote that find no room.
    waiting: VecDeque<Outgoing>,
    /// Trades up to this one were published by a predecessor.
    last_trade: u64,
    end: End,
}

#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "few wait at a time, and a box would be an allocation a quote")]
enum Outgoing {
    Trade(TradePrint),
    Quote(Quote),
}

/// Whether the market's end was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Open,
    Due,
    Said,
}

impl Exchange {
    /// # Errors
    /// What a predecessor has published cannot be read.
    pub(super) fn new(config: &MdConfig, publisher: Publisher, node: &Node) -> Result<Exchange, RunError> {
        let listed = instruments(config.instruments);
        Ok(Exchange {
            last_trade: publisher.last_trade(node)?,
            follower: Follower::new(&listed),
            listed,
            publisher,
            waiting: VecDeque::new(),
            end: End::Open,
        })
    }

    /// Writes what waits. False: a journal is full.
    fn write(&mut self) -> Result<bool, RunError> {
        while let Some(message) = self.waiting.pop_front() {
            let sent = match &message {
                Outgoing::Trade(trade) => self.publisher.trade(trade),
                Outgoing::Quote(quote) => self.publisher.quote(quote),
            };
            match sent {
                Ok(()) => {}
                Err(WriteError::Full { .. }) => {
                    self.waiting.push_front(message);
                    return Ok(false);
                }
                Err(source) => return Err(self.publisher.failed(source)),
            }
        }
        Ok(true)
    }

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

    /// Who comes after a killed md reads the whole of an event again.
    fn is_settled(&self, _input: InputId) -> bool {
        self.waiting.is_empty() && self.follower.is_between_events()
    }

    fn accepts(&mut self, _input: InputId, _position: u64) -> bool {
        self.waiting.is_empty()
    }

    fn frame(&mut self, context: &mut Context, input: InputId, frame: &Frame<'_>) -> Result<(), RunError> {
        match self.follower.take(frame.message_id, frame.payload, Nanos(context.now())) {
            Ok(Followed::Nothing) => {}
            Ok(Followed::Event { trades, quote, .. }) => {
                let is_new = |trade: &TradePrint| trade.trade_id > self.last_trade;
                self.waiting.extend(trades.iter().copied().filter(is_new).map(Outgoing::Trade));
                self.waiting.extend(quote.copied().map(Outgoing::Quote));
            }
            Ok(Followed::Lost(instrument)) => {
                log::warn!("instrument {instrument}: an event is missing; its book waits for a snapshot");
            }
            Ok(Followed::End) => self.end = End::Due,
            Err(error) => {
                context.add(node::Counter::Malformed, 1);
                log::error!("input {} at position {}: {error}; passed over", input.0, frame.position);
            }
        }
        if self.write()? {
            self.finish(context)?;
        }
        Ok(())
    }
}
