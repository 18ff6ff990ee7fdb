//! Order requests of a strategy, and why one was not sent.

use node::WriteError;
use wire::{
    AccountId, CancelAll, InstrumentId, Nanos, NewOrder, OrderId, OrderType, Price, Quantity, Side,
    TimeInForce,
};

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
    /// For which account; `None`: the strategy's default, [`Context::default_account`](crate::Context::default_account).
    pub account: Option<AccountId>,
    /// How much the book shows at a time; zero: all.
    pub display: Quantity,
    /// It trades at least this much at once, or nothing; zero: any quantity.
    pub minimum: Quantity,
    /// The price that a stop waits for; [`Price::NONE`] for any other order.
    pub trigger: Price,
    /// When an order good till a date ends; zero for any other.
    pub ends: Nanos,
    /// [`NewOrder::POST_ONLY`], [`NewOrder::CANCEL_NEWEST`], [`NewOrder::CANCEL_OLDEST`], [`NewOrder::DECREMENT`].
    pub flags: u8,
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
            account: None,
            display: Quantity::ZERO,
            minimum: Quantity::ZERO,
            trigger: Price::NONE,
            ends: Nanos(0),
            flags: 0,
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
            account: None,
            display: Quantity::ZERO,
            minimum: Quantity::ZERO,
            trigger: Price::NONE,
            ends: Nanos(0),
            flags: 0,
        }
    }

    /// Trades for this account instead of the strategy's default.
    pub fn account(self, account: AccountId) -> OrderRequest {
        OrderRequest { account: Some(account), ..self }
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

    /// Rests until cancelled, also over the end of a day. This and what follows is for `fill = "exchange"`; other markets
    /// reject it, `Unsupported`.
    pub fn good_till_cancel(self) -> OrderRequest {
        OrderRequest { time_in_force: TimeInForce::GoodTillCancel, ..self }
    }

    /// Rests until cancelled, or this time of the market, in whole seconds.
    pub fn good_till(self, ends: Nanos) -> OrderRequest {
        OrderRequest { time_in_force: TimeInForce::GoodTillDate, ends, ..self }
    }

    /// Takes part in the opening auction only.
    pub fn at_the_open(self) -> OrderRequest {
        OrderRequest { time_in_force: TimeInForce::AtTheOpen, ..self }
    }

    /// Takes part in the closing auction only.
    pub fn at_the_close(self) -> OrderRequest {
        OrderRequest { time_in_force: TimeInForce::AtTheClose, ..self }
    }

    /// Shows only this much of it at a time. In whole lots.
    pub fn iceberg(self, display: Quantity) -> OrderRequest {
        OrderRequest { display, ..self }
    }

    /// Trades at least this much at once, or nothing. In whole lots.
    pub fn minimum(self, minimum: Quantity) -> OrderRequest {
        OrderRequest { minimum, ..self }
    }

    /// Waits until a trade reaches this price: a buy at it or above, a sell at it or below. A market order rests then no
    /// longer than its time in force says.
    pub fn stop(self, trigger: Price) -> OrderRequest {
        let (order_type, time_in_force) = match self.order_type {
            OrderType::Market | OrderType::Stop => (OrderType::Stop, TimeInForce::Day),
            OrderType::Limit | OrderType::StopLimit => (OrderType::StopLimit, self.time_in_force),
        };
        OrderRequest { order_type, time_in_force, trigger, ..self }
    }

    /// Where it would trade with an order of its owner, that one is cancelled.
    pub fn cancel_oldest(self) -> OrderRequest {
        OrderRequest { flags: self.flags | NewOrder::CANCEL_OLDEST, ..self }
    }

    /// Where it would trade with an order of its owner, what is left of it is cancelled.
    pub fn cancel_newest(self) -> OrderRequest {
        OrderRequest { flags: self.flags | NewOrder::CANCEL_NEWEST, ..self }
    }

    /// Where it would trade with an order of its owner, both lose the smaller open quantity, without a trade: reported as
    /// [`OrderStatus::Reduced`](wire::OrderStatus::Reduced), or as cancelled if nothing is left. Not together with the other two.
    pub fn decrement(self) -> OrderRequest {
        OrderRequest { flags: self.flags | NewOrder::DECREMENT, ..self }
    }
}

/// Which of its orders a strategy cancels with [`Context::cancel_all`](crate::Context::cancel_all): those that match all
/// that is given.
///
/// ```
/// use strategy_sdk::{CancelRequest, InstrumentId, Side};
///
/// let bids = CancelRequest::all().instrument(InstrumentId(1)).side(Side::Buy);
/// assert_eq!((bids.instrument, bids.account), (Some(InstrumentId(1)), None));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "a request is sent with Context::cancel_all"]
pub struct CancelRequest {
    /// Only of this instrument.
    pub instrument: Option<InstrumentId>,
    /// Only of this side.
    pub side: Option<Side>,
    /// Only for this account.
    pub account: Option<AccountId>,
}

impl CancelRequest {
    /// All orders of the strategy.
    pub fn all() -> CancelRequest {
        CancelRequest::default()
    }

    /// Only those of this instrument.
    pub fn instrument(self, instrument: InstrumentId) -> CancelRequest {
        CancelRequest { instrument: Some(instrument), ..self }
    }

    /// Only those of this side.
    pub fn side(self, side: Side) -> CancelRequest {
        CancelRequest { side: Some(side), ..self }
    }

    /// Only those for this account.
    pub fn account(self, account: AccountId) -> CancelRequest {
        CancelRequest { account: Some(account), ..self }
    }

    /// The message, under this number.
    pub(crate) fn message(&self, order_id: OrderId) -> CancelAll {
        let flag = |is_given: bool, flag| if is_given { flag } else { 0 };
        CancelAll {
            instrument: self.instrument.unwrap_or(InstrumentId(0)),
            side: self.side.unwrap_or(Side::Buy),
            account: self.account.unwrap_or(AccountId::OWN),
            flags: flag(self.side.is_some(), CancelAll::OF_SIDE)
                | flag(self.account.is_some(), CancelAll::OF_ACCOUNT),
            ..CancelAll::new(order_id)
        }
    }
}

/// A mass cancel was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("orders are not cancelled: {refusal}")]
pub struct CancelError {
    /// What was asked for.
    pub request: CancelRequest,
    /// Why it was not sent.
    pub refusal: Refusal,
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
    /// Before [`Strategy::start`](crate::Strategy::start), while it hears market data of before.
    #[error("the strategy warms up: orders may be sent from `start` on (Context::is_warming_up)")]
    WarmingUp,
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
    /// What is shown, and what must trade at once, is counted in lots.
    #[error("displayed and minimum quantity are whole lots, not more than the order")]
    Part,
    /// A stop needs a price to wait for.
    #[error("a stop order needs a trigger")]
    NoTrigger,
    /// A date is in whole seconds of the market's time, from 1970 to 2106.
    #[error("an order good till a date ends at a whole second from 1970 to 2106")]
    Date,
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
