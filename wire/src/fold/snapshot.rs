//! A snapshot as one value, and how it is read message by message.

use crate::{AnyMessage, OrderUpdate, PositionState, Quote, SnapshotBegin, StrategyId};

/// A whole snapshot of the ledger's, of one strategy or of everybody.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Its number, whose it is, and up to which execution it reaches.
    pub begin: SnapshotBegin,
    /// By strategy, then instrument.
    pub positions: Vec<PositionState>,
    /// Orders that work, by id; `execution` is the position of matching's latest frame about each.
    pub orders: Vec<OrderUpdate>,
    /// The latest quote of each instrument; none where there are too many.
    pub quotes: Vec<Quote>,
}

/// A snapshot that is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// Begin and end do not belong together, or messages are missing.
    #[error("snapshot {0} is not whole: read on to the next one")]
    NotWhole(u64),
    /// A message that has no place in a snapshot.
    #[error("a {0} has no place in a snapshot: is this the ledger's journal?")]
    Foreign(&'static str),
}

/// Picks the messages of one strategy's snapshots, or those of everybody's, out of the ledger's.
#[derive(Clone, Debug)]
pub struct SnapshotReader {
    strategy: StrategyId,
    /// Only snapshots for this generation of the seat; `None`: for any.
    generation: Option<u64>,
    partial: Option<Partial>,
}

#[derive(Clone, Debug)]
struct Partial {
    snapshot: Snapshot,
    frames: u64,
}

impl SnapshotReader {
    /// For snapshots of everybody.
    pub fn of_everybody() -> SnapshotReader {
        SnapshotReader { strategy: SnapshotBegin::EVERYBODY, generation: None, partial: None }
    }

    /// For the snapshots of one strategy that are meant for this generation of its seat: those of its predecessor may lie
    /// in the journal too.
    pub fn of_strategy(strategy: StrategyId, generation: u64) -> SnapshotReader {
        SnapshotReader { strategy, generation: Some(generation), partial: None }
    }

    /// Topic of the frames to take.
    pub fn topic(&self) -> u32 {
        SnapshotBegin::topic_of(self.strategy)
    }

    /// Takes the next message with this [`topic`](SnapshotReader::topic). `Some` when a snapshot is whole with it.
    ///
    /// Messages before the first begin are skipped, and so is a snapshot for somebody else. A begin without the end of the
    /// one before starts anew: the ledger was killed in between.
    ///
    /// # Errors
    /// [`SnapshotError`]; the snapshot that was being read is given up.
    pub fn take(&mut self, message: AnyMessage) -> Result<Option<Snapshot>, SnapshotError> {
        if let AnyMessage::SnapshotBegin(begin) = message {
            let is_meant = begin.strategy == self.strategy
                && self.generation.is_none_or(|generation| begin.generation == generation);
            self.partial = is_meant.then(|| Partial::begun(begin));
            return Ok(None);
        }
        let Some(mut partial) = self.partial.take() else { return Ok(None) };
        match message {
            AnyMessage::PositionState(position) => partial.snapshot.positions.push(position),
            AnyMessage::OrderUpdate(order) => partial.snapshot.orders.push(order),
            AnyMessage::Quote(quote) => partial.snapshot.quotes.push(quote),
            AnyMessage::SnapshotEnd(end) => {
                let number = partial.snapshot.begin.snapshot;
                if (end.snapshot, end.frames) != (number, partial.frames) {
                    return Err(SnapshotError::NotWhole(number));
                }
                return Ok(Some(partial.snapshot));
            }
            other => return Err(SnapshotError::Foreign(other.name())),
        }
        partial.frames += 1;
        self.partial = Some(partial);
        Ok(None)
    }

    /// Messages were lost: the snapshot that was being read is given up.
    pub fn reset(&mut self) {
        self.partial = None;
    }
}

impl Partial {
    fn begun(begin: SnapshotBegin) -> Partial {
        let snapshot = Snapshot { begin, positions: Vec::new(), orders: Vec::new(), quotes: Vec::new() };
        Partial { snapshot, frames: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EndOfStream, InstrumentId, SnapshotEnd};

    const ME: StrategyId = StrategyId(7);

    fn begin(snapshot: u64, strategy: StrategyId, generation: u64) -> AnyMessage {
        AnyMessage::SnapshotBegin(SnapshotBegin {
            snapshot,
            execution: 640,
            strategy,
            reserved: [0; 3],
            generation,
            trade: 3,
        })
    }

    fn end(snapshot: u64, frames: u64) -> AnyMessage {
        AnyMessage::SnapshotEnd(SnapshotEnd {
            snapshot,
            frames,
            strategy: ME,
            reserved: [0; 3],
            generation: 1,
        })
    }

    fn quote() -> AnyMessage {
        AnyMessage::Quote(Quote::empty(InstrumentId(1)))
    }

    fn read(reader: &mut SnapshotReader, messages: &[AnyMessage]) -> Result<Option<Snapshot>, SnapshotError> {
        messages.iter().try_fold(None, |_, message| reader.take(*message))
    }

    #[test]
    fn a_snapshot_is_whole_with_its_end_and_read_again_from_the_next_begin() {
        let mut reader = SnapshotReader::of_strategy(ME, 1);
        assert_eq!(reader.topic(), 8);
        assert_eq!(read(&mut reader, &[quote(), end(1, 0)]), Ok(None), "no begin");
        let killed = [begin(4, ME, 1), quote(), begin(5, ME, 1), quote(), quote(), end(5, 2)];
        let snapshot = read(&mut reader, &killed).unwrap().unwrap();
        assert_eq!((snapshot.begin.snapshot, snapshot.quotes.len()), (5, 2));
        assert_eq!(read(&mut reader, &[end(5, 2)]), Ok(None), "once");
    }

    #[test]
    fn missing_and_foreign_messages_give_a_snapshot_up() {
        let mut reader = SnapshotReader::of_strategy(ME, 1);
        let not_whole = Err(SnapshotError::NotWhole(4));
        assert_eq!(read(&mut reader, &[begin(4, ME, 1), quote(), end(4, 2)]), not_whole);
        assert_eq!(read(&mut reader, &[begin(4, ME, 1), end(5, 0)]), not_whole);
        let stream_end = AnyMessage::EndOfStream(EndOfStream {
            quotes: 0,
            trades: 0,
            book_events: 0,
            source_messages: 0,
            skipped: 0,
            rejected: 0,
        });
        assert_eq!(
            read(&mut reader, &[begin(4, ME, 1), stream_end]),
            Err(SnapshotError::Foreign("EndOfStream"))
        );
        assert_eq!(read(&mut reader, &[end(4, 0)]), Ok(None), "given up");
        read(&mut reader, &[begin(6, ME, 1), quote()]).unwrap();
        reader.reset();
        assert_eq!(read(&mut reader, &[end(6, 1)]), Ok(None), "given up");
    }

    #[test]
    fn snapshots_of_others_and_of_a_predecessor_are_skipped() {
        let mut mine = SnapshotReader::of_strategy(ME, 2);
        for other in [begin(1, ME, 1), begin(1, StrategyId(8), 2), begin(1, SnapshotBegin::EVERYBODY, 2)] {
            assert_eq!(read(&mut mine, &[other, end(1, 0)]), Ok(None), "{other:?}");
        }
        let mut everybody = SnapshotReader::of_everybody();
        assert_eq!(everybody.topic(), 0);
        assert!(read(&mut everybody, &[begin(1, SnapshotBegin::EVERYBODY, 9), end(1, 0)]).unwrap().is_some());
    }
}
