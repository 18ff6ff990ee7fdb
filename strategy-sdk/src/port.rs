//! The interface of a session to its environment.

use node::{AccountError, AccountFinder, Counter, DepthError, WriteError};
use wire::{AccountState, InstrumentId, Nanos, Quote, Request};

/// What a [`Session`](crate::session::Session) uses: a clock, the order journal, the node's counters. A running strategy
/// has those of its node, a test has those of [`testing::Harness`](crate::testing::Harness).
pub(crate) trait Port {
    /// The platform's time.
    fn now(&self) -> Nanos;

    /// The latest whole quote of an instrument, where the platform keeps it.
    ///
    /// # Errors
    /// [`DepthError`].
    fn depth(&self, instrument: InstrumentId) -> Result<Quote, DepthError>;

    /// How an account stands, where the platform keeps accounts.
    ///
    /// # Errors
    /// [`AccountError`].
    fn account(&self, finder: &mut AccountFinder) -> Result<AccountState, AccountError>;

    /// Commits one request to td now, or not at all.
    ///
    /// # Errors
    /// [`WriteError::Full`] when td is behind; any other when the journal does not take such messages.
    fn send(&mut self, request: &Request) -> Result<(), WriteError>;

    /// Asks the ledger for the strategy's state, or asks again. The answer comes in the journal of states.
    fn ask_state(&mut self);

    /// Stops waiting for the answer.
    fn settle_state(&mut self);

    /// Adds to one of the node's counters.
    fn count(&mut self, counter: Counter, amount: u64);

    /// Shows whether it hears the market of before its start.
    fn warms_up(&mut self, does: bool);
}
