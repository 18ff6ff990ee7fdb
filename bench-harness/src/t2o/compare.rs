//! Two matrices, cell by cell.
//!
//! The figure is t2o's median over the messages of a run; a cell has one a run. Between two cells stands the difference
//! of the medians over their runs, with the interval that a bootstrap over the runs gives it: runs are drawn with
//! replacement, and 95 % of the differences so found lie within. Messages are never drawn: those of one run have the
//! host's mood in common.

use std::fmt;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::result::{CellResult, Results};

/// Draws of the bootstrap.
const DRAWS: usize = 4_000;
/// Fewer runs than this on either side say nothing.
const FEWEST_RUNS: usize = 2;

/// What became of a cell from one matrix to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Faster, beyond the tolerance and beyond the runs' spread.
    Improved,
    /// Slower, beyond the tolerance and beyond the runs' spread.
    Worse,
    /// The whole interval lies within the tolerance.
    NoChange,
    /// The runs do not tell.
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

/// One cell in both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// `A10`.
    pub cell: String,
    /// Quotes a second.
    pub rate: f64,
    /// Median over the runs of the first, in µs.
    pub before_us: f64,
    /// Of the second.
    pub after_us: f64,
    /// Difference, as a share of the first: 0.1 is ten per cent slower.
    pub difference: f64,
    /// 95 % of the bootstrap's differences lie between these; `null` when there are too few runs.
    pub interval: Option<[f64; 2]>,
    /// Runs of the first and of the second.
    pub runs: [usize; 2],
    /// What became of it.
    pub change: Change,
}

/// All cells that both have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Share of the first's figure that does not count as a change.
    pub tolerance: f64,
    /// Cell by cell.
    pub cells: Vec<Compared>,
    /// Cells that only one of them has.
    pub unmatched: Vec<String>,
}

impl Comparison {
    /// Of two matrices. Cells are the same when group and rate are.
    pub fn of(before: &Results, after: &Results, tolerance: f64, seed: u64) -> Comparison {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let mut cells = Vec::new();
        let mut unmatched = Vec::new();
        for cell in &before.cells {
            match after.cell(&cell.group, cell.rate) {
                Some(other) => cells.extend(compare(cell, other, tolerance, &mut generator)),
                None => unmatched.push(format!("{} (only the first)", cell.name)),
            }
        }
        let added = after.cells.iter().filter(|cell| before.cell(&cell.group, cell.rate).is_none());
        unmatched.extend(added.map(|cell| format!("{} (only the second)", cell.name)));
        Comparison { tolerance, cells, unmatched }
    }

    /// How many cells became so.
    pub fn count(&self, change: Change) -> usize {
        self.cells.iter().filter(|cell| cell.change == change).count()
    }

    /// Whether nothing can be said about any cell.
    pub fn says_nothing(&self) -> bool {
        self.count(Change::Inconclusive) == self.cells.len()
    }
}

/// What of the hosts differs that makes figures differ; empty when they are alike.
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

fn compare(
    before: &CellResult,
    after: &CellResult,
    tolerance: f64,
    generator: &mut ChaCha8Rng,
) -> Option<Compared> {
    let (first, second) = (medians(before), medians(after));
    let (before_us, after_us) = (median(&first)?, median(&second)?);
    let enough = first.len() >= FEWEST_RUNS && second.len() >= FEWEST_RUNS && before_us > 0.0;
    let interval = enough.then(|| bootstrap(&first, &second, generator));
    let change = match interval {
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
    })
}

/// The median of t2o of each run.
fn medians(cell: &CellResult) -> Vec<f64> {
    let good = cell.runs.iter().filter(|run| run.failed.is_none());
    good.filter_map(|run| Some(run.stages.get("t2o")?.p50_us)).collect()
}

fn median(figures: &[f64]) -> Option<f64> {
    crate::Spread::of(figures.iter().copied()).map(|spread| spread.median)
}

/// 2.5th and 97.5th percentile of the relative differences of resampled medians.
fn bootstrap(first: &[f64], second: &[f64], generator: &mut ChaCha8Rng) -> [f64; 2] {
    let mut draw = |figures: &[f64]| {
        let drawn: Vec<f64> =
            figures.iter().map(|_| figures[generator.random_range(0..figures.len())]).collect();
        median(&drawn).unwrap_or(0.0)
    };
    let mut differences: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let before = draw(first).max(f64::MIN_POSITIVE);
            draw(second) / before - 1.0
        })
        .collect();
    differences.sort_by(f64::total_cmp);
    [differences[DRAWS / 40], differences[DRAWS - 1 - DRAWS / 40]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::t2o::made_up::{cell, results};

    fn change(before: &[f64], after: &[f64]) -> Change {
        let matrix = |means: &[f64]| results(vec![cell("A", 1, 80.0, means)], &[]);
        Comparison::of(&matrix(before), &matrix(after), 0.05, 1).cells[0].change
    }

    #[test]
    fn four_words_for_four_things() {
        assert_eq!(change(&[40.0, 41.0, 39.0], &[60.0, 61.0, 59.0]), Change::Worse);
        assert_eq!(change(&[60.0, 61.0, 59.0], &[40.0, 41.0, 39.0]), Change::Improved);
        assert_eq!(change(&[40.0, 40.2, 39.9], &[40.1, 40.0, 40.3]), Change::NoChange);
        assert_eq!(change(&[40.0, 80.0, 39.0], &[60.0, 41.0, 90.0]), Change::Inconclusive);
        assert_eq!(change(&[40.0], &[400.0]), Change::Inconclusive, "one run says nothing");
    }

    #[test]
    fn a_matrix_does_not_differ_from_itself() {
        let cells = || vec![cell("A", 1, 80.0, &[40.0, 40.5, 40.2]), cell("D", 1, 80.0, &[30.0, 30.1])];
        let comparison = Comparison::of(&results(cells(), &[]), &results(cells(), &[]), 0.05, 7);
        assert_eq!(comparison.count(Change::NoChange), 2);
        assert!(!comparison.says_nothing() && comparison.unmatched.is_empty());
    }

    #[test]
    fn cells_of_one_side_are_named() {
        let before = results(vec![cell("A", 1, 80.0, &[40.0, 41.0])], &[]);
        let after = results(vec![cell("D", 1, 80.0, &[40.0, 41.0])], &[]);
        let comparison = Comparison::of(&before, &after, 0.05, 7);
        assert_eq!(comparison.unmatched, ["A1 (only the first)", "D1 (only the second)"]);
        assert!(comparison.says_nothing());
    }

    #[test]
    fn unequal_hosts_are_seen() {
        let before = results(vec![cell("A", 1, 80.0, &[40.0])], &[]);
        let mut after = before.clone();
        assert!(host_differences(&before, &after).is_empty());
        after.host.cpu_model = "another".to_owned();
        assert!(host_differences(&before, &after)[0].contains("another"));
    }
}
