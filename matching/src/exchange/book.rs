//! The book of one instrument, and what its market is doing.

use std::collections::{BTreeSet, VecDeque};

use wire::{InstrumentId, Nanos, Price, Side};

use super::ListError;
use super::grid::Grid;
use super::ladder::Ladder;
use super::levels::Levels;
use super::phase::{Permission, Phase};
use super::records::{LevelPlace, Place};
use super::rules::{DynamicBand, InstrumentRules, MarketRules, Width};

/// What continuous trading touched since the last look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touched {
    /// Lowest and highest tick of the trades; `low > high` without any.
    pub(crate) low: i64,
    pub(crate) high: i64,
}

impl Touched {
    pub(crate) const NOTHING: Touched = Touched { low: i64::MAX, high: i64::MIN };
}

/// A book.
#[derive(Debug)]
pub(crate) struct Book {
    sides: [Ladder; 2],
    pub(crate) grid: Grid,
    pub(crate) id: InstrumentId,
    /// Its number among the books.
    pub(crate) number: u16,
    pub(crate) phase: Phase,
    pub(crate) permission: Permission,
    /// Trading is continuous, and new orders are taken.
    pub(crate) is_open: bool,
    pub(crate) lot: i64,
    pub(crate) max_quantity: i64,
    /// Price limits, in steps.
    pub(crate) low: i64,
    pub(crate) high: i64,
    /// No trade lies outside of these, in steps.
    pub(crate) band_low: i64,
    pub(crate) band_high: i64,
    /// The last trade's price.
    pub(crate) last: Price,
    /// Something traded in the request that is carried out.
    pub(crate) traded: bool,
    pub(crate) touched: Touched,
    pub(crate) market: MarketRules,
    pub(crate) reference: Price,
    dynamic: Option<DynamicBand>,
    /// Stops that wait, by trigger.
    pub(crate) stops: [BTreeSet<(i64, Place)>; 2],
    /// Stops that trades have reached, in the order in which they will be triggered.
    pub(crate) reached: VecDeque<Place>,
    /// At-the-close orders that wait, in the order in which they came.
    pub(crate) at_the_close: Vec<Place>,
    /// Market orders that an auction collects, both sides in one chunk.
    queues: Option<u32>,
    /// Phases to come.
    pub(crate) schedule: VecDeque<(Nanos, Phase)>,
    /// End of the volatility auction.
    pub(crate) auction_ends: Option<Nanos>,
}

/// 0 for buys, 1 for sells.
#[inline(always)]
pub(crate) fn side_index(side: Side) -> usize {
    usize::from(side as u8 & 1 == 0)
}

/// Rank of a tick on this side, and tick of a rank: of two prices, the better has the greater rank. Half of all orders
/// buy, at random, so this is arithmetic: a branch on it would be mispredicted half of the time.
#[inline(always)]
pub(crate) fn rank(side: Side, tick: i64) -> i64 {
    tick ^ -(side_index(side) as i64)
}

impl Book {
    pub(crate) fn new(number: u16, rules: InstrumentRules) -> Result<Book, ListError> {
        let grid = Grid::new(&rules.ticks)?;
        if rules.lot.0 < 1 {
            return Err(ListError::Lot);
        }
        if rules.max_quantity.0 < 0 {
            return Err(ListError::MaxQuantity);
        }
        let low = if rules.price_low.is_some() { grid.ceil(rules.price_low) } else { i64::MIN };
        let high = if rules.price_high.is_some() { grid.floor(rules.price_high) } else { i64::MAX };
        if low > high {
            return Err(ListError::Limits);
        }
        let phase = Phase::Continuous;
        let mut book = Book {
            sides: [Ladder::new(), Ladder::new()],
            grid,
            id: rules.id,
            number,
            phase,
            permission: rules.market.permission(phase),
            is_open: rules.market.permission(phase).enter,
            lot: rules.lot.0,
            max_quantity: if rules.max_quantity.0 == 0 { i64::MAX } else { rules.max_quantity.0 },
            low,
            high,
            band_low: i64::MIN,
            band_high: i64::MAX,
            last: Price::NONE,
            traded: false,
            touched: Touched::NOTHING,
            market: rules.market,
            reference: rules.reference_price,
            dynamic: rules.dynamic_band,
            stops: [BTreeSet::new(), BTreeSet::new()],
            reached: VecDeque::new(),
            at_the_close: Vec::new(),
            queues: None,
            schedule: VecDeque::new(),
            auction_ends: None,
        };
        book.set_band();
        Ok(book)
    }

    #[inline(always)]
    pub(crate) fn side(&self, side: Side) -> &Ladder {
        &self.sides[side_index(side)]
    }

    #[inline(always)]
    pub(crate) fn side_mut(&mut self, side: Side) -> &mut Ladder {
        &mut self.sides[side_index(side)]
    }

    /// What auctions and bands start from: the last trade's price, else the instrument's.
    pub(crate) fn reference(&self) -> Price {
        if self.last.is_some() { self.last } else { self.reference }
    }

    /// How long a volatility auction lasts.
    pub(crate) fn auction_time(&self) -> Nanos {
        self.dynamic.map_or(Nanos(0), |band| band.auction)
    }

    /// Begins a phase, with what follows from it; the one before.
    pub(crate) fn set_phase(&mut self, phase: Phase) -> Phase {
        self.permission = self.market.permission(phase);
        self.is_open = phase == Phase::Continuous && self.permission.enter;
        std::mem::replace(&mut self.phase, phase)
    }

    /// Puts the dynamic band around the reference.
    pub(crate) fn set_band(&mut self) {
        let Some(band) = self.dynamic else { return };
        let reference = self.reference();
        if !reference.is_some() {
            return;
        }
        let width = match band.width {
            Width::Price(width) => i128::from(width.0.max(0)),
            Width::BasisPoints(points) => i128::from(reference.0).abs() * i128::from(points) / 10_000,
        };
        let price = |wide: i128| Price(wide.clamp(i128::from(i64::MIN + 1), i128::from(i64::MAX)) as i64);
        self.band_low = self.grid.ceil(price(i128::from(reference.0) - width));
        self.band_high = self.grid.floor(price(i128::from(reference.0) + width));
    }

    /// The worst and the best rank at which an incoming order of `side` may trade, on the other side.
    #[inline(always)]
    pub(crate) fn band_ranks(&self, side: Side) -> (i64, i64) {
        match side {
            Side::Buy => (rank(Side::Sell, self.band_high), rank(Side::Sell, self.band_low)),
            Side::Sell => (self.band_low, self.band_high),
        }
    }

    /// The queue of market orders of `side`; `None` when there is no room for one.
    pub(crate) fn queue_mut(&mut self, levels: &mut Levels, side: Side) -> Option<LevelPlace> {
        if self.queues.is_none() {
            self.queues = levels.take_chunk(0);
        }
        self.queue(side)
    }

    /// The queue of market orders of `side`, if there ever was one.
    pub(crate) fn queue(&self, side: Side) -> Option<LevelPlace> {
        self.queues.map(|chunk| LevelPlace::new(chunk, side_index(side) as i64))
    }

    /// The first in line on a side: market orders, then the best level.
    pub(crate) fn front(&self, levels: &Levels, side: Side) -> Option<Place> {
        let queue = self.queue(side).map(|queue| levels[queue].head).filter(|place| place.is_some());
        queue.or_else(|| self.side(side).first().map(|(_, level)| levels[level].head))
    }

    /// Remembers a trade.
    #[inline(always)]
    pub(crate) fn note_trade(&mut self, price: Price, tick: i64) {
        self.last = price;
        self.traded = true;
        self.touched.low = self.touched.low.min(tick);
        self.touched.high = self.touched.high.max(tick);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.sides.iter().map(Ladder::bytes).sum()
    }
}
