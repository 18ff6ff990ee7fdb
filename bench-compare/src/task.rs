//! What a block is, and what its roles answer. Both travel as JSON: the task as an argument, the answer on standard
//! output.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One block: what every role of it must know.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    /// Short name of the rival.
    pub(crate) rival: String,
    /// What is done.
    pub(crate) work: Work,
    /// Bytes of each message.
    pub(crate) payload: usize,
    /// Folder of this block alone.
    pub(crate) room: PathBuf,
    /// CPUs of the roles, round and round.
    pub(crate) cpus: Vec<usize>,
    /// Deaths: how many writers there have been, this one included.
    #[serde(default)]
    pub(crate) generation: u64,
}

/// What is done in a block.
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
    /// Two roles bounce messages, each asleep until the other's comes.
    PingPongAsleep {
        /// Round trips that count.
        trips: u64,
        /// Round trips before them.
        warm_up: u64,
    },
    /// One writes as fast as it can, all of `readers` get everything.
    OneWay {
        /// Reading roles.
        readers: usize,
        /// How long is written.
        millis: u64,
    },
    /// One writes at a steady rate to sleeping readers, each message for one of them.
    Sleepers {
        /// Reading roles.
        readers: usize,
        /// Messages a second.
        per_second: u64,
        /// How long is written.
        millis: u64,
    },
    /// The writer (role 1, again and again) is killed, role 0 reads on.
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

    /// True when receivers sleep while there is nothing.
    pub(crate) fn asleep(self) -> bool {
        matches!(self, Work::PingPongAsleep { .. } | Work::Sleepers { .. })
    }
}

/// What a role prints.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// What it measured.
    pub(crate) answer: Answer,
    /// Involuntary context switches of its thread meanwhile.
    pub(crate) involuntary: u64,
    /// Rivals in one process: what the reading threads of the sleepers measured, in nanoseconds.
    #[serde(default)]
    pub(crate) latencies: Vec<u64>,
}

impl Outcome {
    /// Takes in what another thread of the process measured.
    pub(crate) fn merge(&mut self, other: Outcome) {
        self.involuntary += other.involuntary;
        if let Answer::Latencies { nanos } = other.answer {
            self.latencies.extend(nanos);
        }
    }
}

/// What role 0 of a block measured (of the sleepers: what a reader measured, too).
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
        /// Messages that readers did not get (rivals that may overwrite).
        lost: u64,
    },
    /// The writer of the sleepers.
    Writer {
        /// Cost of one call of `send`.
        cost: Quantiles,
        /// Messages written.
        written: u64,
        /// From the first to the last.
        nanos: u64,
    },
    /// A reader of the sleepers: from just before the send until in hand.
    Latencies {
        /// Nanoseconds, in the order of arrival.
        nanos: Vec<u64>,
    },
    /// Nothing but done.
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
    /// Of these times, each multiplied by `scale`.
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
