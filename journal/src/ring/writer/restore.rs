//! Making a journal again from what was recorded of it.

use super::Writer;
use crate::error::{OpenError, RestoreError};
use crate::layout::{self, LINE_BYTES, control as at, frame, frame_bytes};
use crate::ring::bytes::RawHeader;
use crate::ring::journal::Journal;
use crate::sync::Ordering;

/// What a journal's control page said, beside its frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// Writers so far.
    pub epoch: u64,
    /// Frames ever committed, those that are restored included.
    pub frames: u64,
    /// The same by class.
    pub tally: [u64; at::CLASSES],
}

impl Writer {
    /// Commits whole frames as [`GatedReader::read_bytes`](crate::GatedReader::read_bytes) gave them, word for word:
    /// with their positions, times and epochs. Frames that are missing before them become one that readers pass over.
    ///
    /// # Errors
    /// [`RestoreError`]; the frames before the one it names are there.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), RestoreError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let damaged = || RestoreError::NoFrame { position: self.position };
            let word = |index: usize| {
                let bytes = rest.get(index * 8..index * 8 + 8).and_then(|bytes| bytes.try_into().ok());
                bytes.map(u64::from_le_bytes).ok_or_else(damaged)
            };
            let (position, shape, time, origin) = (word(0)?, word(1)?, word(2)?, word(3)?);
            let header = RawHeader {
                length: shape as u32,
                message_id: (shape >> 32) as u16,
                flags: (shape >> 48) as u16,
                time,
                topic: origin as u32,
                epoch: (origin >> 32) as u32,
            };
            let length = header.length as usize;
            let size = usize::try_from(frame_bytes(length as u64)).map_err(|_| damaged())?;
            let start = frame::HEADER_BYTES as usize;
            let payload =
                rest.get(start..start + length).filter(|_| size <= rest.len()).ok_or_else(damaged)?;
            self.check(length, header.topic)?;
            self.skip_to(position)?;
            let end = position + size as u64;
            self.make_room(end + LINE_BYTES)?;
            self.store_frame(position, end, payload);
            self.ring.store_header(position, header);
            self.commit(position, end, 1, self.not_before_the_last(time));
            rest = &rest[size..];
        }
        Ok(())
    }

    /// Ends restoring: the control page says what it said then, and there is no writer.
    pub fn finish_restoring(mut self, history: History) {
        let word = |index: usize| self.control.word(index);
        word(at::FRAMES).store(layout::frames_word(history.frames, self.position), Ordering::Relaxed);
        for (class, count) in history.tally.into_iter().enumerate() {
            word(at::TALLY + class).store(count, Ordering::Relaxed);
        }
        // What was restored stays: nothing beyond the line behind it was touched. No reader is there yet.
        word(at::INTENT).store(self.position + LINE_BYTES, Ordering::Release);
        word(at::EPOCH).store(history.epoch, Ordering::Release);
        self.frames = history.frames;
    }
}

impl Journal {
    /// Gives `seat` the gated cursor that it had, and what it kept, in a journal that was restored.
    ///
    /// # Errors
    /// [`OpenError::NoSuchPosition`] when the journal does not hold the frames from there on;
    /// [`OpenError::SeatTaken`], [`OpenError::NoSuchSeat`].
    pub fn restore_cursor(&self, seat: u32, position: u64, keeps: u64) -> Result<(), OpenError> {
        let oldest = self.stat().oldest;
        let from = if keeps == 0 { position } else { keeps.min(position) };
        for wrong in [from, position] {
            if !wrong.is_multiple_of(LINE_BYTES) || wrong < oldest || wrong > self.head() {
                return Err(OpenError::NoSuchPosition { name: self.shape().name.clone(), position: wrong });
            }
        }
        self.place_cursor(seat, position, keeps)
    }
}
