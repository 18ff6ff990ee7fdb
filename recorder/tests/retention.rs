//! Old segments go, what a recovery needs stays, and what is gone is listed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::convert::Infallible;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use recorder::format::{CursorEntry, Kind, What};
use recorder::read::{FindingKind, FrameError, OpenError, REMOVED_LIST, Recording, removed};
use recorder::write::{Keep, Policy, Recorder, retain};
use support::{clock, description, gatherer, journal, write};
use zerocopy::IntoBytes;

const SEGMENT: u64 = 1 << 17;

/// A run with many segments: a busy journal, and a quiet one that wrote only at the start.
fn run(folder: &Path, frames: u64) -> (u64, u64) {
    run_with(folder, frames, |_| ())
}

/// The same; `each` is called before each frame of the busy one.
fn run_with(folder: &Path, frames: u64, mut each: impl FnMut(u64)) -> (u64, u64) {
    let (busy, quiet) = (journal(1, "busy", 1 << 16), journal(2, "quiet", 1 << 16));
    let both = [&busy, &quiet];
    let mut gatherer = gatherer(&both);
    let policy = Policy { segment_bytes: SEGMENT, compress: None };
    let mut recorder = Recorder::open(folder, &description(&both), policy, clock().now()).unwrap();
    let mut writers = both.map(|journal| journal.writer(0, clock()).unwrap());
    for number in 0..10_u64 {
        write(&mut writers[1], 1, 0, &number.to_le_bytes());
    }
    for number in 0..frames {
        each(number);
        write(&mut writers[0], 1, 0, &[number as u8; 200]);
        if number % 40 == 0 {
            let cursors = |batch: &mut recorder::write::Batch, _: &[recorder::read::Counts]| {
                let entry = CursorEntry {
                    journal: 1.into(),
                    seat: 9.into(),
                    what: (What::Reader as u16).into(),
                    reserved: 0.into(),
                    first: number.into(),
                    second: 0.into(),
                };
                let fill = |bytes: &mut Vec<u8>| {
                    bytes.extend_from_slice(entry.as_bytes());
                    Ok::<_, Infallible>((0, 0))
                };
                let Ok(_) = batch.block(Kind::Cursors, 0, fill);
            };
            gatherer.cut(&mut recorder, clock().now(), cursors).unwrap();
        }
    }
    gatherer.cut(&mut recorder, clock().now(), |_, _| ()).unwrap();
    drop(recorder);
    (busy.head(), quiet.head())
}

fn all(recording: &Recording, name: &str, from: u64) -> (u64, Vec<(u64, u64)>) {
    let mut frames = recording.frames(recording.description().journal(name).unwrap(), from);
    let (mut count, mut missing) = (0, Vec::new());
    loop {
        match frames.next() {
            Ok(Some(_)) => count += 1,
            Ok(None) => return (count, missing),
            Err(FrameError::Missing { from, to, .. }) => missing.push((from, to)),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn what_is_too_much_goes_and_what_a_recovery_needs_stays() {
    let runs = tempfile::tempdir().unwrap();
    let folder = runs.path().join("2");
    let (busy, quiet) = run(&folder, 6_000);
    let before = Recording::open(&folder).unwrap();
    assert!(before.segments().len() > 8, "{}", before.segments().len());
    let state = before.state(|_, _| 0).unwrap();
    // Less than may go: a recovery needs it.
    let keep = Keep::new(runs.path().to_owned(), Some(1), Duration::ZERO);
    let done = retain(&folder, &keep, clock().now()).unwrap();
    assert!(done.removed > 4 && done.is_over, "{done:?}");
    let after = Recording::open(&folder).unwrap();
    assert_eq!(after.removed().count() as u64, done.removed);
    assert_eq!(after.segments()[0].head.number.get(), 1, "the quiet journal is only there");
    assert_eq!((after.end(), after.state(|_, _| 0).unwrap()), (before.end(), state));
    assert_eq!(after.ends().unwrap(), [Some(busy), Some(quiet)]);
    let (frames, missing) = all(&after, "busy", busy - (1 << 16));
    assert!(frames >= 256 && missing.is_empty(), "{frames} {missing:?}");
    assert_eq!(all(&after, "quiet", 0), (10, Vec::new()));
    // From the start: what is gone is said to be.
    let (_, missing) = all(&after, "busy", 0);
    assert_eq!(missing.len(), 1, "{missing:?}");
    let verified = after.verify().unwrap();
    assert!(verified.is_clean(), "{:?}", verified.findings);
    let named = verified.findings.iter().filter(|finding| finding.kind == FindingKind::Removed);
    assert_eq!(named.count() as u64, done.removed);
    // A second look finds nothing more to do, and a recorder goes on.
    assert_eq!(retain(&folder, &keep, clock().now()).unwrap().removed, 0);
}

#[test]
fn a_segment_that_is_gone_and_not_listed_is_a_finding() {
    let runs = tempfile::tempdir().unwrap();
    let folder = runs.path().join("1");
    run(&folder, 3_000);
    let third = folder.join("00000003.seg");
    assert!(third.exists());
    fs::remove_file(&third).unwrap();
    let recording = Recording::open(&folder).unwrap();
    assert_eq!(recording.missing(), [3]);
    let verified = recording.verify().unwrap();
    let faults: Vec<_> = verified.findings.iter().filter(|finding| finding.kind.is_fault()).collect();
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert_eq!((faults[0].kind, faults[0].segment), (FindingKind::Missing, Some(3)));
    assert_eq!(all(&recording, "busy", 0).1.len(), 1);
    // The same, listed, by a list whose last line was cut off.
    let mut list = fs::read_to_string(folder.join(REMOVED_LIST)).unwrap_or_default();
    list.push_str("{\"segment\":3,\"first_block\":1,\"blocks_end\":2,\"last_time_ns\":0,\"bytes\":1,\"removed_ns\":0}\n{\"segm");
    fs::write(folder.join(REMOVED_LIST), list).unwrap();
    assert_eq!(removed(&folder).unwrap().len(), 1);
    assert_eq!(Recording::open(&folder).unwrap().missing(), [0_u32; 0]);
}

#[test]
fn older_runs_go_first_and_by_age() {
    let runs = tempfile::tempdir().unwrap();
    let (old, new) = (runs.path().join("1"), runs.path().join("2"));
    run(&old, 2_000);
    let between = clock().now();
    std::thread::sleep(Duration::from_millis(20));
    run(&new, 500);
    let segments = |folder: &Path| Recording::open(folder).map(|recording| recording.segments().len());
    let count = segments(&old).unwrap() as u64;
    // As if it were now so late that the old run's are too old, and the new one's are not.
    let keep = Keep::new(runs.path().to_owned(), None, Duration::from_secs(60));
    let late = between + Duration::from_secs(60).as_nanos() as u64 + 1;
    assert_eq!(retain(&new, &keep, late - 10_000_000_000).unwrap().removed, 0);
    let done = retain(&new, &keep, late).unwrap();
    assert_eq!((done.removed, done.is_over), (count, false));
    assert!(matches!(segments(&old), Err(OpenError::Removed(removed)) if removed as u64 == count));
    assert!(segments(&new).unwrap() > 0);
}

#[test]
fn before_a_run_can_be_recovered_the_run_before_it_stays() {
    let runs = tempfile::tempdir().unwrap();
    let (old, new) = (runs.path().join("1"), runs.path().join("2"));
    run(&old, 1_000);
    let journal = journal(1, "busy", 1 << 16);
    let recorder = support::recorder(&new, &[&journal]);
    let keep = Keep::new(runs.path().to_owned(), Some(1), Duration::from_nanos(1));
    assert_eq!(retain(&new, &keep, u64::MAX).unwrap().removed, 0);
    drop(recorder);
}

/// The recorder's own thread does it, while it records.
#[test]
fn a_recorder_removes_old_segments_while_it_goes_on() {
    let runs = tempfile::tempdir().unwrap();
    let folder = runs.path().join("1");
    let journal = journal(1, "busy", 1 << 16);
    let mut gatherer = gatherer(&[&journal]);
    let policy = Policy { segment_bytes: SEGMENT, compress: Some(1) };
    let mut recorder = Recorder::open(&folder, &description(&[&journal]), policy, clock().now()).unwrap();
    recorder.keep(Keep::new(runs.path().to_owned(), Some(3 * SEGMENT), Duration::ZERO));
    // Such bytes stay as many when they are compressed.
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut writer = journal.writer(0, clock()).unwrap();
    for number in 0..8_000_u64 {
        let mut payload = [0_u8; 200];
        random.fill_bytes(&mut payload);
        write(&mut writer, 1, 0, &payload);
        if number % 40 == 0 {
            let fill = |bytes: &mut Vec<u8>| {
                bytes.extend_from_slice(&[0; 24]);
                Ok::<_, Infallible>((0, 0))
            };
            let cursors = |batch: &mut recorder::write::Batch, _: &[recorder::read::Counts]| {
                let Ok(_) = batch.block(Kind::Cursors, 0, fill);
            };
            gatherer.cut(&mut recorder, clock().now(), cursors).unwrap();
        }
    }
    // In the background, when all is closed.
    let watchdog = Instant::now() + Duration::from_secs(60);
    while removed(&folder).unwrap().is_empty() {
        assert!(Instant::now() < watchdog, "nothing was removed");
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(recorder);
    let recording = Recording::open(&folder).unwrap();
    assert!(recording.removed().count() > 0);
    let verified = recording.verify().unwrap();
    assert!(verified.is_clean(), "{:?}", verified.findings);
    let (frames, missing) = all(&recording, "busy", journal.head() - (1 << 16));
    assert!(frames >= 200 && missing.is_empty(), "{frames} {missing:?}");
}

/// A recovery of several recordings goes back to the earliest end of all.
#[test]
fn what_a_recovery_needs_stays_also_while_another_recorder_lags() {
    for lag in [1_000, 3_000, 5_900] {
        let runs = tempfile::tempdir().unwrap();
        let (folder, other) = (runs.path().join("fast/2"), runs.path().join("slow/2"));
        run_with(&folder, 6_000, |number| {
            if number == 6_000 - lag {
                run(&other, 100);
            }
        });
        let then = Recording::open(&other).unwrap().end().time;
        let held = |recording: &Recording| {
            let ends = recording.ends().unwrap();
            let from = ends[0].unwrap().saturating_sub(1 << 16);
            (
                ends,
                recording.state(|_, _| 0).unwrap(),
                all(recording, "busy", from),
                all(recording, "quiet", 0),
            )
        };
        let before = held(&Recording::open_until(&folder, then).unwrap());
        let keep = Keep::new(runs.path().join("fast"), Some(1), Duration::ZERO);
        let keep = keep.beside(vec![runs.path().join("slow")]);
        let done = retain(&folder, &keep, clock().now()).unwrap();
        let after = held(&Recording::open_until(&folder, then).unwrap());
        assert_eq!((after.2.1.len(), &after), (0, &before), "{lag} frames behind: {done:?}");
        assert!(Recording::open(&folder).unwrap().verify().unwrap().is_clean());
        assert_eq!(done.removed > 0, lag < 5_000, "what is older may go: {done:?}");
    }
    // One of which nothing is there yet may be at the very start.
    let runs = tempfile::tempdir().unwrap();
    run(&runs.path().join("fast/2"), 6_000);
    let keep = Keep::new(runs.path().join("fast"), Some(1), Duration::ZERO);
    let keep = keep.beside(vec![runs.path().join("slow")]);
    assert_eq!(retain(&runs.path().join("fast/2"), &keep, clock().now()).unwrap().removed, 0);
}
