//! What md writes: instruments, quotes, trades, and the market's order flow.

use wire_derive::Described;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, TryFromBytes};

use crate::schema::flags;
use crate::text::Currency;
use crate::{
    Aggressor, BookAction, InstrumentId, Nanos, Price, Quantity, Side, Symbol, TradingPhase, WideMoney,
};

/// Price levels a side in a [`Quote`].
pub const LEVELS: usize = 10;

/// An instrument and its rules. Written once per instrument, before anything else about it.
///
/// ```text
///  0       4       8                         32      40      48       56        64     72       80       88  96
///  │ id    │ rsvd  │ symbol                   │ tick  │ lot   │ low    │ high    │ ref  │ volume │ mult   │ currency
/// ```
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct Instrument {
    /// Its number, which is also its topic in `md.quotes` and `md.flow`.
    #[field(column = "instrument")]
    pub id: InstrumentId,
    /// Zero.
    pub reserved: u32,
    /// Its name.
    pub symbol: Symbol,
    /// Prices are multiples of this; zero or less: any price.
    pub tick: Price,
    /// Quantities are multiples of this; at least 1.
    pub lot: Quantity,
    /// Lowest price an order may have, or [`Price::NONE`].
    pub price_low: Price,
    /// Highest price an order may have, or [`Price::NONE`].
    pub price_high: Price,
    /// A price to start from (previous close, first trade), or [`Price::NONE`].
    pub reference_price: Price,
    /// Largest quantity of one order; zero: no limit.
    pub max_quantity: Quantity,
    /// One unit of quantity is worth the price times this; zero: 1.
    #[field(since = 9)]
    pub multiplier: u64,
    /// In which money it is paid; empty: nobody has said.
    #[field(since = 9)]
    pub currency: Currency,
}

impl Instrument {
    /// What the price of one unit of quantity is multiplied by; at least 1.
    pub fn contract(&self) -> u64 {
        self.multiplier.max(1)
    }
}

/// One price level: the sum of what rests there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[described(present_with = "price")]
#[repr(C)]
pub struct Level {
    /// [`Price::NONE`] where the book has no such level.
    pub price: Price,
    /// Zero where the book has no such level.
    pub quantity: Quantity,
}

impl Level {
    /// "The book is not this deep."
    pub const EMPTY: Level = Level { price: Price::NONE, quantity: Quantity(0) };

    /// True where the book has this level.
    pub fn is_some(&self) -> bool {
        self.price.is_some()
    }
}

/// The best ten levels of both sides after one event in the market.
///
/// ```text
///  0      4       8      16     24     32     40      48        208       368
///  │ id   │ flags │ due  │ time │ seq  │ last │ last  │ 10 bids │ 10 asks │
///  │      │       │      │      │      │ price│ qty   │         │         │
/// ```
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct Quote {
    /// Of which instrument.
    pub instrument: InstrumentId,
    /// State of the market.
    #[field(flags)]
    pub flags: u32,
    /// When the generator's schedule wanted it published (t0), on the platform's clock; zero when replayed at
    /// "max" speed, which has no schedule.
    #[field(column = "due_ns")]
    pub due: Nanos,
    /// The market's own time of the event.
    #[field(column = "event_time_ns")]
    pub event_time: Nanos,
    /// The source's own number of the event (row, channel sequence); grows with every event.
    pub sequence: u64,
    /// Price of the last trade, or [`Price::NONE`].
    pub last_price: Price,
    /// Quantity of the last trade.
    pub last_quantity: Quantity,
    /// Best first: descending prices.
    pub bids: [Level; LEVELS],
    /// Best first: ascending prices.
    pub asks: [Level; LEVELS],
}

flags! {
    Quote: u32 {
        /// The market is in a call auction, or closed: orders are collected, nothing trades but at the auction's end.
        CALL_AUCTION = 1 => "call_auction",
    }
}

impl Quote {
    /// A quote of an empty book.
    pub fn empty(instrument: InstrumentId) -> Quote {
        Quote {
            instrument,
            flags: 0,
            due: Nanos(0),
            event_time: Nanos(0),
            sequence: 0,
            last_price: Price::NONE,
            last_quantity: Quantity(0),
            bids: [Level::EMPTY; LEVELS],
            asks: [Level::EMPTY; LEVELS],
        }
    }

    /// Best bid, if there is one.
    pub fn best_bid(&self) -> Option<Level> {
        self.bids[0].is_some().then_some(self.bids[0])
    }

    /// Best ask, if there is one.
    pub fn best_ask(&self) -> Option<Level> {
        self.asks[0].is_some().then_some(self.asks[0])
    }

    /// Half-way between best bid and best ask; the last trade's price when one side is empty; else `None`.
    pub fn mid(&self) -> Option<Price> {
        match (self.best_bid(), self.best_ask()) {
            (Some(bid), Some(ask)) => {
                Some(Price(((i128::from(bid.price.0) + i128::from(ask.price.0)) / 2) as i64))
            }
            _ => self.last_price.is_some().then_some(self.last_price),
        }
    }
}

/// A trade as the market reported it.
#[derive(Clone, Copy, Debug, PartialEq, TryFromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct TradePrint {
    /// Of which instrument.
    pub instrument: InstrumentId,
    /// Whose incoming order caused it.
    pub aggressor: Aggressor,
    /// Zero.
    pub reserved: [u8; 3],
    /// When the schedule wanted it published, as in [`Quote::due`].
    #[field(column = "due_ns")]
    pub due: Nanos,
    /// The market's own time.
    #[field(column = "event_time_ns")]
    pub event_time: Nanos,
    /// The source's own number of the event.
    pub sequence: u64,
    /// At which price.
    pub price: Price,
    /// How much.
    pub quantity: Quantity,
    /// The market's number of the trade, or zero.
    #[field(none = 0)]
    pub trade_id: u64,
}

/// One event of the market's order flow (market by order): what matching rebuilds the market's book from.
#[derive(Clone, Copy, Debug, PartialEq, TryFromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct BookEvent {
    /// Of which instrument.
    pub instrument: InstrumentId,
    /// What it does.
    pub action: BookAction,
    /// Side of the resting order.
    pub side: Side,
    /// What to know about the event beside its action.
    #[field(flags)]
    pub flags: u16,
    /// The market's number of the resting order; zero where there is none.
    #[field(none = 0)]
    pub order_ref: u64,
    /// Price of the order, or of the trade.
    pub price: Price,
    /// Quantity added, taken away or traded; the new total for [`BookAction::Modify`].
    pub quantity: Quantity,
    /// The market's own time.
    #[field(column = "event_time_ns")]
    pub event_time: Nanos,
    /// The source's own number of the event.
    pub sequence: u64,
    /// Zero.
    pub reserved: u64,
}

flags! {
    BookEvent: u16 {
        /// With [`BookAction::Modify`]: the order goes behind all others at its price.
        LOSES_PRIORITY = 1 => "loses_priority",
        /// Last part of one event of the source: the book is whole again after it.
        LAST = 2 => "is_last",
        /// The market is in a call auction, or closed: orders are collected, nothing trades but at the auction's end.
        CALL_AUCTION = 4 => "call_auction",
        /// Part of a snapshot of the book, for readers that join late or were lapped: a [`BookAction::Clear`], then an
        /// [`BookAction::Add`] an order, in priority. Who has the book already passes over it. Its `sequence` is that of the
        /// last event that it includes.
        SNAPSHOT = 8 => "is_snapshot",
        /// With [`BookAction::Trade`]: the order that rested was hidden, and the source says so. Without it, it may be a
        /// displayed one from before the recording's first message.
        HIDDEN = 16 => "is_hidden",
        /// With [`BookAction::Execute`] and [`BookAction::Trade`]: neither side came in, as in a cross, or the source does not say which one
        /// did. The side of a trade means nothing then.
        NO_SIDE = 32 => "has_no_side",
        /// With [`BookAction::Execute`] and [`BookAction::Trade`]: no trade of its own in what the market reports as traded. Another event
        /// has its quantity.
        UNPRINTED = 64 => "is_unprinted",
    }
}

/// The market's time has come to this, and all that the market did up to it has been published. Only in lock-step, where a
/// strategy's timer or bar, a request or a report is due before the next event of the market.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct MarketTime {
    /// The market's own time.
    #[field(column = "event_time_ns")]
    pub event_time: Nanos,
}

/// An instrument's market changed its phase.
#[derive(Clone, Copy, Debug, PartialEq, TryFromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct MarketPhase {
    /// Of which instrument.
    pub instrument: InstrumentId,
    /// The phase from now on.
    pub phase: TradingPhase,
    /// Zero.
    pub reserved: [u8; 3],
    /// The market's own time.
    #[field(column = "event_time_ns")]
    pub event_time: Nanos,
    /// The market's number of the event, counted with its book events. The number of the event before it: an exchange of strategies repeats
    /// the phase behind a snapshot, or a recorded market enters it by the clock.
    pub sequence: u64,
}

/// What an auction would trade if it ended now.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct Indicative {
    /// Of which instrument.
    pub instrument: InstrumentId,
    /// Zero.
    pub reserved: u32,
    /// Its price; [`Price::NONE`] if nothing would trade.
    pub price: Price,
    /// How much would trade.
    pub quantity: Quantity,
    /// How much more buyers offer at that price than sellers; negative: sellers more.
    pub imbalance: Quantity,
    /// The market's own time.
    #[field(column = "event_time_ns")]
    pub event_time: Nanos,
    /// The market's number of the last event before it.
    pub sequence: u64,
}

/// What has traded in an instrument on this day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct Statistics {
    /// Of which instrument.
    pub instrument: InstrumentId,
    /// Zero.
    pub reserved: u32,
    /// Price of the first trade, or [`Price::NONE`].
    pub open: Price,
    /// Highest price of a trade, or [`Price::NONE`].
    pub high: Price,
    /// Lowest price of a trade, or [`Price::NONE`].
    pub low: Price,
    /// Price of the last trade, or [`Price::NONE`].
    pub last: Price,
    /// How much has traded.
    pub volume: Quantity,
    /// Number of trades.
    pub trades: u64,
    /// Number of the last trade that is counted, or zero.
    #[field(none = 0)]
    pub trade_id: u64,
    /// What was paid for it, exactly.
    pub turnover: WideMoney,
    /// The market's own time.
    #[field(column = "event_time_ns")]
    pub event_time: Nanos,
    /// The market's number of the last event before it.
    pub sequence: u64,
}

impl Statistics {
    /// Before the first trade.
    pub fn none(instrument: InstrumentId) -> Statistics {
        Statistics {
            instrument,
            reserved: 0,
            open: Price::NONE,
            high: Price::NONE,
            low: Price::NONE,
            last: Price::NONE,
            volume: Quantity::ZERO,
            trades: 0,
            trade_id: 0,
            turnover: WideMoney::from_wide(0),
            event_time: Nanos(0),
            sequence: 0,
        }
    }

    /// Counts a trade, unless it is counted already: numbers of trades grow.
    pub fn add(&mut self, trade_id: u64, price: Price, quantity: Quantity) {
        if trade_id <= self.trade_id {
            return;
        }
        if self.trades == 0 {
            (self.open, self.high, self.low) = (price, price, price);
        }
        (self.high, self.low, self.last) = (self.high.max(price), self.low.min(price), price);
        self.volume = Quantity(self.volume.0.saturating_add(quantity.0));
        self.turnover = WideMoney::from_wide(self.turnover.wide().saturating_add(quantity.wide(price)));
        self.trades += 1;
        self.trade_id = trade_id;
    }
}
