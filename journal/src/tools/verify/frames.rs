//! Verifies the ring: from the oldest frame to the head, and the bytes behind it.

use super::page::Page;
use super::report::{CheckKind, VerifyReport};
use crate::files::control::{ReaderView, WriterState};
use crate::layout::{self, LINE_BYTES, WORD_BYTES, control as at, frame_bytes};
use crate::memory::copy::UNIT_BYTES;
use crate::ring::bytes::{RawHeader, Ring};
use crate::ring::journal::Journal;
use crate::sync::{Ordering, fence};

/// A living writer may overtake the walk at its start; the walk then restarts at what is the oldest frame by then.
const RESTARTS: usize = 8;
/// Attempts to find a moment at which a living writer's count and head are consistent.
const LOOKS: usize = 1_000;

/// End of a frame that is committed and not in the head yet, and its time.
type Uncounted = (u64, u64);

/// Words that are written one after the other, read while the head stood still.
struct Still {
    head: u64,
    frames_word: u64,
    last_time: u64,
    epoch: u64,
    uncounted: Vec<Uncounted>,
}

struct Walk<'a> {
    journal: &'a Journal,
    ring: &'a Ring,
    report: &'a mut VerifyReport,
    /// Low half of the newest epoch.
    newest: u32,
    time: u64,
    /// A frame of this stretch bears the time of another journal.
    appended: bool,
    epoch: u32,
    /// Start of the stretch that is being walked.
    from: u64,
    /// Readers whose cursors have not been found at the start of a frame yet, ascending.
    cursors: Vec<ReaderView>,
    /// Marks that have not been found at the start of a frame yet, ascending.
    marks: Vec<u64>,
}

/// Extent of a walk.
struct Walked {
    /// Start of the last stretch.
    from: u64,
    /// It saw every frame ever written.
    whole: bool,
    /// It reached the head.
    reached: bool,
}

/// The end of a walk over a stretch of frames.
enum Outcome {
    Done,
    Overtaken(u64),
    Broken(u64),
}

pub(super) fn verify(journal: &Journal, ring: &Ring, page: &Page, report: &mut VerifyReport) {
    if !page.plausible {
        return;
    }
    let still = still(journal, ring);
    // If the head never stood still: an earlier head and the current epoch. No frame before that head has a newer one.
    let (head, epoch) = match &still {
        Some(still) => (still.head, still.epoch),
        None => (page.head, journal.control.load(at::EPOCH)),
    };
    report.head = head;
    let mut cursors = journal.control.reader_views();
    cursors.sort_by_key(|cursor| cursor.position);
    let mut marks: Vec<u64> = journal.control.marks().filter(|mark| *mark <= head).collect();
    marks.sort_unstable();
    let mut walk = Walk {
        journal,
        ring,
        report,
        newest: epoch as u32,
        time: 0,
        appended: false,
        epoch: 0,
        from: 0,
        cursors,
        marks,
    };
    let walked = walk.all(head);
    if let Some(still) = &still {
        walk.behind(still);
        walk.counts(still, &walked);
    }
}

/// A consistent head, count and time; `None` when a living writer never paused for long enough.
fn still(journal: &Journal, ring: &Ring) -> Option<Still> {
    let control = &journal.control;
    for look in 0..LOOKS {
        let head = control.head();
        if !head.is_multiple_of(LINE_BYTES) || head >= layout::MAX_POSITION {
            return None;
        }
        let (frames_word, last_time) = (control.load(at::FRAMES), control.load(at::LAST_TIME));
        let (epoch, uncounted) = (control.load(at::EPOCH), uncounted(journal, ring, head));
        fence(Ordering::Acquire);
        if control.head() == head {
            return Some(Still { head, frames_word, last_time, epoch, uncounted });
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

/// A void frame is nothing else; records fill a payload, and there is at least one.
fn flags_are_possible(flags: u16, length: u32) -> bool {
    let record = u32::from(flags & layout::frame::RECORD);
    flags == layout::frame::VOID
        || flags & layout::frame::VOID == 0 && (record == 0 || length > 0 && length.is_multiple_of(record))
}

impl Walk<'_> {
    /// Walks up to `head`.
    fn all(&mut self, head: u64) -> Walked {
        let first = self.journal.first_position();
        let mut walked = Walked { from: first, whole: true, reached: false };
        for restart in 0..RESTARTS {
            let Ok(possible) = self.journal.oldest_bytes() else { return walked };
            // A ring that never wrapped begins at its first position, so its start need not be searched for.
            if possible > first || !walked.whole {
                walked.whole = false;
                let Ok(oldest) = self.journal.oldest_frame() else { return walked };
                self.lead_in(walked.from.max(possible), oldest.min(head));
                walked.from = oldest.min(head);
            }
            if restart == 0 {
                self.report.oldest = walked.from;
            }
            let mut outcome = self.stretch(walked.from, head);
            if let Outcome::Broken(at) = outcome {
                walked.whole = false;
                // Frames behind the damage are still checked.
                match self.journal.marked_frame(at + LINE_BYTES) {
                    Ok(oldest) if oldest < head => {
                        walked.from = oldest;
                        outcome = self.stretch(oldest, head);
                    }
                    _ => return walked,
                }
            }
            let Outcome::Overtaken(at) = outcome else {
                walked.reached = matches!(outcome, Outcome::Done);
                return walked;
            };
            walked.whole = false;
            walked.from = self.journal.oldest_bytes().map_or(head, |oldest| oldest.min(head));
            self.report.overtaken += walked.from.saturating_sub(at);
        }
        self.report.overtaken += head.saturating_sub(walked.from);
        walked
    }

    /// A ring that wrapped begins with the rest of a frame or batch, and the next mark is not far.
    fn lead_in(&mut self, from: u64, oldest: u64) {
        let capacity = self.ring.capacity();
        let longest = layout::mark_reach(capacity);
        // The writer may have gone on during the search: then the distance proves nothing.
        let overtaken = self.journal.oldest_bytes().is_ok_and(|now| now > from);
        let holds = oldest.saturating_sub(from) < longest || overtaken;
        self.report.expect(
            CheckKind::Chain,
            holds,
            from,
            || format!("no mark of a frame before position {oldest}"),
            || format!("one within {longest} bytes, two strides and a batch"),
        );
    }

    fn stretch(&mut self, start: u64, head: u64) -> Outcome {
        (self.from, self.time, self.appended, self.epoch) = (start, 0, false, 0);
        let mut position = start;
        while position < head {
            // SYNC: commit.
            let commit = self.ring.commit_word(position).load(Ordering::Acquire);
            let header = self.ring.header(position);
            let length = u64::from(header.length);
            let possible = length <= self.journal.control.max_payload();
            let has_filling = possible && header.flags & layout::frame::VOID == 0;
            let filling = if has_filling { self.filling(position, length) } else { 0 };
            // SYNC: intent.
            fence(Ordering::Acquire);
            if self.journal.oldest_bytes().is_ok_and(|oldest| oldest > position) {
                return Outcome::Overtaken(position);
            }
            self.report.expect(
                CheckKind::Chain,
                commit == position,
                position,
                || format!("commit word {commit}"),
                || format!("the frame's own position, {position}"),
            );
            if commit != position {
                return Outcome::Broken(position);
            }
            let most = self.journal.control.max_payload();
            self.report.expect(
                CheckKind::Chain,
                possible,
                position,
                || format!("a payload of {length} bytes"),
                || format!("at most {most} bytes"),
            );
            let end = position + frame_bytes(length);
            if !possible {
                return Outcome::Broken(position);
            }
            self.report.expect(
                CheckKind::Chain,
                end <= head,
                position,
                || format!("a frame up to {end}"),
                || format!("an end at the head, {head}, or before"),
            );
            self.frame(position, header, filling);
            self.meet(position);
            position = end;
        }
        self.meet(position);
        Outcome::Done
    }

    /// Checks the padding between the payload and the end of its last unit.
    fn filling(&self, position: u64, length: u64) -> u64 {
        let payload = position + layout::frame::HEADER_BYTES;
        let (first, end) = (payload + length, payload + length.next_multiple_of(UNIT_BYTES as u64));
        let used = first % WORD_BYTES as u64;
        let word = |position| self.ring.word(position).load(Ordering::Relaxed);
        let begun = if used == 0 { 0 } else { word(first - used) >> (used * 8) };
        let whole = first.next_multiple_of(WORD_BYTES as u64);
        begun | if whole < end { word(whole) } else { 0 }
    }

    fn frame(&mut self, position: u64, header: RawHeader, filling: u64) {
        let RawHeader { length, flags, time, topic, epoch, .. } = header;
        self.report.frames += 1;
        self.report.bytes += frame_bytes(u64::from(length));
        // A successor does not believe a time far ahead of its clock.
        let before = if epoch == self.epoch { self.time } else { 0 };
        let topics = self.journal.shape().topics;
        let appended = flags & layout::frame::APPENDED != 0;
        self.appended |= appended;
        self.report.expect(
            CheckKind::Time,
            time >= before || appended,
            position,
            || format!("time {time}"),
            || format!("not before the frame in front of it, {before}"),
        );
        let (older, newest) = (self.epoch, self.newest);
        self.report.expect(
            CheckKind::Epoch,
            (older.max(1)..=newest).contains(&epoch),
            position,
            || format!("epoch {epoch}"),
            || format!("one from {} to {newest}", older.max(1)),
        );
        self.report.expect(
            CheckKind::Topic,
            topic < topics,
            position,
            || format!("topic {topic}"),
            || format!("a topic below {topics}"),
        );
        self.report.expect(
            CheckKind::Flags,
            flags_are_possible(flags, length),
            position,
            || format!("flags {flags:#x}, {length} bytes of payload"),
            || "nothing, or a kind of frame whose payload has that length".to_owned(),
        );
        self.report.expect(
            CheckKind::Padding,
            filling == 0,
            position,
            || format!("{filling:#x} behind the payload"),
            || format!("zeros up to a multiple of {UNIT_BYTES} bytes"),
        );
        self.time = time.max(before);
        self.epoch = epoch;
    }

    /// A frame starts, or the stream ends, at `position`: cursors and marks that were passed over point into a frame.
    fn meet(&mut self, position: u64) {
        let passed = self.marks.iter().take_while(|mark| **mark <= position).count();
        for mark in self.marks.drain(..passed).filter(|mark| *mark >= self.from) {
            self.report.expect(
                CheckKind::Marks,
                mark == position,
                mark,
                || "a mark within a frame".to_owned(),
                || format!("the start of a frame; the next is at {position}"),
            );
        }
        let passed = self.cursors.iter().take_while(|cursor| cursor.position <= position).count();
        for cursor in self.cursors.drain(..passed) {
            if cursor.position < self.from {
                continue;
            }
            let found = cursor.position;
            self.report.expect(
                CheckKind::Cursors,
                found == position,
                found,
                || format!("the cursor of seat {} within a frame", cursor.seat),
                || format!("the start of a frame; the next is at {position}"),
            );
        }
    }

    /// Checks what lies behind the head.
    fn behind(&mut self, still: &Still) {
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
            let fits = commit == 0 || commit == end && goes_on();
            self.report.expect(
                CheckKind::End,
                fits,
                end,
                || format!("{commit} in the line behind the last frame"),
                || "0".to_owned(),
            );
        }
    }

    /// Compares the page's counts with the frames walked.
    fn counts(&mut self, still: &Still, walked: &Walked) {
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
        if walked.whole {
            self.report.expect(
                CheckKind::Count,
                counted == seen,
                head,
                || format!("{counted} frames counted"),
                || format!("{seen}: so many are there"),
            );
        } else if walked.reached && self.report.overtaken == 0 && self.report.is_clean() {
            // Overwritten frames had at least one line each, and at most the longest length.
            let gone = walked.from.saturating_sub(self.journal.first_position());
            let seen = seen.min(counted);
            let (least, most) = (gone / frame_bytes(self.journal.control.max_payload()), gone / LINE_BYTES);
            let earlier = counted - seen;
            self.report.expect(
                CheckKind::Count,
                (least..=most).contains(&earlier),
                head,
                || format!("{counted} frames counted, {seen} of them still there"),
                || format!("{least} to {most} in the {gone} bytes that are gone"),
            );
        }
        if walked.reached && walked.from < head {
            let (last, time) = (self.time, still.last_time);
            // What is appended may lie before a frame that is overwritten by now.
            let fits = time == last
                || self.appended && time > last
                || still.uncounted.iter().any(|(_, uncounted)| *uncounted == time);
            self.report.expect(
                CheckKind::Time,
                fits,
                head,
                || format!("last time {time} in the control page"),
                || format!("{last}, that of the last frame"),
            );
        }
    }
}
