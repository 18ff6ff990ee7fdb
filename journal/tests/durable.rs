//! What is on disk: recorders say so, readers wait for it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use journal::reader::View;
use journal::wait::{Doorbell, Parker, Wakeup, announce};
use journal::{Journal, ReadError, Registry};
use support::{SMALL, clock, payload};

const RECORDER: u32 = 5;
const OTHER: u32 = 6;
const READER: u32 = 9;

fn journal() -> Journal {
    Journal::in_memory(support::shape("t", SMALL)).unwrap()
}

/// Reads all there is, and says that it is on disk.
fn record(recorder: &mut journal::GatedReader, disk: &mut Vec<u8>) {
    while let Some(chunk) = recorder.read_bytes(1_000).unwrap() {
        disk.extend_from_slice(chunk.bytes);
    }
    recorder.publish();
    recorder.keep(recorder.position());
}

#[test]
fn what_is_recorded_is_the_ring_byte_for_byte() {
    let journal = journal();
    journal.admit_gated(RECORDER).unwrap();
    let mut recorder = journal.gated(RECORDER).unwrap();
    recorder.make_durable(None);
    let mut writer = journal.writer(0, clock()).unwrap();
    let (mut disk, mut written) = (Vec::new(), Vec::new());
    for number in 0..2_000_u64 {
        let body = payload(number, number as usize % 300);
        written.push((writer.write(number as u16, 3, &body).unwrap().position, body));
        if number % 50 == 0 {
            record(&mut recorder, &mut disk);
        }
    }
    record(&mut recorder, &mut disk);
    let first = journal.first_position();
    assert_eq!(disk.len() as u64, journal.head() - first);
    for (position, body) in &written {
        let frame = &disk[(position - first) as usize..];
        assert_eq!(frame[..8], position.to_le_bytes());
        assert_eq!(frame[32..32 + body.len()], body[..]);
    }
    assert!(written.last().unwrap().0 > 3 * SMALL, "it went round");
    assert_eq!((journal.durable(), writer.durable()), (Some(journal.head()), Some(journal.head())));
}

#[test]
fn a_view_of_the_disk_ends_where_the_slowest_recorder_stands() {
    let journal = journal();
    let mut early = journal.gated(READER).unwrap();
    early.set_view(View::Durable);
    let mut writer = journal.writer(0, clock()).unwrap();
    for seat in [RECORDER, OTHER] {
        journal.admit_gated(seat).unwrap();
    }
    writer.write(1, 0, b"first").unwrap();
    assert!(!early.has_news() && early.read().unwrap().is_none(), "nobody records");
    let mut recorders = [RECORDER, OTHER].map(|seat| journal.gated(seat).unwrap());
    for recorder in &mut recorders {
        recorder.make_durable(None);
    }
    assert_eq!(journal.durable(), Some(journal.first_position()));
    let mut disk = Vec::new();
    record(&mut recorders[0], &mut disk);
    assert!(!early.has_news() && early.read().unwrap().is_none(), "the other has nothing yet");
    record(&mut recorders[1], &mut disk);
    assert!(early.has_news());
    assert_eq!(early.read().unwrap().unwrap().payload, b"first");
    writer.write(1, 0, b"second").unwrap();
    assert!(!early.has_news() && early.read().unwrap().is_none());
    early.set_view(View::Committed);
    assert_eq!(early.read().unwrap().unwrap().payload, b"second");
    let readers = journal.stat().readers;
    assert_eq!(readers.iter().filter(|reader| reader.durable).count(), 2);
    // One that is dismissed no longer counts.
    drop(recorders);
    journal.dismiss(OTHER).unwrap();
    assert_eq!(journal.stat().readers.iter().filter(|reader| reader.durable).count(), 1);
}

#[test]
fn a_recorder_that_is_killed_resumes_at_what_it_kept() {
    let journal = journal();
    journal.admit_gated(RECORDER).unwrap();
    let mut recorder = journal.gated(RECORDER).unwrap();
    recorder.make_durable(None);
    let mut writer = journal.writer(0, clock()).unwrap();
    let mut disk = Vec::new();
    writer.write(1, 0, b"on disk").unwrap();
    record(&mut recorder, &mut disk);
    let kept = journal.durable().unwrap();
    // Read, and not on disk yet: the writer fills the ring and must stop there.
    let mut written = 0_u64;
    while writer.write(2, 0, &written.to_le_bytes()).is_ok() {
        written += 1;
        while recorder.read_bytes(4_096).unwrap().is_some() {}
        recorder.publish();
    }
    drop(recorder);
    let holder = journal.stat().readers[0];
    assert_eq!((holder.holds, holder.durable), (Some(kept), true), "stat names who holds the ring");
    let mut again = journal.gated(RECORDER).unwrap();
    assert!(again.read_bytes(4_096).unwrap().is_none());
    again.rewind();
    let mut seen = 0;
    while let Some(frame) = again.read().unwrap() {
        assert_eq!(frame.payload, u64::to_le_bytes(seen));
        seen += 1;
    }
    assert_eq!(seen, written);
    assert_eq!(journal.durable(), Some(kept));
}

#[test]
fn a_loose_view_of_the_disk_is_lapped_like_any_other() {
    let journal = journal();
    journal.admit_gated(RECORDER).unwrap();
    let mut recorder = journal.gated(RECORDER).unwrap();
    recorder.make_durable(None);
    let mut loose = journal.loose(READER).unwrap();
    loose.set_view(View::Durable);
    let mut writer = journal.writer(0, clock()).unwrap();
    for _ in 0..3 * SMALL / 64 {
        writer.write(1, 0, b"text").unwrap();
        record(&mut recorder, &mut Vec::new());
    }
    assert!(matches!(loose.read(), Err(ReadError::Lapped(_))));
    assert!(loose.read().unwrap().is_none());
}

/// The sleeper has no interest in any topic: only the disk wakes it, by its word or by its bell.
#[test]
fn who_waits_for_the_disk_sleeps_through_commits_and_is_woken_by_it() {
    for by_bell in [false, true] {
        let watchdog = support::Watchdog::start("a sleeper until the disk", Duration::from_secs(120));
        let journal = Arc::new(journal());
        let registry = Arc::new(Registry::in_memory(64, clock()).unwrap());
        journal.admit_gated(RECORDER).unwrap();
        let mut reader = journal.gated(READER).unwrap();
        reader.set_view(View::Durable);
        journal.set_durable_interest(READER, true).unwrap();
        let mut bell =
            by_bell.then(|| Doorbell::install(Arc::clone(&registry), READER, [journal.shape().id]).unwrap());
        announce(&registry);
        let writing = {
            let (journal, registry) = (Arc::clone(&journal), Arc::clone(&registry));
            std::thread::spawn(move || {
                let mut recorder = journal.gated(RECORDER).unwrap();
                recorder.make_durable(Some(Arc::clone(&registry)));
                let mut writer = journal.writer(0, clock()).unwrap();
                writer.wake_through(registry);
                for number in 0..200_u64 {
                    writer.write(1, 0, &number.to_le_bytes()).unwrap();
                    record(&mut recorder, &mut Vec::new());
                }
            })
        };
        let parker = Parker::new(registry, READER).unwrap();
        let mut rung = 0;
        let mut next = 0_u64;
        while next < 200 {
            while let Some(frame) = reader.read().unwrap() {
                assert_eq!(frame.payload, next.to_le_bytes());
                next += 1;
            }
            if next < 200 {
                let wakeup = parker.park(Duration::from_secs(60), || reader.has_news());
                assert_ne!(wakeup, Some(Wakeup::TimedOut));
                if let Some(bell) = &mut bell {
                    bell.poll(|_| rung += 1);
                }
            }
        }
        writing.join().unwrap();
        // The reader may have kept up without a park: what rang meanwhile is counted here.
        if let Some(bell) = &mut bell {
            bell.poll(|_| rung += 1);
        }
        assert!(!by_bell || rung > 0);
        watchdog.stop();
    }
}

/// A writer that goes on while the disk refuses has overwritten what its recorder owes: nobody may be made to wait for that.
#[test]
fn what_a_recorder_owes_is_seen_and_holds_no_writer_up() {
    let journal = journal();
    journal.admit_gated(RECORDER).unwrap();
    let mut writer = journal.writer(0, clock()).unwrap();
    let mut recorder = journal.gated(RECORDER).unwrap();
    let owed = recorder.position();
    let body = payload(1, 200);
    for round in 0..5 {
        // More than the ring holds, and passed over.
        while journal.head() < owed + (round + 1) * SMALL {
            writer.write(1, 0, &body).unwrap();
            while recorder.read_bytes(usize::MAX).unwrap().is_some() {}
            recorder.publish();
            recorder.keep(recorder.position());
        }
    }
    recorder.owe(owed);
    let kept = recorder.position();
    drop(recorder);
    assert_eq!(journal.finished_by(RECORDER), owed, "it is seen from outside");
    let free = (0..).take_while(|_| writer.write(1, 0, &body).is_ok()).count() as u64;
    assert!(free > SMALL / 512, "only {free} frames found room behind position {kept}");
    let mut successor = journal.gated(RECORDER).unwrap();
    successor.rewind();
    successor.owe_nothing();
    assert_eq!(successor.position(), kept);
    let mut bytes = 0;
    while let Some(chunk) = successor.read_bytes(usize::MAX).unwrap() {
        bytes += chunk.bytes.len() as u64;
    }
    assert_eq!(kept + bytes, journal.head());
    assert_eq!(journal.finished_by(RECORDER), kept);
}
