//! Executions that a successor would have to read again: those that a strategy was not told of yet.
//!
//! Reports that a strategy does not read wait in td's memory, and die with it. A successor makes them again from
//! `matching.executions`; so that ring is kept from the oldest of these on, up to a share of it: a strategy that hangs
//! must not stop the market. What is older than the share stays in memory alone, which is said in the strategy's seat
//! before the ring is given free. A successor that finds it so names what may be missing.

use node::{Context, Input, Output};
use wire::{Fill, Message, OrderUpdate, StrategyId};

use super::Td;

/// What is kept never exceeds the ring less a quarter of it, in which matching goes on.
const FREE_PART: u64 = 4;
/// The kept part follows in steps of this part of the ring.
const STEP_PART: u64 = 64;

/// What is kept of the executions.
#[derive(Debug)]
pub(super) struct Untold {
    /// Executions before this position were read.
    pub(super) read: u64,
    /// Bytes of the ring that may be kept.
    most: u64,
    step: u64,
    /// Kept from here on; `None`: nothing was ever kept, and the cursor alone counts.
    from: Option<u64>,
    /// Journals of reports that something waits for, in no order. The others are not looked at.
    waiting: Vec<usize>,
    /// By journal of reports.
    held: Vec<Held>,
}

/// What is known of one journal of reports.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    is_waiting: bool,
    /// What the seat says.
    at_risk: u64,
    /// Messages that were committed when `at_risk` was counted.
    committed: u64,
}

/// A journal of reports, and what waits for room in it.
pub(super) trait Backlog {
    /// Whether nothing waits.
    fn is_empty(&self) -> bool;
    /// Messages committed so far.
    fn committed(&self) -> u64;
    /// The oldest execution whose report waits.
    fn oldest(&self) -> Option<u64>;
    /// How many reports wait that were made of executions before this position, or behind such alone.
    fn count_before(&self, position: u64) -> u64;
}

impl Backlog for Output {
    fn is_empty(&self) -> bool {
        self.backlog() == 0
    }

    fn committed(&self) -> u64 {
        self.counts().0
    }

    fn oldest(&self) -> Option<u64> {
        self.kept().find_map(|(message_id, payload)| execution_of(message_id, payload))
    }

    fn count_before(&self, position: u64) -> u64 {
        self.kept_before(|message_id, payload| is_before(message_id, payload, position)) as u64
    }
}

impl Untold {
    /// Of a successor, something may be kept already: it has to be moved.
    pub(super) fn new(executions: Option<&Input>, is_successor: bool, reports: usize) -> Untold {
        let from = is_successor.then_some(0);
        let read = executions.map_or(0, Input::position);
        Untold::with_ring(executions.map_or(0, Input::capacity), read, from, reports)
    }

    fn with_ring(capacity: u64, read: u64, from: Option<u64>, reports: usize) -> Untold {
        Untold {
            read,
            most: capacity - capacity / FREE_PART,
            step: capacity / STEP_PART,
            from,
            waiting: Vec::with_capacity(reports),
            held: vec![Held::default(); reports],
        }
    }

    /// True when the execution at `position` is the first that has to be kept.
    pub(super) fn begins(&mut self, position: u64) -> bool {
        let begins = self.from.is_none();
        self.from.get_or_insert(position);
        begins
    }

    /// Something waits for room in this journal of reports.
    pub(super) fn waits(&mut self, journal: usize) {
        if let Some(held) = self.held.get_mut(journal)
            && !std::mem::replace(&mut held.is_waiting, true)
        {
            self.waiting.push(journal);
        }
    }

    /// The journals that something waits for.
    pub(super) fn waiting(&self) -> &[usize] {
        &self.waiting
    }

    /// Where to keep from now on, if that moves. `early` is the oldest execution that is not passed on yet; `say` is called
    /// with each journal whose number of reports at risk changes.
    ///
    /// Those at risk are the oldest of their journal, so what is committed leaves them first; others join them only when
    /// the kept part moves, and are counted then.
    fn follow<B: Backlog>(
        &mut self,
        reports: &[B],
        early: Option<u64>,
        mut say: impl FnMut(usize, u64),
    ) -> Option<u64> {
        let Untold { held, waiting, .. } = self;
        waiting.retain(|&journal| {
            let (report, held) = (&reports[journal], &mut held[journal]);
            held.is_waiting = !report.is_empty();
            let left = held.committed + held.at_risk;
            held.set_at_risk(journal, report, left.saturating_sub(report.committed()), &mut say);
            held.is_waiting
        });
        let kept = self.from?;
        if self.read < kept + self.step {
            return None;
        }
        let oldest = self.waiting.iter().filter_map(|journal| reports[*journal].oldest());
        let needed = oldest.fold(early.unwrap_or(u64::MAX), u64::min);
        let from = needed.min(self.read).max(self.read.saturating_sub(self.most));
        if from < kept + self.step {
            return None;
        }
        if needed < from {
            for &journal in &self.waiting {
                let report = &reports[journal];
                self.held[journal].set_at_risk(journal, report, report.count_before(from), &mut say);
            }
        }
        self.from = Some(from);
        Some(from)
    }
}

impl Held {
    fn set_at_risk(
        &mut self,
        journal: usize,
        report: &impl Backlog,
        count: u64,
        say: &mut impl FnMut(usize, u64),
    ) {
        if self.at_risk != count {
            say(journal, count);
        }
        (self.at_risk, self.committed) = (count, report.committed());
    }
}

/// The execution that a report was made of; `None`: a refusal, whose request comes again by itself.
fn execution_of(message_id: u16, payload: &[u8]) -> Option<u64> {
    match message_id {
        Fill::ID => Fill::decode(payload).ok().map(|fill| fill.execution),
        _ => {
            OrderUpdate::decode(payload).ok().map(|update| update.execution).filter(|position| *position > 0)
        }
    }
}

/// Whether a report was made of an execution before `from`; a refusal, whether all it was made behind were.
fn is_before(message_id: u16, payload: &[u8], from: u64) -> bool {
    let told = || OrderUpdate::decode(payload).map_or(0, |update| update.told);
    execution_of(message_id, payload).unwrap_or_else(told) < from
}

impl Td {
    /// Keeps what a successor would need, no more than the share, and says what is left out.
    pub(super) fn keep_untold(&mut self, context: &mut Context) {
        if !self.is_open {
            return;
        }
        let Td { untold, reports, routes, early, .. } = self;
        let handle = context.handle();
        let early = early.first().map(|(position, ..)| *position);
        let from = untold.follow(reports, early, |journal, count| {
            let Some(seat) = routes.strategies(journal).next().map(|seat| u32::from(seat.0)) else { return };
            if handle.at_risk(seat) == 0 {
                log::warn!(
                    "`{}` is not read: the executions of its oldest reports are not kept any more, and if td is \
                     killed these reports are lost",
                    reports[journal].journal()
                );
            }
            // Before what they were made of can be overwritten.
            handle.set_at_risk(seat, count);
        });
        if let Some(from) = from {
            context.keep(self.executions, from);
        }
    }

    /// Names the reports that a predecessor took with it, and that cannot be made again. `oldest` is the oldest execution
    /// that is still there.
    pub(super) fn announce_missing(&self, context: &Context, oldest: u64) {
        for (journal, output) in self.reports.iter().enumerate() {
            let owners: Vec<StrategyId> = self.routes.strategies(journal).collect();
            let Some(seat) = owners.first().map(|first| u32::from(first.0)) else { continue };
            let handle = context.handle();
            let count = handle.at_risk(seat);
            if count == 0 {
                continue;
            }
            let told = self.told[journal];
            if told < oldest {
                let names: Vec<String> =
                    owners.iter().map(|owner| handle.name_of(u32::from(owner.0))).collect();
                log::error!(
                    "{}: up to {count} reports are lost, of executions behind position {told} and before {oldest}: \
                     they were not read from `{}`, td was killed, and the executions are overwritten; give \
                     [journal] `matching.capacity` and `reports.capacity` more room",
                    names.join(", "),
                    output.journal()
                );
                handle.gave_up(seat, count);
            }
            handle.set_at_risk(seat, 0);
        }
    }
}

#[cfg(test)]
mod tests;
