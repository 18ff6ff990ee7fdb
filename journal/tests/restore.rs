//! A journal that is made again from what was recorded of it is the same journal.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use journal::tools::verify_files;
use journal::{Clock, History, Journal, Origin, RestoreError};
use support::{SMALL, clock, payload};

const READER: u32 = 7;
const RECORDER: u32 = 5;

/// A journal, and all that was ever in it as a recorder has it.
fn recorded(frames: u64) -> (Journal, Vec<u8>) {
    let journal = Journal::in_memory(support::shape("t", SMALL)).unwrap();
    journal.admit_gated(RECORDER).unwrap();
    journal.admit_gated(READER).unwrap();
    let (mut recorder, mut reader) = (journal.gated(RECORDER).unwrap(), journal.gated(READER).unwrap());
    let mut disk = Vec::new();
    for epoch in 0..2 {
        let mut writer = journal.writer(0, clock()).unwrap();
        for number in 0..frames {
            writer.write(number as u16, 3, &payload(number, (number * 7 % 300) as usize)).unwrap();
            writer.count((number % 4) as usize);
            if number % 20 == 19 || epoch == 1 && number + 10 < frames {
                while let Some(chunk) = recorder.read_bytes(1 << 20).unwrap() {
                    disk.extend_from_slice(chunk.bytes);
                }
                while reader.position() < recorder.position() {
                    reader.read().unwrap();
                }
                reader.publish();
            }
        }
    }
    while let Some(chunk) = recorder.read_bytes(1 << 20).unwrap() {
        disk.extend_from_slice(chunk.bytes);
    }
    recorder.publish();
    (journal, disk)
}

fn history(journal: &Journal) -> History {
    let stat = journal.stat();
    History { epoch: stat.epoch, frames: stat.frames, tally: stat.tally }
}

type Seen = (u64, u64, u16, u16, u32, u32, Vec<u8>);

fn all(journal: &Journal, from: u64) -> Vec<Seen> {
    let mut reader = journal.observe(from).unwrap();
    let mut frames = Vec::new();
    while let Some(frame) = reader.read().unwrap() {
        frames.push((
            frame.position,
            frame.time,
            frame.message_id,
            frame.flags,
            frame.topic,
            frame.epoch,
            frame.payload.to_vec(),
        ));
    }
    frames
}

#[test]
fn frames_counts_and_cursors_are_those_of_before() {
    for frames in [30, 400, 2_000] {
        let (before, disk) = recorded(frames);
        let directory = tempfile::tempdir().unwrap();
        let files = journal::JournalFiles::new(directory.path(), directory.path(), "t");
        let origin = Origin {
            first_position: before.first_position(),
            incarnation: before.stat().incarnation + 1,
            ..Origin::new(1)
        };
        let after = Journal::create_from(files, support::shape("t", SMALL), origin).unwrap();
        let mut writer = after.restoring_writer(Clock::monotonic()).unwrap();
        writer.restore(&disk).unwrap();
        writer.finish_restoring(history(&before));
        let position = before.stat().readers.iter().find(|reader| reader.seat == READER).unwrap().position;
        after.restore_cursor(READER, position, 0).unwrap();
        assert_eq!(after.head(), before.head());
        assert_eq!(history(&after), history(&before));
        let from = before.oldest_frame().unwrap().max(after.oldest_frame().unwrap());
        assert_eq!(all(&after, from), all(&before, from));
        // What the reader had not read is there, and the writer goes on behind it.
        let mut reader = after.gated(READER).unwrap();
        assert_eq!(reader.position(), position);
        while reader.read().unwrap().is_some() {}
        assert_eq!(reader.position(), before.head());
        let written = after.writer(0, clock()).unwrap().write(9, 0, b"next").unwrap();
        assert_eq!(written.position, before.head());
        assert_eq!(after.stat().epoch, before.stat().epoch + 1);
    }
}

/// A recorded journal's frames, one by one.
fn single(disk: &[u8]) -> Vec<&[u8]> {
    let (mut single, mut rest) = (Vec::new(), disk);
    while let Some(length) = rest.get(8..12) {
        let length = u32::from_le_bytes(length.try_into().unwrap());
        let (frame, behind) = rest.split_at(journal::layout::frame_bytes(u64::from(length)) as usize);
        single.push(frame);
        rest = behind;
    }
    single
}

#[test]
fn a_restored_journal_is_sound_however_often_its_ring_has_gone_round_before_and_goes_round_again() {
    for (frames, has_gap) in [(30, false), (400, false), (400, true), (2_000, false), (2_000, true)] {
        let (before, disk) = recorded(frames);
        // As a recovery does it: all that the ring holds with the line behind it, or less where a part was not recorded.
        let mut kept = Vec::new();
        let mut bytes = 0;
        for frame in single(&disk).into_iter().rev() {
            bytes += frame.len() as u64;
            if bytes + 64 > SMALL {
                break;
            }
            kept.push(frame);
        }
        kept.reverse();
        let first = u64::from_le_bytes(kept[0][..8].try_into().unwrap());
        if has_gap {
            let middle = kept.len() / 2;
            kept.drain(middle..middle + 3);
        }
        let directory = tempfile::tempdir().unwrap();
        let files = journal::JournalFiles::new(directory.path(), directory.path(), "t");
        let origin =
            Origin { first_position: first, incarnation: before.stat().incarnation + 1, ..Origin::new(1) };
        let after = Journal::create_from(files.clone(), support::shape("t", SMALL), origin).unwrap();
        let mut writer = after.restoring_writer(Clock::monotonic()).unwrap();
        writer.restore(&kept.concat()).unwrap();
        writer.finish_restoring(history(&before));
        let sound = |when: u64| {
            let report = verify_files(&files).unwrap();
            assert!(report.is_clean(), "{frames} frames before, {when} behind: {:#?}", report.findings);
        };
        sound(0);
        let mut writer = after.writer(0, clock()).unwrap();
        for number in 1..=2_000 {
            writer.write(number as u16, 3, &payload(number, (number * 11 % 300) as usize)).unwrap();
            writer.count((number % 4) as usize);
            if number % 50 == 0 {
                sound(number);
            }
        }
    }
}

#[test]
fn many_frames_at_once_are_what_they_are_one_by_one() {
    let (before, disk) = recorded(2_000);
    let restored = |pieces: &[&[u8]]| {
        let directory = tempfile::tempdir().unwrap();
        let files = journal::JournalFiles::new(directory.path(), directory.path(), "t");
        let origin = Origin { first_position: before.first_position(), ..Origin::new(1) };
        let after = Journal::create_from(files, support::shape("t", SMALL), origin).unwrap();
        let mut writer = after.restoring_writer(Clock::monotonic()).unwrap();
        pieces.iter().for_each(|piece| writer.restore(piece).unwrap());
        let frames = writer.frames();
        writer.finish_restoring(history(&before));
        (frames, after.head(), all(&after, before.oldest_frame().unwrap()))
    };
    let single = single(&disk);
    assert_eq!(restored(&[&disk]), restored(&single));
    // Not all of a run follows: what is missing becomes one frame that is passed over.
    let (third, from_fifth) = (single[..3].concat(), single[4..].concat());
    let gap = restored(&[&[third, from_fifth].concat()]);
    assert_eq!((gap.0, gap.1), (single.len() as u64, before.head()));
}

#[test]
fn what_is_no_frame_and_a_cursor_into_nothing_are_refused() {
    let (before, disk) = recorded(100);
    let origin = Origin { first_position: before.first_position(), ..Origin::new(1) };
    let directory = tempfile::tempdir().unwrap();
    let files = journal::JournalFiles::new(directory.path(), directory.path(), "t");
    let after = Journal::create_from(files, support::shape("t", SMALL), origin).unwrap();
    let mut writer = after.writer(0, clock()).unwrap();
    let cut = writer.restore(&disk[..disk.len() - 64]);
    assert!(matches!(cut, Err(RestoreError::NoFrame { .. })), "{cut:?}");
    writer.finish_restoring(history(&before));
    assert!(after.restore_cursor(READER, after.head() + 64, 0).is_err());
    assert!(after.restore_cursor(READER, after.first_position() - 64, 0).is_err());
}
