//! Strategies, and what td is told about them.

use std::time::Duration;

use serde_json::Value as Json;

use super::journals::journal_of;
use super::{Builder, json};
use crate::config::{Fill, PlatformConfig, StrategyGroup, Wake};
use crate::market::Market;
use crate::services::{self, NodeKind, Service};
use crate::spec::{
    DeskSection, LedgerSection, NodeSpec, Program, StrategyLimits, StrategySection, TdSection,
};

/// What td is told.
pub(crate) fn td_section(config: &PlatformConfig) -> Json {
    json(TdSection {
        config: config.td.clone(),
        lock_step_limit: config.platform.lock_step_limit,
        ticks: match config.matching.fill {
            Fill::Exchange => config.matching.ticks.clone(),
            Fill::Book | Fill::Quotes | Fill::External => Vec::new(),
        },
        desk: desk_section(config),
        strategies: limits(config),
    })
}

/// What the ledger is told.
pub(crate) fn ledger_section(config: &PlatformConfig) -> Json {
    json(LedgerSection { config: config.ledger.clone(), desk: desk_section(config) })
}

pub(super) fn desk_section(config: &PlatformConfig) -> Option<DeskSection> {
    config.keeps_accounts().then(|| DeskSection {
        config: config.desk.clone(),
        accounts: config.accounts.clone(),
        market: Market::default(),
    })
}

/// What td keeps each strategy to, by seat.
fn limits(config: &PlatformConfig) -> Vec<StrategyLimits> {
    let (td, mut seat) = (&config.td, Service::standard_count());
    let reports_of = |kind: NodeKind, name: &str| match services::reports_family(kind) {
        Some(family) => journal_of(family, name),
        None => String::new(),
    };
    let mut limits = Vec::new();
    for group in &config.strategies {
        for number in 1..=group.count {
            let name = format!("{}-{number}", group.name);
            let (reports, reports_topic) = match &group.host {
                Some(host) => (reports_of(NodeKind::Host, &host.name), u32::from(seat)),
                None => (reports_of(NodeKind::Strategy, &name), 0),
            };
            limits.push(StrategyLimits {
                name,
                reports,
                reports_topic,
                seat,
                recorders: Vec::new(),
                max_order_quantity: group.limits.max_order_quantity.unwrap_or(td.max_order_quantity),
                max_working_orders: group.limits.max_working_orders.unwrap_or(td.max_working_orders),
                max_position: group.limits.max_position.unwrap_or(td.max_position),
                accounts: group.accounts.clone(),
                orders_stay: false,
                cancel_on_stop: false,
            });
            seat = seat.saturating_add(1);
        }
    }
    if let Some(gateway) = &config.gateway {
        let name = NodeKind::Gateway.to_string();
        limits.push(StrategyLimits {
            reports: reports_of(NodeKind::Gateway, &name),
            name,
            reports_topic: 0,
            seat,
            recorders: Vec::new(),
            max_order_quantity: gateway.limits.max_order_quantity.unwrap_or(td.max_order_quantity),
            max_working_orders: gateway.limits.max_working_orders.unwrap_or(td.max_working_orders),
            max_position: gateway.limits.max_position.unwrap_or(td.max_position),
            accounts: gateway.accounts.clone(),
            orders_stay: true,
            cancel_on_stop: gateway.cancel_on_stop,
        });
    }
    limits
}

impl Builder<'_> {
    /// A node for each strategy.
    pub(super) fn strategies(&mut self) {
        let config = self.config;
        let mut index = 0;
        for group in &config.strategies {
            for number in 0..group.count {
                self.strategy(group, index, number);
                index += 1;
            }
        }
    }

    fn strategy(&mut self, group: &StrategyGroup, index: u32, index_in_group: u32) {
        let name = format!("{}-{}", group.name, index_in_group + 1);
        let builtin = group.program.strip_prefix("builtin:").map(str::to_owned);
        let program =
            builtin.clone().map_or_else(|| Program::Path(group.program.clone().into()), Program::Builtin);
        let section = json(StrategySection {
            group: group.name.clone(),
            index,
            index_in_group,
            instruments: group.instruments.clone(),
            data: group.data,
            builtin,
            budget: group.budget,
            accounts: group.accounts.listed().to_vec(),
            warm_up: group.warm_up,
            history: group.history.clone(),
        });
        let node = self.node(&name, NodeKind::Strategy, &group.run, group.on_death, program);
        node.group = Some(group.name.clone());
        if let Some(host) = &group.host {
            node.host = Some(host.name.clone());
            node.mode = host.mode;
            node.wake = Wake::Targeted;
        }
        node.stagger = if index_in_group == 0 { Duration::ZERO } else { group.stagger };
        node.section = section;
        node.parameters = group.params.clone();
    }

    /// The readers of reports that need not be woken for each. In lock-step the next event waits for what they cause.
    pub(super) fn reports_may_wait(&mut self) {
        if self.config.is_in_lock_step() {
            return;
        }
        for group in self.config.strategies.iter().filter(|group| !group.wake_within.is_zero()) {
            let reads_them = |node: &NodeSpec| match &group.host {
                Some(host) => node.name == host.name,
                None => node.group.as_ref() == Some(&group.name),
            };
            for node in self.nodes.iter_mut().filter(|node| reads_them(node) && node.mode.sleeps()) {
                let reports = node.reads.iter_mut().filter(|read| read.role == "reports");
                reports.for_each(|read| read.wake_within = group.wake_within);
            }
        }
    }
}
