//! A market that is closed for good: every request is refused, nothing trades.
//!
//! The last matching process of a platform runs so when its predecessor will not be replaced: orders that worked have
//! their ends ([`crate::recall`]), what comes afterwards gets an answer, and nobody waits at a gate for it.

use wire::{CancelOrder, InstrumentId, Message, NewOrder, OrderId, OrderStatus, OrderUpdate, Reason};
use wire::{ReplaceOrder, WireError};

use crate::engine::{rejected, unknown};

/// The answer to a message; `None` when it asks for nothing.
pub(crate) fn refusal(message_id: u16, payload: &[u8]) -> Result<Option<OrderUpdate>, WireError> {
    let change = |order_id: OrderId, instrument: InstrumentId, status: OrderStatus| OrderUpdate {
        reason: Reason::MarketClosed,
        ..unknown(order_id, instrument, status)
    };
    Ok(match message_id {
        NewOrder::ID => Some(rejected(&NewOrder::decode(payload)?, Reason::MarketClosed)),
        CancelOrder::ID => {
            let cancel = CancelOrder::decode(payload)?;
            Some(change(cancel.order_id, cancel.instrument, OrderStatus::CancelRejected))
        }
        ReplaceOrder::ID => {
            let replace = ReplaceOrder::decode(payload)?;
            Some(change(replace.order_id, replace.instrument, OrderStatus::ReplaceRejected))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Price, Quantity, Quote, StrategyId};

    #[test]
    fn requests_are_refused_and_the_market_is_not_heard() {
        let order_id = OrderId::new(StrategyId(5), 1, 2);
        let cancel = CancelOrder::new(order_id, InstrumentId(3));
        let refused = refusal(CancelOrder::ID, cancel.bytes()).unwrap().unwrap();
        assert_eq!((refused.order_id, refused.instrument), (order_id, InstrumentId(3)));
        assert_eq!((refused.status, refused.reason), (OrderStatus::CancelRejected, Reason::MarketClosed));
        let (price, quantity) = (Price(10), Quantity(9));
        let replace = ReplaceOrder { order_id, instrument: InstrumentId(3), source: 0, price, quantity };
        let refused = refusal(ReplaceOrder::ID, replace.bytes()).unwrap().unwrap();
        assert_eq!((refused.status, refused.reason), (OrderStatus::ReplaceRejected, Reason::MarketClosed));
        assert_eq!(refusal(Quote::ID, Quote::empty(InstrumentId(3)).bytes()), Ok(None));
        assert!(refusal(NewOrder::ID, b"?").is_err());
    }
}
