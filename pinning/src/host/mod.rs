//! The host: packages, NUMA nodes, cores, caches, huge pages, and the part that this process may use.
//!
//! Everything comes from `/sys` and `/proc` below a root. The caller's own affinity mask is not used: a process that
//! was started on one CPU still sees the whole host.
//!
//! A missing or garbled file loses only the fact that it holds; [`Host::notes`] records what was assumed instead. Only
//! a tree that names no CPU at all is an error.

mod cgroup;
mod cpus;
mod identity;
mod memory;
mod nodes;
mod summary;
pub(crate) mod tree;

use std::path::{Path, PathBuf};

use serde::Serialize;

pub use cgroup::CgroupLimits;
pub use cpus::{CacheGroup, Core, CoreKind, Cpu, Package};
pub use identity::KernelVersion;
pub(crate) use identity::cpuinfo_value;
pub(crate) use memory::size;
pub use memory::{HugePages, Memory};
pub use nodes::NumaNode;
pub use summary::HostSummary;

use crate::cpuset::CpuSet;
use tree::Tree;

/// One Linux host, as `/sys` and `/proc` describe it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Host {
    /// The vendor's name of the CPU; `unknown` when no file has it.
    pub cpu_model: String,
    /// Instruction set: `x86_64`, `aarch64`, …; `unknown` when the tree does not show it.
    pub architecture: String,
    /// Version of the kernel, if `/proc` has it.
    pub kernel: Option<KernelVersion>,
    /// Hypervisor under this host (`kvm`, `xen`, `hyperv`, …, or `vm` when only its presence shows).
    pub virtualised: Option<String>,
    /// Container that this process is in (`docker`, `kubernetes`, `lxc`, …).
    pub container: Option<String>,
    /// The kernel's time source (`tsc`, `kvm-clock`, …).
    pub clocksource: Option<String>,
    /// Every CPU that the kernel knows, by number; offline ones too.
    pub cpus: Vec<Cpu>,
    /// Physical cores that are online, as sets of SMT siblings.
    pub cores: Vec<Core>,
    /// Sockets.
    pub packages: Vec<Package>,
    /// NUMA nodes. A kernel without NUMA gives one node with everything.
    pub nodes: Vec<NumaNode>,
    /// Level 2 and level 3 caches, and the CPUs that share each.
    pub caches: Vec<CacheGroup>,
    /// CPUs that are online.
    pub online: CpuSet,
    /// CPUs that are present but switched off.
    pub offline: CpuSet,
    /// CPUs that the scheduler does not use by itself (`isolcpus`, isolated cpuset partitions).
    pub isolated: CpuSet,
    /// CPUs without a scheduler tick while one thread runs (`nohz_full`).
    pub nohz_full: CpuSet,
    /// CPUs without RCU callbacks (`rcu_nocbs`, and every `nohz_full` one).
    pub rcu_nocbs: CpuSet,
    /// Limits of the control groups around this process.
    pub limits: CgroupLimits,
    /// CPUs that this process may be placed on: online, and in its cpuset.
    pub allowed: CpuSet,
    /// Pools of huge pages, smallest page first.
    pub huge_pages: Vec<HugePages>,
    /// Memory and swap.
    pub memory: Memory,
    /// Facts that could not be read, and what was assumed instead.
    pub notes: Vec<String>,
}

/// The host could not be read.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// No file names a CPU.
    #[error(
        "no CPU found below {}: neither sys/devices/system/cpu/online nor a folder sys/devices/system/cpu/cpuN nor \
         proc/cpuinfo names one; give the root of a Linux host (/) or of a recorded tree",
        root.display()
    )]
    NoCpu {
        /// The root that was read.
        root: PathBuf,
    },
}

impl Host {
    /// Reads the host whose `sys` and `proc` folders lie below `root`; `/` is the running one.
    ///
    /// ```
    /// let host = pinning::Host::read("/".as_ref())?;
    /// assert!(host.allowed.is_subset(&host.online));
    /// # Ok::<(), pinning::HostError>(())
    /// ```
    pub fn read(root: &Path) -> Result<Host, HostError> {
        let tree = Tree::new(root);
        let mut notes = Vec::new();
        let found = cpus::read(&tree, &mut notes).ok_or(HostError::NoCpu { root: root.to_owned() })?;
        let memory = memory::read(&tree);
        let huge_pages = memory::huge_pages(&tree, "sys/kernel/mm/hugepages");
        let nodes = nodes::read(&tree, &found.online, &memory, &huge_pages, &mut notes);
        let limits = cgroup::read(&tree, &mut notes);
        let identity = identity::read(&tree);

        let mut allowed = match &limits.cpus {
            Some(cpus) => found.online.intersection(cpus),
            None => found.online.clone(),
        };
        if allowed.is_empty() {
            notes.push(
                "the cpuset of this process holds no CPU that is online; all online ones taken".to_owned(),
            );
            allowed = found.online.clone();
        }

        let mut cpus = found.cpus;
        for cpu in &mut cpus {
            cpu.node = nodes.iter().find(|node| node.cpus.contains(cpu.id)).map(|node| node.id);
        }
        let kernel_lists = cpus::kernel_lists(&tree, &found.online, &mut notes);
        Ok(Host {
            cpu_model: identity.cpu_model,
            architecture: identity.architecture,
            kernel: identity.kernel,
            virtualised: identity.virtualised,
            container: identity.container,
            clocksource: identity.clocksource,
            cpus,
            cores: found.cores,
            packages: found.packages,
            nodes,
            caches: found.caches,
            online: found.online,
            offline: found.offline,
            isolated: kernel_lists.isolated,
            nohz_full: kernel_lists.nohz_full,
            rcu_nocbs: kernel_lists.rcu_nocbs,
            limits,
            allowed,
            huge_pages,
            memory,
            notes,
        })
    }

    /// The CPU with this number, if the kernel knows it.
    pub fn cpu(&self, id: usize) -> Option<&Cpu> {
        self.cpus.iter().find(|cpu| cpu.id == id)
    }

    /// The NUMA node with this number.
    pub(crate) fn node(&self, id: usize) -> Option<&NumaNode> {
        self.nodes.iter().find(|node| node.id == id)
    }

    /// Whether any core runs more than one hardware thread.
    pub(crate) fn has_smt(&self) -> bool {
        self.cores.iter().any(|core| core.cpus.len() > 1)
    }

    /// Whether cores differ in kind.
    pub(crate) fn is_hybrid(&self) -> bool {
        self.cores.iter().any(|core| core.kind == CoreKind::Efficient)
    }

    /// The other hardware threads of the core that `cpu` belongs to.
    pub fn siblings(&self, cpu: usize) -> CpuSet {
        let mut siblings = self.cpu(cpu).map(|cpu| cpu.siblings.clone()).unwrap_or_default();
        siblings.remove(cpu);
        siblings
    }

    /// The other hardware threads of the cores of `cpus`; where two of `cpus` share a core, both are included.
    pub(crate) fn siblings_of(&self, cpus: &CpuSet) -> CpuSet {
        cpus.iter().fold(CpuSet::new(), |all, cpu| all.union(&self.siblings(cpu)))
    }

    /// The CPUs that share the last-level cache of `cpu`: its level 3 group; otherwise its level 2 group if that spans
    /// more than one core, otherwise its package, otherwise itself.
    pub fn cache_neighbours(&self, cpu: usize) -> CpuSet {
        let group = |level| self.caches.iter().find(|group| group.level == level && group.cpus.contains(cpu));
        let siblings = self.cpu(cpu).map(|cpu| &cpu.siblings);
        group(3)
            .or_else(|| group(2).filter(|group| Some(&group.cpus) != siblings))
            .map(|group| group.cpus.clone())
            .or_else(|| {
                self.packages.iter().find(|package| package.cpus.contains(cpu)).map(|p| p.cpus.clone())
            })
            .unwrap_or_else(|| CpuSet::single(cpu))
    }
}
