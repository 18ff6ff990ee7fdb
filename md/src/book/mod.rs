//! The market's order book, rebuilt from its order flow.
//!
//! One [`Book`] per instrument: every resting order, and the sum and number of orders at each price. [`Books`] holds
//! the books of all instruments, applies a source's events, and returns a quote when one is due:
//!
//! > **A quote is published after the last part of an event** ([`BookEvent::LAST`]) **if the event changed the ten
//! > best levels of a side, carried a trade or began or ended an auction or a halt; but not while the book is crossed** (best bid ≥ best ask), which the
//! > book of one market is only in a call auction or a halt: nobody can trade at its best prices. The first event
//! > after the crossing publishes.
//!
//! Nothing here depends on the order of a hash map: orders are looked up by number, levels are sorted.

mod follow;
mod levels;
mod rebuild;

use std::collections::HashMap;

use serde::Serialize;
use wire::{BookAction, BookEvent, Level, Price, Quantity, Quote, Side};

pub use follow::{Followed, Follower};
use levels::Levels;
pub use levels::PriceLevel;
pub use rebuild::{Books, Rebuilt};

/// An event did not fit the book. The book stays consistent; each variant states the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BookError {
    /// The order is not in the book: the event has no effect.
    #[error("order {0} is not in the book")]
    UnknownOrder(u64),
    /// An order with this number already rests: the new one replaces it.
    #[error("order {0} is in the book already")]
    DuplicateOrder(u64),
    /// The event takes more than is left of the order: the order is removed.
    #[error("order {order} has {left} left, not {asked}")]
    TooMuch {
        /// The order.
        order: u64,
        /// The quantity that was left.
        left: i64,
        /// The quantity that the event takes.
        asked: i64,
    },
    /// A quantity of zero or less, or one that overflows the level's sum: the event has no effect.
    #[error("order {0} with a quantity that cannot be")]
    Quantity(u64),
}

/// Numbers of events that did not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Anomalies {
    /// See [`BookError::UnknownOrder`].
    pub unknown_order: u64,
    /// See [`BookError::DuplicateOrder`].
    pub duplicate_order: u64,
    /// See [`BookError::TooMuch`].
    pub too_much: u64,
    /// See [`BookError::Quantity`].
    pub quantity: u64,
}

impl Anomalies {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.unknown_order + self.duplicate_order + self.too_much + self.quantity
    }

    pub(crate) fn count(&mut self, error: BookError) {
        match error {
            BookError::UnknownOrder(_) => self.unknown_order += 1,
            BookError::DuplicateOrder(_) => self.duplicate_order += 1,
            BookError::TooMuch { .. } => self.too_much += 1,
            BookError::Quantity(_) => self.quantity += 1,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Order {
    side: Side,
    price: Price,
    remaining: i64,
}

/// The book of one instrument.
#[derive(Clone, Debug)]
pub struct Book {
    orders: HashMap<u64, Order>,
    bids: Levels,
    asks: Levels,
}

impl Default for Book {
    fn default() -> Book {
        Book::new()
    }
}

impl Book {
    /// An empty book.
    pub(crate) fn new() -> Book {
        Book { orders: HashMap::new(), bids: Levels::new(false), asks: Levels::new(true) }
    }

    /// Applies one event.
    ///
    /// # Errors
    /// [`BookError`]: the event did not fit; the book stays consistent.
    pub(crate) fn apply(&mut self, event: &BookEvent) -> Result<(), BookError> {
        let (id, quantity) = (event.order_ref, event.quantity.0);
        match event.action {
            BookAction::Add => self.add(id, event.side, event.price, quantity),
            BookAction::Reduce | BookAction::Execute => self.take(id, quantity),
            BookAction::Delete => self.remove(id).map(|_| ()).ok_or(BookError::UnknownOrder(id)),
            BookAction::Modify => self.modify(id, event.price, quantity),
            BookAction::Trade => Ok(()),
            BookAction::Clear => {
                self.clear();
                Ok(())
            }
        }
    }

    fn add(&mut self, id: u64, side: Side, price: Price, quantity: i64) -> Result<(), BookError> {
        let replaced = self.remove(id);
        if quantity <= 0 || !self.levels_mut(side).add(price, quantity, 1) {
            return Err(BookError::Quantity(id));
        }
        self.orders.insert(id, Order { side, price, remaining: quantity });
        if replaced.is_some() { Err(BookError::DuplicateOrder(id)) } else { Ok(()) }
    }

    fn take(&mut self, id: u64, quantity: i64) -> Result<(), BookError> {
        if quantity <= 0 {
            return Err(BookError::Quantity(id));
        }
        let order = self.orders.get_mut(&id).ok_or(BookError::UnknownOrder(id))?;
        let Order { side, price, remaining: left } = *order;
        if quantity < left {
            order.remaining -= quantity;
            self.levels_mut(side).take(price, quantity, 0);
            return Ok(());
        }
        self.orders.remove(&id);
        self.levels_mut(side).take(price, left, 1);
        if quantity > left { Err(BookError::TooMuch { order: id, left, asked: quantity }) } else { Ok(()) }
    }

    fn modify(&mut self, id: u64, price: Price, quantity: i64) -> Result<(), BookError> {
        if quantity <= 0 {
            return Err(BookError::Quantity(id));
        }
        let order = self.remove(id).ok_or(BookError::UnknownOrder(id))?;
        self.add(id, order.side, price, quantity)
    }

    fn remove(&mut self, id: u64) -> Option<Order> {
        let order = self.orders.remove(&id)?;
        self.levels_mut(order.side).take(order.price, order.remaining, 1);
        Some(order)
    }

    fn clear(&mut self) {
        self.orders.clear();
        self.bids.clear();
        self.asks.clear();
    }

    fn levels_mut(&mut self, side: Side) -> &mut Levels {
        match side {
            Side::Buy => &mut self.bids,
            Side::Sell => &mut self.asks,
        }
    }

    /// The levels of a side, best first.
    pub fn levels(&self, side: Side) -> impl Iterator<Item = PriceLevel> + '_ {
        match side {
            Side::Buy => self.bids.best_first(),
            Side::Sell => self.asks.best_first(),
        }
    }

    /// Number of orders in the book.
    pub fn orders(&self) -> usize {
        self.orders.len()
    }

    /// Total resting quantity of both sides.
    pub fn resting(&self) -> i64 {
        [Side::Buy, Side::Sell]
            .into_iter()
            .flat_map(|side| self.levels(side))
            .fold(0, |sum, level| sum.saturating_add(level.quantity.0))
    }

    /// The best bid is at or above the best ask.
    pub fn is_crossed(&self) -> bool {
        matches!((self.bids.best(), self.asks.best()), (Some(bid), Some(ask)) if bid.price >= ask.price)
    }

    /// Writes the ten best levels of both sides into `quote`; `true` when that changed it. Cheap when nothing near the
    /// top has changed since the last call.
    pub(crate) fn quote(&mut self, quote: &mut Quote) -> bool {
        let bids = fill(&mut self.bids, &mut quote.bids);
        let asks = fill(&mut self.asks, &mut quote.asks);
        bids || asks
    }
}

fn fill(levels: &mut Levels, shown: &mut [Level; wire::LEVELS]) -> bool {
    if !levels.take_changed(shown) {
        return false;
    }
    let mut fresh = [Level::EMPTY; wire::LEVELS];
    for (place, level) in fresh.iter_mut().zip(levels.best_first()) {
        *place = Level { price: level.price, quantity: Quantity(level.quantity.0) };
    }
    let changed = fresh != *shown;
    *shown = fresh;
    changed
}

#[cfg(test)]
mod tests;
