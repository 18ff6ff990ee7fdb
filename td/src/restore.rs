//! A restarted td gets its state back from the ledger's snapshot of everybody.
//!
//! The snapshot holds positions and working orders up to a position of matching's executions; what comes at or
//! after it is then read as usual. An order that was on its way to matching at that moment is in neither: it is
//! taken over when matching accepts it ([`crate::Anomaly::UnknownOrder`] is counted, and is harmless then).

use wire::{AnyMessage, OrderUpdate, PositionState, SnapshotBegin, StrategyId};

use crate::gateway::Gateway;

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
                    self.next_execution = begin.execution;
                    return Ok(());
                }
                AnyMessage::SnapshotEnd(_) => break,
                other => return Err(RestoreError::Foreign(other.name())),
            }
        }
        Err(RestoreError::NotWhole(begin.snapshot))
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
