//! One frame, written in place.

use std::io;

use super::{Writer, Written};
use crate::error::WriteError;
use crate::layout::frame_bytes;
use crate::memory::copy::UNIT_BYTES;

/// Room for one frame, created by [`Writer::claim`]. Bytes go to the ring directly; no reader sees them before
/// [`Claim::commit`]. Dropped without that, it has no effect.
///
/// The room is filled from front to back, in pieces of any size: with [`Claim::put`], or as [`io::Write`]. The frame's
/// length is the number of bytes written.
#[derive(Debug)]
#[must_use = "a claim that is not committed writes nothing"]
pub struct Claim<'w> {
    writer: &'w mut Writer,
    message_id: u16,
    topic: u32,
    /// Bytes claimed.
    room: usize,
    /// Bytes written so far.
    length: usize,
    /// The last, incomplete unit: the ring takes whole ones.
    unit: [u8; UNIT_BYTES],
}

impl<'w> Claim<'w> {
    pub(super) fn new(writer: &'w mut Writer, message_id: u16, topic: u32, room: usize) -> Claim<'w> {
        Claim { writer, message_id, topic, room, length: 0, unit: [0; UNIT_BYTES] }
    }

    /// Appends `bytes`: all of them or, when they do not fit, none.
    ///
    /// # Errors
    /// [`WriteError::TooLarge`]: more than was claimed.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        let length = self.length + bytes.len();
        if length > self.room {
            return Err(WriteError::TooLarge { size: length, max: self.room as u64 });
        }
        let mut rest = bytes;
        let filled = self.length % UNIT_BYTES;
        if filled > 0 {
            let (first, behind) = rest.split_at(rest.len().min(UNIT_BYTES - filled));
            self.unit[filled..filled + first.len()].copy_from_slice(first);
            rest = behind;
            if filled + first.len() == UNIT_BYTES {
                self.writer.ring.store_payload(self.writer.position, self.length - filled, &self.unit);
            }
        }
        let whole = rest.len() - rest.len() % UNIT_BYTES;
        if whole > 0 {
            let offset = length - rest.len();
            self.writer.ring.store_payload(self.writer.position, offset, &rest[..whole]);
        }
        self.unit[..rest.len() - whole].copy_from_slice(&rest[whole..]);
        self.length = length;
        Ok(())
    }

    /// Bytes that can still be written.
    pub fn room(&self) -> usize {
        self.room - self.length
    }

    /// Makes the frame visible, with the bytes written.
    #[inline]
    pub fn commit(self) -> Written {
        self.commit_stamped(Writer::stamp)
    }

    /// As [`Claim::commit`], with the caller's own reading of the clock; see [`Writer::write_at`].
    #[inline]
    pub fn commit_at(self, time: u64) -> Written {
        self.commit_stamped(|writer| writer.not_before_the_last(time))
    }

    #[inline(always)]
    fn commit_stamped(self, time: impl FnOnce(&Writer) -> u64) -> Written {
        let writer = self.writer;
        let position = writer.position;
        let tail = self.length % UNIT_BYTES;
        if tail > 0 {
            writer.ring.store_payload(position, self.length - tail, &self.unit[..tail]);
        }
        let end = position + frame_bytes(self.length as u64);
        // Old bytes in the successor's line may have any value, including the expected one.
        writer.clear(end);
        let time = time(writer);
        writer.store_header(position, self.message_id, self.topic, self.length, time);
        writer.commit(position, end, 1, time);
        writer.notify(self.topic);
        Written { position, time }
    }
}

impl io::Write for Claim<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let fits = bytes.len().min(self.room());
        self.put(&bytes[..fits]).map_err(io::Error::other)?;
        Ok(fits)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
