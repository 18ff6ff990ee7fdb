//! What becomes of an order: written by matching, passed on by td to the strategy that asked.

use wire_derive::Described;
use zerocopy::{Immutable, IntoBytes, KnownLayout, TryFromBytes};

use crate::{InstrumentId, Liquidity, Nanos, OrderId, OrderStatus, Price, Quantity, Reason, Side};

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
    /// Where it stands now.
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
    /// Market time of the event that caused it, or zero.
    #[field(column = "event_time_ns")]
    pub event_time: Nanos,
    /// Position of matching's own frame about this, when td passes it on; zero when td itself is the author. In
    /// matching's frame: position of the last request in `td.orders` that it had taken, so that all before are answered.
    #[field(position)]
    pub execution: u64,
    /// In a refusal by td: position of the refused request in its strategy's journal of orders. Else zero.
    #[field(position)]
    pub request: u64,
    /// In a refusal by td: position of the last frame of matching's that td has passed on in this journal of reports,
    /// before this one. Else zero.
    #[field(position)]
    pub told: u64,
}

/// Part of an order traded. Followed by an [`OrderUpdate`] that says where the order stands.
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
}
