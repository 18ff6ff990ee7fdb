//! The strategies' requests: new orders, cancels, replaces.

use wire::{
    CancelAll, Liquidity, Nanos, NewOrder, OrderId, OrderStatus, OrderType, OrderUpdate, Price, Quantity,
    Reason, ReplaceOrder, TimeInForce,
};

use super::anomalies::count;
use super::book::Book;
use super::ladder::Ladder;
use super::options::SelfTrade;
use super::order::{Kind, Order};
use super::self_trade::Stop;
use super::sink::Sink;
use super::slab::Slot;
use super::trading::{Core, report};

impl Core {
    /// A new order whose id was checked, for a listed instrument.
    pub(crate) fn enter<S: Sink>(&mut self, book: &mut Book, request: &NewOrder, sink: &mut S) {
        if let Some(reason) = book.refusal(self.collects(book)) {
            return sink.update(&OrderUpdate::rejection(request, reason));
        }
        if !is_supported(request) {
            return sink.update(&OrderUpdate::rejection(request, Reason::Unsupported));
        }
        let market = request.order_type == OrderType::Market;
        let post_only =
            request.time_in_force == TimeInForce::PostOnly || request.flags & NewOrder::POST_ONLY != 0;
        if request.quantity <= Quantity::ZERO {
            return sink.update(&OrderUpdate::rejection(request, Reason::Quantity));
        }
        let at_once =
            matches!(request.time_in_force, TimeInForce::ImmediateOrCancel | TimeInForce::FillOrKill);
        if !market && !request.price.is_some() || post_only && (market || at_once) {
            return sink.update(&OrderUpdate::rejection(request, Reason::Malformed));
        }
        if book.auction && (market || post_only || at_once) {
            return sink.update(&OrderUpdate::rejection(request, book.refusal_of_taker()));
        }
        let is_kept = request.time_in_force == TimeInForce::GoodTillCancel;
        let kind = match (is_kept, post_only) {
            (false, false) => Kind::Own,
            (false, true) => Kind::OwnPostOnly,
            (true, false) => Kind::OwnKept,
            (true, true) => Kind::OwnKeptPostOnly,
        };
        let taker = Order::new(
            kind,
            request.order_id.0,
            book.instrument,
            request.side,
            if market { Price::NONE } else { request.price },
            request.quantity,
        );
        if post_only && self.would_trade(book, &taker) {
            return sink.update(&OrderUpdate::rejection(request, Reason::WouldTrade));
        }
        let time = book.event_time;
        self.note_account(request.order_id, request.account);
        sink.update(&taker.update(OrderStatus::Accepted, Reason::None, time));
        if request.time_in_force == TimeInForce::FillOrKill && !self.is_fillable(book, &taker) {
            self.forget_account(taker.id);
            return sink.update(&taker.update(OrderStatus::Cancelled, Reason::NotFillable, time));
        }
        let rests = !market && !at_once;
        self.take_and_rest(book, taker, rests, sink);
    }

    /// A strategy cancels what is left of a working order.
    pub(crate) fn cancel_requested<S: Sink>(&mut self, book: &mut Book, slot: Slot, sink: &mut S) {
        match book.refusal_of_cancel() {
            Some(reason) => {
                let order = &self.arena.orders[slot];
                sink.update(&order.update(OrderStatus::CancelRejected, reason, book.event_time));
            }
            None => self.cancel(book, slot, Reason::Requested, sink),
        }
    }

    /// Cancels what is left of a working order.
    pub(crate) fn cancel<S: Sink>(&mut self, book: &mut Book, slot: Slot, reason: Reason, sink: &mut S) {
        let order = self.arena.orders[slot];
        self.remove_own(&mut book.half_mut(order.side).ladder, slot);
        self.forget_account(order.id);
        sink.update(&order.update(OrderStatus::Cancelled, reason, book.event_time));
    }

    /// Changes a working order.
    pub(crate) fn replace<S: Sink>(
        &mut self,
        book: &mut Book,
        slot: Slot,
        request: &ReplaceOrder,
        sink: &mut S,
    ) {
        let time = book.event_time;
        let before = self.arena.orders[slot];
        let refuse = |reason| before.update(OrderStatus::ReplaceRejected, reason, time);
        let refusal = book.refusal(self.collects(book)).or_else(|| book.refusal_of_cancel());
        if let Some(reason) = refusal {
            return sink.update(&refuse(reason));
        }
        if request.quantity <= Quantity::ZERO {
            return sink.update(&refuse(Reason::Quantity));
        }
        if !request.price.is_some() {
            return sink.update(&refuse(Reason::Malformed));
        }
        if request.quantity <= before.filled() {
            return self.cancel(book, slot, Reason::Requested, sink);
        }
        let mut order = before;
        order.open = request.quantity - before.filled();
        (order.price, order.quantity) = (request.price, request.quantity);
        if order.price == before.price && order.open <= before.open {
            self.arena.set(slot, order.open, Quantity::ZERO);
            self.arena.orders[slot].quantity = order.quantity;
            return sink.update(&order.update(OrderStatus::Replaced, Reason::None, time));
        }
        if book.auction && order.is_post_only() {
            return sink.update(&refuse(book.refusal_of_taker()));
        }
        if order.is_post_only() && self.would_trade(book, &order) {
            return sink.update(&refuse(Reason::WouldTrade));
        }
        self.remove_own(&mut book.half_mut(order.side).ladder, slot);
        sink.update(&order.update(OrderStatus::Replaced, Reason::None, time));
        self.take_and_rest(book, order, true, sink);
    }

    fn take_and_rest<S: Sink>(&mut self, book: &mut Book, mut taker: Order, rests: bool, sink: &mut S) {
        // An auction collects.
        let stop = if book.auction { Stop::Done } else { self.take(book, &mut taker, sink) };
        if taker.open == Quantity::ZERO {
            return self.forget_account(taker.id);
        }
        let reason = match stop {
            Stop::OwnOrder => Reason::WouldTrade,
            Stop::SelfTrade => Reason::SelfTrade,
            Stop::Done if !rests => Reason::NoLiquidity,
            Stop::Done => match book.half_mut(taker.side).ladder.push_back(&mut self.arena, taker) {
                Some(slot) => return self.own.link(&mut self.arena, slot),
                None => {
                    count(&mut self.anomalies.no_room);
                    Reason::Overload
                }
            },
        };
        self.forget_account(taker.id);
        sink.update(&taker.update(OrderStatus::Cancelled, reason, book.event_time));
    }

    /// Trades `taker` against the other side, level by level; at one price with the quote's volume first.
    fn take<S: Sink>(&mut self, book: &mut Book, taker: &mut Order, sink: &mut S) -> Stop {
        let time = book.event_time;
        let half = book.half_mut(taker.side.opposite());
        let floor = floor(&half.ladder, taker);
        let mut end = half.ladder.len();
        while taker.open > Quantity::ZERO {
            let quoted = half.quoted.best();
            let quoted_rank = quoted.map(|level| half.ladder.rank(level.price));
            let resting = half.ladder.best_available(&self.arena, end);
            let resting_rank = resting.map(|index| half.ladder.rank_at(index));
            if quoted_rank.max(resting_rank).is_none_or(|rank| rank < floor) {
                break;
            }
            match (quoted, resting) {
                (Some(level), _) if quoted_rank >= resting_rank => {
                    let trade = self.trade(level.price, level.quantity.min(taker.open));
                    half.quoted.take(trade.quantity);
                    taker.open -= trade.quantity;
                    report(taker, trade, Liquidity::Taker, time, sink);
                }
                (_, Some(index)) => {
                    let stop = self.take_level(&mut half.ladder, index, taker, time, sink);
                    if stop != Stop::Done {
                        return stop;
                    }
                    end = index;
                }
                (_, None) => break,
            }
        }
        Stop::Done
    }

    fn take_level<S: Sink>(
        &mut self,
        ladder: &mut Ladder,
        index: usize,
        taker: &mut Order,
        time: Nanos,
        sink: &mut S,
    ) -> Stop {
        let level = self.arena.levels[ladder.level_at(index)];
        let mut slot = level.head;
        while slot.is_some() && taker.open > Quantity::ZERO {
            let resting = self.arena.orders[slot];
            if self.is_self_trade(taker, &resting) {
                if self.options.self_trade == SelfTrade::CancelNewest {
                    return Stop::OwnOrder;
                }
                // A copy, so that the taker of all other trades need not lie in memory.
                let mut copy = *taker;
                let stop = self.prevent(ladder, slot, &mut copy, time, sink);
                *taker = copy;
                if stop != Stop::Done {
                    return stop;
                }
                slot = resting.next;
                continue;
            }
            let quantity = resting.available().min(taker.open);
            if quantity > Quantity::ZERO {
                let trade = self.trade(level.price, quantity);
                if resting.is_own() {
                    self.fill_resting(ladder, slot, trade, time, sink);
                } else {
                    self.arena.set(slot, resting.open, resting.taken + quantity);
                }
                taker.open -= quantity;
                report(taker, trade, Liquidity::Taker, time, sink);
            }
            slot = resting.next;
        }
        Stop::Done
    }

    fn would_trade(&self, book: &Book, taker: &Order) -> bool {
        let half = book.half(taker.side.opposite());
        let floor = floor(&half.ladder, taker);
        let resting = half.ladder.best_available(&self.arena, half.ladder.len());
        resting.is_some_and(|index| half.ladder.rank_at(index) >= floor)
            || half.quoted.best().is_some_and(|level| half.ladder.rank(level.price) >= floor)
    }

    /// Whether [`Core::take`] would fill all of `taker`.
    fn is_fillable(&self, book: &Book, taker: &Order) -> bool {
        let half = book.half(taker.side.opposite());
        let mut floor = floor(&half.ladder, taker);
        let need = i128::from(taker.open.0);
        let mut found = 0;
        let mut index = half.ladder.len();
        'levels: while index > 0 && found < need {
            index -= 1;
            if half.ladder.rank_at(index) < floor {
                break;
            }
            let level = self.arena.levels[half.ladder.level_at(index)];
            if level.own == 0 {
                found += level.available;
                continue;
            }
            let mut slot = level.head;
            while slot.is_some() {
                let resting = self.arena.orders[slot];
                if self.is_self_trade(taker, &resting) {
                    if self.options.self_trade == SelfTrade::CancelOldest {
                        slot = resting.next;
                        continue;
                    }
                    // Quoted volume at this price is still taken before it, any at a worse price is not.
                    floor = half.ladder.rank_at(index);
                    break 'levels;
                }
                found += i128::from(resting.available().0);
                slot = resting.next;
            }
        }
        let reached = half.quoted.levels().iter().filter(|level| half.ladder.rank(level.price) >= floor);
        found += reached.map(|level| i128::from(level.quantity.0)).sum::<i128>();
        found >= need
    }

    /// Cancels the orders that a mass cancel takes, the oldest first. Returns their number.
    pub(crate) fn cancel_those<S: Sink>(
        &mut self,
        books: &mut [Option<Book>],
        request: &CancelAll,
        sink: &mut S,
    ) -> i64 {
        let mut cancelled = 0;
        let mut slot = self.own.oldest(request.order_id.strategy());
        while slot.is_some() {
            let order = self.arena.orders[slot];
            if self.takes(request, &order)
                && let Some(book) = books.get_mut(order.instrument().0 as usize).and_then(Option::as_mut)
                && book.refusal_of_cancel().is_none()
            {
                self.cancel(book, slot, Reason::Requested, sink);
                cancelled += 1;
            }
            slot = order.peer_next;
        }
        cancelled
    }

    /// Whether a mass cancel takes an order of its strategy.
    fn takes(&self, request: &CancelAll, order: &Order) -> bool {
        request.of_instrument().is_none_or(|instrument| instrument == order.instrument())
            && request.of_side().is_none_or(|side| side == order.side)
            && request.of_account().is_none_or(|account| account == self.account_of(OrderId(order.id)))
    }
}

/// What an order is to its account is no matter of the market's.
const OF_THE_ACCOUNT: u8 = NewOrder::OFFSET_OPEN | NewOrder::OFFSET_CLOSE | NewOrder::FORCED;

/// Whether the order asks for no more than a recorded market can answer: it has no auctions, and ends with its day.
fn is_supported(request: &NewOrder) -> bool {
    let no_auction = !matches!(
        request.time_in_force,
        TimeInForce::GoodTillDate | TimeInForce::AtTheOpen | TimeInForce::AtTheClose
    );
    let asks = request.flags & !(NewOrder::POST_ONLY | OF_THE_ACCOUNT);
    let plain = request.display_lots | request.minimum_lots == 0 && asks == 0;
    no_auction && plain && !request.order_type.has_trigger()
}

/// Rank of the last level on the other side that `taker` may trade at.
fn floor(other_side: &Ladder, taker: &Order) -> i64 {
    if taker.price.is_some() { other_side.rank(taker.price) } else { i64::MIN }
}
