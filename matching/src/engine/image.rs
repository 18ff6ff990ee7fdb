//! What an engine is made of: taken from one that works, and put into one that goes on in its place.
//!
//! Records keep their places, and with them the links of queues and of strategies' lists, so that nothing must be sorted.
//! Price levels and the tables of numbers follow from the records. The order in which free places are used again does not:
//! nothing that an engine answers depends on it.

use wire::{
    AccountId, BookImage, InstrumentId, Level, OrderId, Price, Quantity, Quote, RecordImage, Side,
    TradingPhase,
};

use super::auction::Cross;
use super::book::Book;
use super::order::{Kind, Order};
use super::phase::Reopening;
use super::quoted::QuotedSide;
use super::slab::Slot;
use super::{Engine, FillModel, UsedIds, find};

/// Why an engine cannot be made of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// Places that come twice or are beyond the last, or an engine that has orders already.
    #[error("the places of the orders are not those of an empty engine")]
    Places,
    /// What no order has.
    #[error("the order at place {0} has an instrument, a quantity or an owner that no order here has")]
    Invalid(u32),
    /// Queues that are not whole.
    #[error("{found} of {expected} orders are in a queue")]
    Queues {
        /// In queues.
        found: usize,
        /// In all.
        expected: usize,
    },
    /// Strategies' lists that are not whole.
    #[error("{found} of {expected} orders of strategies are in the lists of their strategies")]
    Peers {
        /// In lists.
        found: usize,
        /// In all.
        expected: usize,
    },
}

/// The latest message is of a call auction.
const AUCTION: u32 = 1;
/// A cross has traded: a quote holds it.
const CROSSED: u32 = 2;
/// Own orders took quoted quantity: a second quote with it follows the rest of the latest one.
const TAKEN: u32 = 4;
/// Continuous trading is announced: see [`Reopening`].
const ANNOUNCED: u32 = 8;
/// It begins when the instant ends.
const DUE: u32 = 16;
/// From this bit on: the number of the phase; zero, which no phase has, is that of continuous trading in states without phases.
const PHASE: u32 = 8;

/// An instrument without its orders.
#[derive(Clone, Debug)]
pub(crate) struct BookState {
    pub(crate) image: BookImage,
    /// Beside quotes: the rest of the latest quote; and the quantities that own orders took, by price. Beside a recorded market: the
    /// latest cross.
    pub(crate) quotes: Vec<Quote>,
}

fn gone(place: u32) -> RecordImage {
    RecordImage {
        reference: 0,
        price: Price::NONE,
        open: Quantity::ZERO,
        quantity: Quantity::ZERO,
        taken: Quantity::ZERO,
        place,
        next: u32::MAX,
        previous: u32::MAX,
        peer_next: u32::MAX,
        peer_previous: u32::MAX,
        account: 0,
        instrument: InstrumentId(0),
        side: Side::Buy,
        owner_kind: 0,
        reserved: [0; 2],
    }
}

impl Engine {
    /// Says from now on which records have changed. The engine is empty yet.
    pub(crate) fn track(&mut self) {
        self.core.arena.orders.track();
    }

    /// Places of records, which [`Engine::image_at`] counts from zero.
    pub(crate) fn places(&self) -> usize {
        self.core.arena.orders.places()
    }

    /// Records that have changed.
    pub(crate) fn changed(&self) -> usize {
        self.core.arena.orders.changed()
    }

    /// Moves up to `most` places of records that have changed into `places`.
    pub(crate) fn take_changed(&mut self, most: usize, places: &mut Vec<u32>) {
        self.core.arena.orders.take_changed(most, places);
    }

    /// The numbers that strategies have used.
    pub(crate) fn used(&self) -> &UsedIds {
        &self.core.own.used
    }

    /// No order may have this number or an older one again.
    pub(crate) fn claim(&mut self, id: OrderId) {
        self.core.own.used.claim(id);
    }

    /// The number of the last trade.
    pub(crate) fn last_trade(&self) -> u64 {
        self.core.last_trade()
    }

    /// The record at a place, used or not.
    pub(crate) fn image_at(&self, place: u32) -> RecordImage {
        let Some(order) = self.core.arena.orders.at(place) else { return gone(place) };
        let account = self.core.accounts.get(&order.id).filter(|_| order.is_own());
        RecordImage {
            reference: order.id,
            price: order.price,
            open: order.open,
            quantity: order.quantity,
            taken: order.taken,
            place,
            next: order.next.number(),
            previous: order.prev.number(),
            peer_next: order.peer_next.number(),
            peer_previous: order.peer_prev.number(),
            account: account.map_or(AccountId::OWN.0, |account| account.0),
            instrument: order.instrument(),
            side: order.side,
            owner_kind: order.kind as u8,
            reserved: [0; 2],
        }
    }

    /// An instrument without its orders.
    pub(crate) fn book_state(&self, instrument: InstrumentId) -> Option<BookState> {
        let book = self.books.get(instrument.0 as usize)?.as_ref()?;
        let quotes = match self.core.options.fill {
            FillModel::Book => book.cross.iter().map(|cross| cross.quote(instrument)).collect(),
            FillModel::Quotes => book.quotes(),
        };
        let flags = [
            (book.auction, AUCTION),
            (book.cross.is_some(), CROSSED),
            (quotes.len() > 1, TAKEN),
            (book.reopening == Reopening::Announced, ANNOUNCED),
            (book.reopening == Reopening::Due, DUE),
        ];
        Some(BookState {
            image: BookImage {
                instrument,
                bits: flags.iter().filter(|(is_set, _)| *is_set).map(|(_, bit)| bit).sum::<u32>()
                    | (book.phase as u32) << PHASE,
                event_time: book.event_time,
                carried: 0,
            },
            quotes,
        })
    }

    /// Puts an instrument, without its orders, where another engine had it. False: it is not listed.
    pub(crate) fn restore_book(&mut self, state: &BookState) -> bool {
        let fill = self.core.options.fill;
        let Some(book) = find(&mut self.books, state.image.instrument) else { return false };
        book.event_time = state.image.event_time;
        let phase = state.image.bits >> PHASE;
        let named = TradingPhase::ALL.into_iter().find(|named| *named as u32 == phase);
        let Some(phase) = named.or((phase == 0).then_some(TradingPhase::Continuous)) else { return false };
        book.phase = phase;
        book.auction = state.image.bits & AUCTION != 0;
        book.reopening = match state.image.bits & (ANNOUNCED | DUE) {
            0 => Reopening::None,
            ANNOUNCED => Reopening::Announced,
            DUE => Reopening::Due,
            _ => return false,
        };
        let is_sound = match (fill, &state.quotes[..]) {
            (FillModel::Book, quotes) => {
                book.cross = quotes.first().and_then(Cross::of_quote);
                quotes.len() == usize::from(state.image.bits & CROSSED != 0)
                    && book.cross.is_some() == (quotes.len() == 1)
            }
            (FillModel::Quotes, quotes) => {
                quotes.len() == if state.image.bits & TAKEN != 0 { 2 } else { 1 } && book.load_quotes(quotes)
            }
        };
        self.note_reopening(state.image.instrument);
        is_sound
    }

    /// Puts the records into an engine that has its instruments and no orders. `images` are in the order of their places,
    /// and only of places that are used. After an error the engine is of no use.
    ///
    /// # Errors
    /// [`ImageError`].
    pub(crate) fn restore_orders(&mut self, places: u32, images: &[RecordImage]) -> Result<(), ImageError> {
        let mut records = Vec::with_capacity(images.len());
        for image in images {
            let order = order(image).filter(|order| self.book(order.instrument()).is_some());
            records.push((image.place, order.ok_or(ImageError::Invalid(image.place))?));
        }
        let empty = Order::new(Kind::Market, 0, InstrumentId(0), Side::Buy, Price::NONE, Quantity::ZERO);
        if !self.core.arena.orders.restore(places, empty, &records) {
            return Err(ImageError::Places);
        }
        let (mut queued, mut listed, mut own) = (0, 0, 0);
        for (place, order) in &records {
            let slot = Slot::numbered(*place);
            let Some(book) = find(&mut self.books, order.instrument()) else { continue };
            if !order.prev.is_some() {
                let ladder = &mut book.half_mut(order.side).ladder;
                queued += ladder.restore_level(&mut self.core.arena, slot).unwrap_or(0);
            }
            if order.is_own() {
                own += 1;
                if !order.peer_prev.is_some() {
                    listed += self.core.own.restore_list(&self.core.arena, slot).unwrap_or(0);
                }
            } else if book.market.insert(order.id, slot).is_some() {
                return Err(ImageError::Invalid(*place));
            }
            book.swept += usize::from(order.kind == Kind::Swept);
        }
        if queued != records.len() {
            return Err(ImageError::Queues { found: queued, expected: records.len() });
        }
        if listed != own || self.core.own.len() != own {
            return Err(ImageError::Peers { found: listed.min(self.core.own.len()), expected: own });
        }
        for (image, _) in images.iter().zip(&records).filter(|(_, (_, order))| order.is_own()) {
            self.core.note_account(OrderId(image.reference), AccountId(image.account));
        }
        Ok(())
    }
}

fn order(image: &RecordImage) -> Option<Order> {
    let kind = match image.owner_kind {
        1 => Kind::Market,
        2 => Kind::Own,
        3 => Kind::OwnPostOnly,
        4 => Kind::Swept,
        5 => Kind::OwnKept,
        6 => Kind::OwnKeptPostOnly,
        _ => return None,
    };
    let is_possible = image.instrument.0 < wire::MAX_INSTRUMENTS
        && image.price.is_some()
        && image.open > Quantity::ZERO
        && image.taken >= Quantity::ZERO
        && image.taken <= image.open
        && match kind {
            Kind::Market => true,
            Kind::Own | Kind::OwnPostOnly | Kind::OwnKept | Kind::OwnKeptPostOnly => {
                image.quantity >= image.open && image.taken == Quantity::ZERO
            }
            Kind::Swept => {
                image.taken == image.open && (Quantity::ZERO..=image.open).contains(&image.quantity)
            }
        };
    is_possible.then(|| {
        let mut order =
            Order::new(kind, image.reference, image.instrument, image.side, image.price, image.open);
        (order.quantity, order.taken) = (image.quantity, image.taken);
        (order.next, order.prev) = (Slot::numbered(image.next), Slot::numbered(image.previous));
        order.peer_next = Slot::numbered(image.peer_next);
        order.peer_prev = Slot::numbered(image.peer_previous);
        order
    })
}

impl Cross {
    /// The cross as a quote: paired and executed quantity of each side.
    fn quote(&self, instrument: InstrumentId) -> Quote {
        let mut quote = Quote { event_time: self.time, ..Quote::empty(instrument) };
        (quote.last_price, quote.last_quantity) = (self.price, self.volume);
        for (side, levels) in [&mut quote.bids, &mut quote.asks].into_iter().enumerate() {
            for (level, quantity) in levels.iter_mut().zip([self.paired[side], self.executed[side]]) {
                *level = Level { price: self.price, quantity };
            }
        }
        quote
    }

    /// What [`Cross::quote`] gave. `None`: such a cross cannot be.
    fn of_quote(quote: &Quote) -> Option<Cross> {
        let sides = [&quote.bids, &quote.asks];
        let [paired, executed] = [0, 1].map(|index| sides.map(|levels| levels[index].quantity));
        let (time, price, volume) = (quote.event_time, quote.last_price, quote.last_quantity);
        let is_sound = [[volume; 2], paired, executed].iter().flatten().all(|one| *one >= Quantity::ZERO);
        is_sound.then_some(Cross { time, price, volume, paired, executed })
    }
}

impl Book {
    /// The rest of the latest quote; and the quantities that own orders took, if any.
    fn quotes(&self) -> Vec<Quote> {
        let quote = |levels: &dyn Fn(&QuotedSide) -> Vec<Level>| {
            let side = |side| {
                let levels = levels(&self.half(side).quoted);
                std::array::from_fn(|index| levels.get(index).copied().unwrap_or(Level::EMPTY))
            };
            Quote { bids: side(Side::Buy), asks: side(Side::Sell), ..Quote::empty(self.instrument) }
        };
        let mut quotes = vec![quote(&|side| side.levels().to_vec())];
        if [Side::Buy, Side::Sell].iter().any(|side| !self.half(*side).quoted.taken().is_empty()) {
            quotes.push(quote(&|side| side.taken().to_vec()));
        }
        quotes
    }

    /// What [`Book::quotes`] gave. False: such levels cannot be.
    fn load_quotes(&mut self, quotes: &[Quote]) -> bool {
        let levels = |quote: &Quote, side| if side == Side::Buy { quote.bids } else { quote.asks };
        [Side::Buy, Side::Sell].into_iter().all(|side| {
            let quoted = &mut self.half_mut(side).quoted;
            let is_sound = quoted.load(&levels(&quotes[0], side));
            if let [_, taken] = quotes {
                quoted.restore_taken(levels(taken, side).into_iter().take_while(Level::is_some));
            }
            is_sound
        })
    }
}
