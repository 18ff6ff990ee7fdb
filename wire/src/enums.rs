//! Enumerations, one byte each on the wire. No member is zero, so that zeroed memory never decodes.

use wire_derive::Enumeration;
use zerocopy::{Immutable, IntoBytes, KnownLayout, TryFromBytes};

/// Which side of the book.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    TryFromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
    Enumeration,
)]
#[repr(u8)]
pub enum Side {
    /// Buys; rests among the bids.
    Buy = 1,
    /// Sells; rests among the asks.
    Sell = 2,
}

impl Side {
    /// The other side.
    pub fn opposite(self) -> Side {
        match self {
            Side::Buy => Side::Sell,
            Side::Sell => Side::Buy,
        }
    }

    /// `+1` for a buy, `-1` for a sell: what a fill does to a position.
    pub fn sign(self) -> i64 {
        match self {
            Side::Buy => 1,
            Side::Sell => -1,
        }
    }
}

/// How an order's price is meant.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    TryFromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
    Enumeration,
)]
#[repr(u8)]
pub enum OrderType {
    /// Trades at its price or better.
    Limit = 1,
    /// Trades at whatever rests; what finds nothing is cancelled.
    Market = 2,
    /// Waits until a trade reaches its trigger, then is a market order.
    Stop = 3,
    /// Waits until a trade reaches its trigger, then is a limit order.
    StopLimit = 4,
}

/// How long an order lives.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    TryFromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
    Enumeration,
)]
#[repr(u8)]
pub enum TimeInForce {
    /// Rests until cancelled.
    Day = 1,
    /// Trades what it can at once; the rest is cancelled.
    #[member(name = "ioc")]
    ImmediateOrCancel = 2,
    /// Trades in full at once, or not at all.
    #[member(name = "fok")]
    FillOrKill = 3,
    /// Rests, and is rejected if any of it would trade at once.
    PostOnly = 4,
    /// Rests until cancelled, also over the end of a day.
    #[member(name = "gtc")]
    GoodTillCancel = 5,
    /// Rests until cancelled, or its date.
    #[member(name = "gtd")]
    GoodTillDate = 6,
    /// Takes part in the opening auction only.
    AtTheOpen = 7,
    /// Takes part in the closing auction only.
    AtTheClose = 8,
}

/// Where an order stands. `Rejected`, `Cancelled` and `Filled` are final.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    TryFromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
    Enumeration,
)]
#[repr(u8)]
pub enum OrderStatus {
    /// In the book (or about to trade).
    Accepted = 1,
    /// Some of it has traded.
    PartiallyFilled = 2,
    /// All of it has traded.
    Filled = 3,
    /// Ended before it was filled in full; [`Reason`] says why.
    Cancelled = 4,
    /// Not accepted; [`Reason`] says why.
    Rejected = 5,
    /// Price or quantity changed as asked.
    Replaced = 6,
    /// A cancel was refused; the order, if there is one, stands as it was.
    CancelRejected = 7,
    /// A replace was refused; the order, if there is one, stands as it was.
    ReplaceRejected = 8,
    /// Self-trade prevention took part of it away, without a trade; it goes on with what is left.
    Reduced = 9,
    /// A stop was triggered: from now on it is like an order that has just come in.
    Triggered = 10,
    /// A mass cancel was carried out. The order id is that of the request, `quantity` is how many orders it cancelled, and
    /// `remaining` how many it left because their market takes no cancels now.
    MassCancelled = 11,
}

impl OrderType {
    /// True for an order that carries a limit price.
    pub fn has_price(self) -> bool {
        matches!(self, OrderType::Limit | OrderType::StopLimit)
    }

    /// True for an order that waits for its trigger.
    pub fn has_trigger(self) -> bool {
        matches!(self, OrderType::Stop | OrderType::StopLimit)
    }
}

impl TradingPhase {
    /// All phases, in the order of their numbers.
    pub const ALL: [TradingPhase; 10] = [
        TradingPhase::Closed,
        TradingPhase::PreOpen,
        TradingPhase::OpeningAuction,
        TradingPhase::OpeningFreeze,
        TradingPhase::Pause,
        TradingPhase::Continuous,
        TradingPhase::Halt,
        TradingPhase::VolatilityAuction,
        TradingPhase::ClosingAuction,
        TradingPhase::ClosingFreeze,
    ];

    /// Its place in [`TradingPhase::ALL`].
    pub const fn index(self) -> usize {
        self as usize - 1
    }
}

impl OrderStatus {
    /// True when nothing more can happen to the order.
    pub fn is_final(self) -> bool {
        matches!(self, OrderStatus::Filled | OrderStatus::Cancelled | OrderStatus::Rejected)
    }

    /// True when a cancel or a replace was refused: the order, if there is one, stands as it was.
    pub fn is_refusal(self) -> bool {
        matches!(self, OrderStatus::CancelRejected | OrderStatus::ReplaceRejected)
    }
}

/// Why an order was rejected or cancelled.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    TryFromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
    Enumeration,
)]
#[repr(u8)]
pub enum Reason {
    /// Nothing to explain.
    None = 1,
    /// Its owner asked for it.
    Requested = 2,
    /// The instrument is not listed.
    UnknownInstrument = 3,
    /// The price is no multiple of the tick.
    OffTick = 4,
    /// The price lies outside the allowed band.
    PriceBand = 5,
    /// The quantity is not positive, not a multiple of the lot, or over the limit for one order.
    Quantity = 6,
    /// The strategy has too many working orders.
    WorkingOrders = 7,
    /// The order could take the strategy's position over its limit.
    PositionLimit = 8,
    /// Immediate-or-cancel, or market: the book had no more to give.
    NoLiquidity = 9,
    /// Fill-or-kill could not be filled whole.
    NotFillable = 10,
    /// Post-only would have traded at once.
    WouldTrade = 11,
    /// No such order, or no longer.
    UnknownOrder = 12,
    /// The order belongs to another strategy.
    NotYours = 13,
    /// The id was used before.
    DuplicateOrder = 14,
    /// The strategy has stopped or died.
    StrategyGone = 15,
    /// The market is not open for this.
    MarketClosed = 16,
    /// The bytes are no valid order.
    Malformed = 17,
    /// The gateway is too far behind to take more.
    Overload = 18,
    /// The market is in a call auction, in which orders of strategies take no part.
    CallAuction = 19,
    /// The strategy may not trade for this account.
    UnknownAccount = 20,
    /// It would have traded with an order of the same owner.
    SelfTrade = 21,
    /// Its time is over: the market has closed, its auction has ended, or its date has come.
    Expired = 22,
    /// This market does not know such orders.
    Unsupported = 23,
    /// What would be said of it could not be put on disk: a recorder's disk takes nothing, or the recorder is gone for good.
    NotDurable = 24,
    /// The account has not enough money or margin for it.
    InsufficientFunds = 25,
    /// What positions and working orders are worth could grow over a limit.
    NotionalLimit = 26,
    /// The order is worth more than one order may be.
    OrderNotional = 27,
    /// Too many orders in a short time.
    OrderRate = 28,
    /// Too many requests in a short time.
    MessageRate = 29,
    /// It would sell what is not held, and may not.
    ShortSale = 30,
    /// The instrument takes no orders now.
    NotTradable = 31,
    /// The account is frozen.
    AccountFrozen = 32,
    /// The account is closed.
    AccountClosed = 33,
    /// The kill switch of the account, its group, the strategy or the platform has fallen.
    Killed = 34,
    /// It would close more than there is to close.
    NotClosable = 35,
    /// A market order, and no price is known beyond which it cannot trade.
    NoWorstPrice = 36,
    /// Margin is too large a part of what the account is worth: positions are closed by force.
    ForcedLiquidation = 37,
}

/// Whether a fill gave or took liquidity.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    TryFromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
    Enumeration,
)]
#[repr(u8)]
pub enum Liquidity {
    /// The order rested.
    Maker = 1,
    /// The order came in.
    Taker = 2,
}

/// Who caused a trade in the market.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    TryFromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
    Enumeration,
)]
#[repr(u8)]
pub enum Aggressor {
    /// A buy order came in.
    Buy = 1,
    /// A sell order came in.
    Sell = 2,
    /// An auction, or the source does not say.
    None = 3,
}

/// What an event in the market's order flow does to its book.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    TryFromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
    Enumeration,
)]
#[repr(u8)]
pub enum BookAction {
    /// A new resting order, behind all others at its price.
    Add = 1,
    /// `quantity` of the order is taken away by its owner; it keeps its place.
    Reduce = 2,
    /// The order is deleted by its owner.
    Delete = 3,
    /// `quantity` of the resting order traded, at `price`.
    Execute = 4,
    /// Price, quantity or both are set anew; the source's rule for the place in the queue is in `flags`.
    Modify = 5,
    /// A trade that touches no visible order (hidden order, cross, auction against unseen volume).
    Trade = 6,
    /// The book of this instrument is empty from here.
    Clear = 7,
}

/// What an instrument's market is doing.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    TryFromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
    Enumeration,
)]
#[repr(u8)]
pub enum TradingPhase {
    /// Before or after the day.
    Closed = 1,
    /// Orders are collected for the opening auction; no price is indicated yet.
    PreOpen = 2,
    /// Orders are collected for the opening auction.
    OpeningAuction = 3,
    /// The last part of the opening auction: usually without cancels.
    OpeningFreeze = 4,
    /// Between auction and continuous trading, or a break: nothing trades.
    Pause = 5,
    /// Incoming orders trade with resting ones.
    Continuous = 6,
    /// Trading is interrupted; nothing trades.
    Halt = 7,
    /// Orders are collected for the auction that follows a volatility halt.
    VolatilityAuction = 8,
    /// Orders are collected for the closing auction.
    ClosingAuction = 9,
    /// The last part of the closing auction: usually without cancels.
    ClosingFreeze = 10,
}

/// What happened to a node.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    TryFromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
    Enumeration,
)]
#[repr(u8)]
pub enum NodeChange {
    /// Registered and about to run.
    Joined = 1,
    /// Stopped in good order. After `Died`, of the gateway: no other process takes its seat.
    Left = 2,
    /// Found dead.
    Died = 3,
    /// Stopped by a person who has asked that its orders work on.
    Paused = 4,
}

/// What a node is.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    TryFromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
    Enumeration,
)]
#[repr(u8)]
pub enum NodeRole {
    /// A strategy.
    Strategy = 1,
    /// md, td, matching, ledger or another part of the platform.
    Platform = 2,
}
