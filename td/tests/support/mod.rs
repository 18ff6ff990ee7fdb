//! Messages with everything filled in, for all tests of the gateway.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub(crate) mod market;

use td::{Counters, Gateway, GatewayOptions, Limits};
use wire::*;

pub(crate) const ME: StrategyId = StrategyId(7);
pub(crate) const OTHER: StrategyId = StrategyId(8);
pub(crate) const STOCK: InstrumentId = InstrumentId(1);

/// Tick 0.01, lot 100, reference price 10, no limits of its own.
pub(crate) fn instrument(id: u32) -> Instrument {
    Instrument {
        id: InstrumentId(id),
        reserved: 0,
        symbol: Symbol::new(&format!("S{id}")).unwrap(),
        tick: Price(10_000_000),
        lot: Quantity(100),
        price_low: Price::NONE,
        price_high: Price::NONE,
        reference_price: price("10"),
        max_quantity: Quantity(0),
        multiplier: 0,
        currency: wire::Currency::EMPTY,
    }
}

pub(crate) fn price(text: &str) -> Price {
    text.parse().unwrap()
}

/// One instrument, two strategies with these limits, a band of ten per cent.
pub(crate) fn gateway(limits: Limits) -> Gateway {
    let mut gateway = Gateway::new(GatewayOptions { price_band: 0.1 }).unwrap();
    gateway.on_instrument(&instrument(1)).unwrap();
    gateway.strategy_started(ME, limits).unwrap();
    gateway.strategy_started(OTHER, limits).unwrap();
    gateway
}

pub(crate) fn order(sequence: u32, side: Side, quantity: i64) -> NewOrder {
    NewOrder {
        order_id: OrderId::new(ME, 1, sequence),
        instrument: STOCK,
        side,
        order_type: OrderType::Limit,
        time_in_force: TimeInForce::Day,
        flags: 0,
        price: price("10"),
        quantity: Quantity(quantity),
        cause: Cause::NONE,
        account: AccountId::OWN,
        display_lots: 0,
        trigger: Price::ZERO,
        minimum_lots: 0,
        ends_s: 0,
    }
}

pub(crate) fn replace(order: &NewOrder, quantity: i64) -> ReplaceOrder {
    ReplaceOrder {
        order_id: order.order_id,
        instrument: order.instrument,
        source: 0,
        price: order.price,
        quantity: Quantity(quantity),
    }
}

pub(crate) fn cancel(order: &NewOrder) -> CancelOrder {
    CancelOrder::new(order.order_id, order.instrument)
}

pub(crate) fn update(order: &NewOrder, status: OrderStatus, filled: i64) -> OrderUpdate {
    let remaining = if status.is_final() { 0 } else { order.quantity.0 - filled };
    OrderUpdate {
        order_id: order.order_id,
        instrument: order.instrument,
        side: order.side,
        status,
        reason: Reason::None,
        reserved: 0,
        price: order.price,
        quantity: order.quantity,
        filled: Quantity(filled),
        remaining: Quantity(remaining),
        event_time: Nanos(0),
        execution: 0,
        answered_up_to: 0,
        refused_request: 0,
        reported_up_to: 0,
    }
}

pub(crate) fn fill(order: &NewOrder, quantity: i64, remaining: i64) -> Fill {
    Fill {
        order_id: order.order_id,
        trade_id: 1,
        instrument: order.instrument,
        side: order.side,
        liquidity: Liquidity::Maker,
        reserved: [0; 2],
        price: order.price,
        quantity: Quantity(quantity),
        remaining: Quantity(remaining),
        event_time: Nanos(0),
        execution: 0,
        answered_up_to: 0,
    }
}

/// Every order that came in has ended or works.
pub(crate) fn is_accounted(counters: &Counters, working: usize) -> bool {
    counters.orders == counters.rejected.total() + counters.filled + counters.cancelled + working as u64
}
