//! What a recording says of its journals beside their frames: how many there ever were, and where everybody stood.

use std::io;

use zerocopy::FromBytes;

use super::blocks::Found;
use super::frames::raw;
use super::{Recording, SegmentFile};
use crate::format::{CursorEntry, Kind, What};

/// Classes of frames: see `docs/journal-format.md`, the tally.
const CLASSES: usize = journal::layout::control::CLASSES;

/// Frames of one journal since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Writers so far.
    pub epoch: u64,
    /// All frames.
    pub frames: u64,
    /// By class.
    pub tally: [u64; CLASSES],
}

impl Counts {
    /// Counts whole frames, as they lay in the ring.
    pub(crate) fn add(&mut self, bytes: &[u8], classify: fn(u16, &[u8]) -> usize) {
        self.add_noting(bytes, classify, |_| ());
    }

    /// The same, and `note` is told the class of each. Frames that only fill gaps are in no class, and no writer counts
    /// them.
    pub(crate) fn add_noting(
        &mut self,
        mut bytes: &[u8],
        classify: fn(u16, &[u8]) -> usize,
        mut note: impl FnMut(usize),
    ) {
        while let Some((frame, size)) = raw::frame(bytes) {
            if frame.flags & journal::layout::frame::VOID == 0 {
                self.frames += 1;
                let class = classify(frame.message_id, frame.payload);
                if let Some(count) = self.tally.get_mut(class) {
                    *count += 1;
                    note(class);
                }
            }
            bytes = &bytes[size..];
        }
    }
}

/// The state of all journals at the end of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// By number less one.
    pub counts: Vec<Counts>,
    /// Gated readers: the journal's number, the seat, its cursor, and what it kept (zero: its cursor).
    pub cursors: Vec<(u16, u16, u64, u64)>,
}

/// Why there is no state.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// No cut has it.
    #[error("no cut of it says where the readers stood")]
    None,
    /// The disk.
    #[error("segment {segment}: {source}")]
    Disk {
        /// Number of the segment.
        segment: u32,
        /// What the system says.
        source: io::Error,
    },
}

impl Recording {
    /// The state at its end. `classify` gives the class of a message.
    ///
    /// # Errors
    /// [`StateError`].
    pub fn state(&self, classify: fn(u16, &[u8]) -> usize) -> Result<State, StateError> {
        // The last segment that says it, and from there to the end.
        let disk = |segment: &SegmentFile| {
            let segment = segment.head.number.get();
            move |source| StateError::Disk { segment, source }
        };
        let mut found = None;
        for (index, segment) in self.segments().iter().enumerate().rev() {
            if let Some(offset) = self.last_state(segment).map_err(disk(segment))? {
                found = Some((index, offset));
                break;
            }
        }
        let (first, offset) = found.ok_or(StateError::None)?;
        let mut state =
            State { counts: vec![Counts::default(); self.description().journals.len()], cursors: Vec::new() };
        // Frames count from behind the cut that holds the block.
        let mut counted_to = u64::MAX;
        for (index, segment) in self.segments().iter().enumerate().skip(first) {
            let start = (index == first).then_some(offset);
            self.walk(segment, start, |_, head, payload| match head.kind() {
                Some(Kind::Cursors) if index == first && counted_to == u64::MAX => {
                    state.take(payload);
                    counted_to = head.cut.get();
                }
                Some(Kind::Frames) if head.cut.get() > counted_to => {
                    let journal = usize::from(head.journal.get()).checked_sub(1);
                    if let Some(counts) = journal.and_then(|journal| state.counts.get_mut(journal)) {
                        counts.add(payload, classify);
                    }
                }
                _ => {}
            })
            .map_err(disk(segment))?;
        }
        Ok(state)
    }

    /// True when it has a state ([`Recording::state`]).
    ///
    /// # Errors
    /// Those of the file system.
    pub(crate) fn has_state(&self) -> io::Result<bool> {
        for segment in self.segments().iter().rev() {
            if self.last_state(segment)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Offset of the segment's last block of cursors.
    pub(super) fn last_state(&self, segment: &SegmentFile) -> io::Result<Option<u64>> {
        if let Some(tail) = self.tail_of(segment) {
            return Ok(tail.state);
        }
        let mut last = None;
        self.walk(segment, None, |offset, head, _| {
            if head.kind() == Some(Kind::Cursors) {
                last = Some(offset);
            }
        })?;
        Ok(last)
    }

    /// Passes the blocks of a segment that count to `each`, with their offsets.
    pub(super) fn walk(
        &self,
        segment: &SegmentFile,
        start: Option<u64>,
        mut each: impl FnMut(u64, &crate::format::BlockHead, &[u8]),
    ) -> io::Result<()> {
        let mut blocks = segment.blocks()?;
        if let Some(offset) = start {
            blocks.seek(offset);
        }
        let ends = segment.blocks_end.min(self.end().next_block);
        loop {
            match blocks.find()? {
                Found::Block(size) => {
                    let Some(block) = blocks.block() else { return Ok(()) };
                    if block.head.number.get() >= ends {
                        return Ok(());
                    }
                    each(blocks.offset(), &block.head, block.payload);
                    blocks.pass(size);
                }
                Found::Nothing => {
                    if !blocks.resync()? {
                        return Ok(());
                    }
                }
            }
        }
    }
}

impl State {
    fn take(&mut self, payload: &[u8]) {
        for row in payload.chunks_exact(size_of::<CursorEntry>()) {
            let Ok(row) = CursorEntry::read_from_bytes(row) else { continue };
            let (journal, seat, what) = (row.journal.get(), row.seat.get(), row.what.get());
            let (first, second) = (row.first.get(), row.second.get());
            if what == What::Reader as u16 {
                self.cursors.push((journal, seat, first, second));
                continue;
            }
            let index = usize::from(journal).checked_sub(1);
            let Some(counts) = index.and_then(|index| self.counts.get_mut(index)) else { continue };
            if what == What::Writer as u16 {
                (counts.epoch, counts.frames) = (first, second);
            } else if what == What::Class as u16
                && let Some(class) = counts.tally.get_mut(usize::from(seat))
            {
                *class = first;
            }
        }
    }
}
