//! The result of one run of a cell: `runs/A10-1.json`.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use wire::stages::{STAGES, T2O, T2O_INTENDED};

use super::kept::{self, Kept};
use super::pages::Pages;
use super::probe::Observed;
use super::slices::{self, Level, Slice};
use super::stamps::Stamps;

/// Greatest time of the histograms: an hour, in nanoseconds.
const LONGEST: u64 = 3_600_000_000_000;

/// Name of the stage from an order's commit until it was on disk, where that is recorded: beside those of [`STAGES`].
pub(crate) const DURABLE: &str = "durable";

/// One run of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The cell: `A10`.
    pub cell: String,
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// When it began, in seconds since 1970.
    pub started_unix: u64,
    /// Measured seconds, without the warm-up.
    pub seconds: f64,
    /// Answers that arrived; for each of them md + strategy + order = t2o was checked.
    pub samples: u64,
    /// Messages whose times contradict each other; not among the samples.
    pub disordered: u64,
    /// Quotes a second that md actually published.
    pub achieved_rate: f64,
    /// Expected answers: one for each quote of the stretch and each strategy that reads it.
    pub expected: u64,
    /// Expected answers that did not arrive: always the difference from the samples.
    pub lost: u64,
    /// Lost answers whose quote md did not even publish.
    pub unpublished: u64,
    /// Answers that had not arrived at the stretch's end: the lost ones, and the late ones.
    pub outstanding: u64,
    /// Shortest wait for an answer that did not arrive, in microseconds. A figure above it is a lower bound, because
    /// the waits would have continued.
    pub open_from_us: Option<f64>,
    /// 99th percentile of md's lateness against its schedule, in microseconds.
    pub lateness_p99_us: f64,
    /// By stage.
    pub stages: BTreeMap<String, RunStage>,
    /// Samples of which a recording says when they were on disk; 0 where they are not recorded.
    #[serde(default, skip_serializing_if = "is_none")]
    pub on_disk: u64,
    /// The run in slices, with what the host did in each. Empty in runs of format 2.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<Slice>,
    /// The run's figures from its quiet slices, and from its quiet and busy ones where that is more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Kept>,
    /// Costs, places, losses.
    pub observed: Observed,
    /// The pages of the rings.
    pub pages: Pages,
    /// Whether the configuration asks for huge pages.
    pub huge_wanted: bool,
    /// Checks of the doctor that failed, by id.
    pub doctor_fail: Vec<String>,
    /// Checks of the doctor that warn, by id.
    pub doctor_warn: Vec<String>,
    /// Why there are no figures: the platform failed to start, or failed later.
    pub failed: Option<String>,
}

/// One stage in one run, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunStage {
    /// Mean.
    pub mean_us: f64,
    /// Standard deviation.
    pub sd_us: f64,
    /// Median.
    pub p50_us: f64,
    /// 90th percentile.
    pub p90_us: f64,
    /// 99th percentile.
    pub p99_us: f64,
    /// 99.9th percentile.
    pub p999_us: f64,
    /// Largest.
    pub max_us: f64,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

impl RunRecord {
    /// Takes over everything that is computed from the run's answers.
    ///
    /// # Errors
    /// None in practice: the histograms' bounds are valid constants.
    pub(crate) fn take(
        &mut self,
        messages: &Histograms,
        records: &[Stamps],
    ) -> Result<(), hdrhistogram::CreationError> {
        self.samples = messages.samples;
        self.disordered = messages.disordered;
        self.unpublished = messages.unpublished;
        self.open_from_us = messages.open_from_us();
        self.lateness_p99_us = messages.lateness_p99_us();
        self.stages = messages.run_stages();
        self.on_disk = messages.durable.len();
        let divided = slices::divide(&self.slices, records);
        slices::judge(&mut self.slices, &divided);
        self.kept = kept::of_run(self, &divided)?;
        Ok(())
    }

    /// Its figures from the slices of this level and better ones.
    pub fn kept(&self, level: Level) -> Option<&Kept> {
        self.kept.iter().rev().find(|kept| kept.level <= level)
    }

    /// Whether a figure of t2o, in microseconds, is a lower bound: some missing answer was waited for less long.
    pub(crate) fn is_least(&self, figure_us: f64) -> bool {
        self.open_from_us.is_some_and(|open| open < figure_us)
    }
}

/// Histograms of all stages, in nanoseconds, to three significant digits.
#[derive(Clone, Debug)]
pub struct Histograms {
    stages: Vec<Histogram<u64>>,
    lateness: Histogram<u64>,
    durable: Histogram<u64>,
    /// Messages in the histograms.
    pub samples: u64,
    /// Messages whose times contradict each other.
    pub disordered: u64,
    /// Answers that did not arrive. The histograms of t2o and t2o_intended contain them with the time they were waited
    /// for.
    pub open: u64,
    /// Open answers whose quote md did not publish. Only the histogram of t2o_intended contains them.
    pub unpublished: u64,
    /// Shortest of those waits, in nanoseconds.
    open_from: Option<u64>,
}

impl Histograms {
    /// Creates empty histograms.
    ///
    /// # Errors
    /// None in practice: the bounds are valid constants.
    pub(crate) fn new() -> Result<Histograms, hdrhistogram::CreationError> {
        let empty = || Histogram::new_with_bounds(1, LONGEST, 3);
        let stages = STAGES.iter().map(|_| empty()).collect::<Result<_, _>>()?;
        Ok(Histograms {
            stages,
            lateness: empty()?,
            durable: empty()?,
            samples: 0,
            disordered: 0,
            open: 0,
            unpublished: 0,
            open_from: None,
        })
    }

    /// Adds one answer, or a missing one.
    pub(crate) fn add(&mut self, stamps: &Stamps) {
        if let Some((published, due)) = stamps.open_waits() {
            self.add_open(published, due);
            self.lateness.saturating_record(stamps.lateness().min(LONGEST));
            return;
        }
        // Each answer of a measurement has a cause: one without it is contradictory.
        let Some(stages) = stamps.stages().filter(|stages| stages[T2O].is_some()) else {
            self.disordered += 1;
            return;
        };
        self.samples += 1;
        for (histogram, time) in self.stages.iter_mut().zip(stages) {
            if let Some(time) = time {
                histogram.saturating_record(time.0.min(LONGEST));
            }
        }
        self.lateness.saturating_record(stamps.lateness().min(LONGEST));
        if let Some(time) = stamps.until_on_disk() {
            self.durable.saturating_record(time.min(LONGEST));
        }
    }

    fn add_open(&mut self, since_published: Option<u64>, since_due: u64) {
        self.open += 1;
        self.stages[T2O_INTENDED].saturating_record(since_due.min(LONGEST));
        match since_published {
            Some(wait) => self.stages[T2O].saturating_record(wait.min(LONGEST)),
            None => self.unpublished += 1,
        }
        let wait = since_published.unwrap_or(since_due);
        self.open_from = Some(self.open_from.map_or(wait, |known| known.min(wait)));
    }

    /// Shortest wait for an answer that did not arrive, in microseconds.
    pub(crate) fn open_from_us(&self) -> Option<f64> {
        self.open_from.map(|wait| wait as f64 / 1e3)
    }

    /// All stages of which there is something, by name.
    pub(crate) fn stages(&self) -> impl Iterator<Item = (&'static str, &Histogram<u64>)> {
        let all = STAGES.into_iter().zip(&self.stages).chain([(DURABLE, &self.durable)]);
        all.filter(|(_, histogram)| !histogram.is_empty())
    }

    /// 99th percentile of the lateness, in microseconds.
    pub(crate) fn lateness_p99_us(&self) -> f64 {
        at_us(&self.lateness, 0.99)
    }

    /// The summary of each stage.
    pub(crate) fn run_stages(&self) -> BTreeMap<String, RunStage> {
        let short = |histogram: &Histogram<u64>| RunStage {
            mean_us: histogram.mean() / 1e3,
            sd_us: histogram.stdev() / 1e3,
            p50_us: at_us(histogram, 0.5),
            p90_us: at_us(histogram, 0.9),
            p99_us: at_us(histogram, 0.99),
            p999_us: at_us(histogram, 0.999),
            max_us: histogram.max() as f64 / 1e3,
        };
        self.stages().map(|(name, histogram)| (name.to_owned(), short(histogram))).collect()
    }
}

/// The middle one; zero of none.
pub(crate) fn median_of(mut figures: Vec<u64>) -> u64 {
    figures.sort_unstable();
    figures.get(figures.len() / 2).copied().unwrap_or(0)
}

/// A quantile in microseconds; zero of an empty histogram.
pub(crate) fn at_us(histogram: &Histogram<u64>, quantile: f64) -> f64 {
    if histogram.is_empty() { 0.0 } else { histogram.value_at_quantile(quantile) as f64 / 1e3 }
}
