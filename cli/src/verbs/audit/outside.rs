//! The memory of a program that takes orders out to a market (`matching.venue`), compared with its fills in `matching.executions`.

use std::collections::BTreeMap;

use venue::{LOT, Sums, decimal};
use wire::{Fill, InstrumentId};

use super::findings::Findings;
use crate::desk::{EXECUTIONS, Source};

/// The program's file.
const MEMORY: &str = "matching.venue";

/// The memory, read before the executions.
pub(super) struct Outside {
    sums: Vec<(InstrumentId, Sums)>,
    /// In words.
    unbooked: Vec<String>,
    /// How many fills were to be written by then.
    trades: u64,
    /// Number of the last one that was.
    newest: u64,
    /// Lots of these fills.
    lots: BTreeMap<InstrumentId, i128>,
}

impl Outside {
    /// `None` where it cannot be known, which the findings say then.
    pub(super) fn look(source: &Source, findings: &mut Findings) -> Option<Outside> {
        let Source::Live(instance) = source else {
            findings
                .lacks(format!("a recording has no {MEMORY}: what the market outside says is not looked at"));
            return None;
        };
        match venue::look(instance) {
            Ok(driver) => Some(Outside {
                sums: driver.sums().collect(),
                unbooked: driver.unbooked().map(ToString::to_string).collect(),
                trades: driver.trades(),
                newest: 0,
                lots: BTreeMap::new(),
            }),
            Err(error) => {
                findings.lacks(format!("{MEMORY} cannot be read: {error}"));
                None
            }
        }
    }

    pub(super) fn fill(&mut self, fill: &Fill) {
        if fill.trade_id <= self.trades {
            self.newest = self.newest.max(fill.trade_id);
            *self.lots.entry(fill.instrument).or_default() +=
                i128::from(fill.side.sign()) * i128::from(fill.quantity.0);
        }
    }

    /// `is_begin`: all fills were read.
    pub(super) fn compare(self, findings: &mut Findings, is_begin: bool) {
        for what in &self.unbooked {
            findings.differs(MEMORY, None, format!("not booked: {what}"), "all that the market has executed");
        }
        if !is_begin {
            return;
        }
        if self.newest < self.trades {
            let behind = self.trades - self.newest;
            findings.lacks(format!(
                "{behind} fills that {MEMORY} knows are not in {EXECUTIONS} yet: sums are not compared"
            ));
            return;
        }
        for (instrument, sums) in &self.sums {
            let lots = self.lots.get(instrument).copied().unwrap_or_default() * LOT;
            let what = format!("lots of instrument {instrument} by the fills");
            findings.same(EXECUTIONS, None, &what, decimal(lots), decimal(sums.booked));
        }
        let others = self.lots.iter().filter(|(known, _)| !self.sums.iter().any(|(one, _)| one == *known));
        for (instrument, lots) in others {
            let found = format!("fills of instrument {instrument} that come to {lots} lots");
            findings.differs(EXECUTIONS, None, found, format!("none: {MEMORY} knows of none"));
        }
        findings
            .notes
            .push(format!("{} fills of the market outside were compared with {MEMORY}", self.trades));
    }
}
