//! Making a journal again from what was recorded of it.

use super::Writer;
use crate::error::{OpenError, RestoreError, WriteError};
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

/// A frame at the start of bytes that were recorded.
#[derive(Clone, Copy, Debug)]
struct RawFrame {
    position: u64,
    header: RawHeader,
    /// Bytes up to the next frame.
    size: usize,
}

/// Frames that follow one another.
#[derive(Clone, Copy, Debug)]
struct Run {
    length: usize,
    frames: u64,
    /// The latest of their times.
    time: u64,
}

impl RawFrame {
    /// `None` if the bytes do not hold a whole one.
    #[inline]
    fn read(bytes: &[u8]) -> Option<RawFrame> {
        let (words, _) = bytes.first_chunk::<{ frame::HEADER_BYTES as usize }>()?.as_chunks();
        let word = |index: usize| words.get(index).copied().map(u64::from_le_bytes);
        let (position, shape, time, origin) = (word(0)?, word(1)?, word(2)?, word(3)?);
        let header = RawHeader {
            length: shape as u32,
            message_id: (shape >> 32) as u16,
            flags: (shape >> 48) as u16,
            time,
            topic: origin as u32,
            epoch: (origin >> 32) as u32,
        };
        let size = usize::try_from(frame_bytes(u64::from(header.length))).ok()?;
        (size <= bytes.len()).then_some(RawFrame { position, header, size })
    }
}

impl Writer {
    /// Commits whole frames as [`GatedReader::read_bytes`](crate::GatedReader::read_bytes) gave them, word for word:
    /// with their positions, times and epochs, and what fills up their last lines. Frames that are missing before them become one that readers pass over.
    ///
    /// # Errors
    /// [`RestoreError`]; the frames before the one it names are there.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), RestoreError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            self.opener.check().map_err(WriteError::from)?;
            let first = RawFrame::read(rest).ok_or(RestoreError::NoFrame { position: self.position })?;
            self.check(first.header.length as usize, first.header.topic)?;
            // Of the writer behind what is missing, as the frames before and behind it are of theirs.
            self.fill_to(first.position, first.header.epoch, first.header.time)?;
            let run = self.run(first, rest);
            let (run_bytes, behind) = rest.split_at(run.length);
            self.restore_run(&first, &run, run_bytes)?;
            rest = behind;
        }
        Ok(())
    }

    /// The frames from the first one on that follow one another, as many as a batch may have.
    fn run(&self, first: RawFrame, bytes: &[u8]) -> Run {
        let mut run =
            Run { length: first.size, frames: 1, time: self.not_before_the_last(first.header.time) };
        while let Some(frame) = bytes.get(run.length..).and_then(RawFrame::read) {
            let more = run.length + frame.size;
            let fits = frame.position == first.position + run.length as u64
                && more as u64 <= self.batch_bytes
                && self.check(frame.header.length as usize, frame.header.topic).is_ok();
            if !fits {
                break;
            }
            run = Run { length: more, frames: run.frames + 1, time: run.time.max(frame.header.time) };
        }
        run
    }

    /// Copies them as they are, and makes them visible all at once, as [`Batch`](super::Batch) does.
    fn restore_run(&mut self, first: &RawFrame, run: &Run, bytes: &[u8]) -> Result<(), RestoreError> {
        let (position, end) = (first.position, first.position + run.length as u64);
        self.make_room(end + LINE_BYTES)?;
        self.clear(end);
        // With the headers and commit words of all frames but the first.
        self.ring.store_payload(position, 0, &bytes[frame::HEADER_BYTES as usize..]);
        self.ring.store_header(position, first.header);
        self.commit(position, end, run.frames, run.time);
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
        self.opener.check()?;
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
