//! What one run of a cell left behind: `runs/A10-1.json`.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use wire::stages::{STAGES, T2O, T2O_INTENDED};

use super::pages::Pages;
use super::probe::Observed;
use super::stamps::Stamps;

/// Longest time that is told apart from longer ones: an hour, in nanoseconds.
const LONGEST: u64 = 3_600_000_000_000;

/// One run of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The cell: `A10`.
    pub cell: String,
    /// From 1.
    pub repeat: u32,
    /// When it began, in seconds since 1970.
    pub started_unix: u64,
    /// Measured seconds, without the warm-up.
    pub seconds: f64,
    /// Answers that came; for each of them md + strategy + order = t2o was checked.
    pub samples: u64,
    /// Messages whose times contradict each other; not among the samples.
    pub disordered: u64,
    /// Quotes a second that md really published.
    pub achieved_rate: f64,
    /// Answers that were due: one for each quote of the stretch and each strategy that hears it.
    pub expected: u64,
    /// Of those: they did not come. The quotes of the stretch less their samples, always.
    pub lost: u64,
    /// Of the lost ones: md did not even publish the quote.
    pub unpublished: u64,
    /// Answers that were not there at the stretch's end: the lost ones, and those that came late.
    pub outstanding: u64,
    /// Shortest wait for an answer that did not come, in microseconds. A figure above it is a least: the waits would have
    /// gone on.
    pub open_from_us: Option<f64>,
    /// 99th percentile of md's lateness against its schedule, in microseconds.
    pub lateness_p99_us: f64,
    /// By stage.
    pub stages: BTreeMap<String, RunStage>,
    /// Costs, places, losses.
    pub observed: Observed,
    /// What the rings were mapped on.
    pub pages: Pages,
    /// The configuration asks for huge pages.
    pub huge_wanted: bool,
    /// Checks of the doctor that failed, by id.
    pub doctor_fail: Vec<String>,
    /// Checks of the doctor that warn, by id.
    pub doctor_warn: Vec<String>,
    /// Why there are no figures: the platform did not come up, or did not last.
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

impl RunRecord {
    /// Takes over what the run's answers say: all that can be made from them again.
    pub(crate) fn take(&mut self, messages: &Histograms) {
        self.samples = messages.samples;
        self.disordered = messages.disordered;
        self.unpublished = messages.unpublished;
        self.open_from_us = messages.open_from_us();
        self.lateness_p99_us = messages.lateness_p99_us();
        self.stages = messages.run_stages();
    }

    /// Whether a figure of t2o, in microseconds, is a least: some answer that did not come had been waited for less long.
    pub fn is_least(&self, figure_us: f64) -> bool {
        self.open_from_us.is_some_and(|open| open < figure_us)
    }
}

/// Histograms of all stages, in nanoseconds, to three significant digits.
#[derive(Clone, Debug)]
pub struct Histograms {
    stages: Vec<Histogram<u64>>,
    lateness: Histogram<u64>,
    /// Messages in the histograms.
    pub samples: u64,
    /// Messages whose times contradict each other.
    pub disordered: u64,
    /// Answers that did not come. They are in the histograms of t2o and t2o_intended with the time they were waited for.
    pub open: u64,
    /// Of those: md did not publish the quote. They are in the histogram of t2o_intended only.
    pub unpublished: u64,
    /// Shortest of those waits, in nanoseconds.
    open_from: Option<u64>,
}

impl Histograms {
    /// Empty ones.
    ///
    /// # Errors
    /// None in practice: the bounds are constants that a histogram takes.
    pub fn new() -> Result<Histograms, hdrhistogram::CreationError> {
        let empty = || Histogram::new_with_bounds(1, LONGEST, 3);
        let stages = STAGES.iter().map(|_| empty()).collect::<Result<_, _>>()?;
        Ok(Histograms {
            stages,
            lateness: empty()?,
            samples: 0,
            disordered: 0,
            open: 0,
            unpublished: 0,
            open_from: None,
        })
    }

    /// Adds one answer, or one that did not come.
    pub fn add(&mut self, stamps: &Stamps) {
        if let Some((published, due)) = stamps.open_waits() {
            self.add_open(published, due);
            self.lateness.saturating_record(stamps.lateness().min(LONGEST));
            return;
        }
        // Each answer of a measurement has a cause: one without contradicts it.
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

    /// Shortest wait for an answer that did not come, in microseconds.
    pub fn open_from_us(&self) -> Option<f64> {
        self.open_from.map(|wait| wait as f64 / 1e3)
    }

    /// The histogram of a stage, by its place in [`STAGES`].
    pub fn stage(&self, index: usize) -> Option<&Histogram<u64>> {
        self.stages.get(index)
    }

    /// 99th percentile of the lateness, in microseconds.
    pub fn lateness_p99_us(&self) -> f64 {
        at_us(&self.lateness, 0.99)
    }

    /// Each stage in short.
    pub fn run_stages(&self) -> BTreeMap<String, RunStage> {
        let short = |histogram: &Histogram<u64>| RunStage {
            mean_us: histogram.mean() / 1e3,
            sd_us: histogram.stdev() / 1e3,
            p50_us: at_us(histogram, 0.5),
            p90_us: at_us(histogram, 0.9),
            p99_us: at_us(histogram, 0.99),
            p999_us: at_us(histogram, 0.999),
            max_us: histogram.max() as f64 / 1e3,
        };
        let stages = STAGES.iter().zip(&self.stages).filter(|(_, histogram)| !histogram.is_empty());
        stages.map(|(name, histogram)| ((*name).to_owned(), short(histogram))).collect()
    }
}

/// A quantile in microseconds; zero of an empty histogram.
pub(crate) fn at_us(histogram: &Histogram<u64>, quantile: f64) -> f64 {
    if histogram.is_empty() { 0.0 } else { histogram.value_at_quantile(quantile) as f64 / 1e3 }
}
