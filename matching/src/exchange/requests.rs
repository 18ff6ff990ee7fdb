//! New orders, cancels and replaces.

use wire::{Price, Quantity, Reason};

use super::book::{Book, rank};
use super::check;
use super::core::{Core, Incoming};
use super::event::{Event, Refusal, Sink};
use super::index::{Entry, hash};
use super::phase::{Auction, Phase, auction_of};
use super::records::{LevelPlace, Place, Span};
use super::request::{Kind, Order, Replace};

impl Core {
    /// A new order for a listed instrument.
    #[inline(always)]
    pub(crate) fn submit<S: Sink>(&mut self, book: &mut Book, order: &Order, sink: &mut S) {
        if !self.submit_plain(book, order, sink) {
            self.submit_any(book, order, sink);
        }
    }

    /// Most orders: a limit order for the day that rests at once. False, and nothing done, for every other.
    #[inline(always)]
    fn submit_plain<S: Sink>(&mut self, book: &mut Book, order: &Order, sink: &mut S) -> bool {
        let Kind::Limit(price) = order.kind else { return false };
        if !check::is_plain(order) || book.phase != Phase::Continuous || !book.permission.enter {
            return false;
        }
        let Some(tick) = book.grid.tick(price) else { return false };
        let allowed = tick >= book.low && tick <= book.high && price.is_some();
        if !allowed || check::quantity(book, order.quantity).is_err() {
            return false;
        }
        let crosses = book.side(order.side.opposite()).best_rank >= rank(order.side.opposite(), tick);
        let records = &self.records;
        let found = self.numbers.probe(hash(order.id), |place| records[place].id == order.id);
        let Err(entry) = found else { return false };
        if crosses {
            return false;
        }
        let mut record = check::record(book, order);
        record.sequence = self.sequence.wrapping_add(1);
        let rests = self.rest_plain(book, record, rank(order.side, tick), entry, sink);
        self.sequence = self.sequence.wrapping_add(u32::from(rests));
        rests
    }

    /// An order of any kind.
    #[inline(never)]
    fn submit_any<S: Sink>(&mut self, book: &mut Book, order: &Order, sink: &mut S) {
        if self.find(order.id).is_some() {
            return sink.event(Event::Rejected(*order, Reason::DuplicateOrder));
        }
        let mut incoming = match check::order(book, order, self.now) {
            Ok(incoming) => incoming,
            Err(reason) => return sink.event(Event::Rejected(*order, reason)),
        };
        incoming.record.sequence = self.next_sequence();
        sink.event(Event::Accepted(incoming.record.state(book.id, 0)));
        if incoming.record.flags.is_stop() {
            return self.accept_stop(book, &incoming, sink);
        }
        let at_the_close = incoming.record.flags.span() == Span::AtTheClose;
        if at_the_close && auction_of(book.phase) != Some(Auction::Closing) {
            return self.wait(book, &incoming, sink);
        }
        self.run(book, &mut incoming, sink);
        self.after_trades(book, sink);
    }

    /// A cancel of a working order by its owner.
    #[inline(always)]
    pub(crate) fn cancel<S: Sink>(&mut self, book: &mut Book, place: Place, entry: Entry, sink: &mut S) {
        if !book.permission.cancel {
            let id = self.records[place].id;
            return refuse(id, Refusal::Cancel, Reason::MarketClosed, sink);
        }
        self.end_found(book, place, entry, Reason::Requested, sink);
    }

    /// A replace of a working order.
    pub(crate) fn replace<S: Sink>(
        &mut self,
        book: &mut Book,
        place: Place,
        request: &Replace,
        sink: &mut S,
    ) {
        let refuse = |reason, sink: &mut S| refuse(request.id, Refusal::Replace, reason, sink);
        if !(book.permission.enter && book.permission.cancel) {
            return refuse(Reason::MarketClosed, sink);
        }
        if let Err(reason) = check::quantity(book, request.quantity) {
            return refuse(reason, sink);
        }
        let record = self.records[place];
        let display = self.records.extra(&record).map_or(0, |extra| extra.display);
        if let Err(reason) = check::parts(request.quantity, Quantity(display)) {
            return refuse(reason, sink);
        }
        if request.quantity.0 <= record.filled {
            return self.end(book, place, Reason::Requested, sink);
        }
        let price = if record.price.is_some() { request.price } else { Price::NONE };
        if record.price.is_some()
            && let Err(reason) = check::price_of(book, price)
        {
            return refuse(reason, sink);
        }
        let open = request.quantity.0 - record.filled;
        let same = price == record.price && open <= record.open;
        if !record.level.is_some() {
            return self.replace_waiting(book, place, price, open, same, sink);
        }
        if same && book.market.replace_keeps_place {
            let shown = self.shrink(place, open);
            let state = self.records[place].state(book.id, shown);
            return sink.event(Event::Replaced(state, true));
        }
        let mut changed = Incoming { record, extra: None, minimum: 0 };
        changed.record.price = price;
        let post_only = record.flags.is_post_only() && book.phase == Phase::Continuous;
        if post_only && Core::would_trade(book, &changed) {
            return refuse(Reason::WouldTrade, sink);
        }
        let shown = self.records.shown(&record);
        let mut incoming = self.take_out(book, place);
        (incoming.record.price, incoming.record.open) = (price, open);
        incoming.record.sequence = self.next_sequence();
        sink.event(Event::Replaced(incoming.record.state(book.id, shown), false));
        self.run(book, &mut incoming, sink);
        self.after_trades(book, sink);
    }

    fn replace_waiting<S: Sink>(
        &mut self,
        book: &mut Book,
        place: Place,
        price: Price,
        open: i64,
        same: bool,
        sink: &mut S,
    ) {
        debug_assert_eq!(self.records[place].level, LevelPlace::NONE);
        let sequence = if same { self.records[place].sequence } else { self.next_sequence() };
        let record = &mut self.records[place];
        (record.price, record.open, record.sequence) = (price, open, sequence);
        let state = record.state(book.id, 0);
        if !same && let Some(at) = book.at_the_close.iter().position(|waiting| *waiting == place) {
            let moved = book.at_the_close.remove(at);
            book.at_the_close.push(moved);
        }
        if !same && let Some(at) = book.reached.iter().position(|waiting| *waiting == place) {
            book.reached.remove(at);
            book.reached.push_back(place);
        }
        sink.event(Event::Replaced(state, same));
    }
}

/// Reports that a request about an order was refused.
pub(crate) fn refuse<S: Sink>(id: u64, refused: Refusal, reason: Reason, sink: &mut S) {
    sink.event(Event::Refused { id, refused, reason });
}
