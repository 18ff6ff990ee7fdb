//! Finds the frames of a ring without having followed it from its start.

use std::collections::VecDeque;

use crate::error::OpenError;
use crate::memory::Access;
use crate::ring::journal::Journal;
use crate::ring::reader::Frame;
use crate::ring::writer::end_of_frames;
use crate::sync::Ordering;

impl Journal {
    /// A position at which a frame starts, and from which all frames up to the head can be read: the oldest that the
    /// writer has marked or that a gated reader still needs; the head when there is none.
    ///
    /// Frames do not point at their predecessors, and a payload may hold anything, a commit word too. So the writer
    /// leaves marks, at least one for each eighth of the ring: up to two of them, and a batch, may lie before the result
    /// and still be intact. What a gated reader has not read, or keeps, never does: a successor that must read it again finds it.
    /// While a writer is active the result may be overwritten at any time, if no reader needs it: the reader then gets a gap.
    ///
    /// # Errors
    /// As [`Journal::open`]; [`OpenError::Damaged`] when the head is not a possible position.
    pub fn oldest_frame(&self) -> Result<u64, OpenError> {
        self.marked_frame(0)
    }

    /// The first marked frame at or behind `from`.
    pub(crate) fn marked_frame(&self, from: u64) -> Result<u64, OpenError> {
        let head = self.head();
        let starts = self.control.marks().chain(self.control.needed());
        let mut marks: Vec<u64> = starts.filter(|mark| (from..head).contains(mark)).collect();
        marks.sort_unstable();
        let ring = self.ring(Access::Read)?;
        // After the marks: what has been overwritten since they were read is known here.
        let oldest = self.oldest_bytes()?;
        let starts_a_frame = |mark: &u64| {
            // SYNC: commit.
            *mark >= oldest && ring.commit_word(*mark).load(Ordering::Acquire) == *mark
        };
        Ok(marks.into_iter().find(starts_a_frame).unwrap_or(head))
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
    #[cfg_attr(miri, ignore = "thousands of frames; nothing here is unsafe")]
    fn what_a_gated_reader_keeps_or_has_not_read_is_found_wherever_the_marks_are() {
        let shape =
            JournalShape { id: 1, name: "t".to_owned(), capacity: 1 << 16, seats: 64, topics: 1, page: 4096 };
        let journal = Journal::in_memory(shape).unwrap();
        let mut writer = journal.writer(0, Clock::monotonic()).unwrap();
        let mut reader = journal.gated(5).unwrap();
        for round in 0..400 {
            // Until its ring is full, the writer writes what the reader has not read, and what it keeps.
            while writer.write(1, 0, &[0; 100]).is_ok() {}
            let (keeps, reads) = (round % 23, round % 29);
            let mut kept = None;
            for number in 0..keeps + reads {
                let position = reader.read().unwrap().unwrap().position;
                kept = kept.or((number == keeps).then_some(position));
            }
            reader.publish();
            let needed = kept.unwrap_or(reader.position());
            reader.keep(needed);
            while writer.write(1, 0, &[0; 100]).is_ok() {}
            let oldest = journal.oldest_frame().unwrap();
            assert!(oldest <= needed, "round {round}: {oldest} behind {needed}");
            let mut again = journal.observe(oldest).unwrap();
            while again.position() < needed {
                again.read().unwrap().unwrap();
            }
            assert_eq!(again.position(), needed, "round {round}: it starts a frame");
        }
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
