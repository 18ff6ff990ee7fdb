//! What matching answers: applied to the order it is about, and routed to that order's owner.
//!
//! The market is right: a fill is booked and passed on even when it cannot be ours, as long as it says whose it is
//! and makes sense in itself. What is odd about an execution comes back under its name, for the log.
//!
//! ```
//! # use td::*;
//! # use wire::*;
//! # let mut gateway = Gateway::new(GatewayOptions::default())?;
//! let me = StrategyId(7);
//! gateway.strategy_started(me, Limits::NONE)?;
//! let too_late = OrderUpdate {
//!     order_id: OrderId::new(me, 1, 1),
//!     instrument: InstrumentId(1),
//!     side: Side::Buy,
//!     status: OrderStatus::CancelRejected,
//!     reason: Reason::UnknownOrder,
//!     reserved: 0,
//!     price: Price::NONE,
//!     quantity: Quantity(0),
//!     filled: Quantity(0),
//!     remaining: Quantity(0),
//!     event_time: Nanos(0),
//!     execution: 0,
//!     request: 0,
//!     told: 0,
//! };
//! let outcome = gateway.execution(640, OrderUpdate::ID, too_late.bytes());
//! let report = Report::Update(OrderUpdate { execution: 640, ..too_late });
//! assert_eq!(outcome.deliver, Some(Delivery { to: me, report }));
//! assert_eq!(outcome.anomaly, None);
//!
//! // The same frame again, after a restart.
//! let outcome = gateway.execution(640, OrderUpdate::ID, too_late.bytes());
//! assert_eq!((outcome.deliver, outcome.anomaly), (None, Some(Anomaly::Redelivered)));
//! # Ok::<(), LimitsError>(())
//! ```

use wire::{Fill, Message, OrderStatus, OrderUpdate, Reason, StrategyId};

use crate::account::Account;
use crate::counters::Anomaly;
use crate::gateway::{Gateway, find};
use crate::orders::WorkingOrder;

/// A message for a strategy, with `execution` set to the position of matching's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Report {
    /// Part of an order traded.
    Fill(Fill),
    /// An order's state changed, or a request was refused.
    Update(OrderUpdate),
}

impl Report {
    /// Id for the header of the frame to write.
    pub fn message_id(&self) -> u16 {
        match self {
            Report::Fill(_) => Fill::ID,
            Report::Update(_) => OrderUpdate::ID,
        }
    }

    /// Payload of the frame to write.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Report::Fill(fill) => fill.bytes(),
            Report::Update(update) => update.bytes(),
        }
    }

    /// Topic of the frame to write: the instrument's id.
    pub fn topic(&self) -> u32 {
        match self {
            Report::Fill(fill) => fill.instrument.0,
            Report::Update(update) => update.instrument.0,
        }
    }
}

/// Whom to tell what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivery {
    /// The order's owner: the only one who hears of it.
    pub to: StrategyId,
    /// What to write to its reports.
    pub report: Report,
}

/// What became of an execution.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct Outcome {
    /// `None`: nobody is told.
    pub deliver: Option<Delivery>,
    /// What is wrong with it, if anything; counted already, worth a line in the log.
    pub anomaly: Option<Anomaly>,
}

impl Gateway {
    /// Takes one frame from matching's executions. `position` is the frame's; positions grow, and one that was
    /// seen before is ignored.
    pub fn execution(&mut self, position: u64, message_id: u16, payload: &[u8]) -> Outcome {
        let report = match message_id {
            Fill::ID => Fill::decode(payload).map(Report::Fill).ok(),
            OrderUpdate::ID => OrderUpdate::decode(payload).map(Report::Update).ok(),
            _ => None,
        };
        match report {
            Some(Report::Fill(fill)) => self.on_fill(position, &fill),
            Some(Report::Update(update)) => self.on_update(position, &update),
            None => {
                let anomaly = if self.is_new(position) { Anomaly::Unreadable } else { Anomaly::Redelivered };
                Outcome { deliver: None, anomaly: Some(self.anomalies.note(anomaly)) }
            }
        }
    }

    /// Part of an order traded; see [`Gateway::execution`].
    pub fn on_fill(&mut self, position: u64, fill: &Fill) -> Outcome {
        let to = fill.order_id.strategy();
        let delivery = Delivery { to, report: Report::Fill(Fill { execution: position, ..*fill }) };
        self.route(position, delivery, |account| book_fill(account, fill))
    }

    /// An order's state changed; see [`Gateway::execution`].
    pub fn on_update(&mut self, position: u64, update: &OrderUpdate) -> Outcome {
        let to = update.order_id.strategy();
        let delivery =
            Delivery { to, report: Report::Update(OrderUpdate { execution: position, ..*update }) };
        self.route(position, delivery, |account| book_update(account, update))
    }

    fn route(
        &mut self,
        position: u64,
        delivery: Delivery,
        book: impl FnOnce(&mut Account) -> Booked,
    ) -> Outcome {
        let new = self.is_new(position);
        let Gateway { accounts, anomalies, contained, .. } = self;
        let booked = match find(accounts, delivery.to) {
            _ if !new => Booked::Ignored(Anomaly::Redelivered),
            _ if position < *contained => Booked::InStep,
            None => Booked::Ignored(Anomaly::UnknownStrategy),
            Some(account) => book(account),
        };
        let (deliver, anomaly) = match booked {
            Booked::InStep => (Some(delivery), None),
            Booked::Odd(anomaly) => (Some(delivery), Some(anomaly)),
            Booked::Ignored(anomaly) => (None, Some(anomaly)),
        };
        Outcome { deliver, anomaly: anomaly.map(|anomaly| anomalies.note(anomaly)) }
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
    /// Booked, and odd.
    Odd(Anomaly),
    Ignored(Anomaly),
}

impl From<Option<Anomaly>> for Booked {
    fn from(anomaly: Option<Anomaly>) -> Booked {
        anomaly.map_or(Booked::InStep, Booked::Odd)
    }
}

fn book_fill(account: &mut Account, fill: &Fill) -> Booked {
    let Account { orders, exposures, counters, .. } = account;
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

fn book_update(account: &mut Account, update: &OrderUpdate) -> Booked {
    if update.quantity.0 < 0 || update.filled.0 < 0 || update.remaining.0 < 0 {
        return Booked::Ignored(Anomaly::BadExecution);
    }
    let refusal = update.status.is_refusal();
    let Some(order) = account.orders.get_mut(update.order_id) else {
        return book_unknown(account, update, refusal);
    };
    // A refusal may come from a matching that no longer knows the order, and fills in what it can.
    if !refusal && (order.instrument != update.instrument || order.side != update.side) {
        return Booked::Ignored(Anomaly::BadExecution);
    }
    if update.status == OrderStatus::Rejected && update.reason == Reason::DuplicateOrder && order.is_working()
    {
        // A td that died between writing an order and moving its cursor wrote it again. The first one stands, and
        // its owner must not believe otherwise.
        return Booked::Ignored(Anomaly::OutOfStep);
    }
    let open = order.open();
    let anomaly = order.on_update(update);
    let change = order.open() - open;
    let (instrument, side) = (order.instrument, order.side);
    if let Some(exposure) = account.exposure(instrument) {
        exposure.work(side, change);
    }
    count(account, update);
    if update.status.is_final() {
        account.end(update.order_id);
    }
    anomaly.into()
}

/// The order ended before, or was sent by a td that died before this one.
fn book_unknown(account: &mut Account, update: &OrderUpdate, refusal: bool) -> Booked {
    if refusal {
        // The order ended while the request was on its way: nothing odd about that.
        account.counters.requests_rejected.add(update.reason);
        return Booked::InStep;
    }
    let listed = update.instrument.0 > 0 && account.exposure(update.instrument).is_some();
    if update.status == OrderStatus::Accepted && update.quantity.0 > 0 && listed {
        account.adopt(update);
        account.counters.accepted += 1;
    }
    Booked::Odd(Anomaly::UnknownOrder)
}

fn count(account: &mut Account, update: &OrderUpdate) {
    let counters = &mut account.counters;
    match update.status {
        OrderStatus::Accepted => counters.accepted += 1,
        OrderStatus::PartiallyFilled => {}
        OrderStatus::Filled => counters.filled += 1,
        OrderStatus::Cancelled => counters.cancelled += 1,
        OrderStatus::Rejected => counters.rejected.add(update.reason),
        OrderStatus::Replaced => counters.replaced += 1,
        OrderStatus::CancelRejected | OrderStatus::ReplaceRejected => {
            counters.requests_rejected.add(update.reason);
        }
    }
}

impl Account {
    /// Takes over an order that works in the market and was not sent from here.
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
