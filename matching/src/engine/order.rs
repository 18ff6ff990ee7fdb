//! The record of one resting order: exactly one cache line.

use wire::{
    Fill, InstrumentId, Liquidity, Nanos, OrderId, OrderStatus, OrderUpdate, Price, Quantity, Reason, Side,
};

use super::slab::Slot;

/// The owner of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// The recorded market's.
    Market = 1,
    /// A strategy's.
    Own = 2,
    /// A strategy's that may never take, not even after a replace.
    OwnPostOnly = 3,
    /// The recorded market's, swept away by a clear: a snapshot may bring it back to its place. Nothing of it can be had.
    Swept = 4,
    /// A strategy's that outlives the day.
    OwnKept = 5,
    /// A strategy's that outlives the day and may never take.
    OwnKeptPostOnly = 6,
}

/// An order in a queue, or an incoming one that is in no queue yet (all its links are [`Slot::NONE`]).
///
/// ```text
///  0     8       16     24         32      40     44     48      52          56          60           62     63    64
///  │ id  │ price │ open │ quantity │ taken │ next │ prev │ level │ peer next │ peer prev │ instrument │ side │ kind │
/// ```
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Order {
    /// [`OrderId`] of an own order, the market's reference of a market order.
    pub(crate) id: u64,
    pub(crate) price: Price,
    /// Its open quantity: of a market order, by its recorded history.
    pub(crate) open: Quantity,
    /// Own orders: the total ever asked for. Market orders: zero. Swept ones: what own orders had taken.
    pub(crate) quantity: Quantity,
    /// Market orders: how much of `open` own orders took, which history does not know of. Own orders: zero. Swept ones:
    /// all of `open`.
    pub(crate) taken: Quantity,
    /// Behind it in the queue of its level.
    pub(crate) next: Slot,
    /// Before it in the queue of its level.
    pub(crate) prev: Slot,
    pub(crate) level: Slot,
    /// Own orders: the same strategy's next and previous order, by age.
    pub(crate) peer_next: Slot,
    pub(crate) peer_prev: Slot,
    instrument: u16,
    pub(crate) side: Side,
    pub(crate) kind: Kind,
}

const _: () = assert!(size_of::<Order>() == 64, "an order is one cache line");
const _: () = assert!(wire::MAX_INSTRUMENTS <= 1 << 16, "an order keeps its instrument in 16 bits");

impl Order {
    /// An order in no queue. The caller has checked that `instrument` is below [`wire::MAX_INSTRUMENTS`].
    pub(crate) fn new(
        kind: Kind,
        id: u64,
        instrument: InstrumentId,
        side: Side,
        price: Price,
        quantity: Quantity,
    ) -> Order {
        Order {
            id,
            price,
            open: quantity,
            quantity: if kind == Kind::Market { Quantity::ZERO } else { quantity },
            taken: Quantity::ZERO,
            next: Slot::NONE,
            prev: Slot::NONE,
            level: Slot::NONE,
            peer_next: Slot::NONE,
            peer_prev: Slot::NONE,
            instrument: instrument.0 as u16,
            side,
            kind,
        }
    }

    pub(crate) fn is_own(&self) -> bool {
        !matches!(self.kind, Kind::Market | Kind::Swept)
    }

    pub(crate) fn is_post_only(&self) -> bool {
        matches!(self.kind, Kind::OwnPostOnly | Kind::OwnKeptPostOnly)
    }

    pub(crate) fn instrument(&self) -> InstrumentId {
        InstrumentId(u32::from(self.instrument))
    }

    /// The quantity that an incoming order can still take from it.
    pub(crate) fn available(&self) -> Quantity {
        self.open - self.taken
    }

    /// Own orders: how much has traded.
    pub(crate) fn filled(&self) -> Quantity {
        self.quantity - self.open
    }

    /// The update with this own order's current state. Nothing of it works when `status` is final.
    pub(crate) fn update(&self, status: OrderStatus, reason: Reason, event_time: Nanos) -> OrderUpdate {
        OrderUpdate {
            order_id: OrderId(self.id),
            instrument: self.instrument(),
            side: self.side,
            status,
            reason,
            reserved: 0,
            price: self.price,
            quantity: self.quantity,
            filled: self.filled(),
            remaining: if status.is_final() { Quantity::ZERO } else { self.open },
            event_time,
            execution: 0,
            answered_up_to: 0,
            refused_request: 0,
            reported_up_to: 0,
        }
    }

    /// The update that follows a fill.
    pub(crate) fn update_after_fill(&self, event_time: Nanos) -> OrderUpdate {
        let filled = self.open == Quantity::ZERO;
        let status = if filled { OrderStatus::Filled } else { OrderStatus::PartiallyFilled };
        self.update(status, Reason::None, event_time)
    }

    /// The fill of this own order, whose `open` is already reduced by `trade.quantity`.
    pub(crate) fn fill(&self, trade: Trade, liquidity: Liquidity, event_time: Nanos) -> Fill {
        Fill {
            order_id: OrderId(self.id),
            trade_id: trade.id,
            instrument: self.instrument(),
            side: self.side,
            liquidity,
            reserved: [0; 2],
            price: trade.price,
            quantity: trade.quantity,
            remaining: self.open,
            event_time,
            execution: 0,
            answered_up_to: 0,
        }
    }
}

/// One trade: what both sides of it share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trade {
    pub(crate) id: u64,
    pub(crate) price: Price,
    pub(crate) quantity: Quantity,
}
