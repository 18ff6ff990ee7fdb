//! The refusals that td writes itself. In each `execution` is zero: matching has no frame about it. That of a new order is
//! [`OrderUpdate::rejection`].

use wire::{
    CancelAll, CancelOrder, InstrumentId, OrderId, OrderStatus, OrderUpdate, Quantity, Reason, ReplaceOrder,
};

use crate::orders::WorkingOrder;

/// Refuses a cancel.
pub(crate) fn cancel(cancel: &CancelOrder, known: Option<&WorkingOrder>, reason: Reason) -> OrderUpdate {
    about(known, OrderUpdate::about(cancel.order_id, cancel.instrument, OrderStatus::CancelRejected, reason))
}

/// Refuses a mass cancel. The order id is that of the request.
pub(crate) fn cancel_all(cancel: &CancelAll, reason: Reason) -> OrderUpdate {
    OrderUpdate::about(cancel.order_id, cancel.instrument, OrderStatus::CancelRejected, reason)
}

/// Refuses a replace.
pub(crate) fn replace(replace: &ReplaceOrder, known: Option<&WorkingOrder>, reason: Reason) -> OrderUpdate {
    about(
        known,
        OrderUpdate::about(replace.order_id, replace.instrument, OrderStatus::ReplaceRejected, reason),
    )
}

/// Refuses bytes of which only the order's id could be read.
pub(crate) fn malformed(order_id: OrderId, status: OrderStatus) -> OrderUpdate {
    OrderUpdate::about(order_id, InstrumentId(0), status, Reason::Malformed)
}

/// With the order's current state, if it is known; a refusal does not change it.
fn about(known: Option<&WorkingOrder>, update: OrderUpdate) -> OrderUpdate {
    match known {
        None => update,
        Some(order) => OrderUpdate {
            instrument: order.instrument,
            side: order.side,
            price: order.price,
            quantity: Quantity(order.total),
            filled: Quantity(order.filled),
            remaining: Quantity(order.remaining()),
            ..update
        },
    }
}
