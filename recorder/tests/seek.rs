//! A part of a recording is found by the indexes: what is before it is not read.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::fs;
use std::path::Path;

use recorder::read::{FrameError, Recording};
use recorder::write::{Policy, Recorder};
use support::{Held, clock, description, gatherer, journal, write};

/// Many segments of a busy journal and one that writes now and then; the frames of each.
fn run(folder: &Path) -> [Vec<Held>; 2] {
    let (busy, quiet) = (journal(1, "busy", 1 << 16), journal(2, "quiet", 1 << 16));
    let both = [&busy, &quiet];
    let mut gatherer = gatherer(&both);
    let policy = Policy { segment_bytes: 1 << 18, compress: None };
    let mut recorder = Recorder::open(folder, &description(&both), policy, clock().now()).unwrap();
    let mut writers = both.map(|journal| journal.writer(0, clock()).unwrap());
    let mut held: [Vec<Held>; 2] = Default::default();
    for number in 0..12_000_u64 {
        held[0].push(write(&mut writers[0], 1, 0, &[number as u8; 200]));
        if number % 1_500 == 700 {
            held[1].push(write(&mut writers[1], 1, 0, &number.to_le_bytes()));
        }
        if number % 50 == 49 {
            gatherer.cut(&mut recorder, clock().now(), |_, _| ()).unwrap();
        }
    }
    held
}

fn read(recording: &Recording, name: &str, position: u64, time: u64) -> (Vec<(u64, u64)>, u64) {
    let mut frames = recording.frames_since(recording.description().journal(name).unwrap(), position, time);
    let (mut found, mut missing) = (Vec::new(), 0);
    loop {
        match frames.next() {
            Ok(Some(frame)) if frame.time >= time => found.push((frame.position, frame.time)),
            Ok(Some(_)) => {}
            Ok(None) => return (found, missing),
            Err(FrameError::Missing { .. }) => missing += 1,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn every_place_is_found_by_position_and_by_time() {
    let folder = tempfile::tempdir().unwrap();
    let held = run(folder.path());
    let recording = Recording::open(folder.path()).unwrap();
    assert!(recording.segments().len() > 8);
    for (name, held) in ["busy", "quiet"].into_iter().zip(&held) {
        let all: Vec<(u64, u64)> = held.iter().map(|frame| (frame.0, frame.1)).collect();
        for place in (0..all.len()).step_by(all.len().div_ceil(97)) {
            let (position, time) = all[place];
            assert_eq!(read(&recording, name, position, 0), (all[place..].to_vec(), 0), "{name} {place}");
            let since = all.partition_point(|frame| frame.1 < time);
            assert_eq!(read(&recording, name, 0, time), (all[since..].to_vec(), 0), "{name} {place}");
        }
        let last = recording.last_frame(recording.description().journal(name).unwrap()).unwrap();
        assert_eq!(last, all.last().copied());
        assert_eq!(read(&recording, name, u64::MAX, 0), (Vec::new(), 0));
        assert_eq!(read(&recording, name, 0, u64::MAX), (Vec::new(), 0));
    }
}

#[test]
fn what_is_before_a_place_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let held = run(folder.path());
    let place = held[0].len() - 300;
    let (position, time, ..) = held[0][place];
    let recording = Recording::open(folder.path()).unwrap();
    // All blocks of all segments but the last two are made unreadable; heads and indexes stay.
    let segments = recording.segments();
    for segment in &segments[..segments.len() - 2] {
        let mut bytes = fs::read(&segment.path).unwrap();
        let index =
            u64::from_le_bytes(bytes[bytes.len() - 64..bytes.len() - 56].try_into().unwrap()) as usize;
        bytes[64..index].fill(0xee);
        fs::write(&segment.path, bytes).unwrap();
    }
    // A description is left in the last ones.
    let recording = Recording::open(folder.path()).unwrap();
    let wanted: Vec<(u64, u64)> = held[0][place..].iter().map(|frame| (frame.0, frame.1)).collect();
    assert_eq!(read(&recording, "busy", position, 0), (wanted.clone(), 0));
    assert_eq!(read(&recording, "busy", 0, time), (wanted, 0));
    assert_ne!(read(&recording, "busy", 0, 0).0.len(), held[0].len());
}
