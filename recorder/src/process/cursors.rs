//! Where readers and writers stand, for whoever makes the journals again from a recording.

use std::convert::Infallible;

use journal::Journal;
use zerocopy::IntoBytes;

use crate::format::{CursorEntry, Kind, What};
use crate::write::Batch;

/// Time between two looks, in nanoseconds. A cursor that is older is as good: what was read since is read again.
const EVERY: u64 = 10_000_000;

/// The cursors of all recorded journals.
#[derive(Debug)]
pub(super) struct Cursors {
    journals: Vec<Journal>,
    own_seat: u32,
    looked: u64,
    /// As they were last written, and those that differ from it now.
    written: Vec<CursorEntry>,
    entries: Vec<CursorEntry>,
    is_new: bool,
}

impl Cursors {
    /// The journals are those of the description, in its order. The recorder's own cursors are left out.
    pub(super) fn new(journals: Vec<Journal>, own_seat: u32) -> Cursors {
        Cursors { journals, own_seat, looked: 0, written: Vec::new(), entries: Vec::new(), is_new: false }
    }

    /// Looks at all of them, if the last look is long enough ago.
    pub(super) fn look(&mut self, now: u64) {
        if now.saturating_sub(self.looked) < EVERY {
            return;
        }
        self.looked = now;
        self.entries.clear();
        for (index, journal) in self.journals.iter().enumerate() {
            let stat = journal.stat();
            let entry = |seat: u32, what: What, first: u64, second: u64| CursorEntry {
                journal: (index as u16 + 1).into(),
                seat: (seat as u16).into(),
                what: (what as u16).into(),
                reserved: 0.into(),
                first: first.into(),
                second: second.into(),
            };
            self.entries.push(entry(stat.writer_seat, What::Writer, stat.epoch, stat.frames));
            let readers = stat.readers.iter().filter(|reader| reader.gated && reader.seat != self.own_seat);
            self.entries.extend(
                readers.map(|reader| {
                    entry(reader.seat, What::Reader, reader.position, reader.holds.unwrap_or(0))
                }),
            );
        }
        self.is_new = self.entries != self.written;
    }

    /// Adds a block with them, if any has changed.
    pub(super) fn append(&self, batch: &mut Batch) {
        if !self.is_new {
            return;
        }
        let fill = |bytes: &mut Vec<u8>| {
            self.entries.iter().for_each(|entry| bytes.extend_from_slice(entry.as_bytes()));
            Ok::<_, Infallible>((0, 0))
        };
        let Ok(_) = batch.block(Kind::Cursors, 0, fill);
    }

    /// The block is on disk.
    pub(super) fn are_written(&mut self) {
        if std::mem::take(&mut self.is_new) {
            self.written.clone_from(&self.entries);
        }
    }
}
