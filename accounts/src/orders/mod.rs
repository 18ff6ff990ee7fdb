//! Orders: those at work, and the latest of those that have ended.
//!
//! What has ended is remembered for a while, so that a request that comes twice is answered with what became of it, and so
//! that a fill that comes late is booked where it belongs. `docs/accounts.md` has the table of an order's life.

mod order;
mod table;

pub(crate) use order::{Closes, Order, Reservation, Stage};
pub(crate) use table::Orders;
