//! Requests, written by strategies, and the latency samples that td takes of them.

use wire_derive::Described;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, TryFromBytes};

use crate::schema::flags;
use crate::{AccountId, InstrumentId, Nanos, OrderId, OrderType, Price, Quantity, Side, Text, TimeInForce};

/// The message that made a strategy act: enough to follow the chain end to end and to time each hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[described(present_with = "published")]
#[repr(C)]
pub struct Cause {
    /// Position of the frame in its journal; zero with journal zero: nothing caused it (a timer, the start).
    #[field(position, column = "cause_position")]
    pub position: u64,
    /// t0: when it was due.
    #[field(column = "due_ns")]
    pub due: Nanos,
    /// t1: when md committed it (the frame's time).
    #[field(column = "published_ns")]
    pub published: Nanos,
    /// t2: when the strategy received it.
    #[field(column = "received_ns")]
    pub received: Nanos,
    /// The journal's number within the instance.
    #[field(column = "cause_journal")]
    pub journal: u32,
    /// Zero.
    pub reserved: u32,
}

impl Cause {
    /// Nothing from outside caused it.
    pub const NONE: Cause = Cause {
        position: 0,
        due: Nanos(0),
        published: Nanos(0),
        received: Nanos(0),
        journal: 0,
        reserved: 0,
    };

    /// True when a message caused it.
    pub fn is_some(&self) -> bool {
        self.published.0 != 0
    }
}

/// A new order. Its frame's time is t3.
#[derive(Clone, Copy, Debug, PartialEq, TryFromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct NewOrder {
    /// Given by the strategy's own SDK; never used twice.
    pub order_id: OrderId,
    /// What to trade.
    pub instrument: InstrumentId,
    /// Buy or sell.
    pub side: Side,
    /// Limit or market.
    pub order_type: OrderType,
    /// How long it lives.
    pub time_in_force: TimeInForce,
    /// Conditions.
    #[field(flags, since = 4)]
    pub flags: u8,
    /// Limit price; ignored for orders that have none ([`OrderType::has_price`]).
    pub price: Price,
    /// How much; positive.
    pub quantity: Quantity,
    /// The message that it answers.
    pub cause: Cause,
    /// For which account.
    #[field(since = 2)]
    pub account: AccountId,
    /// How many lots of it the book shows at a time; zero: all.
    #[field(none = 0, since = 4)]
    pub display_lots: u32,
    /// The price that a stop waits for; otherwise zero.
    #[field(since = 4)]
    pub trigger: Price,
    /// It trades at least so many lots at once, or nothing; zero: any quantity.
    #[field(none = 0, since = 4)]
    pub minimum_lots: u32,
    /// With [`TimeInForce::GoodTillDate`]: when it ends, in seconds of the market's time; otherwise zero.
    #[field(none = 0, since = 4)]
    pub ends_s: u32,
}

flags! {
    NewOrder: u8 {
        /// Rejected if any of it would trade at once; with any time in force that rests.
        POST_ONLY = 1 => "is_post_only",
        /// Where it would trade with an order of its owner, what is left of it is cancelled.
        CANCEL_NEWEST = 2 => "cancel_newest",
        /// Where it would trade with an order of its owner, that one is cancelled. With `cancel_newest` too: both.
        CANCEL_OLDEST = 4 => "cancel_oldest",
        /// Where it would trade with an order of its owner, both lose the smaller open quantity without a trade. Not together
        /// with the other two.
        DECREMENT = 8 => "decrement",
        /// Of a futures account: it opens. Without this and the next two: as the position allows.
        OFFSET_OPEN = 16 => "offset_open",
        /// Of a futures account: it closes what was opened today. With `offset_yesterday` too: of whichever day.
        OFFSET_CLOSE_TODAY = 32 => "offset_today",
        /// Of a futures account: it closes what was opened on an earlier day.
        OFFSET_CLOSE_YESTERDAY = 64 => "offset_yesterday",
        /// It closes a position by force, and comes from the ledger, not from a strategy.
        FORCED = 128 => "forced",
    }
}

/// What an order of a futures account does to the position; the bits `OFFSET_` of [`NewOrder`]'s flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Offset {
    /// It closes what it can close whole, otherwise it opens.
    Auto,
    /// It opens.
    Open,
    /// It closes; of which day is the exchange's choice.
    Close,
    /// It closes what was opened today.
    CloseToday,
    /// It closes what was opened on an earlier day.
    CloseYesterday,
}

impl Offset {
    /// Its bits in the flags of a [`NewOrder`].
    pub fn flags(self) -> u8 {
        match self {
            Offset::Auto => 0,
            Offset::Open => NewOrder::OFFSET_OPEN,
            Offset::Close => NewOrder::OFFSET_CLOSE,
            Offset::CloseToday => NewOrder::OFFSET_CLOSE_TODAY,
            Offset::CloseYesterday => NewOrder::OFFSET_CLOSE_YESTERDAY,
        }
    }
}

impl NewOrder {
    /// It closes, of whichever day.
    pub const OFFSET_CLOSE: u8 = NewOrder::OFFSET_CLOSE_TODAY | NewOrder::OFFSET_CLOSE_YESTERDAY;

    /// What it does to the position of a futures account; `None` where it is said to open and to close.
    pub fn offset(&self) -> Option<Offset> {
        match self.flags & (NewOrder::OFFSET_OPEN | NewOrder::OFFSET_CLOSE) {
            0 => Some(Offset::Auto),
            NewOrder::OFFSET_OPEN => Some(Offset::Open),
            NewOrder::OFFSET_CLOSE_TODAY => Some(Offset::CloseToday),
            NewOrder::OFFSET_CLOSE_YESTERDAY => Some(Offset::CloseYesterday),
            NewOrder::OFFSET_CLOSE => Some(Offset::Close),
            _ => None,
        }
    }
}

impl NewOrder {
    /// An order without any condition, by the strategy's own account and caused by nothing.
    pub fn plain(
        order_id: OrderId,
        instrument: InstrumentId,
        side: Side,
        order_type: OrderType,
        time_in_force: TimeInForce,
        price: Price,
        quantity: Quantity,
    ) -> NewOrder {
        NewOrder {
            order_id,
            instrument,
            side,
            order_type,
            time_in_force,
            flags: 0,
            price,
            quantity,
            cause: Cause::NONE,
            account: AccountId::OWN,
            display_lots: 0,
            trigger: Price::ZERO,
            minimum_lots: 0,
            ends_s: 0,
        }
    }
}

/// Who is behind the order that follows it in the same batch: a client of the gateway. td passes it over; the gateway reads
/// it back after a restart, and a recording of the journal says for ever whose an order was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct ClientOrder {
    /// The order.
    #[field(since = 8)]
    pub order_id: OrderId,
    /// The token that it came with, by its public number.
    #[field(since = 8)]
    pub token: u64,
    /// What the client calls it, unique among the orders for the account; empty: nothing.
    #[field(since = 8)]
    pub client_id: Text<48>,
    /// The client's address, as text; "unix" for a local socket.
    #[field(since = 8)]
    pub address: Text<48>,
    /// For which account.
    #[field(since = 8)]
    pub account: AccountId,
    /// What becomes of it.
    #[field(flags, since = 11)]
    pub flags: u32,
}

flags! {
    ClientOrder: u32 {
        /// It must end when the client's connection ends, that of a gateway that was killed among them.
        ENDS_WITH_SESSION = 1 => "ends_with_session",
    }
}

/// An order of a client of the gateway that works, again: the gateway writes it before the ring passes the frames of the order
/// itself, so that its successor still finds the owner. td passes it over.
#[derive(Clone, Copy, Debug, PartialEq, TryFromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct KeptOrder {
    /// The order.
    #[field(since = 12)]
    pub order_id: OrderId,
    /// The token that it came with, by its public number.
    #[field(since = 12)]
    pub token: u64,
    /// Time of the frame that brought it.
    #[field(column = "sent_ns", since = 12)]
    pub sent: Nanos,
    /// Limit price of the order as it was sent.
    #[field(since = 12)]
    pub price: Price,
    /// Its quantity as it was sent.
    #[field(since = 12)]
    pub quantity: Quantity,
    /// The price that a stop waits for; otherwise zero.
    #[field(since = 12)]
    pub trigger: Price,
    /// What the client calls it; empty: nothing.
    #[field(since = 12)]
    pub client_id: Text<48>,
    /// The client's address, as text; "unix" for a local socket.
    #[field(since = 12)]
    pub address: Text<48>,
    /// What to trade.
    #[field(since = 12)]
    pub instrument: InstrumentId,
    /// For which account.
    #[field(since = 12)]
    pub account: AccountId,
    /// How many lots of it the book shows at a time; zero: all.
    #[field(none = 0, since = 12)]
    pub display_lots: u32,
    /// It trades at least so many lots at once, or nothing; zero: any quantity.
    #[field(none = 0, since = 12)]
    pub minimum_lots: u32,
    /// With [`TimeInForce::GoodTillDate`]: when it ends, in seconds of the market's time; otherwise zero.
    #[field(none = 0, since = 12)]
    pub ends_s: u32,
    /// What becomes of it.
    #[field(flags, since = 12)]
    pub flags: u16,
    /// The flags of the [`NewOrder`].
    #[field(since = 12)]
    pub conditions: u8,
    /// Zero.
    pub reserved: u8,
    /// Buy or sell.
    #[field(since = 12)]
    pub side: Side,
    /// Limit or market.
    #[field(since = 12)]
    pub order_type: OrderType,
    /// How long it lives.
    #[field(since = 12)]
    pub time_in_force: TimeInForce,
    /// Zero.
    pub reserved_tail: [u8; 5],
}

flags! {
    KeptOrder: u16 {
        /// It must end when the client's connection ends, that of a gateway that was killed among them.
        ENDS_WITH_SESSION = 1 => "ends_with_session",
        /// It must end: it is owed a cancel that the market has not carried out yet.
        MUST_END = 2 => "must_end",
    }
}

impl KeptOrder {
    /// This order of this client, which was sent at this time.
    pub fn new(client: &ClientOrder, order: &NewOrder, sent: Nanos) -> KeptOrder {
        let ends = client.flags & ClientOrder::ENDS_WITH_SESSION != 0;
        KeptOrder {
            order_id: order.order_id,
            token: client.token,
            sent,
            price: order.price,
            quantity: order.quantity,
            trigger: order.trigger,
            client_id: client.client_id,
            address: client.address,
            instrument: order.instrument,
            account: order.account,
            display_lots: order.display_lots,
            minimum_lots: order.minimum_lots,
            ends_s: order.ends_s,
            flags: if ends { KeptOrder::ENDS_WITH_SESSION } else { 0 },
            conditions: order.flags,
            reserved: 0,
            side: order.side,
            order_type: order.order_type,
            time_in_force: order.time_in_force,
            reserved_tail: [0; 5],
        }
    }

    /// The order as it was sent, caused by nothing.
    pub fn order(&self) -> NewOrder {
        NewOrder {
            flags: self.conditions,
            account: self.account,
            display_lots: self.display_lots,
            trigger: self.trigger,
            minimum_lots: self.minimum_lots,
            ends_s: self.ends_s,
            ..NewOrder::plain(
                self.order_id,
                self.instrument,
                self.side,
                self.order_type,
                self.time_in_force,
                self.price,
                self.quantity,
            )
        }
    }

    /// Its client.
    pub fn client(&self) -> ClientOrder {
        let ends = self.flags & KeptOrder::ENDS_WITH_SESSION != 0;
        ClientOrder {
            order_id: self.order_id,
            token: self.token,
            client_id: self.client_id,
            address: self.address,
            account: self.account,
            flags: if ends { ClientOrder::ENDS_WITH_SESSION } else { 0 },
        }
    }
}

/// Takes what is left of an order out of the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct CancelOrder {
    /// Which order.
    pub order_id: OrderId,
    /// Its instrument.
    pub instrument: InstrumentId,
    /// In `td.orders`: low 31 bits of the number of the line at which the request stands in its strategy's journal; where td
    /// asks by itself 2^31 and a number of its own. In the strategy's journal: zero.
    #[field(none = 0)]
    pub source: u32,
}

impl CancelOrder {
    /// Set in [`CancelOrder::source`] where td asks by itself. The other bits number these requests, so that each is known
    /// again.
    pub const OF_TD: u32 = 1 << 31;

    /// A request to cancel `order_id`.
    pub fn new(order_id: OrderId, instrument: InstrumentId) -> CancelOrder {
        CancelOrder { order_id, instrument, source: 0 }
    }
}

/// Cancels all working orders of the strategy that match what is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct CancelAll {
    /// Number of the request, from the same sequence as those of orders: its answer names it.
    pub order_id: OrderId,
    /// Only of this instrument; zero: of all.
    pub instrument: InstrumentId,
    /// As in [`CancelOrder::source`].
    #[field(none = 0)]
    pub source: u32,
    /// Only for this account, with `of_account`.
    pub account: AccountId,
    /// Only of this side, with `of_side`.
    pub side: Side,
    /// What is given.
    #[field(flags)]
    pub flags: u8,
    /// Zero.
    pub reserved: u16,
}

flags! {
    CancelAll: u8 {
        /// Only orders for `account`.
        OF_ACCOUNT = 1 => "of_account",
        /// Only orders of `side`.
        OF_SIDE = 2 => "of_side",
    }
}

impl CancelAll {
    /// A request to cancel all orders of the strategy.
    pub fn new(order_id: OrderId) -> CancelAll {
        CancelAll {
            order_id,
            instrument: InstrumentId(0),
            source: 0,
            account: AccountId::OWN,
            side: Side::Buy,
            flags: 0,
            reserved: 0,
        }
    }

    /// The only instrument whose orders it takes, if one is given.
    pub fn of_instrument(&self) -> Option<InstrumentId> {
        Some(self.instrument).filter(|instrument| instrument.0 != 0)
    }

    /// The only account whose orders it takes, if one is given.
    pub fn of_account(&self) -> Option<AccountId> {
        (self.flags & CancelAll::OF_ACCOUNT != 0).then_some(self.account)
    }

    /// The only side whose orders it takes, if one is given.
    pub fn of_side(&self) -> Option<Side> {
        (self.flags & CancelAll::OF_SIDE != 0).then_some(self.side)
    }
}

/// Changes price or quantity of a working order. It keeps its place only if the price stays and the quantity
/// does not grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct ReplaceOrder {
    /// Which order.
    pub order_id: OrderId,
    /// Its instrument.
    pub instrument: InstrumentId,
    /// In `td.orders`: low 31 bits of the number of the line at which the request stands in its strategy's journal; where td
    /// asks by itself 2^31 and a number of its own. In the strategy's journal: zero.
    #[field(none = 0)]
    pub source: u32,
    /// New limit price.
    pub price: Price,
    /// New total quantity, what has traded included.
    pub quantity: Quantity,
}

/// The five times of one order on the platform's clock, written by td as it takes the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct LatencySample {
    /// Which order.
    pub order_id: OrderId,
    /// t0: when the quote was due; zero where there is no schedule.
    #[field(column = "due_ns")]
    pub due: Nanos,
    /// t1: md committed the quote.
    #[field(column = "published_ns")]
    pub published: Nanos,
    /// t2: the strategy received it.
    #[field(column = "received_ns")]
    pub received: Nanos,
    /// t3: the strategy committed the order.
    #[field(column = "ordered_ns")]
    pub ordered: Nanos,
    /// t4: td received it.
    #[field(column = "taken_ns")]
    pub taken: Nanos,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_comes_back_from_its_bits_and_a_contradiction_has_none() {
        let order = |flags| NewOrder {
            flags,
            ..NewOrder::plain(
                OrderId(1),
                InstrumentId(1),
                Side::Buy,
                OrderType::Limit,
                TimeInForce::Day,
                Price(1),
                Quantity(1),
            )
        };
        for offset in [Offset::Auto, Offset::Open, Offset::Close, Offset::CloseToday, Offset::CloseYesterday]
        {
            assert_eq!(order(offset.flags() | NewOrder::POST_ONLY).offset(), Some(offset));
        }
        for closing in [32, 64, 96] {
            assert_eq!(order(NewOrder::OFFSET_OPEN | closing).offset(), None);
        }
    }
}
