//! Models of frames that are copied from another journal, and of the void ones that fill the gaps between them.

use std::sync::Arc;

use super::scenes::{ROUND, Watched, gate, lap_over, leave_forged_commit_words};
use super::stage::{explore, spawn, yield_now};
use super::support::{GATED, append, check, journal, skip, write, writer};
use crate::error::ReadError;

/// The lines of a void frame, whose payload is not written, hold payloads that equal the commit words of frames there;
/// so does the line behind it.
#[test]
fn nothing_of_a_void_frame_is_ever_seen() {
    let scene = Watched {
        name: "void over old payloads",
        lines: 16,
        before: leave_forged_commit_words,
        writing: |writer| {
            // Lines 14 and 15, then 0 alone: the next frame takes line 1.
            skip(writer, 3).unwrap();
            append(writer, 1, 8).unwrap();
        },
        frames: &[1],
        looks: 2,
        at_once: false,
    };
    scene.explore();
}

/// A loose reader is overtaken while it passes over void frames, and others are written there.
#[test]
fn a_lapped_reader_takes_nothing_for_void() {
    lap_over("void and lap", 8, &[1, 8], |writer, _| {
        skip(writer, 1).unwrap();
        write(writer, 9, 32).unwrap();
    });
}

/// Void frames wait for a gated reader as others do, and it gives them back without being handed one.
#[test]
fn void_frames_never_touch_what_a_reader_holds() {
    gate(
        "void and gate",
        |writer, number| match number % 2 {
            0 => skip(writer, 1),
            _ => append(writer, number, 0).map(drop),
        },
        |journal, loans| {
            let mut reader = journal.gated(GATED).unwrap();
            for number in (1..=ROUND).step_by(2) {
                loop {
                    match reader.read().unwrap() {
                        Some(frame) => {
                            assert_eq!(check(&frame), number);
                            loans[usize::from(number)].look();
                            break;
                        }
                        None => yield_now(),
                    }
                }
            }
        },
    );
}

/// A copy is made beside the source's writer, which laps whoever copies: the copy's reader gets frames at the positions
/// that they have in the source, and misses those that the copier was told it lost.
#[test]
fn a_copy_has_its_sources_positions_even_where_frames_are_missing() {
    explore("copy across a gap", 1, || {
        let (source, copy) = (journal(1, 8), journal(2, 32));
        let first = source.first_position();
        let mut origin = writer(&source);
        for number in 1..=7 {
            write(&mut origin, number, 0).unwrap();
        }
        let writing = spawn(1, move || {
            for number in 8..=9 {
                write(&mut origin, number, 0).unwrap();
            }
        });
        // Both journals begin at their capacity.
        let shift = copy.first_position() - first;
        let mut reader = copy.gated(GATED).unwrap();
        let copying = {
            let (source, copy) = (Arc::clone(&source), Arc::clone(&copy));
            spawn(2, move || {
                let mut bridge = source.observe(first).unwrap();
                let mut writer = writer(&copy);
                let mut lost = 0;
                for _ in 0..3 {
                    match bridge.read() {
                        Ok(Some(frame)) => {
                            writer.skip_to(frame.position + shift).unwrap();
                            writer.append(frame.header(), frame.payload).unwrap();
                        }
                        Ok(None) => break,
                        Err(ReadError::Lapped(gap)) => {
                            writer.skip_to(gap.resumed_at + shift).unwrap();
                            lost += gap.bytes();
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
                lost
            })
        };
        let (mut seen, mut end) = (0, reader.position());
        let mut look = || {
            while let Some(frame) = reader.read().unwrap() {
                let number = frame.message_id;
                assert_eq!(frame.position - shift, first + (u64::from(number) - 1) * 64);
                assert!(frame.payload.is_empty() && frame.topic == u32::from(number % 2), "torn: {frame:?}");
                assert!(frame.position >= end);
                (seen, end) = (seen + 64, frame.position + 64);
            }
        };
        look();
        let lost = copying.join().unwrap();
        writing.join().unwrap();
        look();
        let start = copy.first_position();
        assert_eq!(seen + lost, copy.head() - start, "every byte is a frame's or was lost");
    });
}
