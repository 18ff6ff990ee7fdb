//! Sizes of one order, and the number of orders.

use wire::Reason;

/// A quantity is positive, and not over the limit.
pub(crate) fn order_quantity(limit: Option<i64>, quantity: i64) -> Result<(), Reason> {
    if quantity > 0 && limit.is_none_or(|limit| quantity <= limit) { Ok(()) } else { Err(Reason::Quantity) }
}

/// What one order is worth, without its sign.
pub(crate) fn order_notional(limit: Option<i128>, worth: i128) -> Result<(), Reason> {
    if limit.is_none_or(|limit| worth <= limit) { Ok(()) } else { Err(Reason::OrderNotional) }
}

/// One more order may work.
pub(crate) fn open_orders(limit: Option<u32>, open: u32) -> Result<(), Reason> {
    if limit.is_none_or(|limit| open < limit) { Ok(()) } else { Err(Reason::WorkingOrders) }
}
