//! Reading for a recorder: bytes as they lie, and saying what is on disk.

use std::sync::Arc;

use super::{GatedReader, LooseReader};
use crate::error::ReadError;
use crate::files::registry::Registry;
use crate::layout::{control as at, frame, frame_bytes};
use crate::ring::bytes::RawHeader;
use crate::sync::Ordering;
use crate::sync::fence;
use crate::wait::Waker;

/// Whole frames, byte for byte as they lie in the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// Position of the first.
    pub position: u64,
    /// How many there are.
    pub frames: u64,
    /// Headers, payloads, and what lies up to the next line.
    pub bytes: &'a [u8],
}

impl GatedReader {
    /// Says from now on what is on disk: everything before the position that this reader keeps. The seat must have been
    /// admitted before the first frame was written, otherwise it claims what it has not seen.
    ///
    /// With a registry, each [`GatedReader::keep`] that moves the position wakes the seats that sleep until then: those
    /// of [`Journal::set_durable_interest`](crate::Journal::set_durable_interest).
    ///
    /// ```
    /// # use journal::{Clock, Journal, JournalShape, reader::View};
    /// # let shape = JournalShape { id: 1, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
    /// # let journal = Journal::in_memory(shape)?;
    /// # let mut disk = Vec::new();
    /// journal.admit_gated(5)?;
    /// let mut recorder = journal.gated(5)?;
    /// recorder.make_durable(None);
    /// let mut reader = journal.gated(6)?;
    /// reader.set_view(View::Durable);
    ///
    /// journal.writer(0, Clock::monotonic())?.write(7, 3, b"an order")?;
    /// assert!(reader.read()?.is_none(), "it is in memory, and not on disk");
    /// let chunk = recorder.read_bytes(1 << 20)?.expect("one frame");
    /// disk.extend_from_slice(chunk.bytes); // and sync
    /// let end = chunk.position + chunk.bytes.len() as u64;
    /// recorder.publish();
    /// recorder.keep(end);
    /// assert_eq!(reader.read()?.expect("now it is").payload, b"an order");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn make_durable(&mut self, registry: Option<Arc<Registry>>) {
        self.waker = registry.map(Waker::new);
        let kept = self.control.word(self.cursor + at::CURSOR_KEPT);
        if kept.load(Ordering::Relaxed) == 0 {
            kept.store(self.published, Ordering::Release);
        }
        self.control.add_reader(at::DURABLE, self.seat);
    }

    /// Returns to the first frame that this reader keeps, as after a crash. Without any it stays where it is.
    pub fn rewind(&mut self) {
        let kept = self.control.load(self.cursor + at::CURSOR_KEPT);
        if kept != 0 && kept < self.core.position {
            // What is kept is protected whatever the cursor says, so the cursor may move back to it.
            self.core.position = kept;
            self.publish();
        }
    }

    /// Says at its end what this reader owes: that nothing from `position` on is on disk, although it had let the writer go on. The
    /// writer does not wait for it: it may have overwritten that. A successor owes nothing until it says so.
    pub fn owe(&mut self, position: u64) {
        self.control.word(self.cursor + at::CURSOR_OWED).store(position, Ordering::Release);
    }

    /// Clears what a predecessor owed: this reader records on.
    pub fn owe_nothing(&mut self) {
        self.control.word(self.cursor + at::CURSOR_OWED).store(0, Ordering::Release);
    }

    /// The committed frames from our position on, as many whole ones as fit into `most` bytes, and at least one; the
    /// frames of the call before are finished with this. All topics, frames that mark gaps too.
    ///
    /// # Errors
    /// [`ReadError::Corrupt`] when the ring holds something that no writer writes.
    pub fn read_bytes(&mut self, most: usize) -> Result<Option<Chunk<'_>>, ReadError> {
        self.read_bytes_until(most, u64::MAX)
    }

    /// As [`GatedReader::read_bytes`], but ends before the first frame that its writer stamped later than `time`. What
    /// several journals hold up to one time, as long as none of them has more up to it, lacks no cause of what it holds.
    ///
    /// # Errors
    /// As [`GatedReader::read_bytes`].
    pub fn read_bytes_until(&mut self, most: usize, time: u64) -> Result<Option<Chunk<'_>>, ReadError> {
        self.chunk(most, time, u64::MAX)
    }

    /// As [`GatedReader::read_bytes`], of at most `frames` frames: for one who steps through them itself.
    ///
    /// # Errors
    /// As [`GatedReader::read_bytes`].
    pub fn read_frames(&mut self, frames: u64, most: usize) -> Result<Option<Chunk<'_>>, ReadError> {
        self.chunk(most, u64::MAX, frames)
    }

    fn chunk(&mut self, most: usize, time: u64, limit: u64) -> Result<Option<Chunk<'_>>, ReadError> {
        self.core.opener.check()?;
        self.publish();
        let position = self.core.position;
        let (mut length, mut frames) = (0_u64, 0);
        while frames < limit {
            let header = match self.core.next_header() {
                Ok(Some(header)) => header,
                // What is whole comes first; the next call says it again.
                Err(_) if frames > 0 => break,
                Err(error) => return Err(error),
                Ok(None) => break,
            };
            let more = length + frame_bytes(u64::from(header.length));
            if frames > 0 && more > most as u64 || is_later(header, time) {
                break;
            }
            self.core.pass(header);
            (length, frames) = (more, frames + 1);
            if length >= self.core.ring.capacity() / 2 {
                break;
            }
        }
        if frames == 0 {
            return Ok(None);
        }
        self.core.frames = self.core.frames.wrapping_add(frames);
        let length = length as usize;
        // SAFETY: our published cursor is at `position`, so the writer cannot overwrite these bytes; it is next
        // published through `&mut self`, after the chunk that borrows from `self` is gone.
        #[cfg(not(loom))]
        if let Some(bytes) = unsafe { self.core.ring.borrow_bytes(position, length) } {
            return Ok(Some(Chunk { position, frames, bytes }));
        }
        if self.scratch.len() < length {
            self.scratch.resize(length, 0);
        }
        self.core.ring.load_bytes(position, &mut self.scratch[..length]);
        Ok(Some(Chunk { position, frames, bytes: &self.scratch[..length] }))
    }
}

impl LooseReader {
    /// As [`GatedReader::read_bytes_until`], but appends a copy to `bytes`. The position of the first frame and how many
    /// there are.
    ///
    /// # Errors
    /// As [`LooseReader::read`]; nothing is appended then.
    pub fn read_bytes_until(
        &mut self,
        most: usize,
        time: u64,
        bytes: &mut Vec<u8>,
    ) -> Result<Option<(u64, u64)>, ReadError> {
        self.chunk(most, time, u64::MAX, bytes)
    }

    /// As [`GatedReader::read_frames`], but appends a copy to `bytes`.
    ///
    /// # Errors
    /// As [`LooseReader::read`]; nothing is appended then.
    pub fn read_frames(
        &mut self,
        frames: u64,
        most: usize,
        bytes: &mut Vec<u8>,
    ) -> Result<Option<(u64, u64)>, ReadError> {
        self.chunk(most, u64::MAX, frames, bytes)
    }

    fn chunk(
        &mut self,
        most: usize,
        time: u64,
        limit: u64,
        bytes: &mut Vec<u8>,
    ) -> Result<Option<(u64, u64)>, ReadError> {
        self.core.opener.check()?;
        let (position, start) = (self.core.position, bytes.len());
        let mut frames = 0;
        while frames < limit {
            let header = match self.next_header() {
                Ok(Some(header)) => header,
                // What was copied is whole, and comes before the gap: it is not part of what is lost.
                Err(ReadError::Lapped(gap)) if frames > 0 => {
                    self.core.position = gap.from;
                    self.lost -= gap.bytes();
                    self.gaps -= 1;
                    break;
                }
                Err(_) if frames > 0 => break,
                Err(error) => return Err(error),
                Ok(None) => break,
            };
            let length = frame_bytes(u64::from(header.length)) as usize;
            if frames > 0 && bytes.len() - start + length > most || is_later(header, time) {
                break;
            }
            let end = bytes.len();
            bytes.resize(end + length, 0);
            self.core.ring.load_bytes(self.core.position, &mut bytes[end..]);
            // SYNC: intent. If a byte of the copy is newer than the frame, the intent to write it is visible now.
            fence(Ordering::Acquire);
            if self.core.is_lapped() {
                bytes.truncate(end);
                if frames > 0 {
                    break;
                }
                return Err(self.resume());
            }
            self.core.pass(header);
            frames += 1;
        }
        self.core.frames += frames;
        self.publish();
        Ok((frames > 0).then_some((position, frames)))
    }
}

/// Frames that were appended have their source's time, which says nothing about their causes here.
fn is_later(header: RawHeader, time: u64) -> bool {
    header.time > time && header.flags & (frame::APPENDED | frame::VOID) == 0
}
