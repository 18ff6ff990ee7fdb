//! Executions: applied to their order, and routed to its owner.
//!
//! The market is authoritative: a fill is booked and passed on even when its order is unknown here, as long as it names an
//! owner and is consistent in itself. Whatever is wrong with an execution is returned as an [`Anomaly`], for the log.
//!
//! ```
//! # use td::*;
//! # use wire::*;
//! # let mut gateway = Gateway::new(GatewayOptions::default())?;
//! let me = StrategyId(7);
//! gateway.strategy_started(me, Limits::NONE)?;
//! let id = OrderId::new(me, 1, 1);
//! let too_late =
//!     OrderUpdate::about(id, InstrumentId(1), OrderStatus::CancelRejected, Reason::UnknownOrder);
//! let outcome = gateway.execution(640, OrderUpdate::ID, too_late.bytes());
//! let report = Execution::Update(OrderUpdate { execution: 640, ..too_late });
//! assert_eq!(outcome.deliver, Some(Delivery { to: me, report }));
//! assert_eq!(outcome.anomaly, None);
//!
//! // The same frame again, after a restart.
//! let outcome = gateway.execution(640, OrderUpdate::ID, too_late.bytes());
//! assert_eq!((outcome.deliver, outcome.anomaly), (None, Some(Anomaly::Redelivered)));
//! # Ok::<(), LimitsError>(())
//! ```

use wire::{Execution, Fill, Message, OrderId, OrderStatus, OrderUpdate, Reason, StrategyId, WireError};

use crate::counters::Anomaly;
use crate::gateway::{Gateway, find};
use crate::orders::WorkingOrder;
use crate::strategy_book::StrategyBook;

/// A report, and who receives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivery {
    /// The order's owner, and nobody else.
    pub to: StrategyId,
    /// What to write to its reports, with `execution` set to the position of matching's frame.
    pub report: Execution,
}

/// What became of an execution.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct Outcome {
    /// `None`: there is no report.
    pub deliver: Option<Delivery>,
    /// What is wrong with it, if anything; counted already, worth a line in the log.
    pub anomaly: Option<Anomaly>,
    /// True where accounts are kept and it is new to them: [`Outcome::copy`] goes to the drop copy.
    pub is_copied: bool,
}

impl Outcome {
    /// What to write to the drop copy, if anything, of the frame that this came of.
    pub fn copy(&self, position: u64, message_id: u16, payload: &[u8]) -> Option<Execution> {
        if !self.is_copied {
            return None;
        }
        let again = || Execution::decode(message_id, payload).ok().map(|read| read.passed_on(position));
        self.deliver.map(|delivery| delivery.report).or_else(again)
    }
}

impl Gateway {
    /// Takes one frame from matching's executions. `position` is the frame's; positions grow, and one that was
    /// seen before is ignored.
    pub fn execution(&mut self, position: u64, message_id: u16, payload: &[u8]) -> Outcome {
        let read = match message_id {
            Fill::ID => Fill::read(payload, |fill| self.on_fill(position, fill)),
            OrderUpdate::ID => OrderUpdate::read(payload, |update| self.on_update(position, update)),
            id => Err(WireError::UnknownId { id }),
        };
        read.unwrap_or_else(|_| {
            let anomaly = if self.is_new(position) { Anomaly::Unreadable } else { Anomaly::Redelivered };
            Outcome { deliver: None, anomaly: Some(self.anomalies.note(anomaly)), is_copied: false }
        })
    }

    /// Part of an order traded; see [`Gateway::execution`].
    pub fn on_fill(&mut self, position: u64, fill: &Fill) -> Outcome {
        let report = Execution::Fill(Fill { execution: position, ..*fill });
        self.route(position, fill.order_id, report, |book| book_fill(book, fill))
    }

    /// An order's state changed; see [`Gateway::execution`].
    pub fn on_update(&mut self, position: u64, update: &OrderUpdate) -> Outcome {
        let report = Execution::Update(OrderUpdate { execution: position, ..*update });
        let outcome = self.route(position, update.order_id, report, |book| book_update(book, update));
        if outcome.deliver.is_some()
            && matches!(update.status, OrderStatus::MassCancelled | OrderStatus::CancelRejected)
        {
            let Gateway { books, owed, .. } = self;
            if let Some(book) =
                find(books, update.order_id.strategy()).filter(|book| !book.mass_cancels.is_empty())
            {
                book.mass_cancelled(update.order_id, owed);
            }
        }
        if !self.owed.is_empty() && outcome.deliver.is_some() {
            self.follow_owed(update);
        }
        outcome
    }

    fn route(
        &mut self,
        position: u64,
        order: OrderId,
        report: Execution,
        apply: impl FnOnce(&mut StrategyBook) -> Booked,
    ) -> Outcome {
        let delivery = Delivery { to: order.strategy(), report };
        let new = self.is_new(position);
        let Gateway { books, anomalies, contained, gate, .. } = self;
        let is_copied = gate.as_mut().is_some_and(|gate| gate.execution(position, &delivery.report));
        let booked = match find(books, delivery.to) {
            _ if !new => Booked::Ignored(Anomaly::Redelivered),
            _ if position < *contained && is_passed_on(&delivery.report) => Booked::InStep,
            _ if position < *contained => Booked::Before,
            None => Booked::Ignored(Anomaly::UnknownStrategy),
            Some(book) => apply(book),
        };
        let (deliver, anomaly) = match booked {
            Booked::InStep => (Some(delivery), None),
            Booked::Odd(anomaly) => (Some(delivery), Some(anomaly)),
            Booked::Ignored(anomaly) => (None, Some(anomaly)),
            Booked::Before => (None, None),
        };
        Outcome { deliver, anomaly: anomaly.map(|anomaly| anomalies.note(anomaly)), is_copied }
    }

    fn is_new(&mut self, position: u64) -> bool {
        let new = position >= self.next_execution;
        if new {
            self.next_execution = position.saturating_add(1);
        }
        new
    }
}

enum Booked {
    InStep,
    /// Booked, with an anomaly.
    Odd(Anomaly),
    Ignored(Anomaly),
    /// A predecessor has ignored and counted it.
    Before,
}

impl From<Option<Anomaly>> for Booked {
    fn from(anomaly: Option<Anomaly>) -> Booked {
        anomaly.map_or(Booked::InStep, Booked::Odd)
    }
}

/// Whether an execution that was booked before has a report, by what it says alone. What contradicts its order has none either,
/// which only the books show.
pub(crate) fn is_passed_on(execution: &Execution) -> bool {
    match execution {
        Execution::Fill(fill) => fill.quantity.0 > 0 && fill.instrument.0 > 0,
        Execution::Update(update) => {
            let is_second_copy =
                update.status == OrderStatus::Rejected && update.reason == Reason::DuplicateOrder;
            update.quantity.0 >= 0 && update.filled.0 >= 0 && update.remaining.0 >= 0 && !is_second_copy
        }
    }
}

fn book_fill(book: &mut StrategyBook, fill: &Fill) -> Booked {
    let StrategyBook { orders, exposures, counters, .. } = book;
    let exposure = match exposures.get_mut(fill.instrument.0 as usize) {
        Some(exposure) if fill.quantity.0 > 0 && fill.instrument.0 > 0 => exposure,
        _ => return Booked::Ignored(Anomaly::BadExecution),
    };
    let anomaly = match orders.get_mut(fill.order_id) {
        None => Some(Anomaly::UnknownOrder),
        Some(order) if order.instrument != fill.instrument || order.side != fill.side => {
            return Booked::Ignored(Anomaly::BadExecution);
        }
        Some(order) => {
            let open = order.open();
            let anomaly = order.on_fill(fill.quantity.0, fill.remaining.0);
            exposure.work(fill.side, order.open() - open);
            anomaly
        }
    };
    exposure.trade(fill.side, fill.quantity);
    counters.fills += 1;
    anomaly.into()
}

fn book_update(book: &mut StrategyBook, update: &OrderUpdate) -> Booked {
    if update.quantity.0 < 0 || update.filled.0 < 0 || update.remaining.0 < 0 {
        return Booked::Ignored(Anomaly::BadExecution);
    }
    if update.status == OrderStatus::MassCancelled {
        // Of a request: each order that it cancelled has an update of its own.
        return Booked::InStep;
    }
    let refusal = update.status.is_refusal();
    let Some(order) = book.orders.get_mut(update.order_id) else {
        return book_unknown(book, update, refusal);
    };
    // A refusal may come from a matching that no longer knows the order, and fills in what it can.
    if !refusal && (order.instrument != update.instrument || order.side != update.side) {
        return Booked::Ignored(Anomaly::BadExecution);
    }
    if update.status == OrderStatus::Rejected && update.reason == Reason::DuplicateOrder && order.is_working()
    {
        // A td that was killed between writing an order and moving its cursor wrote it again. The first one works, and
        // its owner must not believe otherwise.
        return Booked::Ignored(Anomaly::OutOfStep);
    }
    let open = order.open();
    let anomaly = order.on_update(update);
    let change = order.open() - open;
    let (instrument, side) = (order.instrument, order.side);
    if let Some(exposure) = book.exposure(instrument) {
        exposure.work(side, change);
    }
    count(book, update);
    if update.status.is_final() {
        book.end(update.order_id);
    }
    anomaly.into()
}

/// The order has ended, or a predecessor of this td sent it.
fn book_unknown(book: &mut StrategyBook, update: &OrderUpdate, refusal: bool) -> Booked {
    if update.status == OrderStatus::Rejected && update.reason == Reason::DuplicateOrder {
        // As above, and the first copy has ended since: its owner knows how.
        return Booked::Ignored(Anomaly::OutOfStep);
    }
    if refusal {
        // The order ended while the request was on its way, which is normal.
        book.counters.requests_rejected.add(update.reason);
        return Booked::InStep;
    }
    let listed = update.instrument.0 > 0 && book.exposure(update.instrument).is_some();
    if update.status == OrderStatus::Accepted && update.quantity.0 > 0 && listed {
        book.adopt(update);
        book.counters.accepted += 1;
    }
    Booked::Odd(Anomaly::UnknownOrder)
}

fn count(book: &mut StrategyBook, update: &OrderUpdate) {
    let counters = &mut book.counters;
    match update.status {
        OrderStatus::Accepted => counters.accepted += 1,
        OrderStatus::PartiallyFilled
        | OrderStatus::Reduced
        | OrderStatus::Triggered
        | OrderStatus::MassCancelled => {}
        OrderStatus::Filled => counters.filled += 1,
        OrderStatus::Cancelled => counters.cancelled += 1,
        OrderStatus::Rejected => counters.rejected.add(update.reason),
        OrderStatus::Replaced => counters.replaced += 1,
        OrderStatus::CancelRejected | OrderStatus::ReplaceRejected => {
            counters.requests_rejected.add(update.reason);
        }
    }
}

impl StrategyBook {
    /// Takes over an order that works in the market and was sent by a predecessor.
    pub(crate) fn adopt(&mut self, update: &OrderUpdate) {
        let order = WorkingOrder::adopted(update);
        if let Some(exposure) = self.exposure(order.instrument) {
            exposure.work(order.side, order.open());
        }
        self.claim(update.order_id);
        self.orders.insert(update.order_id, order);
        self.counters.orders += 1;
        self.counters.sent += 1;
    }
}
