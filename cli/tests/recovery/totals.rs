//! What the stop reports, against what the journals hold: every total, of each strategy and of all.

use std::collections::BTreeMap;

use serde_json::Value;
use wire::{AnyMessage, OrderStatus, StrategyId};

use crate::audit::Audit;
use crate::witness::Records;

/// The totals of the platform.
const NAMES: [&str; 10] = [
    "quotes",
    "trades",
    "book_events",
    "orders",
    "rejected",
    "cancels",
    "cancels_rejected",
    "replaces",
    "replaces_rejected",
    "fills",
];
/// Those that the market makes.
const OF_MARKET: usize = 3;

type Totals = BTreeMap<&'static str, u64>;

/// What the journals hold.
#[derive(Debug, Default)]
struct Held {
    all: Totals,
    /// Its fills are those that it was told of.
    strategies: BTreeMap<StrategyId, Totals>,
    positions: BTreeMap<StrategyId, i64>,
    names: BTreeMap<String, StrategyId>,
}

impl Held {
    fn of(records: &Records) -> Held {
        let mut held = Held::default();
        for (journal, frames) in records {
            for frame in frames {
                held.take(journal, &frame.message);
            }
        }
        held
    }

    fn take(&mut self, journal: &str, message: &AnyMessage) {
        use AnyMessage as M;
        let is_report = journal.starts_with("reports.");
        match message {
            M::Quote(_) if journal.starts_with("md.") => self.count(None, "quotes"),
            M::TradePrint(_) => self.count(None, "trades"),
            M::BookEvent(_) => self.count(None, "book_events"),
            M::NewOrder(order) if journal.starts_with("orders.") => {
                let strategy = order.order_id.strategy();
                self.names.insert(journal["orders.".len()..].to_owned(), strategy);
                self.count(Some(strategy), "orders");
            }
            M::CancelOrder(cancel) if journal.starts_with("orders.") => {
                self.count(Some(cancel.order_id.strategy()), "cancels");
            }
            M::ReplaceOrder(replace) if journal.starts_with("orders.") => {
                self.count(Some(replace.order_id.strategy()), "replaces");
            }
            M::OrderUpdate(update) if is_report => {
                let refused = match update.status {
                    OrderStatus::Rejected => "rejected",
                    OrderStatus::CancelRejected => "cancels_rejected",
                    OrderStatus::ReplaceRejected => "replaces_rejected",
                    _ => return,
                };
                self.count(Some(update.order_id.strategy()), refused);
            }
            M::Fill(fill) if is_report => {
                let strategy = self.strategies.entry(fill.order_id.strategy()).or_default();
                *strategy.entry("fills").or_default() += 1;
            }
            // The drop copy has them once more.
            M::Fill(fill) if journal == "matching.executions" => {
                *self.all.entry("fills").or_default() += 1;
                *self.positions.entry(fill.order_id.strategy()).or_default() +=
                    fill.side.sign() * fill.quantity.0;
            }
            _ => {}
        }
    }

    fn count(&mut self, strategy: Option<StrategyId>, name: &'static str) {
        *self.all.entry(name).or_default() += 1;
        if let Some(strategy) = strategy {
            *self.strategies.entry(strategy).or_default().entry(name).or_default() += 1;
        }
    }
}

/// The named totals that differ, with what is reported and what is held.
fn differences<'n>(reported: &Value, held: &Totals, names: &'n [&str]) -> Vec<(&'n str, Option<u64>, u64)> {
    let pairs =
        names.iter().map(|name| (*name, reported[*name].as_u64(), held.get(name).copied().unwrap_or(0)));
    pairs.filter(|(_, reported, held)| *reported != Some(*held)).collect()
}

impl Audit {
    /// `status` was asked shortly before `report` was made: its totals are not beyond those of the end.
    pub(crate) fn totals(&mut self, status: &Value, report: &Value, records: &Records) {
        let held = Held::of(records);
        let wrong = differences(report, &held.all, &NAMES);
        self.check(wrong.is_empty(), || format!("`down` reports (total, reported, held): {wrong:?}"));
        for name in NAMES {
            let (before, after) = (status["totals"][name].as_u64(), report[name].as_u64());
            self.check(before.is_some() && before <= after, || {
                format!("`status` reports {before:?} {name}, `down` behind it {after:?}")
            });
        }
        let strategies = report["strategies"].as_array().map_or(&[][..], Vec::as_slice);
        self.check(strategies.len() == held.names.len(), || "a strategy without a report".to_owned());
        for strategy in strategies {
            let name = strategy["name"].as_str().unwrap_or_default();
            let seat = held.names.get(name).copied().unwrap_or_default();
            let none = Totals::new();
            let its = held.strategies.get(&seat).unwrap_or(&none);
            let wrong = differences(strategy, its, &NAMES[OF_MARKET..]);
            self.check(wrong.is_empty(), || {
                format!("`down` reports of {name} (total, reported, held): {wrong:?}")
            });
            let (reported, held) =
                (strategy["position"].as_i64(), held.positions.get(&seat).copied().unwrap_or(0));
            self.check(reported == Some(held), || {
                format!("`down` reports {name}'s position as {reported:?}, its fills make {held}")
            });
        }
    }
}
