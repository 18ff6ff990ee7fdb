//! Computes the proposed changes.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::change::{Change, Value, current, same};
use crate::cpuset::CpuSet;
use crate::doctor::{Doctor, Group, Status};
use crate::host::tree::Tree;
use crate::host::{Host, HostError};
use crate::placement::ResolvedPlan;

/// The goals of tuning.
#[derive(Clone, Copy, Debug, Default)]
pub struct TuneOptions<'a> {
    /// The plan whose CPUs are to be kept quiet; otherwise the CPUs that the kernel isolates.
    pub plan: Option<&'a ResolvedPlan>,
    /// Huge pages that should be free: (page size in KiB, pages). Pools are only enlarged.
    pub huge_pages: &'a [(u64, u64)],
}

/// Proposed changes, and hints for what must be done by hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proposal {
    #[serde(skip)]
    pub(super) root: PathBuf,
    /// Changes that can be made now, and undone. A caller may remove some.
    pub changes: Vec<Change>,
    /// What cannot be done, or not undone, at run time: kernel parameters, limits; each with its command.
    pub hints: Vec<String>,
}

/// Values that suit every host: (check, file, format, wanted value, equally good values).
const SETTINGS: [(&str, &str, Value, &str, &[&str]); 8] = [
    ("memory-thp", "sys/kernel/mm/transparent_hugepage/enabled", Value::Choice, "madvise", &["never"]),
    (
        "memory-thp-defrag",
        "sys/kernel/mm/transparent_hugepage/defrag",
        Value::Choice,
        "madvise",
        &["never", "defer", "defer+madvise"],
    ),
    (
        "memory-thp-shmem",
        "sys/kernel/mm/transparent_hugepage/shmem_enabled",
        Value::Choice,
        "advise",
        &["within_size", "always", "force"],
    ),
    ("memory-ksm", "sys/kernel/mm/ksm/run", Value::Plain, "0", &["2"]),
    ("memory-numa-balancing", "proc/sys/kernel/numa_balancing", Value::Plain, "0", &[]),
    ("memory-zone-reclaim", "proc/sys/vm/zone_reclaim_mode", Value::Plain, "0", &[]),
    ("memory-compaction", "proc/sys/vm/compaction_proactiveness", Value::Plain, "0", &[]),
    ("kernel-stat-interval", "proc/sys/vm/stat_interval", Value::Plain, "120", &[]),
];

impl Proposal {
    /// The changes to the host below `root`. Nothing is written.
    pub fn new(root: &Path, options: TuneOptions<'_>) -> Result<Proposal, HostError> {
        let host = Host::read(root)?;
        let tree = Tree::new(root);
        let quiet = options.plan.map_or_else(|| host.isolated.clone(), ResolvedPlan::quiet_cpus);
        let mut draft = Draft { tree: &tree, changes: Vec::new() };
        for (check, file, value, wanted, as_good) in SETTINGS {
            let is_good = |now: &String| as_good.contains(&now.as_str());
            if !current(&tree, file, value).is_ok_and(|now| is_good(&now)) {
                draft.change(check, file.to_owned(), value, wanted.to_owned());
            }
        }
        let cpus = if quiet.is_empty() { &host.allowed } else { &quiet };
        draft.cpus(cpus);
        for (size_kib, pages) in options.huge_pages {
            draft.huge_pages(&host, *size_kib, *pages);
        }
        draft.interrupts(&quiet, &host.online);
        let changes = draft.changes;
        let hints = hints(root, options.plan, &changes);
        Ok(Proposal { root: root.to_owned(), changes, hints })
    }
}

struct Draft<'a> {
    tree: &'a Tree,
    changes: Vec<Change>,
}

impl Draft<'_> {
    /// Only for existing files with another value.
    fn change(&mut self, check: &str, file: String, value: Value, after: String) {
        match current(self.tree, &file, value) {
            Ok(before) if !before.is_empty() && !same(value, &before, &after) => {
                self.changes.push(Change { check: check.to_owned(), file, value, before, after });
            }
            _ => {}
        }
    }

    fn cpus(&mut self, cpus: &CpuSet) {
        for cpu in cpus.iter() {
            let folder = format!("sys/devices/system/cpu/cpu{cpu}");
            let performance = || "performance".to_owned();
            self.change(
                "cpu-governor",
                format!("{folder}/cpufreq/scaling_governor"),
                Value::Plain,
                performance(),
            );
            let preference = format!("{folder}/cpufreq/energy_performance_preference");
            self.change("cpu-energy-preference", preference, Value::Plain, performance());
            for state in self.tree.numbered(&format!("{folder}/cpuidle"), "state") {
                let state = format!("{folder}/cpuidle/state{state}");
                if self.tree.index(&format!("{state}/latency")).is_ok_and(|latency| latency > 10) {
                    self.change("cpu-idle-states", format!("{state}/disable"), Value::Plain, "1".to_owned());
                }
            }
        }
    }

    fn huge_pages(&mut self, host: &Host, size_kib: u64, wanted: u64) {
        let Some(pool) = host.huge_pages.iter().find(|pool| pool.size_kib == size_kib) else { return };
        let missing = wanted.saturating_sub(pool.available());
        if missing > 0 {
            let check = if size_kib == 1 << 20 { "memory-huge-1g" } else { "memory-huge-2m" };
            let file = format!("sys/kernel/mm/hugepages/hugepages-{size_kib}kB/nr_hugepages");
            self.change(check, file, Value::Plain, pool.total.saturating_add(missing).to_string());
        }
    }

    /// Moves interrupts and the kernel's own work to the CPUs that need not be quiet.
    fn interrupts(&mut self, quiet: &CpuSet, online: &CpuSet) {
        let rest = online.difference(quiet);
        if quiet.is_empty() || rest.is_empty() {
            return;
        }
        let overlaps = |set: Option<CpuSet>| set.is_some_and(|cpus| cpus.overlaps(quiet));
        for irq in self.tree.numbered_all("proc/irq") {
            let file = format!("proc/irq/{irq}/smp_affinity_list");
            if overlaps(self.tree.cpus(&file).ok()) {
                self.change("irq-affinity", file, Value::List, rest.to_string());
            }
        }
        for (check, file) in [
            ("irq-default", "proc/irq/default_smp_affinity"),
            ("irq-workqueue", "sys/devices/virtual/workqueue/cpumask"),
        ] {
            if overlaps(self.tree.text(file).ok().and_then(|text| CpuSet::from_mask(&text).ok())) {
                self.change(check, file.to_owned(), Value::Mask, rest.to_mask());
            }
        }
    }
}

/// The doctor's corrections that no change makes.
fn hints(root: &Path, plan: Option<&ResolvedPlan>, changes: &[Change]) -> Vec<String> {
    let is_open = |check: &&crate::doctor::Check| {
        let is_bad = matches!(check.status, Status::Warn | Status::Fail);
        is_bad && check.group != Group::Container && !changes.iter().any(|change| change.check == check.id)
    };
    let checks = Doctor::report(root, plan).checks;
    checks.iter().filter(is_open).map(|check| format!("{}: {}", check.id, check.fix)).collect()
}
