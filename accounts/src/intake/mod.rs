//! Requests: what comes from strategies, and whether it may go out.

mod cancel;
mod closing;
mod counting;
mod meeting;
mod new_order;
mod refusals;
mod replace;
pub(crate) mod standing;
mod worth;

use wire::{NewOrder, OrderUpdate, Reason};

pub(crate) use counting::Counting;
pub(crate) use meeting::widen;

/// What becomes of a new order.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "lives on the stack for the length of one call")]
pub enum Verdict {
    /// It may go out, like this: an offset that was left open is chosen.
    Send(NewOrder),
    /// It came before, with the same content: this is what became of it.
    Known(OrderUpdate),
    /// It may not.
    Refused(Reason),
}
