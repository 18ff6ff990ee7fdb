//! Reports: executions and td's refusals, to the strategy that each is for.

use node::{Context, Counter, Frame, InputId};
use wire::{Execution, Message, OrderUpdate};

use super::Td;
use super::batch::Batches;
use super::settled::Pending;
use crate::Delivery;

impl Td {
    /// Reports the refusal of the request at `position` of `input`, to the strategy that sent it and to no other.
    pub(super) fn refuse(&mut self, context: &Context, input: InputId, position: u64, update: OrderUpdate) {
        let Some(&from) = self.senders.get(input.0) else {
            return context.add(Counter::Undelivered, 1);
        };
        let Some((index, topic)) = self.routes.of(from) else {
            return context.handle().gave_up(u32::from(from.0), 1);
        };
        let update =
            OrderUpdate { refused_request: position, reported_up_to: self.reported_up_to[index], ..update };
        let output = &mut self.reports[index];
        if output.post_bytes(OrderUpdate::ID, topic, update.bytes()).is_err() {
            return context.handle().gave_up(u32::from(from.0), 1);
        }
        if output.backlog() > 0 {
            self.unsettled.add(input, Pending::Report(index, output.posted()));
            self.unreported.add_waiting(index);
        }
    }

    pub(super) fn execution(&mut self, context: &mut Context, frame: &Frame<'_>) {
        self.take_execution(context, frame.position, frame.message_id, frame.payload);
    }

    /// Takes the deferred executions once the batch is closed.
    pub(super) fn take_deferred(&mut self, context: &mut Context) {
        if self.deferred.is_empty() || self.batches.as_ref().is_some_and(Batches::is_open) {
            return;
        }
        for (position, message_id, payload) in std::mem::take(&mut self.deferred) {
            self.take_execution(context, position, message_id, &payload);
        }
    }

    fn take_execution(&mut self, context: &mut Context, position: u64, message_id: u16, payload: &[u8]) {
        let outcome = self.gateway.execution(position, message_id, payload);
        if let Some(anomaly) = outcome.anomaly {
            context.add(Counter::Anomalies, 1);
            log::warn!("execution at position {position}: {}", anomaly.as_str());
        }
        if let Some(copy) = outcome.copy(position, message_id, payload) {
            self.drop_execution(context, position, &copy);
        }
        if let Some(delivery) = &outcome.deliver {
            self.deliver(context, position, delivery);
        }
        if self.gateway.has_kills() {
            // An error is one of `td.orders`, which the next request meets too.
            let _ = self.kill_fallen();
        }
        if self.gateway.owes_cancels() {
            // Live, the next turn looks at it.
            let _ = self.send_owed_in_step();
        }
    }

    /// Passes an execution on, unless a predecessor has.
    pub(super) fn deliver(&mut self, context: &mut Context, position: u64, delivery: &Delivery) {
        let Delivery { to, report } = delivery;
        let Some((index, topic)) = self.routes.of(*to) else {
            if self.accounts.as_ref().is_some_and(|accounts| accounts.is_ledger(*to)) {
                return;
            }
            return context.handle().gave_up(u32::from(to.0), 1);
        };
        if position <= self.reported_up_to[index] {
            return;
        }
        self.reported_up_to[index] = position;
        let counter = match report {
            Execution::Fill(_) => Some(Counter::Fills),
            Execution::Update(update) => Counter::of_refusal(update.status),
        };
        if let Some(counter) = counter {
            context.add(counter, 1);
        }
        let output = &mut self.reports[index];
        if output.post_bytes(report.message_id(), topic, report.bytes()).is_err() {
            context.handle().gave_up(u32::from(to.0), 1);
        } else if output.backlog() > 0 {
            self.unreported.add_waiting(index);
            if self.unreported.begins(position) {
                context.keep(self.executions, position);
            }
        }
    }
}
