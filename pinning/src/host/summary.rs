//! A short description of the host, attached to every measurement.

use serde::{Deserialize, Serialize};

use super::Host;
use super::identity::KernelVersion;
use super::memory::HugePages;
use crate::cpuset::CpuSet;

/// The host of a measurement, without its name; printed as `host`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSummary {
    /// Name of the CPU.
    pub cpu_model: String,
    /// Sockets.
    pub packages: usize,
    /// Physical cores that are online.
    pub cores: usize,
    /// CPUs (hardware threads) that are online.
    pub cpus: usize,
    /// CPUs that this process may use.
    pub allowed_cpus: CpuSet,
    /// CPUs that the scheduler does not use by itself.
    pub isolated_cpus: CpuSet,
    /// NUMA nodes.
    pub numa_nodes: usize,
    /// Kernel version, `null` when unknown.
    pub kernel: Option<KernelVersion>,
    /// Hypervisor, `null` on bare metal.
    pub virtualised: Option<String>,
    /// Container, `null` outside.
    pub container: Option<String>,
    /// The kernel's time source.
    pub clocksource: Option<String>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// The non-empty pools of huge pages.
    pub huge_pages: Vec<HugePages>,
}

impl Host {
    /// The short form.
    pub fn summary(&self) -> HostSummary {
        HostSummary {
            cpu_model: self.cpu_model.clone(),
            packages: self.packages.len(),
            cores: self.cores.len(),
            cpus: self.online.len(),
            allowed_cpus: self.allowed.clone(),
            isolated_cpus: self.isolated.clone(),
            numa_nodes: self.nodes.len(),
            kernel: self.kernel.clone(),
            virtualised: self.virtualised.clone(),
            container: self.container.clone(),
            clocksource: self.clocksource.clone(),
            memory_bytes: self.memory.total_bytes,
            huge_pages: self.huge_pages.iter().filter(|pool| pool.total > 0).copied().collect(),
        }
    }
}
