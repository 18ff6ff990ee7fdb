//! What stands in a book.

use wire::{Price, Quantity, Side};

use super::book::{Book, rank};
use super::core::Core;
use super::event::OrderState;
use super::levels::Level;
use super::records::{LevelPlace, Place};

/// A price level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LevelState {
    /// Its price.
    pub price: Price,
    /// Quantity that the book shows.
    pub shown: Quantity,
    /// Quantity of icebergs that it does not show.
    pub hidden: Quantity,
    /// Number of orders.
    pub orders: u32,
}

/// The book of one instrument, to look at.
#[derive(Clone, Copy, Debug)]
pub struct BookView<'a> {
    pub(crate) core: &'a Core,
    pub(crate) book: &'a Book,
}

impl BookView<'_> {
    /// The best level of a side.
    pub fn best(&self, side: Side) -> Option<LevelState> {
        let (rank_of, level) = self.book.side(side).first()?;
        Some(self.state(side, rank_of, &self.core.levels[level]))
    }

    /// The level at a price, if it has orders.
    pub fn level(&self, side: Side, price: Price) -> Option<LevelState> {
        let rank_of = rank(side, self.book.grid.tick(price)?);
        let level = self.book.side(side).find(&self.core.levels, rank_of)?;
        Some(self.state(side, rank_of, &self.core.levels[level]))
    }

    /// The levels of a side, best first. Market orders of an auction are in none.
    pub fn levels(&self, side: Side) -> impl Iterator<Item = LevelState> {
        let view = *self;
        let ladder = view.book.side(side);
        std::iter::successors(ladder.first(), move |(_, level)| ladder.next(&view.core.levels, *level))
            .map(move |(rank_of, level)| view.state(side, rank_of, &view.core.levels[level]))
    }

    /// The orders of a side, first in priority first: market orders of an auction, then level by level.
    pub fn orders(&self, side: Side) -> impl Iterator<Item = OrderState> {
        let view = *self;
        view.core.resting(view.book, side).map(move |place| view.core.state(view.book, place))
    }

    fn state(&self, side: Side, rank_of: i64, level: &Level) -> LevelState {
        LevelState {
            price: self.book.grid.price(rank(side, rank_of)),
            shown: Quantity(level.shown),
            hidden: Quantity(level.hidden),
            orders: level.orders,
        }
    }
}

impl Core {
    /// The orders of a side that are in the book, first in priority first.
    pub(crate) fn resting<'a>(&'a self, book: &'a Book, side: Side) -> impl Iterator<Item = Place> + 'a {
        let ladder = book.side(side);
        let levels = std::iter::successors(ladder.first(), |(_, level)| ladder.next(&self.levels, *level));
        let levels = levels.map(|(_, level)| level);
        book.queue(side).into_iter().chain(levels).flat_map(|level| self.queue_of(level))
    }

    fn queue_of(&self, level: LevelPlace) -> impl Iterator<Item = Place> {
        let head = Some(self.levels[level].head).filter(|place| place.is_some());
        std::iter::successors(head, |place| Some(self.records[*place].next).filter(|place| place.is_some()))
    }
}
