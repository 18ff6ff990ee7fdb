//! The td process: requests from each strategy to matching, executions back to the owner of each order.
//!
//! ```text
//!  orders.STRATEGY ─► checks ─┬─► td.orders ─► matching        matching.executions ─► reports.STRATEGY
//!                             ├─► td.samples (times of each order)
//!                             └─► reports.STRATEGY (refused)    master.events: a strategy ended ─► cancels
//! ```
//!
//! - While `td.orders` is full, no request is taken, but executions are: td and matching cannot block each other.
//! - A strategy that does not read its reports blocks only itself: its reports are kept in td's memory, up to a limit beyond
//!   which they are counted as undelivered, and none of its requests is taken meanwhile. The executions of these reports are
//!   kept in their ring for a successor, up to a share of it ([`unreported`]).
//! - The cursor of a strategy's orders stays before the last request taken until the order or refusal that it led to is
//!   committed. A restarted td reads its state from its own journals, the ledger's last snapshot and the executions
//!   ([`recall`]), and which strategies run from master's events.

mod accounts;
mod batch;
mod copies;
mod disks;
mod drops;
mod epochs;
mod extent;
mod lasting;
mod leaving;
mod marks;
mod overwritten;
mod owing;
mod recall;
mod refused;
mod reports;
mod requests;
mod routes;
mod settled;
mod stale;
mod unreported;

use std::collections::{BTreeMap, BTreeSet};

use node::{
    Component, Context, Counter, Depths, Frame, Input, InputId, Latencies, Node, NodeHandle, Output,
    Quiescence, RunError, Runner, Service, Stepwise, ToItsEnd, WriteError,
};
use topology::config::{TickRow, ticks_of};
use topology::{NodeKind, Stream, TdSection};
use wire::{EndOfStream, Instrument, Message, NodeChange, NodeEvent, NodeRole, Quantity, StrategyId};

use crate::{Gateway, GatewayOptions, Limits};
use batch::Batches;
use disks::Disks;
use drops::Sent;
use epochs::Epochs;
use lasting::{Lasting, Lasts};
use leaving::Leaving;
use recall::{Recall, Trace};
use refused::RefusedBefore;
use routes::Routes;
use settled::Unsettled;
use unreported::Unreported;

/// A full journal is tried again after this many nanoseconds.
const RETRY: u64 = 50_000;

/// The trade gateway.
pub const SERVICE: Service = Service {
    kind: NodeKind::Td,
    about: "Trade gateway",
    flags: &[],
    run: |node, _| run(node, ToItsEnd),
    steps: Some(|node| run(node, Stepwise)),
};

fn run<R: Runner>(mut node: Node, runner: R) -> Result<R::Outcome, RunError> {
    let section: TdSection = node.section()?;
    let failed = |error: &dyn std::fmt::Display| RunError::failed(error.to_string());
    let gateway = Gateway::new(GatewayOptions { price_band: section.config.price_band })
        .map_err(|error| failed(&error))?;
    let orders: Vec<InputId> = node.inputs_of("orders").collect();
    let executions = node.input("executions")?;
    let events = node.input("events")?;
    let orders_out = node.take_output("orders")?;
    let mut reports = node.take_outputs("reports");
    let accounts = accounts::Accounts::open(&mut node, &section)?;
    let routes = Routes::new(&section.strategies, &reports);
    let handle = node.handle();
    for (journal, output) in reports.iter_mut().enumerate() {
        let seats: Vec<u32> = routes.strategies(journal).map(|strategy| u32::from(strategy.0)).collect();
        if seats.len() > 1 {
            output.count_by_seat(&handle, &seats).map_err(|error| failed(&error))?;
        }
    }
    let lasting = Lasting::of(&section.strategies);
    // Until a successor knows its orders, some may have to end.
    let must_end = u64::from(node.assignment().generation > 1);
    handle.set(Counter::MustEnd, must_end);
    let mut td = Td {
        must_end,
        recall: if node.assignment().generation > 1 {
            Some(Recall::read(&node, executions, &orders_out, &reports, &routes, accounts.as_ref())?)
        } else {
            None
        },
        is_open: false,
        ended: BTreeSet::new(),
        paused: BTreeSet::new(),
        reported_up_to: vec![0; reports.len()],
        traces: BTreeMap::new(),
        handled_up_to: Vec::new(),
        refused_before: match &accounts {
            Some(accounts) if node.assignment().generation > 1 => accounts.refused_before(&node)?,
            _ => RefusedBefore::default(),
        },
        positions: node.inputs().iter().map(Input::position).collect(),
        unreported: Unreported::new(
            node.inputs().get(executions.0),
            node.assignment().generation > 1,
            reports.len(),
        ),
        routes,
        events_end: node.inputs().get(events.0).map_or(0, Input::head),
        events_done: false,
        deferred: Vec::new(),
        unsettled: Unsettled::default(),
        epochs: Epochs::watch(&node, &orders, lasting.senders())?,
        lasting,
        leaving: Leaving::default(),
        own: 0,
        watch: owing::Watch::new(&node),
        batches: if node.assignment().deterministic {
            let asked = accounts.as_ref().map(|accounts| accounts.risk());
            let batched: Vec<InputId> = orders.iter().copied().chain(asked).collect();
            Some(Batches::watch(&node, &batched, section.lock_step_limit)?)
        } else {
            None
        },
        accounts,
        disks: Disks::watch(&node, &section.strategies),
        depths: marks::open(&node)?,
        instruments: node.input("instruments")?,
        ticks: section.ticks,
        events,
        senders: node.inputs().iter().map(|input| StrategyId(input.peer_seat as u16)).collect(),
        is_orders: node.inputs().iter().map(|input| input.role == "orders").collect(),
        executions,
        limits: section
            .strategies
            .iter()
            .map(|account| {
                let limits = Limits {
                    max_order_quantity: Quantity(account.max_order_quantity),
                    max_working_orders: account.max_working_orders,
                    max_position: Quantity(account.max_position),
                };
                (StrategyId(account.seat), limits)
            })
            .collect(),
        answered: answered(&node).map_err(|error| failed(&error))?,
        recovered: recovered(&node, &orders_out.journal).map_err(|error| failed(&error))?,
        orders: orders_out,
        samples: node.take_output("samples")?,
        latencies: Latencies::keep(&handle).map_err(|error| failed(&error))?,
        reports,
        listing_done: false,
        gateway,
        handle,
    };
    td.start_strategies().map_err(|error| failed(&error))?;
    runner.run(node, td)
}

struct Td {
    handle: NodeHandle,
    /// Orders that must end, as the seat says it.
    must_end: u64,
    gateway: Gateway,
    /// The accounts' journals, where accounts are kept.
    accounts: Option<accounts::Accounts>,
    /// Where strategies are told only what is on disk.
    disks: Disks,
    /// Where md keeps the latest quotes, which bands follow.
    depths: Option<Depths>,
    instruments: InputId,
    /// By which prices are checked, where the exchange has tables of ticks.
    ticks: Vec<TickRow>,
    executions: InputId,
    events: InputId,
    /// By input: the strategy that writes it.
    senders: Vec<StrategyId>,
    /// By input: whether orders come through it.
    is_orders: Vec<bool>,
    /// Where each strategy's reports go.
    routes: Routes,
    limits: Vec<(StrategyId, Limits)>,
    /// Numbers of the journals of market data: only orders that answer their messages have a tick-to-order time.
    answered: Vec<u32>,
    /// When the journals were made again from a recording, in nanoseconds since the epoch; 0: they never were.
    recovered: u64,
    orders: Output,
    samples: Output,
    /// The stages of all orders.
    latencies: Latencies,
    reports: Vec<Output>,
    /// The end of the list of instruments was read.
    listing_done: bool,
    /// Lock-step only.
    batches: Option<Batches>,
    /// Executions that were read during an open batch, to give matching room: position, message id, payload. They are taken
    /// once the batch is closed.
    deferred: Vec<(u64, u16, Vec<u8>)>,
    /// Master's events before this position are history: only the last one of each strategy counts.
    events_end: u64,
    events_done: bool,
    /// Strategies that had left or died by the last of these events, until the gateway opens.
    ended: BTreeSet<StrategyId>,
    /// Strategies that a person has stopped, whose orders work on.
    paused: BTreeSet<StrategyId>,
    /// Requests and executions are taken: the instruments are listed, the history is read.
    is_open: bool,
    /// The state of a restarted td, until it opens.
    recall: Option<Recall>,
    /// By journal of reports: executions up to this position were passed on, by this process or a predecessor.
    reported_up_to: Vec<u64>,
    /// Executions that are kept for a successor.
    unreported: Unreported,
    /// Requests whose order or refusal waits for room.
    unsettled: Unsettled,
    /// Which epochs of the strategies' journals are over.
    epochs: Epochs,
    /// The senders whose orders work on while they are started again.
    lasting: Lasting,
    /// Strategies that left, until their last requests are taken.
    leaving: Leaving,
    /// The last number of a request of td's own.
    own: u32,
    /// What is looked at while cancels are owed.
    watch: owing::Watch,
    /// By input: requests up to this position were handled by a predecessor.
    handled_up_to: Vec<Option<u64>>,
    /// Requests that a predecessor has refused, and perhaps not answered.
    refused_before: RefusedBefore,
    /// By input: taken up to here.
    positions: Vec<u64>,
    /// What the journals of a predecessor say about each strategy.
    traces: BTreeMap<StrategyId, Trace>,
}

impl Td {
    fn start_strategies(&mut self) -> Result<(), crate::LimitsError> {
        self.limits
            .iter()
            .try_for_each(|(strategy, limits)| self.gateway.strategy_started(*strategy, *limits))
    }

    /// Opens once the instruments are listed and the history is read. False until then.
    fn open_when_read(&mut self, context: &mut Context) -> Result<bool, RunError> {
        if !self.is_open && self.listing_done && self.events_done {
            self.open(context)?;
        }
        Ok(self.is_open)
    }

    /// Takes over a predecessor's state, and what happened to the strategies meanwhile.
    fn open(&mut self, context: &mut Context) -> Result<(), RunError> {
        self.is_open = true;
        let mut still_owed = BTreeSet::new();
        if let Some(recall) = self.recall.take() {
            let gate = self.accounts.as_mut().map(|accounts| accounts.resumed()).transpose()?;
            let resumed = recall.into_gateway(&mut self.gateway, gate)?;
            resumed.copies.iter().for_each(|copied| self.copy_late(copied));
            self.traces = resumed.traces;
            self.own = resumed.own.unwrap_or(0);
            let ending = resumed.ending;
            still_owed = resumed.unsure;
            let last = resumed.handled.keys().max().map_or(0, |last| last + 1);
            self.handled_up_to = (0..last).map(|input| resumed.handled.get(&input).copied()).collect();
            for (journal, reported_up_to) in self.reported_up_to.iter_mut().enumerate() {
                let mut traces = self.routes.strategies(journal).filter_map(|owner| self.traces.get(&owner));
                *reported_up_to = traces.next().map_or(0, |trace| trace.reported_up_to);
            }
            self.announce_missing(context, (resumed.oldest, resumed.in_ring), &resumed.unreported);
            for (position, delivery) in resumed.unreported {
                self.deliver(context, position, &delivery);
            }
            self.state_risks(context, resumed.in_ring);
            self.start_strategies().map_err(|error| RunError::failed(error.to_string()))?;
            let cancels = ending.into_iter().filter_map(|order| self.gateway.end_order(order)).collect();
            self.cancel(cancels)?;
        }
        self.open_accounts()?;
        for strategy in std::mem::take(&mut self.ended) {
            self.cancel_orders_of(strategy)?;
        }
        for strategy in &self.paused {
            self.gateway.strategy_paused(*strategy);
        }
        // Orders of strategies that were restarted while td did not run, or whose cancels a predecessor could not write.
        for strategy in self.epochs.strategies() {
            let Some(first) = self.epochs.update(strategy) else { continue };
            let first = first.wrapping_sub(self.epochs.kept(strategy));
            let cancels = self.gateway.cancel_before(strategy, first as u16);
            if !cancels.is_empty() {
                let count = cancels.len();
                log::info!("strategy in seat {} was restarted: {count} orders are cancelled", strategy.0);
            }
            self.cancel(cancels)?;
        }
        let cancels = still_owed.into_iter().filter_map(|order| self.gateway.cancel_again(order)).collect();
        self.cancel(cancels)
    }

    /// Publishes the number of orders that must end, before the cursor passes its cause. A stop waits until it is zero.
    #[inline]
    fn state_must_end(&mut self) {
        let must_end = self.gateway.still_to_end() as u64;
        if self.is_open && must_end != self.must_end {
            self.must_end = must_end;
            self.handle.set(Counter::MustEnd, must_end);
        }
    }

    fn cancel_orders_of(&mut self, strategy: StrategyId) -> Result<(), RunError> {
        let cancels = match self.lasting.senders().contains(&strategy) {
            true => self.gateway.sender_left(strategy),
            false => self.gateway.strategy_stopped(strategy),
        };
        if !cancels.is_empty() {
            log::info!("strategy in seat {} has ended: {} orders are cancelled", strategy.0, cancels.len());
        }
        self.cancel(cancels)
    }

    fn event(&mut self, context: &Context, frame: &Frame<'_>) -> Result<(), RunError> {
        let Ok(event) = NodeEvent::decode(frame.payload) else {
            context.add(Counter::Malformed, 1);
            return Ok(());
        };
        let strategy = StrategyId(event.seat);
        match self.lasting.on(&event) {
            Lasts::On => {}
            Lasts::Cancelled if self.is_open => return self.strategy_left(event),
            Lasts::Cancelled | Lasts::GivenUp => return self.given_up(strategy),
        }
        match event.change {
            NodeChange::Joined if self.is_open => {
                self.paused.remove(&strategy);
                self.finish_leave_of(strategy)?;
                match self.limits.iter().find(|(known, _)| *known == strategy) {
                    Some((_, limits)) => self
                        .gateway
                        .strategy_started(strategy, *limits)
                        .map_err(|error| RunError::failed(error.to_string())),
                    None => Ok(()),
                }
            }
            NodeChange::Joined => {
                self.ended.remove(&strategy);
                self.paused.remove(&strategy);
                Ok(())
            }
            _ if event.role != NodeRole::Strategy => Ok(()),
            NodeChange::Left | NodeChange::Paused if self.is_open => self.strategy_left(event),
            NodeChange::Died if self.is_open => self.strategy_ended(&event),
            NodeChange::Left | NodeChange::Died => {
                self.epochs.end(&event);
                self.paused.remove(&strategy);
                self.ended.insert(strategy);
                Ok(())
            }
            NodeChange::Paused => {
                self.epochs.end(&event);
                self.ended.remove(&strategy);
                self.paused.insert(strategy);
                Ok(())
            }
        }
    }

    fn instrument(&mut self, context: &Context, frame: &Frame<'_>) {
        match frame.message_id {
            Instrument::ID => {
                let listed = Instrument::decode(frame.payload).map_err(|error| error.to_string()).and_then(
                    |instrument| {
                        self.gateway.on_instrument(&instrument).map_err(|error| error.to_string())?;
                        let ticks = ticks_of(&self.ticks, instrument.symbol.as_str());
                        self.gateway.set_ticks(instrument.id, ticks);
                        self.list_terms(&instrument)
                    },
                );
                if let Err(error) = listed {
                    context.add(Counter::Malformed, 1);
                    log::error!("instruments at position {}: {error}; not listed", frame.position);
                }
            }
            EndOfStream::ID => self.listing_done = true,
            _ => context.add(Counter::Malformed, 1),
        }
    }

    /// True when nothing waits for room in `td.orders` or in this strategy's reports.
    fn has_room(&self, input: InputId) -> bool {
        let place = self.senders.get(input.0).and_then(|sender| self.routes.of(*sender));
        let reports = place.and_then(|(index, _)| self.reports.get(index));
        self.orders.backlog() == 0 && reports.is_none_or(|reports| reports.backlog() == 0)
    }

    /// The ledger's snapshot may have executions that a restarted td has not passed on yet. Requests wait until these are reported.
    #[inline]
    fn is_ahead(&self, input: InputId) -> bool {
        self.unreported.read < self.gateway.contained && input != self.executions
    }

    fn is_asked_by_ledger(&self, input: InputId) -> bool {
        self.accounts.as_ref().is_some_and(|accounts| accounts.risk() == input)
    }

    /// True when all that has to go to the drop copy is there.
    fn is_copied(&self) -> bool {
        self.accounts.as_ref().is_none_or(|accounts| accounts.drops.is_written())
    }

    /// Writes what waits for room. False while something still waits.
    fn write_waiting(&mut self) -> bool {
        let write = |output: &mut Output| {
            output.backlog() == 0 || !matches!(output.flush(), Err(WriteError::Full { .. }))
        };
        let mut done = write(&mut self.orders);
        if let Some(accounts) = &mut self.accounts {
            done &= accounts.drops.write(Sent::of(&self.orders));
        }
        for journal in self.unreported.waiting() {
            done &= write(&mut self.reports[*journal]);
        }
        done
    }
}

/// Numbers of the journals that strategies answer, which td itself does not read.
/// When a journal of ours was made again from a recording; 0 if it never was.
fn recovered(node: &Node, journal: &str) -> Result<u64, impl std::fmt::Display + use<>> {
    Quiescence::watch(node.instance(), |name| name == journal).map(|watched| {
        let stats = watched.journals().iter().map(|journal| journal.stat());
        stats.filter(|stat| stat.incarnation > 1).map(|stat| stat.created).max().unwrap_or(0)
    })
}

fn answered(node: &Node) -> Result<Vec<u32>, impl std::fmt::Display + use<>> {
    Quiescence::watch(node.instance(), |name| Stream::of(name).is_some_and(Stream::is_answered))
        .map(|watched| watched.journals().iter().map(|journal| journal.shape().id).collect())
}

impl Component for Td {
    fn turn(&mut self, context: &mut Context) -> Result<(), RunError> {
        if !self.open_when_read(context)? {
            context.wake_at(context.now() + RETRY);
        }
        self.disks.look(&mut self.gateway);
        let mut waiting = !self.write_waiting();
        self.settle(context);
        self.finish_leaving()?;
        self.take_deferred(context);
        self.keep_unreported(context);
        if let Some(batches) = &mut self.batches {
            waiting |= batches.begin_turn();
            let was_open = batches.is_open();
            waiting |= batches.advance();
            if batches.is_open() && !was_open {
                self.send_owed_in_step()?;
            }
        } else if self.gateway.owes_cancels() {
            self.send_owed(context)?;
        }
        waiting |= self.accounts.as_mut().is_some_and(|accounts| accounts.drops.is_full());
        if waiting {
            context.wake_at(context.now() + RETRY);
        }
        self.state_must_end();
        Ok(())
    }

    fn accepts(&mut self, input: InputId, position: u64) -> bool {
        self.positions[input.0] = position;
        if input == self.events {
            self.events_done |= position >= self.events_end;
            return true;
        }
        if input == self.instruments {
            return true;
        }
        if input == self.executions {
            self.unreported.read = position;
        }
        if !self.is_open || self.is_ahead(input) {
            return false;
        }
        let is_orders = self.is_orders.get(input.0) == Some(&true);
        // Nothing takes effect that could not be copied.
        if self.accounts.as_mut().is_some_and(|accounts| accounts.drops.is_full()) {
            return false;
        }
        let is_free = match &self.accounts {
            Some(accounts) if accounts.reads(input) => accounts.drops.is_written(),
            _ => !is_orders || self.has_room(input),
        };
        let is_asked = self.is_asked_by_ledger(input);
        match &mut self.batches {
            Some(batches) if is_orders || is_asked => is_free && batches.takes(input, position),
            Some(_) if self.accounts.as_ref().is_some_and(|accounts| accounts.reads(input)) => is_free,
            Some(batches) => batches.reads_executions(self.orders.backlog() > 0),
            None => is_free,
        }
    }

    fn is_wanted(&self) -> bool {
        self.batches.as_ref().is_some_and(Batches::is_wanted)
    }

    fn looks_ahead(&self, input: InputId) -> u32 {
        let reads = self.is_orders.get(input.0) == Some(&true) || input == self.executions;
        self.gateway
            .accounts()
            .filter(|_| reads && self.batches.is_none())
            .map_or(0, crate::Gate::looks_ahead)
    }

    fn ahead(&self, input: InputId, step: u32, frame: &Frame<'_>) {
        let Some(gate) = self.gateway.accounts() else { return };
        if input == self.executions {
            gate.follower().ahead(frame.message_id, frame.payload, step);
        } else if let Some(&from) = self.senders.get(input.0) {
            gate.ahead_of_request(from, frame.message_id, frame.payload, step);
        }
    }

    /// Executions are settled at once: they can be read again. In lock-step the last request of a batch is settled once the
    /// batch's executions are passed on: until then td must not look idle.
    fn is_settled(&self, input: InputId) -> bool {
        let is_batched = self.batches.is_some() && self.is_asked_by_ledger(input);
        if self.is_orders.get(input.0) != Some(&true) && !is_batched {
            return self.accounts.is_none() || self.has_settled(input);
        }
        self.deferred.is_empty() && self.has_settled(input)
    }

    fn flush(&mut self, context: &mut Context) -> Result<bool, RunError> {
        // It may be asked to stop as soon as the history is read.
        self.open_when_read(context)?;
        self.finish_leaving()?;
        let is_written = self.write_waiting();
        self.keep_unreported(context);
        self.state_must_end();
        Ok(is_written)
    }

    fn frame(&mut self, context: &mut Context, input: InputId, frame: &Frame<'_>) -> Result<(), RunError> {
        let taken = self.take_frame(context, input, frame);
        self.state_must_end();
        taken
    }
}

impl Td {
    fn take_frame(
        &mut self,
        context: &mut Context,
        input: InputId,
        frame: &Frame<'_>,
    ) -> Result<(), RunError> {
        if self.is_orders.get(input.0) == Some(&true) {
            self.request(context, input, frame)
        } else if input == self.executions {
            if self.deferred.is_empty() && self.batches.as_ref().is_none_or(|batches| !batches.is_open()) {
                self.execution(context, frame);
            } else {
                self.deferred.push((frame.position, frame.message_id, frame.payload.to_vec()));
                if self.unreported.begins(frame.position) {
                    context.keep(input, frame.position);
                }
            }
            Ok(())
        } else if input == self.events {
            self.event(context, frame)
        } else if self.accounts.as_ref().is_some_and(|accounts| accounts.reads(input)) {
            self.account_frame(context, input, frame)
        } else {
            self.instrument(context, frame);
            Ok(())
        }
    }
}
