//! What was counted, per strategy and for the gateway.

use wire::Reason;

/// Refusals by reason, in the order in which the reasons first came up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReasonCounts(Vec<(Reason, u64)>);

impl Default for ReasonCounts {
    fn default() -> ReasonCounts {
        // More than there are reasons, so that counting never allocates.
        ReasonCounts(Vec::with_capacity(32))
    }
}

impl ReasonCounts {
    pub(crate) fn add(&mut self, reason: Reason) {
        match self.0.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => self.0.push((reason, 1)),
        }
    }

    /// How often for this reason.
    pub fn of(&self, reason: Reason) -> u64 {
        self.0.iter().find(|(known, _)| *known == reason).map_or(0, |&(_, count)| count)
    }

    /// How often in all.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|&(_, count)| count).sum()
    }
}

/// What one strategy did. At any moment
/// `orders = rejected.total() + filled + cancelled + working orders`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// New orders that came in, refused ones included.
    pub orders: u64,
    /// Of those: passed every check and went to matching.
    pub sent: u64,
    /// Of those: accepted by matching. An order that ends at once may never be.
    pub accepted: u64,
    /// Orders refused, by td or by matching.
    pub rejected: ReasonCounts,
    /// Orders that ended filled in full.
    pub filled: u64,
    /// Orders that ended cancelled, for whatever reason.
    pub cancelled: u64,
    /// Fills, partial ones included.
    pub fills: u64,
    /// Cancel requests that came in.
    pub cancel_requests: u64,
    /// Replace requests that came in.
    pub replace_requests: u64,
    /// Replaces that matching carried out.
    pub replaced: u64,
    /// Cancels and replaces refused, by td or by matching.
    pub requests_rejected: ReasonCounts,
}

/// Input that a correct platform does not produce, except [`Anomaly::Redelivered`], which follows a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Anomaly {
    /// The bytes are no message of this journal.
    Unreadable,
    /// An execution at a position that was seen before. Ignored.
    Redelivered,
    /// An execution of an order that does not work here. A fill is booked and delivered all the same, since the
    /// market made it; an acceptance makes the order work from here on.
    UnknownOrder,
    /// From or for a seat without a strategy. There is no journal of reports to write to.
    UnknownStrategy,
    /// An execution with the wrong side or instrument for its order, or an impossible quantity. Ignored.
    BadExecution,
    /// A fill of more than was left. Booked and delivered.
    OverFill,
    /// An update that contradicts the fills before it or the order's state. Delivered, and final is final, but the
    /// numbers are those of the fills. Only `DuplicateOrder` about an order that works, or has ended, is ignored:
    /// it is about a second copy of the order.
    OutOfStep,
}

impl Anomaly {
    /// All of them.
    pub(crate) const ALL: [Anomaly; 7] = [
        Anomaly::Unreadable,
        Anomaly::Redelivered,
        Anomaly::UnknownOrder,
        Anomaly::UnknownStrategy,
        Anomaly::BadExecution,
        Anomaly::OverFill,
        Anomaly::OutOfStep,
    ];

    /// The name, as it is printed.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Anomaly::Unreadable => "unreadable",
            Anomaly::Redelivered => "redelivered",
            Anomaly::UnknownOrder => "unknown-order",
            Anomaly::UnknownStrategy => "unknown-strategy",
            Anomaly::BadExecution => "bad-execution",
            Anomaly::OverFill => "over-fill",
            Anomaly::OutOfStep => "out-of-step",
        }
    }
}

impl std::fmt::Display for Anomaly {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// How often each [`Anomaly`] came up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Anomalies([u64; Anomaly::ALL.len()]);

impl Anomalies {
    /// Counts it and returns it.
    pub(crate) fn note(&mut self, anomaly: Anomaly) -> Anomaly {
        self.0[anomaly as usize] += 1;
        anomaly
    }

    /// How often this one.
    pub fn of(&self, anomaly: Anomaly) -> u64 {
        self.0[anomaly as usize]
    }

    /// Each one with its count, zeros included.
    pub fn iter(&self) -> impl Iterator<Item = (Anomaly, u64)> + '_ {
        Anomaly::ALL.into_iter().map(|anomaly| (anomaly, self.of(anomaly)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_anomaly_has_a_count_and_a_name_of_its_own() {
        let mut anomalies = Anomalies::default();
        for (index, anomaly) in Anomaly::ALL.into_iter().enumerate() {
            assert_eq!(anomaly as usize, index);
            anomalies.note(anomaly);
        }
        assert!(anomalies.iter().all(|(_, count)| count == 1));
        let names: std::collections::BTreeSet<_> =
            Anomaly::ALL.iter().map(|anomaly| anomaly.as_str()).collect();
        assert_eq!(names.len(), Anomaly::ALL.len());
    }

    #[test]
    fn reasons_are_counted_apart_and_together() {
        let mut counts = ReasonCounts::default();
        counts.add(Reason::OffTick);
        counts.add(Reason::PriceBand);
        counts.add(Reason::OffTick);
        assert_eq!((counts.of(Reason::OffTick), counts.of(Reason::Quantity), counts.total()), (2, 0, 3));
        assert_eq!(counts.0, [(Reason::OffTick, 2), (Reason::PriceBand, 1)]);
    }
}
