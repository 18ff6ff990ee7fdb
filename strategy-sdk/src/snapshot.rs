//! Taking in what the ledger says about the strategy as it starts.

use wire::{Message, OrderUpdate, PositionState, Quote, SnapshotBegin, SnapshotEnd, StrategyId, WireError};

/// A whole snapshot.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) begin: SnapshotBegin,
    pub(crate) positions: Vec<PositionState>,
    pub(crate) orders: Vec<OrderUpdate>,
    pub(crate) quotes: Vec<Quote>,
    frames: u64,
}

/// Picks the frames of one seat's snapshot out of the ledger's, until one is whole.
#[derive(Debug)]
pub(crate) struct Intake {
    strategy: StrategyId,
    /// A predecessor's snapshot lies in the journal too.
    generation: u64,
    partial: Option<Snapshot>,
}

impl Intake {
    pub(crate) fn new(strategy: StrategyId, generation: u64) -> Intake {
        Intake { strategy, generation, partial: None }
    }

    /// One frame of the ledger's. `Some` when a snapshot for us is whole with it.
    pub(crate) fn take(
        &mut self,
        message_id: u16,
        topic: u32,
        payload: &[u8],
    ) -> Result<Option<Snapshot>, WireError> {
        if topic != SnapshotBegin::topic_of(self.strategy) {
            return Ok(None);
        }
        if message_id == SnapshotBegin::ID {
            let begin = SnapshotBegin::decode(payload)?;
            // The ledger may have died in the middle of an earlier one.
            self.partial = (begin.generation == self.generation && begin.strategy == self.strategy)
                .then(|| Snapshot::begun(begin));
            return Ok(None);
        }
        let Some(partial) = &mut self.partial else { return Ok(None) };
        match message_id {
            PositionState::ID => partial.positions.push(PositionState::decode(payload)?),
            OrderUpdate::ID => partial.orders.push(OrderUpdate::decode(payload)?),
            Quote::ID => partial.quotes.push(Quote::decode(payload)?),
            SnapshotEnd::ID => {
                let end = SnapshotEnd::decode(payload)?;
                let whole = (end.snapshot, end.frames) == (partial.begin.snapshot, partial.frames);
                return Ok(self.partial.take().filter(|_| whole));
            }
            id => return Err(WireError::UnknownId { id }),
        }
        partial.frames += 1;
        Ok(None)
    }

    /// Frames were lost: what was begun will not be whole.
    pub(crate) fn lost(&mut self) {
        self.partial = None;
    }
}

impl Snapshot {
    fn begun(begin: SnapshotBegin) -> Snapshot {
        Snapshot { begin, positions: Vec::new(), orders: Vec::new(), quotes: Vec::new(), frames: 0 }
    }
}
