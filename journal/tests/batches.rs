//! Batches and claims at their limits.
#![cfg(not(miri))] // Files and processes.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use journal::wait::{Parker, Wakeup, announce};
use journal::{Journal, JournalShape, Merge, ReadError, Reader, Registry, WriteError, Writer, layout};
use support::{SMALL, Watchdog, clock, forged, payload, peek, poke};

/// Writes frames that fill the ring up to `lines` lines before its end.
fn advance_to_lines_before_the_wrap(writer: &mut Writer, lines: u64) {
    while writer.position() % SMALL != SMALL - lines * 64 {
        // A reader that comes here finds commit words of the next lap.
        let body = forged(writer.position(), SMALL, 1, 32);
        writer.write(1, 0, &body).unwrap();
    }
}

#[test]
fn a_batch_may_end_exactly_at_the_wrap_or_go_over_it() {
    let (_directory, _files, journal) = support::journal(SMALL);
    let mut writer = journal.writer(0, clock()).unwrap();
    let mut cases = 0;
    for round in 0..2 {
        for (before, frames) in
            [(1, 1), (2, 2), (6, 3), (9, 3), (1, 4), (3, 5), (128, 64), (127, 64), (60, 64)]
        {
            advance_to_lines_before_the_wrap(&mut writer, before);
            let mut gated = journal.gated(0).unwrap();
            let mut loose = journal.loose(1).unwrap();
            let mut batch = writer.batch();
            // Two lines each, all of them commit words of this lap or the next.
            let mut position = gated.position();
            let start = position;
            let bodies: Vec<_> = (0..frames)
                .map(|_| {
                    let body = forged(position, SMALL, round, 90);
                    assert_eq!(batch.push(7, 3, &body), Ok(position));
                    position += 128;
                    body
                })
                .collect();
            assert_eq!((gated.read(), loose.read()), (Ok(None), Ok(None)), "not before its commit");
            let written = batch.commit().unwrap();
            assert_eq!((written.position, journal.head()), (start, position));
            for (number, body) in bodies.iter().enumerate() {
                for frame in [gated.read().unwrap().unwrap(), loose.read().unwrap().unwrap()] {
                    assert_eq!((frame.position, frame.time), (start + number as u64 * 128, written.time));
                    assert!(frame.payload == body);
                }
            }
            assert_eq!((gated.read(), loose.read()), (Ok(None), Ok(None)));
            drop(gated);
            journal.dismiss(0).unwrap();
            cases += 1;
        }
    }
    assert!(journal.verify().is_clean());
    println!("{cases} batches about the wrap");
}

#[test]
fn the_longest_batch() {
    for capacity in [SMALL, 64 << 20] {
        let (_directory, _files, journal) = support::journal(capacity);
        let mut reader = journal.gated(0).unwrap();
        let mut writer = journal.writer(0, clock()).unwrap();
        let most = layout::batch_bytes(capacity);
        assert_eq!(most, (capacity / 8).min(2 << 20));
        for round in 0..10 {
            let mut batch = writer.batch();
            for number in 0..most / 64 {
                batch.push(number as u16, 0, &[round]).unwrap();
            }
            let full = WriteError::BatchFull { max: most };
            assert_eq!(batch.push(99, 0, b"too much"), Err(full));
            assert_eq!(batch.frames(), most / 64);
            batch.commit().unwrap();
            // The refused frame goes into the next batch.
            let mut batch = writer.batch();
            batch.push(99, 0, b"too much").unwrap();
            batch.commit().unwrap();
            let mut ids = Vec::new();
            while reader.read_batch(100, |frame| ids.push(frame.message_id)).unwrap() > 0 {}
            assert!(ids.iter().copied().eq((0..most / 64).map(|number| number as u16).chain([99])));
        }
        // One frame of the largest payload fits, however long that is.
        let mut batch = writer.batch();
        batch.push(1, 0, &vec![7; layout::max_payload(capacity) as usize]).unwrap();
        batch.commit().unwrap();
        assert!(reader.read().unwrap().unwrap().payload.iter().all(|&byte| byte == 7));
    }
}

#[test]
fn refusals_leave_the_batch_as_it_was() {
    let (_directory, _files, journal) = support::journal(SMALL);
    journal.admit_gated(0).unwrap();
    let mut writer = journal.writer(0, clock()).unwrap();
    // All but four lines, one of which stays clear.
    while writer.position() < 2 * SMALL - 4 * 64 {
        writer.write(1, 0, &[]).unwrap();
    }
    let mut batch = writer.batch();
    batch.push(2, 0, &[2; 96]).unwrap();
    assert_eq!(batch.push(3, 0, &[3; 96]), Err(WriteError::Full { needed: 256, free: 192 }));
    let most = layout::max_payload(SMALL);
    let too_large = WriteError::TooLarge { size: most as usize + 1, max: most };
    assert_eq!(batch.push(3, 0, &vec![3; most as usize + 1]), Err(too_large));
    assert_eq!(batch.push(3, 16, &[]), Err(WriteError::NoSuchTopic { topic: 16, topics: 16 }));
    batch.push(4, 0, &[4]).unwrap();
    assert_eq!(batch.push(5, 0, &[]), Err(WriteError::Full { needed: 256, free: 192 }));
    assert_eq!(batch.frames(), 2);
    batch.commit().unwrap();
    assert_eq!(writer.claim(6, 0, 0).unwrap_err(), WriteError::Full { needed: 64, free: 0 });
    assert_eq!(writer.batch().commit(), None);
    assert!(writer.batch().push(6, 0, &[]).is_err());
    let mut reader = journal.gated(0).unwrap();
    let mut ids = Vec::new();
    reader.read_batch(usize::MAX, |frame| ids.push(frame.message_id)).unwrap();
    assert!(ids.ends_with(&[1, 2, 4]), "{:?}", &ids[ids.len() - 3..]);
    assert!(writer.claim(6, 0, 0).is_ok(), "room again");
}

/// After a drop the journal is as if the frames had never been written, wherever they began.
#[test]
fn what_is_dropped_never_was() {
    let (_directory, _files, journal) = support::journal(SMALL);
    let (mut gated, mut loose) = (journal.gated(0).unwrap(), journal.loose(1).unwrap());
    let mut writer = journal.writer(0, clock()).unwrap();
    for number in 0..5_000_u64 {
        let size = number as usize * 7 % 300;
        match number % 3 {
            0 => {
                let mut batch = writer.batch();
                for _ in 0..20 {
                    batch.push(99, 0, &payload(number, size)).unwrap();
                }
            }
            1 => writer.claim(99, 0, 4_000).unwrap().put(&forged(gated.position(), SMALL, 0, 4_000)).unwrap(),
            _ => {}
        }
        let position = writer.position();
        assert_eq!((journal.head(), gated.read(), loose.read()), (position, Ok(None), Ok(None)));
        let body = payload(number, number as usize * 13 % 200);
        writer.write(1, 0, &body).unwrap();
        for frame in [gated.read().unwrap().unwrap(), loose.read().unwrap().unwrap()] {
            assert_eq!((frame.position, frame.message_id), (position, 1));
            assert!(frame.payload == body);
        }
    }
    assert_eq!(journal.stat().frames, 5_000);
    let report = journal.verify();
    assert!(report.is_clean(), "{:#?}", report.findings);
}

#[test]
fn a_claim_is_filled_in_pieces_of_any_size() {
    let (_directory, _files, journal) = support::journal(SMALL);
    let (mut gated, mut loose) = (journal.gated(0).unwrap(), journal.loose(1).unwrap());
    let mut writer = journal.writer(0, clock()).unwrap();
    let mut claims = 0;
    for length in (0..200).chain([4_000, layout::max_payload(SMALL) as usize]) {
        for piece in [1, 3, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100, 8_192] {
            let body = payload(length as u64, length);
            let room = (length + piece % 5).min(layout::max_payload(SMALL) as usize);
            let mut claim = writer.claim(9, 2, room).unwrap();
            for piece in body.chunks(piece) {
                claim.put(piece).unwrap();
            }
            assert_eq!(claim.room(), room - length);
            let refused = claim.put(&[0xee; 6]).unwrap_err();
            assert!(matches!(refused, WriteError::PastClaim { .. }), "{refused}");
            assert!(refused.to_string().contains("were claimed"), "{refused}");
            let written = claim.commit();
            for frame in [gated.read().unwrap().unwrap(), loose.read().unwrap().unwrap()] {
                assert_eq!((frame.position, frame.time), (written.position, written.time));
                assert_eq!((frame.message_id, frame.topic), (9, 2));
                assert!(frame.payload == body, "{length} bytes in pieces of {piece}");
            }
            claims += 1;
        }
    }
    // As a stream: it accepts what fits.
    let mut claim = writer.claim(9, 2, 5).unwrap();
    assert_eq!(claim.write(b"abcdefgh").unwrap(), 5);
    assert_eq!(claim.write(b"ijk").unwrap(), 0);
    assert!(claim.write_all(b"l").is_err());
    claim.commit();
    gated.publish();
    assert_eq!(gated.read().unwrap().unwrap().payload, b"abcde");
    println!("{claims} claims");
}

/// The state after the writer was killed between the commit of a batch and its head.
#[test]
fn a_batch_that_was_committed_but_not_counted_counts_once() {
    for frames in [1, 2, 5, 128] {
        for counted in [false, true] {
            let (_directory, files, journal) = support::journal(SMALL);
            let mut writer = journal.writer(0, clock()).unwrap();
            writer.write(1, 0, &[1; 100]).unwrap();
            let (head, before) = (writer.position(), peek(&files.control, layout::control::FRAMES));
            let mut batch = writer.batch();
            for _ in 0..frames {
                batch.push(2, 0, &[]).unwrap();
            }
            let written = batch.commit().unwrap();
            drop(writer);
            poke(&files.control, layout::control::HEAD, head);
            if !counted {
                poke(&files.control, layout::control::FRAMES, before);
                poke(&files.control, layout::control::LAST_TIME, 0);
            }
            let mut writer = journal.writer(0, clock()).unwrap();
            let stat = journal.stat();
            assert_eq!(
                (stat.frames, stat.head, stat.last_time),
                (1 + frames, head + frames * 64, written.time),
                "{counted}"
            );
            assert!(writer.write(3, 0, &[]).unwrap().time >= written.time);
        }
    }
}

#[test]
fn at_the_last_position_of_all_a_batch_and_a_claim_are_full() {
    let (_directory, files, _) = support::journal(SMALL);
    let start = layout::MAX_POSITION - 4 * 64;
    poke(&files.control, layout::control::HEAD, start);
    poke(&files.control, layout::control::INTENT, start);
    let journal = Journal::open(files).unwrap();
    let mut writer = journal.writer(0, clock()).unwrap();
    let mut batch = writer.batch();
    batch.push(1, 0, &[0; 96]).unwrap();
    batch.push(1, 0, &[]).unwrap();
    assert!(matches!(batch.push(1, 0, &[]), Err(WriteError::Full { .. })));
    batch.commit().unwrap();
    assert!(matches!(writer.claim(1, 0, 0), Err(WriteError::Full { .. })));
    assert_eq!(writer.position(), layout::MAX_POSITION - 64);
}

/// A batch wakes every seat that wants one of its topics, however many there are, and no other.
#[test]
fn a_batch_wakes_who_wants_one_of_its_topics() {
    let directory = support::directory();
    let files = support::files(&directory, "t");
    let shape = journal::JournalShape { topics: 64, ..support::shape("t", SMALL) };
    let journal = Journal::create(files, shape, 1).unwrap();
    let path = directory.path().join("registry");
    let registry = Arc::new(Registry::create(&path, 64, clock()).unwrap());
    let is_parked = |seat: usize| {
        use layout::registry::{RECORD_WORDS, RECORDS, WAIT};
        peek(&path, RECORDS + seat * RECORD_WORDS + WAIT) == 1
    };
    let watchdog = Watchdog::start("sleepers", Duration::from_secs(120));
    for seat in 0..4 {
        // Topics 10, 20, 30 and 40.
        journal.set_interest(seat, Some(&[(seat + 1) * 10])).unwrap();
    }
    announce(&registry);
    let mut writer = journal.writer(9, clock()).unwrap();
    writer.wake_through(Arc::clone(&registry));
    let wake_all = |seat| journal::wait::wake(&registry, seat);
    for (topics, woken) in [
        (vec![10, 11, 10], [true, false, false, false]),
        (vec![20, 30, 20, 30], [false, true, true, false]),
        ((0..16).collect(), [true, false, false, false]),
        // More topics than a batch distinguishes: every seat is woken.
        ((0..17).collect(), [true, true, true, true]),
        ((0..64).collect(), [true, true, true, true]),
    ] {
        let asleep: Vec<_> = (0..4).map(|seat| Parker::new(Arc::clone(&registry), seat).unwrap()).collect();
        let seen: Vec<_> = std::thread::scope(|scope| {
            let sleeping: Vec<_> = asleep
                .iter()
                .map(|parker| scope.spawn(|| parker.park(Duration::from_secs(60), || false)))
                .collect();
            while !(0..4).all(is_parked) {
                std::thread::yield_now();
            }
            let before = journal.stat().wakes;
            let mut batch = writer.batch();
            for &topic in &topics {
                batch.push(1, topic, &[]).unwrap();
            }
            batch.commit().unwrap();
            let told = journal.stat().wakes - before;
            // Those still asleep are woken by the test.
            let late: Vec<_> = (0..4).map(|seat| !wake_all(seat)).collect();
            assert!(sleeping.into_iter().all(|thread| thread.join().unwrap() == Some(Wakeup::Woken)));
            assert_eq!(told, late.iter().filter(|&&woken| woken).count() as u64);
            late
        });
        assert_eq!(seen, woken, "{topics:?}");
    }
    watchdog.stop();
}

/// A writer that dies in its longest batch has touched bytes that its successor's small frame would not declare: the
/// declared intent must stay, or a loose reader there would take them for an old frame's.
#[test]
fn what_a_dead_writer_declared_stays_declared() {
    let (_directory, files, journal) = support::journal(SMALL);
    let intent = || peek(&files.control, layout::control::INTENT);
    let mut writer = journal.writer(0, clock()).unwrap();
    let mut batch = writer.batch();
    while batch.push(1, 0, &[]).is_ok() {}
    drop(batch);
    drop(writer);
    let declared = intent();
    assert_eq!(declared, journal.head() + layout::batch_bytes(SMALL) + 64);
    journal.writer(0, clock()).unwrap().write(1, 0, &[]).unwrap();
    assert_eq!(intent(), declared);
}

/// A batch is stamped when it becomes visible. Stamped when it began, it would lie before what was read since.
#[test]
fn an_answer_in_a_batch_begun_before_its_cause_does_not_lie_before_it() {
    let directory = support::directory();
    let journal = |id, name: &str| {
        let shape = JournalShape { id, ..support::shape(name, SMALL) };
        Journal::create(support::files(&directory, name), shape, 0).unwrap()
    };
    let (orders, answers) = (journal(2, "orders"), journal(1, "answers"));
    let clock = clock();
    let mut asks = orders.writer(0, clock).unwrap();
    let mut answers_to = answers.writer(1, clock).unwrap();
    let mut reader = orders.gated(0).unwrap();
    // Frames of one size, and of several.
    for sizes in [[0, 0, 0, 0, 0], [100, 100, 100, 100, 100], [32, 33, 0, 0, 90], [100, 0, 0, 0, 0]] {
        let mut batch = answers_to.batch();
        let mut causes = Vec::new();
        for (id, payload) in (0..).zip(sizes) {
            std::thread::sleep(Duration::from_millis(1));
            asks.write(id, 0, b"please").unwrap();
            let cause = reader.read().unwrap().unwrap();
            causes.push(cause.time);
            batch.push(cause.message_id, 0, &[1; 100][..payload]).unwrap();
        }
        let written = batch.commit().unwrap();
        assert!(causes.iter().all(|&cause| cause <= written.time), "{causes:?}, {written:?}");
    }
    let mut merge = Merge::new(vec![
        Reader::Loose(orders.loose_from_start().unwrap()),
        Reader::Loose(answers.loose_from_start().unwrap()),
    ]);
    let (mut asked, mut answered) = (0, 0);
    while let Some((journal, frame)) = merge.next().unwrap() {
        if journal == 0 {
            asked += 1;
        } else {
            answered += 1;
            assert!(answered <= asked, "answer {answered} to {asked} at {}", frame.time);
        }
    }
    assert_eq!((asked, answered), (20, 20));
    assert!(answers.verify().is_clean());
}

/// A loose reader that takes frames in bulk is overtaken in the middle of them: what it was given and what it is told that it lost are
/// all there is.
#[test]
fn frames_in_bulk_and_gaps_leave_nothing_out() {
    const FRAMES: u64 = 300_000;
    let watchdog =
        Watchdog::start("reading in bulk beside a writer that overtakes", Duration::from_secs(120));
    let (_directory, _files, journal) = support::journal(SMALL);
    let mut writer = journal.writer(0, clock()).unwrap();
    let mut reader = journal.loose(1).unwrap();
    let (mut position, end) = (reader.position(), reader.position() + FRAMES * 128);
    let (mut chunks, mut gaps) = (0_u64, 0_u64);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for number in 0..FRAMES {
                writer.write(1, 0, &number.to_le_bytes().repeat(5)).unwrap();
                // The reader gets near it now and then, and in between it runs up to the reader from behind.
                if number % 700 < number / 700 % 100 && number % 20 == 0 {
                    std::thread::sleep(Duration::from_micros(1));
                }
            }
        });
        let mut copy = Vec::new();
        while position < end {
            copy.clear();
            match reader.read_frames(400, 1 << 20, &mut copy) {
                Ok(Some((first, frames))) => {
                    assert_eq!(
                        (first, copy.len() as u64),
                        (position, frames * 128),
                        "behind chunk {chunks}, gap {gaps}"
                    );
                    position += frames * 128;
                    chunks += 1;
                }
                Ok(None) => {}
                Err(ReadError::Lapped(gap)) => {
                    assert_eq!((gap.from, reader.position()), (position, gap.resumed_at), "gap {gaps}");
                    position = gap.resumed_at;
                    gaps += 1;
                }
                Err(error) => panic!("{error}"),
            }
        }
    });
    watchdog.stop();
    println!("{chunks} chunks and {gaps} gaps are {FRAMES} frames");
    assert!(chunks > 0);
}
