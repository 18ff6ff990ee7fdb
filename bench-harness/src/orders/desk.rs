//! What td's core takes for an order where accounts are kept: by the number of accounts, and with each check switched off.
//!
//! As with the checks of strategies: blocks in turn, medians of blocks, differences of two blocks side by side. The orders of a
//! block go round all accounts, so with many accounts each finds its account in memory and not in a cache.

use std::time::Instant;

use accounts::{Entry, Follower, Options};
use bench_kit::Spread;
use serde::{Deserialize, Serialize};
use td::{Allowed, Decision, Gate, Gateway, GatewayOptions, Limits};
use topology::config::{AccountConfig, Decimal, DeskConfig, DeskLimits, MarginConfig, Rate, SwitchedCheck};
use topology::desk;
use wire::{AccountId, Message, Nanos, NewOrder, OrderId, OrderStatus, OrderUpdate, Price, Quantity, Reason};

use super::checks::{BLOCK, CheckRow, INSTRUMENT, STRATEGY, instrument, order, rounded};
use crate::ipc::IpcError;

/// What an order takes with accounts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeskChecks {
    /// All limits and all checks, by the number of accounts.
    pub accounts: Vec<DeskRow>,
    /// Each check switched off, with one account.
    pub rows: Vec<CheckRow>,
}

/// So many accounts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeskRow {
    /// How many.
    pub accounts: u32,
    /// What an order takes in all: read, checked by td and by the desk, booked as working.
    pub all_ns: f64,
    /// What the desk adds to a gateway without accounts: the median of the differences side by side.
    pub desk_ns: f64,
}

/// A check of the desk that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Without {
    Nothing,
    Switch(SwitchedCheck),
    Limit(&'static str),
}

const LIMITS: [&str; 8] = [
    "position",
    "gross_notional",
    "order_quantity",
    "order_notional",
    "order_rate",
    "message_rate",
    "open_orders",
    "runaway_rate",
];
const SWITCHES: [SwitchedCheck; 4] =
    [SwitchedCheck::Money, SwitchedCheck::PriceBand, SwitchedCheck::SelfTrade, SwitchedCheck::ShortSale];

/// Measures.
///
/// # Errors
/// [`IpcError::Peer`]: td refused an order, so no figure means anything.
pub(super) fn measure(numbers: &[u32], blocks: usize) -> Result<DeskChecks, IpcError> {
    let mut lanes = vec![(String::new(), 0, Lane::new(0, Without::Nothing)?, Vec::new())];
    for &accounts in numbers {
        lanes.push((String::new(), accounts, Lane::new(accounts, Without::Nothing)?, Vec::new()));
    }
    let base = lanes.len();
    lanes.push((String::new(), 1, Lane::new(1, Without::Nothing)?, Vec::new()));
    for switch in SWITCHES {
        lanes.push((switch.to_string(), 1, Lane::new(1, Without::Switch(switch))?, Vec::new()));
    }
    for limit in LIMITS {
        lanes.push((limit.to_owned(), 1, Lane::new(1, Without::Limit(limit))?, Vec::new()));
    }
    for round in 0..blocks + blocks / 10 {
        for (_, _, lane, times) in &mut lanes {
            let took = lane.block()?;
            if round >= blocks / 10 {
                times.push(took);
            }
        }
    }
    let median = |times: &[f64]| Spread::of(times.iter().copied()).map_or(0.0, |spread| spread.median);
    let difference = |with: &[f64], without: &[f64]| {
        rounded(median(&with.iter().zip(without).map(|(with, without)| with - without).collect::<Vec<f64>>()))
    };
    let bare = lanes[0].3.clone();
    let all = lanes[base].3.clone();
    let accounts = lanes[1..base].iter().map(|(_, accounts, _, times)| DeskRow {
        accounts: *accounts,
        all_ns: rounded(median(times)),
        desk_ns: difference(times, &bare),
    });
    let rows = lanes[base + 1..].iter().map(|(name, _, _, times)| CheckRow {
        check: name.clone(),
        without_ns: rounded(median(times)),
        price_ns: difference(&all, times),
    });
    Ok(DeskChecks { accounts: accounts.collect(), rows: rows.collect() })
}

/// A gateway and its next block.
#[derive(Debug)]
struct Lane {
    gateway: Gateway,
    orders: Vec<NewOrder>,
    accounts: u32,
    sequence: u32,
    position: u64,
}

fn limits(without: Without) -> DeskLimits {
    let is_set = |name| without != Without::Limit(name);
    let rate = Rate { number: 1_000_000_000, burst: 1_000_000_000 };
    let money = Decimal(1_000_000_000_000 * Decimal::ONE);
    DeskLimits {
        position: is_set("position").then_some(1_000_000_000),
        gross_notional: is_set("gross_notional").then_some(money),
        order_quantity: is_set("order_quantity").then_some(1_000_000),
        order_notional: is_set("order_notional").then_some(money),
        order_rate: is_set("order_rate").then_some(rate),
        message_rate: is_set("message_rate").then_some(rate),
        open_orders: is_set("open_orders").then_some(1_000_000),
        runaway_rate: is_set("runaway_rate").then_some(rate),
        loss: Some(money),
        reject_rate: Some(rate),
        ..DeskLimits::default()
    }
}

fn desk_of(accounts: u32, without: Without) -> (DeskConfig, Vec<AccountConfig>) {
    let margin = MarginConfig {
        long: Decimal(Decimal::ONE / 10),
        short: Decimal(Decimal::ONE / 10),
        ..MarginConfig::default()
    };
    let config = DeskConfig {
        enabled: true,
        most_accounts: accounts.max(1),
        margins: vec![margin],
        limits: limits(without),
        without: match without {
            Without::Switch(check) => vec![check],
            _ => Vec::new(),
        },
        ..DeskConfig::default()
    };
    let account = |number| AccountConfig {
        number,
        deposit: Decimal(1_000_000_000 * Decimal::ONE),
        limits: limits(without),
        ..AccountConfig::default()
    };
    (config, (1..=accounts).map(account).collect())
}

impl Lane {
    /// Without accounts where `accounts` is zero.
    fn new(accounts: u32, without: Without) -> Result<Lane, IpcError> {
        let failed = |error: &dyn std::fmt::Display| IpcError::Peer(format!("(td): {error}"));
        let mut gateway = Gateway::new(GatewayOptions { price_band: 0.1 }).map_err(|error| failed(&error))?;
        gateway.on_instrument(&instrument()).map_err(|error| failed(&error))?;
        let limits = Limits {
            max_order_quantity: Quantity(1_000_000),
            max_working_orders: 2 * BLOCK as u32,
            max_position: Quantity(1_000_000_000),
        };
        gateway.strategy_started(STRATEGY, limits).map_err(|error| failed(&error))?;
        if accounts > 0 {
            let (config, opened) = desk_of(accounts, without);
            let options = Options { remembered: config.remembered };
            let mut gate = Gate::new(Follower::new(options), accounts);
            for entry in desk::opening(&config, &opened, |_| None) {
                let entry = Entry::decode(entry.id(), entry.bytes()).map_err(|error| failed(&error))?;
                gate.entry(&entry).map_err(|error| failed(&error))?;
            }
            let terms = Entry::Terms(desk::terms(&config, &topology::Market::default(), &instrument()));
            gate.entry(&terms).map_err(|error| failed(&error))?;
            gate.allow(STRATEGY, Allowed::All);
            gateway.keep_accounts(gate);
        }
        Ok(Lane { gateway, orders: vec![order(0); BLOCK], accounts, sequence: 0, position: 0 })
    }

    /// Nanoseconds an order.
    fn block(&mut self) -> Result<f64, IpcError> {
        for order in &mut self.orders {
            self.sequence += 1;
            order.order_id = OrderId::new(STRATEGY, 1, self.sequence);
            if self.accounts > 0 {
                // In no order that a processor could guess.
                let place = u64::from(self.sequence).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
                order.account = AccountId((place % u64::from(self.accounts)) as u32 + 1);
            }
        }
        let mut sent = 0;
        let begun = Instant::now();
        for order in &self.orders {
            let now = Nanos(u64::from(self.sequence) * 1_000);
            let decision = self.gateway.take_at(STRATEGY, NewOrder::ID, order.bytes(), now);
            sent += usize::from(matches!(decision, Decision::Send(_)));
        }
        let took = begun.elapsed().as_nanos() as f64 / BLOCK as f64;
        for order in &self.orders {
            self.position += 64;
            let end = OrderUpdate {
                side: order.side,
                price: Price(99 * Price::ONE),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_of_the_desk_has_a_price_and_no_order_is_refused() {
        let checks = measure(&[1, 50], 3).unwrap();
        assert_eq!(checks.accounts.iter().map(|row| row.accounts).collect::<Vec<_>>(), [1, 50]);
        assert!(checks.accounts.iter().all(|row| row.all_ns > 0.0));
        assert_eq!(checks.rows.len(), SWITCHES.len() + LIMITS.len());
        assert!(checks.rows.iter().all(|row| row.without_ns > 0.0), "{checks:?}");
    }
}
