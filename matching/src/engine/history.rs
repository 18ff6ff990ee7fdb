//! The market's own order flow: rebuilds its book, and trades with the own orders that stand in its way.

use wire::{BookAction, BookEvent, Price, Quantity, Side};

use super::anomalies::count;
use super::book::Book;
use super::options::Queue;
use super::order::{Kind, Order};
use super::sink::Sink;
use super::slab::Slot;
use super::trading::{Aggression, Core};

impl Core {
    pub(crate) fn apply_event<S: Sink>(&mut self, book: &mut Book, event: &BookEvent, sink: &mut S) {
        // A snapshot adds orders: with anything else it has ended.
        if book.swept > 0 && !matches!(event.action, BookAction::Add | BookAction::Clear) {
            self.drop_swept(book);
        }
        match event.action {
            BookAction::Add => self.add(book, event, sink),
            BookAction::Reduce => self.reduce(book, event),
            BookAction::Delete => match self.find(book, event) {
                Some(slot) => self.remove_market(book, slot),
                None => count(&mut self.anomalies.unknown_deleted),
            },
            BookAction::Execute => self.execute(book, event, sink),
            BookAction::Modify => self.modify(book, event, sink),
            BookAction::Trade => self.unseen_trade(book, event, sink),
            BookAction::Clear => self.clear(book),
        }
    }

    fn find(&mut self, book: &Book, event: &BookEvent) -> Option<Slot> {
        let slot = book.market.get(&event.order_ref).copied()?;
        if self.arena.orders[slot].side != event.side {
            count(&mut self.anomalies.side_mismatch);
        }
        Some(slot)
    }

    fn add<S: Sink>(&mut self, book: &mut Book, event: &BookEvent, sink: &mut S) {
        if !event.price.is_some() {
            return count(&mut self.anomalies.invalid_price);
        }
        if event.quantity <= Quantity::ZERO {
            return count(&mut self.anomalies.invalid_quantity);
        }
        let mut order = Order::new(
            Kind::Market,
            event.order_ref,
            book.instrument,
            event.side,
            event.price,
            event.quantity,
        );
        if let Some(&slot) = book.market.get(&event.order_ref) {
            let before = self.arena.orders[slot];
            if before.kind != Kind::Swept {
                return count(&mut self.anomalies.duplicate_reference);
            }
            order.taken = before.quantity.min(order.open);
            book.swept -= 1;
            if (before.side, before.price) == (order.side, order.price) && order.open <= before.open {
                return self.bring_back(book, slot, order, sink);
            }
            self.remove_market(book, slot);
        }
        self.queue_market(book, order, sink);
    }

    /// A snapshot says that an order is still there which a clear swept away: it has kept its place.
    fn bring_back<S: Sink>(&mut self, book: &mut Book, slot: Slot, order: Order, sink: &mut S) {
        let record = &mut self.arena.orders[slot];
        (record.kind, record.quantity) = (Kind::Market, Quantity::ZERO);
        self.arena.set(slot, order.open, order.taken);
        self.cross_market(book, slot, sink);
    }

    /// Puts a market order behind all others at its price, and lets it trade with the own orders that it crosses.
    fn queue_market<S: Sink>(&mut self, book: &mut Book, order: Order, sink: &mut S) {
        match book.half_mut(order.side).ladder.push_back(&mut self.arena, order) {
            Some(slot) => {
                book.market.insert(order.id, slot);
                self.cross_market(book, slot, sink);
            }
            None => {
                book.market.remove(&order.id);
                count(&mut self.anomalies.no_room);
            }
        }
    }

    /// What a market order newly offers trades first with the own orders on the other side that it reaches.
    fn cross_market<S: Sink>(&mut self, book: &mut Book, slot: Slot, sink: &mut S) {
        if book.auction {
            return;
        }
        let order = self.arena.orders[slot];
        let time = book.event_time;
        let ladder = &mut book.half_mut(order.side.opposite()).ladder;
        let aggression = Aggression {
            floor: ladder.rank(order.price),
            stop: Slot::NONE,
            quantity: order.available(),
            auction: None,
        };
        let filled = self.serve(ladder, aggression, time, sink);
        if filled > Quantity::ZERO {
            self.arena.set(slot, order.open, order.taken + filled);
        }
    }

    fn reduce(&mut self, book: &mut Book, event: &BookEvent) {
        if event.quantity <= Quantity::ZERO {
            return count(&mut self.anomalies.invalid_quantity);
        }
        match self.find(book, event) {
            Some(slot) => self.take_away(book, slot, event.quantity),
            None => count(&mut self.anomalies.unknown_reduced),
        }
    }

    fn execute<S: Sink>(&mut self, book: &mut Book, event: &BookEvent, sink: &mut S) {
        if event.quantity <= Quantity::ZERO {
            return count(&mut self.anomalies.invalid_quantity);
        }
        let Some(slot) = self.find(book, event) else {
            count(&mut self.anomalies.unknown_executed);
            return self.unseen_trade(book, event, sink);
        };
        let order = self.arena.orders[slot];
        if book.auction || event.flags & BookEvent::UNPRINTED != 0 {
            if book.is_crossed_by(event) {
                self.execute_in_cross(book, slot, event, sink);
            }
            return self.take_away(book, slot, event.quantity);
        }
        let (time, is_auction) = (book.event_time, event.price != order.price);
        let queue = if is_auction { Queue::Position } else { self.options.queue };
        let ladder = &mut book.half_mut(order.side).ladder;
        let aggression = Aggression {
            floor: ladder.rank(order.price).saturating_add(i64::from(queue == Queue::Through)),
            stop: if queue == Queue::Touch { Slot::NONE } else { slot },
            quantity: event.quantity.min(order.open),
            // A resting order trades at its own price, except in an auction.
            auction: Some(event.price).filter(|price: &Price| price.is_some() && is_auction),
        };
        self.serve(ladder, aggression, time, sink);
        self.take_away(book, slot, event.quantity);
    }

    /// A trade against an order that is not in the book: a hidden one, or one that rested before the first message.
    fn unseen_trade<S: Sink>(&mut self, book: &mut Book, event: &BookEvent, sink: &mut S) {
        if book.is_crossed_by(event) {
            return self.trade_in_cross(book, event, sink);
        }
        if book.auction {
            return;
        }
        let was_hidden = event.action == BookAction::Trade && event.flags & BookEvent::HIDDEN != 0;
        if event.flags & BookEvent::NO_SIDE != 0 {
            // The side of the hidden order is not known: own orders of both sides at strictly better prices would have been first,
            // each at its own price.
            return self.trade_without_side(book, (event.price, event.quantity), sink);
        }
        let at_price = match self.options.queue {
            Queue::Position => self.options.displayed_first && was_hidden,
            Queue::Through => false,
            Queue::Touch => true,
        };
        self.trade_through(book, event.side, (event.price, event.quantity), at_price, sink);
    }

    fn modify<S: Sink>(&mut self, book: &mut Book, event: &BookEvent, sink: &mut S) {
        if !event.price.is_some() {
            return count(&mut self.anomalies.invalid_price);
        }
        if event.quantity < Quantity::ZERO {
            return count(&mut self.anomalies.invalid_quantity);
        }
        let Some(slot) = self.find(book, event) else {
            count(&mut self.anomalies.unknown_modified);
            return self.add(book, event, sink);
        };
        if event.quantity == Quantity::ZERO {
            return self.remove_market(book, slot);
        }
        let mut order = self.arena.orders[slot];
        let taken = order.taken.min(event.quantity);
        if event.price == order.price && event.flags & BookEvent::LOSES_PRIORITY == 0 {
            self.arena.set(slot, event.quantity, taken);
            return self.cross_market(book, slot, sink);
        }
        book.half_mut(order.side).ladder.remove(&mut self.arena, slot);
        (order.price, order.open, order.taken) = (event.price, event.quantity, taken);
        self.queue_market(book, order, sink);
    }

    /// The market order has `quantity` less. What own orders took of it stays taken, up to what is left.
    fn take_away(&mut self, book: &mut Book, slot: Slot, quantity: Quantity) {
        let order = self.arena.orders[slot];
        if quantity > order.open {
            count(&mut self.anomalies.excess_quantity);
        }
        if quantity >= order.open {
            return self.remove_market(book, slot);
        }
        let open = order.open - quantity;
        self.arena.set(slot, open, order.taken.min(open));
    }

    fn remove_market(&mut self, book: &mut Book, slot: Slot) {
        let order = self.arena.orders[slot];
        book.half_mut(order.side).ladder.remove(&mut self.arena, slot);
        book.market.remove(&order.id);
    }

    /// Nothing can be had of the market's orders any more. They keep their places among own orders, which stay, until the
    /// next event that is no add: those that a snapshot adds again until then have not lost them.
    fn clear(&mut self, book: &mut Book) {
        self.each_of_market(book, |core, book, slot, order| {
            if order.kind == Kind::Market {
                let record = &mut core.arena.orders[slot];
                (record.kind, record.quantity) = (Kind::Swept, order.taken);
                core.arena.set(slot, order.open, order.open);
                book.swept += 1;
            }
        });
    }

    /// No snapshot has brought these orders back.
    #[cold]
    #[inline(never)]
    fn drop_swept(&mut self, book: &mut Book) {
        self.each_of_market(book, |core, book, slot, order| {
            if order.kind == Kind::Swept {
                core.remove_market(book, slot);
            }
        });
        book.swept = 0;
    }

    fn each_of_market(&mut self, book: &mut Book, mut act: impl FnMut(&mut Core, &mut Book, Slot, Order)) {
        for side in [Side::Buy, Side::Sell] {
            let mut index = book.half(side).ladder.len();
            while index > 0 {
                index -= 1;
                let mut slot = self.arena.levels[book.half(side).ladder.level_at(index)].head;
                while slot.is_some() {
                    let order = self.arena.orders[slot];
                    if !order.is_own() {
                        act(self, book, slot, order);
                    }
                    slot = order.next;
                }
            }
        }
    }
}
