//! td's histograms of orders, in the two ways of Prometheus: a few fixed buckets, and native ones, which grow by a ninth.

use std::collections::BTreeMap;

use node::{InstanceDir, Latencies};
use prometheus_client::encoding::{MetricEncoder, NativeHistogram, NativeHistogramBuckets, NoLabelSet};
use prometheus_client::metrics::histogram::DEFAULT_NATIVE_HISTOGRAM_ZERO_THRESHOLD;
use wire::stages::STAGES;

/// Upper ends of the fixed buckets, in seconds.
const BOUNDS: [f64; 19] = [
    500e-9, 1e-6, 2e-6, 5e-6, 10e-6, 20e-6, 50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 2e-3, 5e-3, 10e-3, 50e-3,
    0.1, 0.5, 1.0, 10.0,
];
/// Native buckets of a doubling, as a power of two: each is 2^(1/8) times the one before.
const SCHEMA: i32 = 3;

/// A stage's times.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) name: &'static str,
    sum: f64,
    count: u64,
    zeros: u64,
    fixed: Vec<(f64, u64)>,
    /// By number: the upper end of bucket n is 2^(n/8) seconds.
    native: BTreeMap<i32, u64>,
}

/// All stages; none before td has run.
pub(super) fn read(instance: &InstanceDir) -> Vec<Stage> {
    let Ok(Some(latencies)) = Latencies::of(instance) else { return Vec::new() };
    let stages = STAGES.iter().enumerate();
    stages.map(|(number, name)| Stage::of(name, latencies.counts(number))).collect()
}

impl Stage {
    /// Of nanoseconds, and how many took them.
    fn of(name: &'static str, counts: impl Iterator<Item = (u64, u64)>) -> Stage {
        let bounds = BOUNDS.iter().copied().chain([f64::INFINITY]);
        let mut stage = Stage {
            name,
            sum: 0.0,
            count: 0,
            zeros: 0,
            fixed: bounds.map(|bound| (bound, 0)).collect(),
            native: BTreeMap::new(),
        };
        for (ns, count) in counts {
            let time = ns as f64 / 1e9;
            stage.sum += time * count as f64;
            stage.count += count;
            if let Some((_, inside)) = stage.fixed.iter_mut().find(|(bound, _)| time <= *bound) {
                *inside += count;
            }
            if ns == 0 {
                stage.zeros += count;
            } else {
                let number = (time.log2() * f64::from(1 << SCHEMA)).ceil() as i32;
                *stage.native.entry(number).or_default() += count;
            }
        }
        stage
    }

    /// Runs of buckets without a hole, and how each bucket differs from the one before.
    fn sparse(&self) -> (Vec<(i32, u32)>, Vec<i64>) {
        let (mut spans, mut deltas) = (Vec::<(i32, u32)>::new(), Vec::new());
        let (mut next, mut before) = (None, 0);
        for (number, count) in &self.native {
            match (next, spans.last_mut()) {
                (Some(next), Some((_, length))) if next == *number => *length += 1,
                _ => spans.push((number - next.unwrap_or(0), 1)),
            }
            next = Some(number + 1);
            let count = i64::try_from(*count).unwrap_or(i64::MAX);
            deltas.push(count - before);
            before = count;
        }
        (spans, deltas)
    }

    pub(super) fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), std::fmt::Error> {
        let (spans, deltas) = self.sparse();
        let native = NativeHistogram {
            schema: SCHEMA,
            zero_threshold: DEFAULT_NATIVE_HISTOGRAM_ZERO_THRESHOLD,
            zero_count: self.zeros,
            negative: NativeHistogramBuckets { spans: &[], deltas: &[] },
            positive: NativeHistogramBuckets { spans: &spans, deltas: &deltas },
            created: None,
        };
        encoder.encode_histogram_with_native::<NoLabelSet>(self.sum, self.count, &self.fixed, None, native)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_in_one_fixed_and_one_native_bucket() {
        let times = [(0, 1), (700, 2), (1_000, 3), (1_048_576, 4), (90_000_000_000, 5)];
        let stage = Stage::of("t2o", times.into_iter());
        assert_eq!((stage.count, stage.zeros), (15, 1));
        assert_eq!(stage.fixed.iter().map(|(_, count)| count).sum::<u64>(), 15);
        assert_eq!((stage.fixed[0].1, stage.fixed[1].1), (1, 5));
        assert_eq!(stage.fixed.last().map(|(_, count)| *count), Some(5));
        assert_eq!(stage.native.values().sum::<u64>() + stage.zeros, 15);
    }

    #[test]
    fn sparse_buckets_say_the_same_as_the_counts() {
        // 2^0 s is bucket 0, just above it bucket 1; then a hole.
        let second = 1_000_000_000;
        let stage = Stage::of("t2o", [(second, 3), (second + 1, 5), (4 * second, 2)].into_iter());
        assert_eq!(stage.sparse(), (vec![(0, 2), (14, 1)], vec![3, 2, -3]));
    }
}
