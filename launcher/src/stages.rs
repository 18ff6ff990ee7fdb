//! Where the time of an order goes.
//!
//! ```text
//!  t0 due     t1 published   t2 received   t3 ordered   t4 taken
//!  ├─ lateness ─┼─── md ───────┼─ strategy ──┼── order ───┤
//!               └───────────────── t2o ───────────────────┘
//!  └─────────────────── t2o_intended ─────────────────────┘
//! ```

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use wire::LatencySample;

/// One stage in microseconds. All zero when `n` is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageSummary {
    /// Samples.
    pub n: u64,
    /// Mean.
    pub mean_us: f64,
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

/// Histograms of all stages, in nanoseconds, to three significant digits.
#[derive(Clone, Debug)]
pub struct Stages {
    stages: Vec<(&'static str, Histogram<u64>)>,
    /// Samples whose times do not follow each other: left out of the histograms, counted here.
    pub disordered: u64,
}

/// Longest time that is told apart from longer ones: an hour.
const LONGEST: u64 = 3_600_000_000_000;
const NAMES: [&str; 5] = ["md", "strategy", "order", "t2o", "t2o_intended"];

impl Default for Stages {
    fn default() -> Stages {
        let stages = NAMES
            .into_iter()
            .filter_map(|name| Some((name, Histogram::new_with_bounds(1, LONGEST, 3).ok()?)))
            .collect();
        Stages { stages, disordered: 0 }
    }
}

impl Stages {
    /// Adds one order. Orders that no quote caused have no stages and are passed over.
    pub fn add(&mut self, sample: &LatencySample) {
        let [t0, t1, t2, t3, t4] =
            [sample.due.0, sample.published.0, sample.received.0, sample.ordered.0, sample.taken.0];
        if t1 == 0 {
            return;
        }
        if !(t1 <= t2 && t2 <= t3 && t3 <= t4) {
            self.disordered += 1;
            return;
        }
        let intended = if t0 == 0 { None } else { Some(t4.saturating_sub(t0)) };
        let times = [Some(t2 - t1), Some(t3 - t2), Some(t4 - t3), Some(t4 - t1), intended];
        for ((_, histogram), time) in self.stages.iter_mut().zip(times) {
            if let Some(time) = time {
                histogram.saturating_record(time.clamp(1, LONGEST));
            }
        }
    }

    /// Adds what another collected.
    pub fn merge(&mut self, other: &Stages) {
        for ((_, mine), (_, theirs)) in self.stages.iter_mut().zip(&other.stages) {
            // Both have the same bounds, so nothing can fail to fit.
            let _ = mine.add(theirs);
        }
        self.disordered += other.disordered;
    }

    /// Summaries in the order md, strategy, order, t2o, t2o_intended.
    pub fn summaries(&self) -> Vec<(&'static str, StageSummary)> {
        self.stages.iter().map(|(name, histogram)| (*name, summarise(histogram))).collect()
    }

    /// The histogram of one stage, in nanoseconds.
    pub fn histogram(&self, stage: &str) -> Option<&Histogram<u64>> {
        self.stages.iter().find(|(name, _)| *name == stage).map(|(_, histogram)| histogram)
    }
}

fn summarise(histogram: &Histogram<u64>) -> StageSummary {
    if histogram.is_empty() {
        return StageSummary::default();
    }
    let at = |quantile: f64| histogram.value_at_quantile(quantile) as f64 / 1_000.0;
    StageSummary {
        n: histogram.len(),
        mean_us: histogram.mean() / 1_000.0,
        p50_us: at(0.5),
        p90_us: at(0.9),
        p99_us: at(0.99),
        p999_us: at(0.999),
        max_us: histogram.max() as f64 / 1_000.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Nanos, OrderId};

    fn sample(times: [u64; 5]) -> LatencySample {
        let [due, published, received, ordered, taken] = times.map(Nanos);
        LatencySample { order_id: OrderId(1), due, published, received, ordered, taken }
    }

    #[test]
    fn each_stage_is_the_difference_of_its_ends() {
        let mut stages = Stages::default();
        stages.add(&sample([1_000, 2_000, 5_000, 9_000, 17_000]));
        let means: Vec<f64> = stages.summaries().iter().map(|(_, summary)| summary.mean_us.round()).collect();
        assert_eq!(means, [3.0, 4.0, 8.0, 15.0, 16.0]);
    }

    #[test]
    fn disordered_times_are_counted_and_kept_out() {
        let mut stages = Stages::default();
        stages.add(&sample([0, 2_000, 1_000, 9_000, 17_000]));
        assert_eq!((stages.disordered, stages.summaries()[3].1.n), (1, 0));
    }

    #[test]
    fn orders_without_a_quote_or_a_schedule_have_no_such_stage() {
        let mut stages = Stages::default();
        stages.add(&sample([0, 0, 0, 9_000, 17_000]));
        stages.add(&sample([0, 1, 2, 3, 4]));
        let counts: Vec<u64> = stages.summaries().iter().map(|(_, summary)| summary.n).collect();
        assert_eq!(counts, [1, 1, 1, 1, 0]);
    }
}
