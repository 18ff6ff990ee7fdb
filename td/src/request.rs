//! What a strategy asks, and what the gateway decides.

use wire::{CancelOrder, Message, NewOrder, OrderId, OrderUpdate, ReplaceOrder, WireError};

/// A message that a strategy may write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Request {
    /// Trade.
    New(NewOrder),
    /// Take it out of the book.
    Cancel(CancelOrder),
    /// Change it.
    Replace(ReplaceOrder),
}

/// What becomes of a strategy's message.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub enum Decision {
    /// Passed every check: write it to `td.orders`.
    Send(Request),
    /// Refused: write this to the reports of the strategy that sent it, and of no other.
    Answer(OrderUpdate),
    /// No order message at all, or too short to say which order: counted, and nobody can be answered.
    Drop,
}

impl Request {
    /// Reads a frame's payload by the message id in its header.
    ///
    /// # Errors
    /// [`WireError::UnknownId`] for an id that is no request; else what decoding says.
    pub fn decode(message_id: u16, payload: &[u8]) -> Result<Request, WireError> {
        match message_id {
            NewOrder::ID => NewOrder::decode(payload).map(Request::New),
            CancelOrder::ID => CancelOrder::decode(payload).map(Request::Cancel),
            ReplaceOrder::ID => ReplaceOrder::decode(payload).map(Request::Replace),
            id => Err(WireError::UnknownId { id }),
        }
    }

    /// Which order it is about.
    pub fn order_id(&self) -> OrderId {
        match self {
            Request::New(order) => order.order_id,
            Request::Cancel(cancel) => cancel.order_id,
            Request::Replace(replace) => replace.order_id,
        }
    }

    /// Where its strategy wrote it, as [`CancelOrder::source`] has it. A new order needs none: its id is its own.
    pub fn source(&self) -> Option<u32> {
        match self {
            Request::New(_) => None,
            Request::Cancel(cancel) => Some(cancel.source),
            Request::Replace(replace) => Some(replace.source),
        }
    }

    /// The same, written there.
    #[must_use]
    pub fn with_source(self, source: u32) -> Request {
        match self {
            Request::New(order) => Request::New(order),
            Request::Cancel(cancel) => Request::Cancel(CancelOrder { source, ..cancel }),
            Request::Replace(replace) => Request::Replace(ReplaceOrder { source, ..replace }),
        }
    }

    /// Id for the header of the frame to write.
    pub fn message_id(&self) -> u16 {
        match self {
            Request::New(_) => NewOrder::ID,
            Request::Cancel(_) => CancelOrder::ID,
            Request::Replace(_) => ReplaceOrder::ID,
        }
    }

    /// Payload of the frame to write.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Request::New(order) => order.bytes(),
            Request::Cancel(cancel) => cancel.bytes(),
            Request::Replace(replace) => replace.bytes(),
        }
    }

    /// Topic of the frame to write: the instrument's id.
    pub fn topic(&self) -> u32 {
        match self {
            Request::New(order) => order.instrument.0,
            Request::Cancel(cancel) => cancel.instrument.0,
            Request::Replace(replace) => replace.instrument.0,
        }
    }
}
