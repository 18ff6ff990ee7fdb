//! What the exchange answers.

use wire::{AccountId, Aggressor, InstrumentId, Price, Quantity, Reason, Side, StrategyId};

use super::phase::{Auction, Phase};
use super::request::Order;

/// An order as it stands after what is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OrderState {
    /// Its number.
    pub id: u64,
    /// Its instrument.
    pub instrument: InstrumentId,
    /// Its side.
    pub side: Side,
    /// For which account.
    pub account: AccountId,
    /// By which strategy.
    pub strategy: StrategyId,
    /// Its limit price; [`Price::NONE`] if it has none.
    pub price: Price,
    /// How much of it has traded.
    pub filled: Quantity,
    /// How much of it still works; zero once it is filled. In [`Event::Cancelled`], how much was left.
    pub open: Quantity,
    /// How much of it the book shows; zero while it is not in the book. In [`Event::Cancelled`], and in [`Event::Replaced`]
    /// of an order that lost its place, how much the book showed of it until then.
    pub shown: Quantity,
}

impl OrderState {
    /// Its total quantity: what has traded and what still works.
    pub fn quantity(&self) -> Quantity {
        self.filled + self.open
    }
}

/// Two orders traded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Trade {
    /// Number of the trade: 1, 2, 3 ... over all instruments.
    pub id: u64,
    /// At which price.
    pub price: Price,
    /// How much.
    pub quantity: Quantity,
    /// Whose order came in; [`Aggressor::None`] in an auction.
    pub aggressor: Aggressor,
    /// The buyer's order after it.
    pub buy: OrderState,
    /// The seller's order after it.
    pub sell: OrderState,
}

/// What an auction would trade, or has traded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Equilibrium {
    /// The price of all its trades; [`Price::NONE`] if nothing trades.
    pub price: Price,
    /// How much trades.
    pub volume: Quantity,
    /// How much more buyers offer at that price than sellers (negative: sellers more). Beyond `i64` it is held there.
    pub imbalance: i64,
}

/// What was refused about a working order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// A cancel.
    Cancel,
    /// A replace.
    Replace,
}

/// One thing that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A new order was accepted. What follows from it comes next: trades, then [`Event::Rested`] or [`Event::Cancelled`].
    /// Neither, and `open` not zero at its last trade: it waits outside of the book (stop, at the close).
    Accepted(OrderState),
    /// A new order was not accepted.
    Rejected(Order, Reason),
    /// An order, or what is left of it, went into the book behind all others at its price.
    Rested(OrderState),
    /// Two orders traded.
    Traded(Trade),
    /// An iceberg order shows its next part. True: behind all others at its price.
    Refreshed(OrderState, bool),
    /// A working order was changed. `None`: it keeps its place. Otherwise it lost its place at this price, the one that it had
    /// ([`Price::NONE`]: none), left the book if it was there, and what follows comes next.
    Replaced(OrderState, Option<Price>),
    /// An order was made smaller by [`SelfTrade::Decrement`](super::SelfTrade::Decrement), and goes on.
    Decremented(OrderState),
    /// A waiting stop order was triggered. What follows comes next, as after [`Event::Accepted`].
    Triggered(OrderState),
    /// An order ended before it was filled; `open` says how much of it was left.
    Cancelled(OrderState, Reason),
    /// A request about order `id` was refused.
    Refused {
        /// Which order.
        id: u64,
        /// What was asked for.
        refused: Refusal,
        /// Why.
        reason: Reason,
    },
    /// An auction ends: its trades come next.
    Uncrossed {
        /// Of which instrument.
        instrument: InstrumentId,
        /// Which auction; `None`: continuous trading began with a book that was crossed.
        auction: Option<Auction>,
        /// What trades.
        equilibrium: Equilibrium,
    },
    /// An instrument's market changed its phase.
    PhaseChanged {
        /// Of which instrument.
        instrument: InstrumentId,
        /// The phase before.
        from: Phase,
        /// The phase from now on.
        to: Phase,
    },
}

impl Event {
    /// The instrument whose market it changed.
    #[inline(always)]
    pub fn instrument(&self) -> Option<InstrumentId> {
        match self {
            Event::Accepted(state)
            | Event::Rested(state)
            | Event::Refreshed(state, _)
            | Event::Replaced(state, _)
            | Event::Decremented(state)
            | Event::Triggered(state)
            | Event::Cancelled(state, _) => Some(state.instrument),
            Event::Traded(trade) => Some(trade.buy.instrument),
            Event::Uncrossed { instrument, .. } | Event::PhaseChanged { instrument, .. } => Some(*instrument),
            Event::Rejected(..) | Event::Refused { .. } => None,
        }
    }

    /// Calls `each` with the numbers of the orders that it changed.
    #[inline(always)]
    pub fn changed(&self, mut each: impl FnMut(u64)) {
        match self {
            Event::Accepted(state)
            | Event::Rested(state)
            | Event::Refreshed(state, _)
            | Event::Replaced(state, _)
            | Event::Decremented(state)
            | Event::Triggered(state)
            | Event::Cancelled(state, _) => each(state.id),
            Event::Traded(trade) => {
                each(trade.buy.id);
                each(trade.sell.id);
            }
            Event::Rejected(..)
            | Event::Refused { .. }
            | Event::Uncrossed { .. }
            | Event::PhaseChanged { .. } => {}
        }
    }
}

/// Receives what the exchange answers, in order. It cannot refuse: a sink whose journal is full buffers or waits.
pub trait Sink {
    /// One thing happened.
    fn event(&mut self, event: Event);
}

/// Collects the answers: for tests, tools, and processes that write after the exchange is done.
impl Sink for Vec<Event> {
    fn event(&mut self, event: Event) {
        self.push(event);
    }
}

/// Throws the answers away.
#[derive(Clone, Copy, Debug, Default)]
pub struct Discard;

impl Sink for Discard {
    #[inline(always)]
    fn event(&mut self, _event: Event) {}
}
