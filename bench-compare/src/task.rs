//! The description of a block, and the answers of its roles. Both are passed as JSON: the task as an argument, the
//! answer on standard output.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One block, as every role of it must know it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    /// Short name of the rival.
    pub(crate) rival: String,
    /// The work.
    pub(crate) work: Work,
    /// Bytes of each message.
    pub(crate) payload: usize,
    /// Folder of this block alone.
    pub(crate) room: PathBuf,
    /// CPUs of the roles, in rotation.
    pub(crate) cpus: Vec<usize>,
    /// Deaths: number of writers so far, this one included.
    #[serde(default)]
    pub(crate) generation: u64,
}

/// The work of a block.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub(crate) enum Work {
    /// Two roles bounce messages, polling.
    PingPong {
        /// Round trips that count.
        trips: u64,
        /// Round trips before them.
        warm_up: u64,
    },
    /// Two roles bounce messages, each asleep until the other's message arrives.
    PingPongAsleep {
        /// Round trips that count.
        trips: u64,
        /// Round trips before them.
        warm_up: u64,
    },
    /// One role writes as fast as it can, and all of `readers` get everything.
    OneWay {
        /// Reading roles.
        readers: usize,
        /// Duration of the writing.
        millis: u64,
    },
    /// One role writes at a steady rate to sleeping readers, each message for one of them.
    Sleepers {
        /// Reading roles.
        readers: usize,
        /// Messages a second.
        per_second: u64,
        /// Duration of the writing.
        millis: u64,
    },
    /// The writer (role 1, restarted each time) is killed, role 0 reads on.
    WriterDies,
    /// The writer is role 0; reader 1 stays, reader 2 is killed.
    ReaderDies,
}

impl Work {
    /// Number of roles; role 0 creates what they share.
    pub(crate) fn roles(self) -> usize {
        match self {
            Work::PingPong { .. } | Work::PingPongAsleep { .. } | Work::WriterDies => 2,
            Work::OneWay { readers, .. } | Work::Sleepers { readers, .. } => readers + 1,
            Work::ReaderDies => 3,
        }
    }

    /// True when receivers sleep while there is nothing to read.
    pub(crate) fn asleep(self) -> bool {
        matches!(self, Work::PingPongAsleep { .. } | Work::Sleepers { .. })
    }
}

/// The output of a role.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// What it measured.
    pub(crate) answer: Answer,
    /// Involuntary context switches of its thread during the measurement.
    pub(crate) involuntary: u64,
    /// Rivals in one process: what the reading threads of the sleepers measured, in nanoseconds.
    #[serde(default)]
    pub(crate) latencies: Vec<u64>,
}

impl Outcome {
    /// Adds what another thread of the process measured.
    pub(crate) fn merge(&mut self, other: Outcome) {
        self.involuntary += other.involuntary;
        if let Answer::Latencies { nanos } = other.answer {
            self.latencies.extend(nanos);
        }
    }
}

/// What role 0 of a block measured (for the sleepers: also what a reader measured).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub(crate) enum Answer {
    /// One-way times, half of a round trip.
    PingPong {
        /// The bare word between the same cores, just before.
        floor_before: Quantiles,
        /// The rival.
        own: Quantiles,
        /// The bare word, just after.
        floor_after: Quantiles,
    },
    /// Throughput.
    OneWay {
        /// Messages written.
        written: u64,
        /// From the first write until the slowest reader had the last message.
        nanos: u64,
        /// Messages that readers did not get (rivals that overwrite).
        lost: u64,
    },
    /// The writer of the sleepers.
    Writer {
        /// Cost of one call of `send`.
        cost: Quantiles,
        /// Messages written.
        written: u64,
        /// From the first message to the last.
        nanos: u64,
    },
    /// A reader of the sleepers: from just before the send until received.
    Latencies {
        /// Nanoseconds, in the order of arrival.
        nanos: Vec<u64>,
    },
    /// Done, without figures.
    Done,
}

/// Quantiles of times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Quantiles {
    /// Number of times.
    pub(crate) count: u64,
    /// Median.
    pub(crate) p50: f64,
    /// 99th percentile.
    pub(crate) p99: f64,
    /// 99.9th percentile.
    pub(crate) p999: f64,
    /// Largest.
    pub(crate) max: f64,
}

impl Quantiles {
    /// Quantiles of these times, each multiplied by `scale`.
    pub(crate) fn of(mut times: Vec<u64>, scale: f64) -> Quantiles {
        times.sort_unstable();
        let at = |share: f64| {
            let index = ((times.len() as f64 * share).ceil() as usize).clamp(1, times.len().max(1)) - 1;
            times.get(index).map_or(0.0, |&time| time as f64 * scale)
        };
        Quantiles { count: times.len() as u64, p50: at(0.5), p99: at(0.99), p999: at(0.999), max: at(1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::Quantiles;

    #[test]
    fn quantiles_of_a_thousand_numbers() {
        let quantiles = Quantiles::of((1..=1000).rev().collect(), 0.5);
        assert_eq!(
            (quantiles.p50, quantiles.p99, quantiles.p999, quantiles.max),
            (250.0, 495.0, 499.5, 500.0)
        );
        assert_eq!(Quantiles::of(Vec::new(), 1.0).p50, 0.0);
    }
}
