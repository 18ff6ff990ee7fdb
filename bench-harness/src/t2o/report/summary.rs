//! What a reader wants to know first: which group is best, what the host costs, which cells are not to be trusted.

use serde::Serialize;

use super::headline::{Headline, distrusted};
use super::tables::rates;
use crate::t2o::claims::ratios_of_medians;
use crate::t2o::result::{CellResult, Fault, Results};
use crate::t2o::slices::Level;

/// How many faults of the host are named.
const FAULTS: usize = 3;

/// The head of a report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The best group at each rate that several groups were measured at.
    pub best: Vec<Best>,
    /// What the host did to the figures.
    pub host: HostCost,
    /// Cells whose figures are not to be trusted.
    pub distrusted: Vec<Distrusted>,
}

/// The group with the lowest median at one rate, among those with the scenario's own number of strategies whose figures are
/// to be trusted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Best {
    /// Quotes a second.
    pub rate: f64,
    /// Its name.
    pub group: String,
    /// Its title.
    pub title: String,
    /// Its median t2o.
    pub p50_us: f64,
    /// Lowest and highest mean of its runs.
    pub mean_us: [f64; 2],
    /// The slices that these figures are from; `null`: whole runs.
    pub level: Option<Level>,
    /// Groups that are slower, beyond what is chance.
    pub slower: Vec<String>,
    /// Groups that are not told apart from it.
    pub alike: Vec<String>,
}

/// What the host did to the figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostCost {
    /// Slices of all runs.
    pub slices: usize,
    /// Those in which the host did next to nothing else.
    pub quiet: usize,
    /// Disturbed ones that count where quiet ones are too few.
    pub busy: usize,
    /// Mean t2o of whole runs as a multiple of that of the slices that count: middle of all cells. `null` without slices.
    pub mean_times: Option<f64>,
    /// The same of the 99th percentile.
    pub p99_times: Option<f64>,
    /// The dearest of the doctor's findings.
    pub faults: Vec<Fault>,
}

/// A cell that is not to be trusted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distrusted {
    /// `A10`.
    pub cell: String,
    /// Why.
    pub why: String,
}

impl Summary {
    /// The head of these results' report.
    pub fn of(results: &Results) -> Summary {
        let why = |cell: &CellResult| distrusted(cell).map(|why| Distrusted { cell: cell.name.clone(), why });
        Summary {
            best: rates(results).into_iter().filter_map(|rate| best(results, rate)).collect(),
            host: host(results),
            distrusted: results.cells.iter().filter_map(why).collect(),
        }
    }
}

fn best(results: &Results, rate: f64) -> Option<Best> {
    let run = &results.settings.run;
    let fits = |cell: &&CellResult| {
        let group = results.settings.group.iter().find(|group| group.name == cell.group);
        let own = group.and_then(|group| group.strategies).unwrap_or(run.strategies);
        cell.rate == rate && own == run.strategies && distrusted(cell).is_none()
    };
    let mut cells: Vec<(&CellResult, Headline)> =
        results.cells.iter().filter(fits).filter_map(|cell| Some((cell, Headline::of(cell)?))).collect();
    cells.sort_by(|a, b| a.1.p50_us.total_cmp(&b.1.p50_us));
    let ((first, headline), others) = cells.split_first()?;
    if others.is_empty() {
        return None;
    }
    let others: Vec<&CellResult> = others.iter().map(|(cell, _)| *cell).collect();
    let ratios = ratios_of_medians(results, first, &others);
    let pick = |is_slower: bool| {
        let decided = others.iter().zip(&ratios);
        let these = decided.filter(|(_, found)| found.is_some_and(|found| found.high < 0.0) == is_slower);
        these.map(|(cell, _)| cell.group.clone()).collect()
    };
    let title = results.settings.group.iter().find(|group| group.name == first.group);
    Some(Best {
        rate,
        group: first.group.clone(),
        title: title.map_or(String::new(), |group| group.title.clone()),
        p50_us: headline.p50_us,
        mean_us: headline.mean_range,
        level: headline.level,
        slower: pick(true),
        alike: pick(false),
    })
}

fn host(results: &Results) -> HostCost {
    let slices = || results.cells.iter().filter_map(|cell| cell.slices.as_ref());
    let middle = |what: fn(&crate::t2o::record::RunStage) -> f64| {
        let runs = results.cells.iter().flat_map(|cell| &cell.runs);
        let times = runs.filter_map(|run| {
            let kept = what(run.kept(Level::Busy)?.stages.get("t2o")?);
            (kept > 0.0).then_some(what(run.stages.get("t2o")?) / kept)
        });
        crate::Spread::of(times).map(|spread| spread.median)
    };
    HostCost {
        slices: slices().map(|slices| slices.all).sum(),
        quiet: slices().map(|slices| slices.quiet).sum(),
        busy: slices().map(|slices| slices.busy).sum(),
        mean_times: middle(|stage| stage.mean_us),
        p99_times: middle(|stage| stage.p99_us),
        faults: results.faults.iter().take(FAULTS).cloned().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::t2o::fixture::{cell, results, sliced};

    #[test]
    fn the_best_group_is_that_of_the_lowest_median_that_can_be_trusted() {
        let mut cells = vec![
            sliced(cell("A", 1, 80.0, &[40.0, 41.0, 39.0])),
            sliced(cell("B", 1, 80.0, &[41.0, 40.0, 40.0])),
            sliced(cell("K", 1, 80.0, &[400.0, 410.0, 390.0])),
            sliced(cell("Q", 1, 80.0, &[4.0, 4.1, 3.9])),
        ];
        cells[3].marked.push("lost: 3 of 9 answers did not come".to_owned());
        let summary = Summary::of(&results(cells, &[]));
        let best = &summary.best[0];
        assert_eq!((best.group.as_str(), best.slower.as_slice()), ("A", ["K".to_owned()].as_slice()));
        assert_eq!(best.alike, ["B"]);
        assert_eq!(summary.distrusted.len(), 1);
        assert!(summary.distrusted[0].why.starts_with("lost: 3 of 9"));
        assert_eq!((summary.host.slices, summary.host.quiet), (4 * 3 * 10, 4 * 3 * 10));
    }

    #[test]
    fn results_without_slices_have_a_head_too() {
        let mut cells = vec![cell("A", 1, 80.0, &[40.0]), cell("B", 1, 80.0, &[50.0])];
        cells[0].marked.push("steal: 3.0 % of the time was the hypervisor's".to_owned());
        let summary = Summary::of(&results(cells, &[]));
        assert!(summary.best.is_empty(), "one trusted group is no choice");
        assert_eq!(summary.host.mean_times, None);
        assert_eq!(summary.distrusted[0].cell, "A1");
    }
}
