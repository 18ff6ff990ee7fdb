//! Input that a correct platform does not produce, by name.

use wire::fold::Contradiction;

/// Input that a correct platform does not produce, except [`Anomaly::Redelivered`], which follows a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Anomaly {
    /// The bytes are no message of this journal.
    Unreadable,
    /// An execution at a position that was seen before. Ignored.
    Redelivered,
    /// An execution of an order that does not work: never accepted, or ended. Booked.
    UnknownOrder,
    /// An execution with the wrong side or instrument for its order, or an impossible quantity. Ignored.
    BadExecution,
    /// A fill of more than was left. Booked.
    OverFill,
    /// An order is accepted twice, or rejected while it works. A rejection with `duplicate-order` is ignored: it is about a
    /// second copy of the order.
    OutOfStep,
    /// A fill that would overflow an amount. Ignored.
    Overflow,
    /// A quote or trade of an instrument with an impossible number. Ignored.
    UnknownInstrument,
}

impl Anomaly {
    /// All of them.
    pub(crate) const ALL: [Anomaly; 8] = [
        Anomaly::Unreadable,
        Anomaly::Redelivered,
        Anomaly::UnknownOrder,
        Anomaly::BadExecution,
        Anomaly::OverFill,
        Anomaly::OutOfStep,
        Anomaly::Overflow,
        Anomaly::UnknownInstrument,
    ];

    /// The name, as it is printed.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Anomaly::Unreadable => "unreadable",
            Anomaly::Redelivered => "redelivered",
            Anomaly::UnknownOrder => "unknown-order",
            Anomaly::BadExecution => "bad-execution",
            Anomaly::OverFill => "over-fill",
            Anomaly::OutOfStep => "out-of-step",
            Anomaly::Overflow => "overflow",
            Anomaly::UnknownInstrument => "unknown-instrument",
        }
    }
}

impl From<Contradiction> for Anomaly {
    fn from(contradiction: Contradiction) -> Anomaly {
        match contradiction {
            Contradiction::UnknownOrder => Anomaly::UnknownOrder,
            Contradiction::OverFill => Anomaly::OverFill,
            Contradiction::OutOfStep => Anomaly::OutOfStep,
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
        let names: std::collections::BTreeSet<_> = Anomaly::ALL.map(Anomaly::as_str).into_iter().collect();
        assert_eq!(names.len(), Anomaly::ALL.len());
    }
}
