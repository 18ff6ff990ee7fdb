//! What a reader of figures must know about where they were measured: who was off the plan, which journals do not lie
//! on the pages that they asked for.

use std::collections::BTreeMap;

use node::{Counter, InstanceView, SeatView};
use pinning::{Host, PageBacking, PlanWarning};
use serde::{Deserialize, Serialize};
use topology::{Pages, Topology};

/// What lies behind one ring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalMemory {
    /// The journal.
    pub journal: String,
    /// Bytes of its ring.
    pub bytes: u64,
    /// What the platform file asks for.
    pub wanted: Pages,
    /// What the kernel says of a process that has it mapped; `null` when none could be looked into.
    pub pages: Option<PageBacking>,
}

impl JournalMemory {
    /// Whether it asked for huge pages and does not lie, or not wholly, on them.
    pub fn is_stained(&self) -> bool {
        self.wanted != Pages::Small && self.pages.is_some_and(|pages| !pages.is_huge())
    }
}

/// The rings of a running instance, by id.
pub(crate) fn memory(view: &InstanceView, topology: &Topology) -> Vec<JournalMemory> {
    let journals: Vec<_> =
        view.journals().unwrap_or_default().sound.into_iter().map(|(_, journal)| journal).collect();
    let backings: BTreeMap<String, PageBacking> = view.backings(&journals);
    let row = |journal: &topology::JournalSpec| JournalMemory {
        journal: journal.name.clone(),
        bytes: journal.capacity_bytes,
        wanted: journal.pages,
        pages: backings.get(&journal.name).copied(),
    };
    topology.journals.iter().map(row).collect()
}

/// All that stains the figures of a run, each in a sentence; empty when nothing does.
pub(crate) fn stains(
    topology: &Topology,
    host: &Host,
    seats: &[SeatView],
    memory: &[JournalMemory],
) -> Vec<String> {
    let mut stains = Vec::new();
    for seat in seats {
        let (looks, off) = (seat.counter(Counter::PlaceSamples), seat.counter(Counter::OffPlan));
        if off > 0 {
            stains.push(format!(
                "threads of {} were off the pin plan in {off} of {looks} looks; the log of master says where",
                seat.name
            ));
        }
    }
    let poor: Vec<&str> =
        memory.iter().filter(|row| row.is_stained()).map(|row| row.journal.as_str()).collect();
    if !poor.is_empty() {
        stains.push(format!(
            "{} of {} journals asked for huge pages and do not, or not wholly, lie on them: {}",
            poor.len(),
            memory.len(),
            shortened(&poor)
        ));
    }
    if let Some(master) = seats.first() {
        let (clock, rings) = (master.counter(Counter::ClockChanges), master.counter(Counter::RingsHidden));
        if clock > 0 {
            stains.push(format!(
                "the host's clock source changed {clock} times during the run; the log of master says from what to what"
            ));
        }
        if rings > 0 {
            stains.push("the file system of rings on huge pages was unmounted during the run".to_owned());
        }
    }
    stains.extend(topology.crowding(host));
    let plan = topology.place(host).ok().flatten();
    let is_crowded = |warning: &&PlanWarning| matches!(warning, PlanWarning::BusyFloat { .. });
    stains.extend(plan.iter().flat_map(|plan| &plan.warnings).filter(is_crowded).map(ToString::to_string));
    let is_broken = |warning: &&PlanWarning| {
        matches!(warning, PlanWarning::Remapped { .. } | PlanWarning::PromiseBroken { .. })
    };
    let broken = plan.iter().flat_map(|plan| &plan.warnings).filter(is_broken).count();
    if broken > 0 {
        stains.push(format!(
            "the pin plan is for a bigger host and was remapped to this one ({broken} warnings): colo explain shows them"
        ));
    }
    stains
}

/// The first few names.
fn shortened(names: &[&str]) -> String {
    const SHOWN: usize = 4;
    let shown = names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}
