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
    /// By reports: what the seat says.
    at_risk: Vec<u64>,
}

impl Untold {
    /// Of a successor, something may be kept already: it has to be moved.
    pub(super) fn new(executions: Option<&Input>, is_successor: bool, reports: usize) -> Untold {
        let capacity = executions.map_or(0, Input::capacity);
        Untold {
            read: executions.map_or(0, Input::position),
            most: capacity - capacity / FREE_PART,
            step: capacity / STEP_PART,
            from: is_successor.then_some(0),
            at_risk: vec![0; reports],
        }
    }

    /// True when the execution at `position` is the first that has to be kept.
    pub(super) fn begins(&mut self, position: u64) -> bool {
        let begins = self.from.is_none();
        self.from.get_or_insert(position);
        begins
    }

    /// Where to keep from when `oldest` is the oldest that is needed.
    fn from(&self, oldest: u64) -> u64 {
        oldest.min(self.read).max(self.read.saturating_sub(self.most))
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

/// The oldest execution whose report waits.
fn oldest(output: &Output) -> Option<u64> {
    output.kept().find_map(|(message_id, payload)| execution_of(message_id, payload))
}

/// Whether a report was made of an execution before `from`; a refusal, whether all it was made behind were.
fn is_before(message_id: u16, payload: &[u8], from: u64) -> bool {
    let told = || OrderUpdate::decode(payload).map_or(0, |update| update.told);
    execution_of(message_id, payload).unwrap_or_else(told) < from
}

impl Td {
    /// Keeps what a successor would need, no more than the share, and says what is left out.
    pub(super) fn keep_untold(&mut self, context: &mut Context) {
        let Some(kept) = self.untold.from else { return };
        if !self.is_open {
            return;
        }
        let early = self.early.first().map_or(u64::MAX, |(position, ..)| *position);
        let needed = self.reports.iter().filter_map(oldest).fold(early, u64::min);
        let from = self.untold.from(needed);
        for (journal, output) in self.reports.iter().enumerate() {
            let is_safe = oldest(output).is_none_or(|oldest| oldest >= from);
            let count = if is_safe {
                0
            } else {
                output.kept_before(|id, payload| is_before(id, payload, from)) as u64
            };
            let known = &mut self.untold.at_risk[journal];
            if *known == count {
                continue;
            }
            let Some(seat) = self.routes.strategies(journal).next() else { continue };
            if *known == 0 {
                log::warn!(
                    "`{}` is not read: the executions of its oldest reports are not kept any more, and if td is \
                     killed these reports are lost",
                    output.journal()
                );
            }
            *known = count;
            // Before what they were made of can be overwritten.
            context.handle().set_at_risk(u32::from(seat.0), count);
        }
        if from >= kept + self.untold.step {
            self.untold.from = Some(from);
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
