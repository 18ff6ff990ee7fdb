//! Does a platform fit a host? Asked before anything starts: the pin plan, the memory, the doctor's required checks.

use std::collections::BTreeMap;
use std::path::Path;

use node::Exit;
use pinning::{Doctor, Host, MemoryBill, ResolvedPlan, Status, unmet};
use serde::Serialize;
use topology::{Pages, Topology};

use crate::failure::Failure;

/// What a host says to a platform.
#[derive(Debug)]
pub(super) struct Fit {
    pub(super) host: Host,
    /// Where each node runs; `None` when nothing is planned, or the plan does not fit.
    pub(super) plan: Option<ResolvedPlan>,
    /// Why the plan does not fit.
    pub(super) plan_problems: Vec<String>,
    /// What the plan may do, but a measurement should know.
    pub(super) plan_warnings: Vec<String>,
    /// Memory that is missing.
    pub(super) memory_problems: Vec<String>,
    /// Huge pages that would be nice to have and are missing.
    pub(super) memory_warnings: Vec<String>,
    /// Checks of the doctor that `pin.required` names and that do not hold.
    pub(super) required_problems: Vec<String>,
    /// Those that had nothing to look at.
    pub(super) required_warnings: Vec<String>,
}

/// How a verb prints it.
#[derive(Debug, Serialize)]
pub(super) struct FitAnswer<'a> {
    /// Whether the platform would start here.
    fits: bool,
    plan_problems: &'a [String],
    plan_warnings: &'a [String],
    memory_problems: &'a [String],
    memory_warnings: &'a [String],
    required_problems: &'a [String],
    required_warnings: &'a [String],
}

impl Fit {
    /// Of a topology on the host whose `sys` and `proc` folders lie below `root`.
    pub(super) fn of(topology: &Topology, root: &Path) -> Result<Fit, Failure> {
        let host = host(root)?;
        let (plan, plan_problems) = match topology.place(&host) {
            Ok(plan) => (plan, Vec::new()),
            Err(problems) => (None, problems.iter().map(ToString::to_string).collect()),
        };
        let plan_warnings = plan.iter().flat_map(|plan| &plan.warnings).map(ToString::to_string);
        let plan_warnings = plan_warnings.chain(topology.crowding(&host)).collect();
        let text = |bill: MemoryBill| bill.problems(&host).iter().map(ToString::to_string).collect();
        let memory_problems = text(bill(topology, true));
        let wishes = MemoryBill {
            required_huge_bytes: bill(topology, false).required_huge_bytes,
            ..MemoryBill::default()
        };
        let memory_warnings: Vec<String> = text(wishes);
        let memory_warnings = memory_warnings
            .into_iter()
            .filter(|wish| !memory_problems.contains(wish))
            .map(|wish| format!("huge pages are preferred, and may be missing: {wish}"))
            .collect();
        let mut fit = Fit {
            plan,
            plan_problems,
            plan_warnings,
            memory_problems,
            memory_warnings,
            required_problems: Vec::new(),
            required_warnings: Vec::new(),
            host,
        };
        if root == Path::new("/") {
            fit.check_mounts(topology);
        }
        Ok(fit)
    }

    /// The same with the doctor's checks that the plan requires. Looking takes a while, and is for those who asked for it.
    pub(super) fn with_required(mut self, topology: &Topology, root: &Path) -> Fit {
        let required = &topology.pin.required;
        if required.is_empty() {
            return self;
        }
        let checks = Doctor::report(root, self.plan.as_ref()).checks;
        let problems = unmet(&checks, required).into_iter().map(|check| {
            format!("required check {}: {}; wanted: {}; {}", check.id, check.found, check.wanted, check.fix)
        });
        self.required_problems = problems.collect();
        let skipped =
            checks.iter().filter(|check| check.status == Status::Skip && required.contains(&check.id));
        let warnings = skipped
            .map(|check| format!("required check {} has nothing to look at: {}", check.id, check.found));
        self.required_warnings = warnings.collect();
        self
    }

    /// Reserved huge pages are of no use without a file system of theirs that takes the rings. Asked ring by ring, as
    /// master does when it makes them.
    fn check_mounts(&mut self, topology: &Topology) {
        let mut pool = node::HugePool::now();
        let needed: BTreeMap<u64, u64> = huge_pages(topology).into_iter().collect();
        for journal in &topology.journals {
            let Pages::Huge { size, require } = journal.pages else { continue };
            // Pages that the host does not have are in the bill.
            let lack = match pool.take(size, journal.capacity_bytes.div_ceil(size)) {
                Ok(_) | Err(node::HugeLack::PoolEmpty { .. }) => continue,
                Err(lack) => lack,
            };
            let (pages, fix) = (crate::output::bytes(size), lack.fix(size, needed[&(size / 1024)]));
            let verb = if require { "requires" } else { "prefers" };
            let text = format!("`{}` {verb} huge pages of {pages}: {lack}; as root: {fix}", journal.name);
            let said = if require { &mut self.memory_problems } else { &mut self.memory_warnings };
            // One mend serves them all.
            if !said.iter().any(|other| other.ends_with(&fix)) {
                said.push(text);
            }
        }
    }

    /// Whether the platform would start here.
    pub(super) fn is_good(&self) -> bool {
        self.problems().next().is_none()
    }

    /// All that keeps the platform from starting here.
    fn problems(&self) -> impl Iterator<Item = &String> {
        self.plan_problems.iter().chain(&self.memory_problems).chain(&self.required_problems)
    }

    pub(super) fn answer(&self) -> FitAnswer<'_> {
        FitAnswer {
            fits: self.is_good(),
            plan_problems: &self.plan_problems,
            plan_warnings: &self.plan_warnings,
            memory_problems: &self.memory_problems,
            memory_warnings: &self.memory_warnings,
            required_problems: &self.required_problems,
            required_warnings: &self.required_warnings,
        }
    }

    /// One line for each that is wrong or doubtful.
    pub(super) fn lines(&self) -> String {
        let line = |mark: &str, all: &[String]| -> String {
            all.iter().map(|text| format!("{mark}: {text}\n")).collect()
        };
        [
            line("does not fit", &self.plan_problems),
            line("does not fit", &self.memory_problems),
            line("does not fit", &self.required_problems),
            line("warning", &self.plan_warnings),
            line("warning", &self.memory_warnings),
            line("warning", &self.required_warnings),
        ]
        .concat()
    }
}

pub(super) fn host(root: &Path) -> Result<Host, Failure> {
    Host::read(root).map_err(|error| Failure::new(Exit::Failed, error.to_string()))
}

/// Asks the running host before anything starts. Warnings go to standard error.
///
/// # Errors
/// The host is not fit: the plan, the memory, or a check of the doctor that the plan requires.
pub(super) fn demand(topology: &Topology) -> Result<(), Failure> {
    let root = Path::new("/");
    let fit = Fit::of(topology, root)?.with_required(topology, root);
    for warning in fit.plan_warnings.iter().chain(&fit.memory_warnings).chain(&fit.required_warnings) {
        talk!("warning: {warning}");
    }
    let wrong: Vec<&String> = fit.problems().collect();
    if wrong.is_empty() {
        return Ok(());
    }
    let lines: String = wrong.iter().map(|line| format!("\n  {line}")).collect();
    Err(Failure::new(Exit::HostUnfit, format!("this host does not fit the platform:{lines}")))
}

/// What the rings take: those that must lie on huge pages, or all that would like to.
fn bill(topology: &Topology, required_only: bool) -> MemoryBill {
    let mut bill = MemoryBill::default();
    for journal in &topology.journals {
        match journal.pages {
            Pages::Huge { size, require } if require || !required_only => {
                let bytes = journal.capacity_bytes.next_multiple_of(size);
                *bill.required_huge_bytes.entry(size / 1024).or_default() += bytes;
            }
            Pages::Small | Pages::Transparent | Pages::Huge { .. } => {
                bill.ordinary_bytes = bill.ordinary_bytes.saturating_add(journal.capacity_bytes);
            }
        }
    }
    bill
}

/// Huge pages that the rings would take, by size: (KiB of a page, pages).
pub(super) fn huge_pages(topology: &Topology) -> Vec<(u64, u64)> {
    let bytes: BTreeMap<u64, u64> = bill(topology, false).required_huge_bytes;
    bytes.into_iter().map(|(kib, bytes)| (kib, bytes / (kib * 1024))).collect()
}
