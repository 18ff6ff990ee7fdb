//! Where the time of orders went, in figures: see [`node::Latencies`].

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use node::{Counter, Latencies};
use serde::{Deserialize, Serialize};
use topology::NodeKind;
use wire::stages::STAGES;

use crate::totals::Totals;
use crate::view::InstanceView;

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

/// The stages of all orders since the instance was made.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Stages {
    /// `md`, `strategy`, `order`, `t2o`, `t2o_intended`.
    pub stages: BTreeMap<String, StageSummary>,
    /// Orders whose times contradict each other: in no stage.
    pub disordered_samples: u64,
    /// Orders that td took and that answered no quote: they came of a timer, a report, a start. In no stage either.
    #[serde(default)]
    pub orders_without_quote: u64,
    /// Orders that td has not taken: it was stopped, or is not there yet.
    #[serde(default)]
    pub orders_not_taken: u64,
}

/// Longest time that a histogram tells apart from longer ones, in nanoseconds.
const LONGEST: u64 = 1 << 42;

impl Stages {
    /// Those of an instance, running or not.
    pub fn read(view: &InstanceView, totals: &Totals) -> Stages {
        let mut stages = match Latencies::of(view.instance()) {
            Ok(Some(latencies)) => Stages::of(&latencies),
            Ok(None) => Stages::default(),
            Err(error) => {
                log::warn!("no times of orders: {error}");
                return Stages::default();
            }
        };
        let taken: u64 = view.seats_of(NodeKind::Td).map(|td| td.counter(Counter::Orders)).sum();
        // A td that was killed may have counted an order twice, or not at all.
        let taken = taken.min(totals.requests.orders);
        let timed = stages.stages.get("t2o").map_or(0, |t2o| t2o.n) + stages.disordered_samples;
        stages.orders_not_taken = totals.requests.orders - taken;
        stages.orders_without_quote = taken.saturating_sub(timed);
        stages
    }

    fn of(latencies: &Latencies) -> Stages {
        let stage =
            |(number, name): (usize, &&str)| Some(((*name).to_owned(), summarise(latencies, number)?));
        Stages {
            stages: STAGES.iter().enumerate().filter_map(stage).collect(),
            disordered_samples: latencies.disordered(),
            ..Stages::default()
        }
    }
}

fn summarise(latencies: &Latencies, stage: usize) -> Option<StageSummary> {
    let mut histogram = Histogram::<u64>::new_with_bounds(1, LONGEST, 3).ok()?;
    for (time, count) in latencies.counts(stage) {
        histogram.saturating_record_n(time.max(1), count);
    }
    if histogram.is_empty() {
        return Some(StageSummary::default());
    }
    // A quantile is the upper end of its bucket, which may lie above the largest value in it.
    let largest = latencies.largest(stage).max(1);
    let at = |quantile: f64| histogram.value_at_quantile(quantile).min(largest) as f64 / 1_000.0;
    Some(StageSummary {
        n: histogram.len(),
        mean_us: histogram.mean() / 1_000.0,
        p50_us: at(0.5),
        p90_us: at(0.9),
        p99_us: at(0.99),
        p999_us: at(0.999),
        max_us: latencies.largest(stage) as f64 / 1_000.0,
    })
}
