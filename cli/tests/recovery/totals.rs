//! What the stop reports, against what the journals hold.

use std::collections::BTreeMap;

use serde_json::Value;
use wire::AnyMessage;

use crate::audit::{Announced, Audit};
use crate::witness::Records;

/// What one strategy did.
#[derive(Debug, Default, PartialEq, Eq)]
struct Total {
    orders: u64,
    fills: u64,
    position: i64,
}

impl Audit {
    /// Orders, fills and positions: of each strategy, and of all. A strategy's fills are those that were reported to it.
    pub(crate) fn totals(&mut self, report: &Value, records: &Records, announced: &Announced) {
        let mut seats = BTreeMap::new();
        let mut totals: BTreeMap<String, Total> = BTreeMap::new();
        for (name, frames) in records {
            let Some(strategy) = name.strip_prefix("orders.") else { continue };
            let total = totals.entry(strategy.to_owned()).or_default();
            for frame in frames {
                if let AnyMessage::NewOrder(order) = &frame.message {
                    total.orders += 1;
                    seats.insert(order.order_id.strategy(), strategy.to_owned());
                }
            }
        }
        for frame in &records["matching.executions"] {
            if let AnyMessage::Fill(fill) = &frame.message
                && let Some(strategy) = seats.get(&fill.order_id.strategy())
            {
                let total = totals.entry(strategy.clone()).or_default();
                total.fills += 1;
                total.position += fill.side.sign() * fill.quantity.0;
            }
        }
        let number = |value: &Value, name: &str| value[name].as_u64().unwrap_or(u64::MAX);
        let all: Total = totals.values().fold(Total::default(), |sum, total| Total {
            orders: sum.orders + total.orders,
            fills: sum.fills + total.fills,
            position: 0,
        });
        let reported =
            Total { orders: number(report, "orders"), fills: number(report, "fills"), position: 0 };
        self.check(reported == all, || format!("`down` reports {reported:?}, the journals hold {all:?}"));
        for strategy in report["strategies"].as_array().into_iter().flatten() {
            let name = strategy["name"].as_str().unwrap_or_default();
            let reported = Total {
                orders: number(strategy, "orders"),
                fills: number(strategy, "fills"),
                position: strategy["position"].as_i64().unwrap_or(i64::MAX),
            };
            let held = totals.get(name);
            let lost = announced.get(&format!("reports.{name}")).copied().unwrap_or(0) as u64;
            let fits = held.is_some_and(|held| {
                (held.orders, held.position) == (reported.orders, reported.position)
                    && (held.fills.saturating_sub(lost)..=held.fills).contains(&reported.fills)
            });
            self.check(fits, || format!("`down` reports {reported:?} of {name}, the journals hold {held:?}"));
        }
    }
}
