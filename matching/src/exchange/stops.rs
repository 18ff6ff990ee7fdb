//! Stop orders: they wait outside of the book until a trade reaches their trigger.

use wire::Side;

use super::book::{Book, Touched, side_index};
use super::core::{Core, Incoming};
use super::event::{Event, Sink};
use super::phase::Phase;
use super::records::Place;

impl Core {
    /// A stop comes in. The last price may have reached it already.
    #[cold]
    pub(crate) fn accept_stop<S: Sink>(&mut self, book: &mut Book, incoming: &Incoming, sink: &mut S) {
        let waiting = self.numbers.len();
        self.wait(book, incoming, sink);
        if self.numbers.len() == waiting || !book.last.is_some() {
            return;
        }
        let last = book.grid.tick(book.last).unwrap_or_default();
        let side = incoming.side();
        let trigger = incoming.extra.map_or(0, |extra| extra.trigger);
        let is_reached = match side {
            Side::Buy => last >= trigger,
            Side::Sell => last <= trigger,
        };
        if is_reached && let Some(place) = self.find(incoming.record.id) {
            book.stops[side_index(side)].remove(&(trigger, place));
            self.records[place].flags.set_reached(true);
            book.reached.push_back(place);
            self.trigger_reached(book, sink);
        }
    }

    /// After a request: the dynamic band moves, and the stops that its trades reached are triggered.
    #[inline(always)]
    pub(crate) fn after_trades<S: Sink>(&mut self, book: &mut Book, sink: &mut S) {
        if book.traded {
            self.note_trades(book);
            if !book.reached.is_empty() {
                self.trigger_reached(book, sink);
            }
        }
    }

    #[inline(always)]
    pub(crate) fn note_trades(&mut self, book: &mut Book) {
        book.traded = false;
        book.set_band();
        let touched = std::mem::replace(&mut book.touched, Touched::NOTHING);
        let something = touched.low <= touched.high;
        if something && (!book.stops[0].is_empty() || !book.stops[1].is_empty()) {
            self.reach(book, touched);
        }
    }

    /// Moves the stops that trades have reached into their queue, the earliest first.
    #[cold]
    fn reach(&mut self, book: &mut Book, touched: Touched) {
        let mut reached: Vec<Place> = Vec::new();
        let buys = &mut book.stops[side_index(Side::Buy)];
        while let Some(&first) = buys.first()
            && first.0 <= touched.high
        {
            buys.remove(&first);
            reached.push(first.1);
        }
        let sells = &mut book.stops[side_index(Side::Sell)];
        while let Some(&last) = sells.last()
            && last.0 >= touched.low
        {
            sells.remove(&last);
            reached.push(last.1);
        }
        reached.sort_by_key(|place| std::cmp::Reverse(self.age(*place)));
        for place in reached {
            self.records[place].flags.set_reached(true);
            book.reached.push_back(place);
        }
    }

    /// Triggers what was reached, one after another, and what that reaches.
    #[cold]
    pub(crate) fn trigger_reached<S: Sink>(&mut self, book: &mut Book, sink: &mut S) {
        while book.phase == Phase::Continuous
            && let Some(&place) = book.reached.front()
        {
            let mut incoming = self.take_out(book, place);
            incoming.record.flags.set_stop(false);
            incoming.record.flags.set_reached(false);
            incoming.record.sequence = self.next_sequence();
            sink.event(Event::Triggered(incoming.record.state(book.id, 0)));
            self.run(book, &mut incoming, sink);
            self.note_trades(book);
        }
    }
}
