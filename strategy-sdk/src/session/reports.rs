//! The ledger's snapshot, and reports: each counted once.

use node::{Counter, Frame};
use wire::{Cause, Fill, Message, OrderUpdate, WireError};

use super::Session;
use crate::context::Stage;
use crate::snapshot::Snapshot;
use crate::strategy::Strategy;

impl<S: Strategy> Session<S> {
    pub(super) fn on_state(&mut self, frame: &Frame<'_>) -> Result<(), WireError> {
        let Some(intake) = &mut self.intake else { return Ok(()) };
        if let Some(snapshot) = intake.take(frame.message_id, frame.topic, frame.payload)? {
            self.intake = None;
            self.context.port.settle_state();
            self.restore(&snapshot);
        }
        Ok(())
    }

    fn restore(&mut self, snapshot: &Snapshot) {
        self.contained_until = snapshot.begin.execution;
        for state in &snapshot.positions {
            self.context.positions.restore(state);
        }
        let now = self.context.now();
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
        match frame.message_id {
            Fill::ID => self.on_fill(&Fill::decode(frame.payload)?, cause),
            OrderUpdate::ID => self.on_update(&OrderUpdate::decode(frame.payload)?, cause),
            id => return Err(WireError::UnknownId { id }),
        }
        Ok(())
    }

    /// True when the snapshot that the strategy started with has it already. Zero: td's own word, in no snapshot.
    fn is_contained(&self, execution: u64) -> bool {
        execution != 0 && execution < self.contained_until
    }

    fn on_fill(&mut self, fill: &Fill, cause: Cause) {
        if self.is_contained(fill.execution) {
            return;
        }
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
        let now = self.context.now();
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
