//! The cost of a scenario, computed before anything starts.

use std::collections::BTreeMap;
use std::time::Duration;

use pinning::Host;
use serde::{Deserialize, Serialize};

use super::scenario::{Cell, Scenario};

/// The runs of a scenario, and their cost.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// Name of the scenario.
    pub scenario: String,
    /// The cells that will run, in the order of the file.
    pub cells: Vec<PlannedCell>,
    /// Groups for which this host is too small.
    pub left_out: Vec<LeftOut>,
    /// Number of platforms that will be started.
    pub runs: u64,
    /// Predicted wall time in seconds.
    pub seconds: f64,
    /// CPUs that this process may use.
    pub host_cpus: usize,
    /// Largest shared memory of a cell on 4 KiB pages, in bytes.
    pub small_bytes: u64,
    /// Largest shared memory of a cell on huge pages, in bytes.
    pub huge_bytes: u64,
    /// The cores that each group needs.
    pub cores: Vec<CoreNeed>,
}

/// One cell of the plan.
#[derive(Clone, Debug, Serialize)]
pub struct PlannedCell {
    /// The name, such as `A10`.
    pub name: String,
    /// Its group.
    pub group: String,
    /// Number of the load.
    pub load: usize,
    /// Quotes a second.
    pub rate: f64,
    /// Number of fresh platforms.
    pub repeats: u32,
    /// Measured seconds of one run.
    pub measured_seconds: f64,
    /// Samples of one run, when every quote is answered.
    pub samples: u64,
    /// Seconds of all its runs, including starting and stopping.
    pub seconds: f64,
}

/// A group that is not run on this host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The group.
    pub group: String,
    /// The reason.
    pub why: String,
}

/// How a group uses the cores.
#[derive(Clone, Debug, Serialize)]
pub struct CoreNeed {
    /// The group.
    pub group: String,
    /// Its title.
    pub title: String,
    /// Nodes that need a whole core each.
    pub fast: usize,
    /// Nodes that sleep between messages.
    pub sleeping: usize,
    /// Cores to which the plan pins nodes, in the kernel's list notation; empty when the kernel decides.
    pub pinned_to: String,
    /// The plan was made for a larger host: planned core → used core.
    pub remapped: BTreeMap<usize, usize>,
}

impl Plan {
    /// Plans the cells that `chosen` accepts, on this host.
    ///
    /// # Errors
    /// Everything in the groups' pin plans that does not fit this host.
    pub fn of(scenario: &Scenario, host: &Host, chosen: impl Fn(&Cell) -> bool) -> Result<Plan, Vec<String>> {
        let cpus = host.allowed.len();
        let overhead = scenario.config.run.overhead;
        let (mut plan, mut problems) = (Plan::empty(scenario, cpus), Vec::new());
        for group in &scenario.config.group {
            let cells = || scenario.cells.iter().filter(|cell| cell.group == group.name && chosen(cell));
            let Some(first) = cells().next() else { continue };
            if (group.cores as usize) > cpus {
                let why = format!("it needs {} CPUs, {cpus} are here", group.cores);
                plan.left_out.push(LeftOut { group: group.name.clone(), why });
                continue;
            }
            match core_need(first, &group.title, host) {
                Ok(need) => plan.cores.push(need),
                Err(found) => problems.extend(found),
            }
            for cell in cells() {
                plan.add(cell, overhead);
            }
        }
        if problems.is_empty() { Ok(plan) } else { Err(problems) }
    }

    fn empty(scenario: &Scenario, host_cpus: usize) -> Plan {
        Plan {
            scenario: scenario.config.scenario.name.clone(),
            cells: Vec::new(),
            left_out: Vec::new(),
            runs: 0,
            seconds: 0.0,
            host_cpus,
            small_bytes: 0,
            huge_bytes: 0,
            cores: Vec::new(),
        }
    }

    fn add(&mut self, cell: &Cell, overhead: Duration) {
        let bill = cell.topology.memory_bill();
        self.small_bytes = self.small_bytes.max(bill.small_bytes);
        self.huge_bytes = self.huge_bytes.max(bill.huge_bytes);
        let seconds = cell.run_time(overhead).as_secs_f64() * f64::from(cell.repeats);
        self.runs += u64::from(cell.repeats);
        self.seconds += seconds;
        self.cells.push(PlannedCell {
            name: cell.name.clone(),
            group: cell.group.clone(),
            load: cell.load,
            rate: cell.rate,
            repeats: cell.repeats,
            measured_seconds: cell.measured().as_secs_f64(),
            samples: cell.expected_samples(),
            seconds,
        });
    }

    /// Whether the cell of this name will run.
    pub(crate) fn has(&self, cell: &Cell) -> bool {
        self.cells.iter().any(|planned| planned.name == cell.name)
    }
}

fn core_need(cell: &Cell, title: &str, host: &Host) -> Result<CoreNeed, Vec<String>> {
    let resolved = cell.topology.place(host).map_err(|problems| {
        problems.iter().map(|problem| format!("group {}: {problem}", cell.group)).collect::<Vec<_>>()
    })?;
    // A hosted strategy has no process of its own.
    let processes = || cell.topology.nodes.iter().filter(|node| node.host.is_none());
    let fast = processes().filter(|node| node.mode.is_fast()).count();
    Ok(CoreNeed {
        group: cell.group.clone(),
        title: title.to_owned(),
        fast,
        sleeping: processes().count() - fast,
        pinned_to: resolved.as_ref().map_or(String::new(), |plan| plan.pinned_cpus().to_string()),
        remapped: resolved.map(|plan| plan.remapped).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::t2o::runs;
    use crate::t2o::scenario::{self, RunOrder};

    const TEXT: &str = r#"
[scenario]
name = "small"
[run]
stagger = "0s"
strategies = 2
instruments = 2
samples = 160
overhead = "1s"
[[load]]
rate = 80
[[load]]
rate = 800
repeats = 2
[[group]]
name = "A"
[[group]]
name = "Z"
cores = 4096
"#;

    #[test]
    fn a_plan_counts_runs_and_leaves_out_what_does_not_fit() {
        let scenario = scenario::parse("s.toml", TEXT, &[]).unwrap();
        let host = Host::read("/".as_ref()).unwrap();
        let plan = Plan::of(&scenario, &host, |_| true).unwrap();
        assert_eq!((plan.cells.len(), plan.runs), (2, 5));
        // Three runs of 1 + 1 + 2 seconds, and two more of the same.
        assert_eq!(plan.seconds, 20.0);
        assert_eq!(plan.left_out[0].group, "Z");
        assert!(plan.small_bytes > 0);
        let one = Plan::of(&scenario, &host, |cell| cell.name == "A2").unwrap();
        assert_eq!(one.runs, 2);
    }

    #[test]
    fn passes_are_shuffled_and_the_same_for_the_same_seed() {
        let scenario = scenario::parse("s.toml", TEXT, &[]).unwrap();
        let cells: Vec<&Cell> = scenario.cells.iter().collect();
        let names = |seed| -> Vec<String> {
            let runs = runs(&cells, RunOrder::Shuffled, seed);
            runs.iter().map(|run| format!("{}-{}", run.cell.name, run.repeat)).collect()
        };
        assert_eq!(names(1), names(1));
        assert_eq!(names(1).len(), 3 + 2 + 3 + 2);
        assert!((2..50).any(|seed| names(seed) != names(1)));
        let passes: Vec<u32> = runs(&cells, RunOrder::Shuffled, 7).iter().map(|run| run.repeat).collect();
        assert!(passes.is_sorted());
    }

    #[test]
    fn interleaved_passes_keep_loads_together_and_every_second_one_is_the_mirror_of_the_first() {
        let text = TEXT.replace("cores = 4096", "").replace("name = \"Z\"", "name = \"D\"");
        let scenario = scenario::parse("s.toml", &text, &[]).unwrap();
        let cells: Vec<&Cell> = scenario.cells.iter().collect();
        for seed in 0..20 {
            let all = runs(&cells, RunOrder::Interleaved, seed);
            let pass = |repeat: u32| -> Vec<&str> {
                all.iter().filter(|run| run.repeat == repeat).map(|run| run.cell.name.as_str()).collect()
            };
            let (first, mut second) = (pass(1), pass(2));
            assert_eq!(first.len(), 4);
            let loads: Vec<&str> = first.iter().map(|name| &name[1..]).collect();
            assert!(loads[0] == loads[1] && loads[2] == loads[3], "{first:?}");
            second.reverse();
            assert_eq!(second, first);
        }
        let firsts: std::collections::BTreeSet<String> =
            (0..20).map(|seed| runs(&cells, RunOrder::Interleaved, seed)[0].cell.name.clone()).collect();
        assert!(firsts.len() > 2, "{firsts:?}");
    }
}
