//! One frame, written in place.

use std::io;

use super::{FIRST_LINE, Writer, Written};
use crate::error::WriteError;
use crate::layout::frame::HEADER_BYTES;
use crate::layout::frame_bytes;
use crate::memory::copy::UNIT_BYTES;

/// Room for one frame, created by [`Writer::claim`]. Bytes go to the ring directly; no reader sees them before
/// [`Claim::commit`]. Dropped without that, it has no effect.
///
/// The room is filled from front to back, in pieces of any size: with [`Claim::put`], or as [`io::Write`]. The frame's
/// length is the number of bytes written.
///
/// The part of the payload that lies on the frame's first line is stored together with the commit word: readers poll that
/// line, and each separate store to it would have to fetch it back from them.
#[derive(Debug)]
#[must_use = "a claim that is not committed writes nothing"]
pub struct Claim<'w> {
    writer: &'w mut Writer,
    message_id: u16,
    flags: u16,
    topic: u32,
    /// Bytes claimed.
    room: usize,
    /// Bytes written so far.
    length: usize,
    /// The bytes on the first line.
    first: [u8; FIRST_LINE],
    /// The last, incomplete unit behind them: the ring takes whole ones.
    unit: [u8; UNIT_BYTES],
}

impl<'w> Claim<'w> {
    pub(super) fn new(
        writer: &'w mut Writer,
        message_id: u16,
        flags: u16,
        topic: u32,
        room: usize,
    ) -> Claim<'w> {
        let (first, unit) = ([0; FIRST_LINE], [0; UNIT_BYTES]);
        Claim { writer, message_id, flags, topic, room, length: 0, first, unit }
    }

    /// Appends `bytes`: all of them or, when they do not fit, none.
    ///
    /// # Errors
    /// [`WriteError::PastClaim`].
    #[inline(always)]
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.writer.opener.check()?;
        let length = self.length + bytes.len();
        if length > self.room {
            return Err(WriteError::PastClaim { size: length, room: self.room });
        }
        let whole_units = self.length.is_multiple_of(UNIT_BYTES) && bytes.len().is_multiple_of(UNIT_BYTES);
        if self.length >= FIRST_LINE && whole_units {
            self.writer.ring.store_payload(self.writer.position, self.length, bytes);
        } else {
            self.put_pieces(bytes);
        }
        self.length = length;
        Ok(())
    }

    /// Stores bytes that begin on the first line, or begin or end within a unit.
    fn put_pieces(&mut self, bytes: &[u8]) {
        let (position, mut rest, mut offset) = (self.writer.position, bytes, self.length);
        if offset < FIRST_LINE {
            let (first, behind) = rest.split_at(rest.len().min(FIRST_LINE - offset));
            self.first[offset..offset + first.len()].copy_from_slice(first);
            (rest, offset) = (behind, offset + first.len());
        }
        let filled = offset % UNIT_BYTES;
        if filled > 0 && offset > FIRST_LINE {
            let (first, behind) = rest.split_at(rest.len().min(UNIT_BYTES - filled));
            self.unit[filled..filled + first.len()].copy_from_slice(first);
            if filled + first.len() == UNIT_BYTES {
                self.writer.ring.store_payload(position, offset - filled, &self.unit);
            }
            (rest, offset) = (behind, offset + first.len());
        }
        let (whole, tail) = rest.split_at(rest.len() - rest.len() % UNIT_BYTES);
        if !whole.is_empty() {
            self.writer.ring.store_payload(position, offset, whole);
        }
        self.unit[..tail.len()].copy_from_slice(tail);
    }

    /// Position at which the next byte will lie.
    pub(super) fn end(&self) -> u64 {
        self.writer.position + HEADER_BYTES + self.length as u64
    }

    /// True when something was put, by this process.
    pub(super) fn has_frame(&self) -> bool {
        self.length > 0 && self.writer.opener.is_here()
    }

    /// Bytes that the frame may have, header included.
    pub(super) fn claimed(&self) -> u64 {
        frame_bytes(self.room as u64)
    }

    /// Bytes that can still be written.
    pub fn room(&self) -> usize {
        self.room - self.length
    }

    /// Makes the frame visible, with the bytes written. If this process is a fork that began between the claim and this call,
    /// no reader sees it: [`Claim::put`] reports that.
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
        let tail = self.length.saturating_sub(FIRST_LINE) % UNIT_BYTES;
        if tail > 0 {
            writer.ring.store_payload(position, self.length - tail, &self.unit[..tail]);
        }
        let end = position + frame_bytes(self.length as u64);
        // Old bytes in the successor's line may have any value, including the expected one.
        writer.clear(end);
        writer.ring.store_payload(position, 0, &self.first[..self.length.min(FIRST_LINE)]);
        let time = time(writer);
        writer.store_header(position, self.message_id, self.flags, self.topic, self.length, time);
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
