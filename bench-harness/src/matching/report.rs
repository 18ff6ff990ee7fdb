//! What was measured.

use bench_kit::flow::{Flow, Ids, Mix, Shares};
use bench_kit::measure::Figures;
use pinning::HostSummary;
use serde::{Deserialize, Serialize};

use super::memory::MemoryRow;
use super::stream::Streamed;

/// Results of `colo bench matching`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MatchingReport {
    /// The host.
    pub host: HostSummary,
    /// CPUs of the engines, and of the process that reads events.
    pub cpus: Vec<usize>,
    /// The clock's counter.
    pub clock: String,
    /// What a reading of the clock takes; taken off the times of single operations, measured anew in each turn.
    pub clock_cost_ns: f64,
    /// Operations of each flow.
    pub operations: usize,
    /// Seed of the flows.
    pub seed: u64,
    /// How orders are numbered.
    pub ids: Ids,
    /// Bytes of an event in the journal.
    pub event_bytes: usize,
    /// Bytes of the journal's ring.
    pub ring_bytes: u64,
    /// The flows.
    pub rows: Vec<MatchingRow>,
    /// By mix, how the exchange's median grows with the levels.
    pub growth: Vec<Growth>,
    /// The flow whose events another process gets most slowly.
    pub worst: Option<Worst>,
    /// Memory of resting orders.
    pub memory: Vec<MemoryRow>,
}

/// One flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MatchingRow {
    /// Price levels of both sides together.
    pub levels: u32,
    /// The mix.
    pub mix: Mix,
    /// The exchange: operations a second; the sum of slices of 1,024 operations, each the median of the turns.
    pub ops_per_s: f64,
    /// The bare ladder, likewise.
    pub ladder_ops_per_s: f64,
    /// The engine that plays recorded markets, likewise; not known if ids do not ascend.
    pub simulator_ops_per_s: Option<f64>,
    /// The exchange's time by the ladder's.
    pub ratio: f64,
    /// Lowest and highest of that ratio within one turn, interruptions included.
    pub ratio_range: [f64; 2],
    /// The exchange: median time of one operation, less the clock's.
    pub p50_ns: f64,
    /// 99th percentile.
    pub p99_ns: f64,
    /// 99.9th percentile.
    pub p999_ns: f64,
    /// Longest: median of the turns.
    pub max_ns: f64,
    /// The bare ladder: median time of one operation, less the clock's.
    pub ladder_p50_ns: f64,
    /// 99th percentile.
    pub ladder_p99_ns: f64,
    /// Operations that were timed one by one.
    pub samples: u64,
    /// Turns.
    pub turns: usize,
    /// What the operations are.
    pub flow: Shares,
    /// Events of the exchange.
    pub events: u64,
    /// Events a second that another process got through a journal.
    pub events_per_s: f64,
    /// Lowest and highest of the turns.
    pub events_range: [f64; 2],
    /// Operations a second while it did.
    pub streamed_ops_per_s: f64,
}

impl MatchingRow {
    /// `None` without figures of the ladder and the exchange.
    pub(super) fn new(flow: &Flow, figures: Vec<Figures>) -> Option<MatchingRow> {
        let (ladder, own) = (figures.first()?, figures.get(1)?);
        Some(MatchingRow {
            levels: flow.plan.levels,
            mix: flow.plan.mix,
            ops_per_s: own.ops_per_s,
            ladder_ops_per_s: ladder.ops_per_s,
            simulator_ops_per_s: figures.get(2).map(|figures| figures.ops_per_s),
            ratio: own.ratio,
            ratio_range: own.ratio_range,
            p50_ns: own.p50_ns,
            p99_ns: own.p99_ns,
            p999_ns: own.p999_ns,
            max_ns: own.max_ns,
            ladder_p50_ns: ladder.p50_ns,
            ladder_p99_ns: ladder.p99_ns,
            samples: own.samples,
            turns: own.turns,
            flow: flow.shares,
            events: 0,
            events_per_s: 0.0,
            events_range: [0.0; 2],
            streamed_ops_per_s: 0.0,
        })
    }

    pub(super) fn add(&mut self, streamed: Streamed) {
        self.events = streamed.events;
        self.events_per_s = streamed.events_per_s.median;
        self.events_range = [streamed.events_per_s.low, streamed.events_per_s.high];
        self.streamed_ops_per_s = streamed.ops_per_s.median;
    }
}

/// How a median grows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Growth {
    /// The mix.
    pub mix: Mix,
    /// Fewest levels.
    pub from_levels: u32,
    /// Most levels.
    pub to_levels: u32,
    /// The exchange's median over the most levels by that over the fewest.
    pub p50_ratio: f64,
}

pub(super) fn growth(rows: &[MatchingRow]) -> Vec<Growth> {
    let of = |mix: Mix| {
        let rows = || rows.iter().filter(|row| row.mix == mix);
        let (from, to) = (rows().min_by_key(|row| row.levels)?, rows().max_by_key(|row| row.levels)?);
        let p50_ratio = to.p50_ns / from.p50_ns.max(1.0);
        (from.levels < to.levels).then_some(Growth {
            mix,
            from_levels: from.levels,
            to_levels: to.levels,
            p50_ratio,
        })
    };
    Mix::ALL.into_iter().filter_map(of).collect()
}

/// The slowest flow of events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Worst {
    /// The mix.
    pub mix: Mix,
    /// Price levels.
    pub levels: u32,
    /// Events a second at the reader.
    pub events_per_s: f64,
}

pub(super) fn worst(rows: &[MatchingRow]) -> Option<Worst> {
    let row = rows.iter().min_by(|one, other| one.events_per_s.total_cmp(&other.events_per_s))?;
    Some(Worst { mix: row.mix, levels: row.levels, events_per_s: row.events_per_s })
}
