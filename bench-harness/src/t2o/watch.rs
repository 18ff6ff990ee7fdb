//! Checks during a run that threads are where the plan says.

use std::collections::BTreeMap;

use observe::InstanceView;
use pinning::{Placement, ResolvedPlan};

use super::probe::Observed;

/// Looks at the threads of the nodes that the plan restricts to some CPUs. A look shows where a thread is at that
/// moment; the kernel's count of CPU changes covers the time between two looks, for threads with a single CPU.
#[derive(Debug)]
pub(crate) struct PlanWatch {
    placed: Vec<Placement>,
    off_plan: u64,
    looked_at: u64,
    strays: Vec<String>,
    /// CPU changes at the first look, by process and thread.
    first: Option<BTreeMap<(u32, u32), u64>>,
    /// The same at the last look.
    last: BTreeMap<(u32, u32), (u64, String)>,
}

impl PlanWatch {
    /// Watches the nodes that the plan restricts to some of the host's `cpus`.
    pub(crate) fn new(plan: Option<&ResolvedPlan>, cpus: usize) -> PlanWatch {
        let placements = plan.map(|plan| plan.placements.as_slice()).unwrap_or_default();
        let placed = placements.iter().filter(|placement| placement.cpus.len() < cpus).cloned().collect();
        PlanWatch {
            placed,
            off_plan: 0,
            looked_at: 0,
            strays: Vec::new(),
            first: None,
            last: BTreeMap::new(),
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.placed.is_empty()
    }

    pub(crate) fn look(&mut self, view: &InstanceView) {
        let seats = view.seats();
        for placement in &self.placed {
            let Some(seat) = seats.iter().find(|seat| seat.name == placement.node && seat.alive) else {
                continue;
            };
            for thread in pinning::observe(seat.process.pid).unwrap_or_default() {
                self.looked_at += 1;
                if placement.cpus.len() == 1
                    && let Some(count) = thread.migrations
                {
                    let who = format!("{} ({})", seat.name, thread.name);
                    self.last.insert((seat.process.pid, thread.tid), (count, who));
                }
                if let Some(off) = thread.off_plan(placement) {
                    self.off_plan += 1;
                    if self.strays.len() < 3 {
                        self.strays.push(format!("{} ({}) {off}", seat.name, thread.name));
                    }
                }
            }
        }
        if self.first.is_none() {
            self.first = Some(self.last.iter().map(|(key, (count, _))| (*key, *count)).collect());
        }
    }

    /// Adds these observations to those of master.
    pub(crate) fn into(mut self, observed: &mut Observed) {
        for (who, moves) in moved(self.first.as_ref(), &self.last) {
            self.off_plan += moves;
            self.strays.push(format!("{who} changed its CPU {moves} times, the plan gives it one"));
        }
        self.strays.truncate(3);
        observed.off_plan += self.off_plan;
        observed.looked_at += self.looked_at;
        observed.strays = self.strays;
    }
}

/// Threads whose count has grown, and by how much. A later thread moved to its place first, which is not a deviation.
fn moved(
    first: Option<&BTreeMap<(u32, u32), u64>>,
    last: &BTreeMap<(u32, u32), (u64, String)>,
) -> Vec<(String, u64)> {
    let grown = |(key, (count, who)): (&(u32, u32), &(u64, String))| {
        let moves = count.saturating_sub(*first?.get(key)?);
        (moves > 0).then(|| (who.clone(), moves))
    };
    last.iter().filter_map(grown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_went_away_and_came_back_between_two_looks_is_seen() {
        let first = BTreeMap::from([((1, 1), 5), ((2, 2), 7)]);
        let last =
            [((1, 1), (7, "td".to_owned())), ((2, 2), (7, "md".to_owned())), ((3, 3), (9, "x".to_owned()))];
        assert_eq!(moved(Some(&first), &last.into()), [("td".to_owned(), 2)]);
    }
}
