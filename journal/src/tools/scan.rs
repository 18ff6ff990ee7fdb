//! Finds the frames of a ring without having followed it from its start.

use std::collections::VecDeque;

use crate::error::OpenError;
use crate::layout::{LINE_BYTES, frame_bytes};
use crate::memory::Access;
use crate::ring::bytes::Ring;
use crate::ring::journal::Journal;
use crate::ring::reader::Frame;
use crate::ring::writer::end_of_frames;
use crate::sync::Ordering;

impl Journal {
    /// Position of the oldest frame that can still be read; the head when there is none.
    ///
    /// Frames do not point at their predecessors, so this looks at every line, from the head backwards: a frame starts
    /// where a commit word equals its own position and the frame's end is the start of another, or the head. The first
    /// of the chain is the result. A payload may hold such a word by chance or malice; it can deceive only where the
    /// start of the frame that holds it is overwritten already, in the oldest bytes of a ring that wrapped around.
    ///
    /// Takes a bit for each line, and time in proportion to the ring. While a writer is active the result may be
    /// overwritten at any time: the reader then gets a gap.
    ///
    /// # Errors
    /// As [`Journal::open`]; [`OpenError::Damaged`] when the head is not a possible position.
    pub fn oldest_frame(&self) -> Result<u64, OpenError> {
        let ring = self.ring(Access::Read)?;
        let oldest = self.oldest_bytes()?;
        let head = self.head();
        let from = oldest.next_multiple_of(LINE_BYTES).max(head.saturating_sub(self.shape().capacity));
        let lines = head.saturating_sub(from) / LINE_BYTES;
        // One bit a line: whether a chain of frames leads from it to the head.
        let mut leads = vec![0_u64; lines as usize / 64 + 1];
        let mut first = head;
        for line in (0..lines).rev() {
            let position = from + line * LINE_BYTES;
            let Some(end) = self.end_of(&ring, position) else { continue };
            let next = (end.saturating_sub(from) / LINE_BYTES) as usize;
            if end == head || end < head && leads[next / 64] & 1 << (next % 64) != 0 {
                leads[line as usize / 64] |= 1 << (line % 64);
                first = position;
            }
        }
        Ok(first)
    }

    /// Passes the committed frames that no class of the tally counts to `visit`, in order. While a writer counts there
    /// may be some for a moment; a dead one leaves at most those of its last commit. If the writer does not count,
    /// these are all frames in the ring.
    ///
    /// Takes no time when everything is counted, otherwise as much as [`Journal::oldest_frame`].
    ///
    /// # Errors
    /// As [`Journal::oldest_frame`].
    pub fn uncounted(&self, mut visit: impl FnMut(&Frame<'_>)) -> Result<(), OpenError> {
        let ring = self.ring(Access::Read)?;
        let end = end_of_frames(&ring, &self.control).map_err(|what| self.damaged(what))?;
        let counted = self.control.tally().into_iter().fold(0_u64, u64::wrapping_add);
        let missing = end.frames.saturating_sub(counted) as usize;
        if missing == 0 {
            return Ok(());
        }
        let mut last = VecDeque::new();
        let mut reader = self.observe(self.oldest_frame()?)?;
        while let Ok(Some(frame)) = reader.read() {
            last.push_back(frame.position);
            if last.len() > missing {
                last.pop_front();
            }
        }
        let Some(first) = last.front() else { return Ok(()) };
        let mut reader = self.observe(*first)?;
        for _ in last {
            if let Ok(Some(frame)) = reader.read() {
                visit(&frame);
            }
        }
        Ok(())
    }

    /// Where the frame at `position` ends, if one may start there.
    fn end_of(&self, ring: &Ring, position: u64) -> Option<u64> {
        // SYNC: commit.
        if ring.commit_word(position).load(Ordering::Acquire) != position {
            return None;
        }
        let length = u64::from(ring.header(position).length);
        (length <= self.shape().max_payload()).then(|| position + frame_bytes(length))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::{Clock, Journal, JournalShape};

    #[test]
    #[cfg_attr(miri, ignore = "thousands of frames; nothing here is unsafe")]
    fn the_oldest_frame_is_found_after_many_laps_and_past_lines_that_look_like_frames() {
        let shape =
            JournalShape { id: 1, name: "t".to_owned(), capacity: 1 << 16, seats: 64, topics: 1, page: 4096 };
        let journal = Journal::in_memory(shape).unwrap();
        assert_eq!(journal.oldest_frame().unwrap(), journal.head());
        let mut writer = journal.writer(0, Clock::monotonic()).unwrap();
        for round in 0..3_000_u64 {
            // The second line of each frame names its own position, as a commit word would.
            let second_line = writer.position() + 64;
            let mut payload = [0_u8; 100];
            payload[32..40].copy_from_slice(&second_line.to_le_bytes());
            payload[0..8].copy_from_slice(&round.to_le_bytes());
            writer.write(1, 0, &payload).unwrap();
        }
        let mut reader = journal.observe(journal.oldest_frame().unwrap()).unwrap();
        let mut rounds = Vec::new();
        while let Some(frame) = reader.read().unwrap() {
            rounds.push(u64::from_le_bytes(frame.payload[..8].try_into().unwrap()));
        }
        assert!(rounds.len() > 300, "{} frames", rounds.len());
        assert!(rounds.windows(2).all(|pair| pair[1] == pair[0] + 1));
        assert_eq!(rounds.last(), Some(&2_999));
    }

    #[test]
    fn what_a_dead_writer_did_not_count_are_the_last_frames_and_a_successor_adds_to_the_same_tally() {
        let shape =
            JournalShape { id: 1, name: "t".to_owned(), capacity: 1 << 16, seats: 64, topics: 1, page: 4096 };
        let journal = Journal::in_memory(shape).unwrap();
        let mut writer = journal.writer(0, Clock::monotonic()).unwrap();
        let uncounted = || {
            let mut ids = Vec::new();
            journal.uncounted(|frame| ids.push(frame.message_id)).unwrap();
            ids
        };
        for id in 0..2_000 {
            writer.write(id, 0, b"text").unwrap();
            writer.count(usize::from(id % 3));
        }
        assert_eq!(uncounted(), [] as [u16; 0]);
        let mut batch = writer.batch();
        for id in [7, 8, 9] {
            batch.push(id, 0, b"text").unwrap();
        }
        batch.commit();
        writer.count(0);
        assert_eq!(uncounted(), [8, 9]);
        drop(writer);
        let mut writer = journal.writer(0, Clock::monotonic()).unwrap();
        assert_eq!(uncounted(), [8, 9]);
        writer.count(4);
        writer.count(4);
        assert_eq!((uncounted(), writer.tally()), (vec![], [668, 667, 666, 0, 2]));
        assert_eq!(journal.stat().tally, writer.tally());
    }
}
