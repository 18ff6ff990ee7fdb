//! Reports: what matching says, and what td refuses, to the strategy that it is for.

use node::{Context, Counter, Frame, InputId};
use wire::{Message, OrderUpdate};

use super::Td;
use super::batch::Batches;
use super::settled::Wrote;
use crate::{Delivery, Report};

impl Td {
    /// Refuses the request at `position` of `input`: to the strategy that asked and to no other.
    pub(super) fn refuse(&mut self, context: &Context, input: InputId, position: u64, update: OrderUpdate) {
        let Some(&from) = self.senders.get(input.0) else {
            return context.add(Counter::Undelivered, 1);
        };
        let Some((index, topic)) = self.routes.of(from) else {
            return context.handle().gave_up(u32::from(from.0), 1);
        };
        let update = OrderUpdate { request: position, told: self.told[index], ..update };
        let output = &mut self.reports[index];
        if output.post_bytes(OrderUpdate::ID, topic, update.bytes()).is_err() {
            return context.handle().gave_up(u32::from(from.0), 1);
        }
        if output.backlog() > 0 {
            self.unsettled.waits(input, Wrote::Report(index, output.posted()));
            self.untold.waits(index);
        }
    }

    pub(super) fn execution(&mut self, context: &mut Context, frame: &Frame<'_>) {
        self.take_execution(context, frame.position, frame.message_id, frame.payload);
    }

    /// What was read before its turn, once the batch is closed.
    pub(super) fn take_early(&mut self, context: &mut Context) {
        if self.early.is_empty() || self.batches.as_ref().is_some_and(Batches::is_open) {
            return;
        }
        for (position, message_id, payload) in std::mem::take(&mut self.early) {
            self.take_execution(context, position, message_id, &payload);
        }
    }

    fn take_execution(&mut self, context: &mut Context, position: u64, message_id: u16, payload: &[u8]) {
        let outcome = self.gateway.execution(position, message_id, payload);
        if let Some(anomaly) = outcome.anomaly {
            context.add(Counter::Anomalies, 1);
            log::warn!("execution at position {position}: {}", anomaly.as_str());
        }
        if let Some(delivery) = &outcome.deliver {
            self.deliver(context, position, delivery);
        }
    }

    /// Passes an execution on, unless a predecessor did.
    pub(super) fn deliver(&mut self, context: &mut Context, position: u64, delivery: &Delivery) {
        let Delivery { to, report } = delivery;
        let Some((index, topic)) = self.routes.of(*to) else {
            return context.handle().gave_up(u32::from(to.0), 1);
        };
        if position <= self.told[index] {
            return;
        }
        self.told[index] = position;
        let counter = match report {
            Report::Fill(_) => Some(Counter::Fills),
            Report::Update(update) => Counter::of_refusal(update.status),
        };
        if let Some(counter) = counter {
            context.add(counter, 1);
        }
        let output = &mut self.reports[index];
        if output.post_bytes(report.message_id(), topic, report.bytes()).is_err() {
            context.handle().gave_up(u32::from(to.0), 1);
        } else if output.backlog() > 0 {
            self.untold.waits(index);
            if self.untold.begins(position) {
                context.keep(self.executions, position);
            }
        }
    }
}
