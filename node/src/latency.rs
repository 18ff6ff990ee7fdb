//! Histograms of the stages of orders: updated by td, kept as long as the instance, readable by any process. The stages
//! are those of [`wire::stages`].

use journal::OpenError;
use journal::tools::Histograms;
use wire::LatencySample;
use wire::stages::STAGES;

use crate::handle::NodeHandle;
use crate::instance::InstanceDir;

/// The histograms of all stages, in nanoseconds.
#[derive(Debug)]
pub struct Latencies(Histograms);

impl Latencies {
    /// The histograms of the node's instance, for recording; a predecessor's counts are kept.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn keep(node: &NodeHandle) -> Result<Latencies, OpenError> {
        Histograms::open_or_create(&node.instance.latencies(), STAGES.len()).map(Latencies)
    }

    /// The histograms of an instance, for reading; `None` before td has run.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn of(instance: &InstanceDir) -> Result<Option<Latencies>, OpenError> {
        let path = instance.latencies();
        if path.exists() {
            Histograms::open_read_only(&path).map(|read| Some(Latencies(read)))
        } else {
            Ok(None)
        }
    }

    /// Adds one order. Orders that no quote caused have no stages and are skipped.
    #[inline]
    pub fn add(&self, sample: &LatencySample) {
        let Some(stages) = sample.stages() else {
            return self.0.leave_out();
        };
        for (stage, time) in stages.into_iter().enumerate() {
            if let Some(time) = time {
                self.0.record(stage, time.0);
            }
        }
    }

    /// The non-empty buckets of a stage, ascending: smallest value and count.
    pub fn counts(&self, stage: usize) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.counts(stage)
    }

    /// The exact longest time of a stage.
    pub fn largest(&self, stage: usize) -> u64 {
        self.0.largest(stage)
    }

    /// Orders whose times contradict each other; no stage counts them.
    pub fn disordered(&self) -> u64 {
        self.0.left_out()
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

    fn latencies() -> (tempfile::TempDir, Latencies) {
        let folder = tempfile::tempdir().unwrap();
        let made = Histograms::open_or_create(&folder.path().join("latencies"), STAGES.len()).unwrap();
        (folder, Latencies(made))
    }

    fn counts(latencies: &Latencies) -> [u64; STAGES.len()] {
        std::array::from_fn(|stage| latencies.counts(stage).map(|(_, count)| count).sum())
    }

    #[test]
    fn each_stage_is_the_difference_of_its_ends() {
        let (_folder, latencies) = latencies();
        latencies.add(&sample([1_000, 2_000, 5_000, 9_000, 17_000]));
        let largest: Vec<u64> = (0..STAGES.len()).map(|stage| latencies.largest(stage)).collect();
        assert_eq!(largest, [3_000, 4_000, 8_000, 15_000, 16_000]);
    }

    #[test]
    fn disordered_times_are_counted_and_kept_out() {
        let (_folder, latencies) = latencies();
        latencies.add(&sample([0, 2_000, 1_000, 9_000, 17_000]));
        assert_eq!((latencies.disordered(), counts(&latencies)), (1, [0; 5]));
    }

    #[test]
    fn orders_without_a_quote_or_a_schedule_have_no_such_stage() {
        let (_folder, latencies) = latencies();
        latencies.add(&sample([0, 0, 0, 9_000, 17_000]));
        latencies.add(&sample([0, 1, 2, 3, 4]));
        assert_eq!(counts(&latencies), [1, 1, 1, 1, 0]);
    }
}
