//! The ledger's snapshots, put together again from the frames of its journal.

use crate::{AnyMessage, Message, SnapshotBegin, SnapshotEnd};

/// Finds the last whole snapshot of everybody. It takes the frames of the ledger's journal in their order; snapshots for
/// single strategies and one whose end is missing are passed over.
///
/// Who goes on from a snapshot with matching's executions must see that those since [`SnapshotBegin::execution`] are all
/// still there, and else read the journal again: the ledger may have written a newer one meanwhile.
#[derive(Clone, Debug, Default)]
pub struct LastSnapshot {
    last: Vec<AnyMessage>,
    /// The one whose end has not come yet.
    current: Option<Vec<AnyMessage>>,
}

impl LastSnapshot {
    /// Name of the ledger's journal.
    pub const JOURNAL: &str = "ledger.state";

    /// Takes the next frame.
    pub fn take(&mut self, topic: u32, message_id: u16, payload: &[u8]) {
        if topic != SnapshotBegin::topic_of(SnapshotBegin::EVERYBODY) {
            return;
        }
        let Ok(message) = AnyMessage::decode(message_id, payload) else {
            self.current = None;
            return;
        };
        if message_id == SnapshotBegin::ID {
            self.current = Some(Vec::new());
        }
        if let Some(messages) = &mut self.current {
            messages.push(message);
        }
        if message_id == SnapshotEnd::ID
            && let Some(whole) = self.current.take()
        {
            self.last = whole;
        }
    }

    /// Its messages, from begin to end; empty when there is none.
    pub fn into_messages(self) -> Vec<AnyMessage> {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StrategyId;

    fn begin(snapshot: u64) -> SnapshotBegin {
        SnapshotBegin {
            snapshot,
            execution: 64 * snapshot,
            strategy: SnapshotBegin::EVERYBODY,
            reserved: [0; 3],
            generation: 0,
            trade: 0,
        }
    }

    fn end(snapshot: u64) -> SnapshotEnd {
        let strategy = SnapshotBegin::EVERYBODY;
        SnapshotEnd { snapshot, frames: 0, strategy, reserved: [0; 3], generation: 0 }
    }

    fn take<M: Message>(found: &mut LastSnapshot, topic: u32, message: &M) {
        found.take(topic, M::ID, message.bytes());
    }

    /// Number of the snapshot that was found, if there is one.
    fn number(found: LastSnapshot) -> Option<u64> {
        match found.into_messages().as_slice() {
            [] => None,
            [AnyMessage::SnapshotBegin(begin), .., AnyMessage::SnapshotEnd(end)] => {
                assert_eq!(begin.snapshot, end.snapshot);
                Some(begin.snapshot)
            }
            other => panic!("not from begin to end: {other:?}"),
        }
    }

    #[test]
    fn the_last_whole_snapshot_counts_and_not_one_that_is_under_way() {
        let mut found = LastSnapshot::default();
        // The beginning of this one is overwritten.
        take(&mut found, 0, &end(1));
        assert_eq!(number(found.clone()), None);
        take(&mut found, 0, &begin(2));
        take(&mut found, 0, &end(2));
        take(&mut found, 0, &begin(3));
        assert_eq!(number(found.clone()), Some(2));
        take(&mut found, 0, &end(3));
        assert_eq!(number(found), Some(3));
    }

    #[test]
    fn a_snapshot_for_one_strategy_is_passed_over_also_in_the_middle() {
        let mut found = LastSnapshot::default();
        let topic = SnapshotBegin::topic_of(StrategyId(7));
        take(&mut found, 0, &begin(1));
        take(&mut found, topic, &begin(2));
        take(&mut found, topic, &end(2));
        take(&mut found, 0, &end(1));
        assert_eq!(number(found), Some(1));
    }

    #[test]
    fn a_snapshot_with_a_message_that_cannot_be_read_does_not_count() {
        let mut found = LastSnapshot::default();
        take(&mut found, 0, &begin(1));
        found.take(0, SnapshotEnd::ID, b"short");
        take(&mut found, 0, &end(1));
        assert_eq!(number(found), None);
    }
}
