//! A market that is closed for good: every request is refused, nothing trades.
//!
//! The last matching process of a platform runs so when its predecessor will not be replaced: orders that worked get
//! their ends ([`crate::recall`]), every later request gets an answer, and td is not blocked by an unread journal.

use wire::{OrderStatus, OrderUpdate, Reason, Request, WireError};

/// The answer to a message; `None` when it is no request.
pub(crate) fn refusal(message_id: u16, payload: &[u8]) -> Result<Option<OrderUpdate>, WireError> {
    match Request::decode(message_id, payload) {
        Err(WireError::UnknownId { .. }) => Ok(None),
        decoded => decoded.map(|request| Some(refuse(&request))),
    }
}

/// The refusal of a request by a closed market.
pub fn refuse(request: &Request) -> OrderUpdate {
    let change =
        |status| OrderUpdate::about(request.order_id(), request.instrument(), status, Reason::MarketClosed);
    match request {
        Request::New(order) => OrderUpdate::rejection(order, Reason::MarketClosed),
        Request::Cancel(_) | Request::CancelAll(_) => change(OrderStatus::CancelRejected),
        Request::Replace(_) => change(OrderStatus::ReplaceRejected),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{
        CancelAll, CancelOrder, InstrumentId, Message, NewOrder, OrderId, Price, Quantity, Quote,
        ReplaceOrder, StrategyId,
    };

    #[test]
    fn requests_are_refused_and_the_market_is_not_heard() {
        let order_id = OrderId::new(StrategyId(5), 1, 2);
        let cancel = CancelOrder::new(order_id, InstrumentId(3));
        let refused = refusal(CancelOrder::ID, cancel.bytes()).unwrap().unwrap();
        assert_eq!((refused.order_id, refused.instrument), (order_id, InstrumentId(3)));
        assert_eq!((refused.status, refused.reason), (OrderStatus::CancelRejected, Reason::MarketClosed));
        let all = CancelAll::new(order_id);
        let refused = refusal(CancelAll::ID, all.bytes()).unwrap().unwrap();
        assert_eq!((refused.order_id, refused.status), (order_id, OrderStatus::CancelRejected));
        let (price, quantity) = (Price(10), Quantity(9));
        let replace = ReplaceOrder { order_id, instrument: InstrumentId(3), source: 0, price, quantity };
        let refused = refusal(ReplaceOrder::ID, replace.bytes()).unwrap().unwrap();
        assert_eq!((refused.status, refused.reason), (OrderStatus::ReplaceRejected, Reason::MarketClosed));
        assert_eq!(refusal(Quote::ID, Quote::empty(InstrumentId(3)).bytes()), Ok(None));
        assert!(refusal(NewOrder::ID, b"?").is_err());
    }
}
