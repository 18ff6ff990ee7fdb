//! The td process: orders in from each strategy, out to matching; executions back to whoever asked.
//!
//! ```text
//!  orders.STRATEGY ─► checks ─┬─► td.orders ─► matching        matching.executions ─► reports.STRATEGY
//!                             ├─► td.samples (times of each order)
//!                             └─► reports.STRATEGY (refused)    master.events: a strategy is gone ─► cancels
//! ```
//!
//! - While `td.orders` is full, no order is taken; executions are. That way round nothing can block in a circle.
//! - A strategy that does not read its reports holds up nobody: what it does not take is kept here, up to a limit,
//!   beyond which it is counted as undelivered.
//! - One that is killed takes up what it knew from the ledger's last snapshot and the executions since then.

mod batch;
mod recall;

use node::{Component, Context, Counter, Frame, InputId, Node, Output, Quiescence, RunError, WriteError};
use topology::TdSection;
use wire::{CancelOrder, EndOfStream, Fill, Instrument, LatencySample, Message, Nanos, NewOrder, NodeChange};
use wire::{NodeEvent, OrderUpdate, Quantity, StrategyId};

use crate::{Decision, Gateway, GatewayOptions, Limits, Report, Request};
use batch::Batches;
use recall::Recall;

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
    let peer = |input: InputId| node.inputs().get(input.0).map_or(0, |input| input.peer().1 as u16);
    let mut td = Td {
        recall: if node.generation() > 1 { Some(Recall::read(&node, executions)?) } else { None },
        batches: if node.is_deterministic() { Some(Batches::watch(&node, &orders)?) } else { None },
        instruments: node.input("instruments")?,
        events: node.input("events")?,
        senders: node.inputs().iter().map(|input| StrategyId(input.peer().1 as u16)).collect(),
        is_orders: node.inputs().iter().map(|input| input.role() == "orders").collect(),
        matching: peer(executions),
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
        quotes: journal_id(&node, "md.quotes").map_err(|error| failed(&error))?,
        started: node.handle().now(),
        orders: node.take_output("orders")?,
        samples: node.take_output("samples")?,
        reports: node.take_outputs("reports"),
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
    /// Seat of matching.
    matching: u16,
    limits: Vec<(StrategyId, Limits)>,
    /// Number of md's journal of quotes: orders that answer anything else have no tick-to-order time.
    quotes: u32,
    /// Events from before this process began are history.
    started: u64,
    orders: Output,
    samples: Output,
    reports: Vec<Output>,
    /// The end of the list of instruments was read.
    listing_done: bool,
    /// Lock-step only.
    batches: Option<Batches>,
    /// Of a restarted td, until the instruments are listed.
    recall: Option<Recall>,
}

impl Td {
    fn start_strategies(&mut self) -> Result<(), crate::LimitsError> {
        self.limits
            .iter()
            .try_for_each(|(strategy, limits)| self.gateway.strategy_started(*strategy, *limits))
    }

    /// An order, cancel or replace request from one strategy.
    fn request(&mut self, context: &Context, input: InputId, frame: &Frame<'_>) -> Result<(), RunError> {
        // t4: before anything is done with it.
        let taken = Nanos(context.now());
        let Some(from) = self.senders.get(input.0).copied() else { return Ok(()) };
        let is_order = frame.message_id == NewOrder::ID;
        context.add(if is_order { Counter::Orders } else { Counter::Changes }, 1);
        match self.gateway.take(from, frame.message_id, frame.payload) {
            Decision::Send(request) => self.send(request.message_id(), request.bytes())?,
            Decision::Answer(update) => {
                context.add(Counter::Rejects, 1);
                self.report(context, from, OrderUpdate::ID, update.bytes());
            }
            Decision::Drop => context.add(Counter::Malformed, 1),
        }
        if is_order {
            self.sample(frame, taken);
        }
        Ok(())
    }

    /// Writes an order's five times, behind its way to matching.
    fn sample(&mut self, frame: &Frame<'_>, taken: Nanos) {
        let Ok(order) = NewOrder::decode(frame.payload) else { return };
        if !order.cause.is_some() || order.cause.journal != self.quotes {
            return;
        }
        let sample = LatencySample {
            order_id: order.order_id,
            due: order.cause.due,
            published: order.cause.published,
            received: order.cause.received,
            ordered: Nanos(frame.time),
            taken,
        };
        // Nobody gates this journal, so it is never full.
        let _ = self.samples.send(0, &sample);
    }

    fn send(&mut self, message_id: u16, payload: &[u8]) -> Result<(), RunError> {
        self.orders
            .post_bytes(message_id, 0, payload)
            .map_err(|source| RunError::Write { journal: self.orders.journal().to_owned(), source })
    }

    fn cancel(&mut self, cancels: Vec<CancelOrder>) -> Result<(), RunError> {
        cancels.iter().try_for_each(|cancel| {
            let request = Request::Cancel(*cancel);
            self.send(request.message_id(), request.bytes())
        })
    }

    /// To this strategy and to no other.
    fn report(&mut self, context: &Context, to: StrategyId, message_id: u16, payload: &[u8]) {
        let output = self.reports.iter_mut().find(|output| output.peer().1 == u32::from(to.0));
        let delivered = output.is_some_and(|output| output.post_bytes(message_id, 0, payload).is_ok());
        if !delivered {
            context.add(Counter::Undelivered, 1);
        }
    }

    fn execution(&mut self, context: &Context, frame: &Frame<'_>) {
        let outcome = self.gateway.execution(frame.position, frame.message_id, frame.payload);
        if let Some(anomaly) = outcome.anomaly {
            context.add(Counter::Anomalies, 1);
            log::warn!("execution at position {}: {}", frame.position, anomaly.as_str());
        }
        if let Some(delivery) = outcome.deliver {
            let refused = matches!(&delivery.report, Report::Update(update) if is_refusal(update));
            context.add(Counter::Rejects, u64::from(refused));
            context.add(Counter::Fills, u64::from(frame.message_id == Fill::ID));
            self.report(context, delivery.to, delivery.report.message_id(), delivery.report.bytes());
        }
    }

    fn event(&mut self, context: &Context, frame: &Frame<'_>) -> Result<(), RunError> {
        let Ok(event) = NodeEvent::decode(frame.payload) else {
            context.add(Counter::Malformed, 1);
            return Ok(());
        };
        if frame.time < self.started {
            return Ok(());
        }
        let strategy = StrategyId(event.seat);
        match event.change {
            NodeChange::Joined => {
                if let Some((_, limits)) = self.limits.iter().find(|(known, _)| *known == strategy)
                    && let Err(error) = self.gateway.strategy_started(strategy, *limits)
                {
                    return Err(RunError::failed(error.to_string()));
                }
                Ok(())
            }
            NodeChange::Left | NodeChange::Died if event.kind == NodeEvent::STRATEGY => {
                let cancels = self.gateway.strategy_gone(strategy);
                if !cancels.is_empty() {
                    log::info!(
                        "strategy in seat {} is gone: {} orders are cancelled",
                        event.seat,
                        cancels.len()
                    );
                }
                self.cancel(cancels)
            }
            NodeChange::Died if event.seat == self.matching => {
                let lost = self.gateway.market_gone();
                log::warn!("matching died: {} working orders are lost with it", lost.len());
                for update in lost {
                    self.report(context, update.order_id.strategy(), OrderUpdate::ID, update.bytes());
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn instrument(&mut self, context: &Context, frame: &Frame<'_>) -> Result<(), RunError> {
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
            EndOfStream::ID => {
                self.listing_done = true;
                if let Some(recall) = self.recall.take() {
                    recall.into_gateway(&mut self.gateway)?;
                    self.start_strategies().map_err(|error| RunError::failed(error.to_string()))?;
                }
            }
            _ => context.add(Counter::Malformed, 1),
        }
        Ok(())
    }
}

/// Number of a journal that td itself does not read; zero when there is none.
fn journal_id(node: &Node, name: &str) -> Result<u32, impl std::fmt::Display + use<>> {
    Quiescence::watch(node.instance(), |known| known == name)
        .map(|watched| watched.journals().first().map_or(0, |journal| journal.shape().id))
}

fn is_refusal(update: &OrderUpdate) -> bool {
    use wire::OrderStatus::{CancelRejected, Rejected, ReplaceRejected};
    matches!(update.status, Rejected | CancelRejected | ReplaceRejected)
}

impl Component for Td {
    fn turn(&mut self, context: &mut Context) -> Result<(), RunError> {
        let mut waiting = false;
        for output in self.reports.iter_mut().chain([&mut self.orders]) {
            if output.backlog() > 0 && matches!(output.flush(), Err(WriteError::Full { .. })) {
                waiting = true;
            }
        }
        if let Some(batches) = &mut self.batches {
            waiting |= batches.advance();
        }
        if waiting {
            context.wake_at(context.now() + RETRY);
        }
        Ok(())
    }

    fn accepts(&mut self, input: InputId, position: u64) -> bool {
        if input == self.instruments || input == self.events {
            return true;
        }
        if !self.listing_done {
            return false;
        }
        let is_orders = self.is_orders.get(input.0) == Some(&true);
        match &mut self.batches {
            Some(batches) if is_orders => self.orders.backlog() == 0 && batches.takes(input, position),
            Some(batches) => !batches.is_open(),
            None => !is_orders || self.orders.backlog() == 0,
        }
    }

    fn frame(&mut self, context: &mut Context, input: InputId, frame: &Frame<'_>) -> Result<(), RunError> {
        if self.is_orders.get(input.0) == Some(&true) {
            self.request(context, input, frame)
        } else if input == self.executions {
            self.execution(context, frame);
            Ok(())
        } else if input == self.events {
            self.event(context, frame)
        } else {
            self.instrument(context, frame)
        }
    }
}
