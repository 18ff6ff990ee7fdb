//! Verifies the control page.

use std::time::Duration;

use super::report::{CheckKind, VerifyReport};
use crate::files::control::Control;
use crate::layout::{self, LINE_BYTES, WORD_BYTES, control as at};
use crate::sync::Ordering;

/// Words of a living page change one by one. A mismatch is checked again this often, with pauses.
const ATTEMPTS: usize = 5;
const PAUSE: Duration = Duration::from_micros(200);
/// Words of one of the two bitmaps of readers.
const BITMAP_WORDS: usize = layout::MAX_SEATS as usize / 64;

/// What the walk needs from the page.
pub(super) struct Page {
    pub(super) head: u64,
    /// Head and intent are plausible enough to walk the ring.
    pub(super) plausible: bool,
}

pub(super) fn verify(control: &Control, report: &mut VerifyReport) -> Page {
    for _ in 1..ATTEMPTS {
        let mut part = VerifyReport::new("");
        let page = look(control, &mut part);
        if part.is_clean() {
            report.absorb(part);
            return page;
        }
        std::thread::sleep(PAUSE);
    }
    look(control, report)
}

fn look(control: &Control, report: &mut VerifyReport) -> Page {
    let capacity = control.shape().capacity;
    let first = control.first_position();
    writer(control, report);
    tables(control, report);
    // The intent is loaded before the head, so that it is never too far ahead; and again after it, so that it is never
    // behind.
    let earlier = control.intent();
    let head = control.head();
    let intent = control.intent();
    let head_fits = head.is_multiple_of(LINE_BYTES) && (first..layout::MAX_POSITION).contains(&head);
    report.expect(
        CheckKind::Head,
        head_fits,
        head,
        || head.to_string(),
        || format!("a multiple of 64 from {first} up to 2^63"),
    );
    let reach = layout::max_reach(capacity);
    let near = earlier.saturating_sub(head) <= reach;
    report.expect(
        CheckKind::Intent,
        near,
        None,
        || earlier.to_string(),
        || format!("at most {reach} bytes ahead of the head, {head}"),
    );
    report.expect(
        CheckKind::Intent,
        intent >= head,
        None,
        || intent.to_string(),
        || format!("not behind the head, {head}"),
    );
    for slot in 0..at::MARK_COUNT {
        let mark = control.load(at::MARKS + slot);
        let fits = mark == 0
            || mark.is_multiple_of(LINE_BYTES)
                && (first..=intent).contains(&mark)
                && layout::mark_slot(mark, capacity) == slot;
        report.expect(
            CheckKind::Marks,
            fits,
            None,
            || format!("{mark} in slot {slot}"),
            || format!("zero, or a multiple of 64 from {first} to {intent} that belongs there"),
        );
    }
    let plausible = head_fits && near && intent >= head;
    if plausible {
        cursors(control, report, first);
    }
    Page { head, plausible }
}

fn writer(control: &Control, report: &mut VerifyReport) {
    let word = |index: usize| control.word(index).load(Ordering::Acquire);
    let state = word(at::WRITER_STATE);
    report.expect(
        CheckKind::Writer,
        state <= 2,
        None,
        || format!("state {state}"),
        || "0 none yet, 1 attached, or 2 left".to_owned(),
    );
    let (identity, epoch) = (word(at::WRITER), word(at::EPOCH));
    let (pid, seat, seats) = (identity as u32, (identity >> 32) as u32, control.shape().seats);
    if state == 0 {
        report.expect(
            CheckKind::Writer,
            epoch == 0,
            None,
            || format!("epoch {epoch} and no writer yet"),
            || "epoch 0".to_owned(),
        );
    } else {
        report.expect(
            CheckKind::Writer,
            pid != 0,
            None,
            || "process 0".to_owned(),
            || "a process id".to_owned(),
        );
    }
    report.expect(
        CheckKind::Writer,
        seat < seats,
        None,
        || format!("seat {seat}"),
        || format!("a seat below {seats}"),
    );
}

fn tables(control: &Control, report: &mut VerifyReport) {
    let shape = control.shape();
    let bitmaps = [
        ("gated readers", at::GATED),
        ("loose readers", at::LOOSE),
        ("durable readers", at::DURABLE),
        ("those who wait for the disk", at::DURABLE_WAITERS),
    ];
    for (name, bitmap) in bitmaps {
        for index in 0..BITMAP_WORDS {
            let first = index as u32 * 64;
            let possible = match shape.seats.saturating_sub(first) {
                0 => 0,
                seats => u64::MAX >> (64 - seats.min(64)),
            };
            let word = control.load(bitmap + index);
            report.expect(
                CheckKind::Tables,
                word & !possible == 0,
                None,
                || format!("{word:#x} in word {index} of the {name}"),
                || format!("seats below {}", shape.seats),
            );
        }
    }
    for seat in control.readers(at::DURABLE) {
        report.expect(
            CheckKind::Tables,
            control.has_reader(at::GATED, seat),
            None,
            || format!("seat {seat} writes to disk what it reads"),
            || "a gated reader there".to_owned(),
        );
    }
    let incarnation = control.load(at::INCARNATION);
    report.expect(
        CheckKind::Tables,
        incarnation > 0,
        None,
        || format!("incarnation {incarnation}"),
        || "1 or more".to_owned(),
    );
    let version = control.load(at::VERSION) >> 32;
    report.expect(
        CheckKind::Tables,
        version == 0,
        None,
        || format!("{version:#x} behind the version"),
        || "0".to_owned(),
    );
    let mut name: Vec<u8> = Vec::with_capacity(layout::MAX_NAME + 1);
    for index in at::NAME..at::NAME + LINE_BYTES as usize / WORD_BYTES {
        name.extend(control.load(index).to_le_bytes());
    }
    let filling = &name[shape.name.len()..];
    let clear = filling.iter().all(|&byte| byte == 0);
    report.expect(
        CheckKind::Tables,
        clear,
        None,
        || format!("{filling:?} behind the name"),
        || "zeros".to_owned(),
    );
    let used = layout::control_words(shape.seats, shape.topics);
    let words = layout::control_bytes(shape.seats, shape.topics) as usize / WORD_BYTES;
    for index in used..words.min(control.words()) {
        let word = control.load(index);
        report.expect(
            CheckKind::Tables,
            word == 0,
            None,
            || format!("{word:#x} in word {index}, behind the tables"),
            || "0".to_owned(),
        );
    }
}

fn cursors(control: &Control, report: &mut VerifyReport, first: u64) {
    let capacity = control.shape().capacity;
    for view in control.reader_views() {
        // Loaded before what is kept: the writer has waited for that.
        let before = control.intent();
        // Loaded after the cursor: a reader reads only committed frames, and all of them lie before the intent.
        let intent = control.intent();
        let position = view.position;
        let fits = position.is_multiple_of(LINE_BYTES) && (first..=intent).contains(&position);
        report.expect(
            CheckKind::Cursors,
            fits,
            position,
            || format!("cursor of seat {}: {position}", view.seat),
            || format!("a multiple of 64 from {first} to {intent}"),
        );
        let kept = control.load(control.cursor(view.seat) + at::CURSOR_KEPT);
        // The writer waits for it. A recorder that leaves may owe more than there is.
        let least = if view.durable { first } else { first.max(before.saturating_sub(capacity)) };
        let holds = kept == 0
            || kept.is_multiple_of(LINE_BYTES)
                && kept >= least
                && kept <= control.load(control.cursor(view.seat) + at::CURSOR_POSITION);
        report.expect(
            CheckKind::Cursors,
            holds,
            position,
            || format!("seat {} keeps what is at {kept} and behind", view.seat),
            || format!("zero, or a multiple of 64 from {least} up to its cursor, {position}"),
        );
        let lost = view.lost;
        let most = intent.saturating_sub(first);
        let possible = lost.is_multiple_of(LINE_BYTES) && lost <= most;
        report.expect(
            CheckKind::Cursors,
            possible,
            position,
            || format!("seat {} lost {lost} bytes", view.seat),
            || format!("whole lines, at most {most}"),
        );
    }
}
