//! Bars: what they are made of, and when they are handed over.

use topology::config::MarketData;
use wire::{Aggressor, Best, BookAction, BookEvent, Cause, Nanos, Price, Quantity, Side};

use super::Session;
use super::market::Market;
use crate::bars::{Bar, BarSource, Observation};
use crate::strategy::Strategy;

impl<S: Strategy> Session<S> {
    /// Hands over the bars by time that are full before this moment of the market, for clocks that do not go by it.
    pub(super) fn close_bars(&mut self, time: Nanos, cause: Cause) {
        while let Some(bar) = self.context.bars.pop_due(time) {
            self.hand_over(&bar, cause);
        }
    }

    /// Adds what came to the bars, and hands over those that are full with it.
    pub(super) fn add_to_bars(&mut self, market: &Market, time: Nanos, cause: Cause) {
        if let Some(observation) = observation(market, self.context.data()) {
            self.context.bars.observe(time, &observation);
        }
        while let Some(bar) = self.context.bars.pop_full() {
            self.hand_over(&bar, cause);
        }
    }

    /// An order that answers a bar answers the message that filled or ended it.
    pub(super) fn hand_over(&mut self, bar: &Bar, cause: Cause) {
        if self.context.stage.hears() {
            self.context.cause = cause;
            self.strategy.bar(&mut self.context, bar);
            self.context.cause = Cause::NONE;
        }
    }
}

fn observation(market: &Market, data: MarketData) -> Option<Observation> {
    let of_mid = |instrument, best: &Best| {
        let mid = Price::mid(best.best_bid()?.price, best.best_ask()?.price).ok()?;
        let (source, aggressor) = (BarSource::Mids, Aggressor::None);
        Some(Observation { instrument, source, price: mid, quantity: Quantity::ZERO, aggressor })
    };
    match market {
        Market::Quote(quote) => of_mid(quote.instrument, &Best::of(quote)),
        Market::Best(instrument, best) => of_mid(*instrument, best),
        // With the flow an exchange says each trade twice: as an event too.
        Market::Trade(_) if data == MarketData::Flow => None,
        Market::Trade(trade) => Some(Observation {
            instrument: trade.instrument,
            source: BarSource::Trades,
            price: trade.price,
            quantity: trade.quantity,
            aggressor: trade.aggressor,
        }),
        Market::Event(event) => of_flow(event),
        Market::Phase(_) | Market::Indicative(_) => None,
    }
}

/// The trade that an event of the flow is. In a call auction both orders of a trade rest, and each has its event: the
/// buyer's counts.
fn of_flow(event: &BookEvent) -> Option<Observation> {
    if event.flags & BookEvent::UNPRINTED != 0 {
        return None;
    }
    let in_auction = event.flags & BookEvent::CALL_AUCTION != 0;
    let aggressor = match (event.action, event.side) {
        (BookAction::Execute | BookAction::Trade, _) if event.flags & BookEvent::NO_SIDE != 0 => {
            Aggressor::None
        }
        (BookAction::Execute, Side::Buy) if in_auction => Aggressor::None,
        (BookAction::Execute, Side::Sell) if in_auction => return None,
        (BookAction::Execute | BookAction::Trade, Side::Buy) => Aggressor::Sell,
        (BookAction::Execute | BookAction::Trade, Side::Sell) => Aggressor::Buy,
        _ => return None,
    };
    let (instrument, price, quantity) = (event.instrument, event.price, event.quantity);
    Some(Observation { instrument, source: BarSource::Trades, price, quantity, aggressor })
}
