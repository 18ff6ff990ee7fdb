//! The ledger's snapshot, and reports: each execution is counted once.

use node::{Counter, Frame};
use wire::fold::Snapshot;
use wire::{AnyMessage, Cause, Execution, Fill, Nanos, OrderUpdate, WireError};

use super::Session;
use crate::context::Stage;
use crate::strategy::Strategy;

impl<S: Strategy> Session<S> {
    pub(super) fn on_state(&mut self, frame: &Frame<'_>) -> Result<(), WireError> {
        let Some(reader) = self.snapshots.as_mut().filter(|reader| reader.topic() == frame.topic) else {
            return Ok(());
        };
        match reader.take(AnyMessage::decode(frame.message_id, frame.payload)?) {
            Ok(None) => {}
            Ok(Some(snapshot)) => {
                self.snapshots = None;
                self.context.port.settle_state();
                self.restore(&snapshot);
            }
            Err(error) => {
                self.context.port.count(Counter::Malformed, 1);
                log::warn!("{}: state at position {}: {error}", self.context.name(), frame.position);
            }
        }
        Ok(())
    }

    fn restore(&mut self, snapshot: &Snapshot) {
        self.contained_until = snapshot.begin.execution;
        for state in &snapshot.positions {
            self.context.positions.restore(state);
        }
        let now = self.context.time();
        for update in &snapshot.orders {
            self.context.orders.on_update(update, now);
        }
        for quote in &snapshot.quotes {
            let known = self.context.last_quote(quote.instrument);
            if known.is_none_or(|known| known.sequence < quote.sequence) {
                self.context.reach(quote.instrument);
                self.context.set_quote(quote);
            }
        }
    }

    pub(super) fn on_report(&mut self, frame: &Frame<'_>, cause: Cause) -> Result<(), WireError> {
        match Execution::decode(frame.message_id, frame.payload)? {
            Execution::Fill(fill) => self.on_fill(&fill, cause),
            Execution::Update(update) => self.on_update(&update, cause),
        }
        Ok(())
    }

    /// True when the snapshot that the strategy started with contains this execution. Zero is a refusal by td, which no
    /// snapshot contains.
    fn is_contained(&self, execution: u64) -> bool {
        execution != 0 && execution < self.contained_until
    }

    /// What is reported happened then: where the market's time is the clock, it has come so far, also when nothing else said so that
    /// the strategy reads. A refusal by td has no time of the market.
    fn reach(&mut self, time: Nanos, cause: Cause) {
        if time > self.context.time() && self.context.event_clock.is_some_and(|clock| !clock.recorded) {
            self.advance(time, cause);
        }
    }

    fn on_fill(&mut self, fill: &Fill, cause: Cause) {
        if self.is_contained(fill.execution) {
            return;
        }
        self.reach(fill.event_time, cause);
        if !self.context.positions.on_fill(fill) {
            self.context.port.count(Counter::Anomalies, 1);
            return;
        }
        self.context.orders.on_fill(fill);
        self.context.port.count(Counter::Fills, 1);
        if self.context.stage == Stage::Open {
            self.context.cause = cause;
            self.strategy.fill(&mut self.context, fill);
            self.context.cause = Cause::NONE;
        }
    }

    fn on_update(&mut self, update: &OrderUpdate, cause: Cause) {
        let known = self.context.orders.get(update.order_id).is_some();
        let predecessors = update.order_id.epoch() != self.context.epoch();
        let to_predecessor = update.execution == 0 && predecessors && !known;
        if self.is_contained(update.execution) || to_predecessor {
            return;
        }
        self.reach(update.event_time, cause);
        let now = self.context.time();
        self.context.orders.on_update(update, now);
        if let Some(counter) = Counter::of_refusal(update.status) {
            self.context.port.count(counter, 1);
        }
        if self.context.stage == Stage::Open {
            self.context.cause = cause;
            self.strategy.order(&mut self.context, update);
            self.context.cause = Cause::NONE;
        }
    }
}
