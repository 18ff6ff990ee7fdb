//! A model of waiting for the disk: SYNC: durable.

use std::sync::Arc;

use super::stage::explore;
use super::support::{GATED, LONG, LOOSE, drain, journal, registry, write, writer};
use super::sync::spawn;
use crate::ring::reader::{Reader, View};
use crate::wait::{Parker, Wakeup, announce};

/// Seat of the recorder.
const RECORDER: u32 = LOOSE;

#[test]
fn nothing_that_came_to_disk_is_slept_through_and_nothing_is_seen_before() {
    explore("park and durable", 2, || {
        let (journal, registry) = (journal(1, 8), registry());
        let mut reader = journal.gated(GATED).unwrap();
        reader.set_view(View::Durable);
        let mut readers = [Reader::Gated(reader)];
        journal.set_durable_interest(GATED, true).unwrap();
        journal.admit_gated(RECORDER).unwrap();
        announce(&registry);
        let recording = {
            let (journal, registry) = (Arc::clone(&journal), Arc::clone(&registry));
            let mut recorder = journal.gated(RECORDER).unwrap();
            recorder.make_durable(Some(registry));
            spawn(1, move || {
                let mut writer = writer(&journal);
                for number in 1..=2 {
                    write(&mut writer, number, 0).unwrap();
                    let chunk = recorder.read_bytes(64).unwrap().expect("just written");
                    let end = chunk.position + chunk.bytes.len() as u64;
                    recorder.publish();
                    recorder.keep(end);
                }
            })
        };
        let parker = Parker::new(registry, GATED).unwrap();
        let mut seen = Vec::new();
        while seen.len() < 2 {
            drain(&mut readers[0], &mut seen);
            let end = journal.durable().expect("a recorder");
            assert!(readers[0].position() <= end, "it was seen before it was on disk");
            if seen.len() < 2 {
                let wakeup = parker.park(LONG, || readers[0].has_news());
                assert_ne!(wakeup, Some(Wakeup::TimedOut), "time does not pass in this model");
            }
        }
        recording.join().unwrap();
    });
}
