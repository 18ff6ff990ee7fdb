//! After set-up nothing allocates: checked with a counting global allocator.
#![cfg(not(miri))] // Files and processes.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use journal::wait::{Parker, wake};
use journal::{Merge, Reader, Registry, Topics, WriteError, Writer};
use support::{SMALL, clock};

/// The system's allocator, counting this thread's requests.
struct Counting;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    CALLS.with(|calls| calls.set(calls.get() + 1));
}

// SAFETY: forwards everything to the system's allocator; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: our caller's promises are those the system's allocator needs.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count();
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn calls() -> u64 {
    CALLS.with(Cell::get)
}

/// Writes one frame: alone, in a batch or in a claim; now and then something that is dropped.
fn write(writer: &mut Writer, round: usize, payload: &[u8]) {
    let topic = round as u32 % 16;
    match round % 4 {
        0 => {
            let mut batch = writer.batch();
            batch.push(1, topic, payload).unwrap();
            assert!(batch.commit().is_some());
        }
        1 => {
            let mut claim = writer.claim(1, topic, 3_000).unwrap();
            let (first, second) = payload.split_at(payload.len() / 3);
            claim.put(first).unwrap();
            claim.write_all(second).unwrap();
            claim.commit();
        }
        2 => {
            // More topics than a batch distinguishes; and a claim: neither is committed.
            let mut batch = writer.batch();
            (0..16).for_each(|topic| assert!(batch.push(1, topic, &[]).is_ok()));
            drop(batch);
            writer.claim(1, topic, 10).unwrap().put(b"dropped").unwrap();
            writer.write(1, topic, payload).unwrap();
        }
        _ => assert!(writer.write(1, topic, payload).is_ok()),
    }
}

#[test]
fn nothing_allocates_after_set_up() {
    let (_directory, _files, journal) = support::journal(SMALL);
    let registry = Arc::new(Registry::in_memory(64, clock()).unwrap());
    let mut writer = journal.writer(63, clock()).unwrap();
    writer.wake_through(Arc::clone(&registry));
    journal.set_interest(0, None).unwrap();
    let parker = Parker::new(Arc::clone(&registry), 0).unwrap();
    let mut gated = Reader::Gated(journal.gated(0).unwrap());
    let mut bulk = journal.gated(5).unwrap();
    let mut loose = Reader::Loose(journal.loose(1).unwrap());
    let mut narrow = journal.loose(2).unwrap();
    narrow.set_topics(Topics::only([3]));
    let mut sleeper = journal.loose(3).unwrap();
    let mut merge = Merge::new(vec![Reader::Loose(journal.loose(4).unwrap())]);
    let payload = [7; 3_000];
    let mut frames = 0_u64;
    let before = calls();
    assert!(before > 0, "the count counts");
    for round in 0..20_000_usize {
        write(&mut writer, round, &payload[..round % 3_000]);
        for reader in [&mut gated, &mut loose] {
            assert!(reader.peek_time().unwrap().is_some());
            frames += u64::from(reader.read().unwrap().is_some());
            reader.publish();
        }
        frames += bulk.read_batch(10, |frame| assert_eq!(frame.payload.len(), round % 3_000)).unwrap() as u64;
        let _ = narrow.read().unwrap();
        frames += u64::from(merge.next().unwrap().is_some());
        if round % 1_000 == 0 {
            // Lapped.
            let _ = sleeper.read();
            assert!(parker.park(Duration::from_micros(50), || false).is_some());
            wake(&registry, 0);
        }
    }
    while writer.write(1, 0, &payload).is_ok() {}
    assert!(matches!(writer.write(1, 0, &payload), Err(WriteError::Full { .. })));
    assert!(writer.write(1, 99, &payload).is_err());
    assert!(writer.claim(1, 0, 3_000).is_err() && writer.batch().push(1, 0, &payload).is_err());
    let _ = (journal.head(), journal.is_drained(), gated.position());
    registry.occupy(0).unwrap().add(3, 1);
    let after = calls();
    println!("{frames} frames read, {} allocator calls", after - before);
    assert_eq!(after, before);
    assert_eq!(frames, 80_000);
}
