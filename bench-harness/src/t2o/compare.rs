//! Compares two matrices cell by cell.
//!
//! The figure is t2o's median over the messages of a run; a cell has one for each run. Two cells are compared by the
//! ratio of the medians over their runs, with a confidence interval over the runs (see `interval`): all intervals of a
//! comparison hold together in 95 of 100 cases. Messages are not treated as independent: those of one run share the
//! state of the host. Where all runs have slices, the median is that of a run's quiet ones.
//!
//! A cell that was disturbed, or was not measured under the same load on both sides, has no verdict, and the reason is
//! given.

use std::fmt;

use serde::Serialize;

use super::claims::{disturbed, spoilt};
use super::interval::{self, FEWEST_RUNS};
use super::result::{CellResult, Results};
use super::slices::Level;

/// How a cell changed from one matrix to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Faster, beyond the tolerance and beyond the runs' spread.
    Improved,
    /// Slower, beyond the tolerance and beyond the runs' spread.
    Worse,
    /// The whole interval lies within the tolerance.
    NoChange,
    /// The runs do not decide it.
    Inconclusive,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Change::Improved => "improved",
            Change::Worse => "worse",
            Change::NoChange => "no change",
            Change::Inconclusive => "inconclusive",
        })
    }
}

/// One cell in both matrices.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// `A10`.
    pub cell: String,
    /// Quotes a second.
    pub rate: f64,
    /// Median over the runs of the first matrix, in µs.
    pub before_us: f64,
    /// Median over the runs of the second, in µs.
    pub after_us: f64,
    /// Difference, as a share of the first: 0.1 is ten per cent slower.
    pub difference: f64,
    /// The true difference lies between these; in 95 of 100 comparisons that holds for all of their cells. `null` when
    /// there are too few runs.
    pub interval: Option<[f64; 2]>,
    /// Number of runs in the first and in the second.
    pub runs: [usize; 2],
    /// The verdict.
    pub change: Change,
    /// The reason for having no verdict, other than an interval that is too wide.
    pub why: Option<String>,
}

/// All cells that are in both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Share of the first's figure that does not count as a change.
    pub tolerance: f64,
    /// Cell by cell.
    pub cells: Vec<Compared>,
    /// Cells that are in only one of them.
    pub unmatched: Vec<String>,
    /// Differences of the platforms, which may be what is compared on purpose.
    pub notes: Vec<String>,
}

impl Comparison {
    /// Compares two matrices. Cells are the same when group and rate are.
    pub fn of(before: &Results, after: &Results, tolerance: f64) -> Comparison {
        let mut pairs = Vec::new();
        let mut unmatched = Vec::new();
        for cell in &before.cells {
            match after.cell(&cell.group, cell.rate) {
                Some(other) => pairs.push((cell, other, unfit(before, after, cell, other))),
                None => unmatched.push(format!("{} (only the first)", cell.name)),
            }
        }
        let added = after.cells.iter().filter(|cell| before.cell(&cell.group, cell.rate).is_none());
        unmatched.extend(added.map(|cell| format!("{} (only the second)", cell.name)));
        let family = pairs.iter().filter(|(_, _, why)| why.is_none()).count();
        let compared = |(cell, other, why): (&CellResult, &CellResult, Option<String>)| {
            compare((cell, other), why, tolerance, family)
        };
        let cells = pairs.into_iter().filter_map(compared).collect();
        Comparison { tolerance, cells, unmatched, notes: platforms_differ(before, after) }
    }

    /// Number of cells with this verdict.
    pub fn count(&self, change: Change) -> usize {
        self.cells.iter().filter(|cell| cell.change == change).count()
    }

    /// Whether no cell has a verdict.
    pub fn says_nothing(&self) -> bool {
        self.count(Change::Inconclusive) == self.cells.len()
    }
}

/// Relevant differences of the hosts; empty when there are none.
pub fn host_differences(before: &Results, after: &Results) -> Vec<String> {
    let (a, b) = (&before.host, &after.host);
    let mut found = Vec::new();
    let mut differ = |what: &str, a: String, b: String| {
        if a != b {
            found.push(format!("{what}: {a}, {b}"));
        }
    };
    differ("processor", a.cpu_model.clone(), b.cpu_model.clone());
    differ("CPUs", a.allowed_cpus.len().to_string(), b.allowed_cpus.len().to_string());
    differ("NUMA nodes", a.numa_nodes.to_string(), b.numa_nodes.to_string());
    let kernel =
        |host: &pinning::HostSummary| host.kernel.as_ref().map_or("unknown".to_owned(), |k| k.to_string());
    differ("kernel", kernel(a), kernel(b));
    differ("hypervisor", format!("{:?}", a.virtualised), format!("{:?}", b.virtualised));
    differ("clock", format!("{:?}", a.clocksource), format!("{:?}", b.clocksource));
    found
}

/// Why these two cells cannot be compared.
fn unfit(before: &Results, after: &Results, cell: &CellResult, other: &CellResult) -> Option<String> {
    let load = |results: &Results| {
        let (run, group) =
            (&results.settings.run, results.settings.group.iter().find(|g| g.name == cell.group));
        let of_group = |own: fn(&super::scenario::GroupConfig) -> Option<u32>| group.and_then(own);
        [
            ("think", humantime(run.think)),
            ("strategies", of_group(|group| group.strategies).unwrap_or(run.strategies).to_string()),
            ("instruments", of_group(|group| group.instruments).unwrap_or(run.instruments).to_string()),
            ("generator", run.generator.as_str().to_owned()),
        ]
    };
    let differs = load(before).into_iter().zip(load(after)).find(|(a, b)| a != b);
    if let Some(((what, a), (_, b))) = differs {
        return Some(format!("{what} differs: {a} and {b}"));
    }
    let (first, second) = (cell, other);
    for (side, cell) in [("first", cell), ("second", other)] {
        // What the host did for a while is in no quiet slice.
        let mark = if is_sliced([first, second]) { spoilt(cell) } else { disturbed(cell) };
        if let Some(mark) = mark {
            return Some(format!("the {side} is marked {mark}"));
        }
        let least = |run: &&super::record::RunRecord| {
            run.stages.get("t2o").is_some_and(|stage| run.is_least(stage.p50_us))
        };
        if cell.runs.iter().any(|run| least(&run)) {
            return Some(format!("the {side} lost so many answers that its median is a least"));
        }
    }
    let sliced = is_sliced([cell, other]);
    let runs = [cell, other].map(|cell| medians(cell, sliced).len());
    let few = runs.iter().any(|runs| *runs < FEWEST_RUNS);
    few.then(|| match sliced {
        true => format!(
            "{} and {} runs have enough quiet slices: {FEWEST_RUNS} each are needed (of {} and {}; --set run.repeats={})",
            runs[0],
            runs[1],
            cell.runs.len(),
            other.runs.len(),
            2 * FEWEST_RUNS
        ),
        false => format!(
            "{} and {} runs: {FEWEST_RUNS} each are needed (--set run.repeats={FEWEST_RUNS})",
            runs[0], runs[1]
        ),
    })
}

fn humantime(duration: std::time::Duration) -> String {
    format!("{duration:?}")
}

/// Sections of the platforms that differ.
fn platforms_differ(before: &Results, after: &Results) -> Vec<String> {
    let (a, b) = (&before.settings, &after.settings);
    let mut notes = Vec::new();
    if a.base != b.base {
        notes.push("[base] differs".to_owned());
    }
    let both =
        a.group.iter().filter_map(|group| Some((group, b.group.iter().find(|o| o.name == group.name)?)));
    let differ = both.filter(|(group, other)| group.platform != other.platform);
    notes.extend(differ.map(|(group, _)| format!("the platform of group {} differs", group.name)));
    notes
}

fn compare(
    (before, after): (&CellResult, &CellResult),
    why: Option<String>,
    tolerance: f64,
    family: usize,
) -> Option<Compared> {
    let sliced = is_sliced([before, after]);
    let (first, second) = (medians(before, sliced), medians(after, sliced));
    // Without a quiet slice there is the figure of the whole runs to show, and no verdict.
    let (first, second) = match first.is_empty() || second.is_empty() {
        true => (medians(before, false), medians(after, false)),
        false => (first, second),
    };
    let (before_us, after_us) = (median(&first)?, median(&second)?);
    let interval = interval::of_ratio(&first, &second, family);
    let few = || {
        let needed = interval::fewest_runs(family);
        let runs = [first.len(), second.len()];
        (runs[0].min(runs[1]) < needed).then(|| {
            format!(
                "{} and {} runs: {needed} each are needed to compare {family} cells (--set run.repeats={needed})",
                runs[0], runs[1]
            )
        })
    };
    let why = why.or_else(|| if interval.is_none() { few() } else { None });
    let change = match interval {
        _ if why.is_some() => Change::Inconclusive,
        Some([low, _]) if low > tolerance => Change::Worse,
        Some([_, high]) if high < -tolerance => Change::Improved,
        Some([low, high]) if low >= -tolerance && high <= tolerance => Change::NoChange,
        _ => Change::Inconclusive,
    };
    Some(Compared {
        cell: before.name.clone(),
        rate: before.rate,
        before_us,
        after_us,
        difference: if before_us > 0.0 { after_us / before_us - 1.0 } else { 0.0 },
        interval,
        runs: [first.len(), second.len()],
        change,
        why,
    })
}

/// Whether all runs of both have slices.
fn is_sliced(cells: [&CellResult; 2]) -> bool {
    cells
        .iter()
        .flat_map(|cell| &cell.runs)
        .filter(|run| run.failed.is_none())
        .all(|run| !run.slices.is_empty())
}

/// The median of t2o in each run, from its quiet slices where `sliced`.
fn medians(cell: &CellResult, sliced: bool) -> Vec<f64> {
    let good = cell.runs.iter().filter(|run| run.failed.is_none());
    let median = |run: &super::record::RunRecord| {
        let stages = if sliced { &run.kept(Level::Quiet)?.stages } else { &run.stages };
        Some(stages.get("t2o")?.p50_us)
    };
    good.filter_map(median).collect()
}

fn median(figures: &[f64]) -> Option<f64> {
    crate::Spread::of(figures.iter().copied()).map(|spread| spread.median)
}

#[cfg(test)]
mod tests;
