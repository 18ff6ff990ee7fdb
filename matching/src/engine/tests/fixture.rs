//! Short ways to write orders and events; prices and quantities in whole units.

use wire::*;

use crate::engine::{Engine, EngineOptions, FillModel, SelfTrade};

pub(super) const STOCK: InstrumentId = InstrumentId(1);
pub(super) const OTHER: InstrumentId = InstrumentId(2);

pub(super) fn instrument(id: InstrumentId) -> Instrument {
    Instrument {
        id,
        reserved: 0,
        symbol: Symbol::new("TEST").unwrap(),
        tick: Price(1),
        lot: Quantity(1),
        price_low: Price::NONE,
        price_high: Price::NONE,
        reference_price: Price::NONE,
        max_quantity: Quantity(0),
        multiplier: 0,
        currency: wire::Currency::EMPTY,
    }
}

pub(super) fn options(fill: FillModel, self_trade: SelfTrade) -> EngineOptions {
    EngineOptions { fill, self_trade, expected_orders: 0, ..EngineOptions::default() }
}

pub(super) fn engine(fill: FillModel) -> Engine {
    let mut engine = Engine::new(options(fill, SelfTrade::CancelNewest));
    engine.on_instrument(&instrument(STOCK));
    engine.on_instrument(&instrument(OTHER));
    engine
}

/// Order `sequence` of `strategy`.
pub(super) fn id(strategy: u16, sequence: u32) -> OrderId {
    OrderId::new(StrategyId(strategy), 1, sequence)
}

pub(super) fn limit(order_id: OrderId, side: Side, price: i64, quantity: i64) -> NewOrder {
    NewOrder {
        order_id,
        instrument: STOCK,
        side,
        order_type: OrderType::Limit,
        time_in_force: TimeInForce::Day,
        flags: 0,
        price: Price(price),
        quantity: Quantity(quantity),
        cause: Cause::NONE,
        account: AccountId::OWN,
        display_lots: 0,
        trigger: Price::ZERO,
        minimum_lots: 0,
        ends_s: 0,
    }
}

pub(super) fn with(order: NewOrder, time_in_force: TimeInForce) -> NewOrder {
    NewOrder { time_in_force, ..order }
}

pub(super) fn market(order_id: OrderId, side: Side, quantity: i64) -> NewOrder {
    NewOrder { order_type: OrderType::Market, ..limit(order_id, side, 0, quantity) }
}

pub(super) fn replace(order_id: OrderId, price: i64, quantity: i64) -> ReplaceOrder {
    ReplaceOrder { order_id, instrument: STOCK, source: 0, price: Price(price), quantity: Quantity(quantity) }
}

pub(super) fn event(action: BookAction, order_ref: u64, side: Side, price: i64, quantity: i64) -> BookEvent {
    BookEvent {
        instrument: STOCK,
        action,
        side,
        flags: BookEvent::LAST,
        order_ref,
        price: Price(price),
        quantity: Quantity(quantity),
        event_time: Nanos(77),
        sequence: 0,
        reserved: 0,
    }
}

pub(super) fn add(order_ref: u64, side: Side, price: i64, quantity: i64) -> BookEvent {
    event(BookAction::Add, order_ref, side, price, quantity)
}

pub(super) fn quote(bids: &[(i64, i64)], asks: &[(i64, i64)]) -> Quote {
    let mut quote = Quote::empty(STOCK);
    quote.event_time = Nanos(88);
    for (shown, levels) in [(&mut quote.bids, bids), (&mut quote.asks, asks)] {
        for (level, &(price, quantity)) in shown.iter_mut().zip(levels) {
            *level = Level { price: Price(price), quantity: Quantity(quantity) };
        }
    }
    quote
}

pub(super) fn print(aggressor: Aggressor, price: i64, quantity: i64) -> TradePrint {
    TradePrint {
        instrument: STOCK,
        aggressor,
        reserved: [0; 3],
        due: Nanos(0),
        event_time: Nanos(99),
        sequence: 0,
        price: Price(price),
        quantity: Quantity(quantity),
        trade_id: 0,
    }
}

/// Anything that can be put into an engine.
#[allow(clippy::large_enum_variant, reason = "a test holds a few hundred of them")]
#[derive(Clone, Copy, Debug)]
pub(super) enum Input {
    New(NewOrder),
    Cancel(CancelOrder),
    Replace(ReplaceOrder),
    CancelAll(CancelAll),
    Event(BookEvent),
    Quote(Quote),
    Print(TradePrint),
    Phase(MarketPhase),
    /// Nothing more comes of the latest instant.
    EndOfInstant,
}

pub(super) fn phase_of(instrument: InstrumentId, phase: TradingPhase) -> Input {
    Input::Phase(MarketPhase { instrument, phase, reserved: [0; 3], event_time: Nanos(66), sequence: 0 })
}

pub(super) fn feed(engine: &mut Engine, input: &Input) -> Vec<Execution> {
    let mut answers = Vec::new();
    match input {
        Input::New(request) => engine.new_order(request, &mut answers),
        Input::Cancel(request) => engine.cancel(request, &mut answers),
        Input::Replace(request) => engine.replace(request, &mut answers),
        Input::CancelAll(request) => engine.cancel_all(request, &mut answers),
        Input::Event(event) => engine.on_book_event(event, &mut answers),
        Input::Quote(quote) => engine.on_quote(quote, &mut answers),
        Input::Print(print) => engine.on_trade_print(print, &mut answers),
        Input::Phase(phase) => engine.on_phase(phase, &mut answers),
        Input::EndOfInstant => {
            engine.end_instants(Nanos(u64::MAX), &mut answers);
        }
    }
    super::invariants::check(engine);
    answers
}

/// Puts one order in, and answers with [`said`].
pub(super) fn enter(engine: &mut Engine, order: NewOrder) -> Vec<String> {
    said(&feed(engine, &Input::New(order)))
}

pub(super) fn history(engine: &mut Engine, event: BookEvent) -> Vec<String> {
    said(&feed(engine, &Input::Event(event)))
}

/// The answers as one line each: `7-1: 30 @ 100 taker`, `7-1: filled`, `7-1: cancelled no-liquidity`.
/// A mass cancel of a strategy, under a number that no order has.
pub(super) fn cancel_all(strategy: u16) -> CancelAll {
    CancelAll::new(id(strategy, u32::MAX))
}

/// The same of one instrument and one side.
pub(super) fn cancel_some(strategy: u16, instrument: InstrumentId, side: Side) -> CancelAll {
    CancelAll { instrument, side, flags: CancelAll::OF_SIDE, ..cancel_all(strategy) }
}

pub(super) fn said(answers: &[Execution]) -> Vec<String> {
    let name = |id: OrderId| format!("{}-{}", id.strategy().0, id.sequence());
    answers
        .iter()
        .map(|answer| match answer {
            Execution::Fill(fill) => {
                format!("{}: {} @ {} {}", name(fill.order_id), fill.quantity, fill.price.0, fill.liquidity)
            }
            Execution::Update(update) if update.reason == Reason::None => {
                format!("{}: {}", name(update.order_id), update.status)
            }
            Execution::Update(update) => {
                format!("{}: {} {}", name(update.order_id), update.status, update.reason)
            }
        })
        .collect()
}
