//! What a strategy may ask for: the messages of its journal of orders, and of `td.orders`.

use crate::{CancelAll, CancelOrder, InstrumentId, Message, NewOrder, OrderId, ReplaceOrder, WireError};

/// A message about an order, on its way from a strategy through td to matching.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Request {
    /// A new order.
    New(NewOrder),
    /// Takes what is left of an order out of the book.
    Cancel(CancelOrder),
    /// Changes an order's price or quantity.
    Replace(ReplaceOrder),
    /// Cancels many orders.
    CancelAll(CancelAll),
}

impl Request {
    /// Reads a frame's payload by the message id in its header.
    ///
    /// # Errors
    /// [`WireError::UnknownId`] for an id that is no request; otherwise as [`Message::decode`].
    pub fn decode(message_id: u16, payload: &[u8]) -> Result<Request, WireError> {
        match message_id {
            NewOrder::ID => NewOrder::decode(payload).map(Request::New),
            CancelOrder::ID => CancelOrder::decode(payload).map(Request::Cancel),
            ReplaceOrder::ID => ReplaceOrder::decode(payload).map(Request::Replace),
            CancelAll::ID => CancelAll::decode(payload).map(Request::CancelAll),
            id => Err(WireError::UnknownId { id }),
        }
    }

    /// The order that it is about; of a mass cancel its own number.
    pub fn order_id(&self) -> OrderId {
        match self {
            Request::New(order) => order.order_id,
            Request::Cancel(cancel) => cancel.order_id,
            Request::Replace(replace) => replace.order_id,
            Request::CancelAll(cancel) => cancel.order_id,
        }
    }

    /// The order's instrument; zero for a mass cancel in all of them.
    pub fn instrument(&self) -> InstrumentId {
        match self {
            Request::New(order) => order.instrument,
            Request::Cancel(cancel) => cancel.instrument,
            Request::Replace(replace) => replace.instrument,
            Request::CancelAll(cancel) => cancel.instrument,
        }
    }

    /// Where its strategy wrote it, as in [`CancelOrder::source`]. `None` for a new order, which its id identifies.
    pub fn source(&self) -> Option<u32> {
        match self {
            Request::New(_) => None,
            Request::Cancel(cancel) => Some(cancel.source),
            Request::Replace(replace) => Some(replace.source),
            Request::CancelAll(cancel) => Some(cancel.source),
        }
    }

    /// True where td asks by itself and not for a strategy, as [`CancelOrder::OF_TD`] says.
    pub fn is_of_td(&self) -> bool {
        self.source().is_some_and(|source| source & CancelOrder::OF_TD != 0)
    }

    /// The same request with this [`source`](Request::source); a new order has none and stays as it is.
    #[must_use]
    pub fn with_source(self, source: u32) -> Request {
        match self {
            Request::New(order) => Request::New(order),
            Request::Cancel(cancel) => Request::Cancel(CancelOrder { source, ..cancel }),
            Request::Replace(replace) => Request::Replace(ReplaceOrder { source, ..replace }),
            Request::CancelAll(cancel) => Request::CancelAll(CancelAll { source, ..cancel }),
        }
    }

    /// Message id for the header of its frame.
    pub fn message_id(&self) -> u16 {
        match self {
            Request::New(_) => NewOrder::ID,
            Request::Cancel(_) => CancelOrder::ID,
            Request::Replace(_) => ReplaceOrder::ID,
            Request::CancelAll(_) => CancelAll::ID,
        }
    }

    /// Payload of its frame.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Request::New(order) => order.bytes(),
            Request::Cancel(cancel) => cancel.bytes(),
            Request::Replace(replace) => replace.bytes(),
            Request::CancelAll(cancel) => cancel.bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InstrumentId, Price, Quantity, Quote, StrategyId};

    fn requests() -> [Request; 3] {
        let (order_id, instrument) = (OrderId::new(StrategyId(5), 1, 2), InstrumentId(3));
        let (price, quantity) = (Price(10), Quantity(9));
        [
            Request::Cancel(CancelOrder::new(order_id, instrument)),
            Request::Replace(ReplaceOrder { order_id, instrument, source: 0, price, quantity }),
            Request::CancelAll(CancelAll { instrument, ..CancelAll::new(order_id) }),
        ]
    }

    #[test]
    fn a_request_comes_back_from_its_bytes() {
        for request in requests() {
            assert_eq!(Request::decode(request.message_id(), request.bytes()), Ok(request));
            assert_eq!((request.order_id().sequence(), request.instrument()), (2, InstrumentId(3)));
        }
    }

    #[test]
    fn other_messages_and_short_payloads_are_no_requests() {
        let quote = Quote::empty(InstrumentId(3));
        assert_eq!(Request::decode(Quote::ID, quote.bytes()), Err(WireError::UnknownId { id: Quote::ID }));
        for request in requests() {
            assert!(Request::decode(request.message_id(), &request.bytes()[1..]).is_err());
        }
    }

    #[test]
    fn all_but_new_orders_have_a_source() {
        for request in requests() {
            assert_eq!((request.source(), request.with_source(7).source()), (Some(0), Some(7)));
            assert!(!request.with_source(7).is_of_td());
            assert!(request.with_source(CancelOrder::OF_TD | 7).is_of_td());
        }
    }
}
