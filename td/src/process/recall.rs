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
//! again. It is passed over when its traces are found: in `td.orders` its id or its line, in the reports its refusal.

use std::collections::BTreeMap;

use node::{Frame, Input, InputId, Node, Output, RunError, last_snapshot, read_held};
use wire::{AnyMessage, Fill, Message, OrderId, OrderStatus, OrderUpdate, Reason, StrategyId};

use super::routes::Routes;
use crate::{Delivery, Gateway, Request};

/// While matching overwrites what is being read, it is read anew.
const TRIES: usize = 20;

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
    /// Order and time of the last refusal.
    refused: Option<(OrderId, u64)>,
    /// The last new order that was refused: its id is used up.
    used: Option<OrderId>,
}

/// What is left to do once the gateway has its state.
#[derive(Debug)]
pub(super) struct Resumed {
    pub(super) traces: BTreeMap<StrategyId, Trace>,
    /// Executions that the predecessor had taken, and that their owners have not been told of.
    pub(super) untold: Vec<(u64, Delivery)>,
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
            let (mut held, mut told) = (0, 0);
            read_held(instance, output.journal(), None, |frame| {
                held += 1;
                let Some(owner) = routes.owner(journal, frame.topic) else { return };
                let trace = traces.entry(owner).or_default();
                trace.report(frame);
                told = told.max(trace.told);
            })
            .map_err(failed)?;
            if told == 0 && held < output.frames() {
                // Refusals alone filled the ring.
                told = end.saturating_sub(1);
            }
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
            self.snapshot = last_snapshot(node.instance()).map_err(failed)?;
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
        Ok(Resumed { traces: self.traces, untold })
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
                    self.refused = Some((update.order_id, frame.time));
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
        let Ok(request) = Request::decode(frame.message_id, frame.payload) else { return false };
        let sent = self.sent.is_some_and(|sent| sent == request.with_source(line(frame.position)));
        sent || self
            .refused
            .is_some_and(|(order_id, time)| order_id == request.order_id() && time >= frame.time)
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
