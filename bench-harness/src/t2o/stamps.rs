//! The five times of one order, and the stages between them.

use wire::stages::StageTimes;
use wire::{LatencySample, Nanos, OrderId};

/// The times of one order on the platform's clock, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamps {
    /// Writer and number of the order; 0 for a missing answer.
    pub order_id: u64,
    /// t0: time in the generator's schedule.
    pub due: u64,
    /// t1: md committed the quote.
    pub published: u64,
    /// t2: the strategy received it.
    pub received: u64,
    /// t3: the strategy committed the order.
    pub ordered: u64,
    /// t4: td received it; for a missing answer, the end of the wait.
    pub taken: u64,
    /// The order was on disk; 0 where it is not recorded, or nothing says when.
    pub durable: u64,
}

impl Stamps {
    /// The duration of each stage; see [`LatencySample::stages`].
    pub(crate) fn stages(&self) -> Option<StageTimes> {
        LatencySample {
            order_id: OrderId(self.order_id),
            due: Nanos(self.due),
            published: Nanos(self.published),
            received: Nanos(self.received),
            ordered: Nanos(self.ordered),
            taken: Nanos(self.taken),
        }
        .stages()
    }

    /// An answer that had not arrived at the end of the wait.
    pub(crate) fn open(due: u64, published: u64, closed: u64) -> Stamps {
        Stamps { order_id: 0, due, published, received: 0, ordered: 0, taken: closed, durable: 0 }
    }

    /// Whether this is a missing answer: no order has the number 0.
    pub fn is_open(&self) -> bool {
        self.order_id == 0
    }

    /// The waits for an open answer: since the quote was published (`None` when it was not), and since it was due.
    /// `None` for an answer that arrived.
    pub fn open_waits(&self) -> Option<(Option<u64>, u64)> {
        let since = |time: u64| self.taken.saturating_sub(time);
        self.is_open().then(|| ((self.published > 0).then(|| since(self.published)), since(self.due)))
    }

    /// From the order's commit until it was on disk.
    pub(crate) fn until_on_disk(&self) -> Option<u64> {
        (self.durable != 0).then(|| self.durable.saturating_sub(self.ordered))
    }

    /// md's lateness in nanoseconds; for a quote that it did not publish, the lateness so far.
    pub(crate) fn lateness(&self) -> u64 {
        let published = if self.is_open() && self.published == 0 { self.taken } else { self.published };
        published.saturating_sub(self.due)
    }
}

impl From<&LatencySample> for Stamps {
    fn from(sample: &LatencySample) -> Stamps {
        Stamps {
            order_id: sample.order_id.0,
            due: sample.due.0,
            published: sample.published.0,
            received: sample.received.0,
            ordered: sample.ordered.0,
            taken: sample.taken.0,
            durable: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stages_of_a_message_add_up_to_its_t2o() {
        let stamps = Stamps {
            order_id: 1,
            due: 900,
            published: 1_000,
            received: 1_700,
            ordered: 2_000,
            taken: 4_000,
            durable: 7_000,
        };
        assert_eq!(stamps.stages(), Some([700, 300, 2_000, 3_000, 3_100].map(|time| Some(Nanos(time)))));
        assert_eq!((stamps.lateness(), stamps.until_on_disk()), (100, Some(5_000)));
        assert_eq!(Stamps { durable: 0, ..stamps }.until_on_disk(), None);
    }

    #[test]
    fn an_answer_that_did_not_come_has_been_waited_for() {
        let open = Stamps::open(900, 1_000, 5_000);
        assert_eq!((open.open_waits(), open.lateness()), (Some((Some(4_000), 4_100)), 100));
        let unpublished = Stamps::open(900, 0, 5_000);
        assert_eq!((unpublished.open_waits(), unpublished.lateness()), (Some((None, 4_100)), 4_100));
        assert_eq!(open.stages(), None);
    }

    #[test]
    fn times_that_contradict_each_other_have_no_stages() {
        let good =
            Stamps { order_id: 1, due: 1, published: 2, received: 3, ordered: 4, taken: 5, durable: 0 };
        assert!(good.stages().is_some());
        assert_eq!(Stamps { received: 1, ..good }.stages(), None);
        assert_eq!(Stamps { ordered: 2, ..good }.stages(), None);
        assert_eq!(Stamps { taken: 3, ..good }.stages(), None);
    }
}
