//! Marks that td reads late, after a pause. td passes over a late mark that a later one of the same instrument replaces.
//!
//! A late mark is an old price, and later trades are booked already. Trades at an old price could show a loss that never existed, and
//! trip a kill switch.

use std::collections::BTreeMap;

use node::{InstanceDir, Quiescence};
use wire::{InstrumentId, Mark, Message};

/// A mark older than this, in nanoseconds, may have been replaced.
pub(super) const STALE: u64 = 1_000_000_000;

/// The last mark of each instrument in the ledger's journal.
#[derive(Debug)]
pub(super) struct Newest {
    journal: Quiescence,
    /// Up to here it was read.
    position: u64,
    last: BTreeMap<InstrumentId, u64>,
}

impl Newest {
    /// Of this journal of the ledger.
    pub(super) fn open(instance: &InstanceDir, risk: &str) -> Newest {
        let journal = Quiescence::watch(instance, |name| name == risk);
        let journal = journal.inspect_err(|error| log::warn!("no mark is passed over: {error}"));
        Newest { journal: journal.unwrap_or_else(|_| Quiescence::none()), position: 0, last: BTreeMap::new() }
    }

    /// Whether a mark of the same instrument is behind the one at this position.
    pub(super) fn is_behind(&mut self, instrument: InstrumentId, position: u64) -> bool {
        self.read_on(position);
        self.last.get(&instrument).is_some_and(|last| *last > position)
    }

    fn read_on(&mut self, from: u64) {
        let Some(journal) = self.journal.journals().first() else { return };
        let head = journal.head();
        let from = std::mem::replace(&mut self.position, head).max(from);
        if from >= head {
            return;
        }
        let Ok(mut reader) = journal.observe(from) else { return };
        while reader.position() < head {
            let Ok(Some(frame)) = reader.read() else { return };
            if frame.message_id == Mark::ID
                && let Ok(mark) = Mark::decode(frame.payload)
            {
                self.last.insert(mark.instrument, frame.position);
            }
        }
    }
}
