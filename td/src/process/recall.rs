//! The state of a restarted td, read back from the journals before it takes the next request.
//!
//! | state | from | content |
//! |---|---|---|
//! | positions, working orders | the ledger's last snapshot | the state up to a position of the executions |
//! | requests | `td.orders` | those on their way to matching, or answered behind the snapshot |
//! | executions | `matching.executions` | those behind the snapshot, and those not yet reported |
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
use wire::{Execution, OrderId, OrderStatus, Reason, Request, StrategyId};

use super::routes::Routes;
use crate::{Delivery, Gate, Gateway};

/// What the journals hold.
#[derive(Debug, Default)]
pub(super) struct Recall {
    snapshot: Option<Snapshot>,
    /// Position, message id, payload.
    executions: Vec<(u64, u16, Vec<u8>)>,
    /// Position in `td.orders`.
    sent: Vec<(u64, Request)>,
    /// Requests up to this one were answered when the snapshot was taken.
    answered: u64,
    /// Orders that had ended when the snapshot was taken, as far as the executions go back: a market elsewhere answers in any
    /// order, so their requests may stand behind `answered`.
    ended: BTreeSet<OrderId>,
    traces: BTreeMap<StrategyId, Trace>,
    /// By input: position of the last request that the predecessor had handled, among those that are read again.
    handled: BTreeMap<usize, u64>,
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
    /// Position of the oldest execution that could be read again.
    pub(super) oldest: u64,
    /// What the predecessor had sent on or taken, and not written to the drop copy.
    pub(super) copies: Vec<Copied>,
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
        keeps_accounts: bool,
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
                if trace.shows(frame, keeps_accounts) {
                    handled.insert(index, frame.position);
                }
            })
            .map_err(failed)?;
        }
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

    /// The snapshot, and the executions before `end`, where this process continues: all that are there. They may be overwritten
    /// meanwhile, except those behind the latest snapshot, and those that the predecessor kept because they were not reported.
    fn read_executions(&mut self, node: &Node, journal: &str, end: u64) -> Result<(), RunError> {
        let read = |snapshot: Option<Snapshot>, _| {
            let contained = snapshot.as_ref().map_or(0, |snapshot| snapshot.begin.execution);
            self.snapshot = snapshot;
            self.executions.clear();
            self.answered = 0;
            self.ended.clear();
            let Recall { executions, answered, ended, .. } = self;
            let mut first = u64::MAX;
            let whole = read_held(node.instance(), journal, None, |frame| {
                first = first.min(frame.position);
                if frame.position < contained
                    && let Ok(execution) = Execution::decode(frame.message_id, frame.payload)
                {
                    *answered = execution.answered_up_to();
                    if let Execution::Update(update) = execution
                        && update.status.is_final()
                        && update.reason != Reason::DuplicateOrder
                    {
                        ended.insert(update.order_id);
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
    pub(super) fn into_gateway(self, gateway: &mut Gateway, gate: Option<Gate>) -> Result<Resumed, RunError> {
        let mut copies = Vec::new();
        if let Some(gate) = gate {
            let contained = gate.follower().contained;
            gateway.keep_accounts(gate);
            let last = self.sent.iter().rposition(|(_, request)| contained.ends_with(request));
            if last.is_none() && contained.requests > 0 {
                log::error!(
                    "`td.orders` does not go back to the last request of the drop copy: it may lack some"
                );
            }
            let from =
                last.map_or(if contained.requests == 0 { 0 } else { self.sent.len() }, |last| last + 1);
            for (_, request) in &self.sent[from..] {
                gateway.catch_up(request);
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
        for (position, request) in &self.sent {
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
        let oldest = self.executions.first().map_or(u64::MAX, |(position, ..)| *position);
        let mut unreported = Vec::new();
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
        Ok(Resumed { traces: self.traces, handled: self.handled, unreported, oldest, copies })
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

/// Low 32 bits of the number of the line at `position`; never zero, which stands for "no request".
pub(super) fn line(position: u64) -> u32 {
    ((position / 64) as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{
        CancelOrder, Fill, InstrumentId, Liquidity, Message, Nanos, OrderUpdate, Price, Quantity,
        ReplaceOrder, Side,
    };

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

    fn refusal(status: OrderStatus, refused_request: u64, reported_up_to: u64) -> OrderUpdate {
        OrderUpdate { refused_request, reported_up_to, ..crate::answer::malformed(order_id(), status) }
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
            answered_up_to: 0,
        }
    }

    /// The replace at 640 is refused at time 30, after the cancel at 704 was written at time 20. td is killed before it can
    /// write the cancel to `td.orders`, which is full.
    #[test]
    fn an_order_that_has_ended_is_not_on_its_way_although_one_before_it_is() {
        let mut gateway = Gateway::new(crate::GatewayOptions::default()).unwrap();
        let instrument = wire::Instrument {
            id: InstrumentId(1),
            reserved: 0,
            symbol: wire::Symbol::new("A").unwrap(),
            tick: Price(1),
            lot: Quantity(1),
            price_low: Price::NONE,
            price_high: Price::NONE,
            reference_price: Price::NONE,
            max_quantity: Quantity(0),
            multiplier: 0,
            currency: wire::Currency::EMPTY,
        };
        gateway.on_instrument(&instrument).unwrap();
        gateway.strategy_started(OWNER, crate::Limits::NONE).unwrap();
        let order = |sequence, quantity| {
            let id = OrderId::new(OWNER, 1, sequence);
            let (kind, life) = (wire::OrderType::Limit, wire::TimeInForce::Day);
            let (price, quantity) = (Price(10), Quantity(quantity));
            Request::New(wire::NewOrder::plain(id, InstrumentId(1), Side::Buy, kind, life, price, quantity))
        };
        let recall = Recall {
            sent: vec![(64, order(1, 3)), (256, order(2, 4)), (448, order(3, 5))],
            answered: 0,
            ended: BTreeSet::from([OrderId::new(OWNER, 1, 2)]),
            ..Recall::default()
        };
        recall.into_gateway(&mut gateway, None).unwrap();
        assert_eq!(gateway.exposure(OWNER, InstrumentId(1)).working_buys, 3 + 5);
        // Its number is used up all the same.
        let Request::New(again) = order(2, 4) else { panic!() };
        assert_eq!(gateway.on_new_order(OWNER, &again).unwrap_err().reason, Reason::DuplicateOrder);
    }

    #[test]
    fn an_older_refusal_of_the_same_order_does_not_hide_a_request_that_was_not_answered() {
        let (replace, cancel) = (replace(), CancelOrder::new(order_id(), InstrumentId(1)));
        let refusal = refusal(OrderStatus::ReplaceRejected, 640, 0);
        let mut trace = Trace::default();
        trace.report(&frame(64, 30, &refusal));
        assert!(trace.shows(&frame(640, 10, &replace), false), "the refused one was answered");
        assert!(!trace.shows(&frame(704, 20, &cancel), false), "the cancel was not");
    }

    #[test]
    fn a_refusal_of_malformed_bytes_shows_them() {
        let mut trace = Trace::default();
        let garbled = Frame { payload: b"what", ..frame(640, 10, &replace()) };
        assert!(!trace.shows(&garbled, false));
        trace.report(&frame(64, 30, &refusal(OrderStatus::ReplaceRejected, 640, 0)));
        assert!(trace.shows(&garbled, false));
    }

    /// A ring that has gone round since the last execution was passed on.
    #[test]
    fn refusals_alone_say_how_far_executions_were_reported() {
        let mut trace = Trace::default();
        for (position, request) in [(64, 640), (192, 704)] {
            trace.report(&frame(position, 1, &refusal(OrderStatus::CancelRejected, request, 4_096)));
        }
        assert_eq!((trace.reported_up_to, trace.refused_request), (4_096, 704));
        trace.report(&frame(320, 1, &fill(8_192)));
        assert_eq!(trace.reported_up_to, 8_192);
        trace.report(&frame(448, 1, &refusal(OrderStatus::CancelRejected, 768, 8_192)));
        assert_eq!(trace.reported_up_to, 8_192);
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
        assert!(trace.shows(&frame(640, 1, &cancel), false));
        assert!(!trace.shows(&frame(704, 2, &cancel), false), "a second cancel of the same order");
    }
}
