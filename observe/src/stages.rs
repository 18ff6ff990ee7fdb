//! Where the time of orders went, in figures: see [`node::Latencies`].

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use node::{Counter, Latencies};
use serde::{Deserialize, Serialize};
use topology::{NodeKind, Stream, Topology};
use wire::stages::STAGES;
use wire::{Message, NewOrder};

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
    /// Orders that td took before the instance was made again from a recording: their times are not kept.
    #[serde(default)]
    pub orders_before_recovery: u64,
    /// Orders that answered a quote of before that: in no stage, since nothing ran in between.
    #[serde(default)]
    pub orders_of_old_quotes: u64,
}

/// Longest time that a histogram tells apart from longer ones, in nanoseconds.
const LONGEST: u64 = 1 << 42;

impl Stages {
    /// Those of an instance, running or not.
    pub fn read(view: &InstanceView, topology: Option<&Topology>, totals: &Totals) -> Stages {
        let mut stages = match Latencies::of(view.instance()) {
            Ok(Some(latencies)) => Stages::of(&latencies),
            Ok(None) => Stages::default(),
            Err(error) => {
                log::warn!("no times of orders: {error}");
                return Stages::default();
            }
        };
        let of_td = |counter| -> u64 { view.seats_of(NodeKind::Td).map(|td| td.counter(counter)).sum() };
        let orders = totals.requests.orders;
        let untaken = topology.map(|topology| Untaken::read(view, topology)).unwrap_or_default();
        // td counts since the instance was made, the journals since it was made first. A td that was killed may have counted an
        // order twice, or not at all.
        let taken = of_td(Counter::Orders).min(orders);
        stages.orders_not_taken = untaken.orders.min(orders - taken);
        if untaken.is_recovered {
            stages.orders_before_recovery = orders - taken - stages.orders_not_taken;
        } else {
            stages.orders_not_taken = orders - taken;
        }
        stages.orders_of_old_quotes = of_td(Counter::OrdersOfOldQuotes).min(taken);
        let timed = stages.stages.get("t2o").map_or(0, |t2o| t2o.n) + stages.disordered_samples;
        stages.orders_without_quote = taken.saturating_sub(timed + stages.orders_of_old_quotes);
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

/// Orders that td has still to take, as its cursors say.
#[derive(Debug, Default)]
struct Untaken {
    orders: u64,
    /// The journals were made again from a recording.
    is_recovered: bool,
}

impl Untaken {
    fn read(view: &InstanceView, topology: &Topology) -> Untaken {
        let mut untaken = Untaken::default();
        let Some(td) = topology.nodes.iter().find(|node| node.kind == NodeKind::Td) else { return untaken };
        for spec in topology.carrying(Stream::Requests) {
            let Ok((journal, row)) = view.journal(&spec.name) else { continue };
            untaken.is_recovered |= row.stat.incarnation > 1;
            if !untaken.is_recovered {
                continue;
            }
            let Ok(mut reader) = journal.observe(journal.finished_by(u32::from(td.seat))) else { continue };
            while let Ok(Some(frame)) = reader.read() {
                untaken.orders += u64::from(frame.message_id == NewOrder::ID);
            }
        }
        untaken
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
