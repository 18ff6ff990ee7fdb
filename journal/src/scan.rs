//! Finding the frames of a ring that nobody followed from its start.

use std::sync::Arc;

use crate::error::OpenError;
use crate::journal::Journal;
use crate::layout::{LINE_BYTES, frame_bytes};
use crate::memory::Access;
use crate::ring::Ring;
use crate::sync::Ordering;

impl Journal {
    /// Position of the oldest frame that can still be read; the head when there is none.
    ///
    /// Frames do not say where their predecessor lies, so this looks at line after line for a commit word that names
    /// its own position, and takes the first from which a chain of frames leads exactly to the head. A payload may
    /// hold such a word by chance or malice; a whole chain of them is not believed to happen by chance.
    ///
    /// While a writer is at work the answer may be overtaken at any time: the reader then learns so by a gap.
    ///
    /// # Errors
    /// As [`Journal::open`].
    pub fn oldest_frame(&self) -> Result<u64, OpenError> {
        let ring = self.ring(Access::Read)?;
        let (oldest, head) = (self.stat().oldest, self.head());
        let mut candidate = oldest.next_multiple_of(LINE_BYTES);
        while candidate < head {
            if self.leads_to(&ring, candidate, head) {
                return Ok(candidate);
            }
            candidate += LINE_BYTES;
        }
        Ok(head)
    }

    /// True when frames follow one another from `position` to `head`.
    fn leads_to(&self, ring: &Arc<Ring>, mut position: u64, head: u64) -> bool {
        let most = self.shape().max_payload();
        while position < head {
            // SYNC: commit.
            if ring.commit_word(position).load(Ordering::Acquire) != position {
                return false;
            }
            let length = u64::from(ring.header(position).length);
            if length > most {
                return false;
            }
            position += frame_bytes(length);
        }
        position == head
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::{Clock, Journal, JournalShape};

    #[test]
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
}
