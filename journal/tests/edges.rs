//! Single cases at the limits: the last line, the smallest ring, the last position, the longest sleep.
#![cfg(not(miri))] // Files and processes.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use journal::{Gap, Journal, OpenError, ReadError, WriteError, layout};
use support::{SMALL, clock, payload, payload_of_frame, peek, poke};

#[test]
fn a_frame_may_end_exactly_at_the_wrap() {
    let (_directory, _files, journal) = support::journal(SMALL);
    let (mut gated, mut loose) = (journal.gated(0).unwrap(), journal.loose(1).unwrap());
    let mut writer = journal.writer(0, clock()).unwrap();
    for round in 0..20 {
        // Eight frames of an eighth each: the last of them ends with the ring.
        for eighth in 0..8 {
            let body = payload(round * 8 + eighth, payload_of_frame(SMALL / 8));
            let written = writer.write(1, 0, &body).unwrap();
            assert_eq!(written.position % SMALL, eighth * SMALL / 8);
            assert_eq!(gated.read().unwrap().unwrap().payload, body);
            assert_eq!(loose.read().unwrap().unwrap().payload, body);
        }
        assert_eq!(writer.position() % SMALL, 0);
    }
}

#[test]
fn the_largest_frame_of_the_smallest_and_of_a_large_ring() {
    for capacity in [SMALL, 16 << 20] {
        let (_directory, _files, journal) = support::journal(capacity);
        let most = layout::max_payload(capacity) as usize;
        assert_eq!(most as u64, (capacity / 8).min(1 << 20) - 32);
        let mut reader = journal.gated(0).unwrap();
        let mut writer = journal.writer(0, clock()).unwrap();
        // One line first, so that the large ones straddle the wrap.
        writer.write(1, 0, &[]).unwrap();
        assert!(reader.read().unwrap().is_some());
        for round in 0..40 {
            let body = payload(round, most);
            writer.write(1, 0, &body).unwrap();
            assert_eq!(reader.read().unwrap().unwrap().payload, body);
        }
        assert_eq!(
            writer.write(1, 0, &vec![0; most + 1]),
            Err(WriteError::TooLarge { size: most + 1, max: most as u64 })
        );
    }
}

#[test]
fn sizes_out_of_range_are_refused() {
    let directory = support::directory();
    for capacity in [0, 1, 4096, SMALL - 1, SMALL / 2, SMALL + 64, 128 << 30, u64::MAX] {
        let made = Journal::create(support::files(&directory, "t"), support::shape("t", capacity), 1);
        assert!(made.unwrap_err().to_string().contains("64 KiB to 64 GiB"));
    }
    for (seats, topics) in [(0, 1), (1, 1), (65, 1), (1088, 1), (64, 0), (64, 4097)] {
        let shape = journal::JournalShape { seats, topics, ..support::shape("t", SMALL) };
        assert!(Journal::create(support::files(&directory, "t"), shape, 1).is_err(), "{seats} {topics}");
    }
    for name in ["", ".", "../t", "T", "a/b", &"n".repeat(64)] {
        assert!(Journal::create(support::files(&directory, "t"), support::shape(name, SMALL), 1).is_err());
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left behind");
}

/// A journal at `position`, as if that many bytes had been written.
fn aged(position: u64) -> (tempfile::TempDir, Journal) {
    let (directory, files, _) = support::journal(SMALL);
    poke(&files.control, layout::control::HEAD, position);
    poke(&files.control, layout::control::INTENT, position);
    let journal = Journal::open(files).unwrap();
    (directory, journal)
}

/// Positions end at 2^63. Below that everything works as usual; at the end the journal is full for ever, and nothing
/// overflows.
#[test]
fn the_last_position_of_all() {
    let last = layout::MAX_POSITION;
    let (_directory, journal) = aged(last - 10 * 64);
    let (mut gated, mut loose) = (journal.gated(0).unwrap(), journal.loose(1).unwrap());
    let mut writer = journal.writer(0, clock()).unwrap();
    for number in 0..9 {
        writer.write(number, 0, &[]).unwrap();
        assert_eq!(gated.read().unwrap().unwrap().message_id, number);
        assert_eq!(loose.read().unwrap().unwrap().message_id, number);
    }
    for _ in 0..3 {
        assert_eq!(writer.write(9, 0, &[]), Err(WriteError::Full { needed: 64, free: 0 }));
        assert_eq!((gated.read(), loose.read()), (Ok(None), Ok(None)));
    }
    assert_eq!(writer.position(), last - 64);
    drop(writer);
    let mut writer = journal.writer(0, clock()).unwrap();
    assert!(matches!(writer.write(9, 0, &[]), Err(WriteError::Full { .. })));
}

#[test]
fn a_lap_near_the_last_position_is_a_gap_as_ever() {
    let start = layout::MAX_POSITION - 4 * SMALL;
    let (_directory, journal) = aged(start);
    let mut loose = journal.loose(1).unwrap();
    let mut writer = journal.writer(0, clock()).unwrap();
    while writer.write(1, 0, &[0; 500]).is_ok() {}
    let gap = Gap { from: start, resumed_at: writer.position() };
    assert_eq!(loose.read(), Err(ReadError::Lapped(gap)));
    assert!(gap.bytes() > 4 * SMALL - 1024);
}

#[test]
fn positions_past_the_last_are_damage() {
    for head in [layout::MAX_POSITION, u64::MAX - 63, u64::MAX, 0, 64, SMALL + 1] {
        let (_directory, journal) = aged(head);
        assert!(matches!(journal.writer(0, clock()), Err(OpenError::Damaged { .. })), "{head}");
        assert!(matches!(journal.gated(0), Err(OpenError::Damaged { .. })), "{head}");
        assert!(matches!(journal.oldest_frame(), Err(OpenError::Damaged { .. })), "{head}");
    }
}

#[test]
fn a_reader_may_sleep_through_many_laps() {
    let (_directory, _files, journal) = support::journal(SMALL);
    let (mut sleeper, mut gated) = (journal.loose(1).unwrap(), None);
    let mut writer = journal.writer(0, clock()).unwrap();
    for laps in [1_u64, 2, 3, 10, 500] {
        let from = sleeper.position();
        let target = from + laps * SMALL;
        let mut number = 0;
        while writer.position() < target {
            writer.write(1, 0, &payload(number, number as usize % 3_000)).unwrap();
            number += 1;
        }
        let gap = Gap { from, resumed_at: writer.position() };
        assert_eq!(sleeper.read(), Err(ReadError::Lapped(gap)));
        assert_eq!(sleeper.read(), Ok(None));
        writer.write(1, 0, b"awake").unwrap();
        assert_eq!(sleeper.read().unwrap().unwrap().payload, b"awake");
    }
    // A sleeping gated reader stops the writer after less than one.
    gated.replace(journal.gated(2).unwrap());
    let from = writer.position();
    while writer.write(1, 0, &[]).is_ok() {}
    assert_eq!(writer.position(), from + SMALL - 64);
}

/// The word that counts frames also holds the position it counts up to: a successor neither loses nor doubles a frame.
#[test]
fn a_frame_that_was_committed_but_not_counted_counts_once() {
    for counted in [false, true] {
        let (_directory, files, journal) = support::journal(SMALL);
        let mut writer = journal.writer(0, clock()).unwrap();
        writer.write(1, 0, &[1; 100]).unwrap();
        let (head, frames) = (writer.position(), peek(&files.control, layout::control::FRAMES));
        let second = writer.write(2, 0, &[2; 100]).unwrap();
        drop(writer);
        // The state after the writer was killed between its commit and its head.
        poke(&files.control, layout::control::HEAD, head);
        if !counted {
            poke(&files.control, layout::control::FRAMES, frames);
            poke(&files.control, layout::control::LAST_TIME, 0);
        }
        let mut writer = journal.writer(0, clock()).unwrap();
        let stat = journal.stat();
        assert_eq!((stat.frames, stat.head, stat.last_time), (2, head + 192, second.time), "{counted}");
        assert!(writer.write(3, 0, &[]).unwrap().time >= second.time);
        assert_eq!(journal.stat().frames, 3);
    }
}

/// A clock that lags behind the last writer's: times within a journal do not decrease, however a frame is written.
#[test]
fn time_never_goes_back() {
    let (_directory, files, journal) = support::journal(SMALL);
    drop(journal.writer(0, clock()).unwrap());
    let future = clock().now() + 500_000_000;
    poke(&files.control, layout::control::LAST_TIME, future);
    let mut writer = journal.writer(0, clock()).unwrap();
    assert_eq!(writer.write(1, 0, &[]).unwrap().time, future);
    assert_eq!(writer.claim(1, 0, 0).unwrap().commit().time, future);
    let mut batch = writer.batch();
    batch.push(1, 0, &[]).unwrap();
    assert_eq!(batch.commit().unwrap().time, future);
    let mut reader = journal.loose_from_start().unwrap();
    while let Some(frame) = reader.read().unwrap() {
        assert_eq!(frame.time, future);
    }
    assert_eq!(journal.stat().last_time, future);
}

/// The intent may come up to exactly one ring ahead of a loose reader, and that is no lap yet.
#[test]
fn a_loose_reader_beside_a_gated_one_is_never_lapped() {
    let (_directory, files, journal) = support::journal(SMALL);
    let (mut gated, mut loose) = (journal.gated(0).unwrap(), journal.loose(1).unwrap());
    let mut writer = journal.writer(0, clock()).unwrap();
    for _ in 0..5 {
        while writer.write(1, 0, &[]).is_ok() {}
        assert_eq!(peek(&files.control, layout::control::INTENT), loose.position() + SMALL);
        for _ in 0..SMALL / 64 - 1 {
            assert_eq!(loose.read().unwrap(), gated.read().unwrap());
        }
        assert_eq!((loose.read(), gated.read()), (Ok(None), Ok(None)));
    }
}

/// An end of the journal that no writer leaves behind stops a new writer.
#[test]
fn an_end_that_no_writer_leaves_is_damage() {
    let most = layout::max_payload(SMALL);
    for (commit, length, says) in [
        (Some(7), 0, "is not clear"),
        (None, most + 1, "claims 8161 bytes"),
        (None, u64::from(u32::MAX), "claims 4294967295 bytes"),
    ] {
        let (_directory, files, journal) = support::journal(SMALL);
        let mut writer = journal.writer(0, clock()).unwrap();
        writer.write(1, 0, &[1; 100]).unwrap();
        let end = writer.position();
        drop(writer);
        let line = (end % SMALL) as usize / 8;
        poke(&files.ring, line + layout::frame::COMMIT, commit.unwrap_or(end));
        poke(&files.ring, line + layout::frame::SHAPE, length);
        let error = journal.writer(0, clock()).unwrap_err();
        assert!(matches!(error, OpenError::Damaged { .. }) && error.to_string().contains(says), "{error}");
    }
}

/// A caller's own time is taken, but never one before the last frame's: in single frames, claims and batches.
#[test]
fn a_callers_time_never_goes_back() {
    let (_directory, _files, journal) = support::journal(SMALL);
    let mut writer = journal.writer(0, clock()).unwrap();
    let now = writer.write(1, 0, &[]).unwrap().time;
    let mut expected = vec![now];
    for (given, taken) in [(now - 1, now), (now + 5, now + 5), (0, now + 5), (now + 9, now + 9)] {
        let written = writer.write_at(given, 1, 0, b"alone").unwrap();
        let mut claim = writer.claim(1, 0, 40).unwrap();
        claim.put(&[1; 40]).unwrap();
        let claimed = claim.commit_at(given);
        let mut batch = writer.batch();
        for length in [0, 33, 100] {
            batch.push(1, 0, &[2; 100][..length]).unwrap();
        }
        let batched = batch.commit_at(given).unwrap();
        let mut begun = writer.batch_at(given);
        for length in [0, 33, 100] {
            begun.push(1, 0, &[2; 100][..length]).unwrap();
        }
        let begun = begun.commit().unwrap();
        assert_eq!([written.time, claimed.time, batched.time, begun.time], [taken; 4], "{given}");
        expected.extend([taken; 8]);
    }
    assert_eq!(writer.batch().commit_at(now + 100), None);
    let mut reader = journal.loose_from_start().unwrap();
    let mut found = Vec::new();
    reader.read_batch(100, |frame| found.push(frame.time)).unwrap();
    assert_eq!(found, expected);
    assert!(journal.verify().is_clean());
}
