//! Instruments and market data: what the strategy reads, what must wait, and the market's clock.

use node::{Counter, Frame};
use topology::config::MarketData;
use wire::{
    Best, BookEvent, Cause, EndOfStream, Indicative, Instrument, InstrumentId, MarketPhase, MarketTime,
    Message, Nanos, Quote, TradePrint, WireError,
};

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
pub(crate) enum Market {
    Quote(Quote),
    Best(InstrumentId, Best),
    Trade(TradePrint),
    Event(BookEvent),
    Phase(MarketPhase),
    Indicative(Indicative),
}

impl Market {
    pub(crate) fn instrument(&self) -> InstrumentId {
        match self {
            Market::Quote(quote) => quote.instrument,
            Market::Best(instrument, _) => *instrument,
            Market::Trade(trade) => trade.instrument,
            Market::Event(event) => event.instrument,
            Market::Phase(phase) => phase.instrument,
            Market::Indicative(indicative) => indicative.instrument,
        }
    }

    /// The same of the instrument with this number.
    pub(super) fn of(mut self, id: InstrumentId) -> Market {
        match &mut self {
            Market::Quote(quote) => quote.instrument = id,
            Market::Best(instrument, _) => *instrument = id,
            Market::Trade(trade) => trade.instrument = id,
            Market::Event(event) => event.instrument = id,
            Market::Phase(phase) => phase.instrument = id,
            Market::Indicative(indicative) => indicative.instrument = id,
        }
        self
    }

    /// The market's own time; `None` for a best, which does not hold it.
    fn event_time(&self) -> Option<Nanos> {
        match self {
            Market::Quote(quote) => Some(quote.event_time),
            Market::Best(..) => None,
            Market::Trade(trade) => Some(trade.event_time),
            Market::Event(event) => Some(event.event_time),
            Market::Phase(phase) => Some(phase.event_time),
            Market::Indicative(indicative) => Some(indicative.event_time),
        }
    }

    fn due(&self) -> Nanos {
        match self {
            Market::Quote(quote) => quote.due,
            Market::Best(_, best) => best.due,
            Market::Trade(trade) => trade.due,
            // No schedule says when an event of the flow is due.
            Market::Event(_) | Market::Phase(_) | Market::Indicative(_) => Nanos(0),
        }
    }
}

impl<S: Strategy> Session<S> {
    pub(super) fn on_market(&mut self, frame: &Frame<'_>, cause: Cause) -> Result<(), WireError> {
        let market = match frame.message_id {
            Quote::ID => Market::Quote(Quote::decode(frame.payload)?),
            Best::ID => Market::Best(InstrumentId(frame.topic), Best::decode(frame.payload)?),
            BookEvent::ID => Market::Event(BookEvent::decode(frame.payload)?),
            MarketPhase::ID => Market::Phase(MarketPhase::decode(frame.payload)?),
            Indicative::ID => Market::Indicative(Indicative::decode(frame.payload)?),
            TradePrint::ID => Market::Trade(TradePrint::decode(frame.payload)?),
            MarketTime::ID => {
                let time = MarketTime::decode(frame.payload)?.event_time;
                self.advance_to(Some(time), cause);
                return Ok(());
            }
            EndOfStream::ID => return Ok(()),
            id => return Err(WireError::UnknownId { id }),
        };
        let cause = Cause { due: market.due(), ..cause };
        if self.context.instruments.get(market.instrument()).is_none() {
            self.held = Some(Held { market, cause, in_vain: false });
        } else {
            self.on_listed_market(&market, cause, None);
        }
        Ok(())
    }

    /// `time`: the market's, if it is known from elsewhere.
    #[inline]
    pub(super) fn on_listed_market(&mut self, market: &Market, cause: Cause, time: Option<Nanos>) {
        if !self.context.instruments.is_selected(market.instrument()) {
            return;
        }
        let time = time.or_else(|| self.time_of(market));
        self.advance_to(time, cause);
        match market {
            Market::Quote(quote) => self.context.set_quote(quote),
            Market::Best(instrument, best) => self.context.set_best(*instrument, best),
            _ => {}
        }
        if !self.context.stage.hears() {
            return;
        }
        self.context.cause = cause;
        match market {
            Market::Quote(quote) => {
                self.context.port.count(Counter::Quotes, 1);
                self.strategy.quote(&mut self.context, quote);
            }
            Market::Best(instrument, best) => {
                self.context.port.count(Counter::Quotes, 1);
                self.strategy.best(&mut self.context, *instrument, best);
            }
            Market::Trade(trade) => {
                self.context.port.count(Counter::Trades, 1);
                self.strategy.trade(&mut self.context, trade);
            }
            Market::Event(event) => {
                self.context.port.count(Counter::BookEvents, 1);
                self.strategy.book_event(&mut self.context, event);
            }
            Market::Phase(phase) => self.strategy.phase(&mut self.context, phase),
            Market::Indicative(indicative) => self.strategy.indicative(&mut self.context, indicative),
        }
        self.context.cause = Cause::NONE;
        if self.context.bars.is_used()
            && let Some(time) = time
        {
            self.add_to_bars(market, time, cause);
        }
    }

    /// The bests from before the start, from the depths behind them.
    pub(super) fn look_up_bests(&mut self) {
        if self.context.data != MarketData::Best {
            return;
        }
        let selected: Vec<InstrumentId> =
            self.context.instruments.selected().map(|listed| listed.id).collect();
        for instrument in selected {
            if let Ok(quote) = self.context.depth(instrument) {
                self.context.set_best(instrument, &Best::of(&quote));
            }
        }
    }

    /// The market's time, where anything goes by it.
    #[inline]
    fn time_of(&self, market: &Market) -> Option<Nanos> {
        let goes_by_it = self.context.event_clock.is_some_and(|clock| !clock.recorded)
            || self.context.bars.is_used()
            || self.context.stage == Stage::WarmingUp;
        if !goes_by_it {
            return None;
        }
        // In lock-step the depth behind a best is exactly its quote: md publishes nothing before all have handled it.
        let of_depth = || self.context.depth(market.instrument()).ok().map(|quote| quote.event_time);
        market.event_time().or_else(of_depth)
    }

    /// The market has reached this time.
    #[inline]
    fn advance_to(&mut self, time: Option<Nanos>, cause: Cause) {
        let Some(time) = time else { return };
        if self.context.event_clock.is_some_and(|clock| !clock.recorded) {
            self.advance(time, cause);
        } else {
            // The platform's clock, or that of recorded frames, goes by itself.
            self.close_bars(time, cause);
        }
        if self.context.stage == Stage::WarmingUp {
            self.warm_up_until(time);
        }
    }

    /// With a clock that goes by events: fires the timers that are due by the event and hands over the bars that are full,
    /// each at its own time, then sets the clock. Of equal times the bar comes first.
    pub(super) fn advance(&mut self, event_time: Nanos, cause: Cause) {
        let Some(clock) = &mut self.context.event_clock else { return };
        if !clock.begun {
            *clock = EventClock { now: event_time, begun: true, ..*clock };
            self.context.timers.begin(event_time);
        }
        let has_bars = !clock.recorded;
        while self.context.stage.hears() {
            let timer_due = self.context.timers.next_due();
            if has_bars
                && let Some(end) = self.context.bars.next_end()
                && end <= event_time
                && timer_due.is_none_or(|due| end <= due)
            {
                self.set_event_time(end);
                self.close_bars(end, cause);
                continue;
            }
            let limit = self.context.timers.limit();
            let Some(timer) = self.context.timers.pop(event_time, limit, false) else { break };
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
        self.context.positions.list(instrument);
        if newly_selected {
            self.topics_changed = true;
            if self.context.stage.hears() {
                self.strategy.instrument(&mut self.context, instrument);
            }
        }
        match self.held.take() {
            Some(held) if held.market.instrument() == instrument.id => {
                self.on_listed_market(&held.market, held.cause, None);
            }
            other => self.held = other.map(|held| Held { in_vain: false, ..held }),
        }
    }
}
