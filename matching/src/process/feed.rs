//! The exchange's market data: every change of a book, order by order, with its trades and phases.
//!
//! | event | in `matching.market` |
//! |---|---|
//! | an order rests | `Add` of what the book shows of it |
//! | a trade | `Execute` of each order that rested (in an auction both), then a [`TradePrint`] |
//! | an iceberg shows its next part | `Add` under the same number: behind all others (where it keeps its place: the same, which is then not the place that the feed tells) |
//! | an order is changed in its place | `Modify` |
//! | an order leaves for another reason | `Delete` |
//! | a phase begins | [`MarketPhase`]; with the number of the event before it, it only repeats the phase behind a snapshot |
//! | something has traded, at most so often; beside a snapshot | [`Statistics`] |
//! | all markets are closed, and the day has no more phases | [`EndOfStream`] |
//!
//! The events of an instrument are numbered 1, 2, 3 ... in `sequence`. The last one of a request bears
//! [`BookEvent::LAST`]: the book is whole again. A snapshot has the number of the last event that it includes. A reader that
//! finds a number missing takes up the next snapshot. A [`BookAction::Clear`] that is none of a snapshot begins anew at 1:
//! the exchange was started again, and its orders have ended.

use wire::{
    Aggressor, BookAction, BookEvent, EndOfStream, Indicative, InstrumentId, MarketPhase, Message, Nanos,
    Price, Quantity, Side, Statistics, TradePrint, TradingPhase,
};

use crate::exchange::{BookView, Equilibrium, Event, OrderState, Trade};

/// One message of market data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum MarketMessage {
    Book(BookEvent),
    Trade(TradePrint),
    Phase(MarketPhase),
    Indicative(Indicative),
    Statistics(Statistics),
    /// The day is over.
    End(EndOfStream),
}

impl MarketMessage {
    pub(crate) fn instrument(&self) -> InstrumentId {
        match self {
            MarketMessage::End(_) => InstrumentId(0),
            MarketMessage::Book(event) => event.instrument,
            MarketMessage::Trade(trade) => trade.instrument,
            MarketMessage::Phase(phase) => phase.instrument,
            MarketMessage::Indicative(indicative) => indicative.instrument,
            MarketMessage::Statistics(statistics) => statistics.instrument,
        }
    }

    pub(crate) fn id(&self) -> u16 {
        match self {
            MarketMessage::Book(_) => BookEvent::ID,
            MarketMessage::Trade(_) => TradePrint::ID,
            MarketMessage::Phase(_) => MarketPhase::ID,
            MarketMessage::Indicative(_) => Indicative::ID,
            MarketMessage::Statistics(_) => Statistics::ID,
            MarketMessage::End(_) => EndOfStream::ID,
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            MarketMessage::Book(event) => event.bytes(),
            MarketMessage::Trade(trade) => trade.bytes(),
            MarketMessage::Phase(phase) => phase.bytes(),
            MarketMessage::Indicative(indicative) => indicative.bytes(),
            MarketMessage::Statistics(statistics) => statistics.bytes(),
            MarketMessage::End(end) => end.bytes(),
        }
    }
}

/// What the feed knows of an instrument.
#[derive(Clone, Copy, Debug)]
struct Line {
    sequence: u64,
    phase: TradingPhase,
}

impl Line {
    /// An exchange lists its instruments in continuous trading.
    const FIRST: Line = Line { sequence: 0, phase: TradingPhase::Continuous };

    /// What its book events are marked with: outside of continuous trading nothing trades but at an auction's end.
    fn flags(&self) -> u16 {
        if self.phase == TradingPhase::Continuous { 0 } else { BookEvent::CALL_AUCTION }
    }
}

/// Turns the exchange's events into market data.
#[derive(Debug, Default)]
pub(crate) struct Feed {
    /// By instrument.
    lines: Vec<Line>,
    messages: Vec<MarketMessage>,
    /// Messages before this one are of earlier requests.
    start: usize,
    /// Instruments whose last change was found; kept for its memory.
    closed: Vec<InstrumentId>,
    time: Nanos,
}

impl Feed {
    /// The messages since the last [`Feed::clear`].
    pub(crate) fn messages(&self) -> &[MarketMessage] {
        &self.messages
    }

    /// Forgets the messages.
    pub(crate) fn clear(&mut self) {
        self.messages.clear();
        self.start = 0;
    }

    /// The market's time of what follows.
    pub(crate) fn set_time(&mut self, time: Nanos) {
        self.time = time;
    }

    /// The number of an instrument's last event.
    pub(super) fn sequence(&mut self, instrument: InstrumentId) -> u64 {
        self.line(instrument).sequence
    }

    /// Goes on behind the event of this number.
    pub(super) fn restore(&mut self, instrument: InstrumentId, sequence: u64, phase: TradingPhase) {
        *self.line(instrument) = Line { sequence, phase };
    }

    fn line(&mut self, instrument: InstrumentId) -> &mut Line {
        let index = instrument.0 as usize;
        if self.lines.len() <= index {
            self.lines.resize(index + 1, Line::FIRST);
        }
        &mut self.lines[index]
    }

    /// An event of the exchange.
    pub(crate) fn event(&mut self, event: &Event) {
        match event {
            Event::Rested(state) | Event::Refreshed(state, _) => {
                self.book(BookAction::Add, state, state.price, state.shown)
            }
            Event::Traded(trade) => self.trade(trade),
            Event::Replaced(state, None) if state.shown > Quantity::ZERO => {
                self.book(BookAction::Modify, state, state.price, state.shown);
            }
            Event::Decremented(state) if state.shown > Quantity::ZERO => {
                self.book(BookAction::Modify, state, state.price, state.shown);
            }
            Event::Replaced(state, Some(from)) if state.shown > Quantity::ZERO => {
                self.book(BookAction::Delete, state, *from, state.shown);
            }
            Event::Cancelled(state, _) if state.shown > Quantity::ZERO => {
                self.book(BookAction::Delete, state, state.price, state.shown);
            }
            Event::PhaseChanged { instrument, to, .. } => self.phase(*instrument, *to),
            _ => {}
        }
    }

    fn book(&mut self, action: BookAction, state: &OrderState, price: Price, quantity: Quantity) {
        let line = self.line(state.instrument);
        line.sequence += 1;
        let (flags, sequence) = (line.flags(), line.sequence);
        self.messages.push(MarketMessage::Book(BookEvent {
            instrument: state.instrument,
            action,
            side: state.side,
            flags,
            order_ref: state.id,
            price,
            quantity,
            event_time: self.time,
            sequence,
            reserved: 0,
        }));
    }

    fn trade(&mut self, trade: &Trade) {
        // Market orders of an auction rest in no level, and are no part of the book.
        let rested = |side: Side, state: &OrderState| {
            let aggressed = match trade.aggressor {
                Aggressor::Buy => side == Side::Sell,
                Aggressor::Sell => side == Side::Buy,
                Aggressor::None => true,
            };
            aggressed && state.price.is_some()
        };
        for state in [&trade.buy, &trade.sell] {
            if rested(state.side, state) {
                self.book(BookAction::Execute, state, trade.price, trade.quantity);
            }
        }
        let sequence = self.line(trade.buy.instrument).sequence;
        self.messages.push(MarketMessage::Trade(TradePrint {
            instrument: trade.buy.instrument,
            aggressor: trade.aggressor,
            reserved: [0; 3],
            due: Nanos(0),
            event_time: self.time,
            sequence,
            price: trade.price,
            quantity: trade.quantity,
            trade_id: trade.id,
        }));
    }

    fn phase(&mut self, instrument: InstrumentId, to: TradingPhase) {
        let line = self.line(instrument);
        line.sequence += 1;
        line.phase = to;
        self.say_phase(instrument);
    }

    fn say_phase(&mut self, instrument: InstrumentId) {
        let event_time = self.time;
        let line = self.line(instrument);
        let (phase, sequence) = (line.phase, line.sequence);
        let message = MarketPhase { instrument, phase, reserved: [0; 3], event_time, sequence };
        self.messages.push(MarketMessage::Phase(message));
    }

    /// The request is carried out: the last change of its book is marked.
    pub(crate) fn close(&mut self) {
        // A mass cancel and the passing of time may touch several instruments.
        self.closed.clear();
        for message in self.messages[self.start..].iter_mut().rev() {
            if let MarketMessage::Book(event) = message
                && !self.closed.contains(&event.instrument)
            {
                self.closed.push(event.instrument);
                event.flags |= BookEvent::LAST;
            }
        }
        self.start = self.messages.len();
    }

    /// The day is over: nothing follows.
    pub(crate) fn end(&mut self) {
        let events = self.lines.iter().map(|line| line.sequence).sum();
        self.messages.push(MarketMessage::End(EndOfStream {
            quotes: 0,
            trades: 0,
            book_events: events,
            source_messages: events,
            skipped: 0,
            rejected: 0,
        }));
        self.start = self.messages.len();
    }

    /// What an auction would trade.
    pub(crate) fn indicative(&mut self, instrument: InstrumentId, equilibrium: &Equilibrium) {
        let sequence = self.line(instrument).sequence;
        self.messages.push(MarketMessage::Indicative(Indicative {
            instrument,
            reserved: 0,
            price: equilibrium.price,
            quantity: equilibrium.volume,
            imbalance: Quantity(equilibrium.imbalance),
            event_time: self.time,
            sequence,
        }));
        self.start = self.messages.len();
    }

    /// What has traded in an instrument.
    pub(super) fn statistics(&mut self, statistics: &Statistics) {
        let sequence = self.line(statistics.instrument).sequence;
        let message = Statistics { event_time: self.time, sequence, ..*statistics };
        self.messages.push(MarketMessage::Statistics(message));
        self.start = self.messages.len();
    }

    /// A book as it stands, for readers that do not have it; `is_snapshot` false: for all.
    pub(crate) fn whole(&mut self, instrument: InstrumentId, book: &BookView<'_>, is_snapshot: bool) {
        let line = self.line(instrument);
        if !is_snapshot {
            *line = Line { sequence: 1, ..Line::FIRST };
        }
        let snapshot = if is_snapshot { BookEvent::SNAPSHOT } else { 0 };
        let (call, sequence) = (line.flags(), line.sequence);
        let event_time = self.time;
        let message = |action, side, order_ref, price, quantity| BookEvent {
            instrument,
            action,
            side,
            flags: snapshot | call,
            order_ref,
            price,
            quantity,
            event_time,
            sequence,
            reserved: 0,
        };
        self.messages.push(MarketMessage::Book(message(
            BookAction::Clear,
            Side::Buy,
            0,
            Price::NONE,
            Quantity::ZERO,
        )));
        for side in [Side::Buy, Side::Sell] {
            for order in book.orders(side).filter(|order| order.price.is_some()) {
                let add = message(BookAction::Add, side, order.id, order.price, order.shown);
                self.messages.push(MarketMessage::Book(add));
            }
        }
        self.close();
        self.say_phase(instrument);
        self.start = self.messages.len();
    }
}

#[cfg(test)]
mod tests {
    use wire::Price;

    use super::*;
    use crate::exchange::{DynamicBand, Exchange, InstrumentRules, Order, Width};

    /// A buyer's rest lies beyond the band, above the best seller.
    #[test]
    fn a_book_that_is_whole_and_crossed_is_an_auctions() {
        let stock = InstrumentId(1);
        let mut exchange = Exchange::new(Default::default());
        let band = DynamicBand { width: Width::Price(Price(2)), auction: Nanos(10) };
        let rules = InstrumentRules {
            reference_price: Price(100),
            dynamic_band: Some(band),
            ..InstrumentRules::new(stock, Price(1))
        };
        exchange.list(rules).unwrap();
        let mut feed = Feed::default();
        let sell = |id, price| Order::limit(id, stock, Side::Sell, Price(price), Quantity(5));
        for order in [sell(1, 102), sell(2, 103), Order::limit(3, stock, Side::Buy, Price(104), Quantity(8))]
        {
            let mut events: Vec<Event> = Vec::new();
            let strategy = wire::StrategyId(order.id as u16);
            exchange.submit(&Order { strategy, ..order }, &mut events);
            events.iter().for_each(|event| feed.event(event));
            feed.close();
        }
        let told: Vec<String> = feed
            .messages()
            .iter()
            .map(|message| match message {
                MarketMessage::Book(event) => {
                    let last = if event.flags & BookEvent::LAST != 0 { ", whole" } else { "" };
                    let call = if event.flags & BookEvent::CALL_AUCTION != 0 { ", auction" } else { "" };
                    format!("{:?} {}{last}{call}", event.action, event.order_ref)
                }
                MarketMessage::Phase(phase) => format!("{:?}", phase.phase),
                _ => "trade".to_owned(),
            })
            .collect();
        assert_eq!(
            told,
            [
                "Add 1, whole",
                "Add 2, whole",
                "Execute 1",
                "trade",
                "VolatilityAuction",
                "Add 3, whole, auction"
            ]
        );
    }
}
