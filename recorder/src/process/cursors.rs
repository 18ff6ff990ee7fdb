//! Where readers and writers stand, for whoever makes the journals again from a recording.

use std::convert::Infallible;

use journal::Journal;
use zerocopy::IntoBytes;

use crate::format::{CursorEntry, Kind, What};
use crate::read::Counts;
use crate::write::Batch;

/// Time between two looks, in nanoseconds. A cursor that is older is as good: what was read since is read again.
const EVERY: u64 = 1_000_000;

/// The cursors of all recorded journals.
#[derive(Debug)]
pub(super) struct Cursors {
    journals: Vec<Journal>,
    own_seat: u32,
    /// By journal: the seats that read it gated, whether they have a cursor at the moment or not.
    gated: Vec<Vec<u32>>,
    looked: u64,
    /// As they were last written, and those that differ from it now.
    written: Vec<CursorEntry>,
    entries: Vec<CursorEntry>,
    is_new: bool,
    /// The next cut has them, whether they have changed or not.
    is_due: bool,
    /// By journal: writers so far, at the last look.
    epochs: Vec<u64>,
}

impl Cursors {
    /// The journals are those of the description, in its order, each with the seats that read it gated. The recorder's own
    /// cursors are left out.
    pub(super) fn new(journals: Vec<Journal>, gated: Vec<Vec<u32>>, own_seat: u32) -> Cursors {
        let epochs = vec![0; journals.len()];
        Cursors {
            journals,
            own_seat,
            gated,
            looked: 0,
            written: Vec::new(),
            entries: Vec::new(),
            is_new: false,
            // Without any reader too: a recovery needs the counts.
            is_due: true,
            epochs,
        }
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
            self.epochs[index] = stat.epoch;
            let readers = stat.readers.iter().filter(|reader| reader.gated).cloned();
            // A reader that has ended for good has no cursor any more, and nobody waits for it. A recovery starts it again: there
            // it goes on where it ended, and not with what it has read. Where that is overwritten, it begins as a new one.
            let has_cursor = |seat: &u32| stat.readers.iter().any(|reader| reader.seat == *seat);
            let ended = self.gated[index].iter().filter(|seat| !has_cursor(seat));
            let ended = ended
                .filter_map(|seat| journal.ended_reader(*seat))
                .filter(|reader| reader.holds.unwrap_or(reader.position).min(reader.position) >= stat.oldest);
            let others = readers.chain(ended).filter(|reader| reader.seat != self.own_seat);
            self.entries.extend(others.map(|reader| {
                // Of one that keeps nothing, what it holds is its cursor. Written as kept, that would hold the ring of a
                // recovered journal for ever: nobody would move it.
                let keeps = reader.holds.filter(|holds| *holds < reader.position).unwrap_or(0);
                entry(index, reader.seat, What::Reader, reader.position, keeps)
            }));
        }
        self.is_new = self.entries != self.written;
    }

    /// Name of a journal.
    pub(super) fn journal(&self, index: usize) -> &str {
        self.journals.get(index).map_or("", |journal| &journal.shape().name)
    }

    /// The next cut is to say what the journals have held: not all of it will be in the recording.
    pub(super) fn demand(&mut self) {
        self.is_due = true;
    }

    /// Adds a block with them and with what the journals have held, if any cursor has changed.
    pub(super) fn append(&self, batch: &mut Batch, counts: &[Counts]) {
        if !self.is_new && !self.is_due {
            return;
        }
        let fill = |bytes: &mut Vec<u8>| {
            let mut push = |entry: CursorEntry| bytes.extend_from_slice(entry.as_bytes());
            self.entries.iter().copied().for_each(&mut push);
            for (index, counts) in counts.iter().enumerate() {
                push(entry(index, 0, What::Writer, self.epochs[index], counts.frames));
                for (class, &count) in counts.tally.iter().enumerate().filter(|(_, count)| **count > 0) {
                    push(entry(index, class as u32, What::Class, count, 0));
                }
            }
            Ok::<_, Infallible>((0, 0))
        };
        let Ok(_) = batch.block(Kind::Cursors, 0, fill);
    }

    /// The block is on disk.
    pub(super) fn are_written(&mut self) {
        self.is_due = false;
        if std::mem::take(&mut self.is_new) {
            self.written.clone_from(&self.entries);
        }
    }
}

fn entry(journal: usize, seat: u32, what: What, first: u64, second: u64) -> CursorEntry {
    CursorEntry {
        journal: (journal as u16 + 1).into(),
        seat: (seat as u16).into(),
        what: (what as u16).into(),
        reserved: 0.into(),
        first: first.into(),
        second: second.into(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use journal::JournalShape;

    use super::*;

    #[test]
    fn what_a_journal_without_gated_readers_has_held_is_written_once() {
        let shape =
            JournalShape { id: 1, name: "j".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
        let mut cursors = Cursors::new(vec![Journal::in_memory(shape).unwrap()], vec![Vec::new()], 9);
        let mut batch = Batch::new(1, 1, 0);
        cursors.look(2 * EVERY);
        cursors.append(&mut batch, &[Counts::default()]);
        assert_eq!(batch.count(), 1, "a successor and a recovery begin with it");
        cursors.are_written();
        cursors.look(4 * EVERY);
        cursors.append(&mut batch, &[Counts::default()]);
        assert_eq!(batch.count(), 1);
    }
}
