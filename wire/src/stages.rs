//! The stages of an order's way from the quote to td, and how long each took.
//!
//! ```text
//!  t0 due     t1 published   t2 received   t3 ordered   t4 taken
//!  ├─ lateness ─┼─── md ───────┼─ strategy ──┼── order ───┤
//!               └───────────────── t2o ───────────────────┘
//!  └─────────────────── t2o_intended ─────────────────────┘
//! ```

use crate::{LatencySample, Nanos};

/// Names of the stages, in the order of [`LatencySample::stages`].
pub const STAGES: [&str; 5] = ["md", "strategy", "order", "t2o", "t2o_intended"];
/// Index of t2o in [`STAGES`].
pub const T2O: usize = 3;
/// Index of t2o since the quote was due in [`STAGES`].
pub const T2O_INTENDED: usize = 4;

/// The two ends of each stage, in the order of [`STAGES`], as indices of the times: due, published, received, ordered,
/// taken.
pub const ENDS: [(usize, usize); STAGES.len()] = [(1, 2), (2, 3), (3, 4), (1, 4), (0, 4)];

/// How long each stage took, in the order of [`STAGES`].
pub type StageTimes = [Option<Nanos>; STAGES.len()];

impl LatencySample {
    /// How long each stage took. `None` when the times contradict each other.
    ///
    /// An order that no quote caused has no stages, one whose quote had no schedule no t2o since it was due.
    #[inline]
    pub fn stages(&self) -> Option<StageTimes> {
        let times = [self.due.0, self.published.0, self.received.0, self.ordered.0, self.taken.0];
        let [t0, t1, t2, t3, t4] = times;
        if t1 == 0 {
            return Some([None; STAGES.len()]);
        }
        let is_ordered = t1 <= t2 && t2 <= t3 && t3 <= t4 && t0 <= t4;
        is_ordered.then(|| ENDS.map(|(from, to)| (times[from] != 0).then(|| Nanos(times[to] - times[from]))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OrderId;

    fn stages(times: [u64; 5]) -> Option<[Option<u64>; 5]> {
        let [due, published, received, ordered, taken] = times.map(Nanos);
        let sample = LatencySample { order_id: OrderId(1), due, published, received, ordered, taken };
        sample.stages().map(|stages| stages.map(|stage| stage.map(|time| time.0)))
    }

    #[test]
    fn each_stage_is_the_difference_of_its_ends() {
        let [md, strategy, order, t2o, intended] =
            stages([1_000, 2_000, 5_000, 9_000, 17_000]).unwrap().map(Option::unwrap);
        assert_eq!([md, strategy, order, t2o, intended], [3_000, 4_000, 8_000, 15_000, 16_000]);
        assert_eq!(md + strategy + order, t2o);
    }

    #[test]
    fn orders_without_a_quote_or_a_schedule_have_no_such_stage() {
        assert_eq!(stages([0, 0, 0, 9, 17]), Some([None; 5]));
        assert_eq!(stages([0, 1, 2, 4, 7]), Some([Some(1), Some(2), Some(3), Some(6), None]));
    }

    #[test]
    fn times_that_contradict_each_other_have_no_stages() {
        for times in [[1, 3, 2, 4, 5], [1, 2, 4, 3, 5], [1, 2, 3, 5, 4], [6, 2, 3, 4, 5]] {
            assert_eq!(stages(times), None, "{times:?}");
        }
    }
}
