//! Verifies the ring: from the oldest frame to the head, and the bytes behind it.

use super::counts::still;
use super::page::Page;
use super::report::{CheckKind, VerifyReport};
use crate::files::control::ReaderView;
use crate::layout::{self, LINE_BYTES, WORD_BYTES, control as at, frame_bytes};
use crate::memory::copy::UNIT_BYTES;
use crate::ring::bytes::{RawHeader, Ring};
use crate::ring::journal::Journal;
use crate::sync::{Ordering, fence};

/// A living writer may overtake the walk at its start; the walk then restarts at what is the oldest frame by then.
const RESTARTS: usize = 8;
pub(super) struct Walk<'a> {
    pub(super) journal: &'a Journal,
    pub(super) ring: &'a Ring,
    pub(super) report: &'a mut VerifyReport,
    /// Low half of the newest epoch.
    newest: u32,
    pub(super) time: u64,
    /// What the control page said as last time behind this frame, where that is known: who appends keeps the greatest of
    /// all times there.
    pub(super) last: Option<u64>,
    epoch: u32,
    /// Void frames of all stretches.
    pub(super) voids: u64,
    /// Start of the stretch that is being walked.
    from: u64,
    /// The stretch begins at a mark, and has met no other one so far: if that mark is wrong, so is all that follows.
    at_mark: bool,
    /// What readers say of positions that have not been found at the start of a frame yet, ascending.
    pub(super) cursors: Vec<Place>,
    /// Marks that have not been found at the start of a frame yet, ascending.
    marks: Vec<u64>,
}

/// A position that a reader names.
pub(super) struct Place {
    pub(super) position: u64,
    pub(super) seat: u32,
    /// What it is: it cannot be kept without being read.
    pub(super) what: &'static str,
}

/// The cursors, and where what is kept begins.
fn places(views: &[ReaderView]) -> Vec<Place> {
    let cursor = |view: &ReaderView| Place { position: view.position, seat: view.seat, what: "the cursor" };
    let kept = |view: &ReaderView| {
        let position = view.holds.filter(|holds| *holds < view.position)?;
        Some(Place { position, seat: view.seat, what: "what is kept for the reader" })
    };
    let mut places: Vec<Place> = views.iter().map(cursor).chain(views.iter().filter_map(kept)).collect();
    places.sort_by_key(|place| place.position);
    places
}

/// Extent of a walk.
pub(super) struct Walked {
    /// Start of the last stretch.
    pub(super) from: u64,
    /// It saw every frame ever written.
    pub(super) whole: bool,
    /// It reached the head.
    pub(super) reached: bool,
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
    let cursors = places(&journal.control.reader_views());
    let mut marks: Vec<u64> = journal.control.marks().filter(|mark| *mark <= head).collect();
    marks.sort_unstable();
    let mut walk = Walk {
        journal,
        ring,
        report,
        newest: epoch as u32,
        time: 0,
        last: None,
        epoch: 0,
        voids: 0,
        from: 0,
        at_mark: false,
        cursors,
        marks,
    };
    let walked = walk.all(head);
    if let Some(still) = &still {
        walk.behind(still);
        walk.counts(still, &walked);
    }
}

/// What else may be wrong where the frames do not go on that were followed from a mark.
fn doubt(mark: Option<u64>) -> String {
    mark.map_or_else(String::new, |mark| {
        format!("; or the mark at {mark} is wrong, from which frames were followed")
    })
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
                self.passed_marks(walked.from.max(possible), oldest.min(head));
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

    /// Marks in front of the oldest frame that was found, where nothing is overwritten: the walk could not begin there.
    fn passed_marks(&mut self, from: u64, oldest: u64) {
        let passed: Vec<u64> =
            self.marks.iter().copied().filter(|mark| (from..oldest).contains(mark)).collect();
        for mark in passed {
            // SYNC: commit.
            let commit = self.ring.commit_word(mark).load(Ordering::Acquire);
            // SYNC: intent.
            fence(Ordering::Acquire);
            if self.journal.oldest_bytes().is_ok_and(|now| now > mark) {
                continue;
            }
            self.report.expect(
                CheckKind::Marks,
                commit == mark,
                mark,
                || format!("commit word {commit} at a mark"),
                || format!("the frame's own position, {mark}; or the mark is wrong"),
            );
        }
    }

    fn stretch(&mut self, start: u64, head: u64) -> Outcome {
        let is_first = start == self.journal.first_position();
        (self.from, self.time, self.epoch) = (start, 0, 0);
        (self.last, self.at_mark) = (is_first.then_some(0), !is_first);
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
            let mark = self.at_mark.then_some(self.from);
            self.report.expect(
                CheckKind::Chain,
                commit == position,
                position,
                || format!("commit word {commit}"),
                || format!("the frame's own position, {position}{}", doubt(mark)),
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
                || format!("at most {most} bytes{}", doubt(mark)),
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
                || format!("an end at the head, {head}, or before{}", doubt(mark)),
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
        self.voids += u64::from(flags & layout::frame::VOID != 0);
        self.last = match self.last {
            _ if !appended => Some(time),
            // A writer may have begun anew, if it did not believe the time that it found.
            Some(last) if epoch == self.epoch || self.epoch == 0 => Some(last.max(time)),
            _ => None,
        };
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
            self.at_mark &= mark == self.from || mark != position;
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
                || format!("{} in seat {} within a frame", cursor.what, cursor.seat),
                || format!("the start of a frame; the next is at {position}"),
            );
        }
    }
}
