//! Executions that do not fit.

use crate::state::{state, state_enum};

/// Why an execution does not fit. Each is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anomaly {
    /// An update of no order that is known, or of one that is long forgotten. Nothing changes.
    UnknownOrder = 0,
    /// The trade was booked before. Nothing is booked.
    Doubled = 1,
    /// A fill of an order that has ended. It is booked: the market has traded.
    Late = 2,
    /// A fill of more than the order had left. It is booked.
    OverFill = 3,
    /// An update that fits neither the state nor the fills before it.
    OutOfStep = 4,
    /// Another instrument or side than the order's, or no quantity or price. Nothing is booked.
    Garbled = 5,
    /// An amount that cannot be kept exactly. Nothing is booked.
    Overflow = 6,
    /// A fill of no order that is known: it names no account, so that no account has it. Nothing is booked, and the accounts differ
    /// from the market from then on.
    Unbooked = 7,
}
state_enum!(Anomaly { UnknownOrder, Doubled, Late, OverFill, OutOfStep, Garbled, Overflow, Unbooked });

/// How many there were, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Anomalies {
    counts: [u64; 8],
}
state!(Anomalies { counts });

impl Anomalies {
    pub(crate) fn count(&mut self, anomaly: Anomaly) -> Anomaly {
        self.counts[anomaly as usize] += 1;
        anomaly
    }

    /// How many of one kind.
    pub fn of(&self, anomaly: Anomaly) -> u64 {
        self.counts[anomaly as usize]
    }
}
