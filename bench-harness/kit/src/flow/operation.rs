//! What is done to a book.

use serde::{Deserialize, Serialize};

/// Buy or sell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// A bid.
    Buy,
    /// An ask.
    Sell,
}

impl Side {
    /// The other side.
    #[inline(always)]
    pub fn other(self) -> Side {
        match self {
            Side::Buy => Side::Sell,
            Side::Sell => Side::Buy,
        }
    }
}

/// A limit order for the day: trades what it can at its price or better, the rest goes into the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Add {
    /// Its number: as [`Ids`](super::Ids) says, unique in the flow.
    pub id: u64,
    /// A small number that no other living order has, given out again when the order has ended. A book that uses it needs no
    /// index of ids; what comes to an exchange from outside has no such number.
    pub place: u32,
    /// Price, in ticks.
    pub tick: u32,
    /// How much.
    pub quantity: u32,
    /// Buy or sell.
    pub side: Side,
}

/// Cancels what is left of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancel {
    /// Number of the order.
    pub id: u64,
    /// Place of the order.
    pub place: u32,
}

/// A market order: trades what it can at any price, the rest is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Take {
    /// Its number, unique in the flow.
    pub id: u64,
    /// How much.
    pub quantity: u32,
    /// Buy or sell.
    pub side: Side,
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A limit order.
    Add(Add),
    /// A cancel.
    Cancel(Cancel),
    /// A market order.
    Take(Take),
}

// Less than half a line each, so that reading them costs every book next to nothing.
const _: () = assert!(size_of::<Operation>() == 24);
