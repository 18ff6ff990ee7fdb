//! What participants ask for.

use super::records::Record;
use wire::{AccountId, InstrumentId, Nanos, Price, Quantity, Side, StrategyId};

/// How an order's price is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Trades at this price or better.
    Limit(Price),
    /// Trades at any price that the price bands allow.
    Market,
    /// Waits until a trade reaches `trigger`, then enters as a market order.
    Stop {
        /// A buy waits for a trade at this price or above, a sell at this price or below.
        trigger: Price,
    },
    /// Waits until a trade reaches `trigger`, then enters as a limit order.
    StopLimit {
        /// As in [`Kind::Stop`].
        trigger: Price,
        /// Limit price once triggered.
        price: Price,
    },
}

impl Kind {
    /// The limit price, if it has one.
    pub fn price(self) -> Option<Price> {
        match self {
            Kind::Limit(price) | Kind::StopLimit { price, .. } => Some(price),
            Kind::Market | Kind::Stop { .. } => None,
        }
    }

    /// The price that it waits for, if it waits.
    pub fn trigger(self) -> Option<Price> {
        match self {
            Kind::Stop { trigger } | Kind::StopLimit { trigger, .. } => Some(trigger),
            Kind::Limit(_) | Kind::Market => None,
        }
    }
}

/// How long an order lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lifetime {
    /// Until cancelled, or the market closes.
    Day,
    /// Until cancelled.
    GoodTillCancel,
    /// Until cancelled, or this time.
    GoodTillDate(Nanos),
    /// Trades what it can at once; the rest is cancelled.
    ImmediateOrCancel,
    /// Trades in full at once, or not at all.
    FillOrKill,
    /// Takes part in the opening auction only.
    AtTheOpen,
    /// Takes part in the closing auction only.
    AtTheClose,
}

/// What happens when an incoming order would trade with one of the same owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SelfTrade {
    /// They trade.
    Allow,
    /// What is left of the incoming order is cancelled.
    CancelNewest,
    /// The resting order is cancelled, and the incoming one goes on.
    CancelOldest,
    /// Both are cancelled.
    CancelBoth,
    /// Both are reduced by the smaller open quantity, without a trade. What has nothing left is cancelled.
    Decrement,
}

/// A new order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Order {
    /// Any number that no working order has.
    pub id: u64,
    /// What to trade.
    pub instrument: InstrumentId,
    /// Buy or sell.
    pub side: Side,
    /// Limit, market or stop.
    pub kind: Kind,
    /// How long it lives.
    pub lifetime: Lifetime,
    /// Rejected if any of it would trade at once.
    pub post_only: bool,
    /// How much; a positive multiple of the lot.
    pub quantity: Quantity,
    /// How much of it the book shows at a time; zero: all.
    pub display: Quantity,
    /// It trades at least this much at once, or nothing; zero: any quantity.
    pub minimum: Quantity,
    /// For which account.
    pub account: AccountId,
    /// By which strategy.
    pub strategy: StrategyId,
    /// What happens when it would trade with an order of the same owner; `None`: what the market's rules say.
    pub self_trade: Option<SelfTrade>,
}

impl Order {
    /// A limit order for the day, without any further condition.
    pub fn limit(id: u64, instrument: InstrumentId, side: Side, price: Price, quantity: Quantity) -> Order {
        Order {
            id,
            instrument,
            side,
            kind: Kind::Limit(price),
            lifetime: Lifetime::Day,
            post_only: false,
            quantity,
            display: Quantity::ZERO,
            minimum: Quantity::ZERO,
            account: AccountId::OWN,
            strategy: StrategyId(0),
            self_trade: None,
        }
    }
}

/// Changes price or quantity of a working order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Replace {
    /// Which order.
    pub id: u64,
    /// New limit price. Ignored for an order without one: market orders in an auction, and stop orders.
    pub price: Price,
    /// New total quantity, what has traded included.
    pub quantity: Quantity,
}

/// Which orders a mass cancel takes: those that match all that is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filter {
    /// Of this strategy.
    pub strategy: Option<StrategyId>,
    /// Of this account.
    pub account: Option<AccountId>,
    /// Of this instrument.
    pub instrument: Option<InstrumentId>,
    /// Of this side.
    pub side: Option<Side>,
}

impl Filter {
    /// Whether it takes an order of this instrument.
    pub(crate) fn takes(&self, instrument: InstrumentId, record: &Record) -> bool {
        self.strategy.is_none_or(|strategy| strategy.0 == record.strategy)
            && self.account.is_none_or(|account| account.0 == record.account)
            && self.instrument.is_none_or(|wanted| wanted == instrument)
            && self.side.is_none_or(|side| side == record.flags.side())
    }
}
