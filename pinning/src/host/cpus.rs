//! CPUs, cores, packages and caches, from `/sys/devices/system/cpu`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::tree::Tree;
use crate::cpuset::CpuSet;

const CPUS: &str = "sys/devices/system/cpu";

/// One hardware thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cpu {
    /// The kernel's number for it.
    pub id: usize,
    /// Whether it is online.
    pub online: bool,
    /// Its socket; `None` when it is offline or the kernel does not report it.
    pub package: Option<usize>,
    /// Its NUMA node; `None` when it is offline.
    pub node: Option<usize>,
    /// The online hardware threads of its core, including itself.
    pub siblings: CpuSet,
    /// Whether it is one of the fast cores of a hybrid CPU.
    pub kind: CoreKind,
}

/// Kinds of core of a hybrid CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CoreKind {
    /// A fast core, or any core of a CPU that has one kind only.
    Performance,
    /// A slow core that saves power.
    Efficient,
}

/// A physical core: the hardware threads that share its execution units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Core {
    /// Its hardware threads that are online.
    pub cpus: CpuSet,
    /// Fast or power-saving.
    pub kind: CoreKind,
}

/// A socket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Package {
    /// The kernel's number for it.
    pub id: usize,
    /// Its CPUs that are online.
    pub cpus: CpuSet,
}

/// A cache and the CPUs that share it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CacheGroup {
    /// 2 or 3 (a level 4 cache counts under its own number).
    pub level: u8,
    /// Size in KiB, if the kernel reports it.
    pub size_kib: Option<u64>,
    /// The CPUs that share it.
    pub cpus: CpuSet,
}

/// The contents of `/sys/devices/system/cpu`.
pub(super) struct Found {
    pub(super) cpus: Vec<Cpu>,
    pub(super) cores: Vec<Core>,
    pub(super) packages: Vec<Package>,
    pub(super) caches: Vec<CacheGroup>,
    pub(super) online: CpuSet,
    pub(super) offline: CpuSet,
}

/// CPUs that the kernel was told to keep quiet.
pub(super) struct KernelLists {
    pub(super) isolated: CpuSet,
    pub(super) nohz_full: CpuSet,
    pub(super) rcu_nocbs: CpuSet,
}

/// `None` when no file names a CPU.
pub(super) fn read(tree: &Tree, notes: &mut Vec<String>) -> Option<Found> {
    let online = online(tree, notes)?;
    let present = match tree.cpus(&format!("{CPUS}/present")) {
        Ok(present) => present.union(&online),
        Err(_) => online.union(&tree.numbered(CPUS, "cpu").into_iter().collect()),
    };
    let efficient = efficient_cpus(tree, &online);
    let mut lonely = CpuSet::new();
    let mut cpus: Vec<Cpu> = present
        .iter()
        .map(|id| Cpu {
            id,
            online: online.contains(id),
            package: package(tree, id).filter(|_| online.contains(id)),
            node: None,
            siblings: if online.contains(id) {
                siblings(tree, id, &online, &mut lonely)
            } else {
                CpuSet::new()
            },
            kind: if efficient.contains(id) { CoreKind::Efficient } else { CoreKind::Performance },
        })
        .collect();
    if !lonely.is_empty() {
        notes.push(format!(
            "nothing says who shares the cores of CPUs {lonely}; each taken for a core of its own"
        ));
    }
    make_siblings_mutual(&mut cpus, notes);

    let mut cores: Vec<Core> = Vec::new();
    let mut packages: BTreeMap<usize, CpuSet> = BTreeMap::new();
    for cpu in cpus.iter().filter(|cpu| cpu.online) {
        if cpu.siblings.first() == Some(cpu.id) {
            cores.push(Core { cpus: cpu.siblings.clone(), kind: cpu.kind });
        }
        if let Some(package) = cpu.package {
            packages.entry(package).or_default().insert(cpu.id);
        }
    }
    if packages.is_empty() {
        notes.push("no CPU names its package; one package with every CPU assumed".to_owned());
        packages.insert(0, online.clone());
    }
    let packages = packages.into_iter().map(|(id, cpus)| Package { id, cpus }).collect();
    let offline = present.difference(&online);
    Some(Found { cores, packages, caches: caches(tree, &online, notes), cpus, online, offline })
}

fn online(tree: &Tree, notes: &mut Vec<String>) -> Option<CpuSet> {
    match tree.cpus(&format!("{CPUS}/online")) {
        Ok(online) if !online.is_empty() => return Some(online),
        Ok(_) => notes.push(format!("/{CPUS}/online is empty; the cpuN folders are counted instead")),
        Err(error) => notes.push(format!("{error}; the cpuN folders are counted instead")),
    }
    let has_topology = |id: &usize| {
        let is_on = tree.number(&format!("{CPUS}/cpu{id}/online")).map_or(true, |online| online != 0);
        is_on && tree.exists(&format!("{CPUS}/cpu{id}/topology"))
    };
    let folders: CpuSet = tree.numbered(CPUS, "cpu").into_iter().filter(has_topology).collect();
    if !folders.is_empty() {
        return Some(folders);
    }
    let cpuinfo = tree.text("proc/cpuinfo").ok()?;
    let listed: CpuSet = cpuinfo
        .lines()
        .filter_map(|line| line.strip_prefix("processor")?.trim().strip_prefix(':')?.trim().parse().ok())
        .filter(|&id: &usize| id < crate::cpuset::MAX_CPUS)
        .collect();
    notes.push("/proc/cpuinfo is counted for want of cpuN folders".to_owned());
    (!listed.is_empty()).then_some(listed)
}

/// Arm hosts without firmware tables print -1 for «unknown».
fn package(tree: &Tree, id: usize) -> Option<usize> {
    tree.index(&format!("{CPUS}/cpu{id}/topology/physical_package_id")).ok()
}

/// The online hardware threads of a core; a CPU without information is added to `lonely`.
fn siblings(tree: &Tree, id: usize, online: &CpuSet, lonely: &mut CpuSet) -> CpuSet {
    let folder = format!("{CPUS}/cpu{id}/topology");
    let list = |name: &str| tree.cpus(&format!("{folder}/{name}"));
    let mask = |name: &str| {
        tree.text(&format!("{folder}/{name}")).ok().and_then(|text| CpuSet::from_mask(&text).ok())
    };
    // `thread_siblings` is the older name of `core_cpus`.
    let found = list("core_cpus_list")
        .or_else(|_| list("thread_siblings_list"))
        .ok()
        .or_else(|| mask("core_cpus"))
        .or_else(|| mask("thread_siblings"));
    let mut siblings = match found {
        Some(siblings) => siblings.intersection(online),
        None => {
            lonely.insert(id);
            CpuSet::new()
        }
    };
    siblings.insert(id);
    siblings
}

/// Two CPUs share a core only when both say so: a garbled list must not make a core overlap another.
fn make_siblings_mutual(cpus: &mut [Cpu], notes: &mut Vec<String>) {
    let said: BTreeMap<usize, CpuSet> = cpus.iter().map(|cpu| (cpu.id, cpu.siblings.clone())).collect();
    for cpu in cpus.iter_mut().filter(|cpu| cpu.online) {
        let agrees = |other: &usize| said.get(other) == Some(&cpu.siblings);
        if !cpu.siblings.iter().all(|other| agrees(&other)) {
            notes.push(format!(
                "CPU {} lists {} as its core, the others do not agree; taken for a core of its own",
                cpu.id, cpu.siblings
            ));
            cpu.siblings = CpuSet::single(cpu.id);
        }
    }
}

/// The slow cores of a hybrid CPU: Intel lists them; Arm (and newer x86 kernels) give each CPU a capacity.
fn efficient_cpus(tree: &Tree, online: &CpuSet) -> CpuSet {
    let performance = tree.cpus("sys/devices/cpu_core/cpus");
    if let (Ok(performance), Ok(efficient)) = (performance, tree.cpus("sys/devices/cpu_atom/cpus"))
        && !performance.is_empty()
    {
        return efficient.intersection(online);
    }
    let capacity =
        |id| tree.index(&format!("{CPUS}/cpu{id}/cpu_capacity")).ok().map(|capacity| (id, capacity));
    let capacities: Vec<(usize, usize)> = online.iter().filter_map(capacity).collect();
    let largest = capacities.iter().map(|&(_, capacity)| capacity).max().unwrap_or(0);
    // Favoured cores of one kind differ by a few percent; cores of another kind are at least a fifth slower.
    capacities
        .into_iter()
        .filter(|&(_, capacity)| capacity.saturating_mul(5) < largest.saturating_mul(4))
        .map(|(id, _)| id)
        .collect()
}

fn caches(tree: &Tree, online: &CpuSet, notes: &mut Vec<String>) -> Vec<CacheGroup> {
    let mut groups: BTreeMap<(u8, CpuSet), Option<u64>> = BTreeMap::new();
    for id in online.iter() {
        let folder = format!("{CPUS}/cpu{id}/cache");
        for index in tree.numbered(&folder, "index") {
            let path = format!("{folder}/index{index}");
            let Ok(level) = tree.index(&format!("{path}/level")) else { continue };
            if !(2..=9).contains(&level)
                || tree.text(&format!("{path}/type")).is_ok_and(|kind| kind == "Instruction")
            {
                continue;
            }
            let shared = tree.cpus(&format!("{path}/shared_cpu_list")).ok().or_else(|| {
                let mask = tree.text(&format!("{path}/shared_cpu_map")).ok()?;
                CpuSet::from_mask(&mask).ok()
            });
            let Some(shared) = shared else {
                notes.push(format!("/{path} does not say who shares it; left out"));
                continue;
            };
            let mut shared = shared.intersection(online);
            shared.insert(id);
            let size = tree.text(&format!("{path}/size")).ok().and_then(|text| kibibytes(&text));
            groups.entry((level as u8, shared)).or_insert(size);
        }
    }
    let mut caches: Vec<CacheGroup> =
        groups.into_iter().map(|((level, cpus), size_kib)| CacheGroup { level, size_kib, cpus }).collect();
    caches.sort_by_key(|group| (group.level, group.cpus.first()));
    caches
}

/// `2048K` or `107M` in KiB.
fn kibibytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let number: u64 = digits.parse().ok()?;
    match &text[digits.len()..] {
        "K" => Some(number),
        "M" => number.checked_mul(1024),
        "" => Some(number / 1024),
        _ => None,
    }
}

/// `isolcpus`, `nohz_full` and `rcu_nocbs`: from sysfs if it has them, otherwise from the kernel's command line.
pub(super) fn kernel_lists(tree: &Tree, online: &CpuSet, notes: &mut Vec<String>) -> KernelLists {
    let command_line = tree.text("proc/cmdline").unwrap_or_default();
    let last = online.last().unwrap_or(0);
    let mut parameter = |name: &str| -> CpuSet {
        let Some(value) = kernel_parameter(&command_line, name) else { return CpuSet::new() };
        CpuSet::from_command_line(value, last).unwrap_or_else(|error| {
            notes.push(format!("/proc/cmdline, {name}: {error}"));
            CpuSet::new()
        })
    };
    let at_start = tree.cpus(&format!("{CPUS}/isolated")).unwrap_or_else(|_| parameter("isolcpus"));
    let partitions = tree.cpus("sys/fs/cgroup/cpuset.cpus.isolated").unwrap_or_default();
    let isolated = at_start.union(&partitions);
    let nohz_full = tree.cpus(&format!("{CPUS}/nohz_full")).unwrap_or_else(|_| parameter("nohz_full"));
    // nohz_full implies rcu_nocbs.
    let rcu_nocbs = parameter("rcu_nocbs").union(&nohz_full);
    let there = |set: CpuSet| set.intersection(online);
    KernelLists { isolated: there(isolated), nohz_full: there(nohz_full), rcu_nocbs: there(rcu_nocbs) }
}

/// The value of `name=value` on the kernel's command line.
pub(crate) fn kernel_parameter<'a>(command_line: &'a str, name: &str) -> Option<&'a str> {
    command_line.split_whitespace().rev().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::{kernel_parameter, kibibytes};

    #[test]
    fn sizes_and_parameters() {
        assert_eq!(kibibytes("2048K"), Some(2048));
        assert_eq!(kibibytes("32M"), Some(32 * 1024));
        assert_eq!(kibibytes("lots"), None);
        assert_eq!(kernel_parameter("quiet isolcpus=2-5 x", "isolcpus"), Some("2-5"));
        assert_eq!(kernel_parameter("isolcpus=1 isolcpus=2", "isolcpus"), Some("2"));
        assert_eq!(kernel_parameter("myisolcpus=1", "isolcpus"), None);
    }
}
