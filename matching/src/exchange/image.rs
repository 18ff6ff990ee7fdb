//! What an exchange is made of, order by order: taken from one that works, and put into one that goes on in its place.
//!
//! An order's queue is not stored: its place in it follows from numbers. Most orders went behind the others at their price
//! when they came in, so the older of two is the first. An iceberg that shows its next part, and an at-the-close order at
//! the beginning of the auction, go there later: these keep in their [`Extra`] which order was the youngest then
//! (`behind`), and of those that went with the same youngest order, the which they were (`turn`).

use wire::{InstrumentId, Nanos, OrderId, OrderImage, Price, Quantity, StrategyId};

use super::book::{Book, side_index};
use super::core::{Core, Incoming};
use super::phase::{Auction, Phase, auction_of};
use super::records::{Extra, Flags, LevelPlace, Place, Record};
use super::{Exchange, book_of};

/// Why an exchange cannot be made of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// There are orders already.
    #[error("the exchange has working orders already")]
    NotEmpty,
    /// An order of an instrument that is not listed.
    #[error("order {0} is of an instrument that is not listed")]
    Unlisted(u64),
    /// Two images of one order.
    #[error("order {0} comes twice")]
    Twice(u64),
    /// What no order has.
    #[error("order {0} has a price, a quantity or conditions that no working order of this instrument has")]
    Invalid(u64),
}

/// An instrument's market without its orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarketState {
    /// Its phase.
    pub phase: Phase,
    /// The price of its last trade; [`Price::NONE`] before the first.
    pub last: Price,
    /// When its volatility auction ends.
    pub auction_ends: Option<Nanos>,
    /// The phases to come.
    pub schedule: Vec<(Nanos, Phase)>,
}

/// What an exchange counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Its time.
    pub now: Nanos,
    /// Number of the last trade.
    pub trades: u64,
    /// The newest [`OrderImage::age_number`].
    pub sequence: u32,
}

impl Exchange {
    /// A working order as it stands.
    pub fn image(&self, id: u64) -> Option<OrderImage> {
        Some(self.image_of(self.core.find(id)?))
    }

    /// Places of orders, which [`Exchange::image_at`] counts from zero.
    pub fn places(&self) -> usize {
        self.core.records.places()
    }

    /// The order at a place, if one is there.
    pub fn image_at(&self, place: usize) -> Option<OrderImage> {
        let place = Place(u32::try_from(place).ok()?);
        self.core.records.is_used(place).then(|| self.image_of(place))
    }

    fn image_of(&self, place: Place) -> OrderImage {
        let record = &self.core.records[place];
        let extra = self.core.records.extra(record).copied().unwrap_or(Extra::new(0, 0, u64::MAX));
        let (behind, turn) = if extra.turn == 0 { (record.sequence, 0) } else { (extra.behind, extra.turn) };
        OrderImage {
            order_id: OrderId(record.id),
            price: record.price,
            open: Quantity(record.open),
            filled: Quantity(record.filled),
            display: Quantity(extra.display),
            shown: Quantity(extra.shown),
            trigger_ticks: extra.trigger,
            ends: extra.ends,
            instrument: self.books[usize::from(record.book)].id,
            account: record.account,
            age_number: record.sequence,
            bits: record.flags.bits(),
            behind,
            turn,
            strategy: StrategyId(record.strategy),
            rests: u16::from(record.level.is_some()),
            reserved: 0,
        }
    }

    /// Numbers of the stops of an instrument that trades have reached and that wait for continuous trading. Being reached is
    /// the one change of an order that no event reports; it comes with an [`Event::PhaseChanged`](super::Event::PhaseChanged).
    pub fn reached(&self, instrument: InstrumentId) -> impl Iterator<Item = u64> {
        let reached = self.listed(instrument).into_iter().flat_map(|book| &book.reached);
        reached.map(|place| self.core.records[*place].id)
    }

    /// The market of an instrument, without its orders.
    pub fn market_state(&self, instrument: InstrumentId) -> Option<MarketState> {
        let book = self.listed(instrument)?;
        let schedule = book.schedule.iter().copied().collect();
        Some(MarketState { phase: book.phase, last: book.last, auction_ends: book.auction_ends, schedule })
    }

    /// What it counts.
    pub fn counts(&self) -> Counts {
        Counts { now: self.now(), trades: self.core.trades, sequence: self.core.sequence }
    }

    /// Puts the market of an instrument where another one was. Nothing follows from it. False: it is not listed.
    pub fn restore_market(&mut self, instrument: InstrumentId, state: MarketState) -> bool {
        let Some(book) = book_of(&self.listed, &mut self.books, instrument) else { return false };
        book.set_phase(state.phase);
        (book.last, book.auction_ends) = (state.last, state.auction_ends);
        book.schedule = state.schedule.into();
        book.set_band();
        self.due = None;
        true
    }

    /// Puts orders where they were. What follows is what would have followed there; no event is made of it.
    ///
    /// # Errors
    /// [`ImageError`]; the exchange is then of no more use.
    pub fn restore_orders(&mut self, counts: Counts, orders: &[OrderImage]) -> Result<(), ImageError> {
        if self.core.numbers.len() != 0 {
            return Err(ImageError::NotEmpty);
        }
        self.core.now = counts.now.0;
        (self.core.trades, self.core.sequence) = (counts.trades, counts.sequence);
        self.due = None;
        self.core.numbers.reserve(orders.len());
        // Oldest first, by which order was the youngest when each went to its place. Images are large, so keys are sorted.
        let key = |image: &OrderImage| {
            let age = counts.sequence.wrapping_sub(image.behind);
            u64::from(u32::MAX - age) << 32 | u64::from(image.turn)
        };
        let mut sorted: Vec<(u64, usize)> =
            orders.iter().enumerate().map(|(at, image)| (key(image), at)).collect();
        sorted.sort_unstable();
        for (_, at) in sorted {
            let image = &orders[at];
            let book = book_of(&self.listed, &mut self.books, image.instrument);
            self.core.restore(book.ok_or(ImageError::Unlisted(image.order_id.0))?, image)?;
        }
        Ok(())
    }
}

impl Core {
    fn restore(&mut self, book: &mut Book, image: &OrderImage) -> Result<(), ImageError> {
        let id = image.order_id.0;
        if self.find(id).is_some() {
            return Err(ImageError::Twice(id));
        }
        let mut incoming = incoming(book, image).ok_or(ImageError::Invalid(id))?;
        if image.turn > 0 && image.behind == self.sequence {
            self.turned = (image.behind, self.turned.1.max(image.turn));
        }
        let is_there = if image.rests == 1 {
            let shown = if image.display.0 > 0 { image.shown.0 } else { image.open.0 };
            self.enqueue(book, &mut incoming, shown).is_some()
        } else {
            self.store_waiting(book, &incoming)
        };
        is_there.then_some(()).ok_or(ImageError::Invalid(id))
    }

    /// Lets an order wait outside of the book. False where there is no room.
    pub(crate) fn store_waiting(&mut self, book: &mut Book, incoming: &Incoming) -> bool {
        if !self.records.has_room() {
            return false;
        }
        let place = self.store(incoming);
        let flags = incoming.record.flags;
        match incoming.extra {
            _ if flags.is_reached() => book.reached.push_back(place),
            Some(extra) if flags.is_stop() => {
                book.stops[side_index(incoming.side())].insert((extra.trigger, place));
            }
            _ => book.at_the_close.push(place),
        }
        true
    }

    /// Remembers that an order goes behind the others at its price later than it came in.
    #[cold]
    pub(crate) fn take_turn(&mut self, extra: &mut Extra) {
        let turn = if self.turned.0 == self.sequence { self.turned.1.saturating_add(1) } else { 1 };
        self.turned = (self.sequence, turn);
        (extra.behind, extra.turn) = self.turned;
    }
}

/// The order as one that comes in; `None` if no such order works.
fn incoming(book: &Book, image: &OrderImage) -> Option<Incoming> {
    let flags = Flags::of_bits(image.bits)?;
    let quantities = image.open.0 > 0 && image.filled.0 >= 0 && image.display.0 >= 0;
    let quantities = quantities && image.open.0.checked_add(image.filled.0).is_some();
    let shown = image.display.0 == 0 || image.rests == 0 || (1..=image.open.0).contains(&image.shown.0);
    let priced = flags.is_market() != image.price.is_some();
    let on_tick = flags.is_market() || book.grid.tick(image.price).is_some();
    let auction = auction_of(book.phase) == Some(Auction::Closing);
    let waits = flags.is_stop() || flags.is_at_the_close() && !auction;
    let place = if image.rests == 1 { !flags.is_stop() } else { waits };
    if !(quantities && shown && priced && on_tick && place) {
        return None;
    }
    let record = Record {
        id: image.order_id.0,
        price: image.price,
        open: image.open.0,
        filled: image.filled.0,
        prev: Place::NONE,
        next: Place::NONE,
        level: LevelPlace::NONE,
        extra: u32::MAX,
        account: image.account,
        strategy: image.strategy.0,
        book: book.number,
        sequence: image.age_number,
        flags,
    };
    let mut extra = Extra::new(image.display.0, image.trigger_ticks, image.ends);
    (extra.shown, extra.behind, extra.turn) = (image.shown.0, image.behind, image.turn);
    let has_extra = image.display.0 > 0 || flags.is_stop() || image.ends != u64::MAX || image.turn > 0;
    Some(Incoming { record, extra: has_extra.then_some(extra), minimum: 0 })
}
