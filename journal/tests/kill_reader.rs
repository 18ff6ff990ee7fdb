//! Gated readers are killed at random moments and started again: each resumes at the first frame that it had not
//! finished, and holds up the writer until then.
#![cfg(not(miri))] // Files and processes.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

#[path = "support/child.rs"]
mod child;
mod support;

use std::path::Path;
use std::time::Duration;

use journal::{Frame, Journal, JournalFiles, WriteError};
use support::{SMALL, Watchdog, clock, payload};

const READERS: u32 = 2;

fn files(directory: &Path) -> JournalFiles {
    JournalFiles::new(directory, directory, "t")
}

fn body(number: u64) -> Vec<u8> {
    let mut body = payload(number, 8 + number as usize % 300);
    body[..8].copy_from_slice(&number.to_le_bytes());
    body
}

fn witness(directory: &Path, seat: u32) -> child::Witness {
    child::Witness::open(directory, &format!("seat{seat}.witness"))
}

/// Reads, and records the number after each frame that it has in hand.
fn reading_child(directory: &Path, seat: u32) {
    let witness = witness(directory, seat);
    let mut reader = Journal::open(files(directory)).unwrap().gated(seat).unwrap();
    let mut last = witness.get();
    let mut first = true;
    let mut take = |frame: Frame<'_>| {
        let number = u64::from_le_bytes(frame.payload[..8].try_into().unwrap());
        let expected = last.map_or(0, |last| last + 1);
        // Frames that were in hand when the predecessor was killed are read again.
        let again = first && number < expected && number + in_hand(seat) as u64 >= expected;
        assert!(number == expected || again, "{number} instead of {expected}");
        assert!(frame.payload == body(number), "frame {number} is torn");
        witness.set(number);
        last = Some(number);
        first = false;
    };
    loop {
        match in_hand(seat) {
            1 => drop(reader.read().unwrap().map(&mut take)),
            most => drop(reader.read_batch(most, &mut take).unwrap()),
        }
    }
}

/// Every other reader reads batches of this many frames at most.
fn in_hand(seat: u32) -> usize {
    if seat.is_multiple_of(2) { 1 } else { 7 }
}

fn a_killed_gated_reader_goes_on_where_it_was() {
    let kills = child::kills();
    let watchdog = Watchdog::start("killing gated readers", Duration::from_secs(120 + u64::from(kills)));
    let directory = support::directory();
    let journal = Journal::create(files(directory.path()), support::shape("t", SMALL), 1).unwrap();
    for seat in 0..READERS {
        journal.admit_gated(seat).unwrap();
    }
    let mut writer = journal.writer(63, clock()).unwrap();
    let mut number = 0;
    let mut write = || match writer.write(number as u16, 0, &body(number)) {
        Ok(_) => number += 1,
        Err(WriteError::Full { .. }) => {}
        Err(error) => panic!("{error}"),
    };
    let start = |seat| child::start("reading_child", directory.path(), seat);
    let mut reading: Vec<_> = (0..READERS).map(|seat| Some(start(seat))).collect();
    let witnesses: Vec<_> = (0..READERS).map(|seat| witness(directory.path(), seat)).collect();
    let mut dice = child::Dice::new(0xfeed);
    for kill in 0..kills {
        let seat = dice.below(u64::from(READERS)) as usize;
        if kill % 8 != 0 {
            let before = witnesses[seat].get();
            let read_on = || {
                write();
                witnesses[seat].get() > before
            };
            assert!(child::wait(Duration::from_secs(30), read_on), "reader {seat} never read");
        }
        let pause = dice.micros(4_000);
        let begin = std::time::Instant::now();
        while begin.elapsed() < pause {
            write();
        }
        let cursor = |seat: usize| journal.stat().readers[seat].position;
        reading[seat].take().unwrap().kill();
        assert!(journal.head() - cursor(seat) < SMALL, "the writer kept to the gate");
        reading[seat] = Some(start(seat as u32));
    }
    let all_read = || witnesses.iter().all(|witness| witness.get() == Some(number - 1));
    assert!(child::wait(Duration::from_secs(60), all_read), "not everything was read");
    reading.into_iter().flatten().for_each(child::Child::kill);
    // A reader that never comes back can be dismissed, and then holds up nothing.
    for seat in 0..READERS {
        journal.dismiss(seat).unwrap();
    }
    for _ in 0..5 * SMALL / 64 {
        writer.write(0, 0, &[]).unwrap();
    }
    println!(
        "{kills} kills, half of them of readers in bulk, {number} frames, {} times full",
        journal.stat().full
    );
    watchdog.stop();
}

fn main() {
    child::main(
        &[("reading_child", reading_child)],
        &[("a_killed_gated_reader_goes_on_where_it_was", a_killed_gated_reader_goes_on_where_it_was)],
    );
}
