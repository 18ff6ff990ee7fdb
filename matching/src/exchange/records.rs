//! One working order: one line of the cache. Places are given out again, the last one first, while its line is warm.

use pinning::Block;
use wire::{InstrumentId, Price, Quantity, Side};

use super::event::OrderState;
use super::request::{Lifetime, SelfTrade};

/// The place of an order's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place(pub(crate) u32);

impl Place {
    /// No place.
    pub(crate) const NONE: Place = Place(u32::MAX);

    #[inline(always)]
    pub(crate) fn is_some(self) -> bool {
        self != Place::NONE
    }
}

/// The place of a price level. [`LevelPlace::NONE`]: the order waits outside of the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LevelPlace(pub(crate) u32);

impl LevelPlace {
    /// No level.
    pub(crate) const NONE: LevelPlace = LevelPlace(u32::MAX);

    #[inline(always)]
    pub(crate) fn is_some(self) -> bool {
        self != LevelPlace::NONE
    }
}

/// What is true of an order beside its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flags(u32);

impl Flags {
    const SELL: u32 = 1;
    const POST_ONLY: u32 = 2;
    /// It has a record of its own for what few orders have.
    const EXTRA: u32 = 4;
    /// No limit price.
    const MARKET: u32 = 8;
    /// A stop that was not triggered.
    const STOP: u32 = 16;
    /// A stop that a trade has reached.
    const REACHED: u32 = 32;
    const LIFETIME: u32 = 8;
    const SELF_TRADE: u32 = 16;

    pub(crate) fn new(side: Side, lifetime: Lifetime, self_trade: SelfTrade) -> Flags {
        let lifetime = match lifetime {
            Lifetime::Day => 0,
            Lifetime::GoodTillCancel => 1,
            Lifetime::GoodTillDate(_) => 2,
            Lifetime::ImmediateOrCancel => 3,
            Lifetime::FillOrKill => 4,
            Lifetime::AtTheOpen => 5,
            Lifetime::AtTheClose => 6,
        };
        let self_trade = match self_trade {
            SelfTrade::Allow => 0,
            SelfTrade::CancelNewest => 1,
            SelfTrade::CancelOldest => 2,
            SelfTrade::CancelBoth => 3,
            SelfTrade::Decrement => 4,
        };
        let side = if side == Side::Sell { Flags::SELL } else { 0 };
        Flags(side | lifetime << Flags::LIFETIME | self_trade << Flags::SELF_TRADE)
    }

    #[inline(always)]
    pub(crate) fn side(self) -> Side {
        if self.0 & Flags::SELL == 0 { Side::Buy } else { Side::Sell }
    }

    /// The lifetime, without its date.
    pub(crate) fn span(self) -> Span {
        match self.0 >> Flags::LIFETIME & 7 {
            0 => Span::Day,
            1 => Span::GoodTillCancel,
            2 => Span::GoodTillDate,
            3 => Span::ImmediateOrCancel,
            4 => Span::FillOrKill,
            5 => Span::AtTheOpen,
            _ => Span::AtTheClose,
        }
    }

    #[inline(always)]
    pub(crate) fn self_trade(self) -> SelfTrade {
        match self.0 >> Flags::SELF_TRADE & 7 {
            0 => SelfTrade::Allow,
            1 => SelfTrade::CancelNewest,
            2 => SelfTrade::CancelOldest,
            3 => SelfTrade::CancelBoth,
            _ => SelfTrade::Decrement,
        }
    }

    #[inline(always)]
    fn has(self, bit: u32) -> bool {
        self.0 & bit != 0
    }

    fn set(&mut self, bit: u32, on: bool) {
        self.0 = if on { self.0 | bit } else { self.0 & !bit };
    }

    /// All of them but for where its rest is stored.
    pub(crate) fn bits(self) -> u32 {
        self.0 & !Flags::EXTRA
    }

    /// The flags of these bits; `None` if no order has them.
    pub(crate) fn of_bits(bits: u32) -> Option<Flags> {
        let flags = Flags(bits);
        let known = Flags::SELL | Flags::POST_ONLY | Flags::MARKET | Flags::STOP | Flags::REACHED;
        let known = known | 7 << Flags::LIFETIME | 7 << Flags::SELF_TRADE;
        let ends_at_once = matches!(flags.span(), Span::ImmediateOrCancel | Span::FillOrKill);
        (bits & !known == 0 && !ends_at_once && flags.is_stop() >= flags.is_reached()).then_some(flags)
    }

    #[inline(always)]
    pub(crate) fn is_at_the_close(self) -> bool {
        self.0 >> Flags::LIFETIME & 7 == 6
    }

    pub(crate) fn is_post_only(self) -> bool {
        self.has(Flags::POST_ONLY)
    }

    pub(crate) fn set_post_only(&mut self, on: bool) {
        self.set(Flags::POST_ONLY, on);
    }

    #[inline(always)]
    pub(crate) fn has_extra(self) -> bool {
        self.has(Flags::EXTRA)
    }

    pub(crate) fn set_extra(&mut self, on: bool) {
        self.set(Flags::EXTRA, on);
    }

    pub(crate) fn is_market(self) -> bool {
        self.has(Flags::MARKET)
    }

    pub(crate) fn set_market(&mut self, on: bool) {
        self.set(Flags::MARKET, on);
    }

    pub(crate) fn is_stop(self) -> bool {
        self.has(Flags::STOP)
    }

    pub(crate) fn set_stop(&mut self, on: bool) {
        self.set(Flags::STOP, on);
    }

    pub(crate) fn is_reached(self) -> bool {
        self.has(Flags::REACHED)
    }

    pub(crate) fn set_reached(&mut self, on: bool) {
        self.set(Flags::REACHED, on);
    }
}

/// A [`Lifetime`] without its date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    Day,
    GoodTillCancel,
    GoodTillDate,
    ImmediateOrCancel,
    FillOrKill,
    AtTheOpen,
    AtTheClose,
}

/// A working order.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Record {
    pub(crate) id: u64,
    /// [`Price::NONE`] for a market order.
    pub(crate) price: Price,
    pub(crate) open: i64,
    pub(crate) filled: i64,
    /// The order before it at its price.
    pub(crate) prev: Place,
    /// The order behind it at its price; in a free record, the next free one.
    pub(crate) next: Place,
    pub(crate) level: LevelPlace,
    /// Place of its [`Extra`], if it has one.
    pub(crate) extra: u32,
    pub(crate) account: u32,
    pub(crate) strategy: u16,
    /// Number of its book.
    pub(crate) book: u16,
    /// Which order is older: it grows with every order that comes in or loses its place, and wraps.
    pub(crate) sequence: u32,
    pub(crate) flags: Flags,
}

const _: () = assert!(size_of::<Record>() == 64, "an order is one line of the cache");

impl Record {
    /// The book of a free record.
    pub(crate) const FREE: u16 = u16::MAX;

    /// A free record behind which there is no other.
    const BLANK: Record = Record {
        id: 0,
        price: Price::NONE,
        open: 0,
        filled: 0,
        prev: Place::NONE,
        next: Place::NONE,
        level: LevelPlace::NONE,
        extra: u32::MAX,
        account: 0,
        strategy: 0,
        book: Record::FREE,
        sequence: 0,
        flags: Flags(0),
    };

    /// What is reported about it. `shown` is what the book shows of it.
    #[inline(always)]
    pub(crate) fn state(&self, instrument: InstrumentId, shown: i64) -> OrderState {
        OrderState {
            id: self.id,
            instrument,
            side: self.flags.side(),
            account: wire::AccountId(self.account),
            strategy: wire::StrategyId(self.strategy),
            price: self.price,
            filled: Quantity(self.filled),
            open: Quantity(self.open),
            shown: Quantity(shown),
        }
    }
}

/// What few orders have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extra {
    /// How much an iceberg shows at a time; zero: all.
    pub(crate) display: i64,
    /// How much of it is shown now.
    pub(crate) shown: i64,
    /// What a stop waits for, in steps of the price.
    pub(crate) trigger: i64,
    /// When it ends; `u64::MAX`: by no date.
    pub(crate) ends: u64,
    /// With `turn` not zero: it went behind the others at its price when the order of this sequence was the youngest.
    pub(crate) behind: u32,
    /// Of those that did so, the which. Zero: it did when it came in.
    pub(crate) turn: u32,
    /// The next free one, in a free one.
    next: u32,
}

impl Extra {
    pub(crate) fn new(display: i64, trigger: i64, ends: u64) -> Extra {
        Extra { display, shown: 0, trigger, ends, behind: 0, turn: 0, next: u32::MAX }
    }
}

/// The records of all orders.
#[derive(Debug)]
pub(crate) struct Records {
    records: Block<Record>,
    free: Place,
    extras: Vec<Extra>,
    free_extra: u32,
}

impl Records {
    pub(crate) fn with_capacity(orders: usize, huge_pages: bool) -> Records {
        Records {
            records: Block::with_capacity(orders, huge_pages),
            free: Place::NONE,
            extras: Vec::new(),
            free_extra: u32::MAX,
        }
    }

    /// Places that were given out so far.
    pub(crate) fn places(&self) -> usize {
        self.records.len()
    }

    /// Whether an order is at this place.
    pub(crate) fn is_used(&self, place: Place) -> bool {
        self.records.get(place.0 as usize).is_some_and(|record| record.book != Record::FREE)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.records.len() * size_of::<Record>() + self.extras.len() * size_of::<Extra>()
    }

    pub(crate) fn is_huge(&self) -> bool {
        self.records.is_huge()
    }

    /// Whether another order can be stored.
    #[inline(always)]
    pub(crate) fn has_room(&mut self) -> bool {
        self.free.is_some() || self.extend()
    }

    /// Makes one more record; false where no place is left.
    #[cold]
    #[inline(never)]
    fn extend(&mut self) -> bool {
        if self.records.len() >= u32::MAX as usize {
            return false;
        }
        self.free = Place(self.records.len() as u32);
        self.records.push(Record::BLANK);
        true
    }

    /// Stores an order; the caller has asked [`Records::has_room`].
    #[inline(always)]
    pub(crate) fn insert(&mut self, record: Record) -> Place {
        let place = self.take();
        self.records[place.0 as usize] = record;
        place
    }

    /// A record that the caller fills, all but `extra`, which an order without one does not use; the caller has asked
    /// [`Records::has_room`]. Field by field: a record that is made elsewhere and copied waits for its small stores to be read
    /// as large ones.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> Place {
        let place = self.free;
        self.free = self.records[place.0 as usize].next;
        place
    }

    /// Gives an order's place back, which has no extra.
    #[inline(always)]
    pub(crate) fn give_back(&mut self, place: Place) {
        let record = &mut self.records[place.0 as usize];
        (record.next, record.book) = (self.free, Record::FREE);
        self.free = place;
    }

    /// Gives an order's place back, and that of its extra.
    #[inline(always)]
    pub(crate) fn remove(&mut self, place: Place) {
        let record = &self.records[place.0 as usize];
        let (has_extra, extra) = (record.flags.has_extra(), record.extra);
        self.give_back(place);
        if has_extra {
            self.remove_extra(extra);
        }
    }

    pub(crate) fn insert_extra(&mut self, extra: Extra) -> u32 {
        if self.free_extra == u32::MAX {
            self.extras.push(extra);
            return (self.extras.len() - 1) as u32;
        }
        let place = self.free_extra;
        self.free_extra = self.extras[place as usize].next;
        self.extras[place as usize] = extra;
        place
    }

    pub(crate) fn remove_extra(&mut self, place: u32) {
        self.extras[place as usize].next = self.free_extra;
        self.free_extra = place;
    }

    pub(crate) fn extra(&self, record: &Record) -> Option<&Extra> {
        record.flags.has_extra().then(|| &self.extras[record.extra as usize])
    }

    pub(crate) fn extra_mut(&mut self, record: &Record) -> Option<&mut Extra> {
        record.flags.has_extra().then(|| &mut self.extras[record.extra as usize])
    }

    /// How much of an order in the book is shown.
    #[inline(always)]
    pub(crate) fn shown(&self, record: &Record) -> i64 {
        match self.extra(record) {
            Some(extra) if extra.display > 0 => extra.shown,
            _ => record.open,
        }
    }

    /// All working orders, in no order that means anything.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Place, &Record)> {
        let places = self.records.iter().enumerate().map(|(place, record)| (Place(place as u32), record));
        places.filter(|(_, record)| record.book != Record::FREE)
    }
}

impl std::ops::Index<Place> for Records {
    type Output = Record;
    #[inline(always)]
    fn index(&self, place: Place) -> &Record {
        &self.records[place.0 as usize]
    }
}

impl std::ops::IndexMut<Place> for Records {
    #[inline(always)]
    fn index_mut(&mut self, place: Place) -> &mut Record {
        &mut self.records[place.0 as usize]
    }
}
