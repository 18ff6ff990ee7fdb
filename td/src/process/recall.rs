//! The state of a restarted td, read back from the journals before it takes the next request.
//!
//! | state | from | content |
//! |---|---|---|
//! | positions, working orders | the ledger's last snapshot | the state up to a position of the executions |
//! | requests | `td.orders` | those on their way to matching, or answered behind the snapshot; which orders td has cancelled by itself |
//! | executions | `matching.executions` | those behind the snapshot, and those not yet reported; what is overwritten there, `td.drops` has |
//! | reports | `reports.…` | the last execution that was reported to a strategy, and its last refusal |
//!
//! A request that td had taken when it died, but whose cursor had not moved, is the first of its journal to be read again.
//! When the journals come back from a recording, the cursor is older than what it caused by then: several requests are read
//! again. They are skipped up to the last whose trace is found: its id or line in `td.orders`, or its refusal in the reports,
//! which names the request's position. A refusal also names the last execution that was passed on before it, so that a ring of refusals
//! alone still says how far executions were reported.

use std::collections::{BTreeMap, BTreeSet};

use accounts::Kill;
use node::{Frame, Input, InputId, Node, Output, RunError, read_behind_snapshot, read_held};
use wire::fold::Snapshot;
use wire::{CancelOrder, Execution, Nanos, OrderId, OrderStatus, Reason, Request, StrategyId};

use super::accounts::Accounts;
use super::overwritten::Overwritten;
use super::routes::Routes;
use crate::{Delivery, Gate, Gateway};

/// What the journals hold.
#[derive(Debug, Default)]
pub(super) struct Recall {
    snapshot: Option<Snapshot>,
    /// Position, message id, payload.
    executions: Vec<(u64, u16, Vec<u8>)>,
    /// Position in `td.orders`, and when it was written.
    sent: Vec<((u64, u64), Request)>,
    /// Requests up to this one were answered when the snapshot was taken.
    answered: u64,
    /// Orders that had ended when the snapshot was taken, as far as the executions go back: a market elsewhere answers in any
    /// order, so their requests may stand behind `answered`.
    ended: BTreeSet<OrderId>,
    /// When a cancel of these orders was last refused before the snapshot was taken.
    refused: BTreeMap<OrderId, u64>,
    traces: BTreeMap<StrategyId, Trace>,
    /// By input: position of the last request that the predecessor had handled, among those that are read again.
    handled: BTreeMap<usize, u64>,
    /// The last request that the predecessor made by itself.
    own: Option<u32>,
    /// Reports that were in the predecessor's memory alone.
    overwritten: Option<Overwritten>,
}

/// What a predecessor's journals say about one strategy.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trace {
    /// Executions up to this position were passed on.
    pub(super) reported_up_to: u64,
    /// The strategy's last request that was sent on.
    sent: Option<Request>,
    /// Position of the last request that was refused.
    refused_request: u64,
    /// The last new order that was refused: its id is used up.
    used: Option<OrderId>,
}

/// The work that is left once the gateway has its state.
#[derive(Debug)]
pub(super) struct Resumed {
    pub(super) traces: BTreeMap<StrategyId, Trace>,
    /// By input of requests: the predecessor had handled those up to this position.
    pub(super) handled: BTreeMap<usize, u64>,
    /// Executions that the predecessor had taken, and not reported to their owners.
    pub(super) unreported: Vec<(u64, Delivery)>,
    /// Position of the oldest execution that could be read again, and of the oldest that is in its own ring still.
    pub(super) oldest: u64,
    pub(super) in_ring: u64,
    /// What the predecessor had sent on or taken, and not written to the drop copy.
    pub(super) copies: Vec<Copied>,
    /// Orders that the predecessor had cancelled by itself: they must end.
    pub(super) ending: BTreeSet<OrderId>,
    /// Orders of which a cancel counts as on its way that may have been refused already.
    pub(super) unsure: BTreeSet<OrderId>,
    /// The last number that the predecessor gave to a request of its own.
    pub(super) own: Option<u32>,
}

/// An event of the drop copy.
#[derive(Clone, Debug)]
pub(super) enum Copied {
    Request(Request),
    /// With the switches that fall by it.
    Execution(Execution, Vec<Kill>),
}

impl Recall {
    pub(super) fn read(
        node: &Node,
        executions: InputId,
        orders: &Output,
        reports: &[Output],
        routes: &Routes,
        accounts: Option<&Accounts>,
    ) -> Result<Recall, RunError> {
        let mut recall = Recall::default();
        let instance = node.instance();
        let end = node.inputs().get(executions.0).map_or(0, Input::position);
        for (journal, output) in reports.iter().enumerate() {
            let traces = &mut recall.traces;
            let mut reported_up_to = 0;
            read_held(instance, &output.journal, None, |frame| {
                let Some(owner) = routes.owner(journal, frame.topic) else { return };
                let trace = traces.entry(owner).or_default();
                trace.report(frame);
                reported_up_to = reported_up_to.max(trace.reported_up_to);
            })
            .map_err(failed)?;
            // Executions are passed on in their order, also to strategies that share the journal.
            routes
                .strategies(journal)
                .for_each(|owner| traces.entry(owner).or_default().reported_up_to = reported_up_to);
        }
        read_held(instance, &orders.journal, None, |frame| recall.request(frame)).map_err(failed)?;
        for (index, input) in node.inputs().iter().enumerate().filter(|(_, input)| input.role == "orders") {
            let Some(trace) = recall.traces.get(&StrategyId(input.peer_seat as u16)).copied() else {
                continue;
            };
            let handled = &mut recall.handled;
            read_held(instance, input.name(), Some(input.position()), |frame| {
                if trace.shows(frame, accounts.is_some()) {
                    handled.insert(index, frame.position);
                }
            })
            .map_err(failed)?;
        }
        if let Some(input) = node.inputs().get(executions.0) {
            recall.read_executions(node, input.name(), end)?;
        }
        let handle = node.handle();
        let is_at_risk = |strategy: StrategyId| handle.at_risk(u32::from(strategy.0)) > 0;
        let mut owners = (0..reports.len()).flat_map(|journal| routes.strategies(journal));
        if let Some(accounts) = accounts
            && owners.any(is_at_risk)
        {
            let found = accounts.overwritten(node, &recall.traces, recall.in_ring()).map_err(failed)?;
            recall.overwritten = Some(found);
        }
        Ok(recall)
    }

    /// Position of the oldest execution that is not overwritten.
    fn in_ring(&self) -> u64 {
        self.executions.first().map_or(u64::MAX, |(position, ..)| *position)
    }

    fn request(&mut self, frame: &Frame<'_>) {
        let Ok(request) = Request::decode(frame.message_id, frame.payload) else { return };
        self.sent.push(((frame.position, frame.time), request));
        if request.is_of_td() {
            self.own = request.source();
        } else if request.source() != Some(0) {
            self.traces.entry(request.order_id().strategy()).or_default().sent = Some(request);
        }
    }

    /// The snapshot, and the executions before `end`, where this process continues: all that are there. They may be overwritten
    /// meanwhile, except those behind the latest snapshot, and those that the predecessor kept because they were not reported.
    fn read_executions(&mut self, node: &Node, journal: &str, end: u64) -> Result<(), RunError> {
        let read = |snapshot: Option<Snapshot>, _| {
            let contained = snapshot.as_ref().map_or(0, |snapshot| snapshot.begin.execution);
            self.snapshot = snapshot;
            self.executions.clear();
            self.answered = 0;
            self.ended.clear();
            self.refused.clear();
            let Recall { executions, answered, ended, refused, .. } = self;
            let mut first = u64::MAX;
            let whole = read_held(node.instance(), journal, None, |frame| {
                first = first.min(frame.position);
                if frame.position < contained
                    && let Ok(execution) = Execution::decode(frame.message_id, frame.payload)
                {
                    *answered = execution.answered_up_to();
                    if let Execution::Update(update) = execution {
                        if update.status.is_final() && update.reason != Reason::DuplicateOrder {
                            ended.insert(update.order_id);
                        } else if update.status == OrderStatus::CancelRejected {
                            refused.insert(update.order_id, frame.time);
                        }
                    }
                }
                if frame.position < end {
                    executions.push((frame.position, frame.message_id, frame.payload.to_vec()));
                }
            })?;
            // The executions behind an outdated snapshot are not kept any more.
            Ok(((), whole && (contained == 0 || first < contained)))
        };
        let ((), is_whole) = read_behind_snapshot(node.instance(), read).map_err(failed)?;
        if !is_whole {
            log::error!(
                "executions since the ledger's last snapshot are overwritten: limits count less than what works"
            );
        }
        Ok(())
    }

    /// Into a gateway whose instruments are listed.
    pub(super) fn into_gateway(
        mut self,
        gateway: &mut Gateway,
        gate: Option<Gate>,
    ) -> Result<Resumed, RunError> {
        let (mut copies, mut own) = (Vec::new(), self.own);
        if let Some(gate) = gate {
            let contained = gate.follower().contained;
            own = own.or(Some(contained.last_source).filter(|last| last & CancelOrder::OF_TD != 0));
            gateway.keep_accounts(gate);
            let last = self.sent.iter().rposition(|(_, request)| contained.ends_with(request));
            if last.is_none() && contained.requests > 0 {
                log::error!(
                    "`td.orders` does not go back to the last request of the drop copy: it may lack some"
                );
            }
            let from =
                last.map_or(if contained.requests == 0 { 0 } else { self.sent.len() }, |last| last + 1);
            for ((_, time), request) in &self.sent[from..] {
                gateway.catch_up(request, Nanos(*time));
                copies.push(Copied::Request(*request));
            }
        }
        let held = match &self.snapshot {
            Some(snapshot) => {
                gateway.restore(snapshot).map_err(|error| RunError::failed(error.to_string()))?;
                (snapshot.positions.len(), snapshot.orders.len())
            }
            None => (0, 0),
        };
        for ((position, _), request) in &self.sent {
            let has_ended = matches!(request, Request::New(order) if self.ended.contains(&order.order_id));
            if *position > self.answered && !has_ended {
                gateway.resend(request);
            } else if let Request::New(order) = request {
                gateway.use_up(order.order_id);
            }
        }
        for trace in self.traces.values() {
            trace.used.into_iter().for_each(|order_id| gateway.use_up(order_id));
        }
        let in_ring = self.in_ring();
        let (mut unreported, oldest) = match self.overwritten.take() {
            Some(overwritten) => {
                let count = overwritten.unreported.len();
                log::info!("{count} reports of overwritten executions are made again from the drop copy");
                (overwritten.unreported, overwritten.oldest)
            }
            None => (Vec::new(), in_ring),
        };
        for (position, message_id, payload) in &self.executions {
            let outcome = gateway.execution(*position, *message_id, payload);
            let kills = gateway.take_kills();
            let copy = outcome.copy(*position, *message_id, payload);
            copies.extend(copy.map(|execution| Copied::Execution(execution, kills)));
            let Some(delivery) = outcome.deliver else { continue };
            if self.traces.get(&delivery.to).is_some_and(|trace| *position > trace.reported_up_to) {
                unreported.push((*position, delivery));
            }
        }
        log::info!(
            "taken up where td was: {} positions and {} working orders of the ledger's snapshot, {} requests, {} executions \
             read again",
            held.0,
            held.1,
            self.sent.len(),
            self.executions.len()
        );
        let own_requests = self.sent.iter().filter(|(_, request)| request.is_of_td());
        let mut ending: BTreeSet<OrderId> = own_requests.map(|(_, request)| request.order_id()).collect();
        // `td.orders` may not go back to the first cancel of an order that the market keeps.
        ending.extend(gateway.accounts().into_iter().flat_map(|gate| gate.follower().desk.recalled()));
        let unsure = self.unsure();
        Ok(Resumed {
            traces: self.traces,
            handled: self.handled,
            unreported,
            oldest,
            in_ring,
            copies,
            ending,
            unsure,
            own,
        })
    }
}

impl Recall {
    /// Orders of which a cancel may have been refused although it stands behind `answered`: a market elsewhere answers in any
    /// order. What a request causes has a later time than the request.
    fn unsure(&self) -> BTreeSet<OrderId> {
        let unanswered = self.sent.iter().filter(|((position, _), _)| *position > self.answered);
        let cancels = unanswered.filter_map(|((_, time), request)| match request {
            Request::Cancel(cancel) => Some((cancel.order_id, *time)),
            _ => None,
        });
        let may_be_refused =
            |(order, time): &(OrderId, u64)| self.refused.get(order).is_some_and(|refused| refused >= time);
        cancels.filter(may_be_refused).map(|(order, _)| order).collect()
    }
}

impl Trace {
    fn report(&mut self, frame: &Frame<'_>) {
        let Ok(report) = Execution::decode(frame.message_id, frame.payload) else { return };
        match (report.position(), report) {
            (Some(position), _) => self.reported_up_to = position,
            // A refusal.
            (None, Execution::Update(update)) => {
                self.refused_request = update.refused_request;
                self.reported_up_to = update.reported_up_to;
                if update.status == OrderStatus::Rejected && update.reason != Reason::Malformed {
                    self.used = Some(update.order_id);
                }
            }
            (None, Execution::Fill(_)) => {}
        }
    }

    /// True when the predecessor had handled this frame, and it is the last one of those, or was refused.
    pub(super) fn shows(&self, frame: &Frame<'_>, keeps_accounts: bool) -> bool {
        if self.refused_request >= frame.position {
            return true;
        }
        let Ok(request) = Request::decode(frame.message_id, frame.payload) else { return false };
        self.sent.is_some_and(|sent| match (sent, request) {
            // td chose its offset, and its account.
            (Request::New(sent), Request::New(order)) if keeps_accounts => sent.order_id == order.order_id,
            _ => sent == request.with_source(line(frame.position)),
        })
    }
}

fn failed(error: impl std::fmt::Display) -> RunError {
    RunError::failed(format!("cannot take up where td was: {error}"))
}

/// Low 31 bits of the number of the line at `position`; never zero, which stands for "no request".
pub(super) fn line(position: u64) -> u32 {
    ((position / 64) as u32 & !CancelOrder::OF_TD).max(1)
}

#[cfg(test)]
mod tests;
