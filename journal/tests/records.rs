//! Several messages of one size in one frame.
#![cfg(not(miri))] // Files and processes.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use journal::{Frame, JournalShape, ReadError, WriteError, layout};
use support::{SMALL, clock};

/// Bytes of the record with this number: all derived from it.
fn record(number: u64, size: usize) -> Vec<u8> {
    (0..size as u64).map(|byte| (number * 31 + byte * 7) as u8).collect()
}

#[test]
fn records_of_any_size_arrive_whole_at_the_positions_that_their_writer_was_told() {
    let (_directory, _files, journal) = support::journal(SMALL);
    let (mut gated, mut loose) = (journal.gated(0).unwrap(), journal.loose(1).unwrap());
    let mut writer = journal.writer(0, clock()).unwrap();
    let (mut number, mut frames, mut wraps) = (0, 0, 0);
    for round in 0..40 {
        for size in [1, 7, 8, 15, 16, 17, 31, 32, 33, 48, 64, 100, 128, 1_000, 8_160] {
            let most = 1 + (number as usize * 5 + round) % 70;
            let mut expected = Vec::new();
            let mut records = writer.claim_records(9, round as u32 % 16, size, most).unwrap();
            loop {
                match records.push(&record(number, size)) {
                    Ok(position) => expected.push((position, record(number, size))),
                    Err(WriteError::BatchFull { .. }) => break,
                    Err(error) => panic!("{error}"),
                }
                number += 1;
            }
            let largest = layout::max_payload(SMALL) as usize / size;
            assert_eq!(expected.len(), most.min(largest), "all of the room is used");
            let written = records.commit().unwrap();
            let check = |frame: Frame<'_>| {
                assert_eq!((frame.position, frame.time), (written.position, written.time));
                assert_eq!(usize::from(frame.flags), size);
                assert!(
                    frame.records().eq(expected.iter().map(|(position, record)| (*position, &record[..])))
                );
            };
            assert_eq!(expected[0].0, written.position + layout::frame::HEADER_BYTES);
            check(gated.read().unwrap().unwrap());
            check(loose.read().unwrap().unwrap());
            frames += 1;
            wraps = writer.position() / SMALL - 1;
        }
        assert!(journal.verify().is_clean(), "{:?}", journal.verify());
    }
    println!("{number} records in {frames} frames, {wraps} wraps");
    assert!(wraps > 10);
}

#[test]
fn a_frame_without_records_is_its_one_message() {
    let (_directory, _files, journal) = support::journal(SMALL);
    let mut reader = journal.gated(0).unwrap();
    let mut writer = journal.writer(0, clock()).unwrap();
    for payload in [&b"a message"[..], b""] {
        let position = writer.write(1, 0, payload).unwrap().position;
        let frame = reader.read().unwrap().unwrap();
        assert_eq!(frame.records().collect::<Vec<_>>(), [(position, payload)]);
    }
}

#[test]
fn what_is_refused_or_dropped_leaves_nothing_behind() {
    let (_directory, _files, journal) = support::journal(SMALL);
    let mut writer = journal.writer(0, clock()).unwrap();
    let head = journal.head();
    for size in [0, 0x4000, 100_000] {
        let refused = writer.claim_records(1, 0, size, 4).unwrap_err();
        assert_eq!(refused, WriteError::RecordSize { size, least: 1, most: 0x3fff });
    }
    // A size that records may have, but not in this journal.
    let max = layout::max_payload(SMALL);
    assert_eq!(writer.claim_records(1, 0, 9_000, 1).unwrap_err(), WriteError::TooLarge { size: 9_000, max });
    assert!(matches!(writer.claim_records(1, 16, 8, 1), Err(WriteError::NoSuchTopic { .. })));
    let mut records = writer.claim_records(1, 0, 8, 0).unwrap();
    for size in [0, 7, 9] {
        let refused = records.push(&vec![1; size]);
        assert_eq!(refused, Err(WriteError::RecordSize { size, least: 8, most: 8 }));
    }
    records.push(&[1; 8]).unwrap();
    assert_eq!(records.push(&[2; 8]), Err(WriteError::BatchFull { max: 64 }));
    drop(records);
    assert_eq!(writer.claim_records(1, 0, 8, 5).unwrap().commit(), None);
    assert_eq!((journal.head(), writer.frames()), (head, 0));
    assert_eq!(writer.claim_records(1, 0, 8, 5).unwrap().commit_at(7), None);
}

/// Near a full ring there is room for some of the records, and they are written.
#[test]
fn as_many_are_claimed_as_there_is_room_for() {
    let (_directory, _files, journal) = support::journal(SMALL);
    let mut reader = journal.gated(0).unwrap();
    let mut writer = journal.writer(0, clock()).unwrap();
    let (mut written, mut last) = (0, 0);
    let refused = loop {
        match writer.claim_records(1, 0, 128, 60) {
            Ok(mut records) => {
                last = 0;
                while records.push(&[7; 128]).is_ok() {
                    last += 1;
                }
                written += last;
                records.commit().unwrap();
            }
            Err(error) => break error,
        }
    };
    assert!((1..60).contains(&last), "the last frame holds {last}");
    let WriteError::Full { needed, free } = refused else { panic!("{refused}") };
    assert!(needed == 192 && free < needed, "{refused}");
    let mut read = 0;
    while let Some(frame) = reader.read().unwrap() {
        read += frame.records().filter(|(_, record)| *record == [7; 128]).count();
    }
    assert_eq!(read, written);
    assert!(written as u64 * 128 > SMALL * 9 / 10, "{written} records");
    assert!(writer.claim_records(1, 0, 128, 60).is_ok());
}

/// A lapped reader loses whole frames; a copy made across the gap has every record where its source has it.
#[test]
fn records_across_a_lap_and_in_a_copy_keep_their_positions() {
    let directory = support::directory();
    let journal = |id, name: &str| {
        let shape = JournalShape { id, ..support::shape(name, SMALL) };
        journal::Journal::create(support::files(&directory, name), shape, 0).unwrap()
    };
    let (source, copy) = (journal(1, "source"), journal(2, "copy"));
    let (mut reader, mut copied) = (source.loose(1).unwrap(), copy.gated(1).unwrap());
    let mut writer = source.writer(0, clock()).unwrap();
    let mut bridge = copy.writer(0, clock()).unwrap();
    let (mut laps, mut compared) = (0, 0);
    for round in 0..30_u8 {
        for frame in 0..(if round % 5 == 4 { 100 } else { 7 }) {
            let mut records = writer.claim_records(u16::from(round), 0, 24, 50).unwrap();
            while records.push(&[round ^ frame; 24]).is_ok() {}
            records.commit().unwrap();
        }
        loop {
            match reader.read() {
                Ok(Some(frame)) => {
                    while bridge.skip_to(frame.position).is_err() {
                        assert_eq!(copied.read(), Ok(None), "nothing but the gap");
                    }
                    bridge.append(frame.header(), frame.payload).unwrap();
                    let twin = copied.read().unwrap().unwrap();
                    assert!(frame.records().eq(twin.records()));
                    compared += twin.records().count();
                }
                Ok(None) => break,
                Err(ReadError::Lapped(_)) => laps += 1,
                Err(error) => panic!("{error}"),
            }
        }
        assert!(copy.verify().is_clean() && source.verify().is_clean());
    }
    println!("{compared} records equal, {laps} laps");
    assert!(laps > 3 && compared > 1_000);
}
