//! The plan by CPU: the nodes on each.

use serde::Serialize;

use crate::cpuset::CpuSet;
use crate::host::Host;
use crate::placement::ResolvedPlan;

/// One CPU of the host and the nodes that the plan puts there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CpuMapRow {
    /// The CPU.
    pub cpu: usize,
    /// Its socket.
    pub package: Option<usize>,
    /// Its NUMA node.
    pub numa: Option<usize>,
    /// The hardware threads of its core.
    pub core: CpuSet,
    /// Whether this process may use it.
    pub allowed: bool,
    /// Whether the scheduler leaves it alone.
    pub isolated: bool,
    /// Nodes that run only here.
    pub pinned: Vec<String>,
    /// Number of other nodes that may run here.
    pub floating: usize,
}

impl ResolvedPlan {
    /// One row for each online CPU of `host`, by number.
    pub fn cpu_map(&self, host: &Host) -> Vec<CpuMapRow> {
        let row = |cpu: &crate::host::Cpu| CpuMapRow {
            cpu: cpu.id,
            package: cpu.package,
            numa: cpu.node,
            core: cpu.siblings.clone(),
            allowed: host.allowed.contains(cpu.id),
            isolated: host.isolated.contains(cpu.id),
            pinned: self
                .placements
                .iter()
                .filter(|placement| placement.pinned_cpu() == Some(cpu.id))
                .map(|placement| placement.node.clone())
                .collect(),
            floating: self
                .placements
                .iter()
                .filter(|placement| placement.cpus.len() > 1 && placement.cpus.contains(cpu.id))
                .count(),
        };
        host.cpus.iter().filter(|cpu| cpu.online).map(row).collect()
    }
}
