//! Scenes shared by the models of single frames, batches and claims.

use std::sync::Arc;

use super::stage::{Loan, explore, spawn, yield_now};
use super::support::{GATED, LOOSE, check, drain, journal, read_some, skip, write, writer};
use crate::error::{ReadError, WriteError};
use crate::ring::journal::Journal;
use crate::ring::reader::Reader;
use crate::ring::writer::Writer;

/// Both kinds of reader read while frames are written.
#[derive(Clone, Copy)]
pub(super) struct Watched {
    pub(super) name: &'static str,
    pub(super) lines: u64,
    /// Runs before the readers start.
    pub(super) before: fn(&mut Writer),
    pub(super) writing: fn(&mut Writer),
    /// Numbers of the frames that this writes.
    pub(super) frames: &'static [u16],
    /// How often each reader reads meanwhile.
    pub(super) looks: usize,
    /// The frames become visible together.
    pub(super) at_once: bool,
}

impl Watched {
    /// SYNC: commit. The frames that are seen are a prefix of those written, each whole; in the end all of them are
    /// seen.
    pub(super) fn explore(self) {
        explore(self.name, 2, move || {
            let journal = journal(1, self.lines);
            let mut writer = writer(&journal);
            (self.before)(&mut writer);
            let mut readers = [
                (Reader::Gated(journal.gated(GATED).unwrap()), Vec::new()),
                (Reader::Loose(journal.loose(LOOSE).unwrap()), Vec::new()),
            ];
            let writing = spawn(1, move || (self.writing)(&mut writer));
            let all: Vec<_> = self.frames.iter().copied().map(Some).collect();
            for (reader, seen) in &mut readers {
                read_some(reader, self.looks, seen);
                assert!(all.starts_with(seen), "{seen:?}");
                if self.at_once && !seen.is_empty() {
                    read_some(reader, all.len() - seen.len(), seen);
                    assert_eq!(*seen, all);
                }
            }
            writing.join().unwrap();
            for (reader, seen) in &mut readers {
                drain(reader, seen);
                assert_eq!(*seen, all);
                assert_eq!(reader.position(), journal.head());
            }
        });
    }
}

pub(super) fn nothing(_: &mut Writer) {}

/// Fills a ring of 16 lines except for the last two. The second line of each frame holds, where a commit word will be
/// in the next lap, exactly the word that a reader waits for there.
pub(super) fn leave_forged_commit_words(writer: &mut Writer) {
    let first = writer.position();
    for line in (0..14).step_by(2) {
        let forged = first + (16 + line + 1) * 64;
        writer.write(0, 0, &forged.to_le_bytes().repeat(5)).unwrap();
    }
}

/// SYNC: intent, SYNC: reach. The writer laps while a loose reader copies: `writing`, given the next frame's number,
/// writes two frames of a line each.
pub(super) fn lap(name: &str, lines: u64, writing: fn(&mut Writer, u16)) {
    lap_over(name, lines, &[], writing);
}

/// The same, where the frames of these numbers are void.
pub(super) fn lap_over(name: &str, lines: u64, void: &'static [u16], writing: fn(&mut Writer, u16)) {
    explore(name, 2, move || {
        let journal = journal(1, lines);
        let first = journal.first_position();
        let mut writer = writer(&journal);
        for number in 1..lines as u16 {
            if void.contains(&number) {
                skip(&mut writer, 1).unwrap();
            } else {
                write(&mut writer, number, 32).unwrap();
            }
        }
        let number = move |position: u64| ((position - first) / 64) as u16 + 1;
        // Void frames from `position` on are passed over.
        let past = move |mut position: u64, to: u64| {
            while position < to && void.contains(&number(position)) {
                position += 64;
            }
            position
        };
        let writing = spawn(1, move || writing(&mut writer, lines as u16));
        let mut reader = journal.observe(first).unwrap();
        let mut expected = first;
        let mut look = || {
            match reader.read() {
                Ok(Some(frame)) => {
                    assert_eq!(frame.position, past(expected, frame.position));
                    assert_eq!(check(&frame), number(frame.position));
                    expected = frame.position + 64;
                }
                Ok(None) => {
                    assert!(expected >= first + (lines - 1) * 64);
                    return None;
                }
                Err(ReadError::Lapped(gap)) => {
                    assert_eq!(gap.from, past(expected, gap.from));
                    assert!(gap.resumed_at >= first + (lines - 1) * 64);
                    assert!(gap.resumed_at <= first + (lines + 1) * 64);
                    expected = gap.resumed_at;
                }
                Err(error) => panic!("{error}"),
            }
            Some(expected)
        };
        look();
        look();
        writing.join().unwrap();
        while look().is_some() {}
        assert_eq!(expected, journal.head(), "every frame was seen or said to be lost");
    });
}

/// Frames that are written in [`gate`].
pub(super) const ROUND: u16 = 4;

/// SYNC: gate. A ring of four lines, in which the writer wraps around as far as a gated reader lets it: a lent frame
/// does not change, and an overwritten one was given back before. `loans` has one entry a frame, by its number.
pub(super) fn gate(
    name: &str,
    write: fn(&mut Writer, u16) -> Result<(), WriteError>,
    reading: fn(&Journal, &[Loan]),
) {
    explore(name, 2, move || {
        let loans: Arc<[Loan]> = (0..=ROUND).map(|_| Loan::new()).collect();
        let journal = journal(1, 4);
        journal.admit_gated(GATED).unwrap();
        let mut writer = writer(&journal);
        let overwritten = Arc::clone(&loans);
        let writing = spawn(1, move || {
            for number in 1..=ROUND {
                while let Err(error) = write(&mut writer, number) {
                    assert!(matches!(error, WriteError::Full { .. }), "{error}");
                    yield_now();
                }
                // The cleared line of its successor held the frame three before.
                if number > 3 {
                    overwritten[usize::from(number - 3)].overwrite();
                }
            }
        });
        reading(&journal, &loans);
        writing.join().unwrap();
    });
}
