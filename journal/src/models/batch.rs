//! Models of batches and claims: several frames that become visible at once, and a frame that is filled in place.

use super::scenes::{ROUND, Watched, gate, lap, leave_forged_commit_words, nothing};
use super::stage::yield_now;
use super::support::{GATED, check, claim, push, write};
use crate::error::WriteError;
use crate::ring::writer::Writer;

fn batch(writer: &mut Writer, numbers: std::ops::RangeInclusive<u16>, payload: usize) {
    let mut batch = writer.batch();
    for number in numbers {
        push(&mut batch, number, payload).unwrap();
    }
    batch.commit();
}

/// A reader that sees the first frame of a batch sees the others at once.
#[test]
fn a_batch_is_seen_whole_or_not_at_all() {
    let scene = Watched {
        name: "batch",
        lines: 16,
        before: nothing,
        writing: |writer| batch(writer, 1..=2, 8),
        frames: &[1, 2],
        looks: 1,
        at_once: true,
    };
    scene.explore();
}

/// The batch's lines and the one behind it held payloads that equal the commit words a reader waits for there.
#[test]
fn a_batch_over_old_payloads_ends_where_it_ends() {
    let scene = Watched {
        name: "batch over old payloads",
        lines: 16,
        before: |writer| {
            leave_forged_commit_words(writer);
            // The batch takes line 15 and line 0; its successor is line 1.
            writer.write(0, 0, &[]).unwrap();
        },
        writing: |writer| batch(writer, 1..=2, 8),
        frames: &[1, 2],
        looks: 3,
        at_once: true,
    };
    scene.explore();
}

/// The contents of a batch or claim that is dropped are never seen.
#[test]
fn what_is_dropped_never_was() {
    let scene = Watched {
        name: "dropped batch and claim",
        lines: 32,
        before: nothing,
        writing: |writer| {
            let mut batch = writer.batch();
            for number in 7..=9 {
                push(&mut batch, number, 0).unwrap();
            }
            drop(batch);
            let mut dropped = writer.claim(6, 0, 40).unwrap();
            dropped.put(&[6; 40]).unwrap();
            drop(dropped);
            // Ends where the second frame of the batch would have begun.
            write(writer, 1, 0).unwrap();
        },
        frames: &[1],
        looks: 2,
        at_once: false,
    };
    scene.explore();
}

/// A claim is filled in pieces, and becomes shorter than what was claimed.
#[test]
fn a_claim_is_seen_whole_or_not_at_all() {
    let scene = Watched {
        name: "claim",
        lines: 16,
        before: nothing,
        writing: |writer| {
            for number in 1..=2 {
                claim(writer, number, 40, 90).unwrap();
            }
        },
        frames: &[1, 2],
        looks: 2,
        at_once: false,
    };
    scene.explore();
}

/// A batch overwrites the place that a loose reader copies from.
#[test]
fn a_batch_that_laps_tears_nothing() {
    lap("batch and lap", 16, |writer, next| batch(writer, next..=next + 1, 32));
}

/// Batches wrap around as far as a bulk reader lets them.
#[test]
fn a_batch_never_touches_what_a_bulk_reader_holds() {
    gate(
        "batch and gate",
        |writer, number| {
            // In a ring this small a batch is one line.
            let mut batch = writer.batch();
            push(&mut batch, number, 0)?;
            assert!(matches!(push(&mut batch, 99, 0), Err(WriteError::BatchFull { max: 64 })));
            batch.commit();
            Ok(())
        },
        |journal, loans| {
            let mut reader = journal.gated(GATED).unwrap();
            let mut expected = 1;
            while expected <= ROUND {
                let read = reader.read_batch(2, |frame| {
                    assert_eq!(check(&frame), expected);
                    loans[usize::from(expected)].look();
                    expected += 1;
                });
                if read.unwrap() == 0 {
                    yield_now();
                }
            }
        },
    );
}
