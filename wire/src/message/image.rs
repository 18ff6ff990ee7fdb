//! What a matching process is made of, written by it for its successor.
//!
//! `matching.state` is a [`StateBegin`], then rounds: images of what has changed ([`OrderImage`], [`MarketImage`],
//! [`NewestOrder`], [`Statistics`](crate::Statistics)) in any number, then a [`StateEnd`]. The state as of an end is the last
//! image of each thing before it. A [`DueTime`] is written before what time alone causes is done.
//!
//! Beside a recorded or quoted market the images are [`RecordImage`], [`BookImage`], [`TakenImage`] and
//! [`Quote`](crate::Quote), and a [`MarketRead`] is written before a request is carried out.

use wire_derive::Described;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, TryFromBytes};

use crate::{InstrumentId, Nanos, OrderId, Price, Quantity, Side, StrategyId, TradingPhase};

/// A working order as it stands; `open` zero: it works no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct OrderImage {
    /// Which one.
    pub order_id: OrderId,
    /// Its limit price; [`Price::NONE`] if it has none.
    pub price: Price,
    /// How much of it still works.
    #[field(column = "open_quantity")]
    pub open: Quantity,
    /// How much of it has traded.
    pub filled: Quantity,
    /// How much an iceberg shows at a time; zero: all.
    pub display: Quantity,
    /// How much of an iceberg is shown now.
    pub shown: Quantity,
    /// What a stop waits for, as a number of ticks.
    pub trigger_ticks: i64,
    /// When it ends; the largest number: by no date.
    #[field(column = "ends_at")]
    pub ends: u64,
    /// Its instrument.
    pub instrument: InstrumentId,
    /// For which account.
    #[field(column = "account_number")]
    pub account: u32,
    /// Which order is older: it grows with every order that comes in or loses its place, and wraps.
    pub age_number: u32,
    /// What is true of it, in matching's own bits.
    pub bits: u32,
    /// The `age_number` of the last order that came in when this one went behind the others at its price.
    pub behind: u32,
    /// Of several that went there meanwhile, the which.
    pub turn: u32,
    /// By which strategy.
    pub strategy: StrategyId,
    /// 1: it stands in the book; 0: it waits outside of it.
    pub rests: u16,
    /// Zero.
    pub reserved: u32,
}

impl OrderImage {
    /// The end of an order.
    pub fn gone(order_id: OrderId) -> OrderImage {
        OrderImage {
            order_id,
            price: Price::NONE,
            open: Quantity::ZERO,
            filled: Quantity::ZERO,
            display: Quantity::ZERO,
            shown: Quantity::ZERO,
            trigger_ticks: 0,
            ends: u64::MAX,
            instrument: InstrumentId(0),
            account: 0,
            age_number: 0,
            bits: 0,
            behind: 0,
            turn: 0,
            strategy: order_id.strategy(),
            rests: 0,
            reserved: 0,
        }
    }
}

/// What an instrument's market is doing, beside its orders.
#[derive(Clone, Copy, Debug, PartialEq, TryFromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct MarketImage {
    /// Which instrument.
    pub instrument: InstrumentId,
    /// Its phase.
    pub phase: TradingPhase,
    /// Zero.
    pub reserved: [u8; 3],
    /// The price of its last trade; [`Price::NONE`] before the first.
    pub last_price: Price,
    /// When its volatility auction ends; the largest number: there is none.
    pub auction_ends: u64,
    /// The number of its last event in `matching.market`.
    pub sequence: u64,
}

/// The newest order of a strategy: no order may have its number or an older one again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct NewestOrder {
    /// Its number.
    pub order_id: OrderId,
}

/// The images before it are a whole state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct StateEnd {
    /// Position of the last request in `td.orders` that it contains.
    #[field(position)]
    pub request: u64,
    /// The exchange's time.
    pub time: u64,
    /// Position in `matching.executions` of what was written next.
    #[field(position)]
    pub execution: u64,
    /// Frames in `matching.executions` until then.
    pub executions: u64,
    /// Position in `matching.market` of what was written next; beside a recorded or quoted market: of the last message of
    /// `md.flow` or `md.quotes` that it contains.
    #[field(position)]
    pub market: u64,
    /// Position in this journal from which on there is an image of everything.
    #[field(position)]
    pub base: u64,
    /// Number of the last trade.
    #[field(column = "last_trade")]
    pub trade: u64,
    /// Working orders.
    #[field(column = "working_orders")]
    pub orders: u64,
    /// The newest [`OrderImage::age_number`]; beside a recorded or quoted market: places of records.
    pub age_number: u32,
    /// Instruments that are listed.
    pub instruments: u32,
    /// 1: the day is over.
    pub ended: u64,
}

/// What is due at a time is done now: behind this request, and before the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct DueTime {
    /// Position in `td.orders`.
    #[field(position)]
    pub request: u64,
    /// The time.
    pub time: u64,
}

/// A matching process begins with empty books: what came before is void.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct StateBegin {
    /// Generation of the process.
    pub generation: u64,
}

/// An order in the book beside a recorded or quoted market, the market's or a strategy's, at its place among the records.
/// A link that is the largest number leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct RecordImage {
    /// The number of a strategy's order, the market's reference of one of the market.
    pub reference: u64,
    /// Its limit price.
    pub price: Price,
    /// How much of it still works.
    #[field(column = "open_quantity")]
    pub open: Quantity,
    /// Of a strategy's order: the total ever asked for. Of one that was swept away: how much of it strategies had taken.
    pub quantity: Quantity,
    /// Of the market's: how much of it strategies took. Of one that was swept away: all that is open.
    pub taken: Quantity,
    /// Its place.
    pub place: u32,
    /// Who is behind it at its price.
    #[field(none = 4294967295)]
    pub next: u32,
    /// Who is before it at its price.
    #[field(none = 4294967295)]
    pub previous: u32,
    /// The same strategy's next order.
    #[field(none = 4294967295)]
    pub peer_next: u32,
    /// The same strategy's order before it.
    #[field(none = 4294967295)]
    pub peer_previous: u32,
    /// For which account, where that matters.
    #[field(column = "account_number")]
    pub account: u32,
    /// Its instrument.
    pub instrument: InstrumentId,
    /// Its side.
    pub side: Side,
    /// 0: nothing is at this place; 1: the market's; 2: a strategy's; 3: a strategy's that may not take; 4: the market's, swept
    /// away by a clear, at its place for the snapshot that may bring it back; 5 and 6: as 2 and 3, and the order outlives the day.
    pub owner_kind: u8,
    /// Zero.
    pub reserved: [u8; 2],
}

/// What is known of an instrument beside a recorded or quoted market, besides its orders. Beside a quoted market, what is left
/// of the latest [`Quote`](crate::Quote) follows. Where strategies took something of what quotes show, another follows it: how
/// much they took, by price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct BookImage {
    /// Which instrument.
    pub instrument: InstrumentId,
    /// What is true of it, in matching's own bits.
    pub bits: u32,
    /// The market's time of its latest message.
    #[field(column = "event_time_ns")]
    pub event_time: Nanos,
    /// Zero. In recordings of older programs, so many [`TakenImage`] follow.
    pub carried: u64,
}

/// What strategies had taken of an order of the market that was swept away and may come again. No longer written: such orders
/// are [`RecordImage`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct TakenImage {
    /// The market's reference.
    pub reference: u64,
    /// How much.
    pub taken: Quantity,
    /// Its instrument.
    pub instrument: InstrumentId,
    /// Zero.
    pub reserved: u32,
}

/// When a request was carried out, the market had been read so far. It holds for those that follow, until the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct MarketRead {
    /// Position in `td.orders` of the request.
    #[field(position)]
    pub request: u64,
    /// Position in `md.flow` or `md.quotes` of the last message before it.
    #[field(position)]
    pub market: u64,
}
