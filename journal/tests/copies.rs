//! Journals that are written from another one: frames with their source's times, and gaps that readers pass over.
#![cfg(not(miri))] // Files and processes.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use journal::tools::Backlog;
use journal::{FrameHeader, Journal, JournalShape, ReadError, WriteError, Writer, layout};
use support::{SMALL, clock};
use tempfile::TempDir;

struct Pair {
    _directory: TempDir,
    source: Journal,
    copy: Journal,
}

fn pair() -> Pair {
    let directory = support::directory();
    let journal = |id, name: &str| {
        let shape = JournalShape { id, ..support::shape(name, SMALL) };
        Journal::create(support::files(&directory, name), shape, 0).unwrap()
    };
    Pair { source: journal(1, "source"), copy: journal(2, "copy"), _directory: directory }
}

/// What must be equal in both journals.
type Seen = (u64, u64, u16, u32, Vec<u8>);

fn seen(frame: &journal::Frame<'_>) -> Seen {
    (frame.position, frame.time, frame.message_id, frame.topic, frame.payload.to_vec())
}

/// Writes `frames` frames, and appends to the copy what the reader still finds of them.
fn write(writer: &mut Writer, frames: u64, number: &mut u64) {
    for _ in 0..frames {
        let payload = vec![*number as u8; (*number * 37 % 300) as usize];
        writer.write(*number as u16, (*number % 16) as u32, &payload).unwrap();
        *number += 1;
    }
}

#[test]
fn a_copy_has_the_positions_and_times_of_its_source_across_gaps() {
    let Pair { source, copy, _directory } = pair();
    let mut origin = source.writer(0, clock()).unwrap();
    let mut bridge = source.loose(1).unwrap();
    let mut writer = copy.writer(0, clock()).unwrap();
    let (mut gated, mut loose) = (copy.gated(2).unwrap(), copy.loose(3).unwrap());
    let (mut expected, mut number, mut gaps) = (Vec::new(), 0, 0);
    let (mut by_gated, mut by_loose) = (Vec::new(), Vec::new());
    // Bursts that fit, and some that lap the bridge by less and by more than a ring.
    for burst in [5, 40, 600, 1, 3, 2_000, 7, 350] {
        write(&mut origin, burst, &mut number);
        loop {
            match bridge.read() {
                Ok(Some(frame)) => {
                    expected.push(seen(&frame));
                    writer.skip_to(frame.position).unwrap();
                    let written = writer.append(frame.header(), frame.payload).unwrap();
                    assert_eq!((written.position, written.time), (frame.position, frame.time));
                }
                Ok(None) => break,
                Err(ReadError::Lapped(gap)) => {
                    gaps += 1;
                    // The gated reader holds up the copy's writer, which resumes where it stopped.
                    while let Err(error) = writer.skip_to(gap.resumed_at) {
                        assert!(matches!(error, WriteError::Full { .. }), "{error}");
                        let before = gated.position();
                        while let Some(frame) = gated.read().unwrap() {
                            by_gated.push(seen(&frame));
                        }
                        assert!(gated.position() > before);
                    }
                }
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(copy.head(), source.head());
        gated.read_batch(usize::MAX, |frame| by_gated.push(seen(&frame))).unwrap();
        loop {
            match loose.read() {
                Ok(Some(frame)) => by_loose.push(seen(&frame)),
                Ok(None) => break,
                Err(ReadError::Lapped(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
        assert!(copy.verify().is_clean(), "{:?}", copy.verify());
    }
    assert!(gaps >= 2, "{gaps} gaps");
    assert_eq!(by_gated, expected);
    assert!(by_loose.iter().all(|frame| expected.contains(frame)) && by_loose.len() > 10);
    println!("{} frames copied, {gaps} gaps", expected.len());
}

#[test]
fn nobody_sees_what_fills_a_gap() {
    let Pair { copy, _directory, .. } = pair();
    let mut writer = copy.writer(0, clock()).unwrap();
    let (mut gated, mut peeking, mut loose) =
        (copy.gated(0).unwrap(), copy.gated(1).unwrap(), copy.loose(2).unwrap());
    let first = writer.write(1, 0, b"before").unwrap();
    let gap = writer.position();
    // Commit words of what was never committed lie in the gap.
    let mut batch = writer.batch();
    while batch.push(9, 9, b"never").is_ok() {}
    drop(batch);
    for target in [gap, gap + 64, gap + 128, gap + 20_000 / 64 * 64] {
        writer.skip_to(target).unwrap();
        assert_eq!(writer.position(), target);
    }
    let end = writer.position();
    for reader in [&mut gated, &mut peeking] {
        assert_eq!(reader.read().unwrap().map(|frame| frame.position), Some(first.position));
        assert_eq!(reader.peek_time().unwrap(), None);
        assert_eq!(reader.position(), end);
    }
    assert_eq!(loose.read_batch(9, |frame| assert_eq!(frame.position, first.position)), Ok(1));
    assert_eq!(loose.read(), Ok(None));
    assert_eq!(loose.position(), end);
    assert_eq!(
        copy.backlogs(&[first.position, gap, end]).unwrap(),
        [
            Some(Backlog { frames: 1, first_time: Some(first.time) }),
            Some(Backlog { frames: 0, first_time: None }),
            Some(Backlog { frames: 0, first_time: None })
        ]
    );
    let second = writer.write(2, 0, b"behind").unwrap();
    assert_eq!(second.position, end);
    assert_eq!(copy.backlogs(&[gap]).unwrap(), [Some(Backlog { frames: 1, first_time: Some(second.time) })]);
    assert_eq!(peeking.peek_time(), Ok(Some(second.time)));
    assert_eq!(gated.read().unwrap().map(|frame| frame.message_id), Some(2));
    assert_eq!(copy.oldest_frame().unwrap(), first.position);
    assert!(copy.verify().is_clean(), "{:?}", copy.verify());
    for target in [end - 64, second.position + 8, gap] {
        let refused = writer.skip_to(target).unwrap_err();
        assert!(
            matches!(refused, WriteError::NotAhead { position, next, .. } if (position, next) == (target, end + 64)),
            "{refused}"
        );
    }
}

/// A successor finds the end behind void and appended frames; what it stamps lies behind all of them.
#[test]
fn appended_times_may_go_back_and_stamped_ones_do_not() {
    let Pair { copy, _directory, .. } = pair();
    let mut writer = copy.writer(0, clock()).unwrap();
    let stamped = writer.write(1, 0, b"now").unwrap().time;
    let header = |time| FrameHeader { time, topic: 5, message_id: 3, flags: 0 };
    let times = [stamped - 1_000, stamped - 2_000, stamped + 1_000_000_000, 7];
    for time in times {
        assert_eq!(writer.append(header(time), b"then").map(|written| written.time), Ok(time));
    }
    writer.skip_to(writer.position() + 640).unwrap();
    assert!(copy.verify().is_clean(), "{:?}", copy.verify());
    drop(writer);
    let mut writer = copy.writer(0, clock()).unwrap();
    assert!(writer.write(1, 0, b"again").unwrap().time >= stamped + 1_000_000_000);
    assert!(copy.verify().is_clean(), "{:?}", copy.verify());
    let mut reader = copy.loose_from_start().unwrap();
    let mut found = Vec::new();
    reader.read_batch(99, |frame| found.push((frame.time, frame.flags))).unwrap();
    let found: Vec<_> = found[1..5].to_vec();
    assert_eq!(found, times.map(|time| (time, layout::frame::APPENDED)));
    assert_eq!(
        writer.append(FrameHeader { topic: 16, ..header(1) }, b""),
        Err(WriteError::NoSuchTopic { topic: 16, topics: 16 })
    );
}

#[test]
fn a_gap_that_can_only_be_a_mistake_is_refused() {
    let (_directory, _files, journal) = support::journal(SMALL);
    let mut writer = journal.writer(0, clock()).unwrap();
    let next = writer.position();
    for position in [1 << 63, 1 << 62, u64::MAX - 63, next + (1 << 40) + 64] {
        assert!(matches!(writer.skip_to(position), Err(journal::WriteError::NotAhead { .. })), "{position}");
    }
    assert_eq!(writer.position(), next);
}
