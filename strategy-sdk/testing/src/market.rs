//! A day as md publishes it: message by message.

use std::collections::VecDeque;

use md::book::Books;
use md::source::{Source, SourceEvent};
use strategy_sdk::{BookEvent, Instrument, MarketPhase, Nanos, Quote, TradePrint};

use crate::day::ReplayError;

/// A message of the market.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "a few of them wait at a time")]
pub(crate) enum Published {
    /// And whether it is from before the window.
    Phase(MarketPhase, bool),
    Flow(BookEvent),
    Trade(TradePrint),
    Quote(Quote),
}

impl Published {
    /// The market's own time.
    pub(crate) fn time(&self) -> Nanos {
        match self {
            Published::Phase(phase, _) => phase.event_time,
            Published::Flow(event) => event.event_time,
            Published::Trade(trade) => trade.event_time,
            Published::Quote(quote) => quote.event_time,
        }
    }
}

/// A day, message by message.
pub(crate) trait Market {
    fn instruments(&self) -> &[Instrument];
    /// True when the flow of orders is known, so that orders can be matched beside it.
    fn has_flow(&self) -> bool;
    /// The next message; `None` at the end.
    fn next(&mut self) -> Result<Option<Published>, ReplayError>;
}

/// Files of a vendor, with the books rebuilt.
pub(crate) struct Files {
    source: Box<dyn Source>,
    books: Books,
    event: SourceEvent,
    outgoing: VecDeque<Published>,
}

impl Files {
    pub(crate) fn new(source: Box<dyn Source>) -> Files {
        let books = Books::new(source.instruments());
        Files { source, books, event: SourceEvent::default(), outgoing: VecDeque::new() }
    }
}

impl Market for Files {
    fn instruments(&self) -> &[Instrument] {
        self.source.instruments()
    }

    fn has_flow(&self) -> bool {
        true
    }

    fn next(&mut self) -> Result<Option<Published>, ReplayError> {
        while self.outgoing.is_empty() {
            if !self.source.next(&mut self.event)? {
                return Ok(None);
            }
            self.outgoing
                .extend(self.event.market_phase().map(|phase| Published::Phase(phase, self.event.warm_up)));
            self.outgoing.extend(self.event.book_events.iter().copied().map(Published::Flow));
            let rebuilt = self.books.apply(&self.event);
            let (quote, crossed) = (rebuilt.quote.copied(), rebuilt.crossed);
            if crossed {
                self.source.crossed(&self.event)?;
            }
            if !self.event.warm_up {
                self.outgoing.extend(self.event.trades.iter().copied().map(Published::Trade));
            }
            self.outgoing.extend(quote.map(Published::Quote));
        }
        Ok(self.outgoing.pop_front())
    }
}
