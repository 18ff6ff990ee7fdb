//! Where each node runs: what a plan gives, and what the doctor, the host's threads and the nodes are held against.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cpuset::CpuSet;
use crate::policy::Policy;
use crate::problem::PlanWarning;

/// The placement of every node, with reasons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedPlan {
    /// One per node, in the order of the requests.
    pub placements: Vec<Placement>,
    /// Choices that are allowed but likely to spoil a measurement.
    pub warnings: Vec<PlanWarning>,
    /// CPUs of the plan that were mapped to others: planned → used. Empty when the plan fits the host.
    pub remapped: BTreeMap<usize, usize>,
    /// Checks of the doctor that must pass.
    pub required: Vec<String>,
}

/// The placement of one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// The node.
    pub node: String,
    /// Busy-polls without a pause.
    pub busy: bool,
    /// Part of the platform.
    pub platform: bool,
    /// CPUs on which it may run; never empty.
    pub cpus: CpuSet,
    /// Scheduling policy; `None` keeps the inherited one.
    pub policy: Option<Policy>,
    /// NUMA node of its memory.
    pub memory_node: Option<usize>,
    /// No other node may use its CPU.
    pub exclusive: bool,
    /// The other hardware threads of its core stay empty.
    pub no_smt_sibling: bool,
    /// Each choice, its origin, and the reason.
    pub reasons: Vec<Reason>,
}

/// One choice of a placement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// What was chosen: `cpus`, `policy`, ….
    pub key: String,
    /// The choice.
    pub value: String,
    /// The key of the TOML that it comes from, or `auto`, `remap`, `default`.
    pub origin: String,
    /// The reason for the choice.
    pub why: String,
}

impl Placement {
    /// The CPU, if there is exactly one.
    pub fn pinned_cpu(&self) -> Option<usize> {
        self.cpus.first().filter(|_| self.cpus.len() == 1)
    }
}

impl ResolvedPlan {
    /// The placement of the node with this name.
    pub fn placement(&self, node: &str) -> Option<&Placement> {
        self.placements.iter().find(|placement| placement.node == node)
    }

    /// CPUs to which at least one node is pinned, alone or with others.
    pub fn pinned_cpus(&self) -> CpuSet {
        self.placements.iter().filter_map(Placement::pinned_cpu).collect()
    }

    /// CPUs that should not be disturbed: those of pinned busy-pollers and of exclusive nodes; in a plan without
    /// either, all to which a node is pinned.
    pub fn quiet_cpus(&self) -> CpuSet {
        let exclusive = self.placements.iter().filter(|placement| placement.exclusive);
        let quiet = exclusive.fold(self.busy_cpus(), |all, placement| all.union(&placement.cpus));
        if quiet.is_empty() { self.pinned_cpus() } else { quiet }
    }

    /// CPUs to which a busy-polling node is pinned.
    pub fn busy_cpus(&self) -> CpuSet {
        self.placements.iter().filter(|placement| placement.busy).filter_map(Placement::pinned_cpu).collect()
    }
}
