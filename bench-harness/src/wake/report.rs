//! All cells as rows.

use pinning::HostSummary;
use serde::{Deserialize, Serialize};

use super::cell::CellResult;
use super::cost::WaitSupport;
use super::doorbell::DoorbellCost;
use super::handoff::Handoff;
use super::{Policy, WakeSettings};

/// Results of `colo bench wake`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WakeReport {
    /// The host.
    pub host: HostSummary,
    /// CPU of the writer, then those of the readers.
    pub cpus: Vec<usize>,
    /// One sleeper, one waker.
    pub handoff: Handoff,
    /// A write that wakes nobody.
    pub wait_support: WaitSupport,
    /// A reader of many journals.
    pub doorbell: DoorbellCost,
    /// Policies and rates.
    pub rows: Vec<WakeRow>,
}

/// One policy at one rate; all rounds together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WakeRow {
    /// How sleepers are woken.
    pub policy: Policy,
    /// Sleepers.
    pub readers: usize,
    /// Messages due each second.
    pub rate: u64,
    /// Messages written each second.
    pub achieved_rate: f64,
    /// Median time of a write in the writer, waking included.
    pub writer_p50_ns: u64,
    /// Its 99th percentile.
    pub writer_p99_ns: u64,
    /// From a message's due time until its reader had it, median.
    pub latency_p50_us: f64,
    /// Its 99th percentile.
    pub latency_p99_us: f64,
    /// Its 99.9th percentile.
    pub latency_p999_us: f64,
    /// Context switches of all readers.
    pub context_switches: u64,
    /// Sleepers woken for each message.
    pub wakeups_per_message: f64,
    /// CPU time of all readers.
    pub cpu_seconds_readers: f64,
    /// Safety time-outs that found a message which should have ended the sleep. Must be zero.
    pub wait_timeouts_with_data: u64,
    /// From a message's due time until the writer began to write it.
    pub lateness_p99_us: f64,
    /// Messages received.
    pub samples: u64,
}

/// Collects results.
#[derive(Debug)]
pub(super) struct Cells {
    readers: usize,
    cells: Vec<(Policy, u64, Option<CellResult>)>,
}

impl Cells {
    pub(super) fn new(settings: &WakeSettings) -> Cells {
        let rates = settings.rates.iter();
        let cells = rates.flat_map(|&rate| settings.policies.iter().map(move |&policy| (policy, rate, None)));
        let mut cells: Vec<_> = cells.collect();
        let order = |policy: Policy| settings.policies.iter().position(|other| *other == policy);
        cells.sort_by_key(|(policy, rate, _)| (order(*policy), *rate));
        Cells { readers: settings.readers, cells }
    }

    /// Adds one round's result.
    pub(super) fn add(&mut self, policy: Policy, rate: u64, result: CellResult) {
        let of_cell = |cell: &&mut (Policy, u64, Option<CellResult>)| (cell.0, cell.1) == (policy, rate);
        let Some((_, _, sum)) = self.cells.iter_mut().find(of_cell) else { return };
        match sum {
            None => *sum = Some(result),
            Some(sum) => sum.add(result),
        }
    }

    pub(super) fn rows(&self) -> Vec<WakeRow> {
        let measured =
            self.cells.iter().filter_map(|(policy, rate, sum)| Some((policy, rate, sum.as_ref()?)));
        measured.map(|(policy, rate, sum)| sum.row(*policy, *rate, self.readers)).collect()
    }
}

impl CellResult {
    fn add(&mut self, other: CellResult) {
        // All histograms have the same bounds and grow by themselves: this cannot fail.
        let _ = self.write_ns.add(other.write_ns);
        let _ = self.latency_ns.add(other.latency_ns);
        let _ = self.lateness_ns.add(other.lateness_ns);
        self.messages += other.messages;
        self.seconds += other.seconds;
        self.wakes += other.wakes;
        self.switches += other.switches;
        self.reader_cpu_ns += other.reader_cpu_ns;
        self.timeouts_with_data += other.timeouts_with_data;
    }

    fn row(&self, policy: Policy, rate: u64, readers: usize) -> WakeRow {
        let us = |ns: u64| (ns as f64 / 100.0).round() / 10.0;
        let latency = |quantile| us(self.latency_ns.value_at_quantile(quantile));
        WakeRow {
            policy,
            readers,
            rate,
            achieved_rate: self.messages as f64 / self.seconds,
            writer_p50_ns: self.write_ns.value_at_quantile(0.5),
            writer_p99_ns: self.write_ns.value_at_quantile(0.99),
            latency_p50_us: latency(0.5),
            latency_p99_us: latency(0.99),
            latency_p999_us: latency(0.999),
            context_switches: self.switches,
            wakeups_per_message: self.wakes as f64 / self.messages.max(1) as f64,
            cpu_seconds_readers: self.reader_cpu_ns as f64 / 1e9,
            wait_timeouts_with_data: self.timeouts_with_data,
            lateness_p99_us: us(self.lateness_ns.value_at_quantile(0.99)),
            samples: self.latency_ns.len(),
        }
    }
}
