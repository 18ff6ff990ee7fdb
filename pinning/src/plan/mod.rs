//! Resolves a plan in TOML to a placement of each node.
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
//! A node takes each key from the rule that fits its name best: an exact name before a pattern, and among patterns the
//! one with more literal characters. So `"*" = { policy = "nice:-5" }` and `md = { cpu = 6 }` both apply to md.
//!
//! ```text
//! rules ──► effective keys per node ──► remap ──► spread ──► auto ──► float ──► checks ──► ResolvedPlan
//! ```

mod auto;
mod check;
mod map;
mod memory;
mod remap;
mod resolve;
mod rule;
mod spread;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use map::CpuMapRow;
pub use memory::{MemoryBill, MemoryProblem};
pub use rule::NodeRule;

/// Origin of a default choice.
const DEFAULT: &str = "default";

/// A pin plan: section `[pin]` of a platform's TOML.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// Places every node that no rule places; without it such nodes float.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto: Option<Auto>,
    /// What to do when the plan names a CPU or NUMA node that this host lacks or does not allow.
    pub on_small_host: OnSmallHost,
    /// Checks of the doctor that must pass, by id: see [`crate::unmet`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<String>,
    /// Rules by node name or pattern.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub nodes: BTreeMap<String, NodeRule>,
}

/// The goal of an automatic plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Auto {
    /// A separate core for every busy-polling node, near each other; sleepers elsewhere.
    Latency,
    /// As few CPUs as the wait modes allow: hardware threads count as CPUs, sleepers share one.
    Density,
}

/// How to treat a plan that was written for a bigger host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnSmallHost {
    /// An error, before anything starts.
    #[default]
    Refuse,
    /// The CPUs of the plan are mapped to those of this host, and the plan's promises become warnings.
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
    /// Any of them, chosen by the kernel (the default).
    Float,
}

impl Spread {
    /// The name in TOML.
    fn name(self) -> &'static str {
        match self {
            Spread::RoundRobin => "round-robin",
            Spread::Pack => "pack",
            Spread::Float => "float",
        }
    }
}

/// A node to be placed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeRequest {
    /// Its name, which the plan's patterns match.
    pub name: String,
    /// Busy-polls without a pause, and so needs a CPU of its own.
    pub busy: bool,
    /// Part of the platform (master, md, td, matching, ledger), not a strategy.
    pub platform: bool,
}
