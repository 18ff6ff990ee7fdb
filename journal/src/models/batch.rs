//! Models of batches and claims: several frames seen all at once, and a frame that is filled in place.

use std::sync::Arc;

use loom::cell::UnsafeCell;
use loom::thread;

use super::support::{GATED, LOOSE, check, claim, drain, explore, journal, push, read_some, write, writer};
use super::sync::spawn;
use crate::error::WriteError;
use crate::reader::Reader;

/// SYNC: commit. Who sees the first frame of a batch sees the others at once.
#[test]
fn a_batch_is_seen_whole_or_not_at_all() {
    explore("batch", 2, || {
        let journal = journal(1, 16);
        let mut gated = Reader::Gated(journal.gated(GATED).unwrap());
        let mut loose = Reader::Loose(journal.loose(LOOSE).unwrap());
        let mut writer = writer(&journal);
        let writing = spawn(1, move || {
            let mut batch = writer.batch();
            push(&mut batch, 1, 8).unwrap();
            push(&mut batch, 2, 8).unwrap();
            batch.commit();
        });
        for reader in [&mut gated, &mut loose] {
            let mut seen = Vec::new();
            read_some(reader, 1, &mut seen);
            if !seen.is_empty() {
                read_some(reader, 1, &mut seen);
                assert_eq!(seen, [Some(1), Some(2)]);
            }
        }
        writing.join().unwrap();
        for mut reader in [gated, loose] {
            drain(&mut reader, &mut Vec::new());
            assert_eq!(reader.position(), journal.head());
        }
    });
}

/// The lines of the batch, and the one behind it, held payloads that say what a reader waits for there.
#[test]
fn a_batch_over_old_payloads_ends_where_it_ends() {
    explore("batch over old payloads", 2, || {
        let journal = journal(1, 16);
        let first = journal.first_position();
        let mut writer = writer(&journal);
        for line in (0..14).step_by(2) {
            let forged = first + (16 + line + 1) * 64;
            writer.write(0, 0, &forged.to_le_bytes().repeat(5)).unwrap();
        }
        // The batch takes line 15 and line 0; its successor is line 1.
        writer.write(0, 0, &[]).unwrap();
        let mut loose = Reader::Loose(journal.loose(LOOSE).unwrap());
        let mut gated = Reader::Gated(journal.gated(GATED).unwrap());
        let writing = spawn(1, move || {
            let mut batch = writer.batch();
            push(&mut batch, 1, 8).unwrap();
            push(&mut batch, 2, 8).unwrap();
            batch.commit();
        });
        for reader in [&mut loose, &mut gated] {
            let mut seen = Vec::new();
            read_some(reader, 3, &mut seen);
            assert!([Some(1), Some(2)].starts_with(&seen), "{seen:?}");
        }
        writing.join().unwrap();
    });
}

/// Of what was put into a batch or claim that is dropped, nothing is ever seen.
#[test]
fn what_is_dropped_never_was() {
    explore("dropped batch and claim", 2, || {
        let journal = journal(1, 32);
        let mut gated = Reader::Gated(journal.gated(GATED).unwrap());
        let mut loose = Reader::Loose(journal.loose(LOOSE).unwrap());
        let mut writer = writer(&journal);
        let writing = spawn(1, move || {
            let mut batch = writer.batch();
            for number in 7..=9 {
                push(&mut batch, number, 0).unwrap();
            }
            drop(batch);
            let mut dropped = writer.claim(6, 0, 40).unwrap();
            dropped.put(&[6; 40]).unwrap();
            drop(dropped);
            // Ends where the second frame of the batch would have begun.
            write(&mut writer, 1, 0).unwrap();
        });
        for reader in [&mut gated, &mut loose] {
            let mut seen = Vec::new();
            read_some(reader, 2, &mut seen);
            assert!([Some(1)].starts_with(&seen), "{seen:?}");
        }
        writing.join().unwrap();
    });
}

/// SYNC: commit. A claim is filled in pieces, and becomes shorter than what was claimed.
#[test]
fn a_claim_is_seen_whole_or_not_at_all() {
    explore("claim", 2, || {
        let journal = journal(1, 16);
        let mut gated = Reader::Gated(journal.gated(GATED).unwrap());
        let mut loose = Reader::Loose(journal.loose(LOOSE).unwrap());
        let mut writer = writer(&journal);
        let writing = spawn(1, move || {
            for number in 1..=2 {
                claim(&mut writer, number, 40, 90).unwrap();
            }
        });
        for reader in [&mut gated, &mut loose] {
            let mut seen = Vec::new();
            read_some(reader, 2, &mut seen);
            assert!([Some(1), Some(2)].starts_with(&seen), "{seen:?}");
        }
        writing.join().unwrap();
        assert_eq!(journal.head(), journal.first_position() + 4 * 64);
    });
}

/// SYNC: intent. A batch goes over the place that a loose reader copies from.
#[test]
fn a_batch_that_laps_tears_nothing() {
    explore("batch and lap", 2, || {
        let journal = journal(1, 16);
        let first = journal.first_position();
        let mut writer = writer(&journal);
        for number in 11..=25 {
            write(&mut writer, number, 32).unwrap();
        }
        let writing = spawn(1, move || {
            let mut batch = writer.batch();
            push(&mut batch, 26, 32).unwrap();
            push(&mut batch, 27, 32).unwrap();
            batch.commit();
        });
        let mut loose = Reader::Loose(journal.observe(first).unwrap());
        let mut seen = Vec::new();
        read_some(&mut loose, 2, &mut seen);
        let numbers: Vec<_> = seen.iter().flatten().collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "{seen:?}");
        writing.join().unwrap();
        drain(&mut loose, &mut seen);
        assert_eq!(loose.position(), journal.head());
        assert!(seen.contains(&None) || seen.len() == 17, "every loss is told: {seen:?}");
    });
}

/// SYNC: gate. Batches go round as far as a reader in bulk lets them; what is lent out stays as it is. The cells stand
/// for the loan: loom fails on any access that is not ordered.
#[test]
fn a_batch_never_touches_what_a_bulk_reader_holds() {
    explore("batch and gate", 2, || {
        const FRAMES: u16 = 4;
        let loans: Arc<[UnsafeCell<()>]> = (0..=FRAMES).map(|_| UnsafeCell::new(())).collect();
        let journal = journal(1, 4);
        journal.admit_gated(GATED).unwrap();
        let mut writer = writer(&journal);
        let overwritten = Arc::clone(&loans);
        let writing = spawn(1, move || {
            for number in 1..=FRAMES {
                loop {
                    // In a ring this small a batch is one line.
                    let mut batch = writer.batch();
                    match push(&mut batch, number, 0) {
                        Ok(_) => {
                            // The line behind it, which commit clears, held the frame that is three back.
                            if number > 3 {
                                overwritten[usize::from(number - 3)].with_mut(|_| ());
                            }
                            assert!(matches!(
                                push(&mut batch, 99, 0),
                                Err(WriteError::BatchFull { max: 64 })
                            ));
                            batch.commit();
                            break;
                        }
                        Err(error) => assert!(matches!(error, WriteError::Full { .. }), "{error}"),
                    }
                    thread::yield_now();
                }
            }
        });
        let mut reader = journal.gated(GATED).unwrap();
        let mut expected = 1;
        while expected <= FRAMES {
            let read = reader.read_batch(2, |frame| {
                assert_eq!(check(&frame), expected);
                loans[usize::from(expected)].with(|_| ());
                expected += 1;
            });
            if read.unwrap() == 0 {
                thread::yield_now();
            }
        }
        writing.join().unwrap();
    });
}
