//! The td process: orders in from each strategy, out to matching; executions back to whoever asked.
//!
//! ```text
//!  orders.STRATEGY ─► checks ─┬─► td.orders ─► matching        matching.executions ─► reports.STRATEGY
//!                             ├─► td.samples (times of each order)
//!                             └─► reports.STRATEGY (refused)    master.events: a strategy is gone ─► cancels
//! ```
//!
//! - While `td.orders` is full, no order is taken; executions are. That way round nothing can block in a circle.
//! - A strategy that does not read its reports holds up nobody but itself: what it does not take is kept here, up to a
//!   limit, beyond which it is counted as undelivered; and while anything is, none of its orders is taken. The executions
//!   behind it are kept in their ring for a successor, up to a share of it ([`untold`]).
//! - The cursor of a strategy's orders stays before the last one taken until all that came of it is committed, and no
//!   longer. One that is killed takes up what it knew from what it wrote itself, the ledger's last snapshot and the executions
//!   ([`recall`]), and which strategies live from what master has said.

mod batch;
mod extent;
mod leaving;
mod lives;
mod recall;
mod reports;
mod requests;
mod routes;
mod settled;
mod untold;

use std::collections::{BTreeMap, BTreeSet};

use node::{
    Component, Context, Counter, Frame, Input, InputId, Latencies, Node, Output, Quiescence, RunError,
    WriteError,
};
use topology::{Stream, TdSection};
use wire::{EndOfStream, Instrument, Message, NodeChange, NodeEvent, NodeRole, Quantity, StrategyId};

use crate::{Gateway, GatewayOptions, Limits};
use batch::Batches;
use leaving::Leaving;
use lives::Lives;
use recall::{Recall, Trace};
use routes::Routes;
use settled::Unsettled;
use untold::Untold;

/// A full journal is tried again after this many nanoseconds.
const RETRY: u64 = 50_000;

/// Runs td as this node until it is asked to stop.
///
/// # Errors
/// What it cannot start with, or cannot go on with.
pub fn run(mut node: Node) -> Result<(), RunError> {
    let section: TdSection = node.section()?;
    let failed = |error: &dyn std::fmt::Display| RunError::failed(error.to_string());
    let gateway = Gateway::new(GatewayOptions { price_band: section.config.price_band })
        .map_err(|error| failed(&error))?;
    let orders: Vec<InputId> = node.inputs_of("orders").collect();
    let executions = node.input("executions")?;
    let events = node.input("events")?;
    let orders_out = node.take_output("orders")?;
    let mut reports = node.take_outputs("reports");
    let routes = Routes::new(&section.strategies, &reports);
    let handle = node.handle();
    for (journal, output) in reports.iter_mut().enumerate() {
        let seats: Vec<u32> = routes.strategies(journal).map(|strategy| u32::from(strategy.0)).collect();
        if seats.len() > 1 {
            output.count_by_seat(&handle, &seats).map_err(|error| failed(&error))?;
        }
    }
    let mut td = Td {
        recall: if node.generation() > 1 {
            Some(Recall::read(&node, executions, &orders_out, &reports, &routes)?)
        } else {
            None
        },
        is_open: false,
        gone: BTreeSet::new(),
        told: vec![0; reports.len()],
        traces: BTreeMap::new(),
        again: node.inputs().iter().map(Input::position).collect(),
        positions: node.inputs().iter().map(Input::position).collect(),
        untold: Untold::new(node.inputs().get(executions.0), node.generation() > 1, reports.len()),
        routes,
        events_end: node.inputs().get(events.0).map_or(0, Input::head),
        events_done: false,
        early: Vec::new(),
        unsettled: Unsettled::default(),
        lives: Lives::watch(&node, &orders)?,
        leaving: Leaving::default(),
        batches: if node.is_deterministic() {
            Some(Batches::watch(&node, &orders, section.lock_step_limit)?)
        } else {
            None
        },
        instruments: node.input("instruments")?,
        events,
        senders: node.inputs().iter().map(|input| StrategyId(input.peer().1 as u16)).collect(),
        is_orders: node.inputs().iter().map(|input| input.role() == "orders").collect(),
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
        quotes: journal_id(&node, Stream::Quotes).map_err(|error| failed(&error))?,
        orders: orders_out,
        samples: node.take_output("samples")?,
        latencies: Latencies::keep(&handle).map_err(|error| failed(&error))?,
        reports,
        listing_done: false,
        gateway,
    };
    td.start_strategies().map_err(|error| failed(&error))?;
    node.run(&mut td)
}

struct Td {
    gateway: Gateway,
    instruments: InputId,
    executions: InputId,
    events: InputId,
    /// By input: who writes it.
    senders: Vec<StrategyId>,
    /// By input: whether orders come through it.
    is_orders: Vec<bool>,
    /// Where each strategy's reports go.
    routes: Routes,
    limits: Vec<(StrategyId, Limits)>,
    /// Number of md's journal of quotes: orders that answer anything else have no tick-to-order time.
    quotes: u32,
    orders: Output,
    samples: Output,
    /// The stages of all orders.
    latencies: Latencies,
    reports: Vec<Output>,
    /// The end of the list of instruments was read.
    listing_done: bool,
    /// Lock-step only.
    batches: Option<Batches>,
    /// Executions of an open batch, read because matching waited for room: position, message id, payload. They count once
    /// the batch is closed, as those do that were never in the way.
    early: Vec<(u64, u16, Vec<u8>)>,
    /// Up to here master's events are history: only what they come to counts.
    events_end: u64,
    events_done: bool,
    /// Strategies whose last event was that they left or died, until the gateway opens.
    gone: BTreeSet<StrategyId>,
    /// Orders and executions are taken: the instruments are listed, the history is read.
    is_open: bool,
    /// Of a restarted td, until it opens.
    recall: Option<Recall>,
    /// By reports: executions up to this position were passed on, by this process or a predecessor.
    told: Vec<u64>,
    /// Executions that are kept for a successor.
    untold: Untold,
    /// Requests of which something waits for room.
    unsettled: Unsettled,
    /// Which epochs of the strategies' journals are over.
    lives: Lives,
    /// Strategies that left, until what they wrote is taken.
    leaving: Leaving,
    /// By input: where this process began.
    again: Vec<u64>,
    /// By input: taken up to here.
    positions: Vec<u64>,
    /// What a predecessor left behind.
    traces: BTreeMap<StrategyId, Trace>,
}

impl Td {
    fn start_strategies(&mut self) -> Result<(), crate::LimitsError> {
        self.limits
            .iter()
            .try_for_each(|(strategy, limits)| self.gateway.strategy_started(*strategy, *limits))
    }

    /// Takes up where a predecessor was, and what happened to the strategies meanwhile.
    fn open(&mut self, context: &mut Context) -> Result<(), RunError> {
        self.is_open = true;
        if let Some(recall) = self.recall.take() {
            let resumed = recall.into_gateway(&mut self.gateway)?;
            self.traces = resumed.traces;
            let oldest = resumed.oldest;
            for (journal, told) in self.told.iter_mut().enumerate() {
                let mut traces = self.routes.strategies(journal).filter_map(|owner| self.traces.get(&owner));
                *told = traces.next().map_or(0, |trace| trace.told);
            }
            self.announce_missing(context, oldest);
            for (position, delivery) in resumed.untold {
                self.deliver(context, position, &delivery);
            }
            self.start_strategies().map_err(|error| RunError::failed(error.to_string()))?;
        }
        for strategy in std::mem::take(&mut self.gone) {
            self.strategy_gone(strategy)?;
        }
        // Of those that died and came again while nobody looked, or whose cancels a predecessor could not write.
        for strategy in self.lives.strategies() {
            let Some(first) = self.lives.look(strategy) else { continue };
            let cancels = self.gateway.cancel_before(strategy, first as u16);
            if !cancels.is_empty() {
                let count = cancels.len();
                log::info!("strategy in seat {} was started again: {count} orders are cancelled", strategy.0);
            }
            self.cancel(cancels)?;
        }
        Ok(())
    }

    fn strategy_gone(&mut self, strategy: StrategyId) -> Result<(), RunError> {
        let cancels = self.gateway.strategy_gone(strategy);
        if !cancels.is_empty() {
            log::info!("strategy in seat {} is gone: {} orders are cancelled", strategy.0, cancels.len());
        }
        self.cancel(cancels)
    }

    fn event(&mut self, context: &Context, frame: &Frame<'_>) -> Result<(), RunError> {
        let Ok(event) = NodeEvent::decode(frame.payload) else {
            context.add(Counter::Malformed, 1);
            return Ok(());
        };
        let strategy = StrategyId(event.seat);
        match event.change {
            NodeChange::Joined if self.is_open => {
                self.forget_leave(strategy)?;
                match self.limits.iter().find(|(known, _)| *known == strategy) {
                    Some((_, limits)) => self
                        .gateway
                        .strategy_started(strategy, *limits)
                        .map_err(|error| RunError::failed(error.to_string())),
                    None => Ok(()),
                }
            }
            NodeChange::Joined => {
                self.gone.remove(&strategy);
                Ok(())
            }
            _ if event.role != NodeRole::Strategy => Ok(()),
            NodeChange::Left if self.is_open => self.strategy_left(event),
            _ if self.is_open => self.strategy_ended(&event),
            _ => {
                self.lives.end(&event);
                self.gone.insert(strategy);
                Ok(())
            }
        }
    }

    fn instrument(&mut self, context: &Context, frame: &Frame<'_>) {
        match frame.message_id {
            Instrument::ID => {
                let listed = Instrument::decode(frame.payload).map_err(|error| error.to_string()).and_then(
                    |instrument| self.gateway.on_instrument(&instrument).map_err(|error| error.to_string()),
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

    /// Whether nothing waits that would have to go before what comes of this strategy's next request.
    fn has_room(&self, input: InputId) -> bool {
        let place = self.senders.get(input.0).and_then(|sender| self.routes.of(*sender));
        let reports = place.and_then(|(index, _)| self.reports.get(index));
        self.orders.backlog() == 0 && reports.is_none_or(|reports| reports.backlog() == 0)
    }

    /// Writes what was kept back. False while something of it remains.
    fn write_kept(&mut self) -> bool {
        let write = |output: &mut Output| {
            output.backlog() == 0 || !matches!(output.flush(), Err(WriteError::Full { .. }))
        };
        let mut done = write(&mut self.orders);
        for journal in self.untold.waiting() {
            done &= write(&mut self.reports[*journal]);
        }
        done
    }
}

/// Number of a journal that td itself does not read; zero when there is none.
fn journal_id(node: &Node, stream: Stream) -> Result<u32, impl std::fmt::Display + use<>> {
    Quiescence::watch(node.instance(), |name| Stream::of(name) == Some(stream))
        .map(|watched| watched.journals().first().map_or(0, |journal| journal.shape().id))
}

impl Component for Td {
    fn turn(&mut self, context: &mut Context) -> Result<(), RunError> {
        if !self.is_open {
            if self.listing_done && self.events_done {
                self.open(context)?;
            } else {
                context.wake_at(context.now() + RETRY);
            }
        }
        let mut waiting = !self.write_kept();
        self.settle(context);
        self.see_off()?;
        self.take_early(context);
        self.keep_untold(context);
        if let Some(batches) = &mut self.batches {
            waiting |= batches.advance();
        }
        if waiting {
            context.wake_at(context.now() + RETRY);
        }
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
            self.untold.read = position;
        }
        if !self.is_open {
            return false;
        }
        let is_orders = self.is_orders.get(input.0) == Some(&true);
        let is_free = !is_orders || self.has_room(input);
        match &mut self.batches {
            Some(batches) if is_orders => is_free && batches.takes(input, position),
            Some(batches) => batches.reads_executions(self.orders.backlog() > 0),
            None => is_free,
        }
    }

    /// Executions are always: what is kept back of them can be read again. In lock-step the last request of a batch is
    /// once the batch's executions are passed on: until then it must not look as if all were quiet.
    fn is_settled(&self, input: InputId) -> bool {
        self.is_orders.get(input.0) != Some(&true) || (self.early.is_empty() && self.has_settled(input))
    }

    fn flush(&mut self, context: &mut Context) -> Result<bool, RunError> {
        self.see_off()?;
        let is_written = self.write_kept();
        self.keep_untold(context);
        Ok(is_written)
    }

    fn frame(&mut self, context: &mut Context, input: InputId, frame: &Frame<'_>) -> Result<(), RunError> {
        if self.is_orders.get(input.0) == Some(&true) {
            self.request(context, input, frame)
        } else if input == self.executions {
            if self.early.is_empty() && self.batches.as_ref().is_none_or(|batches| !batches.is_open()) {
                self.execution(context, frame);
            } else {
                self.early.push((frame.position, frame.message_id, frame.payload.to_vec()));
                if self.untold.begins(frame.position) {
                    context.keep(input, frame.position);
                }
            }
            Ok(())
        } else if input == self.events {
            self.event(context, frame)
        } else {
            self.instrument(context, frame);
            Ok(())
        }
    }
}
