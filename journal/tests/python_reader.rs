//! The reader in Python, which was written from `docs/journal-format.md` alone, against the writer.
#![cfg(not(miri))] // Files and processes.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use journal::{JournalFiles, Writer, layout};
use support::{SMALL, Watchdog, clock, forged, payload};

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/readers/reader.py")
}

/// False, with the reason printed, where there is no Python.
fn has_python() -> bool {
    match Command::new("python3").arg("--version").output() {
        Ok(output) if output.status.success() => true,
        other => {
            println!("skipped: no python3 ({other:?})");
            false
        }
    }
}

/// A running reader.
struct Python {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Python {
    fn start(files: &JournalFiles, arguments: &[&str]) -> Python {
        let mut child = Command::new("python3")
            .arg(script())
            .args([&files.control, &files.ring])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Python { child, lines }
    }

    fn line(&mut self) -> Line {
        Line::parse(&self.lines.next().expect("one more line").unwrap())
    }

    fn rest(mut self) -> Vec<Line> {
        let lines = self.lines.by_ref().map(|line| Line::parse(&line.unwrap())).collect();
        assert!(self.child.wait().unwrap().success());
        lines
    }
}

/// A flat JSON object with text in the values' places: all that the reader prints.
struct Line(BTreeMap<String, String>);

impl Line {
    fn parse(text: &str) -> Line {
        let inside = text.trim().strip_prefix('{').and_then(|text| text.strip_suffix('}')).expect(text);
        let pairs = inside.split(", ").map(|pair| pair.split_once(": ").expect(text));
        Line(
            pairs
                .map(|(key, value)| (key.trim_matches('"').into(), value.trim_matches('"').into()))
                .collect(),
        )
    }

    fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    fn number(&self, key: &str) -> u64 {
        self.0[key].parse().unwrap()
    }

    fn bytes(&self, key: &str) -> Vec<u8> {
        let digits = self.0[key].as_bytes().chunks_exact(2);
        digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
    }
}

fn body(number: u64, position: u64) -> Vec<u8> {
    let length = 8 + number as usize * 61 % 900;
    let mut body =
        if number.is_multiple_of(4) { forged(position, SMALL, 1, length) } else { payload(number, length) };
    body[..8].copy_from_slice(&number.to_le_bytes());
    body
}

/// Writes the next numbers; returns how many were accepted.
fn write(writer: &mut Writer, number: &mut u64, count: u64) -> u64 {
    let mut done = 0;
    while done < count {
        // One frame, or a few at once.
        let several = if number.is_multiple_of(5) { 3.min(count - done) } else { 1 };
        let mut position = writer.position();
        let mut batch = writer.batch();
        for number in *number..*number + several {
            let body = body(number, position);
            position += layout::frame_bytes(body.len() as u64);
            if batch.push(number as u16, (number % 16) as u32, &body).is_err() {
                return done;
            }
        }
        batch.commit();
        *number += several;
        done += several;
    }
    count
}

/// Checks one frame; returns its number and its end.
fn check(line: &Line) -> (u64, u64) {
    let (position, bytes) = (line.number("position"), line.bytes("payload"));
    let number = u64::from_le_bytes(bytes[..8].try_into().unwrap());
    assert!(bytes == body(number, position), "frame {number} at {position} is torn");
    assert_eq!((line.number("id"), line.number("topic")), (number & 0xffff, number % 16));
    assert_eq!(line.number("epoch"), 1);
    assert!(line.number("time") > 0);
    (number, position + layout::frame_bytes(bytes.len() as u64))
}

#[test]
fn the_golden_vectors() {
    if !has_python() {
        return;
    }
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let directory = support::directory();
    let files = support::files(&directory, "golden");
    for (name, path) in [("control.hex", &files.control), ("ring.hex", &files.ring)] {
        let text = fs::read_to_string(vectors.join(name)).unwrap();
        let size = text.trim_start_matches("# ").split(' ').next().unwrap().parse().unwrap();
        let mut bytes = vec![0; size];
        for (index, word) in text.lines().skip(1).map(|line| line.split_once(": ").unwrap()) {
            let at = index.parse::<usize>().unwrap() * 8;
            bytes[at..at + 8].copy_from_slice(&u64::from_str_radix(word, 16).unwrap().to_le_bytes());
        }
        fs::write(path, bytes).unwrap();
    }
    let lines = Python::start(&files, &["--start", "oldest", "--stop-at-end"]).rest();
    let seen: Vec<String> = lines
        .iter()
        .filter(|line| line.has("payload"))
        .map(|line| {
            let bytes = line.bytes("payload");
            let sum: u64 = bytes.iter().map(|&byte| u64::from(byte)).sum();
            let [position, id, topic, time, epoch] =
                ["position", "id", "topic", "time", "epoch"].map(|key| line.number(key));
            format!("{position} {id} {topic} {time} {epoch} {} {sum}", bytes.len())
        })
        .collect();
    let golden = fs::read_to_string(vectors.join("frames.txt")).unwrap();
    assert_eq!(seen, golden.lines().skip(1).collect::<Vec<_>>());
    println!("{} frames of the vectors, as the Rust reader sees them", seen.len());
    assert!(seen.len() > 50);
}

#[test]
fn beside_a_living_writer_loosely() {
    if !has_python() {
        return;
    }
    const FRAMES: u64 = 2_000;
    let watchdog = Watchdog::start("a loose reader in Python", Duration::from_secs(120));
    // The ring holds all of it, so that even a very slow reader cannot be lapped.
    let (_directory, files, journal) = support::journal(4 << 20);
    let mut writer = journal.writer(0, clock()).unwrap();
    let mut python = Python::start(&files, &["--frames", &FRAMES.to_string()]);
    assert_eq!(python.line().number("position"), journal.first_position());
    let mut number = 0;
    while number < FRAMES {
        write(&mut writer, &mut number, 10);
        std::thread::sleep(Duration::from_micros(number % 700));
    }
    let lines = python.rest();
    let mut expected = 0;
    for line in lines.iter().filter(|line| line.has("payload")) {
        assert_eq!(check(line).0, expected);
        expected += 1;
    }
    let summary = lines.last().unwrap();
    assert_eq!((summary.number("frames"), summary.number("gaps")), (FRAMES, 0));
    println!("{expected} frames, loosely, none lost");
    watchdog.stop();
}

#[test]
fn beside_a_living_writer_lapped() {
    if !has_python() {
        return;
    }
    let watchdog = Watchdog::start("a lapped reader in Python", Duration::from_secs(120));
    let (_directory, files, journal) = support::journal(SMALL);
    let mut writer = journal.writer(0, clock()).unwrap();
    let until = journal.first_position() + 3_000 * SMALL;
    let mut python = Python::start(&files, &["--until", &until.to_string()]);
    let start = python.line().number("position");
    let writing = std::thread::spawn(move || {
        let mut number = 0;
        while writer.position() < until {
            // In bursts, so that it reads frames between the laps.
            write(&mut writer, &mut number, 40);
            std::thread::sleep(Duration::from_micros(number % 300));
        }
        (writer, number)
    });
    let lines = python.rest();
    let (writer, written) = writing.join().unwrap();
    let (mut at, mut frames, mut gaps, mut last) = (start, 0_u64, 0_u64, None);
    for line in &lines {
        if line.has("payload") {
            assert_eq!(line.number("position"), at, "nothing is skipped unsaid");
            let (number, end) = check(line);
            assert!(last.is_none_or(|last| number > last));
            (at, last, frames) = (end, Some(number), frames + 1);
        } else if line.has("lapped") {
            assert_eq!(line.number("lapped"), at);
            assert!(line.number("resumed_at") > at);
            (at, gaps) = (line.number("resumed_at"), gaps + 1);
        }
    }
    let summary = lines.last().unwrap();
    assert_eq!((summary.number("frames"), summary.number("gaps")), (frames, gaps));
    assert_eq!(summary.number("position"), at);
    assert!((until..=writer.position()).contains(&at));
    println!("{frames} of {written} frames, {gaps} gaps, every byte accounted for");
    assert!(frames > 0 && gaps > 0);
    watchdog.stop();
}

#[test]
fn beside_a_living_writer_gated() {
    if !has_python() {
        return;
    }
    const FRAMES: u64 = 3_000;
    let watchdog = Watchdog::start("a gated reader in Python", Duration::from_secs(120));
    let (_directory, files, journal) = support::journal(SMALL);
    journal.admit_gated(5).unwrap();
    let mut writer = journal.writer(0, clock()).unwrap();
    let mut number = 0;
    let mut expected = 0;
    // Twice: the second reader resumes at the cursor that the first left.
    for _ in 0..2 {
        let python = Python::start(&files, &["--seat", "5", "--frames", &(FRAMES / 2).to_string()]);
        let lines = std::thread::scope(|scope| {
            let reading = scope.spawn(|| python.rest());
            while !reading.is_finished() {
                let left = FRAMES - number;
                if write(&mut writer, &mut number, left.min(50)) == 0 {
                    std::thread::sleep(Duration::from_micros(100));
                }
            }
            reading.join().unwrap()
        });
        for line in lines.iter().filter(|line| line.has("payload")) {
            assert_eq!(check(line).0, expected);
            expected += 1;
        }
    }
    assert_eq!((expected, number), (FRAMES, FRAMES));
    assert!(journal.is_drained());
    println!(
        "{FRAMES} frames through {} laps, full {} times",
        writer.position() / SMALL - 1,
        journal.stat().full
    );
    assert!(journal.stat().full > 0);
    watchdog.stop();
}

#[test]
fn it_refuses_what_it_cannot_read() {
    if !has_python() {
        return;
    }
    let (_directory, files, journal) = support::journal(SMALL);
    let watchdog = Watchdog::start("refusals in Python", Duration::from_secs(120));
    let run = || Command::new("python3").arg(script()).args([&files.control, &files.ring]).output().unwrap();
    let cases = [
        (layout::control::MAGIC, 7, "is no colo journal"),
        (layout::control::VERSION, 99, "has format 99"),
        (layout::control::LAYOUT_HASH, 2, "layout"),
        (layout::control::CAPACITY, 77, "capacity"),
        (layout::control::TABLES, 77, "seats"),
        (layout::control::HEAD, 77, "no possible position"),
        (layout::control::INTENT, 1 << 60, "too far ahead"),
        (layout::control::INTENT, 0, "lies before"),
    ];
    for (word, value, says) in cases {
        let before = support::peek(&files.control, word);
        support::poke(&files.control, word, value);
        let output = run();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.contains(says), "{text}");
        assert!(!text.contains("Traceback"), "{text}");
        support::poke(&files.control, word, before);
    }
    let held = journal.gated(5).unwrap();
    let output = Command::new("python3")
        .arg(script())
        .args([&files.control, &files.ring])
        .args(["--seat", "5"])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("is being read already"));
    drop(held);
    println!("{} refusals", cases.len() + 1);
    watchdog.stop();
}
