//! New orders, cancels and replaces.

use wire::{Price, Quantity, Reason};

use super::book::Book;
use super::check;
use super::core::{Core, Incoming};
use super::event::{Event, Refusal, Sink};
use super::phase::{Auction, Phase, auction_of};
use super::records::{LevelPlace, Place, Span};
use super::request::{Order, Replace};

impl Core {
    /// A new order for a listed instrument.
    #[inline(always)]
    pub(crate) fn submit<S: Sink>(&mut self, book: &mut Book, order: &Order, sink: &mut S) {
        if !self.rest_at_once(book, order, sink) && !self.trade_at_once(book, order, sink) {
            self.submit_any(book, order, sink);
        }
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

    /// A cancel of any order by its owner.
    #[inline(never)]
    pub(crate) fn cancel_any<S: Sink>(&mut self, books: &mut [Book], id: u64, sink: &mut S) {
        let Some(place) = self.find(id) else {
            return refuse(id, Refusal::Cancel, Reason::UnknownOrder, sink);
        };
        let book = &mut books[usize::from(self.records[place].book)];
        if !book.permission.cancel {
            return refuse(id, Refusal::Cancel, Reason::MarketClosed, sink);
        }
        self.end(book, place, Reason::Requested, sink);
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
            return sink.event(Event::Replaced(state, None));
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
        sink.event(Event::Replaced(incoming.record.state(book.id, shown), Some(record.price)));
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
        let from = (!same).then_some(record.price);
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
        sink.event(Event::Replaced(state, from));
    }
}

/// Reports that a request about an order was refused.
pub(crate) fn refuse<S: Sink>(id: u64, refused: Refusal, reason: Reason, sink: &mut S) {
    sink.event(Event::Refused { id, refused, reason });
}
