//! Checks whether this host is fit for latency figures. The checks read only, and need no root.
//!
//! Each check is one short function in the table of its group's file. It returns what it found and, if that differs
//! from what is wanted, the command that corrects it. If the host lacks a facility (no cpufreq in a virtual machine) or
//! a file is garbled, the check is skipped with the reason. No content of `/sys` or `/proc` makes a check panic.

mod clock;
mod container;
mod cpu;
mod interrupts;
mod kernel;
mod limits;
mod memory;
mod probe;
mod rank;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::host::HostSummary;
use crate::placement::ResolvedPlan;
use probe::{Answer, Probe};
pub use rank::{Fitness, Scale, Verdict, rank, scale};

/// The verdict of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// As wanted.
    Ok,
    /// Works, at a cost in latency.
    Warn,
    /// Figures from this host mislead, or the platform will not run.
    Fail,
    /// The host does not have this facility, or does not show it.
    Skip,
}

/// The subject of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// Clock rate, sleep states, isolation, load.
    Cpu,
    /// Pages, swap, NUMA.
    Memory,
    /// Interrupts and their consequences.
    Interrupts,
    /// Version and settings of the kernel.
    Kernel,
    /// Time source, and stolen time.
    Clock,
    /// This user's limits.
    Limits,
    /// Limits of the control groups.
    Container,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Short name, which a plan's `required` uses.
    pub id: String,
    /// Its subject.
    pub group: Group,
    /// The verdict.
    pub status: Status,
    /// What a message may lose to a fault of this kind.
    pub scale: Scale,
    /// The host's value; for a skip the reason.
    pub found: String,
    /// The value it should have.
    pub wanted: String,
    /// The cost of the difference.
    pub cost: String,
    /// The command that corrects it; empty when there is nothing to correct.
    pub fix: String,
}

/// All checks of a host, in the form of `colo doctor --format json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DoctorReport {
    /// The host; `null` when not even its CPUs could be read.
    pub host: Option<HostSummary>,
    /// What they come to.
    pub verdict: Verdict,
    /// One entry per check, in the order of the groups.
    pub checks: Vec<Check>,
}

/// A row of a group's table.
struct Spec {
    id: &'static str,
    wanted: &'static str,
    cost: &'static str,
    look: fn(&Probe<'_>) -> Answer,
}

const TABLES: [(Group, &[Spec]); 7] = [
    (Group::Cpu, cpu::CHECKS),
    (Group::Memory, memory::CHECKS),
    (Group::Interrupts, interrupts::CHECKS),
    (Group::Kernel, kernel::CHECKS),
    (Group::Clock, clock::CHECKS),
    (Group::Limits, limits::CHECKS),
    (Group::Container, container::CHECKS),
];

/// Runs the checks.
#[derive(Clone, Copy, Debug)]
pub struct Doctor;

impl Doctor {
    /// All checks of the host below `root` (`/` is the running one, whose CPUs are watched for 200 ms). CPUs that the
    /// kernel isolates count as planned.
    ///
    /// ```
    /// let checks = pinning::Doctor::run("/".as_ref());
    /// assert!(checks.iter().any(|check| check.id == "clock-source"));
    /// ```
    pub fn run(root: &Path) -> Vec<Check> {
        Doctor::report(root, None).checks
    }

    /// The checks together with the host they were run on.
    pub fn report(root: &Path, plan: Option<&ResolvedPlan>) -> DoctorReport {
        let probe = Probe::new(root, plan);
        let host = probe.host.as_ref().map(|host| host.summary());
        let rows = TABLES.iter().flat_map(|(group, table)| table.iter().map(move |spec| (*group, spec)));
        let checks: Vec<Check> = rows.map(|(group, spec)| check(group, spec, &probe)).collect();
        DoctorReport { host, verdict: Verdict::of(&checks), checks }
    }
}

/// Ids of all checks, in the order of the report.
pub fn check_ids() -> Vec<&'static str> {
    TABLES.iter().flat_map(|(_, table)| table.iter().map(|spec| spec.id)).collect()
}

/// The checks that a plan requires and that are not as wanted. A required check must be fully as wanted, so a warning
/// counts as unmet; a skip does not, because the host has no such facility.
pub fn unmet<'a>(checks: &'a [Check], required: &[String]) -> Vec<&'a Check> {
    let is_bad = |check: &&Check| matches!(check.status, Status::Warn | Status::Fail);
    checks.iter().filter(is_bad).filter(|check| required.contains(&check.id)).collect()
}

fn check(group: Group, spec: &Spec, probe: &Probe<'_>) -> Check {
    let (status, found, fix) = match (spec.look)(probe) {
        Ok(finding) => (finding.status, finding.found, finding.fix),
        Err(skip) => (Status::Skip, skip.reason, String::new()),
    };
    Check {
        id: spec.id.to_owned(),
        group,
        status,
        scale: scale(spec.id),
        found,
        wanted: spec.wanted.to_owned(),
        cost: spec.cost.to_owned(),
        fix,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Doctor, Group, Status, TABLES, check_ids};

    #[test]
    fn every_check_has_a_name_of_its_own_and_says_what_it_wants() {
        let ids = check_ids();
        assert!(ids.len() >= 30, "{} checks", ids.len());
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
        for spec in TABLES.iter().flat_map(|(_, table)| table.iter()) {
            assert!(!spec.wanted.is_empty() && !spec.cost.is_empty(), "{}", spec.id);
        }
    }

    #[test]
    fn an_empty_tree_is_skipped_with_reasons_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let report = Doctor::report(folder.path(), None);
        assert!(report.host.is_none());
        assert_eq!(report.checks.len(), check_ids().len());
        for check in &report.checks {
            assert_eq!(check.status, Status::Skip, "{check:?}");
            assert!(!check.found.is_empty(), "{check:?}");
        }
        assert!(report.checks.iter().any(|check| check.group == Group::Container));
    }
}
