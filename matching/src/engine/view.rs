//! A view of a book, for tools and tests. Not on the hot path: sums are computed on request.

use wire::{OrderId, Price, Quantity, Side};

use super::arena::Arena;
use super::book::Book;
use super::order::{Kind, Order};

/// One instrument's book as it stands.
#[derive(Clone, Copy, Debug)]
pub struct BookView<'a> {
    pub(crate) book: &'a Book,
    pub(crate) arena: &'a Arena,
}

/// One price level. Sums stop at the largest `i64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth {
    /// The price.
    pub price: Price,
    /// What the market's orders hold, by its recorded history.
    pub market: Quantity,
    /// What the strategies' orders hold.
    pub own: Quantity,
    /// What an incoming order of a strategy can get: `market` less what strategies took of it, and `own`.
    pub available: Quantity,
    /// Orders in the queue, of the market and of strategies.
    pub orders: u64,
}

/// One side as a whole. Sums stop at the largest `i64`.
#[cfg(test)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Price levels.
    pub(crate) levels: u64,
    /// The market's orders.
    pub(crate) market_orders: u64,
    /// The strategies' orders.
    pub(crate) own_orders: u64,
    /// As in [`Depth::market`].
    pub(crate) market: Quantity,
    /// As in [`Depth::own`].
    pub(crate) own: Quantity,
    /// As in [`Depth::available`].
    pub(crate) available: Quantity,
}

/// The owner of an order, with the owner's number for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The market's, with its reference.
    Market(u64),
    /// A strategy's.
    Own(OrderId),
}

/// An order in the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestingOrder {
    /// Whose it is.
    pub owner: Owner,
    /// Its side.
    pub side: Side,
    /// Its limit price.
    pub price: Price,
    /// What is left of it: of a market order, by its recorded history.
    pub open: Quantity,
    /// The quantity that an incoming order can still take from it.
    pub available: Quantity,
}

impl RestingOrder {
    pub(crate) fn of(order: &Order) -> RestingOrder {
        RestingOrder {
            owner: if order.is_own() { Owner::Own(OrderId(order.id)) } else { Owner::Market(order.id) },
            side: order.side,
            price: order.price,
            open: order.open,
            available: order.available(),
        }
    }
}

impl<'a> BookView<'a> {
    /// The best level of `side` that an incoming order could trade at. Quoted volume is not part of it.
    pub fn best(&self, side: Side) -> Option<Depth> {
        self.levels(side, usize::MAX).find(|level| level.available > Quantity::ZERO)
    }

    /// The best `count` levels of `side`, best first. A level whose volume strategies have taken altogether is
    /// among them, for in the recorded market it is still there.
    pub fn levels(&self, side: Side, count: usize) -> impl Iterator<Item = Depth> + 'a {
        let BookView { book, arena } = *self;
        let ladder = &book.half(side).ladder;
        let depth = move |index| {
            let level = arena.levels[ladder.level_at(index)];
            let (mut market, mut own, mut orders) = (0, 0, 0);
            for order in queue(arena, level.head) {
                *(if order.is_own() { &mut own } else { &mut market }) += i128::from(order.open.0);
                orders += 1;
            }
            Depth {
                price: level.price,
                market: narrow(market),
                own: narrow(own),
                available: narrow(level.available),
                orders,
            }
        };
        (0..ladder.len()).rev().map(depth).filter(|level| level.orders > 0).take(count)
    }

    /// The orders of `side`, those that trade first in front.
    pub fn orders(&self, side: Side) -> impl Iterator<Item = RestingOrder> + 'a {
        let BookView { book, arena } = *self;
        let ladder = &book.half(side).ladder;
        (0..ladder.len()).rev().flat_map(move |index| {
            queue(arena, arena.levels[ladder.level_at(index)].head).map(RestingOrder::of)
        })
    }

    /// Sums over all levels of `side`.
    #[cfg(test)]
    pub(crate) fn totals(&self, side: Side) -> Totals {
        let mut totals = Totals { levels: self.book.half(side).ladder.len() as u64, ..Totals::default() };
        for order in self.orders(side) {
            match order.owner {
                Owner::Market(_) => {
                    totals.market_orders += 1;
                    totals.market += order.open;
                }
                Owner::Own(_) => {
                    totals.own_orders += 1;
                    totals.own += order.open;
                }
            }
            totals.available += order.available;
        }
        totals
    }

    /// What is left of the latest quote's levels on `side`, best first; empty under
    /// [`FillModel::Book`](super::FillModel::Book).
    #[cfg(test)]
    pub(crate) fn quoted(&self, side: Side) -> &'a [wire::Level] {
        self.book.half(side).quoted.levels()
    }
}

/// Orders that are there: those that a clear swept away are not.
fn queue(arena: &Arena, head: super::slab::Slot) -> impl Iterator<Item = &Order> {
    let order = move |slot: super::slab::Slot| slot.is_some().then(|| &arena.orders[slot]);
    let queued = std::iter::successors(order(head), move |previous| order(previous.next));
    queued.filter(|order| order.kind != Kind::Swept)
}

fn narrow(sum: i128) -> Quantity {
    Quantity(i64::try_from(sum).unwrap_or(i64::MAX))
}
