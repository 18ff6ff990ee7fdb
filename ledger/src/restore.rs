//! A restarted ledger starts from its own last snapshot of everybody.

use wire::fold::{Snapshot, WorkingOrders};
use wire::{Instrument, InstrumentId, PositionState, SnapshotBegin, StrategyId};

use crate::book::Book;
use crate::position::Position;

/// A snapshot that is not this ledger's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// Of one strategy only.
    #[error("ledger: the snapshot is of strategy {} alone: use one of everybody (topic 0)", .0.0)]
    NotEverybody(StrategyId),
    /// An instrument with an impossible number.
    #[error("ledger: the snapshot has instrument {0}, which is no instrument: is this the ledger's journal?")]
    Instrument(InstrumentId),
}

impl Book {
    /// The book that a snapshot of everybody was taken from: it gives the same snapshot again, but for the number.
    /// Executions from [`Book::next_execution`] on are then new.
    ///
    /// Cash is exact, and with it the total profit and loss of each position; how much of that is realised is as in the
    /// snapshot, rounded to 1e-6. A snapshot does not hold the counts of anomalies, the generations (read the node events
    /// again), and the last trade of an instrument in which nobody has a position.
    ///
    /// `instruments`: those of the platform, for what their prices are multiplied by.
    ///
    /// # Errors
    /// [`RestoreError`].
    pub fn restore(snapshot: &Snapshot, instruments: &[Instrument]) -> Result<Book, RestoreError> {
        let begin = &snapshot.begin;
        if begin.strategy != SnapshotBegin::EVERYBODY {
            return Err(RestoreError::NotEverybody(begin.strategy));
        }
        let mut book =
            Book { orders: WorkingOrders::of(snapshot), snapshots: begin.snapshot, ..Book::default() };
        instruments.iter().for_each(|instrument| book.list(instrument));
        for state in &snapshot.positions {
            book.restore_position(state)?;
        }
        for quote in &snapshot.quotes {
            if !book.marks.restore_quote(quote) {
                return Err(RestoreError::Instrument(quote.instrument));
            }
        }
        Ok(book)
    }

    fn restore_position(&mut self, state: &PositionState) -> Result<(), RestoreError> {
        if state.mark_price.is_some() && !self.marks.restore_mark(state.instrument, state.mark_price) {
            return Err(RestoreError::Instrument(state.instrument));
        }
        let position = Position::from_state(state, self.contract(state.instrument));
        self.positions.insert((state.strategy, state.instrument), position);
        Ok(())
    }
}
