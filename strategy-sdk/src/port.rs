//! What a session needs of the world outside.

use node::{Counter, WriteError};
use wire::{CancelOrder, Nanos, NewOrder, ReplaceOrder};

/// What goes to td.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outgoing {
    /// A new order.
    New(NewOrder),
    /// A cancel.
    Cancel(CancelOrder),
    /// A replace.
    Replace(ReplaceOrder),
}

/// The way out of a [`Session`](crate::session::Session): a clock, the order journal, the node's counters. A running
/// strategy has those of its node, a test has [`testing::Harness`](crate::testing::Harness).
pub trait Port {
    /// The platform's time.
    fn now(&self) -> Nanos;

    /// Commits one message now, or not at all.
    ///
    /// # Errors
    /// [`WriteError::Full`] when td is behind; any other when the journal does not take such messages.
    fn send(&mut self, message: &Outgoing) -> Result<(), WriteError>;

    /// Asks the ledger for the strategy's state, or asks again. The answer comes in the journal of states.
    fn ask_state(&mut self);

    /// Waits for the answer no more.
    fn settle_state(&mut self);

    /// Adds to one of the node's counters.
    fn count(&mut self, counter: Counter, amount: u64);
}
