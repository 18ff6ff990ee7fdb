//! What a restarted td has to know before it takes the next order: read back from what it wrote itself.
//!
//! | of | from | says |
//! |---|---|---|
//! | positions, working orders | the ledger's last snapshot | the state up to one of the executions |
//! | requests | `td.orders` | what was sent: on its way to matching, or answered behind the snapshot |
//! | executions | `matching.executions` | what happened since; and what a strategy has not been told |
//! | reports | `reports.…` | the last execution that it was told of, and the last refusal |
//!
//! A request that td had taken when it died, but whose cursor had not moved, is the first of its journal that comes
//! again. It is passed over when its traces are found: in `td.orders` its id or its line, in the reports its refusal,
//! which names the request's position. A refusal also names the last execution that was passed on before it, so that a
//! ring which holds nothing but refusals still says how far executions were.

use std::collections::BTreeMap;
use std::time::Duration;

use node::{Frame, Input, InputId, Node, Output, RunError, fold_held, read_held};
use wire::{AnyMessage, Fill, LastSnapshot, Message, OrderId, OrderStatus, OrderUpdate, Reason, StrategyId};

use super::routes::Routes;
use crate::{Delivery, Gateway, Request};

/// While matching overwrites what is being read, it is read anew.
const TRIES: usize = 20;
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(2);

/// What the journals hold.
#[derive(Debug, Default)]
pub(super) struct Recall {
    snapshot: Vec<AnyMessage>,
    /// Position, message id, payload.
    executions: Vec<(u64, u16, Vec<u8>)>,
    /// Position in `td.orders`.
    sent: Vec<(u64, Request)>,
    /// Requests up to this one were answered when the snapshot was taken.
    answered: u64,
    traces: BTreeMap<StrategyId, Trace>,
}

/// What the predecessor left behind about one strategy.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trace {
    /// Executions up to this position were passed on.
    pub(super) told: u64,
    /// The strategy's last request that was sent on.
    sent: Option<Request>,
    /// Position of the last request that was refused.
    refused: u64,
    /// The last new order that was refused: its id is used up.
    used: Option<OrderId>,
}

/// What is left to do once the gateway has its state.
#[derive(Debug)]
pub(super) struct Resumed {
    pub(super) traces: BTreeMap<StrategyId, Trace>,
    /// Executions that the predecessor had taken, and that their owners have not been told of.
    pub(super) untold: Vec<(u64, Delivery)>,
    /// Position of the oldest execution that could be read again.
    pub(super) oldest: u64,
}

impl Recall {
    pub(super) fn read(
        node: &Node,
        executions: InputId,
        orders: &Output,
        reports: &[Output],
        routes: &Routes,
    ) -> Result<Recall, RunError> {
        let mut recall = Recall::default();
        let instance = node.instance();
        let end = node.inputs().get(executions.0).map_or(0, Input::position);
        for (journal, output) in reports.iter().enumerate() {
            let traces = &mut recall.traces;
            let mut told = 0;
            read_held(instance, output.journal(), None, |frame| {
                let Some(owner) = routes.owner(journal, frame.topic) else { return };
                let trace = traces.entry(owner).or_default();
                trace.report(frame);
                told = told.max(trace.told);
            })
            .map_err(failed)?;
            // Executions are passed on in their order, whoever of those that share the journal they are for.
            routes.strategies(journal).for_each(|owner| traces.entry(owner).or_default().told = told);
        }
        read_held(instance, orders.journal(), None, |frame| recall.request(frame)).map_err(failed)?;
        if let Some(input) = node.inputs().get(executions.0) {
            recall.read_executions(node, input.name(), end)?;
        }
        Ok(recall)
    }

    fn request(&mut self, frame: &Frame<'_>) {
        let Ok(request) = Request::decode(frame.message_id, frame.payload) else { return };
        self.sent.push((frame.position, request));
        if request.source() != Some(0) {
            self.traces.entry(request.order_id().strategy()).or_default().sent = Some(request);
        }
    }

    /// The snapshot, and the executions before `end`, where this process goes on. They may be overwritten meanwhile:
    /// those that the latest snapshot needs are not.
    fn read_executions(&mut self, node: &Node, journal: &str, end: u64) -> Result<(), RunError> {
        for left in (0..TRIES).rev() {
            self.snapshot = fold_held(node.instance(), LastSnapshot::JOURNAL, LastSnapshot::take)
                .map_err(failed)?
                .into_messages();
            let contained = match self.snapshot.first() {
                Some(AnyMessage::SnapshotBegin(begin)) => begin.execution,
                _ => 0,
            };
            let from = (left == 0).then_some(contained);
            self.executions.clear();
            self.answered = 0;
            let Recall { executions, answered, .. } = self;
            let mut first = u64::MAX;
            let whole = read_held(node.instance(), journal, from, |frame| {
                first = first.min(frame.position);
                if frame.position < contained {
                    *answered = request_of(frame).unwrap_or(*answered);
                }
                if frame.position < end {
                    executions.push((frame.position, frame.message_id, frame.payload.to_vec()));
                }
            })
            .map_err(failed)?;
            // An outdated snapshot needs executions that are not kept any more.
            if whole && (contained == 0 || first < contained) {
                return Ok(());
            }
            // Matching stands still soon: its ring is full at the cursor that the predecessor left.
            std::thread::sleep(PAUSE);
        }
        log::error!(
            "executions since the ledger's last snapshot are overwritten: limits count less than there is"
        );
        Ok(())
    }

    /// Into a gateway whose instruments are listed.
    pub(super) fn into_gateway(self, gateway: &mut Gateway) -> Result<Resumed, RunError> {
        let messages = self.snapshot.len();
        if messages > 0 {
            gateway.restore(self.snapshot).map_err(|error| RunError::failed(error.to_string()))?;
        }
        for (position, request) in &self.sent {
            if *position > self.answered {
                gateway.resend(request);
            } else if let Request::New(order) = request {
                gateway.use_up(order.order_id);
            }
        }
        for trace in self.traces.values() {
            trace.used.into_iter().for_each(|order_id| gateway.use_up(order_id));
        }
        let oldest = self.executions.first().map_or(u64::MAX, |(position, ..)| *position);
        let mut untold = Vec::new();
        for (position, message_id, payload) in &self.executions {
            let Some(delivery) = gateway.execution(*position, *message_id, payload).deliver else { continue };
            if self.traces.get(&delivery.to).is_some_and(|trace| *position > trace.told) {
                untold.push((*position, delivery));
            }
        }
        log::info!(
            "taken up where td was: {messages} messages of the ledger's snapshot, {} requests, {} executions read again",
            self.sent.len(),
            self.executions.len()
        );
        Ok(Resumed { traces: self.traces, untold, oldest })
    }
}

impl Trace {
    fn report(&mut self, frame: &Frame<'_>) {
        match frame.message_id {
            Fill::ID => {
                if let Ok(fill) = Fill::decode(frame.payload) {
                    self.told = fill.execution;
                }
            }
            OrderUpdate::ID => match OrderUpdate::decode(frame.payload) {
                Ok(update) if update.execution == 0 => {
                    self.refused = update.request;
                    self.told = update.told;
                    if update.status == OrderStatus::Rejected && update.reason != Reason::Malformed {
                        self.used = Some(update.order_id);
                    }
                }
                Ok(update) => self.told = update.execution,
                Err(_) => {}
            },
            _ => {}
        }
    }

    /// True when the predecessor had done with this frame, the first that comes again from its strategy.
    pub(super) fn shows(&self, frame: &Frame<'_>) -> bool {
        if self.refused >= frame.position {
            return true;
        }
        let Ok(request) = Request::decode(frame.message_id, frame.payload) else { return false };
        self.sent.is_some_and(|sent| sent == request.with_source(line(frame.position)))
    }
}

fn failed(error: impl std::fmt::Display) -> RunError {
    RunError::failed(format!("cannot take up where td was: {error}"))
}

/// The request up to which matching had answered all when it wrote this.
fn request_of(frame: &Frame<'_>) -> Option<u64> {
    match frame.message_id {
        Fill::ID => Fill::decode(frame.payload).ok().map(|fill| fill.execution),
        OrderUpdate::ID => OrderUpdate::decode(frame.payload).ok().map(|update| update.execution),
        _ => None,
    }
}

/// Low 32 bits of the number of the line at `position`; never zero, which stands for "nobody asked".
pub(super) fn line(position: u64) -> u32 {
    ((position / 64) as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{CancelOrder, InstrumentId, Liquidity, Nanos, Price, Quantity, ReplaceOrder, Side};

    const OWNER: StrategyId = StrategyId(5);

    fn order_id() -> OrderId {
        OrderId::new(OWNER, 1, 1)
    }

    fn frame<'a, M: Message>(position: u64, time: u64, message: &'a M) -> Frame<'a> {
        let payload = message.bytes();
        Frame { position, time, message_id: M::ID, flags: 0, topic: 0, epoch: 1, payload }
    }

    fn replace() -> ReplaceOrder {
        let (price, quantity) = (Price(10), Quantity(7));
        ReplaceOrder { order_id: order_id(), instrument: InstrumentId(1), source: 0, price, quantity }
    }

    fn refusal(status: OrderStatus, request: u64, told: u64) -> OrderUpdate {
        OrderUpdate { status, request, told, ..crate::answer::malformed(order_id(), status) }
    }

    fn fill(execution: u64) -> Fill {
        Fill {
            order_id: order_id(),
            trade_id: 1,
            instrument: InstrumentId(1),
            side: Side::Buy,
            liquidity: Liquidity::Maker,
            reserved: [0; 2],
            price: Price(10),
            quantity: Quantity(1),
            remaining: Quantity(1),
            event_time: Nanos(0),
            execution,
        }
    }

    /// The replace at 640 is refused at time 30, after the cancel at 704 was written at time 20. td dies before it can
    /// write the cancel to `td.orders`, which is full.
    #[test]
    fn an_older_refusal_of_the_same_order_does_not_hide_a_request_that_was_not_answered() {
        let (replace, cancel) = (replace(), CancelOrder::new(order_id(), InstrumentId(1)));
        let refusal = refusal(OrderStatus::ReplaceRejected, 640, 0);
        let mut trace = Trace::default();
        trace.report(&frame(64, 30, &refusal));
        assert!(trace.shows(&frame(640, 10, &replace)), "the refused one was answered");
        assert!(!trace.shows(&frame(704, 20, &cancel)), "the cancel was not");
    }

    #[test]
    fn a_refusal_of_bytes_that_are_no_request_shows_them() {
        let mut trace = Trace::default();
        let garbled = Frame { payload: b"what", ..frame(640, 10, &replace()) };
        assert!(!trace.shows(&garbled));
        trace.report(&frame(64, 30, &refusal(OrderStatus::ReplaceRejected, 640, 0)));
        assert!(trace.shows(&garbled));
    }

    /// A ring that has gone round since the last execution was passed on.
    #[test]
    fn refusals_alone_say_up_to_which_execution_a_strategy_was_told() {
        let mut trace = Trace::default();
        for (position, request) in [(64, 640), (192, 704)] {
            trace.report(&frame(position, 1, &refusal(OrderStatus::CancelRejected, request, 4_096)));
        }
        assert_eq!((trace.told, trace.refused), (4_096, 704));
        trace.report(&frame(320, 1, &fill(8_192)));
        assert_eq!(trace.told, 8_192);
        trace.report(&frame(448, 1, &refusal(OrderStatus::CancelRejected, 768, 8_192)));
        assert_eq!(trace.told, 8_192);
    }

    #[test]
    fn a_request_that_was_sent_is_known_by_its_line() {
        let first = Request::Cancel(CancelOrder::new(order_id(), InstrumentId(1)));
        let mut recall = Recall::default();
        let sent = first.with_source(line(640));
        recall.request(&Frame {
            message_id: sent.message_id(),
            payload: sent.bytes(),
            ..frame(64, 5, &replace())
        });
        let trace = recall.traces[&OWNER];
        let cancel = CancelOrder::new(order_id(), InstrumentId(1));
        assert!(trace.shows(&frame(640, 1, &cancel)));
        assert!(!trace.shows(&frame(704, 2, &cancel)), "a second cancel of the same order");
    }
}
