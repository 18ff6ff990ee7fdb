//! From a plan in TOML to where each node runs.
//!
//! ```toml
//! [pin]
//! on_small_host = "remap"                 # a CPU of the plan that is not here: "refuse" (default) or "remap"
//! # auto = "latency"                      # places every node that no rule places
//! required = ["clock-source"]             # doctor's checks that must be as wanted
//!
//! [pin.nodes]                             # by node name; * and ? stand for what they usually do
//! master       = { cpu = 0 }
//! md           = { cpu = 6, exclusive = true, policy = "fifo:50" }
//! "strategy-*" = { cpus = "2-5,7", spread = "round-robin" }
//! ```
//!
//! A node takes each key from the rule that fits its name best: an exact name before a pattern, and among patterns
//! the one with more letters of its own. So `"*" = { policy = "nice:-5" }` and `md = { cpu = 6 }` give md both.
//!
//! ```text
//! rules ──► effective keys per node ──► remap ──► spread ──► auto ──► float ──► checks ──► ResolvedPlan
//! ```

mod auto;
mod check;
mod map;
mod memory;
mod policy;
mod problem;
mod remap;
mod resolve;
mod rule;
mod spread;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use map::CpuMapRow;
pub use memory::{MemoryBill, MemoryProblem};
pub use policy::{ParsePolicyError, Policy};
pub use problem::{PlanProblem, PlanWarning};
pub use rule::NodeRule;

use crate::cpuset::CpuSet;

/// Origin of a choice that nobody made.
const DEFAULT: &str = "default";

/// A pin plan: section `[pin]` of a platform's TOML.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// Places every node that no rule places; without it such nodes float.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto: Option<Auto>,
    /// What to do when the plan names a CPU or NUMA node that this host does not have or may not use.
    pub on_small_host: OnSmallHost,
    /// Checks of the doctor that must be as wanted, by id: see [`crate::unmet`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<String>,
    /// Rules by node name or pattern.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub nodes: BTreeMap<String, NodeRule>,
}

/// What an automatic plan is after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Auto {
    /// A core of its own for every busy-polling node, near each other; sleepers out of their way.
    Latency,
    /// As few CPUs as the wait modes allow: hardware threads count as CPUs, sleepers share one.
    Density,
}

/// A plan that was written for a bigger host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnSmallHost {
    /// An error, before anything starts.
    #[default]
    Refuse,
    /// The CPUs of the plan are mapped to those that are here, and the plan's promises become warnings.
    Remap,
}

/// How the nodes of one rule share the CPUs of that rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// One CPU each, in turn.
    RoundRobin,
    /// As few CPUs as the wait modes allow: one each for nodes that busy-poll, one for all others.
    Pack,
    /// Any of them, as the kernel likes (the default).
    Float,
}

impl Spread {
    /// As TOML has it.
    fn name(self) -> &'static str {
        match self {
            Spread::RoundRobin => "round-robin",
            Spread::Pack => "pack",
            Spread::Float => "float",
        }
    }
}

/// How a node waits for news.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitMode {
    /// Busy-polls, and so needs a CPU of its own.
    Fast,
    /// Sleeps until it is woken.
    Parked,
    /// Polls for a while, then sleeps.
    Adaptive,
}

/// A node that wants a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeRequest {
    /// Its name, which the plan's patterns are matched with.
    pub name: String,
    /// How it waits.
    pub mode: WaitMode,
    /// Part of the platform (master, md, td, matching, ledger), not a strategy.
    pub platform: bool,
}

/// Where every node runs, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedPlan {
    /// One per node, in the order of the requests.
    pub placements: Vec<Placement>,
    /// What is allowed but likely to spoil a measurement.
    pub warnings: Vec<PlanWarning>,
    /// CPUs of the plan that were mapped to others: planned → used. Empty when the plan fits the host.
    pub remapped: BTreeMap<usize, usize>,
    /// Checks of the doctor that must be as wanted.
    pub required: Vec<String>,
}

/// Where one node runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// The node.
    pub node: String,
    /// How it waits.
    pub mode: WaitMode,
    /// Part of the platform.
    pub platform: bool,
    /// CPUs that it may run on; never empty.
    pub cpus: CpuSet,
    /// Scheduling policy; `None` leaves the one that it was started with.
    pub policy: Option<Policy>,
    /// NUMA node that its memory must come from.
    pub memory_node: Option<usize>,
    /// No other node may have its CPU.
    pub exclusive: bool,
    /// The other hardware threads of its core stay empty.
    pub no_smt_sibling: bool,
    /// Each choice, where it comes from, and why.
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
    /// Why this one.
    pub why: String,
}

impl Placement {
    /// The CPU, when there is just one.
    pub fn pinned_cpu(&self) -> Option<usize> {
        self.cpus.first().filter(|_| self.cpus.len() == 1)
    }

    fn is_busy(&self) -> bool {
        self.mode == WaitMode::Fast
    }
}

impl ResolvedPlan {
    /// The place of the node with this name.
    pub fn placement(&self, node: &str) -> Option<&Placement> {
        self.placements.iter().find(|placement| placement.node == node)
    }

    /// CPUs that one node at least is pinned to, alone or with others.
    pub fn pinned_cpus(&self) -> CpuSet {
        self.placements.iter().filter_map(Placement::pinned_cpu).collect()
    }

    /// CPUs that nothing else should disturb: those of pinned busy-pollers and of exclusive nodes; in a plan without
    /// either, all that a node is pinned to.
    pub fn quiet_cpus(&self) -> CpuSet {
        let exclusive = self.placements.iter().filter(|placement| placement.exclusive);
        let quiet = exclusive.fold(self.busy_cpus(), |all, placement| all.union(&placement.cpus));
        if quiet.is_empty() { self.pinned_cpus() } else { quiet }
    }

    /// CPUs that a busy-polling node is pinned to.
    pub fn busy_cpus(&self) -> CpuSet {
        self.placements
            .iter()
            .filter(|placement| placement.is_busy())
            .filter_map(Placement::pinned_cpu)
            .collect()
    }
}
