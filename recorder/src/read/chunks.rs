//! The blocks of one journal: whole frames, as they lay in the ring.

use super::blocks::{Blocks, Found};
use super::{FrameError, Recording, index};
use crate::format::{Kind, RecordedJournal};

/// Reads the blocks of one journal in order.
#[derive(Debug)]
pub struct Chunks<'a> {
    recording: &'a Recording,
    journal: &'a RecordedJournal,
    /// The segment that is read, and what comes after it.
    blocks: Option<Blocks>,
    segment: usize,
    /// Position behind the last block; `None` before the first.
    position: Option<u64>,
    /// What is before it need not be read.
    from: u64,
    gap: Option<&'static str>,
}

impl Recording {
    /// The blocks of a journal that hold frames at `position` or behind it, and perhaps some before.
    pub fn chunks<'a>(&'a self, journal: &'a RecordedJournal, position: u64) -> Chunks<'a> {
        let (recording, from) = (self, position);
        Chunks { recording, journal, blocks: None, segment: 0, position: None, from, gap: None }
    }
}

impl Chunks<'_> {
    /// Puts the next block into `bytes`; the position of its first frame. `None` at the end of the recording.
    ///
    /// # Errors
    /// [`FrameError`]; after [`FrameError::Missing`] `bytes` hold the block behind what is missing.
    pub fn next(&mut self, bytes: &mut Vec<u8>) -> Result<Option<u64>, FrameError> {
        bytes.clear();
        while let Some(segment) = self.recording.segments().get(self.segment) {
            let disk = |source| FrameError::Disk { segment: segment.head.number.get(), source };
            if self.blocks.is_none() {
                if self.position.is_none() && self.is_before(self.segment) {
                    self.segment += 1;
                    continue;
                }
                self.blocks = Some(Blocks::open(&segment.path).map_err(disk)?);
            }
            let Some(blocks) = &mut self.blocks else { continue };
            let ends = segment.blocks_end.min(self.recording.end().next_block);
            if blocks.find().map_err(disk)? == Found::Nothing {
                if !blocks.resync().map_err(disk)? {
                    (self.blocks, self.segment) = (None, self.segment + 1);
                }
                continue;
            }
            let Some(block) = blocks.block() else { return Ok(None) };
            let head = block.head;
            if head.number.get() >= ends {
                (self.blocks, self.segment) = (None, self.segment + 1);
                continue;
            }
            let mine = head.journal == self.journal.number;
            let (position, end) = (head.position.get(), head.position.get() + u64::from(head.length.get()));
            let is_frames = mine && head.kind() == Some(Kind::Frames) && end > self.from;
            if is_frames {
                bytes.extend_from_slice(block.payload);
            }
            if mine && head.kind() == Some(Kind::Gap) {
                self.gap = Some("the recorder was overtaken, or its disk took nothing");
            }
            blocks.pass(head.size());
            if is_frames {
                let gap = self.gap.take();
                let before = self.position.replace(end).filter(|&before| before < position);
                if let Some(from) = before {
                    let (journal, what) = (self.journal.name.clone(), gap.unwrap_or("damaged, or removed"));
                    return Err(FrameError::Missing { journal, from, to: position, what });
                }
                return Ok(Some(position));
            }
        }
        Ok(None)
    }

    /// Whether the index of a closed segment says that all it has of the journal is before `from`.
    fn is_before(&self, segment: usize) -> bool {
        let Ok(Some(rows)) = index(&self.recording.segments()[segment]) else { return false };
        let mut mine = rows.iter().filter(|row| row.journal == self.journal.number);
        mine.all(|row| row.end.get() <= self.from)
    }
}
