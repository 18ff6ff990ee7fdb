//! The short ways: what most requests are, without the questions that they need not be asked. Each is tried first and
//! returns false, with nothing done and nothing reported, where the request or the book is any other; then the long way does
//! it, by the same rules.

use wire::{Price, Reason};

use super::book::{Book, rank};
use super::check;
use super::core::{Core, Incoming};
use super::event::{Event, Sink};
use super::index::hash;
use super::records::{Flags, LevelPlace, Place, Record};
use super::request::{Kind, Lifetime, Order};

impl Core {
    /// A limit order for the day that rests at once.
    #[inline(always)]
    pub(crate) fn rest_at_once<S: Sink>(&mut self, book: &mut Book, order: &Order, sink: &mut S) -> bool {
        let Kind::Limit(price) = order.kind else { return false };
        if !book.is_open || !check::is_plain(order) || check::quantity(book, order.quantity).is_err() {
            return false;
        }
        let Some(tick) = book.grid.tick_within(price, book.low, book.high) else { return false };
        if book.side(order.side.opposite()).best_rank >= rank(order.side.opposite(), tick) {
            return false;
        }
        let hash = hash(order.id);
        let rank = rank(order.side, tick);
        let (Some(entry), look) = self.numbers.vacant(hash) else { return false };
        if look && self.is_known(order.id) {
            return false;
        }
        let Some(level) = book.side_mut(order.side).level(&mut self.levels, rank) else { return false };
        let at = &mut self.levels[level];
        // What rests there fits by itself.
        let fits = (at.shown + at.hidden).checked_add(order.quantity.0).is_some();
        if !fits || !self.records.has_room() {
            return false;
        }
        self.sequence = self.sequence.wrapping_add(1);
        let place = self.records.take();
        let record = &mut self.records[place];
        let tail = at.tail;
        record.id = order.id;
        record.price = price;
        record.open = order.quantity.0;
        record.filled = 0;
        record.prev = tail;
        record.next = Place::NONE;
        record.level = level;
        record.account = order.account.0;
        record.strategy = order.strategy.0;
        record.book = book.number;
        record.sequence = self.sequence;
        record.flags =
            Flags::new(order.side, Lifetime::Day, order.self_trade.unwrap_or(book.market.self_trade));
        at.tail = place;
        at.shown += order.quantity.0;
        at.orders += 1;
        sink.event(Event::Accepted(record.state(book.id, 0)));
        sink.event(Event::Rested(record.state(book.id, order.quantity.0)));
        self.numbers.put_at(entry, hash, place);
        if tail.is_some() {
            self.records[tail].next = place;
        } else {
            at.head = place;
            book.side_mut(order.side).filled(&mut self.levels, rank, level);
        }
        true
    }

    /// A limit order for the day, or a limit or market order that is immediate-or-cancel, which trades at once.
    #[inline(always)]
    pub(crate) fn trade_at_once<S: Sink>(&mut self, book: &mut Book, order: &Order, sink: &mut S) -> bool {
        let plain = (order.display.0 | order.minimum.0 == 0) & !order.post_only;
        let at_once = order.lifetime == Lifetime::ImmediateOrCancel;
        if !book.is_open || !plain || check::quantity(book, order.quantity).is_err() {
            return false;
        }
        let other = order.side.opposite();
        let (price, reach) = match order.kind {
            Kind::Limit(price) if at_once || order.lifetime == Lifetime::Day => {
                let Some(tick) = book.grid.tick_within(price, book.low, book.high) else { return false };
                (price, rank(other, tick))
            }
            Kind::Market if at_once => (Price::NONE, i64::MIN),
            _ => return false,
        };
        let opposite = book.side(other);
        if !opposite.best.is_some() || opposite.best_rank < reach {
            return false;
        }
        if self.numbers.vacant(hash(order.id)).1 && self.is_known(order.id) {
            return false;
        }
        self.sequence = self.sequence.wrapping_add(1);
        let mut flags =
            Flags::new(order.side, order.lifetime, order.self_trade.unwrap_or(book.market.self_trade));
        flags.set_market(!price.is_some());
        let record = Record {
            id: order.id,
            price,
            open: order.quantity.0,
            filled: 0,
            prev: Place::NONE,
            next: Place::NONE,
            level: LevelPlace::NONE,
            extra: u32::MAX,
            account: order.account.0,
            strategy: order.strategy.0,
            book: book.number,
            sequence: self.sequence,
            flags,
        };
        sink.event(Event::Accepted(record.state(book.id, 0)));
        let mut incoming = Incoming { record, extra: None, minimum: 0 };
        self.cross(book, &mut incoming, reach, sink);
        self.after_trades(book, sink);
        true
    }

    #[cold]
    #[inline(never)]
    fn is_known(&self, id: u64) -> bool {
        self.find(id).is_some()
    }

    /// A cancel of an order in the book that has nothing special.
    #[inline(always)]
    pub(crate) fn cancel_at_once<S: Sink>(&mut self, books: &mut [Book], id: u64, sink: &mut S) -> bool {
        let Some((place, entry)) = self.numbers.first(hash(id)) else { return false };
        let record = &self.records[place];
        if record.id != id || record.flags.has_extra() || !record.level.is_some() {
            return false;
        }
        let Some(book) = books.get_mut(usize::from(record.book)) else { return false };
        if !book.permission.cancel {
            return false;
        }
        sink.event(Event::Cancelled(record.state(book.id, record.open), Reason::Requested));
        self.numbers.clear_at(entry);
        self.unlink_shown(book, place);
        self.records.give_back(place);
        true
    }

    /// Takes an order that shows all of its quantity out of its queue; the level goes with the last one.
    #[inline(always)]
    pub(crate) fn unlink_shown(&mut self, book: &mut Book, place: Place) {
        let record = &self.records[place];
        let (prev, next, level, open, flags) =
            (record.prev, record.next, record.level, record.open, record.flags);
        let at = &mut self.levels[level];
        at.shown -= open;
        at.orders -= 1;
        match next.is_some() {
            true => self.records[next].prev = prev,
            false => at.tail = prev,
        }
        if prev.is_some() {
            self.records[prev].next = next;
            return;
        }
        at.head = next;
        if !next.is_some() && !flags.is_market() {
            book.side_mut(flags.side()).emptied(&mut self.levels, level);
        }
    }
}
