//! What td's core takes for an order, in this process: with all limits, and with each switched off.
//!
//! A block of orders goes through the gateway and is timed as a whole; then each ends, untimed, so that the next block finds
//! the table as the one before did. Gateways take turns block by block, and each figure is the median of its blocks.

use std::time::Instant;

use bench_kit::Spread;
use serde::{Deserialize, Serialize};
use td::{Decision, Gateway, GatewayOptions, Limits};
use wire::{
    AccountId, Cause, Instrument, InstrumentId, Message, NewOrder, OrderId, OrderStatus, OrderType,
    OrderUpdate, Price, Quantity, Reason, Side, StrategyId, Symbol, TimeInForce,
};

use crate::ipc::IpcError;

/// Orders of a block.
pub(super) const BLOCK: usize = 256;
pub(super) const STRATEGY: StrategyId = StrategyId(7);
pub(super) const INSTRUMENT: InstrumentId = InstrumentId(1);

/// What td's core takes for one order: its bytes read, checked, booked as working.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checks {
    /// All limits set.
    pub all_ns: f64,
    /// None of those that can be left out.
    pub none_ns: f64,
    /// Blocks of each figure.
    pub blocks: usize,
    /// Orders of a block.
    pub block: usize,
    /// Each switched off.
    pub rows: Vec<CheckRow>,
}

/// One check that can be switched off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckRow {
    /// Its key in `[td]`.
    pub check: String,
    /// What an order takes without it.
    pub without_ns: f64,
    /// What it takes: the median of the differences of two blocks side by side. Below zero when it is less than the clock
    /// can tell.
    pub price_ns: f64,
}

/// What is switched on.
#[derive(Clone, Copy, Debug)]
struct On {
    band: bool,
    quantity: bool,
    working: bool,
    position: bool,
}

const ALL: On = On { band: true, quantity: true, working: true, position: true };
const NONE: On = On { band: false, quantity: false, working: false, position: false };

/// Measures.
///
/// # Errors
/// [`IpcError::Peer`]: td refused an order, so no figure means anything.
pub(super) fn measure(blocks: usize) -> Result<Checks, IpcError> {
    let variants: [(Option<&str>, On); 6] = [
        (None, ALL),
        (Some("price_band"), On { band: false, ..ALL }),
        (Some("max_order_quantity"), On { quantity: false, ..ALL }),
        (Some("max_working_orders"), On { working: false, ..ALL }),
        (Some("max_position"), On { position: false, ..ALL }),
        (None, NONE),
    ];
    let mut lanes = Vec::with_capacity(variants.len());
    for (name, on) in variants {
        lanes.push((name, Lane::new(on)?, Vec::with_capacity(blocks)));
    }
    for round in 0..blocks + blocks / 10 {
        for (_, lane, times) in &mut lanes {
            let took = lane.block()?;
            // The first are for caches and branch tables.
            if round >= blocks / 10 {
                times.push(took);
            }
        }
    }
    let median = |times: &[f64]| Spread::of(times.iter().copied()).map_or(0.0, |spread| spread.median);
    let all = lanes[0].2.clone();
    let row = |(name, _, times): &(Option<&str>, Lane, Vec<f64>)| {
        let differences: Vec<f64> = all.iter().zip(times).map(|(all, without)| all - without).collect();
        name.map(|name| CheckRow {
            check: name.to_owned(),
            without_ns: rounded(median(times)),
            price_ns: rounded(median(&differences)),
        })
    };
    Ok(Checks {
        all_ns: rounded(median(&all)),
        none_ns: rounded(lanes.last().map_or(0.0, |(_, _, times)| median(times))),
        blocks,
        block: BLOCK,
        rows: lanes.iter().filter_map(row).collect(),
    })
}

pub(super) fn rounded(nanos: f64) -> f64 {
    (nanos * 10.0).round() / 10.0
}

/// A gateway and its next block.
#[derive(Debug)]
struct Lane {
    gateway: Gateway,
    orders: Vec<NewOrder>,
    sequence: u32,
    position: u64,
}

impl Lane {
    fn new(on: On) -> Result<Lane, IpcError> {
        let failed = |error: &dyn std::fmt::Display| IpcError::Peer(format!("(td): {error}"));
        let band = if on.band { 0.1 } else { 0.0 };
        let mut gateway =
            Gateway::new(GatewayOptions { price_band: band }).map_err(|error| failed(&error))?;
        gateway.on_instrument(&instrument()).map_err(|error| failed(&error))?;
        let limits = Limits {
            max_order_quantity: Quantity(if on.quantity { 1_000_000 } else { 0 }),
            max_working_orders: if on.working { 2 * BLOCK as u32 } else { 0 },
            max_position: Quantity(if on.position { 1_000_000_000 } else { 0 }),
        };
        gateway.strategy_started(STRATEGY, limits).map_err(|error| failed(&error))?;
        Ok(Lane { gateway, orders: vec![order(0); BLOCK], sequence: 0, position: 0 })
    }

    /// Nanoseconds an order.
    fn block(&mut self) -> Result<f64, IpcError> {
        for order in &mut self.orders {
            self.sequence += 1;
            order.order_id = OrderId::new(STRATEGY, 1, self.sequence);
        }
        let mut sent = 0;
        let begun = Instant::now();
        for order in &self.orders {
            let decision = self.gateway.take(STRATEGY, NewOrder::ID, order.bytes());
            sent += usize::from(matches!(decision, Decision::Send(_)));
        }
        let took = begun.elapsed().as_nanos() as f64 / BLOCK as f64;
        for order in &self.orders {
            self.position += 1;
            let end = OrderUpdate {
                side: order.side,
                quantity: order.quantity,
                ..OrderUpdate::about(order.order_id, INSTRUMENT, OrderStatus::Cancelled, Reason::Requested)
            };
            let _ = self.gateway.on_update(self.position, &end);
        }
        if sent < BLOCK || self.gateway.working_orders(STRATEGY) > 0 {
            return Err(IpcError::Peer(format!("(td) sent {sent} of {BLOCK} orders")));
        }
        Ok(took)
    }
}

pub(super) fn instrument() -> Instrument {
    Instrument {
        id: INSTRUMENT,
        reserved: 0,
        symbol: Symbol::new("SIM001").unwrap_or_default(),
        tick: Price(Price::ONE / 100),
        lot: Quantity(100),
        price_low: Price::NONE,
        price_high: Price::NONE,
        reference_price: Price(100 * Price::ONE),
        max_quantity: Quantity(0),
        multiplier: 0,
        currency: wire::Currency::EMPTY,
    }
}

pub(super) fn order(sequence: u32) -> NewOrder {
    NewOrder {
        order_id: OrderId::new(STRATEGY, 1, sequence),
        instrument: INSTRUMENT,
        side: Side::Buy,
        order_type: OrderType::Limit,
        time_in_force: TimeInForce::ImmediateOrCancel,
        flags: 0,
        price: Price(99 * Price::ONE),
        quantity: Quantity(100),
        cause: Cause::NONE,
        account: AccountId::OWN,
        display_lots: 0,
        trigger: Price::ZERO,
        minimum_lots: 0,
        ends_s: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_that_can_be_switched_off_has_a_price_and_no_order_is_refused() {
        let checks = measure(3).unwrap();
        let names: Vec<&str> = checks.rows.iter().map(|row| row.check.as_str()).collect();
        assert_eq!(names, ["price_band", "max_order_quantity", "max_working_orders", "max_position"]);
        assert!(checks.all_ns > 0.0 && checks.none_ns > 0.0);
        assert!(checks.rows.iter().all(|row| row.without_ns > 0.0), "{checks:?}");
    }

    #[test]
    fn what_is_switched_on_is_checked() {
        let refused = |on: On, change: fn(&mut NewOrder)| {
            let mut lane = Lane::new(on).unwrap();
            let mut order = order(1);
            change(&mut order);
            matches!(lane.gateway.take(STRATEGY, NewOrder::ID, order.bytes()), Decision::Answer(_))
        };
        let far: fn(&mut NewOrder) = |order| order.price = Price(50 * Price::ONE);
        let large: fn(&mut NewOrder) = |order| order.quantity = Quantity(2_000_000);
        let larger: fn(&mut NewOrder) = |order| order.quantity = Quantity(2_000_000_000);
        assert!(refused(ALL, far) && !refused(On { band: false, ..ALL }, far));
        assert!(refused(ALL, large) && !refused(On { quantity: false, ..ALL }, large));
        assert!(refused(On { quantity: false, ..ALL }, larger) && !refused(NONE, larger));
    }
}
