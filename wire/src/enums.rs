//! Enumerations, one byte each on the wire. No member is zero, so that zeroed memory never decodes.

use zerocopy::{Immutable, IntoBytes, KnownLayout, TryFromBytes};

macro_rules! wire_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$member_doc:meta])* $member:ident = $value:literal => $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, TryFromBytes, IntoBytes, KnownLayout, Immutable)]
        #[repr(u8)]
        pub enum $name { $($(#[$member_doc])* $member = $value,)* }

        impl $name {
            /// The name in lower case, as it is printed and as JSON holds it.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$member => $text,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

wire_enum! {
    /// Which side of the book.
    Side {
        /// Buys; rests among the bids.
        Buy = 1 => "buy",
        /// Sells; rests among the asks.
        Sell = 2 => "sell",
    }
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

wire_enum! {
    /// How an order's price is meant.
    OrderType {
        /// Trades at its price or better.
        Limit = 1 => "limit",
        /// Trades at whatever rests; what finds nothing is cancelled.
        Market = 2 => "market",
    }
}

wire_enum! {
    /// How long an order lives.
    TimeInForce {
        /// Rests until cancelled.
        Day = 1 => "day",
        /// Trades what it can at once; the rest is cancelled.
        ImmediateOrCancel = 2 => "ioc",
        /// Trades in full at once, or not at all.
        FillOrKill = 3 => "fok",
        /// Rests, and is rejected if any of it would trade at once.
        PostOnly = 4 => "post-only",
    }
}

wire_enum! {
    /// Where an order stands. `Rejected`, `Cancelled` and `Filled` are final.
    OrderStatus {
        /// In the book (or about to trade).
        Accepted = 1 => "accepted",
        /// Some of it has traded.
        PartiallyFilled = 2 => "partially-filled",
        /// All of it has traded.
        Filled = 3 => "filled",
        /// Gone before it was filled; [`Reason`] says why.
        Cancelled = 4 => "cancelled",
        /// Never was in the book; [`Reason`] says why.
        Rejected = 5 => "rejected",
        /// Price or quantity changed as asked.
        Replaced = 6 => "replaced",
        /// A cancel was refused; the order, if there is one, stands as it was.
        CancelRejected = 7 => "cancel-rejected",
        /// A replace was refused; the order, if there is one, stands as it was.
        ReplaceRejected = 8 => "replace-rejected",
    }
}

impl OrderStatus {
    /// True when nothing more can happen to the order.
    pub fn is_final(self) -> bool {
        matches!(self, OrderStatus::Filled | OrderStatus::Cancelled | OrderStatus::Rejected)
    }
}

wire_enum! {
    /// Why an order was rejected or cancelled.
    Reason {
        /// Nothing to explain.
        None = 1 => "none",
        /// Its owner asked for it.
        Requested = 2 => "requested",
        /// The instrument is not listed.
        UnknownInstrument = 3 => "unknown-instrument",
        /// The price is no multiple of the tick.
        OffTick = 4 => "off-tick",
        /// The price lies outside the allowed band.
        PriceBand = 5 => "price-band",
        /// The quantity is not positive, not a multiple of the lot, or over the limit for one order.
        Quantity = 6 => "quantity",
        /// The strategy has too many working orders.
        WorkingOrders = 7 => "working-orders",
        /// The order could take the strategy's position over its limit.
        PositionLimit = 8 => "position-limit",
        /// Immediate-or-cancel, or market: the book had no more to give.
        NoLiquidity = 9 => "no-liquidity",
        /// Fill-or-kill could not be filled whole.
        NotFillable = 10 => "not-fillable",
        /// Post-only would have traded at once.
        WouldTrade = 11 => "would-trade",
        /// No such order, or no longer.
        UnknownOrder = 12 => "unknown-order",
        /// The order belongs to another strategy.
        NotYours = 13 => "not-yours",
        /// The id was used before.
        DuplicateOrder = 14 => "duplicate-order",
        /// The strategy is gone.
        StrategyGone = 15 => "strategy-gone",
        /// The market is not open for this.
        MarketClosed = 16 => "market-closed",
        /// The bytes are no valid order.
        Malformed = 17 => "malformed",
        /// The gateway is too far behind to take more.
        Overload = 18 => "overload",
        /// The market is in a call auction, in which orders of strategies take no part.
        CallAuction = 19 => "call-auction",
    }
}

wire_enum! {
    /// Whether a fill gave or took liquidity.
    Liquidity {
        /// The order rested.
        Maker = 1 => "maker",
        /// The order came in.
        Taker = 2 => "taker",
    }
}

wire_enum! {
    /// Who caused a trade in the market.
    Aggressor {
        /// A buy order came in.
        Buy = 1 => "buy",
        /// A sell order came in.
        Sell = 2 => "sell",
        /// An auction, or the source does not say.
        None = 3 => "none",
    }
}

wire_enum! {
    /// What an event in the market's order flow does to its book.
    BookAction {
        /// A new resting order, behind all others at its price.
        Add = 1 => "add",
        /// `quantity` of the order is taken away by its owner; it keeps its place.
        Reduce = 2 => "reduce",
        /// The order is gone, by its owner's wish.
        Delete = 3 => "delete",
        /// `quantity` of the resting order traded, at `price`.
        Execute = 4 => "execute",
        /// Price, quantity or both are set anew; the source's rule for the place in the queue is in `flags`.
        Modify = 5 => "modify",
        /// A trade that touches no visible order (hidden order, cross, auction against unseen volume).
        Trade = 6 => "trade",
        /// The book of this instrument is empty from here.
        Clear = 7 => "clear",
    }
}

wire_enum! {
    /// What happened to a node.
    NodeChange {
        /// Registered and about to run.
        Joined = 1 => "joined",
        /// Stopped in good order.
        Left = 2 => "left",
        /// Found dead.
        Died = 3 => "died",
    }
}
