//! Counts what a run met.

use std::collections::BTreeMap;

use super::operation::Operation;
use crate::exchange::{Auction, Event, Kind, Lifetime, Phase};
use wire::{Aggressor, Reason};

#[derive(Debug, Default)]
pub(super) struct Seen {
    counts: BTreeMap<String, u64>,
}

impl Seen {
    pub(super) fn counts(&self) -> &BTreeMap<String, u64> {
        &self.counts
    }

    fn add(&mut self, kind: impl Into<String>) {
        *self.counts.entry(kind.into()).or_default() += 1;
    }

    pub(super) fn count(&mut self, operation: &Operation, events: &[Event]) {
        self.add("operation");
        let asked = matches!(operation, Operation::Submit(_) | Operation::Replace(_));
        for event in events {
            self.event(event);
            let interrupts = matches!(event, Event::PhaseChanged { to: Phase::VolatilityAuction, .. });
            if asked && interrupts {
                self.add("halt");
            }
        }
        let accepted = matches!(events.first(), Some(Event::Accepted(_)));
        if let (Operation::Submit(order), true) = (operation, accepted) {
            self.add(format!("accepted {}", kind(order.kind)));
            self.add(format!("accepted {}", lifetime(order.lifetime)));
            let prevented = events
                .iter()
                .any(|event| matches!(event, Event::Decremented(_) | Event::Cancelled(_, Reason::SelfTrade)));
            if let (Some(policy), true) = (order.self_trade, prevented) {
                self.add(format!("self-trade {policy:?}"));
            }
            let conditions = [
                ("post-only", order.post_only),
                ("minimum", order.minimum.0 > 0),
                ("iceberg", order.display.0 > 0),
            ];
            for (condition, _) in conditions.into_iter().filter(|(_, holds)| *holds) {
                self.add(format!("accepted {condition}"));
            }
        }
    }

    fn event(&mut self, event: &Event) {
        let kind = match event {
            Event::Accepted(_) => "accepted".into(),
            Event::Rejected(_, reason) => format!("rejected {reason}"),
            Event::Rested(_) => "rested".into(),
            Event::Traded(trade) if trade.aggressor == Aggressor::None => "trade in an auction".into(),
            Event::Traded(_) => "trade".into(),
            Event::Refreshed(_, true) => "refresh behind".into(),
            Event::Refreshed(_, false) => "refresh in place".into(),
            Event::Replaced(_, None) => "replaced in place".into(),
            Event::Replaced(_, Some(_)) => "replaced anew".into(),
            Event::Decremented(_) => "decremented".into(),
            Event::Triggered(_) => "triggered".into(),
            Event::Cancelled(_, reason) => format!("cancelled {reason}"),
            Event::Refused { refused, reason, .. } => format!("refused {refused:?} {reason}"),
            Event::Uncrossed { auction, equilibrium, .. } => {
                let trades = if equilibrium.volume.0 > 0 { "" } else { " without a trade" };
                format!("uncross {}{trades}", auction.map_or("none", name))
            }
            Event::PhaseChanged { to, .. } => format!("phase {}", to.as_str()),
        };
        self.add(kind);
    }

    /// What every longer run meets.
    pub(super) fn required(&self) -> Vec<String> {
        let rejected = [
            Reason::UnknownInstrument,
            Reason::DuplicateOrder,
            Reason::MarketClosed,
            Reason::Expired,
            Reason::Quantity,
            Reason::Malformed,
            Reason::OffTick,
            Reason::PriceBand,
            Reason::WouldTrade,
        ];
        let cancelled =
            [Reason::Requested, Reason::NoLiquidity, Reason::NotFillable, Reason::SelfTrade, Reason::Expired];
        let refused = [
            "Cancel unknown-order",
            "Cancel market-closed",
            "Replace unknown-order",
            "Replace market-closed",
            "Replace quantity",
            "Replace off-tick",
            "Replace price-band",
            "Replace malformed",
            "Replace would-trade",
        ];
        let auctions = ["none", "opening", "volatility", "closing"];
        let accepted = ["limit", "market", "stop", "stop-limit", "post-only", "minimum", "iceberg"];
        let lifetimes =
            ["day", "till-cancel", "till-date", "or-cancel", "or-kill", "at-the-open", "at-the-close"];
        let policies = ["CancelNewest", "CancelOldest", "CancelBoth", "Decrement"];
        let events = [
            "rested",
            "trade",
            "trade in an auction",
            "refresh behind",
            "refresh in place",
            "replaced in place",
            "replaced anew",
            "decremented",
            "triggered",
            "halt",
        ];
        let mut required: Vec<String> = events.map(String::from).to_vec();
        required.extend(rejected.map(|reason| format!("rejected {reason}")));
        required.extend(cancelled.map(|reason| format!("cancelled {reason}")));
        required.extend(policies.map(|policy| format!("self-trade {policy}")));
        required.extend(refused.map(|refused| format!("refused {refused}")));
        required.extend(auctions.map(|auction| format!("uncross {auction}")));
        required.extend(accepted.into_iter().chain(lifetimes).map(|accepted| format!("accepted {accepted}")));
        required.extend(Phase::ALL.iter().map(|phase| format!("phase {}", phase.as_str())));
        required
    }
}

fn name(auction: Auction) -> &'static str {
    match auction {
        Auction::Opening => "opening",
        Auction::Volatility => "volatility",
        Auction::Closing => "closing",
    }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Limit(_) => "limit",
        Kind::Market => "market",
        Kind::Stop { .. } => "stop",
        Kind::StopLimit { .. } => "stop-limit",
    }
}

fn lifetime(lifetime: Lifetime) -> &'static str {
    match lifetime {
        Lifetime::Day => "day",
        Lifetime::GoodTillCancel => "till-cancel",
        Lifetime::GoodTillDate(_) => "till-date",
        Lifetime::ImmediateOrCancel => "or-cancel",
        Lifetime::FillOrKill => "or-kill",
        Lifetime::AtTheOpen => "at-the-open",
        Lifetime::AtTheClose => "at-the-close",
    }
}
