//! What was written behind the last whole cut: nobody was told that it is on disk.

use std::io;

use super::blocks::Found;
use super::frames::raw;
use super::{FrameError, Recording, SegmentFile};
use crate::format::Kind;

/// A frame of a cut that was never finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// The journal's number in the description.
    pub journal: u16,
    /// Its position.
    pub position: u64,
    /// Its time.
    pub time: u64,
    /// Type of its payload.
    pub message_id: u16,
    /// Its topic.
    pub topic: u32,
    /// Low half of its writer's epoch.
    pub epoch: u32,
    /// The message.
    pub payload: Vec<u8>,
}

impl Recording {
    /// The frames that are whole on disk and belong to the cut that was being written at the end. They do not count: what
    /// caused them, or came before them in another journal, may be missing. There may have been more.
    ///
    /// # Errors
    /// [`FrameError::Disk`].
    pub fn unfinished(&self) -> Result<Vec<Unfinished>, FrameError> {
        let mut frames = Vec::new();
        if let Some(segment) = self.segments().last() {
            self.behind(segment, &mut frames)
                .map_err(|source| FrameError::Disk { segment: segment.head.number.get(), source })?;
        }
        Ok(frames)
    }

    fn behind(&self, segment: &SegmentFile, frames: &mut Vec<Unfinished>) -> io::Result<()> {
        let mut blocks = segment.blocks()?;
        let first = self.end().next_block;
        loop {
            let size = match blocks.find()? {
                Found::Block(size) => size,
                Found::Nothing if blocks.resync()? => continue,
                Found::Nothing => return Ok(()),
            };
            let Some(block) = blocks.block() else { return Ok(()) };
            let head = block.head;
            if head.cut.get() == first && head.kind() == Some(Kind::Frames) {
                let mut bytes = block.payload;
                while let Some((frame, size)) = raw::frame(bytes) {
                    bytes = &bytes[size..];
                    if frame.flags & journal::layout::frame::VOID != 0 {
                        continue;
                    }
                    frames.push(Unfinished {
                        journal: head.journal.get(),
                        position: frame.position,
                        time: frame.time,
                        message_id: frame.message_id,
                        topic: frame.topic,
                        epoch: frame.epoch,
                        payload: frame.payload.to_vec(),
                    });
                }
            }
            blocks.pass(size);
        }
    }
}
