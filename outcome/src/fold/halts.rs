//! Halts and auctions of the market, and what they did to orders.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wire::{InstrumentId, MarketPhase, Nanos, OrderStatus, OrderUpdate, Reason, TradingPhase};

/// What the market's phases did to a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Halts {
    /// Halts of an instrument.
    pub halts: u64,
    /// Ends of an instrument's session.
    pub closes: u64,
    /// Orders that matching refused because nothing traded.
    pub refused: u64,
    /// Orders that it took while nothing traded: they waited for an auction or the end of a halt.
    pub collected: u64,
    /// Orders that ended with the session.
    pub expired: u64,
}

impl Halts {
    /// In words; `None`: there is nothing to report.
    pub fn words(&self) -> Option<String> {
        let Halts { halts, closes, refused, collected, expired } = self;
        let has_effect = *self != Halts::default();
        has_effect.then(|| {
            format!(
                "halts of instruments: {halts}, ends of their sessions: {closes}; orders while nothing traded: refused {refused}, \
                 collected {collected}; ended with their session: {expired}"
            )
        })
    }
}

/// The phases so far.
#[derive(Debug, Default)]
pub(super) struct Phases {
    /// By instrument, in the order of their times.
    begun: BTreeMap<InstrumentId, Vec<(Nanos, TradingPhase)>>,
    halts: Halts,
}

impl Phases {
    /// An instrument enters a phase, or is said to be in it once more.
    pub(super) fn enter(&mut self, phase: &MarketPhase) {
        let begun = self.begun.entry(phase.instrument).or_default();
        if begun.last().map_or(TradingPhase::Continuous, |last| last.1) == phase.phase {
            return;
        }
        begun.push((phase.event_time, phase.phase));
        self.halts.halts += u64::from(phase.phase == TradingPhase::Halt);
        self.halts.closes += u64::from(phase.phase == TradingPhase::Closed);
    }

    /// What matching says of an order. One that is accepted may be known later: its time says in which phase it was.
    pub(super) fn update(&mut self, update: &OrderUpdate) {
        match (update.status, update.reason) {
            (OrderStatus::Rejected, Reason::CallAuction | Reason::NotTradable) => self.halts.refused += 1,
            (OrderStatus::Cancelled, Reason::Expired) => self.halts.expired += 1,
            (OrderStatus::Accepted, _) => {
                let begun = self.begun.get(&update.instrument).map_or(&[][..], Vec::as_slice);
                let then = begun.iter().rev().find(|(begin, _)| *begin <= update.event_time);
                let waits = then.is_some_and(|(_, phase)| *phase != TradingPhase::Continuous);
                self.halts.collected += u64::from(waits);
            }
            _ => {}
        }
    }

    pub(super) fn halts(&self) -> Halts {
        self.halts
    }
}
