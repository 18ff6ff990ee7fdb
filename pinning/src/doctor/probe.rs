//! The data that the checks look at, and the form of their answers.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::Status;
use crate::cpuset::CpuSet;
use crate::host::Host;
use crate::host::tree::{Tree, Unreadable};
use crate::placement::ResolvedPlan;
use crate::policy::Policy;

/// How long the running host is watched to measure the load of its CPUs.
const WATCH: Duration = Duration::from_millis(200);

pub(super) struct Finding {
    pub(super) status: Status,
    pub(super) found: String,
    pub(super) fix: String,
}

pub(super) struct Skip {
    pub(super) reason: String,
}

pub(super) type Answer = Result<Finding, Skip>;

impl From<Unreadable> for Skip {
    fn from(error: Unreadable) -> Skip {
        Skip { reason: error.to_string() }
    }
}

pub(super) fn skip<T>(reason: impl Into<String>) -> Result<T, Skip> {
    Err(Skip { reason: reason.into() })
}

pub(super) fn ok(found: impl Into<String>) -> Answer {
    Ok(Finding { status: Status::Ok, found: found.into(), fix: String::new() })
}

pub(super) fn warn(found: impl Into<String>, fix: impl Into<String>) -> Answer {
    Ok(Finding { status: Status::Warn, found: found.into(), fix: fix.into() })
}

pub(super) fn fail(found: impl Into<String>, fix: impl Into<String>) -> Answer {
    Ok(Finding { status: Status::Fail, found: found.into(), fix: fix.into() })
}

/// The host under examination.
pub(super) struct Probe<'a> {
    pub(super) tree: Tree,
    pub(super) host: Option<Host>,
    pub(super) plan: Option<&'a ResolvedPlan>,
    pub(super) command_line: String,
    /// Ticks of each CPU while it was watched; empty for a recorded tree.
    pub(super) watched: BTreeMap<usize, Ticks>,
}

impl<'a> Probe<'a> {
    pub(super) fn new(root: &Path, plan: Option<&'a ResolvedPlan>) -> Probe<'a> {
        let tree = Tree::new(root);
        let watched = if tree.is_live() {
            let before = ticks(&tree.text("proc/stat").unwrap_or_default());
            std::thread::sleep(WATCH);
            let after = ticks(&tree.text("proc/stat").unwrap_or_default());
            after.iter().filter_map(|(cpu, after)| Some((*cpu, after.since(before.get(cpu)?)))).collect()
        } else {
            BTreeMap::new()
        };
        Probe {
            host: Host::read(root).ok(),
            plan,
            command_line: tree.text("proc/cmdline").unwrap_or_default(),
            watched,
            tree,
        }
    }

    pub(super) fn host(&self) -> Result<&Host, Skip> {
        self.host.as_ref().map_or_else(|| skip("the CPUs of this host cannot be read"), Ok)
    }

    /// CPUs that must be quiet: those of the plan, otherwise those that the kernel isolates.
    pub(super) fn quiet(&self) -> Result<CpuSet, Skip> {
        let cpus = match self.plan {
            Some(plan) => plan.quiet_cpus(),
            None => self.host()?.isolated.clone(),
        };
        if cpus.is_empty() { skip("no plan pins a node, and no CPU is isolated") } else { Ok(cpus) }
    }

    /// CPUs to check: the quiet ones, otherwise all that this process may use.
    pub(super) fn cpus(&self) -> Result<CpuSet, Skip> {
        self.quiet().or_else(|_| Ok(self.host()?.allowed.clone()))
    }

    /// CPUs by the content of a file below `/sys/devices/system/cpu/cpuN`.
    pub(super) fn by_value(&self, file: &str) -> Result<BTreeMap<String, CpuSet>, Skip> {
        let mut values: BTreeMap<String, CpuSet> = BTreeMap::new();
        for cpu in self.cpus()?.iter() {
            if let Some(value) = self.tree.some_text(&format!("sys/devices/system/cpu/cpu{cpu}/{file}")) {
                values.entry(value).or_default().insert(cpu);
            }
        }
        Ok(values)
    }

    /// Soft limit from `/proc/self/limits`; `None` for unlimited.
    pub(super) fn limit(&self, name: &str) -> Result<Option<u64>, Skip> {
        let limits = self.tree.text("proc/self/limits")?;
        let Some(rest) = limits.lines().find_map(|line| line.strip_prefix(name)) else {
            return skip(format!("/proc/self/limits has no line `{name}`"));
        };
        match rest.split_whitespace().next() {
            Some("unlimited") => Ok(None),
            Some(number) => match number.parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => skip(format!("/proc/self/limits, `{name}`: no number")),
            },
            None => skip(format!("/proc/self/limits, `{name}`: no number")),
        }
    }

    /// Whether the plan gives a node a real-time policy.
    pub(super) fn plans_fifo(&self) -> bool {
        self.plan
            .is_some_and(|plan| plan.placements.iter().any(|p| matches!(p.policy, Some(Policy::Fifo(_)))))
    }

    /// CPUs on which a node of the plan polls under a real-time policy.
    pub(super) fn polling_under_fifo(&self) -> CpuSet {
        let placements = self.plan.iter().flat_map(|plan| &plan.placements);
        let polling = placements.filter(|p| p.busy && matches!(p.policy, Some(Policy::Fifo(_))));
        polling.fold(CpuSet::new(), |all, placement| all.union(&placement.cpus))
    }

    /// The CPUs other than the quiet ones, for work that has to run somewhere; the correction when there are none.
    pub(super) fn rest(&self, quiet: &CpuSet) -> Result<CpuSet, String> {
        let rest = self.host().map(|host| host.online.difference(quiet)).unwrap_or_default();
        if rest.is_empty() {
            return Err("leave a CPU out of the plan: every one is planned, and the kernel needs one for its own work".to_owned());
        }
        Ok(rest)
    }

    /// Whether the running kernel was built with an option; `None` if no file records it.
    pub(super) fn is_built_with(&self, option: &str) -> Option<bool> {
        let release = self.tree.some_text("proc/sys/kernel/osrelease")?;
        let config = self.tree.some_text(&format!("boot/config-{release}"))?;
        Some(config.lines().any(|line| line.strip_prefix(option) == Some("=y")))
    }

    /// Names of running processes.
    pub(super) fn processes(&self) -> Vec<String> {
        let pids = self.tree.numbered_all("proc");
        pids.iter().filter_map(|pid| self.tree.some_text(&format!("proc/{pid}/comm"))).collect()
    }

    /// A number in `/proc/sys` that should be `wanted`.
    pub(super) fn sysctl(&self, name: &str, wanted: i64) -> Answer {
        let value = self.tree.number(&format!("proc/sys/{}", name.replace('.', "/")))?;
        let found = format!("{name} = {value}");
        if value == wanted { ok(found) } else { warn(found, format!("sudo sysctl -w {name}={wanted}")) }
    }
}

/// CPU time in the kernel's ticks, from `/proc/stat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ticks {
    pub(super) total: u64,
    pub(super) idle: u64,
    pub(super) stolen: u64,
}

impl Ticks {
    fn since(self, before: &Ticks) -> Ticks {
        Ticks {
            total: self.total.saturating_sub(before.total),
            idle: self.idle.saturating_sub(before.idle),
            stolen: self.stolen.saturating_sub(before.stolen),
        }
    }

    /// Percent of the time that was not idle.
    pub(super) fn busy_percent(self) -> f64 {
        percent(self.total.saturating_sub(self.idle), self.total)
    }

    /// Percent of the time that the hypervisor gave to others.
    pub(super) fn stolen_percent(self) -> f64 {
        percent(self.stolen, self.total)
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// The `cpuN` lines of `/proc/stat`.
pub(super) fn ticks(stat: &str) -> BTreeMap<usize, Ticks> {
    let line = |line: &str| {
        let mut words = line.strip_prefix("cpu")?.split_whitespace();
        let cpu: usize = words.next().filter(|_| !line.starts_with("cpu "))?.parse().ok()?;
        Some((cpu, of_words(words)?))
    };
    stat.lines().filter_map(line).collect()
}

/// The `cpu` line of `/proc/stat`: all CPUs since the start.
pub(super) fn ticks_of_all(stat: &str) -> Option<Ticks> {
    stat.lines().find_map(|line| of_words(line.strip_prefix("cpu ")?.split_whitespace()))
}

fn of_words<'t>(words: impl Iterator<Item = &'t str>) -> Option<Ticks> {
    // user nice system idle iowait irq softirq steal guest guest_nice: user and nice include the guests' time.
    let numbers: Vec<u64> = words.take(8).map_while(|word| word.parse().ok()).collect();
    let idle = numbers.get(3)?.saturating_add(*numbers.get(4).unwrap_or(&0));
    let total = numbers.iter().fold(0_u64, |sum, number| sum.saturating_add(*number));
    Some(Ticks { total, idle, stolen: *numbers.get(7).unwrap_or(&0) })
}

#[cfg(test)]
mod tests {
    use super::{ticks, ticks_of_all};

    #[test]
    fn ticks_come_from_the_lines_of_single_cpus() {
        let stat = "cpu  10 0 10 70 10 0 0 0 0 0\ncpu0 1 2 3 80 4 5 0 5 0 0\ncpux 1\ncpu1 9\nintr 5";
        let read = ticks(stat);
        assert_eq!(read.len(), 1);
        assert_eq!((read[&0].total, read[&0].idle, read[&0].stolen), (100, 84, 5));
        assert_eq!(read[&0].busy_percent(), 16.0);
        assert_eq!(ticks_of_all(stat).unwrap().busy_percent(), 20.0);
        assert!(ticks_of_all("garbage").is_none());
    }
}
