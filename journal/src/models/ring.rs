//! Models of commit, lap, gate and join.

use std::sync::Arc;

use loom::cell::UnsafeCell;
use loom::thread;

use super::support::{GATED, LOOSE, check, drain, explore, journal, read_some, write, writer};
use super::sync::spawn;
use crate::error::{ReadError, WriteError};
use crate::reader::Reader;

/// SYNC: commit. Both kinds of reader look while two frames of two lines each are written.
#[test]
fn a_frame_is_seen_whole_or_not_at_all() {
    explore("commit", 2, || {
        let journal = journal(1, 16);
        let mut gated = Reader::Gated(journal.gated(GATED).unwrap());
        let mut loose = Reader::Loose(journal.loose(LOOSE).unwrap());
        let mut writer = writer(&journal);
        let writing = spawn(1, move || {
            for number in 1..=2 {
                write(&mut writer, number, 40).unwrap();
            }
        });
        for reader in [&mut gated, &mut loose] {
            let mut seen = Vec::new();
            read_some(reader, 2, &mut seen);
            assert!([Some(1), Some(2)].starts_with(&seen), "{seen:?}");
        }
        writing.join().unwrap();
        for reader in [gated, loose] {
            assert_eq!(reader.position() % 64, 0);
        }
    });
}

/// SYNC: intent, SYNC: reach. The writer comes round while a loose reader copies.
#[test]
fn a_lapped_reader_sees_no_torn_frame_and_resumes_at_the_head() {
    explore("lap", 2, || {
        // Rings of 8 lines take one-line frames with 32 bytes of payload.
        let journal = journal(1, 8);
        let first = journal.first_position();
        let mut writer = writer(&journal);
        for number in 1..=7 {
            write(&mut writer, number, 32).unwrap();
        }
        let writing = spawn(1, move || {
            for number in 8..=9 {
                write(&mut writer, number, 32).unwrap();
            }
        });
        let mut reader = journal.observe(first).unwrap();
        let mut expected = first;
        for _ in 0..2 {
            match reader.read() {
                Ok(Some(frame)) => {
                    assert_eq!(frame.position, expected);
                    assert_eq!(u64::from(check(&frame)), (expected - first) / 64 + 1);
                    expected += 64;
                }
                Ok(None) => assert!(expected >= first + 7 * 64),
                Err(ReadError::Lapped(gap)) => {
                    assert_eq!(gap.from, expected);
                    assert!(gap.resumed_at >= first + 7 * 64 && gap.resumed_at <= first + 9 * 64);
                    expected = gap.resumed_at;
                }
                Err(error) => panic!("{error}"),
            }
        }
        writing.join().unwrap();
    });
}

/// SYNC: reach. Who learns from the intent that it was overtaken finds a head that is near: a stale one would look like
/// damage.
#[test]
fn a_lapped_reader_never_takes_a_stale_head_for_damage() {
    explore("reach", 1, || {
        let journal = journal(1, 8);
        let first = journal.first_position();
        let mut writer = writer(&journal);
        for number in 1..=7 {
            write(&mut writer, number, 0).unwrap();
        }
        // Further than an intent may be ahead of a head.
        let writing = spawn(1, move || {
            for number in 8..=11 {
                write(&mut writer, number, 0).unwrap();
            }
        });
        let mut reader = Reader::Loose(journal.observe(first).unwrap());
        // Fails on damage.
        read_some(&mut reader, 1, &mut Vec::new());
        writing.join().unwrap();
    });
}

/// The line that the third frame starts on held a payload that says exactly what a reader waits for there.
#[test]
fn an_old_payload_is_never_taken_for_a_commit_word() {
    explore("old payload", 2, || {
        let journal = journal(1, 16);
        let first = journal.first_position();
        let mut writer = writer(&journal);
        // Two lines each; the second starts with payload word 4: the position of that line one lap later.
        for line in (0..14).step_by(2) {
            let forged = first + (16 + line + 1) * 64;
            writer.write(0, 0, &forged.to_le_bytes().repeat(5)).unwrap();
        }
        let mut loose = Reader::Loose(journal.loose(LOOSE).unwrap());
        let mut gated = Reader::Gated(journal.gated(GATED).unwrap());
        let writing = spawn(1, move || {
            // Lines 14, then 15 and 0: its successor is line 1.
            write(&mut writer, 1, 8).unwrap();
            write(&mut writer, 2, 40).unwrap();
        });
        for reader in [&mut loose, &mut gated] {
            let mut seen = Vec::new();
            read_some(reader, 3, &mut seen);
            assert!([Some(1), Some(2)].starts_with(&seen), "{seen:?}");
        }
        writing.join().unwrap();
    });
}

/// SYNC: gate. The writer goes round as far as a gated reader lets it; what is lent out stays as it is, and what is
/// overwritten was given back before: the cells stand for the loan, and loom fails on any access that is not ordered.
#[test]
fn the_writer_never_touches_what_a_gated_reader_holds() {
    explore("gate", 2, || {
        const FRAMES: u16 = 4;
        let loans: Arc<[UnsafeCell<()>]> = (0..=FRAMES).map(|_| UnsafeCell::new(())).collect();
        let journal = journal(1, 4);
        journal.admit_gated(GATED).unwrap();
        let mut writer = writer(&journal);
        let overwritten = Arc::clone(&loans);
        let writing = spawn(1, move || {
            for number in 1..=FRAMES {
                while let Err(error) = write(&mut writer, number, 0) {
                    assert!(matches!(error, WriteError::Full { .. }), "{error}");
                    thread::yield_now();
                }
                // Its successor's line, which is cleared, held the frame that is three back.
                if number > 3 {
                    overwritten[usize::from(number - 3)].with_mut(|_| ());
                }
            }
        });
        let mut reader = journal.gated(GATED).unwrap();
        for number in 1..=FRAMES {
            let position = loop {
                match reader.read().unwrap() {
                    Some(frame) => {
                        assert_eq!(check(&frame), number);
                        loans[usize::from(number)].with(|_| ());
                        break frame.position;
                    }
                    None => thread::yield_now(),
                }
            };
            let again = journal.observe(position).unwrap().read().unwrap().map(|frame| check(&frame));
            assert_eq!(again, Some(number), "the frame is still there while it is ours");
        }
        writing.join().unwrap();
    });
}

/// SYNC: join. A gated reader comes while the writer goes round: from where it starts, nothing is missing, however
/// far the writer goes before the reader reads at all.
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
