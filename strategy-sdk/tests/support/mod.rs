//! A strategy that notes what it hears, and does what a test tells it to.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use serde::Deserialize;
use strategy_sdk::testing::{Harness, Role, Setup};
use strategy_sdk::*;
use wire::{PositionState, SnapshotBegin, SnapshotEnd, WideMoney};

#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "a few of them live in a test")]
pub(crate) enum Event {
    Start,
    Instrument(InstrumentId),
    Quote(Quote),
    Trade(TradePrint),
    Order(OrderUpdate),
    Fill(Fill),
    Timer(Timer),
    Bar(Bar),
    Gap(Gap),
    Stop,
}

pub(crate) type Script = fn(&mut Context, &Event);

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Parameters {
    #[serde(skip)]
    pub(crate) script: Option<Script>,
}

#[derive(Debug)]
pub(crate) struct Probe {
    script: Option<Script>,
    /// With the strategy's clock as it was.
    pub(crate) heard: Vec<(u64, Event)>,
}

impl Probe {
    fn note(&mut self, context: &mut Context, event: Event) {
        if let Some(script) = self.script {
            script(context, &event);
        }
        self.heard.push((context.now().0, event));
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.heard.iter().map(|(_, event)| event.clone()).collect()
    }

    pub(crate) fn keys(&self) -> Vec<u64> {
        let key = |event: &Event| match event {
            Event::Timer(timer) => Some(timer.key),
            _ => None,
        };
        self.heard.iter().filter_map(|(_, event)| key(event)).collect()
    }
}

impl Strategy for Probe {
    type Parameters = Parameters;

    fn create(parameters: Parameters) -> Result<Probe, ParameterError> {
        Ok(Probe { script: parameters.script, heard: Vec::new() })
    }

    fn start(&mut self, context: &mut Context) {
        self.note(context, Event::Start);
    }

    fn instrument(&mut self, context: &mut Context, instrument: &Instrument) {
        self.note(context, Event::Instrument(instrument.id));
    }

    fn quote(&mut self, context: &mut Context, quote: &Quote) {
        self.note(context, Event::Quote(*quote));
    }

    fn trade(&mut self, context: &mut Context, trade: &TradePrint) {
        self.note(context, Event::Trade(*trade));
    }

    fn order(&mut self, context: &mut Context, update: &OrderUpdate) {
        self.note(context, Event::Order(*update));
    }

    fn fill(&mut self, context: &mut Context, fill: &Fill) {
        self.note(context, Event::Fill(*fill));
    }

    fn timer(&mut self, context: &mut Context, timer: Timer) {
        self.note(context, Event::Timer(timer));
    }

    fn bar(&mut self, context: &mut Context, bar: &Bar) {
        self.note(context, Event::Bar(*bar));
    }

    fn gap(&mut self, context: &mut Context, gap: Gap) {
        self.note(context, Event::Gap(gap));
    }

    fn stop(&mut self, context: &mut Context) {
        self.note(context, Event::Stop);
    }
}

pub(crate) fn setup() -> Setup {
    Harness::<Probe>::setup()
}

pub(crate) fn probe(setup: Setup, script: Script) -> Harness<Probe> {
    Harness::with(Parameters { script: Some(script) }, setup).unwrap()
}

/// Listens only.
pub(crate) fn listener(setup: Setup) -> Harness<Probe> {
    probe(setup, |_, _| {})
}

/// Started, with one instrument.
pub(crate) fn started(script: Script) -> (Harness<Probe>, InstrumentId) {
    let mut harness = probe(setup(), script);
    let instrument = harness.list("A", "0.01", 1);
    harness.start();
    (harness, instrument)
}

/// Buys 10 at every quote, at its ask.
pub(crate) fn buy_at_quotes(context: &mut Context, event: &Event) {
    if let Event::Quote(quote) = event {
        let _ = context.buy(quote.instrument, quote.asks[0].price, Quantity(10));
    }
}

pub(crate) fn trade_print(instrument: InstrumentId, due: u64, event_time: u64) -> TradePrint {
    TradePrint {
        instrument,
        aggressor: Aggressor::Buy,
        reserved: [0; 3],
        due: Nanos(due),
        event_time: Nanos(event_time),
        sequence: 1,
        price: Price(1),
        quantity: Quantity(1),
        trade_id: 1,
    }
}

pub(crate) fn update(
    order_id: OrderId,
    instrument: InstrumentId,
    status: OrderStatus,
    execution: u64,
) -> OrderUpdate {
    OrderUpdate {
        order_id,
        instrument,
        side: Side::Buy,
        status,
        reason: Reason::None,
        reserved: 0,
        price: Price(100),
        quantity: Quantity(10),
        filled: Quantity(0),
        remaining: Quantity(if status.is_final() { 0 } else { 10 }),
        event_time: Nanos(0),
        execution,
        answered_up_to: 0,
        refused_request: 0,
        reported_up_to: 0,
    }
}

pub(crate) fn fill(order_id: OrderId, instrument: InstrumentId, quantity: i64, execution: u64) -> Fill {
    Fill {
        order_id,
        trade_id: 1,
        instrument,
        side: Side::Buy,
        liquidity: Liquidity::Maker,
        reserved: [0; 2],
        price: Price(100),
        quantity: Quantity(quantity),
        remaining: Quantity(0),
        event_time: Nanos(0),
        execution,
        answered_up_to: 0,
    }
}

/// What the ledger says to a strategy that starts.
#[derive(Clone, Copy)]
pub(crate) struct Snapshot<'a> {
    pub(crate) number: u64,
    pub(crate) generation: u64,
    pub(crate) execution: u64,
    pub(crate) strategy: StrategyId,
    pub(crate) positions: &'a [(InstrumentId, i64)],
    pub(crate) orders: &'a [OrderUpdate],
    pub(crate) quotes: &'a [Quote],
}

pub(crate) const SNAPSHOT: Snapshot<'static> = Snapshot {
    number: 1,
    generation: 1,
    execution: 1_000,
    strategy: StrategyId(7),
    positions: &[],
    orders: &[],
    quotes: &[],
};

impl Snapshot<'_> {
    pub(crate) fn topic(&self) -> u32 {
        SnapshotBegin::topic_of(self.strategy)
    }

    pub(crate) fn begin(&self, harness: &mut Harness<Probe>) {
        let begin = SnapshotBegin {
            snapshot: self.number,
            execution: self.execution,
            strategy: self.strategy,
            reserved: [0; 3],
            generation: self.generation,
            trade: 0,
        };
        assert!(harness.send(Role::State, self.topic(), &begin));
    }

    pub(crate) fn body(&self, harness: &mut Harness<Probe>) {
        for &(instrument, quantity) in self.positions {
            let state = PositionState {
                strategy: self.strategy,
                reserved: 0,
                instrument,
                position: Quantity(quantity),
                average_price: Price(2 * Price::ONE),
                realised: Money(5 * Money::ONE),
                unrealised: Money(0),
                mark_price: Price::NONE,
                bought: Quantity(quantity.max(0)),
                sold: Quantity((-quantity).max(0)),
                fills: 1,
                orders: 1,
                // Nothing that was closed brought this; the average price says the rest.
                cash: WideMoney::from_wide(i128::from(5 - 2 * quantity) * i128::from(Price::ONE)),
            };
            harness.send(Role::State, self.topic(), &state);
        }
        for order in self.orders {
            harness.send(Role::State, self.topic(), order);
        }
        for quote in self.quotes {
            harness.send(Role::State, self.topic(), quote);
        }
    }

    pub(crate) fn end(&self, harness: &mut Harness<Probe>) {
        let frames = self.positions.len() + self.orders.len() + self.quotes.len();
        let end = SnapshotEnd {
            snapshot: self.number,
            frames: frames as u64,
            strategy: self.strategy,
            reserved: [0; 3],
            generation: self.generation,
        };
        harness.send(Role::State, self.topic(), &end);
    }

    pub(crate) fn give(&self, harness: &mut Harness<Probe>) {
        self.begin(harness);
        self.body(harness);
        self.end(harness);
    }
}
