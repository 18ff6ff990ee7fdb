//! Models of commit, lap, gate and join: frames written one by one.

use std::sync::Arc;

use super::scenes::{ROUND, Watched, gate, lap, leave_forged_commit_words, nothing};
use super::stage::{explore, spawn, yield_now};
use super::support::{GATED, check, drain, journal, read_some, write, writer};
use crate::ring::reader::Reader;
use crate::ring::writer::Writer;

fn write_all(writer: &mut Writer, numbers: std::ops::RangeInclusive<u16>, payload: usize) {
    for number in numbers {
        write(writer, number, payload).unwrap();
    }
}

#[test]
fn a_frame_is_seen_whole_or_not_at_all() {
    let scene = Watched {
        name: "commit",
        lines: 16,
        before: nothing,
        // Two lines each.
        writing: |writer| write_all(writer, 1..=2, 40),
        frames: &[1, 2],
        looks: 2,
        at_once: false,
    };
    scene.explore();
}

/// The line that the third frame starts on held a payload that equals the commit word a reader waits for there.
#[test]
fn an_old_payload_is_never_taken_for_a_commit_word() {
    let scene = Watched {
        name: "old payload",
        lines: 16,
        before: leave_forged_commit_words,
        writing: |writer| {
            // Lines 14, then 15 and 0: its successor is line 1.
            write(writer, 1, 8).unwrap();
            write(writer, 2, 40).unwrap();
        },
        frames: &[1, 2],
        looks: 3,
        at_once: false,
    };
    scene.explore();
}

#[test]
fn a_lapped_reader_sees_no_torn_frame_and_resumes_at_the_head() {
    // Rings of 8 lines take one-line frames with 32 bytes of payload.
    lap("lap", 8, |writer, next| write_all(writer, next..=next + 1, 32));
}

/// SYNC: reach. A reader that learns from the intent that it was lapped finds a head that is near: a stale one would
/// look like damage.
#[test]
fn a_lapped_reader_never_takes_a_stale_head_for_damage() {
    explore("reach", 1, || {
        let journal = journal(1, 8);
        let first = journal.first_position();
        let mut writer = writer(&journal);
        write_all(&mut writer, 1..=7, 0);
        // Further than an intent may be ahead of a head.
        let writing = spawn(1, move || write_all(&mut writer, 8..=11, 0));
        let mut reader = Reader::Loose(journal.observe(first).unwrap());
        // Fails on damage.
        read_some(&mut reader, 1, &mut Vec::new());
        writing.join().unwrap();
    });
}

/// SYNC: reach. The same for a successor's first intent: the successor has executed no fence before it, and its
/// predecessor was another process.
#[test]
fn a_successors_intent_tells_of_its_predecessors_head() {
    explore("reach of a successor", 2, || {
        let journal = journal(1, 8);
        let first = journal.first_position();
        let mut before = writer(&journal);
        write_all(&mut before, 1..=7, 0);
        let writing = spawn(1, move || write_all(&mut before, 8..=11, 0));
        let succeeding = {
            let journal = Arc::clone(&journal);
            spawn(2, move || {
                writing.join().unwrap();
                write(&mut writer(&journal), 12, 0).unwrap();
            })
        };
        let mut reader = Reader::Loose(journal.observe(first).unwrap());
        // Fails on damage.
        read_some(&mut reader, 1, &mut Vec::new());
        succeeding.join().unwrap();
    });
}

#[test]
fn the_writer_never_touches_what_a_gated_reader_holds() {
    gate(
        "gate",
        |writer, number| write(writer, number, 0).map(drop),
        |journal, loans| {
            let mut reader = journal.gated(GATED).unwrap();
            for number in 1..=ROUND {
                let position = loop {
                    match reader.read().unwrap() {
                        Some(frame) => {
                            assert_eq!(check(&frame), number);
                            loans[usize::from(number)].look();
                            break frame.position;
                        }
                        None => yield_now(),
                    }
                };
                let again = journal.observe(position).unwrap().read().unwrap().map(|frame| check(&frame));
                assert_eq!(again, Some(number), "the frame is still there while it is ours");
            }
        },
    );
}

/// SYNC: join. A gated reader joins while the writer laps: from where the reader starts, nothing is missing, however
/// far the writer goes before the first read.
#[test]
fn a_gated_reader_that_joins_late_misses_nothing_from_there_on() {
    join("join", 0);
}

/// The same, and the reader reads at once.
#[test]
fn a_gated_reader_that_joins_late_reads_at_once() {
    join("join and read", 2);
}

fn join(name: &str, reads: usize) {
    explore(name, 2, move || {
        let journal = journal(1, 4);
        let first = journal.first_position();
        let mut writer = writer(&journal);
        let writing = spawn(1, move || {
            let mut number = 1;
            while number <= 5 && write(&mut writer, number, 0).is_ok() {
                number += 1;
            }
            number - 1
        });
        let mut reader = Reader::Gated(journal.gated(GATED).unwrap());
        let start = ((reader.position() - first) / 64) as u16;
        let mut seen = Vec::new();
        read_some(&mut reader, reads, &mut seen);
        let written = writing.join().unwrap();
        drain(&mut reader, &mut seen);
        let expected: Vec<_> = (start + 1..=written).map(Some).collect();
        assert_eq!(seen, expected);
        assert_eq!(reader.position(), journal.head());
    });
}
