//! Processes are killed while they create a journal and while they join one: everything visible is whole, and
//! unfinished parts block nothing.
#![cfg(not(miri))] // Files and processes.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

#[path = "support/child.rs"]
mod child;
mod support;

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use journal::{Journal, JournalFiles, OpenError, Registry};
use support::{SMALL, Watchdog, clock};

const SEATS: u32 = 8;

fn files(directory: &Path) -> JournalFiles {
    JournalFiles::new(directory, directory, "t")
}

/// Creates the same journal and registry over and over.
fn making_child(directory: &Path, _: u32) {
    loop {
        let journal = Journal::create(files(directory), support::shape("t", SMALL), 1).unwrap();
        let mut writer = journal.writer(63, clock()).unwrap();
        writer.write(1, 0, b"made").unwrap();
        Registry::create(&directory.join("registry"), 64, clock()).unwrap();
    }
}

fn a_journal_is_visible_whole_or_not_at_all() {
    let kills = child::kills();
    let watchdog = Watchdog::start("killing makers", Duration::from_secs(120 + u64::from(kills)));
    let directory = support::directory();
    let mut dice = child::Dice::new(0xc0de);
    let (mut whole, mut absent, mut half) = (0, 0, 0);
    for kill in 0..kills {
        let making = child::start("making_child", directory.path(), kill);
        std::thread::sleep(Duration::from_millis(2) + dice.micros(15_000));
        making.kill();
        match Journal::open(files(directory.path())) {
            Ok(journal) => {
                let mut reader = journal.loose_from_start().unwrap();
                let mut writer = journal.writer(63, clock()).unwrap();
                writer.write(2, 0, b"goes on").unwrap();
                let first = reader.read().unwrap().unwrap().payload.to_vec();
                assert!([&b"made"[..], b"goes on"].contains(&&first[..]), "{first:?}");
                whole += 1;
            }
            Err(OpenError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => absent += 1,
            Err(error) => panic!("{error}"),
        }
        match Registry::open(&directory.path().join("registry")) {
            Ok(registry) => assert_eq!(registry.seats(), 64),
            Err(OpenError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {}
            Err(error) => panic!("{error}"),
        }
        half += names(directory.path()).iter().filter(|name| name.ends_with(".new")).count();
    }
    let journal = Journal::create(files(directory.path()), support::shape("t", SMALL), 1).unwrap();
    Registry::create(&directory.path().join("registry"), 64, clock()).unwrap();
    drop(journal);
    assert_eq!(
        names(directory.path()),
        ["registry", "t.ctl", "t.lock", "t.ring"],
        "no half-made file outlives a whole one"
    );
    println!("{kills} kills: {whole} journals whole, {absent} not there, {half} half-made files replaced");
    assert!(whole > 0);
    watchdog.stop();
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Joins and leaves in all seats.
fn joining_child(directory: &Path, number: u32) {
    let journal = Journal::open(files(directory)).unwrap();
    for round in number.. {
        let seat = round % SEATS;
        let mut reader = journal.gated(seat).unwrap();
        reader.read().unwrap();
        drop(reader);
        journal.set_interest(seat, Some(&[round % 16])).unwrap();
        journal.dismiss(seat).unwrap();
        drop(journal.loose(seat).unwrap());
    }
}

fn whoever_dies_while_joining_leaves_a_seat_that_can_be_taken() {
    let kills = child::kills();
    let watchdog = Watchdog::start("killing joiners", Duration::from_secs(120 + u64::from(kills)));
    let directory = support::directory();
    let journal = Journal::create(files(directory.path()), support::shape("t", SMALL), 1).unwrap();
    let mut writer = journal.writer(63, clock()).unwrap();
    let mut number = 0_u64;
    let mut write_for = |pause: Duration| {
        let begin = std::time::Instant::now();
        while begin.elapsed() < pause {
            number += u64::from(writer.write(1, 0, &number.to_le_bytes()).is_ok());
        }
    };
    let mut dice = child::Dice::new(0x1011);
    let mut left_over = 0;
    for kill in 0..kills {
        let joining = child::start("joining_child", directory.path(), kill);
        let begin = std::time::Instant::now();
        // Wait until it has joined at least once.
        while journal.stat().readers.is_empty() && begin.elapsed() < Duration::from_secs(30) {
            write_for(Duration::from_micros(50));
        }
        write_for(dice.micros(3_000));
        joining.kill();
        left_over += journal.stat().readers.iter().filter(|view| view.gated).count();
        for seat in 0..SEATS {
            let mut reader = journal.gated(seat).unwrap();
            write_for(Duration::from_micros(20));
            let mut last = None;
            while let Some(frame) = reader.read().unwrap() {
                let number = u64::from_le_bytes(frame.payload.try_into().unwrap());
                assert!(last.is_none_or(|last| number == last + 1), "{number} after {last:?}");
                last = Some(number);
            }
            assert_eq!(reader.position(), journal.head());
            drop(reader);
            journal.dismiss(seat).unwrap();
        }
        assert!(journal.stat().readers.is_empty());
    }
    println!("{kills} kills, {left_over} gated cursors left over and taken up, {number} frames");
    assert!(left_over > 0);
    watchdog.stop();
}

fn main() {
    child::main(
        &[("making_child", making_child), ("joining_child", joining_child)],
        &[
            ("a_journal_is_visible_whole_or_not_at_all", a_journal_is_visible_whole_or_not_at_all),
            (
                "whoever_dies_while_joining_leaves_a_seat_that_can_be_taken",
                whoever_dies_while_joining_leaves_a_seat_that_can_be_taken,
            ),
        ],
    );
}
