//! Executions that a successor would have to read again: those whose reports are not committed yet.
//!
//! Reports that a strategy does not read wait in td's memory, and are lost with it. A successor makes them again from
//! `matching.executions`, so that ring is kept from the oldest of these executions on, up to a share of it: a strategy that
//! hangs must not stop the market. Reports of older executions are in td's memory only, and at risk; their number is set
//! in the strategy's seat before the ring is released. Where accounts are kept, a successor that finds reports at risk makes them
//! from the drop copy ([`overwritten`](super::overwritten)); otherwise it logs what may be missing.

use node::{Context, Input, Output};
use wire::{Execution, Message, OrderUpdate, StrategyId};

use super::Td;
use crate::Delivery;

/// At most the ring less this part is kept: matching continues in the rest.
const FREE_PART: u64 = 4;
/// The kept part follows in steps of this part of the ring.
const STEP_PART: u64 = 64;

/// The part of the executions that is kept.
#[derive(Debug)]
pub(super) struct Unreported {
    /// Executions before this position were read.
    pub(super) read: u64,
    /// Bytes of the ring that may be kept.
    most: u64,
    step: u64,
    /// Kept from here on; `None`: nothing was ever kept, and the cursor alone counts.
    from: Option<u64>,
    /// Journals of reports with waiting reports, in no order. The others are not looked at.
    waiting: Vec<usize>,
    /// By journal of reports.
    held: Vec<Held>,
}

/// The state of one journal of reports.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    is_waiting: bool,
    /// As in the strategy's seat.
    at_risk: u64,
    /// Messages that were committed when `at_risk` was counted.
    committed: u64,
}

/// A journal of reports, and the reports that wait for room in it.
pub(super) trait Backlog {
    /// True when no report waits.
    fn is_empty(&self) -> bool;
    /// Messages committed so far.
    fn committed(&self) -> u64;
    /// The oldest execution whose report waits.
    fn oldest(&self) -> Option<u64>;
    /// The oldest execution at this position or behind it whose report waits.
    fn oldest_from(&self, position: u64) -> Option<u64>;
    /// Number of waiting reports of executions before this position; refusals count where all executions before them are.
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

    fn oldest_from(&self, position: u64) -> Option<u64> {
        let before = self.kept_before(|message_id, payload| is_before(message_id, payload, position));
        self.kept().skip(before).find_map(|(message_id, payload)| execution_of(message_id, payload))
    }

    fn count_before(&self, position: u64) -> u64 {
        self.kept_before(|message_id, payload| is_before(message_id, payload, position)) as u64
    }
}

impl Unreported {
    /// A predecessor of a restarted td may keep executions already: that position has to be moved.
    pub(super) fn new(executions: Option<&Input>, is_successor: bool, reports: usize) -> Unreported {
        let from = is_successor.then_some(0);
        let read = executions.map_or(0, Input::position);
        Unreported::with_ring(executions.map_or(0, Input::capacity), read, from, reports)
    }

    fn with_ring(capacity: u64, read: u64, from: Option<u64>, reports: usize) -> Unreported {
        Unreported {
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

    /// A report waits for room in this journal of reports.
    pub(super) fn add_waiting(&mut self, journal: usize) {
        if let Some(held) = self.held.get_mut(journal)
            && !std::mem::replace(&mut held.is_waiting, true)
        {
            self.waiting.push(journal);
        }
    }

    /// So many of the reports that wait here are at risk, as the strategy's seat says.
    pub(super) fn begin_with(&mut self, journal: usize, report: &impl Backlog, at_risk: u64) {
        if let Some(held) = self.held.get_mut(journal) {
            (held.at_risk, held.committed) = (at_risk, report.committed());
        }
    }

    /// The journals with waiting reports.
    pub(super) fn waiting(&self) -> &[usize] {
        &self.waiting
    }

    /// Executions before this position are not kept for reports.
    fn least(&self) -> u64 {
        self.read.saturating_sub(self.most)
    }

    /// The position to keep executions from, if it moves. `deferred` is the oldest execution that is not passed on yet;
    /// `uncopied` the oldest that is not in the drop copy, and always kept; `notify` is called with each journal in which the number of
    /// reports at risk changes.
    ///
    /// The reports at risk are the oldest of their journal, so they are committed first; others join them only when the kept
    /// part moves, and are counted then.
    fn follow<B: Backlog>(
        &mut self,
        reports: &[B],
        deferred: Option<u64>,
        uncopied: Option<u64>,
        mut notify: impl FnMut(usize, u64),
    ) -> Option<u64> {
        let Unreported { held, waiting, .. } = self;
        waiting.retain(|&journal| {
            let (report, held) = (&reports[journal], &mut held[journal]);
            held.is_waiting = !report.is_empty();
            let left = held.committed + held.at_risk;
            held.set_at_risk(journal, report, left.saturating_sub(report.committed()), &mut notify);
            held.is_waiting
        });
        let kept = self.from?;
        if self.read < kept + self.step {
            return None;
        }
        let oldest = self.waiting.iter().filter_map(|journal| reports[*journal].oldest());
        let needed = oldest.chain(deferred).chain(uncopied).fold(u64::MAX, u64::min);
        let least = self.least();
        if needed < least && least < kept + self.step {
            return None;
        }
        let from = match needed >= least {
            true => needed.min(self.read),
            // At the start of an execution: there a successor begins to read.
            false => self
                .waiting_from(reports, least)
                .chain(deferred.filter(|deferred| *deferred >= least))
                .min()
                .unwrap_or(self.read),
        };
        let from = uncopied.map_or(from, |uncopied| uncopied.min(from));
        if from < kept + self.step {
            return None;
        }
        if needed < from {
            for &journal in &self.waiting {
                let report = &reports[journal];
                self.held[journal].set_at_risk(journal, report, report.count_before(from), &mut notify);
            }
        }
        self.from = Some(from);
        Some(from)
    }
}

impl Unreported {
    /// By journal with waiting reports: the oldest of their executions at this position or behind it.
    fn waiting_from<'r, B: Backlog>(
        &'r self,
        reports: &'r [B],
        position: u64,
    ) -> impl Iterator<Item = u64> + 'r {
        self.waiting.iter().filter_map(move |journal| reports[*journal].oldest_from(position))
    }
}

impl Held {
    fn set_at_risk(
        &mut self,
        journal: usize,
        report: &impl Backlog,
        count: u64,
        notify: &mut impl FnMut(usize, u64),
    ) {
        if self.at_risk != count {
            notify(journal, count);
        }
        (self.at_risk, self.committed) = (count, report.committed());
    }
}

/// The execution that a report passes on; `None`: a refusal, whose request is read again.
pub(super) fn execution_of(message_id: u16, payload: &[u8]) -> Option<u64> {
    Execution::decode(message_id, payload).ok()?.position()
}

/// True for a report of an execution before `from`; for a refusal, when all executions reported before it are.
fn is_before(message_id: u16, payload: &[u8], from: u64) -> bool {
    let reported_up_to = || OrderUpdate::decode(payload).map_or(0, |update| update.reported_up_to);
    execution_of(message_id, payload).unwrap_or_else(reported_up_to) < from
}

impl Td {
    /// Keeps the executions that a successor would need, up to the share, and counts the reports beyond it as at risk.
    pub(super) fn keep_unreported(&mut self, context: &mut Context) {
        if !self.is_open {
            return;
        }
        let Td { unreported, reports, routes, deferred, accounts, .. } = self;
        let handle = context.handle();
        let next = match accounts {
            Some(_) => "a successor makes these reports from the drop copy, as far as that goes back",
            None => "these reports are lost",
        };
        let deferred = deferred.first().map(|(position, ..)| *position);
        let uncopied = accounts.as_mut().and_then(|accounts| {
            let drops = &mut accounts.drops;
            if drops.oldest_behind_requests().is_some_and(|oldest| oldest < unreported.least()) {
                drops.write_executions();
            }
            drops.oldest_execution()
        });
        let from = unreported.follow(reports, deferred, uncopied, |journal, count| {
            let Some(seat) = routes.strategies(journal).next().map(|seat| u32::from(seat.0)) else { return };
            if handle.at_risk(seat) == 0 {
                log::warn!(
                    "`{}` is not read: the executions of its oldest reports are not kept any more; if td is killed, {next}",
                    reports[journal].journal
                );
            }
            // Before their executions can be overwritten.
            handle.set_at_risk(seat, count);
        });
        if let Some(from) = from {
            context.keep(self.executions, from);
        }
    }

    /// Logs the reports that were lost with a predecessor and cannot be made again. `oldest` is the oldest execution that could
    /// be read again, `in_ring` the oldest that is not overwritten, `again` are the reports that are made once more.
    pub(super) fn announce_missing(
        &self,
        context: &Context,
        (oldest, in_ring): (u64, u64),
        again: &[(u64, Delivery)],
    ) {
        for (journal, output) in self.reports.iter().enumerate() {
            let owners: Vec<StrategyId> = self.routes.strategies(journal).collect();
            let Some(seat) = owners.first().map(|first| u32::from(first.0)) else { continue };
            let handle = context.handle();
            let count = handle.at_risk(seat);
            if count == 0 {
                continue;
            }
            let reported_up_to = self.reported_up_to[journal];
            let is_ours = |to| self.routes.of(to).is_some_and(|(index, _)| index == journal);
            let is_left =
                |(position, delivery): &&(u64, Delivery)| *position < in_ring && is_ours(delivery.to);
            let left = again.iter().filter(is_left).count() as u64;
            let count = count.saturating_sub(left);
            if reported_up_to < oldest && count > 0 {
                let names: Vec<String> =
                    owners.iter().map(|owner| handle.name_of(u32::from(owner.0))).collect();
                log::error!(
                    "{}: up to {count} reports are lost, of executions behind position {reported_up_to} and before {oldest}: \
                     they were not read from `{}`, td was killed, and the executions are overwritten; give \
                     [journal] `matching.capacity` and `reports.capacity` more room",
                    names.join(", "),
                    output.journal
                );
                handle.gave_up(seat, count);
                // Counted once, also if this process is killed before it has posted the others.
                handle.set_at_risk(seat, left);
            }
        }
    }

    /// Counts the reports at risk once all that could be made again are posted: those that wait, of executions before `in_ring`.
    pub(super) fn state_risks(&mut self, context: &Context, in_ring: u64) {
        let Td { unreported, reports, routes, .. } = self;
        for (journal, output) in reports.iter().enumerate() {
            let Some(seat) = routes.strategies(journal).next().map(|first| u32::from(first.0)) else {
                continue;
            };
            let count = output.count_before(in_ring);
            unreported.begin_with(journal, output, count);
            if context.handle().at_risk(seat) != count {
                context.handle().set_at_risk(seat, count);
            }
        }
    }
}

#[cfg(test)]
mod tests;
