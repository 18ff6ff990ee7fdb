//! Does a platform fit a host? Asked before anything starts: the pin plan, the memory, the doctor's required checks.

use std::collections::BTreeMap;
use std::path::Path;

use pinning::{Doctor, Host, HostError, HugeLack, HugePool, MemoryBill, ResolvedPlan, Status, unmet};
use topology::{Pages, Topology};

/// What a host says to a platform: problems keep it from starting, warnings do not.
#[derive(Debug)]
pub struct Fit {
    /// The host.
    pub host: Host,
    /// Where each node runs; `None` when nothing is planned, or the plan does not fit.
    pub plan: Option<ResolvedPlan>,
    /// Why the plan does not fit.
    pub plan_problems: Vec<String>,
    /// What the plan may do, but a measurement should know.
    pub plan_warnings: Vec<String>,
    /// Memory that is missing.
    pub memory_problems: Vec<String>,
    /// Huge pages that would be nice to have and are missing.
    pub memory_warnings: Vec<String>,
    /// Checks of the doctor that `pin.required` names and that do not hold.
    pub required_problems: Vec<String>,
    /// Those that had nothing to look at.
    pub required_warnings: Vec<String>,
}

impl Fit {
    /// Of a topology on the host whose `sys` and `proc` folders lie below `root`.
    ///
    /// # Errors
    /// [`HostError`] when nothing can be said of the host.
    pub fn of(topology: &Topology, root: &Path) -> Result<Fit, HostError> {
        let host = Host::read(root)?;
        let (plan, plan_problems) = match topology.place(&host) {
            Ok(plan) => (plan, Vec::new()),
            Err(problems) => (None, problems.iter().map(ToString::to_string).collect()),
        };
        let plan_warnings = plan.iter().flat_map(|plan| &plan.warnings).map(ToString::to_string);
        let plan_warnings = plan_warnings.chain(topology.crowding(&host)).collect();
        let text = |bill: MemoryBill| bill.problems(&host).iter().map(ToString::to_string).collect();
        let memory_problems = text(bill(topology, true));
        let preferred = MemoryBill {
            required_huge_bytes: bill(topology, false).required_huge_bytes,
            ..MemoryBill::default()
        };
        let memory_warnings: Vec<String> = text(preferred);
        let memory_warnings = memory_warnings
            .into_iter()
            .filter(|text| !memory_problems.contains(text))
            .map(|text| format!("huge pages are preferred, and may be missing: {text}"))
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
    #[must_use]
    pub fn with_required(mut self, topology: &Topology, root: &Path) -> Fit {
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
        let mut pool = HugePool::now();
        let needed: BTreeMap<u64, u64> = huge_pages(topology).into_iter().collect();
        for journal in &topology.journals {
            let Pages::Huge { size, require } = journal.pages else { continue };
            // Pages that the host does not have are in the bill.
            let lack = match pool.take(size, journal.capacity_bytes.div_ceil(size)) {
                Ok(_) | Err(HugeLack::PoolEmpty { .. }) => continue,
                Err(lack) => lack,
            };
            let (pages, fix) = (page(size), lack.fix(size, needed[&(size / 1024)]));
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
    pub fn is_good(&self) -> bool {
        self.problems().next().is_none()
    }

    /// All that keeps the platform from starting here.
    pub fn problems(&self) -> impl Iterator<Item = &String> {
        self.plan_problems.iter().chain(&self.memory_problems).chain(&self.required_problems)
    }

    /// All that a measurement should know.
    pub fn warnings(&self) -> impl Iterator<Item = &String> {
        self.plan_warnings.iter().chain(&self.memory_warnings).chain(&self.required_warnings)
    }
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

/// Size of a huge page, for people.
fn page(bytes: u64) -> String {
    if bytes >= 1 << 30 { format!("{} GiB", bytes >> 30) } else { format!("{} MiB", bytes >> 20) }
}

/// Huge pages that the rings would take, by size: (KiB of a page, pages).
pub fn huge_pages(topology: &Topology) -> Vec<(u64, u64)> {
    let bytes: BTreeMap<u64, u64> = bill(topology, false).required_huge_bytes;
    bytes.into_iter().map(|(kib, bytes)| (kib, bytes / (kib * 1024))).collect()
}
