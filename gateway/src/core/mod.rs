//! The core: one thread on the node's poll loop. It follows the journals, keeps what clients may see, writes their orders, and
//! answers what the HTTP threads ask.
//!
//! ```text
//!   HTTP threads ── Ask ──► Door (bounded, no lock) ──► Core ── orders.gateway ──► td
//!        ▲                                               │ ▲ ◄── reports.gateway, md.quotes, ledger.state (all loose)
//!        └──────────────── Reply (oneshot) ──────────────┘ └──► Hub ──► push threads
//! ```
//!
//! Nothing waits for the core: it reads everything loosely. If reports of td are lost to it, it asks the ledger which orders
//! work; how the others ended is then unknown, and is called so.

mod answering;
pub(crate) mod ask;
mod kept;
mod market;
pub(crate) mod orders;
mod owed;
mod recall;
mod sessions;

use std::collections::HashMap;
use std::sync::Arc;

use node::{
    Component, Context, Counted, Counter, Frame, Gap, Input, InputId, JoinError, Node, NodeHandle, Output,
    RunError, Tally,
};
use wire::fold::SnapshotReader;
use wire::{
    AnyMessage, Best, Execution, Instrument, InstrumentId, Message, NodeEvent, OrderId, OrderStatus, Quote,
    StrategyId, TradePrint,
};

use crate::meter::Meter;
use crate::push::{Channel, Hub, Positions};
use ask::{Door, Outcome, Reply, Scope};
use market::Market;
use orders::{MustEnd, Orders, Resolved};
use owed::Owed;
use sessions::Sessions;

/// Asks of one turn: one batch for td, and the journals are looked at in between.
const ASKS_A_TURN: usize = 256;
/// What a strategy's seat counts of its requests holds for this one too.
const COUNTED: &[Counted] = &[
    (Counter::Orders, Tally::orders),
    (Counter::Cancels, Tally::cancels),
    (Counter::Replaces, Tally::replaces),
];
/// td has only this topic for a sender's requests.
const TOPIC: u32 = 0;

/// What a journal is to the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Instruments,
    Quotes,
    Best,
    Reports,
    State,
    Events,
}

impl Role {
    fn of(name: &str) -> Option<Role> {
        Some(match name {
            "instruments" => Role::Instruments,
            "quotes" => Role::Quotes,
            "best" => Role::Best,
            "reports" => Role::Reports,
            "state" => Role::State,
            "events" => Role::Events,
            _ => return None,
        })
    }
}

/// The component.
pub(crate) struct Core {
    handle: NodeHandle,
    door: Door,
    hub: Hub,
    output: Output,
    seat: StrategyId,
    /// The next order's number within this epoch.
    next: u32,
    roles: Vec<Option<Role>>,
    market: Market,
    orders: Orders,
    /// Who waits for td's first word about an order, or about a cancel or replace of it.
    waiting: HashMap<OrderId, Vec<(Wait, Reply<Outcome>)>>,
    reports: Option<InputId>,
    /// Reports before this position were there when the node joined: until they are read, nobody is answered.
    reports_end: u64,
    positions: Positions,
    is_ready: bool,
    /// Seat of the ledger.
    ledger: Option<u32>,
    snapshots: SnapshotReader,
    /// The ledger was asked which orders work.
    asked: bool,
    /// What works is cancelled at a clean stop.
    cancel_on_stop: bool,
    turn: answering::Turn,
    sessions: Sessions,
    owed: Owed,
    meter: Arc<Meter>,
}

/// What a client waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    /// For td's first word about an order.
    First,
    /// The same, of a request that came again before it was there.
    Again,
    Cancel,
    Replace,
}

impl Wait {
    fn is_first_word(self) -> bool {
        matches!(self, Wait::First | Wait::Again)
    }
}

impl Core {
    /// The core of this node, which has read back what its predecessors sent.
    pub(crate) fn new(
        node: &mut Node,
        mut hub: Hub,
        door: Door,
        cancel_on_stop: bool,
        meter: Arc<Meter>,
    ) -> Result<Core, JoinError> {
        let output = node.take_output("orders")?;
        output.resume(&node.handle(), COUNTED);
        let seat = u16::try_from(node.assignment().seat).map(StrategyId).unwrap_or(StrategyId(u16::MAX));
        let state = node.inputs_of("state").next();
        let ledger = state.and_then(|state| node.inputs().get(state.0)).map(|input| input.peer_seat);
        let snapshots = SnapshotReader::of_strategy(seat, node.assignment().generation);
        if let Some(input) = state.and_then(|state| node.input_mut(state)) {
            input.narrow(Some(&[snapshots.topic()]))?;
        }
        let reports = node.input("reports")?;
        let reports_end = node.inputs().get(reports.0).map_or(0, Input::head);
        let mut orders = Orders::of_ring(output.capacity);
        recall::read(node.instance(), &output.journal, &mut orders)?;
        let mut market = Market::default();
        recall::market(node.instance(), node.inputs(), &mut market, &mut hub)?;
        let name = node.inputs().get(reports.0).map_or("", Input::name);
        let (positions, is_cut) = recall::kept(node.instance(), name)?;
        let handle = node.handle();
        // What the reports do not say any more, the ledger does.
        let asked = is_cut && ledger.is_some();
        hub.begins(positions, reports_end);
        if is_cut {
            let resumed_at = node.inputs().get(reports.0).map_or(0, Input::position);
            hub.lost(&[Channel::Orders], Gap { from: 0, resumed_at });
            log::info!("the oldest reports are overwritten: how some orders ended may be unknown");
        }
        Ok(Core {
            handle,
            door,
            hub,
            seat,
            next: 0,
            roles: node.inputs().iter().map(|input| Role::of(&input.role)).collect(),
            output,
            market,
            orders,
            waiting: HashMap::new(),
            reports: Some(reports),
            reports_end,
            positions,
            is_ready: false,
            ledger,
            snapshots,
            asked,
            cancel_on_stop,
            turn: answering::Turn::default(),
            sessions: Sessions::default(),
            owed: Owed::default(),
            meter,
        })
    }

    fn next_id(&mut self) -> OrderId {
        self.next = self.next.wrapping_add(1);
        OrderId::new(self.seat, self.output.epoch() as u16, self.next)
    }

    /// All that was said to a predecessor is read.
    fn becomes_ready(&mut self) {
        self.is_ready = true;
        self.hub.read_back(self.positions);
        if self.asked {
            return self.ask_ledger();
        }
        self.take_owed();
    }

    /// Orders still work that a mass cancel of a predecessor covers, or that were to end with its sessions.
    fn take_owed(&mut self) {
        for owed in self.orders.take_owed() {
            match owed {
                MustEnd::Alone(id) => self.owed.owe(id),
                MustEnd::InMass(id, request) => self.owed.owe_in_mass(id, request),
            }
        }
    }

    /// Asks which of our orders work.
    fn ask_ledger(&mut self) {
        self.asked = true;
        self.orders.doubt();
        self.owed.lost(self.handle.now());
        self.snapshots.reset();
        if let Some(ledger) = self.ledger {
            self.handle.ask(ledger);
        }
    }

    fn on_state(&mut self, frame: &Frame<'_>) {
        if !self.asked || frame.topic != self.snapshots.topic() {
            return;
        }
        let Ok(message) = AnyMessage::decode(frame.message_id, frame.payload) else { return };
        match self.snapshots.take(message) {
            Ok(Some(snapshot)) => {
                self.asked = false;
                if let Some(ledger) = self.ledger {
                    self.handle.settle(ledger);
                }
                let resolved = self.orders.resolve(&snapshot.orders, snapshot.begin.execution);
                self.on_resolved(&resolved);
                self.take_owed();
            }
            Ok(None) => {}
            Err(error) => log::warn!("the ledger's state at position {}: {error}", frame.position),
        }
    }

    /// The ledger has answered: clients that wait for orders in doubt get answers.
    fn on_resolved(&mut self, resolved: &Resolved) {
        if !resolved.lost.is_empty() {
            let count = resolved.lost.len();
            log::warn!("how {count} orders ended is unknown: their reports are overwritten");
        }
        for id in &resolved.lost {
            self.owed.ended(*id);
            let Some(order) = self.orders.get(*id) else { continue };
            for (_, reply) in self.waiting.remove(id).into_iter().flatten() {
                let _ = reply.send(Outcome::Order(self.orders.view(order)));
            }
        }
        for id in &resolved.renewed {
            let Some((order, waiting)) = self.orders.get(*id).zip(self.waiting.get_mut(id)) else { continue };
            // td has taken the order. Answers to changes of it may still come.
            for (wait, reply) in waiting.extract_if(.., |(wait, _)| wait.is_first_word()) {
                let view = self.orders.view(order);
                let _ =
                    reply.send(if wait == Wait::Again { Outcome::Again(view) } else { Outcome::Order(view) });
            }
        }
        let changed = resolved.renewed.iter().chain(&resolved.lost);
        let views =
            changed.filter_map(|id| self.orders.get(*id)).map(|order| self.orders.view(order)).collect();
        self.hub.resolved(views);
    }

    /// What must end has ended, or its cancel is refused.
    fn settle_owed(&mut self, report: &Execution, is_working: bool) {
        let id = report.order_id();
        match report {
            _ if !is_working => self.owed.ended(id),
            Execution::Update(update) if update.status == OrderStatus::CancelRejected => {
                self.owed.refused(id, self.handle.now());
            }
            Execution::Update(_) | Execution::Fill(_) => {}
        }
    }

    fn on_report(&mut self, context: &Context, frame: &Frame<'_>) {
        let Ok(report) = Execution::decode(frame.message_id, frame.payload) else {
            return context.add(Counter::Malformed, 1);
        };
        match &report {
            Execution::Fill(_) => context.add(Counter::Fills, 1),
            Execution::Update(update) => {
                if let Some(counter) = Counter::of_refusal(update.status) {
                    context.add(counter, 1);
                    // What was said to a predecessor, that one has counted.
                    if self.is_ready {
                        self.meter.refusal(update.reason);
                    }
                }
            }
        }
        let id = report.order_id();
        if self.orders.report(&report, frame.position).is_none() {
            // The answer to a mass cancel has a number of its own.
            self.orders.mass_answered(id);
            return self.owed.mass_answered(id);
        }
        let Some(order) = self.orders.get(id) else { return };
        let view = self.orders.view(order);
        self.hub.order(order.account.0, frame, &report, view.clone());
        if !self.owed.is_empty() {
            self.settle_owed(&report, view.working);
        }
        let Some(order) = self.orders.get(id) else { return };
        let Some(waiting) = self.waiting.get_mut(&id) else { return };
        // A fill is followed by how the order stands.
        let Execution::Update(update) = report else { return };
        let refused = match update.status {
            OrderStatus::CancelRejected => Some(Wait::Cancel),
            OrderStatus::ReplaceRejected => Some(Wait::Replace),
            _ => None,
        };
        let mut left = Vec::new();
        for (wait, reply) in waiting.drain(..) {
            let is_done = match wait {
                Wait::First | Wait::Again => refused.is_none(),
                Wait::Cancel => refused == Some(Wait::Cancel) || !order.is_working(),
                Wait::Replace => {
                    refused == Some(Wait::Replace)
                        || update.status == OrderStatus::Replaced
                        || !order.is_working()
                }
            };
            if !is_done {
                left.push((wait, reply));
                continue;
            }
            let outcome = match (wait, order.refusal()) {
                (Wait::First | Wait::Again, Some(reason)) => Outcome::Refused(view.clone(), reason),
                _ if refused == Some(wait) => Outcome::Refused(view.clone(), update.reason),
                (Wait::Replace, _) if update.status != OrderStatus::Replaced => Outcome::Ended(view.clone()),
                (Wait::Again, None) => Outcome::Again(view.clone()),
                _ => Outcome::Order(view.clone()),
            };
            // Who has gone does not wait.
            let _ = reply.send(outcome);
        }
        if left.is_empty() {
            self.waiting.remove(&id);
        } else if let Some(waiting) = self.waiting.get_mut(&id) {
            *waiting = left;
        }
    }

    fn on_market(&mut self, frame: &Frame<'_>) -> Result<(), wire::WireError> {
        match frame.message_id {
            Quote::ID => {
                let quote = Quote::decode(frame.payload)?;
                if let Some(symbol) = self.market.quote(&quote, frame.time) {
                    self.hub.market(Channel::Quotes, quote.instrument.0, frame, symbol);
                }
            }
            Best::ID => {
                let (instrument, best) = (InstrumentId(frame.topic), Best::decode(frame.payload)?);
                if let Some(symbol) = self.market.best(instrument, &best, frame.time) {
                    self.hub.market(Channel::Quotes, instrument.0, frame, symbol);
                }
            }
            TradePrint::ID => {
                let print = TradePrint::decode(frame.payload)?;
                if let Some(symbol) = self.market.trade(&print, frame.time) {
                    self.hub.market(Channel::Trades, print.instrument.0, frame, symbol);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn on_instrument(&mut self, frame: &Frame<'_>) -> Result<(), wire::WireError> {
        if frame.message_id == Instrument::ID {
            let instrument = Instrument::decode(frame.payload)?;
            self.market.list(&instrument);
            self.orders.set_lot(instrument.id, instrument.lot);
            self.door.list(instrument.symbol.to_string(), instrument.id);
            self.hub.instrument(&instrument);
        }
        Ok(())
    }

    fn on_event(&mut self, frame: &Frame<'_>) -> Result<(), wire::WireError> {
        if frame.message_id == NodeEvent::ID {
            let event = NodeEvent::decode(frame.payload)?;
            let name = self.handle.name_of(u32::from(event.seat));
            self.hub.platform(frame, &event, &name);
        }
        Ok(())
    }
}

impl Component for Core {
    fn turn(&mut self, context: &mut Context) -> Result<(), RunError> {
        if !self.is_ready {
            return Ok(());
        }
        let mut asked = 0;
        while asked < ASKS_A_TURN
            && let Some(ask) = self.door.take()
        {
            self.answer(ask);
            asked += 1;
            if self.turn.bytes() >= self.orders.longest_turn() {
                self.commit();
            }
        }
        let cancelled = !self.owed.is_empty() && self.cancel_owed(context.now());
        if asked > 0 || cancelled {
            self.commit();
            context.worked();
        }
        if let Some(due) = self.owed.due() {
            context.wake_at(due.max(context.now()));
        }
        self.hub.flush();
        Ok(())
    }

    fn is_wanted(&self) -> bool {
        self.is_ready && (!self.door.is_empty() || self.owed.due() == Some(0))
    }

    fn accepts(&mut self, input: InputId, position: u64) -> bool {
        if Some(input) == self.reports && !self.is_ready && position >= self.reports_end {
            self.becomes_ready();
        }
        true
    }

    fn frame(&mut self, context: &mut Context, input: InputId, frame: &Frame<'_>) -> Result<(), RunError> {
        let Some(role) = self.roles.get(input.0).copied().flatten() else { return Ok(()) };
        let done = match role {
            Role::Instruments => self.on_instrument(frame),
            Role::Quotes | Role::Best => self.on_market(frame),
            Role::Events => self.on_event(frame),
            Role::Reports => {
                self.on_report(context, frame);
                Ok(())
            }
            Role::State => {
                self.on_state(frame);
                Ok(())
            }
        };
        if let Err(error) = done {
            context.add(Counter::Malformed, 1);
            log::warn!("{role:?} at position {}: {error}; passed over", frame.position);
        }
        Ok(())
    }

    fn gap(&mut self, context: &mut Context, input: InputId, gap: Gap) -> Result<(), RunError> {
        match self.roles.get(input.0).copied().flatten() {
            Some(Role::Reports) => {
                log::warn!(
                    "{} bytes of reports are lost: the ledger is asked which orders work",
                    gap.bytes()
                );
                context.add(Counter::Anomalies, 1);
                self.hub.lost(&[Channel::Orders], gap);
                self.ask_ledger();
            }
            Some(Role::State) => {
                self.snapshots.reset();
                if self.asked {
                    self.ask_ledger();
                }
            }
            Some(Role::Quotes | Role::Best) => self.hub.lost(&[Channel::Quotes, Channel::Trades], gap),
            _ => {}
        }
        Ok(())
    }

    fn stop(&mut self, _context: &mut Context) -> Result<(), RunError> {
        // Their WebSockets end with the gateway.
        for id in self.sessions.end_all() {
            self.owe(id);
        }
        if self.cancel_on_stop && !self.orders.working(Scope::default()).is_empty() {
            let cancel = Scope::default().request(self.next_id());
            if let Err(error) = self.output.send(TOPIC, &cancel) {
                log::warn!("what clients have working is not cancelled: {error}");
            }
        }
        for id in self.owed.all() {
            let Some(order) = self.orders.get(id).filter(|order| order.is_working()) else { continue };
            let cancel = wire::CancelOrder::new(id, order.request.instrument);
            if let Err(error) = self.output.send(TOPIC, &cancel) {
                log::warn!("{id} must end and is not cancelled: {error}");
            }
        }
        self.hub.close();
        Ok(())
    }
}
