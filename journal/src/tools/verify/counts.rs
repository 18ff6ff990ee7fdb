//! Verifies what the page counts against the frames that were walked, and the bytes behind the head.

use super::frames::{Walk, Walked};
use super::report::CheckKind;
use crate::files::control::WriterState;
use crate::layout::{self, LINE_BYTES, control as at, frame_bytes};
use crate::ring::bytes::Ring;
use crate::ring::journal::Journal;
use crate::sync::{Ordering, fence};

/// Attempts to find a moment at which a living writer's count and head are consistent.
const LOOKS: usize = 1_000;

/// End of a frame that is committed and not in the head yet, and its time.
type Uncounted = (u64, u64);

/// Words that are written one after the other, read while the head stood still.
pub(super) struct Still {
    pub(super) head: u64,
    /// Frames in the classes of the tally.
    in_classes: u64,
    frames_word: u64,
    last_time: u64,
    pub(super) epoch: u64,
    uncounted: Vec<Uncounted>,
}

/// A consistent head, count and time; `None` when a living writer never paused for long enough.
pub(super) fn still(journal: &Journal, ring: &Ring) -> Option<Still> {
    let control = &journal.control;
    for look in 0..LOOKS {
        let head = control.head();
        if !head.is_multiple_of(LINE_BYTES) || head >= layout::MAX_POSITION {
            return None;
        }
        // Before the number of frames: a frame is counted there first.
        let in_classes = control.tally().into_iter().fold(0, u64::saturating_add);
        let (frames_word, last_time) = (control.load(at::FRAMES), control.load(at::LAST_TIME));
        let (epoch, uncounted) = (control.load(at::EPOCH), uncounted(journal, ring, head));
        fence(Ordering::Acquire);
        if control.head() == head {
            return Some(Still { head, in_classes, frames_word, last_time, epoch, uncounted });
        }
        if look % 10 == 9 {
            std::thread::sleep(std::time::Duration::from_micros(50));
        }
    }
    None
}

/// Frames behind `head` that are committed: the writer is at them, or was killed there.
fn uncounted(journal: &Journal, ring: &Ring, head: u64) -> Vec<Uncounted> {
    let mut found = Vec::new();
    let mut position = head;
    let limit = head + layout::max_reach(ring.capacity());
    // SYNC: commit.
    while position < limit && ring.commit_word(position).load(Ordering::Acquire) == position {
        let header = ring.header(position);
        let length = u64::from(header.length);
        if length > journal.control.max_payload() {
            break;
        }
        position += frame_bytes(length);
        found.push((position, header.time));
    }
    found
}

impl Walk<'_> {
    /// Checks what lies behind the head.
    pub(super) fn behind(&mut self, still: &Still) {
        let end = still.uncounted.last().map_or(still.head, |(end, _)| *end);
        let commit = self.ring.commit_word(end).load(Ordering::Acquire);
        let (capacity, control) = (self.ring.capacity(), &self.journal.control);
        // SYNC: intent.
        fence(Ordering::Acquire);
        let overtaken = control.intent() > end + capacity;
        if !overtaken {
            // A living writer may have committed it since.
            let goes_on =
                || control.head() != still.head || matches!(control.writer_state(), WriterState::Attached(_));
            let goes_on = goes_on();
            let fits = commit == 0 || commit == end && goes_on;
            self.report.expect(
                CheckKind::End,
                fits,
                end,
                || format!("{commit} in the line behind the last frame"),
                || "0".to_owned(),
            );
            if !goes_on {
                self.cursors_behind(still);
            }
        }
    }

    /// Readers see what is committed, in the head or not yet, and nothing beyond.
    fn cursors_behind(&mut self, still: &Still) {
        for cursor in self.cursors.iter().filter(|cursor| cursor.position > still.head) {
            let found = cursor.position;
            self.report.expect(
                CheckKind::Cursors,
                still.uncounted.iter().any(|(end, _)| *end == found),
                found,
                || format!("{} in seat {} behind the head", cursor.what, cursor.seat),
                || {
                    format!(
                        "one up to the head, {}, or at the end of a frame that is committed there",
                        still.head
                    )
                },
            );
        }
    }

    /// Compares the page's counts with the frames walked.
    pub(super) fn counts(&mut self, still: &Still, walked: &Walked) {
        let (word, head) = (still.frames_word, still.head);
        let counted = layout::frames_of(word);
        let ends = || std::iter::once(head).chain(still.uncounted.iter().map(|(end, _)| *end));
        let fresh = head == self.journal.first_position() && still.uncounted.is_empty();
        let place = ends().position(|end| layout::frames_word(counted, end) == word);
        self.report.expect(
            CheckKind::Count,
            place.is_some() || fresh && word == 0,
            head,
            || format!("a count up to line {:#x} (its low 16 bits)", word & 0xffff),
            || format!("a count up to line {:#x}, that of the head", layout::line_mark(head)),
        );
        let behind = place.unwrap_or(0) as u64;
        let seen = self.report.frames + behind;
        // A journal that was made again from what was recorded of it counts the frames before its first position too, and not
        // those that stand for missing ones.
        let first = self.journal.first_position();
        let is_restored = first > layout::first_position(self.ring.capacity());
        if walked.whole && !is_restored {
            self.report.expect(
                CheckKind::Count,
                counted == seen,
                head,
                || format!("{counted} frames counted"),
                || format!("{seen}: so many are there"),
            );
        } else if walked.reached && self.report.overtaken == 0 && self.report.is_clean() {
            // Overwritten frames had at least one line each, and at most the longest length.
            let gone = walked.from.saturating_sub(first);
            let before = if is_restored { first } else { 0 };
            let uncounted = if is_restored { self.voids } else { 0 };
            let longest = frame_bytes(self.journal.control.max_payload());
            let (least, most) = ((gone / longest).saturating_sub(uncounted), (gone + before) / LINE_BYTES);
            let earlier = counted - seen.min(counted);
            self.report.expect(
                CheckKind::Count,
                (least..=most).contains(&earlier) && seen <= counted + uncounted,
                head,
                || format!("{counted} frames counted, {seen} of them still there"),
                || format!("{least} to {most} in the {} bytes that are gone", gone + before),
            );
        }
        // Void frames are in no class.
        let voids = if is_restored { 0 } else { self.voids };
        let (in_classes, most) = (still.in_classes, counted.saturating_sub(voids));
        self.report.expect(
            CheckKind::Tally,
            in_classes <= most,
            head,
            || format!("{in_classes} frames in the classes of the tally"),
            || format!("at most {most}, the frames that are counted and not void"),
        );
        if walked.reached && (walked.from < head || walked.whole) {
            self.last_time(still);
        }
    }

    /// Compares the page's last time with that of the frames walked.
    fn last_time(&mut self, still: &Still) {
        let (seen, time) = (self.time, still.last_time);
        let fits = match self.last {
            Some(last) => time == last,
            // All frames of the last writer that are left are appended: an overwritten one may have had a greater time.
            None => time >= seen,
        };
        let fits = fits || still.uncounted.iter().any(|(_, uncounted)| *uncounted == time);
        self.report.expect(
            CheckKind::Time,
            fits,
            still.head,
            || format!("last time {time} in the control page"),
            || match self.last {
                Some(last) => format!("{last}, the greatest time of the last writer's frames"),
                None => format!("{seen} or later, as the last frame"),
            },
        );
    }
}
