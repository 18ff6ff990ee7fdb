//! How much lies between a position and the head.

use crate::error::OpenError;
use crate::layout::{LINE_BYTES, frame, frame_bytes};
use crate::memory::Access;
use crate::ring::journal::Journal;
use crate::sync::{Ordering, fence};

/// The frames that a reader at a given position has not read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Frames from the position to the head.
    pub frames: u64,
    /// Time of the first of them, nanoseconds since the epoch; `None` when there are none.
    pub first_time: Option<u64>,
}

impl Journal {
    /// For each position, the backlog from there to the head. `None` where it cannot be known: the position does not
    /// start a frame, or that frame has been overwritten.
    ///
    /// One walk over the headers serves all positions.
    ///
    /// # Errors
    /// As [`Journal::open`]; [`OpenError::Damaged`] when the head is not a possible position.
    pub fn backlogs(&self, positions: &[u64]) -> Result<Vec<Option<Backlog>>, OpenError> {
        let ring = self.ring(Access::Read)?;
        let oldest = self.oldest_bytes()?;
        let head = self.head();
        let mut starts: Vec<u64> = positions
            .iter()
            .copied()
            .filter(|&start| (oldest..head).contains(&start) && start.is_multiple_of(LINE_BYTES))
            .collect();
        starts.sort_unstable();
        starts.dedup();
        // Position and number of the requested frames found so far in this walk, and the time from there on.
        let mut met: Vec<(u64, u64, Option<u64>)> = Vec::new();
        let mut number = 0;
        let mut waiting = starts.into_iter().peekable();
        let mut position = waiting.peek().copied().unwrap_or(head);
        while position < head {
            // SYNC: commit.
            let commit = ring.commit_word(position).load(Ordering::Acquire);
            let header = ring.header(position);
            // SYNC: intent.
            fence(Ordering::Acquire);
            let length = u64::from(header.length);
            let broken =
                commit != position || length > self.control.max_payload() || self.oldest_bytes()? > position;
            while waiting.peek().is_some_and(|&start| start < position) {
                waiting.next();
            }
            if broken {
                // The frames found so far can no longer be counted to the head; those found from here on can.
                met.clear();
                number = 0;
                waiting.next_if_eq(&position);
                position = waiting.peek().copied().unwrap_or(head);
                continue;
            }
            if waiting.next_if_eq(&position).is_some() {
                met.push((position, number, None));
            }
            if header.flags & frame::VOID == 0 {
                met.iter_mut()
                    .rev()
                    .map_while(|(.., time)| time.is_none().then_some(time))
                    .for_each(|time| *time = Some(header.time));
                number += 1;
            }
            position += frame_bytes(length);
        }
        let of = |wanted: u64| {
            if wanted == head {
                return Some(Backlog { frames: 0, first_time: None });
            }
            let (_, before, time) = met.iter().find(|(position, ..)| *position == wanted)?;
            Some(Backlog { frames: number - before, first_time: *time })
        };
        Ok(positions.iter().map(|&wanted| of(wanted)).collect())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Backlog;
    use crate::{Clock, Journal, JournalShape};

    #[test]
    #[cfg_attr(miri, ignore = "thousands of frames; nothing here is unsafe")]
    fn frames_between_positions_and_the_head_are_counted_in_one_walk() {
        let shape =
            JournalShape { id: 1, name: "t".to_owned(), capacity: 1 << 16, seats: 64, topics: 1, page: 4096 };
        let journal = Journal::in_memory(shape).unwrap();
        let mut writer = journal.writer(0, Clock::monotonic()).unwrap();
        let written: Vec<_> = (0..3_000).map(|_| writer.write(1, 0, &[0; 100]).unwrap()).collect();
        let (near, far, gone) = (written[2_999], written[2_900], written[0]);
        let positions = [near.position, journal.head(), far.position, gone.position, far.position + 64];
        let found = journal.backlogs(&positions).unwrap();
        assert_eq!(found[0], Some(Backlog { frames: 1, first_time: Some(near.time) }));
        assert_eq!(found[1], Some(Backlog { frames: 0, first_time: None }));
        assert_eq!(found[2], Some(Backlog { frames: 100, first_time: Some(far.time) }));
        assert_eq!((found[3], found[4]), (None, None));
        assert!(journal.backlogs(&[]).unwrap().is_empty());
    }
}
