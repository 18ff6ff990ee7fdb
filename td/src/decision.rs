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
    /// A new order that came before, with the same content: this is what became of it; write it to the same reports. Where
    /// accounts are kept.
    Repeat(OrderUpdate),
    /// No request, or too short to name its order: counted, and not answered.
    Drop,
}
