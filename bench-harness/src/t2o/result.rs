//! `t2o.json`: the whole matrix as one object.

use std::collections::BTreeMap;

use pinning::HostSummary;
use serde::{Deserialize, Serialize};

use super::caveats;
use super::decide::FEWEST_PASSES;
use super::kept::Kept;
use super::plan::LeftOut;
use super::record::{Histograms, RunRecord, RunStage, at_us};
use super::scenario::{Cell, ScenarioConfig};
use super::slices::{Level, Slice};

/// Version of the object's format.
pub const FORMAT: u32 = 3;
/// The oldest one that is read: it has no slices and no faults.
pub(crate) const OLDEST_FORMAT: u32 = 2;

/// The matrix: the measurements, the host, and the settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// Version of this object's format.
    pub format: u32,
    /// The host.
    pub host: HostSummary,
    /// Name of the scenario.
    pub scenario: String,
    /// Version of colo.
    pub colo: String,
    /// When the first run began, in seconds since 1970.
    pub started_unix: u64,
    /// When the last run began, in seconds since 1970.
    pub last_unix: u64,
    /// Checks of the doctor that failed or warned, by id, over all groups.
    pub doctor: DoctorWords,
    /// The same checks in full, dearest first: what each costs, and the command that mends it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// The cells that have at least one run, in the order of the scenario.
    pub cells: Vec<CellResult>,
    /// Cells of the scenario that have no run.
    pub missing: Vec<String>,
    /// Groups for which this host is too small.
    pub left_out: Vec<LeftOut>,
    /// The scenario as it was run, including default values.
    pub settings: ScenarioConfig,
}

/// Ids of the doctor's checks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoctorWords {
    /// Failed checks.
    pub fail: Vec<String>,
    /// Checks with a warning.
    pub warn: Vec<String>,
}

/// A check of the doctor that is not as wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Its id.
    pub id: String,
    /// It failed; otherwise it warns.
    pub fail: bool,
    /// What the host has.
    pub found: String,
    /// What that costs.
    pub cost: String,
    /// The command that mends it.
    pub fix: String,
}

/// The slices of a cell's runs, and what those that count say of t2o.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SliceSummary {
    /// All of them.
    pub all: usize,
    /// Quiet ones.
    pub quiet: usize,
    /// Disturbed ones that still count where quiet ones are too few.
    pub busy: usize,
    /// Those that never count.
    pub left_out: usize,
    /// How many are not quiet, by why: `steal`, `others`, `late`; a slice may have several reasons.
    pub why: BTreeMap<String, usize>,
    /// Level of the figures below; `null` where neither has enough slices in any run.
    pub level: Option<Level>,
    /// Runs that have enough slices of it.
    pub runs: usize,
    /// Answers in them.
    pub samples: u64,
    /// Lowest and highest mean t2o of the runs, from these slices, in microseconds.
    pub mean_us: [f64; 2],
    /// The same of the median.
    pub p50_us: [f64; 2],
}

impl SliceSummary {
    /// `None` where runs have no slices.
    pub(crate) fn of(runs: &[RunRecord]) -> Option<SliceSummary> {
        let slices: Vec<&Slice> = runs.iter().flat_map(|run| &run.slices).collect();
        if slices.is_empty() {
            return None;
        }
        let count = |level| slices.iter().filter(|slice| slice.level == level).count();
        let mut why: BTreeMap<String, usize> = BTreeMap::new();
        slices
            .iter()
            .flat_map(|slice| &slice.why)
            .for_each(|word| *why.entry(word.clone()).or_default() += 1);
        let at = |level| runs.iter().filter_map(|run| run.kept(level)).collect::<Vec<&Kept>>();
        // The figures of quiet slices where as many runs have them as decide something.
        let enough = runs.len().min(FEWEST_PASSES);
        let quiet = Some((Level::Quiet, at(Level::Quiet))).filter(|(_, kept)| kept.len() >= enough);
        let found =
            quiet.or_else(|| Some((Level::Busy, at(Level::Busy))).filter(|(_, kept)| !kept.is_empty()));
        let (level, kept) = found.map_or((None, Vec::new()), |(level, kept)| (Some(level), kept));
        let range = |what: fn(&RunStage) -> f64| {
            let figures = || kept.iter().filter_map(|kept| Some(what(kept.stages.get("t2o")?)));
            let low = figures().fold(f64::INFINITY, f64::min);
            if low.is_finite() { [low, figures().fold(0.0, f64::max)] } else { [0.0, 0.0] }
        };
        Some(SliceSummary {
            all: slices.len(),
            quiet: count(Level::Quiet),
            busy: count(Level::Busy),
            left_out: count(Level::LeftOut),
            why,
            level,
            runs: kept.len(),
            samples: kept.iter().map(|kept| kept.samples).sum(),
            mean_us: range(|stage| stage.mean_us),
            p50_us: range(|stage| stage.p50_us),
        })
    }
}

/// A group at a load, over all its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellResult {
    /// `A10`.
    pub name: String,
    /// Name of the group.
    pub group: String,
    /// Number of the load, from 1.
    pub load: usize,
    /// Requested quotes a second.
    pub rate: f64,
    /// Runs with figures.
    pub repeats: usize,
    /// Messages over all runs.
    pub samples: u64,
    /// Quotes a second that were published: the lowest of all runs.
    pub achieved_rate: f64,
    /// Expected answers over all runs: one for each quote and each strategy that reads it.
    pub expected: u64,
    /// Expected answers that did not arrive. They count in t2o with the time that they were waited for.
    pub lost: u64,
    /// Lost answers whose quote md did not even publish.
    pub unpublished: u64,
    /// Reasons to read these figures with care; preferably empty.
    pub marked: Vec<String>,
    /// `md`, `strategy`, `order`, `t2o`, `t2o_intended`.
    pub stages: BTreeMap<String, StageResult>,
    /// Sleeps a second that a waker ended.
    pub wakeups: f64,
    /// Context switches a second.
    pub context_switches: f64,
    /// Changes of CPU a second; `null` where the kernel does not count them.
    pub migrations: Option<f64>,
    /// Page faults over all runs.
    pub page_faults: u64,
    /// Time that threads were ready but not running, in milliseconds a second.
    pub run_queue_wait_ms: Option<f64>,
    /// Looks at threads that found one off plan.
    pub off_plan: u64,
    /// Percentage of time that the hypervisor took: the highest of all runs.
    pub steal_percent: f64,
    /// CPUs that the platform used.
    pub cpus_used: Option<f64>,
    /// CPUs that other processes used: the highest of all runs.
    pub cpus_others: Option<f64>,
    /// The slices of the runs; left out in results of format 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slices: Option<SliceSummary>,
    /// The pages of the rings: `4 KiB`, `huge`, `both`.
    pub pages: String,
    /// 99th percentile of md's lateness, in microseconds: the highest of all runs.
    pub lateness_p99_us: f64,
    /// Run by run.
    pub runs: Vec<RunRecord>,
}

/// One stage over all runs, in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageResult {
    /// Lowest and highest mean of the runs.
    pub mean_us: [f64; 2],
    /// Median of all messages.
    pub p50_us: f64,
    /// 90th percentile.
    pub p90_us: f64,
    /// 99th percentile.
    pub p99_us: f64,
    /// 99.9th percentile.
    pub p999_us: f64,
    /// Largest.
    pub max_us: f64,
    /// Mean of all messages.
    pub all_mean_us: f64,
    /// Pairs of quantile and microseconds, evenly spread over the nines.
    pub curve: Vec<[f64; 2]>,
}

/// The identity of a cell: what its figures depend on besides its runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CellName {
    pub(crate) name: String,
    pub(crate) group: String,
    pub(crate) load: usize,
    pub(crate) rate: f64,
}

impl From<&Cell> for CellName {
    fn from(cell: &Cell) -> CellName {
        CellName { name: cell.name.clone(), group: cell.group.clone(), load: cell.load, rate: cell.rate }
    }
}

impl CellResult {
    /// The identity of this cell.
    pub(crate) fn measured_at(&self) -> CellName {
        CellName { name: self.name.clone(), group: self.group.clone(), load: self.load, rate: self.rate }
    }

    /// Computed from the cell's runs, and the messages of all of them.
    pub(crate) fn of(
        cell: &CellName,
        fewest: u64,
        runs: Vec<RunRecord>,
        messages: &Histograms,
    ) -> CellResult {
        // A run without a single answer has figures too: the waits.
        let good: Vec<&RunRecord> = runs.iter().filter(|run| !run.stages.is_empty()).collect();
        let seconds: f64 = good.iter().map(|run| run.seconds).sum::<f64>().max(1e-9);
        let a_second =
            |what: fn(&RunRecord) -> u64| good.iter().map(|run| what(run) as f64).sum::<f64>() / seconds;
        let some = |what: fn(&RunRecord) -> Option<f64>| {
            good.iter().map(|run| what(run)).collect::<Option<Vec<_>>>()
        };
        let highest = |values: Vec<f64>| values.into_iter().fold(0.0, f64::max);
        CellResult {
            name: cell.name.clone(),
            group: cell.group.clone(),
            load: cell.load,
            rate: cell.rate,
            repeats: good.len(),
            samples: messages.samples,
            achieved_rate: good.iter().map(|run| run.achieved_rate).fold(f64::INFINITY, f64::min).min(1e12),
            expected: runs.iter().map(|run| run.expected).sum(),
            lost: runs.iter().map(|run| run.lost).sum(),
            unpublished: runs.iter().map(|run| run.unpublished).sum(),
            marked: caveats::of(cell.rate, fewest, &runs),
            stages: stages(&good, messages),
            wakeups: a_second(|run| run.observed.wakeups),
            context_switches: a_second(|run| run.observed.context_switches),
            migrations: some(|run| run.observed.migrations.map(|count| count as f64))
                .map(|counts| counts.iter().sum::<f64>() / seconds),
            page_faults: good.iter().map(|run| run.observed.page_faults).sum(),
            run_queue_wait_ms: some(|run| run.observed.run_queue_wait_ms)
                .map(|times| times.iter().sum::<f64>() / seconds),
            off_plan: good.iter().map(|run| run.observed.off_plan).sum(),
            steal_percent: highest(good.iter().map(|run| run.observed.steal_percent).collect()),
            cpus_used: some(|run| run.observed.cpus_used).map(highest),
            cpus_others: some(|run| run.observed.cpus_others).map(highest),
            slices: SliceSummary::of(&runs),
            pages: good.last().map_or("unknown", |run| run.pages.words()).to_owned(),
            lateness_p99_us: highest(good.iter().map(|run| run.lateness_p99_us).collect()),
            runs,
        }
    }

    /// One stage; `None` when nothing was measured.
    pub fn stage(&self, name: &str) -> Option<&StageResult> {
        self.stages.get(name)
    }
}

impl Results {
    /// The cell of this group at this rate.
    pub(crate) fn cell(&self, group: &str, rate: f64) -> Option<&CellResult> {
        self.cells.iter().find(|cell| cell.group == group && cell.rate == rate)
    }
}

fn stages(runs: &[&RunRecord], messages: &Histograms) -> BTreeMap<String, StageResult> {
    let mut stages = BTreeMap::new();
    for (name, histogram) in messages.stages() {
        let means: Vec<f64> = runs.iter().filter_map(|run| Some(run.stages.get(name)?.mean_us)).collect();
        let at = |quantile| at_us(histogram, quantile);
        let low = means.iter().copied().fold(f64::INFINITY, f64::min);
        let high = means.iter().copied().fold(0.0, f64::max);
        // The figures of a distribution matter for the end of it: those of the stages would only enlarge the file.
        let curve = if name.starts_with("t2o") { quantiles(messages.samples) } else { Vec::new() };
        stages.insert(
            name.to_owned(),
            StageResult {
                mean_us: if means.is_empty() { [0.0, 0.0] } else { [low, high] },
                p50_us: at(0.5),
                p90_us: at(0.9),
                p99_us: at(0.99),
                p999_us: at(0.999),
                max_us: histogram.max() as f64 / 1e3,
                all_mean_us: histogram.mean() / 1e3,
                curve: curve.into_iter().map(|quantile| [quantile, at(quantile)]).collect(),
            },
        );
    }
    stages
}

/// Quantiles evenly spread over the nines, as far as `samples` messages allow.
fn quantiles(samples: u64) -> Vec<f64> {
    let nines = (samples.max(1) as f64).log10();
    let steps = (nines * 12.0).ceil() as u32;
    let at = |step: u32| 1.0 - 10_f64.powf(-nines * f64::from(step) / f64::from(steps.max(1)));
    (0..=steps).map(|step| (at(step) * 1e9).round() / 1e9).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_go_as_far_as_the_samples_tell() {
        let some = quantiles(1_000);
        assert_eq!(some.first(), Some(&0.0));
        assert_eq!(some.last(), Some(&0.999));
        assert!(some.is_sorted() && some.len() < 50);
        assert_eq!(quantiles(1), [0.0]);
        assert_eq!(quantiles(0), [0.0]);
    }
}
