//! A restarted td gets its state back: the ledger's snapshot of everybody, then the requests that its predecessor sent
//! and that were not answered in it ([`Gateway::resend`]), then matching's executions.
//!
//! The snapshot holds positions and working orders up to a position of the executions. Those before it are passed on to
//! whoever has not heard of them, and booked no more.

use wire::{AnyMessage, OrderId, OrderUpdate, PositionState, SnapshotBegin, StrategyId};

use crate::Request;
use crate::gateway::Gateway;
use crate::orders::WorkingOrder;

/// Messages that are no whole snapshot of everybody. The gateway is to be thrown away then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// It does not begin with a [`SnapshotBegin`].
    #[error("td: a snapshot begins with SnapshotBegin, this one with {0}: read on to the next one")]
    NoBegin(&'static str),
    /// Of one strategy only.
    #[error("td: the snapshot is of strategy {} alone: use one of everybody (topic 0)", .0.0)]
    NotEverybody(StrategyId),
    /// Begin and end do not belong together, or there is no end.
    #[error("td: snapshot {0} is not whole: read on to the next one")]
    NotWhole(u64),
    /// A message that has no place in a snapshot.
    #[error("td: a {0} has no place in a snapshot: is this the ledger's journal?")]
    Foreign(&'static str),
    /// A position or an order in an instrument that is not listed.
    #[error("td: the snapshot speaks of instrument {0}, which is not listed: feed the instruments first")]
    UnknownInstrument(wire::InstrumentId),
}

impl Gateway {
    /// Takes over positions and working orders from a snapshot of everybody. Call it on a new gateway, after the
    /// instruments are listed. Strategies that it speaks of are gone until [`Gateway::strategy_started`].
    ///
    /// # Errors
    /// [`RestoreError`].
    pub fn restore(&mut self, snapshot: impl IntoIterator<Item = AnyMessage>) -> Result<(), RestoreError> {
        let mut messages = snapshot.into_iter();
        let begin = match messages.next() {
            Some(AnyMessage::SnapshotBegin(begin)) => begin,
            Some(other) => return Err(RestoreError::NoBegin(other.name())),
            None => return Err(RestoreError::NoBegin("nothing")),
        };
        if begin.strategy != SnapshotBegin::EVERYBODY {
            return Err(RestoreError::NotEverybody(begin.strategy));
        }
        for message in messages {
            match message {
                AnyMessage::PositionState(state) => self.restore_position(&state)?,
                AnyMessage::OrderUpdate(update) => self.restore_order(&update)?,
                AnyMessage::Quote(_) => {}
                AnyMessage::SnapshotEnd(end) if end.snapshot == begin.snapshot => {
                    self.contained = begin.execution;
                    return Ok(());
                }
                AnyMessage::SnapshotEnd(_) => break,
                other => return Err(RestoreError::Foreign(other.name())),
            }
        }
        Err(RestoreError::NotWhole(begin.snapshot))
    }

    /// A request that a predecessor sent to matching, and that is on its way, or answered behind the snapshot. Nothing is
    /// checked: it was.
    pub fn resend(&mut self, request: &Request) {
        match request {
            Request::New(order) => {
                let account = self.account_or_new(order.order_id.strategy());
                account.claim(order.order_id);
                if account.orders.get(order.order_id).is_some() {
                    return;
                }
                let Some(exposure) = account.exposure(order.instrument) else { return };
                exposure.work(order.side, order.quantity.0);
                account.orders.insert(order.order_id, WorkingOrder::sent(order));
                account.counters.orders += 1;
                account.counters.sent += 1;
            }
            Request::Cancel(cancel) => {
                let account = self.account_or_new(cancel.order_id.strategy());
                account.orders.get_mut(cancel.order_id).into_iter().for_each(WorkingOrder::cancel_sent);
            }
            Request::Replace(replace) => {
                let account = self.account_or_new(replace.order_id.strategy());
                let Some(order) = account.orders.get_mut(replace.order_id) else { return };
                let (side, instrument) = (order.side, order.instrument);
                let added = order.added_by_replace(replace.quantity.0);
                order.replace_sent(replace.quantity.0);
                if let Some(exposure) = account.exposure(instrument) {
                    exposure.work(side, added);
                }
            }
        }
    }

    /// An id that a predecessor has seen: it, and those before it, are used up.
    pub fn use_up(&mut self, order_id: OrderId) {
        self.account_or_new(order_id.strategy()).claim(order_id);
    }

    fn restore_position(&mut self, state: &PositionState) -> Result<(), RestoreError> {
        let unlisted = RestoreError::UnknownInstrument(state.instrument);
        self.instruments.get(state.instrument).ok_or(unlisted)?;
        let account = self.account_or_new(state.strategy);
        account.exposure(state.instrument).ok_or(unlisted)?.position = i128::from(state.position.0);
        Ok(())
    }

    fn restore_order(&mut self, update: &OrderUpdate) -> Result<(), RestoreError> {
        let unlisted = RestoreError::UnknownInstrument(update.instrument);
        self.instruments.get(update.instrument).ok_or(unlisted)?;
        let account = self.account_or_new(update.order_id.strategy());
        account.adopt(update);
        Ok(())
    }
}
