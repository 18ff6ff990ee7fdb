//! What all books share, and what every rule is built from: orders come to rest, trade, and leave.

use std::collections::BTreeSet;

use wire::{AccountId, Aggressor, Price, Quantity, Reason, Side};

use super::ExchangeOptions;
use super::book::{Book, rank, side_index};
use super::event::{Event, OrderState, Sink, Trade};
use super::index::{Numbers, hash};
use super::levels::Levels;
use super::records::{Extra, LevelPlace, Place, Record, Records, Span};
use super::rules::{IcebergRefresh, Owner};

/// Everything but the books themselves.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) records: Records,
    pub(crate) levels: Levels,
    pub(crate) numbers: Numbers,
    /// Good-till-date orders by the time at which they end.
    pub(crate) ends: BTreeSet<(u64, Place)>,
    pub(crate) trades: u64,
    /// Of the order that came in last.
    pub(crate) sequence: u32,
    /// The last turn that was taken ([`Core::take_turn`]): with which youngest order, and its number.
    pub(crate) turned: (u32, u32),
    pub(crate) now: u64,
    /// A volatility auction has begun since the last [`Exchange::advance`](super::Exchange::advance).
    pub(crate) interrupted: bool,
}

/// An order that is not in the book: it comes in, was triggered, or was replaced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    pub(crate) record: Record,
    pub(crate) extra: Option<Extra>,
    /// How much it must trade at once.
    pub(crate) minimum: i64,
}

impl Incoming {
    #[inline(always)]
    pub(crate) fn side(&self) -> Side {
        self.record.flags.side()
    }
}

impl Core {
    pub(crate) fn new(options: ExchangeOptions) -> Core {
        Core {
            records: Records::with_capacity(options.expected_orders, options.huge_pages),
            levels: Levels::new(options.huge_pages),
            numbers: Numbers::new(),
            ends: BTreeSet::new(),
            trades: 0,
            sequence: 0,
            turned: (0, 0),
            now: 0,
            interrupted: false,
        }
    }

    #[inline(always)]
    pub(crate) fn next_sequence(&mut self) -> u32 {
        self.sequence = self.sequence.wrapping_add(1);
        self.sequence
    }

    /// How many orders came in since: the oldest has the greatest age.
    pub(crate) fn age(&self, place: Place) -> u32 {
        self.sequence.wrapping_sub(self.records[place].sequence)
    }

    #[inline(always)]
    pub(crate) fn find(&self, id: u64) -> Option<Place> {
        self.numbers.find(hash(id), |place| self.records[place].id == id).map(|(place, _)| place)
    }

    /// An order as it stands.
    #[inline(always)]
    pub(crate) fn state(&self, book: &Book, place: Place) -> OrderState {
        let record = &self.records[place];
        let shown = if record.level.is_some() { self.records.shown(record) } else { 0 };
        record.state(book.id, shown)
    }

    /// Whether two orders must not trade with each other, as far as their owners go.
    #[inline(always)]
    pub(crate) fn same_owner(owner: Owner, a: &Record, b: &Record) -> bool {
        match owner {
            Owner::Strategy => a.strategy == b.strategy,
            // An own account is one for each strategy.
            Owner::Account => {
                a.account == b.account && (a.account != AccountId::OWN.0 || a.strategy == b.strategy)
            }
        }
    }

    /// An order that was stored is found by its number from now on.
    fn enter(&mut self, id: u64, place: Place) {
        let records = &self.records;
        self.numbers.insert(hash(id), place, |place| hash(records[place].id));
    }

    /// Stores an order that is in no level yet.
    pub(crate) fn store(&mut self, incoming: &Incoming) -> Place {
        let mut record = incoming.record;
        if let Some(extra) = incoming.extra {
            record.extra = self.records.insert_extra(extra);
            record.flags.set_extra(true);
        }
        let place = self.records.insert(record);
        self.enter(record.id, place);
        if let Some(extra) = incoming.extra
            && extra.ends != u64::MAX
        {
            self.ends.insert((extra.ends, place));
        }
        place
    }

    /// Puts an order into the book, behind all others at its price; without room it is cancelled.
    #[inline(always)]
    pub(crate) fn rest<S: Sink>(&mut self, book: &mut Book, incoming: &mut Incoming, sink: &mut S) {
        let shown = match &mut incoming.extra {
            Some(extra) if extra.display > 0 => {
                extra.shown = extra.display.min(incoming.record.open);
                extra.shown
            }
            _ => incoming.record.open,
        };
        // At the beginning of the closing auction, orders go behind others that came in later.
        if incoming.record.sequence != self.sequence || incoming.record.flags.is_at_the_close() {
            let mut extra = incoming.extra.unwrap_or(Extra::new(0, 0, u64::MAX));
            self.take_turn(&mut extra);
            incoming.extra = Some(extra);
        } else if let Some(extra) = &mut incoming.extra {
            extra.turn = 0;
        }
        if self.enqueue(book, incoming, shown).is_none() {
            return sink.event(Event::Cancelled(incoming.record.state(book.id, 0), Reason::Overload));
        }
        sink.event(Event::Rested(incoming.record.state(book.id, shown)));
    }

    /// Puts an order behind all others at its price; `None` where there is no room.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, book: &mut Book, incoming: &mut Incoming, shown: i64) -> Option<()> {
        let side = incoming.side();
        let level = self.place_for(book, &incoming.record)?;
        let tail = self.levels[level].tail;
        let record = &mut incoming.record;
        (record.level, record.prev, record.next) = (level, tail, Place::NONE);
        let place = if incoming.extra.is_some() {
            self.store(incoming)
        } else {
            let place = self.records.insert(incoming.record);
            self.enter(incoming.record.id, place);
            place
        };
        self.link_behind(tail, level, place);
        let entry = &mut self.levels[level];
        entry.shown += shown;
        entry.hidden += incoming.record.open - shown;
        entry.orders += 1;
        if entry.orders == 1 && !incoming.record.flags.is_market() {
            let tick = book.grid.tick(incoming.record.price).unwrap_or_default();
            book.side_mut(side).filled(&mut self.levels, rank(side, tick), level);
        }
        Some(())
    }

    #[inline(always)]
    fn link_behind(&mut self, tail: Place, level: LevelPlace, place: Place) {
        if tail.is_some() {
            self.records[tail].next = place;
        } else {
            self.levels[level].head = place;
        }
        self.levels[level].tail = place;
    }

    /// The level for an order; `None` where there is no room.
    #[inline(always)]
    fn place_for(&mut self, book: &mut Book, record: &Record) -> Option<LevelPlace> {
        if !self.records.has_room() {
            return None;
        }
        let side = record.flags.side();
        let level = if record.flags.is_market() {
            book.queue_mut(&mut self.levels, side)?
        } else {
            let tick = book.grid.tick(record.price)?;
            book.side_mut(side).level(&mut self.levels, rank(side, tick))?
        };
        let entry = &self.levels[level];
        // Hidden parts are shown later: their sum must fit as well.
        entry.shown.checked_add(entry.hidden)?.checked_add(record.open)?;
        Some(level)
    }

    /// Takes an order out of its queue; the level goes with the last one.
    #[inline(always)]
    fn unlink(&mut self, book: &mut Book, place: Place) {
        let record = &self.records[place];
        let (prev, next, level, open) = (record.prev, record.next, record.level, record.open);
        let (flags, shown) = (record.flags, self.records.shown(record));
        if prev.is_some() {
            self.records[prev].next = next;
        } else {
            self.levels[level].head = next;
        }
        if next.is_some() {
            self.records[next].prev = prev;
        } else {
            self.levels[level].tail = prev;
        }
        let entry = &mut self.levels[level];
        entry.shown -= shown;
        entry.hidden -= open - shown;
        entry.orders -= 1;
        if entry.orders == 0 && !flags.is_market() {
            book.side_mut(flags.side()).emptied(&mut self.levels, level);
        }
    }

    /// Takes an order out of the book, or from where it waits, and forgets it.
    #[inline(always)]
    pub(crate) fn remove(&mut self, book: &mut Book, place: Place) {
        if self.records[place].level.is_some() {
            self.unlink(book, place);
        } else {
            self.stop_waiting(book, place);
        }
        self.forget(place);
    }

    #[inline(always)]
    fn forget(&mut self, place: Place) {
        let record = &self.records[place];
        let id = record.id;
        if let Some(extra) = self.records.extra(record)
            && extra.ends != u64::MAX
        {
            self.ends.remove(&(extra.ends, place));
        }
        self.numbers.remove(hash(id), place);
        self.records.remove(place);
    }

    /// As [`Core::remove`], and returns the order as one that comes in.
    pub(crate) fn take_out(&mut self, book: &mut Book, place: Place) -> Incoming {
        let mut record = self.records[place];
        let extra = self.records.extra(&record).copied();
        self.remove(book, place);
        record.level = LevelPlace::NONE;
        record.flags.set_extra(false);
        Incoming { record, extra, minimum: 0 }
    }

    /// Ends an order that works.
    #[inline(always)]
    pub(crate) fn end<S: Sink>(&mut self, book: &mut Book, place: Place, reason: Reason, sink: &mut S) {
        let state = self.state(book, place);
        self.remove(book, place);
        sink.event(Event::Cancelled(state, reason));
    }

    /// Ends these orders, the oldest first.
    pub(crate) fn end_all<S: Sink>(
        &mut self,
        book: &mut Book,
        mut places: Vec<Place>,
        reason: Reason,
        sink: &mut S,
    ) {
        places.sort_by_key(|place| std::cmp::Reverse(self.age(*place)));
        for place in places {
            self.end(book, place, reason, sink);
        }
    }

    /// Lets an order wait outside of the book; without room it is cancelled.
    pub(crate) fn wait<S: Sink>(&mut self, book: &mut Book, incoming: &Incoming, sink: &mut S) {
        if !self.store_waiting(book, incoming) {
            sink.event(Event::Cancelled(incoming.record.state(book.id, 0), Reason::Overload));
        }
    }

    fn stop_waiting(&mut self, book: &mut Book, place: Place) {
        let record = self.records[place];
        if record.flags.is_reached() {
            book.reached.retain(|waiting| *waiting != place);
        } else if record.flags.is_stop() {
            let trigger = self.records.extra(&record).map_or(0, |extra| extra.trigger);
            book.stops[side_index(record.flags.side())].remove(&(trigger, place));
        } else {
            book.at_the_close.retain(|waiting| *waiting != place);
        }
    }

    /// A resting order trades; what follows from it is [`Core::settle`].
    #[inline(always)]
    pub(crate) fn fill(&mut self, place: Place, quantity: i64) -> (Record, i64) {
        let record = &mut self.records[place];
        record.open -= quantity;
        record.filled += quantity;
        let record = *record;
        self.levels[record.level].shown -= quantity;
        let shown = match self.records.extra_mut(&record) {
            Some(extra) if extra.display > 0 => {
                extra.shown -= quantity;
                extra.shown
            }
            _ => record.open,
        };
        (record, shown)
    }

    /// After a trade: a filled order leaves, and an iceberg shows its next part.
    #[inline(always)]
    pub(crate) fn settle<S: Sink>(
        &mut self,
        book: &mut Book,
        place: Place,
        record: &Record,
        shown: i64,
        sink: &mut S,
    ) {
        if record.open == 0 {
            self.remove(book, place);
        } else if shown == 0 {
            self.refresh(book, place, sink);
        }
    }

    #[cold]
    #[inline(never)]
    fn refresh<S: Sink>(&mut self, book: &mut Book, place: Place, sink: &mut S) {
        let record = self.records[place];
        let level = record.level;
        let Some(extra) = self.records.extra_mut(&record) else { return };
        extra.shown = extra.display.min(record.open);
        let shown = extra.shown;
        self.levels[level].shown += shown;
        self.levels[level].hidden -= shown;
        let behind = book.market.iceberg == IcebergRefresh::Behind;
        if behind && record.next.is_some() {
            if record.prev.is_some() {
                self.records[record.prev].next = record.next;
            } else {
                self.levels[level].head = record.next;
            }
            self.records[record.next].prev = record.prev;
            let tail = self.levels[level].tail;
            (self.records[place].prev, self.records[place].next) = (tail, Place::NONE);
            self.link_behind(tail, level, place);
            let mut turned = self.records.extra(&record).copied().unwrap_or(Extra::new(0, 0, u64::MAX));
            self.take_turn(&mut turned);
            if let Some(extra) = self.records.extra_mut(&record) {
                *extra = turned;
            }
        }
        sink.event(Event::Refreshed(record.state(book.id, shown), behind));
    }

    /// Makes the open quantity of an order in the book smaller. It keeps its place.
    pub(crate) fn shrink(&mut self, place: Place, open: i64) -> i64 {
        let record = self.records[place];
        let before = self.records.shown(&record);
        self.records[place].open = open;
        let shown = match self.records.extra_mut(&record) {
            Some(extra) if extra.display > 0 => {
                extra.shown = extra.shown.min(open);
                extra.shown
            }
            _ => open,
        };
        let level = &mut self.levels[record.level];
        level.hidden += (open - shown) - (record.open - before);
        level.shown += shown - before;
        shown
    }

    #[inline(always)]
    pub(crate) fn trade(
        &mut self,
        price: Price,
        quantity: i64,
        aggressor: Aggressor,
        buy: OrderState,
        sell: OrderState,
    ) -> Trade {
        self.trades = self.trades.wrapping_add(1);
        Trade { id: self.trades, price, quantity: Quantity(quantity), aggressor, buy, sell }
    }
}

impl Span {
    /// Whether what is left of an order goes into the book.
    #[inline(always)]
    pub(crate) fn rests(self) -> bool {
        !matches!(self, Span::ImmediateOrCancel | Span::FillOrKill)
    }
}
