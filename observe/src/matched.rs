//! The trades that matching made, and the rules by which it did.

use node::Counter;
use serde::{Deserialize, Serialize};
use topology::config::{
    CallAuctionRule, Fill, Latency, MatchingConfig, Queue, SelfTradeOwner, SelfTradeRule,
};
use topology::{NodeKind, Topology};

use crate::totals::Totals;
use crate::view::SeatView;

/// What came of matching.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Matched {
    /// Trades: with the market, and between two orders of the instance.
    pub trades: u64,
    /// Of those: between two orders of the instance. After a kill of matching, those of what it wrote last may be missing.
    pub own_trades: u64,
    /// `own_trades` as a share of `trades`, 0 to 1; `None` without a trade.
    pub own_share: Option<f64>,
    /// By which rules; `None` where they cannot be read.
    pub rules: Option<Rules>,
}

/// The rules of `[matching]` that a result depends on. Those of a recorded or quoted market are `None` on an exchange.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// What orders traded with.
    pub fill: Fill,
    /// What happened when an owner's orders met.
    pub self_trade: SelfTradeRule,
    /// Who an owner is; `None` at a market outside.
    pub self_trade_owner: Option<SelfTradeOwner>,
    /// Whether displayed orders traded before hidden ones at one price.
    pub displayed_first: Option<bool>,
    /// What orders did in call auctions.
    pub call_auctions: Option<CallAuctionRule>,
    /// Where orders stood among the market's at their price.
    #[serde(default)]
    pub queue: Option<Queue>,
    /// In lock-step: how long requests were under way to the market, in market time, as the platform file writes it.
    #[serde(default)]
    pub order_latency: Option<String>,
    /// In lock-step: how long what happened in the market was under way to td.
    #[serde(default)]
    pub report_latency: Option<String>,
    /// Seed of delays that were drawn.
    #[serde(default)]
    pub latency_seed: Option<u64>,
}

impl Matched {
    /// From the fills in the journals, matching's counters, and the platform's file.
    pub fn read(topology: &Topology, totals: &Totals, seats: &[SeatView]) -> Matched {
        let matching = seats.iter().filter(|seat| seat.kind == NodeKind::Matching);
        let own_trades: u64 = matching.map(|seat| seat.counter(Counter::OwnTrades)).sum();
        let trades = totals.fills.saturating_sub(own_trades);
        let node = topology.nodes.iter().find(|node| node.kind == NodeKind::Matching);
        let config =
            node.and_then(|node| serde_json::from_value::<MatchingConfig>(node.section.clone()).ok());
        Matched {
            trades,
            own_trades,
            own_share: (trades > 0).then(|| own_trades as f64 / trades as f64),
            rules: config.as_ref().map(|config| Rules::of(config, topology.deterministic)),
        }
    }
}

impl Rules {
    fn of(config: &MatchingConfig, in_lock_step: bool) -> Rules {
        let is_recorded = matches!(config.fill, Fill::Book | Fill::Quotes);
        let written = |latency: &Latency| (is_recorded && in_lock_step).then(|| latency.to_string());
        let is_drawn = |latency| matches!(latency, &Latency::Drawn(_));
        let draws = is_drawn(&config.order_latency) || is_drawn(&config.report_latency);
        Rules {
            fill: config.fill,
            self_trade: config.self_trade,
            self_trade_owner: match (config.fill, config.self_trade_owner) {
                (Fill::External, _) => None,
                (Fill::Book | Fill::Quotes, SelfTradeOwner::AsRules) => Some(SelfTradeOwner::Strategy),
                (_, owner) => Some(owner),
            },
            displayed_first: is_recorded.then_some(config.displayed_first),
            call_auctions: is_recorded.then_some(config.call_auctions),
            queue: is_recorded.then_some(config.queue),
            order_latency: written(&config.order_latency),
            report_latency: written(&config.report_latency),
            latency_seed: (is_recorded && draws).then_some(config.latency_seed),
        }
    }

    /// As the platform file writes them: what orders traded with, and what is not left as it is.
    pub fn written(&self) -> String {
        let mut keys = vec![format!("fill = \"{}\"", self.fill)];
        let plain = Rules::of(&MatchingConfig { fill: self.fill, ..MatchingConfig::default() }, false);
        if self.self_trade != plain.self_trade {
            keys.push(format!("self_trade = \"{}\"", self.self_trade));
        }
        if let Some(owner) = self.self_trade_owner.filter(|_| self.self_trade_owner != plain.self_trade_owner)
        {
            keys.push(format!("self_trade_owner = \"{owner}\""));
        }
        if let Some(first) = self.displayed_first.filter(|_| self.displayed_first != plain.displayed_first) {
            keys.push(format!("displayed_first = {first}"));
        }
        if let Some(rule) = self.call_auctions.filter(|_| self.call_auctions != plain.call_auctions) {
            keys.push(format!("call_auctions = \"{rule}\""));
        }
        // The two models between strategies and market, whatever they are.
        keys.extend(self.queue.map(|queue| format!("queue = \"{queue}\"")));
        for (key, latency) in
            [("order_latency", &self.order_latency), ("report_latency", &self.report_latency)]
        {
            match latency {
                Some(table) if table.starts_with('{') => keys.push(format!("{key} = {table}")),
                Some(delay) => keys.push(format!("{key} = \"{delay}\"")),
                None => {}
            }
        }
        if let Some(seed) = self.latency_seed {
            keys.push(format!("latency_seed = {seed}"));
        }
        keys.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use topology::config::{DrawnLatency, NormalLatency};
    use wire::Fill as FillMessage;

    use super::*;
    use crate::fixture::{Instance, blank, counting, seat};

    #[test]
    fn a_trade_between_two_orders_is_two_fills_and_one_trade() {
        let made = Instance::new("matched");
        made.write(
            "matching.executions",
            &[blank::<FillMessage>(), blank::<FillMessage>(), blank::<FillMessage>()],
        );
        let matching = counting(seat(4, "matching", NodeKind::Matching), &[(Counter::OwnTrades, 1)]);
        let totals = Totals::read(&made.view(), &made.topology).0;
        let matched = Matched::read(&made.topology, &totals, &[matching]);
        assert_eq!((matched.trades, matched.own_trades, matched.own_share), (2, 1, Some(0.5)));
    }

    #[test]
    fn what_is_left_as_it_is_is_not_written() {
        let mut config =
            MatchingConfig { fill: Fill::Book, queue: Queue::Position, ..MatchingConfig::default() };
        let written = |config: &MatchingConfig| Rules::of(config, false).written();
        assert_eq!(written(&config), "fill = \"book\", queue = \"position\"");
        config.displayed_first = true;
        config.self_trade_owner = SelfTradeOwner::Firm;
        let expected =
            "fill = \"book\", self_trade_owner = \"firm\", displayed_first = true, queue = \"position\"";
        assert_eq!(written(&config), expected);
        config.fill = Fill::Exchange;
        config.self_trade_owner = SelfTradeOwner::AsRules;
        assert_eq!(written(&config), "fill = \"exchange\"");
        config.self_trade_owner = SelfTradeOwner::Account;
        assert_eq!(written(&config), "fill = \"exchange\", self_trade_owner = \"account\"");
    }

    #[test]
    fn in_lock_step_both_delays_are_written() {
        let normal = NormalLatency { mean: Duration::from_micros(150), sd: Duration::from_micros(20) };
        let drawn = DrawnLatency { normal: Some(normal), ..DrawnLatency::default() };
        let config =
            MatchingConfig { order_latency: Latency::Drawn(Box::new(drawn)), ..MatchingConfig::default() };
        let expected = "fill = \"quotes\", queue = \"through\", \
                        order_latency = { normal = { mean = \"150us\", sd = \"20us\" } }, \
                        report_latency = \"0s\", latency_seed = 1";
        assert_eq!(Rules::of(&config, true).written(), expected);
    }
}
