//! Executions: written by matching, and passed on by td to the order's owner. td writes refusals of its own.

use wire_derive::Described;
use zerocopy::{Immutable, IntoBytes, KnownLayout, TryFromBytes};

use crate::{
    InstrumentId, Liquidity, Message, Nanos, NewOrder, OrderId, OrderStatus, Price, Quantity, Reason, Side,
    WireError,
};

/// An order's state changed, or a request about it was refused.
#[derive(Clone, Copy, Debug, PartialEq, TryFromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct OrderUpdate {
    /// Which order.
    pub order_id: OrderId,
    /// Its instrument.
    pub instrument: InstrumentId,
    /// Its side.
    pub side: Side,
    /// Its status after this.
    pub status: OrderStatus,
    /// Why, when rejected or cancelled.
    pub reason: Reason,
    /// Zero.
    pub reserved: u8,
    /// Its limit price.
    pub price: Price,
    /// Its total quantity.
    pub quantity: Quantity,
    /// How much of it has traded.
    pub filled: Quantity,
    /// How much of it still works; zero once final.
    pub remaining: Quantity,
    /// Market time of the event that caused it; zero where there is none: in what td refuses, and in rejections beside a
    /// recorded or quoted market to which requests take no time. It may go back once: in the ends of orders whose books were lost, which have the time of
    /// the order's last update.
    #[field(column = "event_time_ns")]
    pub event_time: Nanos,
    /// Position in `matching.executions` of the frame that this passes on or restates: set by td in reports and by the
    /// ledger in snapshots. Zero in `matching.executions` itself, and in a refusal by td, which passes nothing on.
    #[field(position)]
    pub execution: u64,
    /// Position in `td.orders` of the last request that matching had taken when it wrote this: it, and all before it, are
    /// answered. Zero before the first request, and in a refusal by td.
    #[field(position, since = 3)]
    pub answered_up_to: u64,
    /// In a refusal by td: position of the refused request in its strategy's journal of orders. Otherwise zero.
    #[field(position)]
    pub refused_request: u64,
    /// In a refusal by td: position in `matching.executions` of the last frame that td had passed on in this journal of
    /// reports. Otherwise zero.
    #[field(position)]
    pub reported_up_to: u64,
}

impl OrderUpdate {
    /// An update of which only these are known; what else it says is zero or absent. `side` has no such value and is
    /// [`Side::Buy`].
    pub fn about(
        order_id: OrderId,
        instrument: InstrumentId,
        status: OrderStatus,
        reason: Reason,
    ) -> OrderUpdate {
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
            answered_up_to: 0,
            refused_request: 0,
            reported_up_to: 0,
        }
    }

    /// The rejection of a new order: price, quantity and side are those asked for.
    pub fn rejection(order: &NewOrder, reason: Reason) -> OrderUpdate {
        OrderUpdate {
            side: order.side,
            price: order.price,
            quantity: order.quantity,
            ..OrderUpdate::about(order.order_id, order.instrument, OrderStatus::Rejected, reason)
        }
    }
}

/// Part of an order traded. Followed by an [`OrderUpdate`] with the order's state.
#[derive(Clone, Copy, Debug, PartialEq, TryFromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct Fill {
    /// Which order.
    pub order_id: OrderId,
    /// The engine's number of the trade; two of our own orders that trade with each other share it.
    pub trade_id: u64,
    /// Its instrument.
    pub instrument: InstrumentId,
    /// Its side.
    pub side: Side,
    /// Whether it rested.
    pub liquidity: Liquidity,
    /// Zero.
    pub reserved: [u8; 2],
    /// At which price.
    pub price: Price,
    /// How much.
    pub quantity: Quantity,
    /// How much of the order still works.
    pub remaining: Quantity,
    /// Market time of the event that caused it, or zero.
    #[field(column = "event_time_ns")]
    pub event_time: Nanos,
    /// As in [`OrderUpdate::execution`].
    #[field(position)]
    pub execution: u64,
    /// As in [`OrderUpdate::answered_up_to`].
    #[field(position, since = 3)]
    pub answered_up_to: u64,
}

/// What matching writes, and td passes on to the order's owner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Execution {
    /// Part of an order traded.
    Fill(Fill),
    /// An order's state changed, or a request was refused.
    Update(OrderUpdate),
}

impl Execution {
    /// Reads a frame's payload by the message id in its header.
    ///
    /// # Errors
    /// [`WireError::UnknownId`] for an id that is no execution; otherwise as [`Message::decode`].
    pub fn decode(message_id: u16, payload: &[u8]) -> Result<Execution, WireError> {
        match message_id {
            Fill::ID => Fill::decode(payload).map(Execution::Fill),
            OrderUpdate::ID => OrderUpdate::decode(payload).map(Execution::Update),
            id => Err(WireError::UnknownId { id }),
        }
    }

    /// The order that it is about.
    pub fn order_id(&self) -> OrderId {
        match self {
            Execution::Fill(fill) => fill.order_id,
            Execution::Update(update) => update.order_id,
        }
    }

    /// Message id for the header of its frame.
    pub fn message_id(&self) -> u16 {
        match self {
            Execution::Fill(_) => Fill::ID,
            Execution::Update(_) => OrderUpdate::ID,
        }
    }

    /// Payload of its frame.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Execution::Fill(fill) => fill.bytes(),
            Execution::Update(update) => update.bytes(),
        }
    }

    /// Position of matching's frame that it passes on, as [`OrderUpdate::execution`]; `None` where there is none.
    pub fn position(&self) -> Option<u64> {
        let position = match self {
            Execution::Fill(fill) => fill.execution,
            Execution::Update(update) => update.execution,
        };
        Some(position).filter(|position| *position != 0)
    }

    /// The same execution as td passes it on: with the position of matching's frame.
    #[must_use]
    pub fn passed_on(self, position: u64) -> Execution {
        match self {
            Execution::Fill(fill) => Execution::Fill(Fill { execution: position, ..fill }),
            Execution::Update(update) => Execution::Update(OrderUpdate { execution: position, ..update }),
        }
    }

    /// Position in `td.orders` up to which all requests are answered, as [`OrderUpdate::answered_up_to`].
    pub fn answered_up_to(&self) -> u64 {
        match self {
            Execution::Fill(fill) => fill.answered_up_to,
            Execution::Update(update) => update.answered_up_to,
        }
    }

    /// Sets what [`Execution::answered_up_to`] returns.
    pub fn set_answered_up_to(&mut self, position: u64) {
        match self {
            Execution::Fill(fill) => fill.answered_up_to = position,
            Execution::Update(update) => update.answered_up_to = position,
        }
    }
}
