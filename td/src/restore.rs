//! A restarted td gets its state back: the ledger's snapshot of everybody, then the requests that its predecessor sent
//! and that were not answered in it ([`Gateway::resend`]), then matching's executions.
//!
//! The snapshot contains the executions before its position: these are passed on where a predecessor had not reported
//! them, and are not booked again.

use wire::fold::Snapshot;
use wire::{OrderId, OrderUpdate, PositionState, Request, SnapshotBegin, StrategyId};

use crate::gateway::Gateway;
use crate::orders::WorkingOrder;

/// A snapshot that does not fit this gateway, which is then to be thrown away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// Of one strategy only.
    #[error("td: the snapshot is of strategy {} alone: use one of everybody (topic 0)", .0.0)]
    NotEverybody(StrategyId),
    /// A position or an order in an instrument that is not listed.
    #[error("td: the snapshot has instrument {0}, which is not listed: feed the instruments first")]
    UnknownInstrument(wire::InstrumentId),
}

impl Gateway {
    /// Takes over positions and working orders from a snapshot of everybody. Call it on a new gateway, after the
    /// instruments are listed. The strategies in it count as stopped until [`Gateway::strategy_started`].
    ///
    /// # Errors
    /// [`RestoreError`].
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), RestoreError> {
        let begin = &snapshot.begin;
        if begin.strategy != SnapshotBegin::EVERYBODY {
            return Err(RestoreError::NotEverybody(begin.strategy));
        }
        snapshot.positions.iter().try_for_each(|state| self.restore_position(state))?;
        snapshot.orders.iter().try_for_each(|order| self.restore_order(order))?;
        self.contained = begin.execution;
        Ok(())
    }

    /// A request that a predecessor sent to matching and that the snapshot does not contain the answer of. The predecessor
    /// has checked it.
    pub fn resend(&mut self, request: &Request) {
        match request {
            Request::New(order) => {
                let book = self.book_or_new(order.order_id.strategy());
                book.claim(order.order_id);
                if book.orders.get(order.order_id).is_some() {
                    return;
                }
                let Some(exposure) = book.exposure(order.instrument) else { return };
                exposure.work(order.side, order.quantity.0);
                book.orders.insert(order.order_id, WorkingOrder::sent(order));
                book.counters.orders += 1;
                book.counters.sent += 1;
            }
            Request::Cancel(cancel) => {
                let book = self.book_or_new(cancel.order_id.strategy());
                book.orders.get_mut(cancel.order_id).into_iter().for_each(WorkingOrder::cancel_sent);
            }
            // Matching cancels them, and reports each.
            Request::CancelAll(_) => {}
            Request::Replace(replace) => {
                let book = self.book_or_new(replace.order_id.strategy());
                let Some(order) = book.orders.get_mut(replace.order_id) else { return };
                let (side, instrument) = (order.side, order.instrument);
                let added = order.added_by_replace(replace.quantity.0);
                order.replace_sent(replace.quantity.0);
                if let Some(exposure) = book.exposure(instrument) {
                    exposure.work(side, added);
                }
            }
        }
    }

    /// An id that a predecessor has taken: it, and those before it, are used.
    pub fn use_up(&mut self, order_id: OrderId) {
        self.book_or_new(order_id.strategy()).claim(order_id);
    }

    fn restore_position(&mut self, state: &PositionState) -> Result<(), RestoreError> {
        let unlisted = RestoreError::UnknownInstrument(state.instrument);
        self.instruments.get(state.instrument).ok_or(unlisted)?;
        let book = self.book_or_new(state.strategy);
        book.exposure(state.instrument).ok_or(unlisted)?.position = i128::from(state.position.0);
        Ok(())
    }

    fn restore_order(&mut self, update: &OrderUpdate) -> Result<(), RestoreError> {
        let unlisted = RestoreError::UnknownInstrument(update.instrument);
        self.instruments.get(update.instrument).ok_or(unlisted)?;
        let book = self.book_or_new(update.order_id.strategy());
        book.adopt(update);
        Ok(())
    }
}
