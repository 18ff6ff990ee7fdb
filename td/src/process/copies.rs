//! What an event brings into the drop copy: all of it in one commit.

use node::{Context, Frame, InputId, Posted};
use wire::{AnyMessage, DROP_REFUSED, DROP_TAKEN, Execution, Message, NewOrder, OrderUpdate, Request};

use super::Td;
use super::drops::Sent;
use super::recall::Copied;
use super::settled::Pending;
use crate::desk::kill_entry;

impl Td {
    /// Writes to the drop copy, in one commit, what one event has caused: these frames, and the switches that have fallen by
    /// themselves.
    pub(super) fn copy(&mut self, frames: &[Posted<'_>], execution: Option<u64>) {
        if self.gateway.has_kills() {
            return self.copy_with_kills(frames, execution);
        }
        let sent = Sent::of(&self.orders);
        if let Some(accounts) = &mut self.accounts {
            accounts.drops.add(frames, execution, sent);
        }
    }

    #[cold]
    fn copy_with_kills(&mut self, frames: &[Posted<'_>], execution: Option<u64>) {
        let kills = self.gateway.take_kills();
        let entries: Vec<AnyMessage> =
            kills.iter().map(|kill| AnyMessage::AccountChange(kill_entry(kill))).collect();
        for (kill, entry) in kills.iter().zip(&entries) {
            log::warn!("kill switch: {:?} {}: {entry:?}", kill.scope, kill.subject);
        }
        let event: Vec<Posted<'_>> = frames.iter().copied().chain(entries.iter().map(taken)).collect();
        let sent = Sent::of(&self.orders);
        if let Some(accounts) = &mut self.accounts {
            accounts.drops.add(&event, execution, sent);
            accounts.fallen.extend(kills);
        }
    }

    /// What a predecessor has taken and not copied.
    pub(super) fn copy_late(&mut self, copied: &Copied) {
        match copied {
            Copied::Request(request) => self.drop_request(request),
            Copied::Execution(execution, kills) => {
                let kills: Vec<AnyMessage> =
                    kills.iter().map(|kill| AnyMessage::AccountChange(kill_entry(kill))).collect();
                let position = execution.position();
                let execution = execution_copy(execution);
                let event: Vec<Posted<'_>> =
                    std::iter::once(execution).chain(kills.iter().map(taken)).collect();
                self.copy(&event, position);
            }
        }
    }

    pub(super) fn drop_request(&mut self, request: &Request) {
        let (message_id, payload) = (request.message_id(), request.bytes());
        self.copy(&[Posted { topic: DROP_TAKEN, message_id, payload }], None);
    }

    /// Cancels of td's own, as they went to `td.orders`.
    pub(super) fn drop_cancels(&mut self, cancels: &[Posted<'_>]) {
        let copies: Vec<Posted<'_>> =
            cancels.iter().map(|cancel| Posted { topic: DROP_TAKEN, ..*cancel }).collect();
        self.copy(&copies, None);
    }

    /// A refusal, with the order that is refused.
    pub(super) fn drop_refusal(&mut self, input: InputId, frame: &Frame<'_>, update: &OrderUpdate) {
        let update = OrderUpdate { refused_request: frame.position, ..*update };
        let refusal = Posted { topic: DROP_TAKEN, message_id: OrderUpdate::ID, payload: update.bytes() };
        let order = match frame.message_id {
            NewOrder::ID => self.gateway.refused_copy(frame.payload, &update),
            _ => None,
        };
        if let Some(order) = order {
            let order = Posted { topic: DROP_REFUSED, message_id: NewOrder::ID, payload: order.bytes() };
            self.copy(&[order, refusal], None);
        } else {
            self.copy(&[refusal], None);
        }
        if !self.is_copied() {
            self.unsettled.add(input, Pending::Copy);
        }
    }

    pub(super) fn drop_execution(&mut self, context: &mut Context, position: u64, execution: &Execution) {
        self.copy(&[execution_copy(execution)], Some(position));
        let Some(accounts) = &self.accounts else { return };
        if accounts.drops.waits_for_room() {
            self.unsettled.add(self.executions, Pending::Copy);
        }
        if accounts.drops.oldest_behind_requests().is_some() && self.unreported.begins(position) {
            context.keep(self.executions, position);
        }
    }
}

/// A message that took effect, as it goes to the drop copy.
pub(super) fn taken(message: &AnyMessage) -> Posted<'_> {
    Posted { topic: DROP_TAKEN, message_id: message.id(), payload: message.bytes() }
}

fn execution_copy(execution: &Execution) -> Posted<'_> {
    Posted { topic: DROP_TAKEN, message_id: execution.message_id(), payload: execution.bytes() }
}
