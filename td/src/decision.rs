//! What the gateway decides about a request.

use wire::{OrderUpdate, Request};

/// What becomes of a strategy's message.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub enum Decision {
    /// Passed every check: write it to `td.orders`.
    Send(Request),
    /// Refused: write this to the reports of the strategy that sent it, and of no other.
    Answer(OrderUpdate),
    /// No request, or too short to name its order: counted, and not answered.
    Drop,
}
