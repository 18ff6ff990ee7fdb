//! Requests: from a strategy through the checks to matching, or back as a refusal.

use node::{Context, Counter, Frame, InputId, Posted, RunError};
use wire::{CancelAll, CancelOrder, ClientOrder, KeptOrder, LatencySample, Message, Nanos, NewOrder};

use super::Td;
use super::recall::line;
use super::settled::Pending;
use crate::Decision;

/// So many cancels of one event go out in one commit. A successor finds how many its predecessor has sent, and sends the rest.
const CANCELS_AT_ONCE: usize = 32;

impl Td {
    /// An order, cancel or replace request from one strategy.
    pub(super) fn request(
        &mut self,
        context: &Context,
        input: InputId,
        frame: &Frame<'_>,
    ) -> Result<(), RunError> {
        // t4: before the checks.
        let taken = Nanos(context.now());
        let Some(from) = self.senders.get(input.0).copied() else { return Ok(()) };
        if self.handled_up_to.get(input.0).is_some_and(|handled| Some(frame.position) <= *handled) {
            return Ok(());
        }
        if matches!(frame.message_id, ClientOrder::ID | KeptOrder::ID) {
            // For the gateway itself, and for the record.
            return Ok(());
        }
        if let Some(batches) = &mut self.batches {
            batches.count(input)?;
        }
        if let Some(update) = self.refused_before.take(from, frame) {
            self.refuse(context, input, frame.position, update);
            return Ok(());
        }
        let is_order = frame.message_id == NewOrder::ID;
        let counter = match frame.message_id {
            NewOrder::ID => Counter::Orders,
            CancelOrder::ID | CancelAll::ID => Counter::Cancels,
            _ => Counter::Replaces,
        };
        context.add(counter, 1);
        self.follow_the_market(frame);
        let decision = if self.epochs.is_over(input, frame) {
            self.gateway.take_from_stopped(from, frame.message_id, frame.payload)
        } else {
            self.gateway.take_at(from, frame.message_id, frame.payload, taken)
        };
        match decision {
            Decision::Send(request) => {
                let request = request.with_source(line(frame.position));
                self.send(request.message_id(), request.bytes())?;
                if self.accounts.is_some() {
                    self.drop_request(&request);
                }
                if self.orders.backlog() > 0 {
                    self.unsettled.add(input, Pending::Order(self.orders.posted()));
                }
            }
            Decision::Answer(update) => {
                if let Some(counter) = Counter::of_refusal(update.status) {
                    context.add(counter, 1);
                }
                if self.accounts.is_some() {
                    self.drop_refusal(input, frame, &update);
                }
                self.refuse(context, input, frame.position, update);
            }
            Decision::Repeat(update) => self.refuse(context, input, frame.position, update),
            Decision::Drop => context.add(Counter::Malformed, 1),
        }
        if is_order {
            self.sample(context, frame, taken);
        }
        self.kill_fallen()
    }

    /// Writes an order's five times, after the order itself.
    fn sample(&mut self, context: &Context, frame: &Frame<'_>, taken: Nanos) {
        let Ok(order) = NewOrder::decode(frame.payload) else { return };
        if !order.cause.is_some() || !self.answered.contains(&order.cause.journal) {
            return;
        }
        // Between the quote and the order lies the time in which nothing ran.
        if order.cause.published.0 < self.recovered {
            return context.add(Counter::OrdersOfOldQuotes, 1);
        }
        let sample = LatencySample {
            order_id: order.order_id,
            due: order.cause.due,
            published: order.cause.published,
            received: order.cause.received,
            ordered: Nanos(frame.time),
            taken,
        };
        self.latencies.add(&sample);
        // No reader gates this journal, so it is never full.
        let _ = self.samples.send(0, &sample);
    }

    pub(super) fn send(&mut self, message_id: u16, payload: &[u8]) -> Result<(), RunError> {
        self.orders
            .post_bytes(message_id, 0, payload)
            .map_err(|source| RunError::Write { journal: self.orders.journal.clone(), source })
    }

    /// Sends cancels of td's own. Each has a number, by which a successor finds it among those that look the same.
    pub(super) fn cancel(&mut self, cancels: Vec<CancelOrder>) -> Result<(), RunError> {
        self.gateway.note_cancels(&cancels);
        let number = |cancel| {
            self.own = self.own.wrapping_add(1) | CancelOrder::OF_TD;
            CancelOrder { source: self.own, ..cancel }
        };
        let cancels: Vec<CancelOrder> = cancels.into_iter().map(number).collect();
        cancels.chunks(CANCELS_AT_ONCE).try_for_each(|cancels| {
            let group: Vec<Posted<'_>> = cancels
                .iter()
                .map(|cancel| Posted { topic: 0, message_id: CancelOrder::ID, payload: cancel.bytes() })
                .collect();
            self.orders
                .post_group(&group)
                .map_err(|source| RunError::Write { journal: self.orders.journal.clone(), source })?;
            if self.accounts.is_some() {
                self.drop_cancels(&group);
            }
            Ok(())
        })
    }
}
