//! Golden vectors: a journal written with a stopped clock, word for word as in `vectors/`.
//!
//! `COLO_BLESS=1` rewrites them; do so only together with a new format version.
#![cfg(not(miri))] // Files and processes.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use journal::{Clock, FrameHeader, Journal, JournalFiles, JournalShape, Registry, layout};
use support::{SMALL, forged, payload, poke};

const CREATED: u64 = 1_700_000_000_000_000_000;
const TIME: u64 = 1_700_000_001_000_000_000;

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors")
}

/// A clock whose every reading is [`TIME`]: a registry may say so, with zero nanoseconds a count.
fn stopped_clock(directory: &Path) -> (PathBuf, Clock) {
    use layout::registry as at;
    let path = directory.join("registry");
    drop(Registry::create(&path, 64, Clock::monotonic()).unwrap());
    for (word, value) in [
        (at::CLOCK_KIND, 2),
        (at::CLOCK_BASE, 0),
        (at::CLOCK_EPOCH, TIME),
        (at::CLOCK_SCALE, 0),
        (at::CLOCK_OFFSET, 0),
        (at::FENCES, 0),
    ] {
        poke(&path, word, value);
    }
    let registry = Registry::open(&path).unwrap();
    registry.set_phase(2);
    registry.set_name(0, "md");
    registry.set_name(63, "strategy-1");
    let seat = registry.occupy(0).unwrap();
    seat.set_generation(1);
    seat.set_state(3);
    seat.set_kind(2 | 1 << 16);
    seat.set_heartbeat(TIME);
    seat.set_cpu(2);
    seat.set_counter(0, 11);
    seat.set_counter(31, 12);
    seat.set_counter(63, 13);
    let clock = registry.clock(&path).unwrap();
    assert_eq!(clock.now(), TIME);
    (path, clock)
}

/// A journal that wrapped a little more than once: frames of all sizes, forged payloads, a gated and a loose cursor,
/// two writers.
fn write(directory: &Path, clock: Clock) -> JournalFiles {
    let files = JournalFiles::new(directory, directory, "golden");
    let shape =
        JournalShape { id: 5, name: "golden".into(), capacity: SMALL, seats: 64, topics: 3, page: 4096 };
    let journal = Journal::create(files.clone(), shape, CREATED).unwrap();
    let mut number = 0_u16;
    let mut writer = journal.writer(1, clock).unwrap();
    let mut go_on = |writer: &mut journal::Writer, until: u64| {
        while writer.position() < until {
            let length = usize::from(number) * 89 % 1_500;
            let body = if number % 5 == 4 {
                forged(writer.position(), SMALL, u64::from(number % 2), length)
            } else {
                payload(u64::from(number), length)
            };
            writer.write(100 + number % 7, u32::from(number % 3), &body).unwrap();
            number += 1;
        }
    };
    go_on(&mut writer, SMALL + SMALL / 2);
    let mut gated = journal.gated(9).unwrap();
    drop(journal.loose(33).unwrap());
    journal.set_interest(9, Some(&[1, 2])).unwrap();
    journal.set_interest(33, None).unwrap();
    go_on(&mut writer, SMALL + SMALL * 3 / 4);
    drop(writer);
    let mut writer = journal.writer(2, clock).unwrap();
    go_on(&mut writer, 2 * SMALL + SMALL / 8);
    // A gap, a frame of another journal, and records.
    writer.skip_to(writer.position() + 640).unwrap();
    let header = FrameHeader { time: TIME - 1, topic: 2, message_id: 200, flags: 0 };
    writer.append(header, &payload(1_000, 50)).unwrap();
    let mut records = writer.claim_records(201, 1, 24, 9).unwrap();
    while records.push(&payload(1_001, 24)).is_ok() {}
    records.commit().unwrap();
    for _ in 0..20 {
        gated.read().unwrap();
    }
    files
}

/// Sparse hexadecimal: `index: word` for each word that is not zero.
fn dump(path: &Path, leave_out: &[usize]) -> String {
    let bytes = fs::read(path).unwrap();
    let mut text =
        format!("# {} bytes; word index: little-endian 64-bit word; all others are zero\n", bytes.len());
    for (index, word) in bytes.as_chunks::<8>().0.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        if word != 0 && !leave_out.contains(&index) {
            writeln!(text, "{index}: {word:016x}").unwrap();
        }
    }
    text
}

/// What a reader must find from the oldest frame on: one frame a line.
fn frames(journal: &Journal) -> String {
    let mut reader = journal.observe(journal.oldest_frame().unwrap()).unwrap();
    let mut text = String::from("# position id topic time epoch length sum-of-payload-bytes\n");
    while let Some(frame) = reader.read().unwrap() {
        let sum: u64 = frame.payload.iter().map(|&byte| u64::from(byte)).sum();
        let (position, id, topic) = (frame.position, frame.message_id, frame.topic);
        writeln!(
            text,
            "{position} {id} {topic} {} {} {} {sum}",
            frame.time,
            frame.epoch,
            frame.payload.len()
        )
        .unwrap();
    }
    text
}

#[test]
fn what_is_written_is_what_was_written_before() {
    let directory = support::directory();
    let (registry, clock) = stopped_clock(directory.path());
    let files = write(directory.path(), clock);
    let journal = Journal::open_read_only(files.clone()).unwrap();
    // The writer's process and the journal's number differ from run to run.
    let identity = [layout::control::WRITER, layout::control::WRITER_START, layout::control::IDENTITY];
    let made = [
        ("control.hex", dump(&files.control, &identity)),
        ("ring.hex", dump(&files.ring, &[])),
        ("registry.hex", dump(&registry, &[])),
        ("frames.txt", frames(&journal)),
    ];
    let mut compared = 0;
    for (name, text) in &made {
        let path = vectors().join(name);
        if std::env::var_os("COLO_BLESS").is_some() {
            fs::create_dir_all(vectors()).unwrap();
            fs::write(&path, text).unwrap();
        }
        let golden = fs::read_to_string(&path).unwrap();
        for (line, (ours, theirs)) in text.lines().zip(golden.lines()).enumerate() {
            assert_eq!(ours, theirs, "{name}, line {}", line + 1);
        }
        assert_eq!(text.lines().count(), golden.lines().count(), "{name}");
        compared += golden.lines().count();
    }
    println!("{compared} lines of {} vectors are as they were", made.len());
    assert!(compared > 5_000);
}

/// The reverse: files built from the vectors are a journal.
#[test]
fn the_vectors_are_a_journal() {
    let directory = support::directory();
    let files = JournalFiles::new(directory.path(), directory.path(), "golden");
    for (name, path) in [("control.hex", &files.control), ("ring.hex", &files.ring)] {
        fs::write(path, undump(&fs::read_to_string(vectors().join(name)).unwrap())).unwrap();
    }
    // IDENTITY is left out of the vectors, and so zero in both files.
    fs::write(files.lock(), [layout::LOCK_MAGIC, 0].map(u64::to_le_bytes).as_flattened()).unwrap();
    let journal = Journal::open(files).unwrap();
    assert_eq!(frames(&journal), fs::read_to_string(vectors().join("frames.txt")).unwrap());
    let stat = journal.stat();
    assert_eq!((stat.shape.id, stat.epoch, stat.created), (5, 2, CREATED));
    let views: Vec<_> = stat.readers.iter().map(|view| (view.seat, view.gated, view.frames)).collect();
    assert_eq!(views, [(9, true, 19), (33, false, 0)]);
    // Its gated reader resumes where it was.
    let mut reader = journal.gated(9).unwrap();
    let mut left = 0;
    while reader.read().unwrap().is_some() {
        left += 1;
    }
    println!("{left} frames were left for seat 9");
    assert!(left > 0 && reader.position() == stat.head);
}

fn undump(text: &str) -> Vec<u8> {
    let size = text.trim_start_matches("# ").split(' ').next().unwrap().parse().unwrap();
    let mut bytes = vec![0; size];
    for line in text.lines().skip(1) {
        let (index, word) = line.split_once(": ").unwrap();
        let at = index.parse::<usize>().unwrap() * 8;
        bytes[at..at + 8].copy_from_slice(&u64::from_str_radix(word, 16).unwrap().to_le_bytes());
    }
    bytes
}
