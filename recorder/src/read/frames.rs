//! The frames of one journal.

use std::io;

use super::Recording;
use super::blocks::{Blocks, Found};
use crate::format::{Kind, RecordedJournal};

/// A frame as it was in the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedFrame<'a> {
    /// Its position in the journal.
    pub position: u64,
    /// Its time.
    pub time: u64,
    /// Type of its payload.
    pub message_id: u16,
    /// Its flags.
    pub flags: u16,
    /// Its topic.
    pub topic: u32,
    /// Low half of its writer's epoch.
    pub epoch: u32,
    /// The message.
    pub payload: &'a [u8],
}

/// Why the next frame cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// Frames are missing; the next one is read by the next call.
    #[error("{journal}: positions {from} to {to} are missing: {what}")]
    Missing {
        /// The journal.
        journal: String,
        /// Position of the first byte that is missing.
        from: u64,
        /// Position behind the last.
        to: u64,
        /// Why.
        what: &'static str,
    },
    /// The disk.
    #[error("segment {segment}: {source}")]
    Disk {
        /// Number of the segment.
        segment: u32,
        /// What the system says.
        source: io::Error,
    },
}

/// Reads the frames of one journal in order.
#[derive(Debug)]
pub struct Frames<'a> {
    recording: &'a Recording,
    journal: &'a RecordedJournal,
    /// The segment that is read, and what comes after it.
    blocks: Option<Blocks>,
    segment: usize,
    /// Frames of the block at hand, and how far they were read.
    chunk: Vec<u8>,
    offset: usize,
    /// Position of the next frame; `None` before the first.
    position: Option<u64>,
    from: u64,
    gap: Option<&'static str>,
}

impl Recording {
    /// The frames of a journal from `position` on.
    pub fn frames<'a>(&'a self, journal: &'a RecordedJournal, position: u64) -> Frames<'a> {
        Frames {
            recording: self,
            journal,
            blocks: None,
            segment: 0,
            chunk: Vec::new(),
            offset: 0,
            position: None,
            from: position,
            gap: None,
        }
    }
}

impl Frames<'_> {
    /// The next frame; `None` at the end of the recording. Frames that only fill gaps are passed over.
    ///
    /// # Errors
    /// [`FrameError`]; after [`FrameError::Missing`] the next call goes on behind what is missing.
    #[expect(clippy::should_implement_trait, reason = "the frame is borrowed from the reader")]
    pub fn next(&mut self) -> Result<Option<RecordedFrame<'_>>, FrameError> {
        loop {
            if self.offset >= self.chunk.len() && !self.next_chunk()? {
                return Ok(None);
            }
            let start = self.offset;
            let Some((frame, size)) = raw::frame(&self.chunk[start..]) else {
                let (from, to) = (
                    self.position.unwrap_or(0),
                    self.position.unwrap_or(0) + (self.chunk.len() - start) as u64,
                );
                self.position = Some(to);
                self.offset = self.chunk.len();
                return Err(self.missing(from, to, "a block holds something that is no frame"));
            };
            self.offset += size;
            self.position = Some(frame.position + size as u64);
            if frame.position >= self.from && frame.flags & journal::layout::frame::VOID == 0 {
                // Looked up again: the borrow checker does not see that the loop ends here.
                return Ok(raw::frame(&self.chunk[start..]).map(|(frame, _)| frame));
            }
        }
    }

    fn missing(&self, from: u64, to: u64, what: &'static str) -> FrameError {
        FrameError::Missing { journal: self.journal.name.clone(), from, to, what }
    }

    /// Has the next block of the journal in `chunk`.
    fn next_chunk(&mut self) -> Result<bool, FrameError> {
        loop {
            let Some(segment) = self.recording.segments().get(self.segment) else { return Ok(false) };
            let disk = |source| FrameError::Disk { segment: segment.head.number.get(), source };
            let blocks = match &mut self.blocks {
                Some(blocks) => blocks,
                none => none.insert(Blocks::open(&segment.path).map_err(disk)?),
            };
            let ends = segment.blocks_end.min(self.recording.end().next_block);
            match blocks.find().map_err(disk)? {
                Found::Block(size) => {
                    let Some(block) = blocks.block() else { return Ok(false) };
                    let head = block.head;
                    let mine = head.journal == self.journal.number;
                    if head.number.get() >= ends {
                        (self.blocks, self.segment) = (None, self.segment + 1);
                        continue;
                    }
                    let position = head.position.get();
                    let is_gap = mine && head.kind() == Some(Kind::Gap);
                    let is_frames = mine && head.kind() == Some(Kind::Frames);
                    if is_frames {
                        self.chunk.clear();
                        self.chunk.extend_from_slice(block.payload);
                        self.offset = 0;
                    }
                    blocks.pass(size);
                    if is_gap {
                        self.gap = Some("the recorder was overtaken");
                    }
                    if is_frames {
                        let before = self.position.replace(position);
                        let gap = self.gap.take();
                        if let Some(before) =
                            before.filter(|&before| before < position && position > self.from)
                        {
                            return Err(self.missing(before, position, gap.unwrap_or("damaged, or removed")));
                        }
                        return Ok(true);
                    }
                }
                Found::Nothing => {
                    if !blocks.resync().map_err(disk)? {
                        (self.blocks, self.segment) = (None, self.segment + 1);
                    }
                }
            }
        }
    }
}

/// Frames as bytes.
pub(crate) mod raw {
    use super::RecordedFrame;
    use journal::layout::frame_bytes;

    fn word<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
        bytes.get(at..at + N)?.try_into().ok()
    }

    /// The frame at the start of `bytes`, and the bytes up to the next one.
    pub(crate) fn frame(bytes: &[u8]) -> Option<(RecordedFrame<'_>, usize)> {
        let length = u32::from_le_bytes(word(bytes, 8)?);
        let frame = RecordedFrame {
            position: u64::from_le_bytes(word(bytes, 0)?),
            message_id: u16::from_le_bytes(word(bytes, 12)?),
            flags: u16::from_le_bytes(word(bytes, 14)?),
            time: u64::from_le_bytes(word(bytes, 16)?),
            topic: u32::from_le_bytes(word(bytes, 24)?),
            epoch: u32::from_le_bytes(word(bytes, 28)?),
            payload: bytes.get(32..32 + length as usize)?,
        };
        let size = usize::try_from(frame_bytes(u64::from(length))).ok()?;
        (size <= bytes.len()).then_some((frame, size))
    }
}
