//! The gateway: takes the strategies' requests. Matching's answers are taken by [`Gateway::execution`].

use wire::{
    CancelAll, CancelOrder, Instrument, InstrumentId, Message, Nanos, NewOrder, OrderId, OrderStatus,
    OrderUpdate, Price, Reason, ReplaceOrder, Request, StrategyId,
};

use crate::answer;
use crate::checks;
use crate::counters::{Anomalies, Anomaly, Counters};
use crate::decision::Decision;
use crate::desk::{Gate, is_remembered};
use crate::instruments::{InstrumentError, Instruments};
use crate::limits::{BandWidth, GatewayOptions, Limits, LimitsError};
use crate::owed::Owed;
use crate::strategy_book::{Exposure, StrategyBook};

/// Checks orders, tracks them to their end, and routes reports to their owners. See the crate's page for its guarantees and
/// an example.
///
/// Feed it, each from its own journal and in that journal's order: instruments, strategies' messages, executions.
/// Write what it returns before the input's cursor moves on, so that a restart loses nothing.
#[derive(Debug)]
pub struct Gateway {
    pub(crate) instruments: Instruments,
    /// By seat. Boxed: seats are many, strategies few.
    pub(crate) books: Vec<Option<Box<StrategyBook>>>,
    pub(crate) anomalies: Anomalies,
    /// The accounts, where they are kept.
    pub(crate) gate: Option<Box<Gate>>,
    /// Orders that must end.
    pub(crate) owed: Owed,
    /// Executions before this position have been seen.
    pub(crate) next_execution: u64,
    /// Executions before this position are contained in the restored state: they are passed on, and not booked.
    pub(crate) contained: u64,
}

impl Gateway {
    /// An empty gateway: no instrument, no strategy.
    ///
    /// # Errors
    /// [`LimitsError::PriceBand`].
    pub fn new(options: GatewayOptions) -> Result<Gateway, LimitsError> {
        Ok(Gateway {
            instruments: Instruments::new(BandWidth::new(options.price_band)?),
            books: Vec::new(),
            anomalies: Anomalies::default(),
            gate: None,
            owed: Owed::default(),
            next_execution: 0,
            contained: 0,
        })
    }

    /// Lists an instrument, or replaces its rules. Orders that work already stay as they are.
    ///
    /// # Errors
    /// [`InstrumentError`]; the instrument is then not listed, or keeps the rules it had.
    pub fn on_instrument(&mut self, instrument: &Instrument) -> Result<(), InstrumentError> {
        self.instruments.define(instrument)?;
        let length = self.instruments.table_length();
        self.books.iter_mut().flatten().for_each(|book| book.reach(length));
        Ok(())
    }

    /// Prices of a listed instrument are multiples of a tick that depends on the price: from each price on, that tick, in
    /// ascending order; the first tick holds below too. Empty: of its own tick.
    pub fn set_ticks(&mut self, instrument: InstrumentId, ticks: Vec<(Price, Price)>) {
        self.instruments.set_ticks(instrument, ticks);
    }

    /// Whether an instrument's price band follows the market: a band is set, and its definition has no reference price. Then
    /// there is none before the first [`Gateway::set_reference_price`].
    pub fn follows(&self, instrument: InstrumentId) -> bool {
        self.instruments.follows(instrument)
    }

    /// Moves the middle of an instrument's price band, for instance to its last trade. Nothing happens when the
    /// instrument is unknown, `price` is [`Price::NONE`], or no band is set.
    ///
    /// Decisions then depend on how quotes and orders interleave, which lock-step alone repeats exactly.
    pub fn set_reference_price(&mut self, instrument: InstrumentId, price: Price) {
        self.instruments.set_reference(instrument, price);
    }

    /// A strategy has joined, for the first time or after a restart. It keeps the working orders and the position of its
    /// predecessor.
    ///
    /// # Errors
    /// [`LimitsError::Negative`]; nothing has changed then.
    pub fn strategy_started(&mut self, strategy: StrategyId, limits: Limits) -> Result<(), LimitsError> {
        limits.check()?;
        self.book_or_new(strategy).start(strategy, limits);
        Ok(())
    }

    /// A strategy has stopped or died: until it starts again, its requests are refused with [`Reason::StrategyGone`], and its
    /// working orders must end. Returns the cancels to write to `td.orders`, one for each of these orders without a cancel on
    /// its way; none when the strategy was stopped already.
    pub fn strategy_stopped(&mut self, strategy: StrategyId) -> Vec<CancelOrder> {
        if self.set_running(strategy, false) { self.cancel_all(strategy) } else { Vec::new() }
    }

    /// A sender has left, whose last request cancels everything that works for it: the same, and no order is cancelled twice.
    pub fn sender_left(&mut self, sender: StrategyId) -> Vec<CancelOrder> {
        let Gateway { books, owed, .. } = self;
        match find(books, sender) {
            Some(book) if book.is_running && !book.mass_cancels.is_empty() => {
                book.is_running = false;
                book.end_by_mass_cancel(Reason::StrategyGone, owed);
                Vec::new()
            }
            _ => self.strategy_stopped(sender),
        }
    }

    /// A strategy has gone whose orders work on.
    pub fn strategy_paused(&mut self, strategy: StrategyId) {
        self.set_running(strategy, false);
    }

    /// Everything that works for a strategy must end: the cancels to write to `td.orders`, one for each order without a cancel
    /// on its way, by ascending order id.
    pub fn cancel_all(&mut self, strategy: StrategyId) -> Vec<CancelOrder> {
        self.end_those(strategy, |_| true)
    }

    /// Everything that works for a strategy under an epoch before `epoch` must end: for a strategy that was restarted while td
    /// did not run. Returns cancels as [`Gateway::cancel_all`] does.
    pub fn cancel_before(&mut self, strategy: StrategyId, epoch: u16) -> Vec<CancelOrder> {
        self.end_those(strategy, |id| OrderId::new(strategy, epoch, 0).is_of_newer_epoch_than(id.epoch()))
    }

    fn end_those(&mut self, strategy: StrategyId, wanted: impl Fn(OrderId) -> bool) -> Vec<CancelOrder> {
        let Gateway { books, owed, .. } = self;
        let book = find(books, strategy);
        book.map_or_else(Vec::new, |book| book.end_those(Reason::StrategyGone, owed, wanted))
    }

    /// Whether what this strategy would be told of new orders can be put on disk, where that must be: otherwise its new
    /// orders and replaces are refused with [`Reason::NotDurable`]. Cancels are taken.
    pub fn set_durable(&mut self, strategy: StrategyId, is_durable: bool) {
        self.book_or_new(strategy).is_durable = is_durable;
    }

    /// Takes one frame of a process of strategy `from` that has ended since: refused with [`Reason::StrategyGone`], although
    /// its successor may have joined.
    pub fn take_from_stopped(&mut self, from: StrategyId, message_id: u16, payload: &[u8]) -> Decision {
        let is_running = self.set_running(from, false);
        let decision = self.take(from, message_id, payload);
        self.set_running(from, is_running);
        decision
    }

    fn set_running(&mut self, strategy: StrategyId, is_running: bool) -> bool {
        self.book_mut(strategy).is_some_and(|book| std::mem::replace(&mut book.is_running, is_running))
    }

    /// Takes one frame from the journal of strategy `from`, where no accounts are kept.
    pub fn take(&mut self, from: StrategyId, message_id: u16, payload: &[u8]) -> Decision {
        self.take_at(from, message_id, payload, Nanos(0))
    }

    /// Takes one frame from the journal of strategy `from`. Rates of accounts count at `now`.
    pub fn take_at(&mut self, from: StrategyId, message_id: u16, payload: &[u8], now: Nanos) -> Decision {
        if self.gate.is_some() {
            return self.take_for_account(from, message_id, payload, now);
        }
        let decided = match Request::decode(message_id, payload) {
            Ok(Request::New(order)) => self.on_new_order(from, &order).map(Request::New),
            Ok(Request::Cancel(cancel)) => self.on_cancel(from, &cancel).map(Request::Cancel),
            Ok(Request::Replace(replace)) => self.on_replace(from, &replace).map(Request::Replace),
            Ok(Request::CancelAll(cancel)) => self.on_cancel_all(from, &cancel).map(Request::CancelAll),
            Err(_) => return self.on_garbled(from, message_id, payload),
        };
        match decided {
            Ok(request) => Decision::Send(request),
            Err(update) => Decision::Answer(update),
        }
    }

    /// The same where accounts are kept. A function of its own, so that its code is not in the way of who keeps none.
    #[inline(never)]
    fn take_for_account(
        &mut self,
        from: StrategyId,
        message_id: u16,
        payload: &[u8],
        now: Nanos,
    ) -> Decision {
        let Ok(mut request) = Request::decode(message_id, payload) else {
            return self.on_garbled(from, message_id, payload);
        };
        let decided = match &mut request {
            Request::New(order) => match self.repeated(from, order) {
                Some(update) => return Decision::Repeat(update),
                None => self.new_order_for_account(from, order, now),
            },
            Request::Cancel(cancel) => self.cancel_at(from, cancel, now).map(drop),
            Request::Replace(replace) => self.replace_at(from, replace, now).map(drop),
            Request::CancelAll(cancel) => self.cancel_all_at(from, cancel, now).map(drop),
        };
        match decided {
            Ok(()) => Decision::Send(request),
            Err(update) => Decision::Answer(update),
        }
    }

    /// What became of an order that came before, where accounts are kept.
    fn repeated(&self, from: StrategyId, order: &NewOrder) -> Option<OrderUpdate> {
        let gate = self.gate.as_ref().filter(|_| order.order_id.strategy() == from)?;
        gate.known(from, order)
    }

    /// Checks a new order; see [`Gateway::take`]. `Ok` holds what to send to matching.
    ///
    /// # Errors
    /// The refusal to write to the reports of `from`.
    pub fn on_new_order(&mut self, from: StrategyId, order: &NewOrder) -> Result<NewOrder, OrderUpdate> {
        if self.gate.is_some() {
            let mut order = *order;
            return self.new_order_for_account(from, &mut order, Nanos(0)).map(|()| order);
        }
        let Gateway { books, instruments, anomalies, .. } = self;
        let Some(book) = find(books, from) else {
            anomalies.note(Anomaly::UnknownStrategy);
            return Err(OrderUpdate::rejection(order, Reason::StrategyGone));
        };
        book.counters.orders += 1;
        let admitted = if order.order_id.strategy() == from {
            book.admit(order, instruments)
        } else {
            Err(Reason::NotYours)
        };
        match admitted {
            Ok(()) => {
                book.counters.sent += 1;
                Ok(*order)
            }
            Err(reason) => {
                book.counters.rejected.add(reason);
                Err(OrderUpdate::rejection(order, reason))
            }
        }
    }

    /// The order becomes as it goes out.
    fn new_order_for_account(
        &mut self,
        from: StrategyId,
        order: &mut NewOrder,
        now: Nanos,
    ) -> Result<(), OrderUpdate> {
        let Gateway { books, instruments, anomalies, gate, .. } = self;
        let (Some(book), Some(gate)) = (find(books, from), gate.as_mut()) else {
            anomalies.note(Anomaly::UnknownStrategy);
            return Err(OrderUpdate::rejection(order, Reason::StrategyGone));
        };
        book.counters.orders += 1;
        let named = order.account;
        let admitted = if order.order_id.strategy() == from {
            book.admit_for(order, instruments, (gate, from, now))
        } else {
            Err(Reason::NotYours)
        };
        match admitted {
            Ok(()) => {
                book.counters.sent += 1;
                Ok(())
            }
            Err(reason) => {
                // It is remembered as it came.
                order.account = named;
                book.counters.rejected.add(reason);
                if is_remembered(reason) {
                    gate.refuse(order, reason, now);
                }
                Err(OrderUpdate::rejection(order, reason))
            }
        }
    }

    /// Checks a cancel; see [`Gateway::take`]. `Ok` holds what to send to matching.
    ///
    /// # Errors
    /// The refusal to write to the reports of `from`.
    pub fn on_cancel(&mut self, from: StrategyId, cancel: &CancelOrder) -> Result<CancelOrder, OrderUpdate> {
        self.cancel_at(from, cancel, Nanos(0))
    }

    fn cancel_at(
        &mut self,
        from: StrategyId,
        cancel: &CancelOrder,
        now: Nanos,
    ) -> Result<CancelOrder, OrderUpdate> {
        let Gateway { books, anomalies, gate, .. } = self;
        let Some(book) = find(books, from) else {
            anomalies.note(Anomaly::UnknownStrategy);
            return Err(answer::cancel(cancel, None, Reason::StrategyGone));
        };
        book.counters.cancel_requests += 1;
        let admitted = if cancel.order_id.strategy() == from {
            book.admit_cancel(cancel)
        } else {
            Err(Reason::NotYours)
        };
        if let (Ok(()), Some(gate)) = (admitted, gate) {
            gate.cancel(cancel, now);
        }
        admitted.map(|()| *cancel).map_err(|reason| {
            book.counters.requests_rejected.add(reason);
            answer::cancel(cancel, book.orders.get(cancel.order_id), reason)
        })
    }

    /// Checks a replace; see [`Gateway::take`]. `Ok` holds what to send to matching.
    ///
    /// # Errors
    /// The refusal to write to the reports of `from`.
    pub fn on_replace(
        &mut self,
        from: StrategyId,
        replace: &ReplaceOrder,
    ) -> Result<ReplaceOrder, OrderUpdate> {
        self.replace_at(from, replace, Nanos(0))
    }

    fn replace_at(
        &mut self,
        from: StrategyId,
        replace: &ReplaceOrder,
        now: Nanos,
    ) -> Result<ReplaceOrder, OrderUpdate> {
        let Gateway { books, instruments, anomalies, gate, .. } = self;
        let Some(book) = find(books, from) else {
            anomalies.note(Anomaly::UnknownStrategy);
            return Err(answer::replace(replace, None, Reason::StrategyGone));
        };
        book.counters.replace_requests += 1;
        let admitted = if replace.order_id.strategy() == from {
            book.admit_replace(replace, instruments, gate.as_deref_mut().map(|gate| (gate, from, now)))
        } else {
            Err(Reason::NotYours)
        };
        admitted.map(|()| *replace).map_err(|reason| {
            book.counters.requests_rejected.add(reason);
            answer::replace(replace, book.orders.get(replace.order_id), reason)
        })
    }

    /// Checks a mass cancel; see [`Gateway::take`]. `Ok` holds what to send to matching, which knows the orders that it takes.
    ///
    /// # Errors
    /// The refusal to write to the reports of `from`.
    pub fn on_cancel_all(&mut self, from: StrategyId, cancel: &CancelAll) -> Result<CancelAll, OrderUpdate> {
        self.cancel_all_at(from, cancel, Nanos(0))
    }

    fn cancel_all_at(
        &mut self,
        from: StrategyId,
        cancel: &CancelAll,
        now: Nanos,
    ) -> Result<CancelAll, OrderUpdate> {
        let Gateway { books, instruments, anomalies, gate, .. } = self;
        let Some(book) = find(books, from) else {
            anomalies.note(Anomaly::UnknownStrategy);
            return Err(answer::cancel_all(cancel, Reason::StrategyGone));
        };
        book.counters.cancel_requests += 1;
        let admitted = if cancel.order_id.strategy() == from {
            book.admit_cancel_all(cancel, instruments, |account| match gate.as_ref() {
                None => checks::account(account),
                Some(gate) => gate.account(from, account).map(drop),
            })
        } else {
            Err(Reason::NotYours)
        };
        if let (Ok(()), Some(gate)) = (admitted, gate) {
            gate.cancel_all(from, cancel, now);
        }
        admitted.map(|()| *cancel).map_err(|reason| {
            book.counters.requests_rejected.add(reason);
            answer::cancel_all(cancel, reason)
        })
    }

    /// Bytes that do not decode. All requests begin with the order's id, so that one can be answered.
    fn on_garbled(&mut self, from: StrategyId, message_id: u16, payload: &[u8]) -> Decision {
        let Gateway { books, anomalies, .. } = self;
        anomalies.note(Anomaly::Unreadable);
        let status = match message_id {
            NewOrder::ID => OrderStatus::Rejected,
            CancelOrder::ID | CancelAll::ID => OrderStatus::CancelRejected,
            ReplaceOrder::ID => OrderStatus::ReplaceRejected,
            _ => return Decision::Drop,
        };
        let (Some(&id), Some(book)) = (payload.first_chunk::<8>(), find(books, from)) else {
            return Decision::Drop;
        };
        let counters = &mut book.counters;
        match status {
            OrderStatus::Rejected => {
                counters.orders += 1;
                counters.rejected.add(Reason::Malformed);
            }
            OrderStatus::CancelRejected => {
                counters.cancel_requests += 1;
                counters.requests_rejected.add(Reason::Malformed);
            }
            _ => {
                counters.replace_requests += 1;
                counters.requests_rejected.add(Reason::Malformed);
            }
        }
        Decision::Answer(answer::malformed(OrderId(u64::from_le_bytes(id)), status))
    }

    /// What a strategy did; `None` when it never started.
    pub fn counters(&self, strategy: StrategyId) -> Option<&Counters> {
        self.book(strategy).map(|book| &book.counters)
    }

    /// How many orders of a strategy have not ended.
    pub fn working_orders(&self, strategy: StrategyId) -> usize {
        self.book(strategy).map_or(0, |book| book.orders.len())
    }

    /// Position and what works on top of it; all zeros for what is not known.
    pub fn exposure(&self, strategy: StrategyId, instrument: InstrumentId) -> Exposure {
        self.book(strategy)
            .and_then(|book| book.exposures.get(instrument.0 as usize).copied())
            .unwrap_or_default()
    }

    /// Input that a correct platform does not produce, counted by kind.
    pub fn anomalies(&self) -> &Anomalies {
        &self.anomalies
    }

    /// Strategies that ever started, by ascending seat.
    pub fn strategies(&self) -> impl Iterator<Item = StrategyId> + '_ {
        let held = self.books.iter().enumerate().filter(|(_, book)| book.is_some());
        held.map(|(seat, _)| StrategyId(seat as u16))
    }

    pub(crate) fn book(&self, strategy: StrategyId) -> Option<&StrategyBook> {
        self.books.get(usize::from(strategy.0))?.as_deref()
    }

    fn book_mut(&mut self, strategy: StrategyId) -> Option<&mut StrategyBook> {
        find(&mut self.books, strategy)
    }

    /// The book of a strategy; a new one is stopped until the strategy starts.
    pub(crate) fn book_or_new(&mut self, strategy: StrategyId) -> &mut StrategyBook {
        let seat = usize::from(strategy.0);
        if self.books.len() <= seat {
            self.books.resize_with(seat + 1, || None);
        }
        let length = self.instruments.table_length();
        self.books[seat].get_or_insert_with(|| Box::new(StrategyBook::new(length)))
    }
}

/// A free function, so that the gateway's other fields can be borrowed beside the result.
pub(crate) fn find(
    books: &mut [Option<Box<StrategyBook>>],
    strategy: StrategyId,
) -> Option<&mut StrategyBook> {
    books.get_mut(usize::from(strategy.0))?.as_deref_mut()
}
