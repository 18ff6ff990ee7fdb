//! The refusals that td writes itself. In each `execution` is zero: matching has no frame about it.

use wire::{
    CancelOrder, InstrumentId, Nanos, NewOrder, OrderId, OrderStatus, OrderUpdate, Price, Quantity, Reason,
    ReplaceOrder, Side,
};

use crate::orders::WorkingOrder;

/// Refuses a new order. Price, quantity and side are those asked for.
pub(crate) fn new_order(order: &NewOrder, reason: Reason) -> OrderUpdate {
    OrderUpdate {
        side: order.side,
        price: order.price,
        quantity: order.quantity,
        ..blank(order.order_id, order.instrument, OrderStatus::Rejected, reason)
    }
}

/// Refuses a cancel.
pub(crate) fn cancel(cancel: &CancelOrder, known: Option<&WorkingOrder>, reason: Reason) -> OrderUpdate {
    about(known, blank(cancel.order_id, cancel.instrument, OrderStatus::CancelRejected, reason))
}

/// Refuses a replace.
pub(crate) fn replace(replace: &ReplaceOrder, known: Option<&WorkingOrder>, reason: Reason) -> OrderUpdate {
    about(known, blank(replace.order_id, replace.instrument, OrderStatus::ReplaceRejected, reason))
}

/// Refuses bytes of which only the order's id could be read.
pub(crate) fn malformed(order_id: OrderId, status: OrderStatus) -> OrderUpdate {
    blank(order_id, InstrumentId(0), status, Reason::Malformed)
}

/// The order as it stands, where the owner may know it; it is not touched by the refusal.
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

/// `side` must hold something: [`Side::Buy`], with quantity zero, where the side is not known.
fn blank(order_id: OrderId, instrument: InstrumentId, status: OrderStatus, reason: Reason) -> OrderUpdate {
    OrderUpdate {
        order_id,
        instrument,
        side: Side::Buy,
        status,
        reason,
        reserved: 0,
        price: Price::NONE,
        quantity: Quantity::ZERO,
        filled: Quantity::ZERO,
        remaining: Quantity::ZERO,
        event_time: Nanos(0),
        execution: 0,
        request: 0,
        told: 0,
    }
}
