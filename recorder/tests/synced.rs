//! When what is recorded was on disk.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use recorder::read::Recording;
use recorder::write::{Policy, Recorder};
use support::{clock, description, frames, gatherer, journal, policy, recorder, write};

#[test]
fn each_frame_was_on_disk_when_its_cut_had_returned() {
    let folder = tempfile::tempdir().unwrap();
    let (quotes, orders) = (journal(1, "quotes", 1 << 16), journal(2, "orders", 1 << 16));
    let both = [&quotes, &orders];
    let mut gatherer = gatherer(&both);
    // Small segments: the time of a segment's last cut is in the next.
    let policy = Policy { segment_bytes: 1 << 12, compress: Some(1) };
    let mut recorder = Recorder::open(folder.path(), &description(&both), policy, clock().now()).unwrap();
    recorder.say_when_synced(clock());
    let mut writers = both.map(|journal| journal.writer(0, clock()).unwrap());
    let mut known = Vec::new();
    for number in 0..60_usize {
        let which = number % 2;
        let mut own = Vec::new();
        for _ in 0..=number % 3 {
            own.push(write(&mut writers[which], 1, 0, &[number as u8; 60]));
        }
        let before = clock().now();
        gatherer.cut(&mut recorder, before, |_, _| ()).unwrap();
        let after = clock().now();
        known.extend(own.into_iter().map(|held| (which, held, before, after)));
        assert!(recorder.unsaid_since().is_some_and(|since| (before..=after).contains(&since)));
    }
    let last_cut = known.last().unwrap().2;
    let check = |has_last: bool| {
        let recording = Recording::open(folder.path()).unwrap();
        assert!(recording.segments().len() > 3);
        let syncs = recording.syncs().unwrap();
        for (which, (position, ..), before, after) in &known {
            let journal = &recording.description().journals[*which];
            let time = recording.synced(journal, *position).unwrap();
            let mut reader = recording.frames(journal, *position);
            assert_eq!(reader.next().unwrap().unwrap().position, *position);
            assert_eq!(syncs.of(reader.cut()), time);
            if has_last || *before != last_cut {
                assert!(
                    time.is_some_and(|time| (*before..=*after).contains(&time)),
                    "{before}, {time:?}, {after}"
                );
            } else {
                assert_eq!(time, None, "nothing follows that could say it");
            }
        }
        let behind = known.last().unwrap().1.0 + 64_000;
        assert_eq!(recording.synced(&recording.description().journals[1], behind).unwrap(), None);
    };
    check(false);
    let idle = clock().now();
    assert!(!gatherer.has_news());
    recorder.write_idle(idle);
    assert_eq!((recorder.unsaid_since(), recorder.whole_until()), (None, idle));
    check(true);
    let idle = clock().now();
    recorder.write_idle(idle);
    drop(recorder);
    check(true);
    let closed = Recording::open(folder.path()).unwrap();
    assert_eq!(closed.end().time, idle, "it is known that nothing came until then");
    assert!(closed.verify().unwrap().findings.iter().all(|finding| !finding.kind.is_fault()));
}

#[test]
fn a_recording_without_times_says_none() {
    let folder = tempfile::tempdir().unwrap();
    let journal = journal(1, "orders", 1 << 16);
    let mut gatherer = gatherer(&[&journal]);
    let mut recorder = recorder(folder.path(), &[&journal]);
    let mut writer = journal.writer(0, clock()).unwrap();
    for _ in 0..3 {
        write(&mut writer, 1, 0, b"an order");
        gatherer.cut(&mut recorder, clock().now(), |_, _| ()).unwrap();
    }
    let recording = Recording::open(folder.path()).unwrap();
    let orders = recording.description().journal("orders").unwrap();
    assert!(recording.syncs().unwrap().is_empty());
    assert_eq!(recording.synced(orders, orders.first_position).unwrap(), None);
}

/// The last write of a cut may have taken all its blocks: then it has none left that could say that it ends.
#[test]
fn a_cut_that_ends_with_a_full_write_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let journal = journal(1, "orders", 1 << 23);
    let policy = Policy { segment_bytes: 1 << 24, ..policy() };
    let mut recorder =
        Recorder::open(folder.path(), &description(&[&journal]), policy, clock().now()).unwrap();
    let mut gatherer = gatherer(&[&journal]);
    let mut writer = journal.writer(0, clock()).unwrap();
    let mut held = Vec::new();
    // Frames of 1 KiB, so that four blocks are 4 MiB, which is written at once.
    for number in 0..4 * 1_024_u64 {
        held.push(write(&mut writer, 1, 0, &[number as u8; 1_024 - 32]));
    }
    gatherer.cut(&mut recorder, clock().now(), |_, _| ()).unwrap();
    assert_eq!(journal.durable(), Some(journal.head()));
    let (found, missing) = frames(&Recording::open(folder.path()).unwrap(), "orders");
    assert_eq!((found.len(), missing), (held.len(), Vec::new()), "it was said to be on disk");
    assert_eq!(found, held);
}
