//! One order.

use wire::{InstrumentId, NewOrder, OrderStatus, OrderUpdate, Price, Quantity, Reason, Side, StrategyId};

use crate::fees::Traded;
use crate::state::{state, state_enum};

/// Where an order stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Passed its checks; the market has not answered.
    Sent = 1,
    /// The market has it.
    Working = 2,
    /// Nothing more should come.
    Ended = 3,
}
state_enum!(Stage { Sent, Working, Ended });

/// Which lots an order may close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closes {
    /// Today's.
    Today = 0,
    /// Those of earlier days.
    Yesterday = 1,
    /// Of whichever day: earlier days first.
    Any = 2,
}
state_enum!(Closes { Today, Yesterday, Any });

/// What an order at work holds back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reservation {
    pub(crate) money: i128,
    pub(crate) gross: i128,
    /// How much may yet trade, replaces on their way included.
    pub(crate) open: i64,
    /// How much of that closes.
    pub(crate) closing: i64,
}
state!(Reservation { money, gross, open, closing });

/// One order.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// As it came in.
    pub(crate) request: NewOrder,
    /// Its account's place.
    pub(crate) account: u32,
    pub(crate) stage: Stage,
    pub(crate) status: OrderStatus,
    pub(crate) reason: Reason,
    pub(crate) price: Price,
    /// Total that the market has confirmed, or was sent first.
    pub(crate) total: i64,
    /// Largest total that it has or may get by a replace on its way.
    pub(crate) ceiling: i64,
    /// Lowest and highest price that it has or may get.
    pub(crate) low: i64,
    pub(crate) high: i64,
    pub(crate) filled: i64,
    pub(crate) replaces: u32,
    pub(crate) cancels: u32,
    pub(crate) closes: Closes,
    /// It was sent to close; of accounts that tell opening from closing.
    pub(crate) is_closing: bool,
    /// How much of what is open may close.
    pub(crate) closing: i64,
    pub(crate) schedule: u32,
    pub(crate) traded: Traded,
    pub(crate) reserved: Reservation,
    /// Numbers of its latest trades: one that comes again is no new one.
    pub(crate) trades: [u64; 4],
    /// Neighbours in its slot's list of orders at work.
    pub(crate) next: u32,
    pub(crate) previous: u32,
}
state!(Order {
    request,
    account,
    stage,
    status,
    reason,
    price,
    total,
    ceiling,
    low,
    high,
    filled,
    replaces,
    cancels,
    closes,
    is_closing,
    closing,
    schedule,
    traded,
    reserved,
    trades,
    next,
    previous
});

impl Order {
    pub(crate) fn side(&self) -> Side {
        self.request.side
    }

    pub(crate) fn instrument(&self) -> InstrumentId {
        self.request.instrument
    }

    pub(crate) fn strategy(&self) -> StrategyId {
        self.request.order_id.strategy()
    }

    pub(crate) fn is_open(&self) -> bool {
        self.stage != Stage::Ended
    }

    /// How much may yet trade in the worst case.
    pub(crate) fn open(&self) -> i64 {
        if self.is_open() { self.ceiling.saturating_sub(self.filled).max(0) } else { 0 }
    }

    pub(crate) fn remaining(&self) -> i64 {
        if self.is_open() { self.total.saturating_sub(self.filled).max(0) } else { 0 }
    }

    /// False when no replace was on its way.
    pub(crate) fn replace_answered(&mut self) -> bool {
        let is_expected = self.replaces > 0;
        self.replaces = self.replaces.saturating_sub(1);
        if self.replaces == 0 {
            self.ceiling = self.total;
            self.settle_prices();
        }
        is_expected
    }

    /// Nothing is on its way: the confirmed price is the only one. Orders without a price keep the band's ends.
    fn settle_prices(&mut self) {
        if self.request.order_type.has_price() {
            (self.low, self.high) = (self.price.0, self.price.0);
        }
    }

    /// A price that the market says it has.
    pub(crate) fn confirm_price(&mut self, price: Price) {
        if price.is_some() && self.request.order_type.has_price() {
            self.price = price;
            self.low = self.low.min(price.0);
            self.high = self.high.max(price.0);
        }
    }

    /// True where the request says the same, but for what caused it.
    pub(crate) fn is_same(&self, request: &NewOrder) -> bool {
        // An offset that was left open was chosen when the order came first.
        let kept = if request.offset() == Some(wire::Offset::Auto) {
            !(NewOrder::OFFSET_OPEN | NewOrder::OFFSET_CLOSE)
        } else {
            u8::MAX
        };
        let plain =
            |order: &NewOrder| NewOrder { cause: wire::Cause::NONE, flags: order.flags & kept, ..*order };
        plain(&self.request) == plain(request)
    }

    /// What became of it.
    pub(crate) fn update(&self) -> OrderUpdate {
        OrderUpdate {
            side: self.side(),
            price: self.price,
            quantity: Quantity(self.total),
            filled: Quantity(self.filled),
            remaining: Quantity(self.remaining()),
            ..OrderUpdate::about(self.request.order_id, self.instrument(), self.status, self.reason)
        }
    }
}
