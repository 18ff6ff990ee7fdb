//! Instruments and market data: what the strategy reads, what must wait, and the market's clock.

use node::{Counter, Frame};
use wire::{Cause, EndOfStream, Instrument, InstrumentId, Message, Nanos, Quote, TradePrint, WireError};

use super::Session;
use crate::context::{EventClock, Stage};
use crate::strategy::Strategy;

/// Market data of an instrument that is not listed yet: md has listed it, but that frame is not read.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) market: Market,
    cause: Cause,
    /// A whole round has passed, and nothing was listed in it.
    pub(super) in_vain: bool,
}

#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "lives on the stack for the length of one call")]
pub(super) enum Market {
    Quote(Quote),
    Trade(TradePrint),
}

impl Market {
    pub(super) fn instrument(&self) -> InstrumentId {
        match self {
            Market::Quote(quote) => quote.instrument,
            Market::Trade(trade) => trade.instrument,
        }
    }

    fn event_time(&self) -> Nanos {
        match self {
            Market::Quote(quote) => quote.event_time,
            Market::Trade(trade) => trade.event_time,
        }
    }

    fn due(&self) -> Nanos {
        match self {
            Market::Quote(quote) => quote.due,
            Market::Trade(trade) => trade.due,
        }
    }
}

impl<S: Strategy> Session<S> {
    pub(super) fn on_market(&mut self, frame: &Frame<'_>, cause: Cause) -> Result<(), WireError> {
        let market = match frame.message_id {
            Quote::ID => Market::Quote(Quote::decode(frame.payload)?),
            TradePrint::ID => Market::Trade(TradePrint::decode(frame.payload)?),
            EndOfStream::ID => return Ok(()),
            id => return Err(WireError::UnknownId { id }),
        };
        let cause = Cause { due: market.due(), ..cause };
        if self.context.instruments.get(market.instrument()).is_none() {
            self.held = Some(Held { market, cause, in_vain: false });
        } else {
            self.on_listed_market(&market, cause);
        }
        Ok(())
    }

    fn on_listed_market(&mut self, market: &Market, cause: Cause) {
        if !self.context.instruments.is_selected(market.instrument()) {
            return;
        }
        self.advance(market.event_time());
        if let Market::Quote(quote) = market {
            self.context.set_quote(quote);
        }
        if self.context.stage != Stage::Open {
            return;
        }
        self.context.cause = cause;
        match market {
            Market::Quote(quote) => {
                self.context.port.count(Counter::Quotes, 1);
                self.strategy.quote(&mut self.context, quote);
            }
            Market::Trade(trade) => {
                self.context.port.count(Counter::Trades, 1);
                self.strategy.trade(&mut self.context, trade);
            }
        }
        self.context.cause = Cause::NONE;
    }

    /// With the market's clock: fires the timers that are due by the event, each at its own time, then sets the clock.
    fn advance(&mut self, event_time: Nanos) {
        let Some(clock) = &mut self.context.event_clock else { return };
        if !clock.begun {
            *clock = EventClock { now: event_time, begun: true };
            self.context.timers.begin(event_time);
        }
        while self.context.stage == Stage::Open
            && let limit = self.context.timers.limit()
            && let Some(timer) = self.context.timers.pop(event_time, limit)
        {
            self.set_event_time(timer.due);
            self.strategy.timer(&mut self.context, timer);
        }
        self.set_event_time(event_time);
    }

    /// Sources need not be in order over all instruments: the clock never goes back.
    fn set_event_time(&mut self, time: Nanos) {
        if let Some(clock) = &mut self.context.event_clock {
            clock.now = clock.now.max(time);
        }
    }

    pub(super) fn on_instruments(&mut self, frame: &Frame<'_>) -> Result<(), WireError> {
        match frame.message_id {
            Instrument::ID => self.on_listing(&Instrument::decode(frame.payload)?),
            // Of the list, not of the market data.
            EndOfStream::ID => self.complete_list(),
            id => return Err(WireError::UnknownId { id }),
        }
        Ok(())
    }

    fn on_listing(&mut self, instrument: &Instrument) {
        let Some(newly_selected) = self.context.instruments.list(instrument) else {
            self.context.port.count(Counter::Anomalies, 1);
            return;
        };
        self.context.reach(instrument.id);
        if newly_selected {
            self.topics_changed = true;
            if self.context.stage == Stage::Open {
                self.strategy.instrument(&mut self.context, instrument);
            }
        }
        match self.held.take() {
            Some(held) if held.market.instrument() == instrument.id => {
                self.on_listed_market(&held.market, held.cause);
            }
            other => self.held = other.map(|held| Held { in_vain: false, ..held }),
        }
    }
}
