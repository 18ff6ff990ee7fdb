//! A restarted ledger starts from its own last snapshot of everybody.

use wire::{AnyMessage, InstrumentId, PositionState, SnapshotBegin, StrategyId};

use crate::book::Book;
use crate::position::Position;

/// Messages that are no whole snapshot of everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// It does not begin with a [`SnapshotBegin`].
    #[error("ledger: a snapshot begins with SnapshotBegin, this one with {0}: read on to the next one")]
    NoBegin(&'static str),
    /// Of one strategy only.
    #[error("ledger: the snapshot is of strategy {} alone: use one of everybody (topic 0)", .0.0)]
    NotEverybody(StrategyId),
    /// Begin and end do not belong together, frames are missing, or there is no end.
    #[error("ledger: snapshot {0} is not whole: use an earlier one")]
    NotWhole(u64),
    /// A message that has no place in a snapshot.
    #[error("ledger: a {0} has no place in a snapshot: is this the ledger's journal?")]
    Foreign(&'static str),
    /// An instrument whose number cannot be.
    #[error("ledger: the snapshot speaks of instrument {0}, which cannot be: is this the ledger's journal?")]
    Instrument(InstrumentId),
}

impl Book {
    /// The book that a snapshot of everybody was taken from: it gives the same snapshot again, but for the number.
    /// Executions from [`Book::next_execution`] on are then news.
    ///
    /// Cash comes back exactly, and with it what comes of each position in all; how much of that is realised comes back
    /// as the snapshot has it, rounded to 1e-6. Not in a snapshot, and therefore gone: the
    /// counts of anomalies, generations (read the node events again), and the last trade of an instrument that
    /// nobody holds.
    ///
    /// # Errors
    /// [`RestoreError`].
    pub fn restore(snapshot: impl IntoIterator<Item = AnyMessage>) -> Result<Book, RestoreError> {
        let mut messages = snapshot.into_iter();
        let begin = match messages.next() {
            Some(AnyMessage::SnapshotBegin(begin)) => begin,
            Some(other) => return Err(RestoreError::NoBegin(other.name())),
            None => return Err(RestoreError::NoBegin("nothing")),
        };
        if begin.strategy != SnapshotBegin::EVERYBODY {
            return Err(RestoreError::NotEverybody(begin.strategy));
        }
        let mut book = Book {
            next_execution: begin.execution,
            last_trade: begin.trade,
            snapshots: begin.snapshot,
            ..Book::default()
        };
        for (frames, message) in (0..).zip(messages) {
            match message {
                AnyMessage::PositionState(state) => book.restore_position(&state)?,
                AnyMessage::OrderUpdate(update) => {
                    book.working.insert(update.order_id, update);
                }
                AnyMessage::Quote(quote) if book.marks.restore_quote(&quote) => {}
                AnyMessage::Quote(quote) => return Err(RestoreError::Instrument(quote.instrument)),
                AnyMessage::SnapshotEnd(end) if (end.snapshot, end.frames) == (begin.snapshot, frames) => {
                    return Ok(book);
                }
                AnyMessage::SnapshotEnd(_) => break,
                other => return Err(RestoreError::Foreign(other.name())),
            }
        }
        Err(RestoreError::NotWhole(begin.snapshot))
    }

    fn restore_position(&mut self, state: &PositionState) -> Result<(), RestoreError> {
        if state.mark_price.is_some() && !self.marks.restore_mark(state.instrument, state.mark_price) {
            return Err(RestoreError::Instrument(state.instrument));
        }
        self.positions.insert((state.strategy, state.instrument), Position::from_state(state));
        Ok(())
    }
}
