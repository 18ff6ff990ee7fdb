//! Order requests of a strategy, and why one was not sent.

use node::WriteError;
use wire::{AccountId, InstrumentId, OrderId, OrderType, Price, Quantity, Side, TimeInForce};

/// A new order, before it is sent with [`Context::order`](crate::Context::order).
///
/// ```
/// use strategy_sdk::{InstrumentId, OrderRequest, Price, Quantity, Side, TimeInForce};
///
/// let request = OrderRequest::limit(Side::Buy, InstrumentId(1), "10.5".parse()?, Quantity(100));
/// assert_eq!(request.time_in_force, TimeInForce::Day);
/// assert_eq!(request.ioc().time_in_force, TimeInForce::ImmediateOrCancel);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a request is sent with Context::order"]
pub struct OrderRequest {
    /// What to trade.
    pub instrument: InstrumentId,
    /// Buy or sell.
    pub side: Side,
    /// Limit or market.
    pub order_type: OrderType,
    /// How long it lives.
    pub time_in_force: TimeInForce,
    /// Limit price; [`Price::NONE`] for a market order.
    pub price: Price,
    /// How much.
    pub quantity: Quantity,
    /// For which account.
    pub account: AccountId,
}

impl OrderRequest {
    /// Trades at `price` or better. What does not trade at once rests, unless said otherwise.
    pub fn limit(side: Side, instrument: InstrumentId, price: Price, quantity: Quantity) -> OrderRequest {
        OrderRequest {
            instrument,
            side,
            order_type: OrderType::Limit,
            time_in_force: TimeInForce::Day,
            price,
            quantity,
            account: AccountId::OWN,
        }
    }

    /// Trades at whatever rests; what finds nothing is cancelled.
    pub fn market(side: Side, instrument: InstrumentId, quantity: Quantity) -> OrderRequest {
        OrderRequest {
            instrument,
            side,
            order_type: OrderType::Market,
            time_in_force: TimeInForce::ImmediateOrCancel,
            price: Price::NONE,
            quantity,
            account: AccountId::OWN,
        }
    }

    /// Trades for this account instead of the strategy's own.
    pub fn account(self, account: AccountId) -> OrderRequest {
        OrderRequest { account, ..self }
    }

    /// Trades what it can at once; the rest is cancelled.
    pub fn ioc(self) -> OrderRequest {
        OrderRequest { time_in_force: TimeInForce::ImmediateOrCancel, ..self }
    }

    /// Trades in full at once, or not at all.
    pub fn fok(self) -> OrderRequest {
        OrderRequest { time_in_force: TimeInForce::FillOrKill, ..self }
    }

    /// Rests, and is rejected if any of it would trade at once. For limit orders.
    pub fn post_only(self) -> OrderRequest {
        OrderRequest { time_in_force: TimeInForce::PostOnly, ..self }
    }
}

/// An order was not sent. It holds the request, to be changed or sent again.
///
/// Refusals by td or the market come later, through [`Strategy::order`](crate::Strategy::order).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no order to {side} {quantity} of instrument {instrument}: {refusal}",
        side = request.side, quantity = request.quantity, instrument = request.instrument)]
pub struct OrderError {
    /// What was asked for.
    pub request: OrderRequest,
    /// Why it was not sent.
    pub refusal: Refusal,
}

/// A cancel or replace was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("order {order} is not changed: {refusal}")]
pub struct ChangeError {
    /// Which order.
    pub order: OrderId,
    /// Why nothing was sent.
    pub refusal: Refusal,
}

/// Why a request was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Before [`Strategy::start`](crate::Strategy::start), or after the stop.
    #[error("the strategy has not started, or has stopped")]
    NotReady,
    /// md has not listed it.
    #[error("the instrument is not listed; Context::instruments has those that are")]
    UnknownInstrument,
    /// No such order works: it has ended, or never was.
    #[error("no such order works")]
    UnknownOrder,
    /// Zero or negative.
    #[error("the quantity must be positive")]
    Quantity,
    /// A limit order needs a price.
    #[error("a limit order needs a price")]
    NoPrice,
    /// A market order never rests.
    #[error("a market order cannot be post-only")]
    MarketCannotRest,
    /// td is behind: the journal is full. Nothing was sent; try again at a later event.
    #[error("the order journal is full, td is behind: try again at a later event")]
    Full,
    /// All 4,294,967,295 numbers of this start are used up.
    #[error("all order numbers of this start are used up: restart the strategy")]
    Exhausted,
    /// The order journal does not take such messages.
    #[error("the order journal refuses it: {0}")]
    Journal(WriteError),
}

impl From<WriteError> for Refusal {
    fn from(error: WriteError) -> Refusal {
        match error {
            WriteError::Full { .. } => Refusal::Full,
            other => Refusal::Journal(other),
        }
    }
}
