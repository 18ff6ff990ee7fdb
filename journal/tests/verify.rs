//! The verification finds every kind of damage, and reports none where there is none.
#![cfg(not(miri))] // Files and processes.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use std::path::Path;
use std::time::Duration;

use journal::layout::{self, control as at, frame};
use journal::tools::{VerifyReport, verify_files};
use journal::{Journal, JournalFiles, WriteError};
use proptest::prelude::*;
use support::{SMALL, Watchdog, clock, forged, journal, payload, peek, poke};

/// Index of the word at a position's byte.
fn word(position: u64) -> usize {
    (position % SMALL) as usize / 8
}

fn clean(journal: &Journal) -> VerifyReport {
    let report = journal.verify();
    assert!(report.is_clean(), "{:#?}", report.findings);
    report
}

/// `frames` frames of many lengths, some of them full of commit words; their positions.
fn fill(journal: &Journal, frames: u64) -> Vec<u64> {
    let mut writer = journal.writer(0, clock()).unwrap();
    (0..frames)
        .map(|number| {
            let length = (number.wrapping_mul(0x9e37_79b9) >> 7) as usize % 700;
            let body = match number % 3 {
                0 => forged(writer.position(), SMALL, 1, length),
                _ => payload(number, length),
            };
            writer.write(1, number as u32 % 16, &body).unwrap().position
        })
        .collect()
}

#[test]
fn whole_journals_verify_clean_and_the_report_says_what_was_looked_at() {
    let (_directory, files, journal) = journal(SMALL);
    let report = clean(&journal);
    assert_eq!((report.frames, report.bytes, report.oldest, report.head), (0, 0, SMALL, SMALL));
    journal.admit_gated(9).unwrap();
    let positions = fill(&journal, 40);
    let report = clean(&journal);
    assert_eq!((report.frames, report.oldest), (40, SMALL));
    assert_eq!(report.bytes, journal.head() - SMALL);
    let looked = |name: &str| report.checks.iter().find(|check| check.kind.as_str() == name).unwrap().count;
    for name in ["time", "epoch", "topic", "flags", "padding", "chain"] {
        assert!(looked(name) >= 40, "{name}: {}", looked(name));
    }
    assert!(report.checks.iter().all(|check| check.count > 0), "{:#?}", report.checks);
    // A reader in the middle, a second writer, many laps.
    let mut reader = journal.gated(9).unwrap();
    while reader.read().unwrap().is_some_and(|frame| frame.position < positions[20]) {}
    reader.publish();
    drop(reader);
    clean(&journal);
    journal.dismiss(9).unwrap();
    drop(journal.loose_at(4, positions[3]).unwrap());
    fill(&journal, 2_000);
    let report = clean(&journal);
    assert!(report.oldest > SMALL && report.frames > 50, "{report:?}");
    assert_eq!(verify_files(&files).unwrap().frames, report.frames);
}

/// One kind of damage: what it does to the files, which check must find it, and whether the finding has a position.
struct Damage {
    check: &'static str,
    does: fn(&JournalFiles, &[u64]),
}

fn control(files: &JournalFiles, index: usize, value: u64) {
    poke(&files.control, index, value);
}

/// Changes a word of the frame at `position`.
fn change(files: &JournalFiles, position: u64, offset: usize, change: impl Fn(u64) -> u64) {
    let index = word(position) + offset;
    poke(&files.ring, index, change(peek(&files.ring, index)));
}

const DAMAGES: &[Damage] = &[
    Damage { check: "header", does: |files, _| control(files, at::MAGIC, 1) },
    Damage { check: "header", does: |files, _| control(files, at::LAYOUT_HASH, 1) },
    Damage { check: "header", does: |files, _| control(files, at::CAPACITY, 3 * SMALL) },
    Damage { check: "header", does: |files, _| control(files, at::MAX_PAYLOAD, 1 << 40) },
    Damage { check: "ring", does: |files, _| resize(&files.ring, SMALL / 2) },
    Damage { check: "header", does: |files, _| control(files, at::FIRST, 3) },
    Damage { check: "marks", does: |files, at| control(files, at::MARKS + 5, at[7] + 64) },
    Damage { check: "marks", does: |files, _| control(files, at::MARKS + 9, 1 << 40) },
    Damage { check: "lock", does: |files, _| poke(&files.lock(), 1, 1) },
    Damage { check: "lock", does: |files, _| control(files, at::IDENTITY, 1) },
    Damage { check: "lock", does: |files, _| std::fs::remove_file(files.lock()).unwrap() },
    Damage { check: "lock", does: |files, _| resize(&files.lock(), 8) },
    Damage { check: "header", does: |files, _| control(files, at::NAME, u64::from(b'x')) },
    Damage { check: "tally", does: |files, _| control(files, at::TALLY + 3, 41) },
    Damage { check: "tally", does: |files, _| control(files, at::TALLY, u64::MAX) },
    Damage { check: "time", does: |files, _| add(files, at::LAST_TIME, 1) },
    Damage { check: "tables", does: |files, _| control(files, at::DURABLE, 1 << 11) },
    Damage { check: "tables", does: |files, _| control(files, at::INCARNATION, 0) },
    Damage {
        check: "cursors",
        does: |files, _| control(files, at::CURSORS + 9 * 8 + at::CURSOR_KEPT, 1 << 40),
    },
    Damage { check: "cursors", does: |files, _| control(files, at::CURSORS + 9 * 8 + at::CURSOR_KEPT, 64) },
    Damage { check: "tables", does: |files, _| control(files, at::DURABLE + 1, 1 << 5) },
    Damage { check: "tables", does: |files, _| control(files, at::DURABLE_WAITERS + 1, 1 << 5) },
    Damage { check: "writer", does: |files, _| control(files, at::WRITER_STATE, 3) },
    Damage { check: "writer", does: |files, _| control(files, at::WRITER, 1_000 << 32 | 1) },
    Damage { check: "head", does: |files, at| control(files, at::HEAD, at[30] + 8) },
    Damage { check: "head", does: |files, _| control(files, at::HEAD, 64) },
    Damage { check: "intent", does: |files, at| control(files, at::INTENT, at[30] + SMALL) },
    Damage { check: "intent", does: |files, at| control(files, at::INTENT, at[10]) },
    Damage { check: "chain", does: |files, at| change(files, at[7], frame::COMMIT, |_| 0) },
    Damage { check: "chain", does: |files, at| change(files, at[7], frame::COMMIT, |word| word + SMALL) },
    Damage {
        check: "chain",
        does: |files, at| change(files, at[7], frame::SHAPE, |word| word | 0xffff_ffff),
    },
    Damage { check: "chain", does: |files, at| change(files, at[7], frame::SHAPE, |word| word + 64) },
    Damage { check: "time", does: |files, at| change(files, at[7], frame::TIME, |_| 1) },
    Damage { check: "time", does: |files, _| control(files, at::LAST_TIME, 5) },
    Damage { check: "epoch", does: |files, at| change(files, at[7], frame::ORIGIN, |word| word + (1 << 32)) },
    Damage {
        check: "epoch",
        does: |files, at| change(files, at[7], frame::ORIGIN, |word| word & 0xffff_ffff),
    },
    Damage { check: "topic", does: |files, at| change(files, at[7], frame::ORIGIN, |word| word + 16) },
    Damage {
        check: "flags",
        does: |files, at| change(files, at[7], frame::SHAPE, |word| word | 0x3001 << 48),
    },
    Damage {
        check: "padding",
        does: |files, at| change(files, at[39], frame::HEADER_WORDS, |word| word | 1 << 63),
    },
    Damage { check: "end", does: |files, at| change(files, at[39] + 64, frame::COMMIT, |_| 7) },
    Damage { check: "count", does: |files, _| add(files, at::FRAMES, 1 << 16) },
    Damage { check: "count", does: |files, _| add(files, at::FRAMES, 1) },
    Damage { check: "cursors", does: |files, at| cursor(files, at[4] + 64 * 1_000_000) },
    Damage { check: "cursors", does: |files, at| cursor(files, at[4] + 1) },
    // The eleventh frame is longer than a line.
    Damage { check: "cursors", does: |files, at| cursor(files, at[11] - 64) },
    // Before the intent, and yet no reader can be there.
    Damage { check: "cursors", does: |files, at| cursor(files, at[39] + 128) },
    Damage { check: "tables", does: |files, _| control(files, at::GATED + 1, 1) },
    Damage { check: "tables", does: |files, _| control(files, at::NAME + 7, 1 << 56) },
    Damage {
        check: "tables",
        does: |files, _| control(files, at::VERSION, 1 << 32 | u64::from(layout::FORMAT_VERSION)),
    },
];

fn resize(path: &Path, bytes: u64) {
    std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(bytes).unwrap();
}

fn add(files: &JournalFiles, index: usize, more: u64) {
    control(files, index, peek(&files.control, index) + more);
}

fn cursor(files: &JournalFiles, position: u64) {
    control(files, at::CURSORS + 9 * layout::LINE_WORDS, position);
}

#[test]
fn every_kind_of_damage_is_found_by_its_check_and_repaired_it_is_clean_again() {
    let (_directory, files, journal) = journal(SMALL);
    journal.admit_gated(9).unwrap();
    let mut positions = fill(&journal, 39);
    // Three bytes, so that its last word is padded.
    positions.push(journal.writer(0, clock()).unwrap().write(1, 0, b"end").unwrap().position);
    drop(journal);
    let paths = [files.control.clone(), files.ring.clone(), files.lock()];
    let good = paths.each_ref().map(|path| std::fs::read(path).unwrap());
    for (number, damage) in DAMAGES.iter().enumerate() {
        (damage.does)(&files, &positions);
        let report = verify_files(&files).unwrap();
        let found = report.findings.iter().find(|finding| finding.check.as_str() == damage.check);
        let found =
            found.unwrap_or_else(|| panic!("damage {number} ({}): {:#?}", damage.check, report.findings));
        assert!(!found.found.is_empty() && !found.expected.is_empty() && found.found != found.expected);
        if ["time", "epoch", "topic", "flags"].contains(&damage.check) && number != 16 {
            assert!(
                report.findings.iter().any(|finding| finding.position.is_some_and(|at| at >= positions[7]))
            );
        }
        for (path, bytes) in paths.iter().zip(&good) {
            std::fs::write(path, bytes).unwrap();
        }
    }
    assert!(verify_files(&files).unwrap().is_clean());
    println!("{} kinds of damage", DAMAGES.len());
}

#[test]
fn damage_in_the_middle_of_a_ring_that_went_round_is_found() {
    let (_directory, files, journal) = journal(SMALL);
    let positions = fill(&journal, 2_000);
    let head = journal.head();
    clean(&journal);
    let middle = *positions.iter().find(|&&position| position > head - SMALL / 2).unwrap();
    change(&files, middle, frame::COMMIT, |_| 0);
    let report = journal.verify();
    assert!(
        report.findings.iter().any(|finding| finding.check.as_str() == "chain"),
        "{:#?}",
        report.findings
    );
    assert!(report.frames > 10, "what lies behind the damage is looked at too");
}

/// The checks that found something.
fn found(report: &VerifyReport) -> Vec<&'static str> {
    report.checks.iter().filter(|check| check.findings > 0).map(|check| check.kind.as_str()).collect()
}

#[test]
fn counts_and_times_of_a_ring_that_went_round_are_held_against_each_other() {
    let (_directory, files, journal) = journal(SMALL);
    let mut writer = journal.writer(0, clock()).unwrap();
    for number in 0..3_000_u64 {
        writer.write(1, 0, &payload(number, 100)).unwrap();
        writer.count((number % 3) as usize);
    }
    drop(writer);
    clean(&journal);
    type Change = fn(u64) -> u64;
    let cases: [(usize, Change, &str); 5] = [
        // Fewer than the classes have, and still as many as the bytes that are gone allow.
        (at::FRAMES, |word| word - (1 << 16), "tally"),
        (at::TALLY + 1, |word| word + 1, "tally"),
        (at::LAST_TIME, |word| word + 1, "time"),
        (at::LAST_TIME, |word| word - 1, "time"),
        (at::FRAMES, |word| word + (7_000 << 16), "count"),
    ];
    for (word, change, check) in cases {
        let good = peek(&files.control, word);
        poke(&files.control, word, change(good));
        assert_eq!(found(&journal.verify()), [check], "word {word}");
        poke(&files.control, word, good);
    }
    clean(&journal);
}

#[test]
fn the_last_time_of_a_copy_is_the_greatest_that_it_appended() {
    let (_directory, files, journal) = journal(SMALL);
    let mut writer = journal.writer(0, clock()).unwrap();
    let now = clock().now();
    let append = |writer: &mut journal::Writer, time| {
        let header = journal::FrameHeader { time, topic: 0, message_id: 1, flags: 0 };
        writer.append(header, b"a copy").unwrap();
    };
    for time in [now, now - 5, now - 3] {
        append(&mut writer, time);
        clean(&journal);
    }
    let wrong = |value: u64| {
        let good = peek(&files.control, at::LAST_TIME);
        poke(&files.control, at::LAST_TIME, value);
        assert_eq!(found(&journal.verify()), ["time"], "{value} instead of {good}");
        poke(&files.control, at::LAST_TIME, good);
    };
    wrong(now - 3);
    wrong(now + 1);
    // Round and round: the frame with the greatest time is gone, but what fills a gap bears it.
    writer.skip_to(writer.position() + 3 * SMALL).unwrap();
    append(&mut writer, now - 2);
    clean(&journal);
    wrong(now + 1);
    // Nothing but appended frames is left: only an earlier time is known to be wrong.
    for _ in 0..SMALL / 64 {
        append(&mut writer, now - 2);
    }
    clean(&journal);
    wrong(now - 3);
    poke(&files.control, at::LAST_TIME, now + 7);
    clean(&journal);
}

#[test]
fn damage_of_the_oldest_frame_of_a_ring_that_wrapped_is_found() {
    let (_directory, files, journal) = journal(SMALL);
    journal.admit_gated(9).unwrap();
    let mut writer = journal.writer(0, clock()).unwrap();
    let mut reader = journal.gated(9).unwrap();
    for number in 0..3_000 {
        writer.write(1, 0, &payload(number, 100)).unwrap();
        reader.read().unwrap();
        reader.publish();
    }
    drop(writer);
    clean(&journal);
    let oldest = journal.oldest_frame().unwrap();
    assert!(oldest > SMALL);
    change(&files, oldest, 0, |commit| commit ^ 64);
    let report = journal.verify();
    let finding = report.findings.first().unwrap();
    assert_eq!((finding.check.as_str(), finding.position), ("marks", Some(oldest)), "{finding:?}");
}

#[test]
fn what_a_reader_keeps_begins_with_a_frame_that_is_there() {
    let (_directory, files, journal) = journal(SMALL);
    journal.admit_gated(9).unwrap();
    let mut writer = journal.writer(0, clock()).unwrap();
    let mut reader = journal.gated(9).unwrap();
    reader.keep(reader.position());
    let mut positions = Vec::new();
    for number in 0..1_500 {
        positions.push(writer.write(1, 0, &payload(number, 100)).unwrap().position);
        reader.read().unwrap();
        reader.publish();
        reader.keep(positions[positions.len().saturating_sub(50)]);
    }
    clean(&journal);
    let kept = at::CURSORS + 9 * 8 + at::CURSOR_KEPT;
    let right = peek(&files.control, kept);
    assert_eq!(right, positions[positions.len() - 50]);
    // Overwritten long ago; within a frame.
    for wrong in [positions[0], right + 64] {
        poke(&files.control, kept, wrong);
        let report = journal.verify();
        assert!(
            report.findings.iter().any(|finding| finding.check.as_str() == "cursors"),
            "{wrong}: {report:?}"
        );
    }
    poke(&files.control, kept, right);
    clean(&journal);
}

#[test]
fn where_frames_were_followed_from_a_wrong_mark_the_finding_says_so() {
    let (_directory, files, journal) = journal(SMALL);
    let mut writer = journal.writer(0, clock()).unwrap();
    let positions: Vec<u64> = (0..2_000)
        .map(|_| writer.write(1, 0, &forged(writer.position(), SMALL, 0, 300)).unwrap().position)
        .collect();
    drop(writer);
    let oldest = journal.oldest_frame().unwrap();
    let next = positions.iter().find(|&&position| position > oldest).unwrap();
    // Its payload says what a commit word would say there.
    let wrong = next + 64;
    let slot = (0..at::MARK_COUNT).find(|slot| peek(&files.control, at::MARKS + slot) == oldest).unwrap();
    let step = layout::mark_step(SMALL);
    assert_eq!(wrong / step % at::MARK_COUNT as u64, slot as u64, "it would be marked there");
    poke(&files.control, at::MARKS + slot, wrong);
    let report = journal.verify();
    let finding = report.findings.first().unwrap();
    assert!(finding.expected.contains(&format!("the mark at {wrong} is wrong")), "{finding:?}");
}

#[test]
fn files_under_another_name_than_their_journals_are_found_and_not_made() {
    let (directory, files, journal) = journal(SMALL);
    fill(&journal, 3);
    let renamed = support::files(&directory, "other");
    for (from, to) in
        [(&files.control, &renamed.control), (&files.ring, &renamed.ring), (&files.lock(), &renamed.lock())]
    {
        std::fs::rename(from, to).unwrap();
    }
    assert_eq!(found(&verify_files(&renamed).unwrap()), ["header"]);
    let refused = Journal::create(files, support::shape("other", SMALL), 1).unwrap_err().to_string();
    assert!(refused.contains("other.ctl") && refused.contains("t.ring"), "{refused}");
    // What another made anew, or took away, has no lock file of this journal either.
    let gone = Journal::open(renamed.clone()).unwrap();
    renamed.remove().unwrap();
    assert!(!found(&gone.verify()).contains(&"lock"));
}

#[test]
fn a_missing_journal_is_an_error_and_no_finding() {
    let directory = support::directory();
    assert!(verify_files(&support::files(&directory, "nothing")).is_err());
}

/// The words that a writer stores for one frame, in order.
fn stores(files: &JournalFiles, number: u64, length: usize) -> Vec<(bool, usize, u64)> {
    let read = |index: usize| peek(&files.control, index);
    let (position, epoch) = (read(at::HEAD), read(at::EPOCH));
    let end = position + layout::frame_bytes(length as u64);
    let counted = layout::frames_of(read(at::FRAMES));
    let mut stores = Vec::new();
    if end + layout::LINE_BYTES > read(at::INTENT) {
        let ahead = (position + layout::stride(SMALL)).max(end + layout::LINE_BYTES);
        stores.push((false, at::INTENT, ahead));
    }
    stores.push((true, word(end), 0));
    let mut body = forged(position, SMALL, number % 3, length);
    body.resize(length.next_multiple_of(16), 0);
    for (offset, chunk) in body.chunks(8).enumerate() {
        let at = position + layout::frame::HEADER_BYTES + offset as u64 * 8;
        stores.push((true, word(at), u64::from_le_bytes(chunk.try_into().unwrap())));
    }
    let time = read(at::LAST_TIME) + number % 5;
    let header = [(frame::SHAPE, length as u64 | 1 << 32), (frame::TIME, time), (frame::ORIGIN, epoch << 32)];
    stores.extend(header.map(|(offset, value)| (true, word(position) + offset, value)));
    stores.push((true, word(position), position));
    stores.push((false, at::FRAMES, layout::frames_word(counted + 1, end)));
    stores.push((false, at::LAST_TIME, time));
    stores.push((false, at::HEAD, end));
    stores
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// The writer is stopped between any two of its stores, after any number of frames; then the same with its
    /// successor.
    #[test]
    fn a_ring_is_clean_wherever_its_writer_was_killed(
        before in 0..400_u64,
        lengths in proptest::collection::vec((0..2_000_usize, any::<proptest::sample::Index>()), 1..6),
    ) {
        let (_directory, files, journal) = journal(SMALL);
        fill(&journal, before);
        for (number, (length, killed_after)) in lengths.into_iter().enumerate() {
            let stores = stores(&files, number as u64, length);
            for &(ring, index, value) in &stores[..killed_after.index(stores.len() + 1)] {
                poke(if ring { &files.ring } else { &files.control }, index, value);
            }
            // Readers may have seen the frame before its writer could say so in the head.
            let (mut loose, mut gated) = (journal.loose(4).unwrap(), journal.gated(5).unwrap());
            while loose.read().unwrap().is_some() {}
            while gated.read().unwrap().is_some() {}
            drop((loose, gated));
            let report = journal.verify();
            prop_assert!(report.is_clean(), "{:#?}", report.findings);
            journal.dismiss(5).unwrap();
            let mut successor = journal.writer(0, clock()).unwrap();
            let report = journal.verify();
            prop_assert!(report.is_clean(), "taken over: {:#?}", report.findings);
            successor.write(2, 0, b"after").unwrap();
            prop_assert!(journal.verify().is_clean());
        }
    }
}

#[test]
fn beside_a_living_writer_and_its_readers_nothing_is_found() {
    let watchdog = Watchdog::start("verifying beside a writer", Duration::from_secs(120));
    let (_directory, files, journal) = journal(1 << 20);
    let (sender, stop) = std::sync::mpsc::channel::<()>();
    let writing = std::thread::spawn(move || {
        let journal = Journal::open(files).unwrap();
        let mut reader = journal.gated(5).unwrap();
        let mut beside = journal.loose(6).unwrap();
        let mut writer = journal.writer(0, clock()).unwrap();
        let mut number = 0_u64;
        while stop.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            let body = payload(number, number as usize % 300);
            match writer.write(1, 0, &body) {
                Ok(_) => number += 1,
                Err(WriteError::Full { .. }) => while reader.read().unwrap().is_some() {},
                Err(error) => panic!("{error}"),
            }
            if number.is_multiple_of(1_000) {
                let _ = beside.read();
                std::thread::sleep(Duration::from_micros(20));
            }
        }
        number
    });
    let (mut walked, mut overtaken) = (0, 0);
    for _ in 0..100 {
        let report = clean(&journal);
        walked += report.frames;
        overtaken += report.overtaken;
    }
    drop(sender);
    let written = writing.join().unwrap();
    println!(
        "{walked} frames walked in 100 verifications, {overtaken} bytes overtaken, {written} frames written"
    );
    assert!(walked > 1_000 && written > 1_000);
    watchdog.stop();
}
