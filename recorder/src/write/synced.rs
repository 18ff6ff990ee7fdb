//! When cuts were on disk: known when they are, and said by the next.

use std::convert::Infallible;

use journal::Clock;
use zerocopy::IntoBytes;

use super::batch::Batch;
use crate::format::{Kind, SyncedEntry};

/// Times that are not in the recording yet. There is one, unless cuts have failed since.
#[derive(Debug, Default)]
pub(super) struct Synced {
    clock: Option<Clock>,
    unsaid: Vec<SyncedEntry>,
}

impl Synced {
    pub(super) fn begin(&mut self, clock: Clock) {
        self.clock = Some(clock);
    }

    /// The write of the cut's last block has just returned.
    pub(super) fn note(&mut self, cut: u64) {
        if let Some(clock) = &self.clock {
            self.unsaid.push(SyncedEntry { cut: cut.into(), time: clock.now().into() });
        }
    }

    /// Adds a block with them, if there are any.
    pub(super) fn append(&self, batch: &mut Batch) {
        append(batch, &self.unsaid);
    }

    /// The block is on disk, or need not be.
    pub(super) fn is_said(&mut self) {
        self.unsaid.clear();
    }

    pub(super) fn since(&self) -> Option<u64> {
        self.unsaid.first().map(|entry| entry.time.get())
    }
}

/// Adds a block that says nothing, for a cut whose blocks are all written and which has none left to end with.
pub(super) fn append_nothing(batch: &mut Batch) {
    append(batch, &[SyncedEntry { cut: 0.into(), time: 0.into() }]);
}

fn append(batch: &mut Batch, entries: &[SyncedEntry]) {
    let fill = |bytes: &mut Vec<u8>| {
        bytes.extend_from_slice(entries.as_bytes());
        Ok::<_, Infallible>((0, 0))
    };
    let Ok(_) = batch.block(Kind::Synced, 0, fill);
}
