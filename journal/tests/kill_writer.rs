//! A writer is killed at random moments, and another continues: no committed frame is lost, torn or doubled.
//!
//! 50 kills; `COLO_KILLS=1000` for the long form.
#![cfg(not(miri))] // Files and processes.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

#[path = "support/child.rs"]
mod child;
mod support;

use std::path::Path;
use std::time::Duration;

use journal::{
    GatedReader, Journal, JournalFiles, LooseReader, ReadError, WriteError, Writer, WriterState, layout,
};
use support::{SMALL, Watchdog, clock, forged, payload};

/// Read by a gated and a loose reader.
const HELD: &str = "held";
/// Read only by a loose reader, so that the writer laps it.
const FREE: &str = "free";

fn files(directory: &Path, name: &str) -> JournalFiles {
    JournalFiles::new(directory, directory, name)
}

/// Contents of frame `number` at `position`: its number, and then noise, or the commit words of the next lap.
fn body(number: u64, position: u64) -> Vec<u8> {
    let length = (number.wrapping_mul(0x9e37_79b9) >> 7) as usize % 700;
    let mut body = if number.is_multiple_of(3) {
        forged(position, SMALL, 1, length + 8)
    } else {
        payload(number, length + 8)
    };
    body[..8].copy_from_slice(&number.to_le_bytes());
    body
}

/// Number of frames that are written at once from number `number` on, in a batch when there are several; every other
/// single frame is a claim.
fn unit(number: u64) -> u64 {
    if number.is_multiple_of(3) { 2 + number % 8 } else { 1 }
}

/// Writes a unit; false when there was no room for all of it, and then nothing was written. `middle` is set while the
/// writer is in the middle of a batch.
fn write(writer: &mut Writer, number: u64, middle: &child::Witness) -> bool {
    let full = |error| match error {
        WriteError::Full { .. } => false,
        error => panic!("{error}"),
    };
    let mut position = writer.position();
    match unit(number) {
        1 if number.is_multiple_of(2) => {
            let body = body(number, position);
            match writer.claim(number as u16, 0, body.len() + 100) {
                Ok(mut claim) => {
                    body.chunks(50).for_each(|piece| claim.put(piece).unwrap());
                    claim.commit();
                }
                Err(error) => return full(error),
            }
        }
        1 => {
            if let Err(error) = writer.write(number as u16, 0, &body(number, position)) {
                return full(error);
            }
        }
        several => {
            let mut batch = writer.batch();
            for number in number..number + several {
                let body = body(number, position);
                if let Err(error) = batch.push(number as u16, 0, &body) {
                    return full(error);
                }
                position += layout::frame_bytes(body.len() as u64);
                middle.set(1);
            }
            batch.commit();
            middle.set(0);
        }
    }
    true
}

fn writing_child(directory: &Path, _: u32) {
    let middle = child::Witness::open(directory, "middle.witness");
    let mut writers = [HELD, FREE].map(|name| {
        let journal = Journal::open(files(directory, name)).unwrap();
        let writer = journal.writer(63, clock()).unwrap();
        let number = journal.stat().frames;
        (writer, number, child::Witness::open(directory, &format!("{name}.witness")))
    });
    loop {
        for (writer, number, witness) in &mut writers {
            if write(writer, *number, &middle) {
                *number += unit(*number);
                witness.set(*number);
            }
        }
    }
}

/// A reader that knows the next number.
struct Checked<R> {
    reader: R,
    next: u64,
    seen: u64,
    gaps: u64,
    /// The next frame may have any number from `next` on.
    after_gap: bool,
}

impl<R> Checked<R> {
    fn new(reader: R) -> Checked<R> {
        Checked { reader, next: 0, seen: 0, gaps: 0, after_gap: false }
    }

    fn check(next: u64, frame: &journal::Frame<'_>, after_gap: bool) -> u64 {
        let number = u64::from_le_bytes(frame.payload[..8].try_into().unwrap());
        assert!(number == next || after_gap && number > next, "number {number} instead of {next}");
        assert_eq!(frame.message_id, number as u16);
        assert!(frame.payload == body(number, frame.position), "frame {number} is torn");
        number + 1
    }
}

impl Checked<GatedReader> {
    /// Reads everything there is; true when there was anything.
    fn drain(&mut self) -> bool {
        let before = self.seen;
        while let Some(frame) = self.reader.read().unwrap() {
            self.next = Self::check(self.next, &frame, false);
            self.seen += 1;
        }
        self.seen > before
    }
}

impl Checked<LooseReader> {
    fn drain(&mut self) -> bool {
        let before = self.seen;
        loop {
            match self.reader.read() {
                Ok(Some(frame)) => {
                    self.next = Self::check(self.next, &frame, self.after_gap);
                    self.after_gap = false;
                    self.seen += 1;
                }
                Ok(None) => return self.seen > before,
                Err(ReadError::Lapped(gap)) => {
                    assert!(gap.bytes() > SMALL - layout::max_reach(SMALL));
                    self.gaps += 1;
                    self.after_gap = true;
                    self.next += 1;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}

fn a_killed_writer_loses_tears_and_doubles_nothing() {
    let kills = child::kills();
    let watchdog = Watchdog::start("killing writers", Duration::from_secs(120 + u64::from(kills)));
    let directory = support::directory();
    let [held, free] = [HELD, FREE]
        .map(|name| Journal::create(files(directory.path(), name), support::shape(name, SMALL), 1).unwrap());
    let mut gated = Checked::new(held.gated(0).unwrap());
    let mut beside = Checked::new(held.loose(1).unwrap());
    let mut lapped = Checked::new(free.loose(1).unwrap());
    let witnesses =
        [HELD, FREE].map(|name| child::Witness::open(directory.path(), &format!("{name}.witness")));
    let mut dice = child::Dice::new(0x5eed);
    let middle = child::Witness::open(directory.path(), "middle.witness");
    let (mut epochs, mut died_writing, mut in_a_batch, mut verified) = (0, 0, 0, 0);
    // Ends of units of the held journal.
    let mut boundary = 0;
    for kill in 0..kills {
        let writing = child::start("writing_child", directory.path(), kill);
        // Some die while they start and attach, most while they write.
        if kill % 8 != 0 {
            assert!(child::wait(Duration::from_secs(30), || gated.drain()), "writer {kill} never wrote");
        }
        let pause = dice.micros(6_000);
        let start = std::time::Instant::now();
        let mut next_look = dice.micros(3_000);
        while start.elapsed() < pause {
            gated.drain();
            beside.drain();
            // Seldom enough that the writer laps meanwhile, however fast this loop is.
            if start.elapsed() >= next_look {
                lapped.drain();
                next_look = start.elapsed() + dice.micros(3_000);
            }
        }
        writing.kill();
        gated.drain();
        beside.drain();
        lapped.drain();
        // Everything that the writer saw committed is there.
        assert!(gated.next >= witnesses[0].get().unwrap_or(0), "a committed frame is lost");
        while boundary < gated.next {
            boundary += unit(boundary);
        }
        assert_eq!(gated.next, boundary, "a part of a batch");
        in_a_batch += u32::from(middle.get() == Some(1));
        middle.set(0);
        assert_eq!(beside.reader.position(), gated.reader.position());
        assert!(lapped.reader.position() >= free.head());
        for journal in [&held, &free] {
            let report = journal.verify();
            assert!(report.is_clean(), "kill {kill}: {:#?}", report.findings);
            verified += report.frames;
        }
        let stat = held.stat();
        if stat.epoch > epochs {
            epochs = stat.epoch;
            died_writing += 1;
            assert!(matches!(stat.writer, WriterState::Dead(_)), "{:?}", stat.writer);
        }
    }
    // One more, to check that the counts of all of them agree.
    for (journal, next, witness) in [(&held, gated.next, &witnesses[0]), (&free, lapped.next, &witnesses[1])]
    {
        let writer = journal.writer(63, clock()).unwrap();
        let frames = journal.stat().frames;
        assert!(frames >= witness.get().unwrap() && frames >= next, "{frames} {next}");
        let witnessed = witness.get().unwrap();
        assert!(
            [witnessed, witnessed + unit(witnessed)].contains(&frames),
            "at most the last was not witnessed"
        );
        assert_eq!(writer.epoch(), journal.stat().epoch);
    }
    assert_eq!(gated.seen, held.stat().frames, "each frame once");
    println!(
        "{kills} kills, {died_writing} of attached writers, {in_a_batch} in the middle of a batch, {} frames by gated, {} by loose ({} laps in the free journal), {verified} verified",
        gated.seen, lapped.seen, lapped.gaps
    );
    assert!(in_a_batch > 0 && died_writing > kills / 2 && gated.seen > u64::from(kills) && lapped.gaps > 0);
    watchdog.stop();
}

fn main() {
    child::main(
        &[("writing_child", writing_child)],
        &[(
            "a_killed_writer_loses_tears_and_doubles_nothing",
            a_killed_writer_loses_tears_and_doubles_nothing,
        )],
    );
}
