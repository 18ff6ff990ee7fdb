//! Models of frames of records: several messages in one frame.

use super::scenes::{Watched, lap, leave_forged_commit_words, nothing};
use super::support::{records, write};

/// A reader sees none of a frame's records or all of them.
#[test]
fn records_are_seen_whole_or_not_at_all() {
    let scene = Watched {
        name: "records",
        lines: 16,
        before: nothing,
        writing: |writer| {
            // Two lines: the first record lies on the first, and the second on both.
            records(writer, 1, 2).unwrap();
            write(writer, 2, 8).unwrap();
        },
        frames: &[1, 2],
        looks: 2,
        at_once: false,
    };
    scene.explore();
}

/// The frame's second line, and the one behind it, held payloads that equal the commit words of frames there.
#[test]
fn records_over_old_payloads_end_where_they_end() {
    let scene = Watched {
        name: "records over old payloads",
        lines: 16,
        before: leave_forged_commit_words,
        writing: |writer| {
            // Line 14; then 15 and 0: its successor is line 1.
            write(writer, 1, 8).unwrap();
            records(writer, 2, 2).unwrap();
        },
        frames: &[1, 2],
        looks: 3,
        at_once: false,
    };
    scene.explore();
}

/// Records overwrite the place that a loose reader copies from.
#[test]
fn records_that_lap_tear_nothing() {
    lap("records and lap", 8, |writer, next| {
        records(writer, next, 1).unwrap();
        records(writer, next + 1, 1).unwrap();
    });
}
