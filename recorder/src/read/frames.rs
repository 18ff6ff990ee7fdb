//! The frames of one journal.

use std::io;

use super::Recording;
use super::chunks::Chunks;
use crate::format::RecordedJournal;

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

impl<'a> RecordedFrame<'a> {
    /// As a reader of the journal would have it.
    pub fn as_read(&self) -> journal::Frame<'a> {
        let RecordedFrame { position, time, message_id, flags, topic, epoch, payload } = *self;
        journal::Frame { position, time, message_id, flags, topic, epoch, payload }
    }
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
    /// A message has what the version does not have that the recording says it is of. Nothing can be read on.
    #[error(
        "{journal}: the message at position {position} has a value in {field}, which came with version {since} of the messages, and the \
         recording says that its messages have version {messages}: its description is not the one that it was recorded with"
    )]
    Relabelled {
        /// The journal.
        journal: String,
        /// Position of the frame.
        position: u64,
        /// Record and field.
        field: String,
        /// Version that brought the field.
        since: u16,
        /// Version that the recording says.
        messages: u32,
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
    chunks: Chunks<'a>,
    journal: &'a str,
    /// Frames of the block at hand, and how far they were read.
    chunk: Vec<u8>,
    offset: usize,
    position: u64,
    from: u64,
}

impl Recording {
    /// The frames of a journal from `position` on.
    pub fn frames<'a>(&'a self, journal: &'a RecordedJournal, position: u64) -> Frames<'a> {
        self.frames_since(journal, position, 0)
    }

    /// The same without those of cuts before `time`: all that are not older are among the rest, and perhaps some older
    /// ones.
    pub fn frames_since<'a>(&'a self, journal: &'a RecordedJournal, position: u64, time: u64) -> Frames<'a> {
        Frames {
            chunks: self.chunks_since(journal, position, time),
            journal: &journal.name,
            chunk: Vec::new(),
            offset: 0,
            position: 0,
            from: position,
        }
    }
}

impl Frames<'_> {
    /// Position behind what was read, or is known to be missing; 0 before the first.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The next frame; `None` at the end of the recording. Frames that only fill gaps are passed over.
    ///
    /// # Errors
    /// [`FrameError`]; after [`FrameError::Missing`] the next call goes on behind what is missing.
    #[expect(clippy::should_implement_trait, reason = "the frame is borrowed from the reader")]
    pub fn next(&mut self) -> Result<Option<RecordedFrame<'_>>, FrameError> {
        loop {
            if self.offset >= self.chunk.len() {
                self.offset = 0;
                match self.chunks.next(&mut self.chunk) {
                    Ok(Some(position)) => self.position = position,
                    Ok(None) => return Ok(None),
                    Err(error) => {
                        if let FrameError::Missing { to, .. } = &error {
                            self.position = *to;
                        }
                        return Err(error);
                    }
                }
            }
            let start = self.offset;
            let Some((frame, size)) = raw::frame(&self.chunk[start..]) else {
                let (from, to) =
                    (self.position, self.position.saturating_add((self.chunk.len() - start) as u64));
                self.offset = self.chunk.len();
                let (journal, what) = (self.journal.to_owned(), "a block holds something that is no frame");
                return Err(FrameError::Missing { journal, from, to, what });
            };
            self.offset += size;
            self.position = frame.position.saturating_add(size as u64);
            if frame.position >= self.from && frame.flags & journal::layout::frame::VOID == 0 {
                // Looked up again: the borrow checker does not see that the loop ends here.
                return Ok(raw::frame(&self.chunk[start..]).map(|(frame, _)| frame));
            }
        }
    }
}

impl Frames<'_> {
    /// The cut that the last frame belongs to, as [`Chunks::cut`] says it.
    pub fn cut(&self) -> u64 {
        self.chunks.cut()
    }
}

/// Fails where a frame has what `messages`, the version that its recording says, does not have.
pub(super) fn demand_version(bytes: &[u8], journal: &str, messages: u32) -> Result<(), FrameError> {
    let Some(version) = u16::try_from(messages).ok().filter(|version| *version < wire::schema::VERSION)
    else {
        return Ok(());
    };
    let mut rest = bytes;
    while let Some((frame, size)) = raw::frame(rest) {
        rest = &rest[size..];
        if frame.flags & journal::layout::frame::VOID != 0 {
            continue;
        }
        let record = usize::from(frame.flags & journal::layout::frame::RECORD);
        let mut parts = frame.payload.chunks(if record > 0 { record } else { frame.payload.len().max(1) });
        let found = parts.find_map(|part| wire::schema::newer(frame.message_id, part, version));
        if let Some((record, field)) = found {
            let field_name = format!("{}.{}", record.name, field.name);
            return Err(FrameError::Relabelled {
                journal: journal.to_owned(),
                position: frame.position,
                field: field_name,
                since: field.since,
                messages,
            });
        }
    }
    Ok(())
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
