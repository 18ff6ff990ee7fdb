//! Models of notification by doorbell and by relay: SYNC: bell, SYNC: relay.

use std::sync::Arc;

use super::stage::explore;
use super::support::{GATED, LONG, LOOSE, WRITER, drain, journal, registry, write, writer};
use super::sync::{hear_announcements, kill_after, spawn};
use crate::files::registry::Registry;
use crate::layout::registry as at;
use crate::relay::Relay;
use crate::ring::journal::Journal;
use crate::ring::reader::Reader;
use crate::sync::{Ordering, fence};
use crate::wait::{Doorbell, Parker, Wakeup, announce, wake};

/// Writes `frames` frames and does not leave: leaving wakes every seat, which these models do not test.
fn write_and_stay(journal: &Journal, registry: &Arc<Registry>, frames: u16) {
    let mut writer = writer(journal);
    writer.wake_through(Arc::clone(registry));
    for number in 1..=frames {
        write(&mut writer, number, 0).unwrap();
    }
    kill_after(Some(0));
}

/// A reader that reads only the journals its bell names, and sleeps as nodes do: after a look at every journal. The
/// bell decides whether it sleeps; the look before the sleep must find no frame that the bell does not report.
#[test]
fn the_bell_tells_of_every_frame() {
    explore("bell", 2, || {
        let (journal, registry) = (journal(1, 8), registry());
        journal.set_interest(GATED, None).unwrap();
        let mut bell = Doorbell::install(Arc::clone(&registry), GATED, [1]).unwrap();
        announce(&registry);
        let mut readers = [Reader::Gated(journal.gated(GATED).unwrap())];
        let writing = {
            let (journal, registry) = (Arc::clone(&journal), Arc::clone(&registry));
            spawn(1, move || write_and_stay(&journal, &registry, 2))
        };
        let parker = Parker::new(registry, GATED).unwrap();
        let mut seen = Vec::new();
        while seen.len() < 2 {
            let mut due = false;
            bell.poll(|_| due = true);
            if due {
                drain(&mut readers[0], &mut seen);
            } else {
                let mut unheard = false;
                let wakeup = parker.park(LONG, || {
                    unheard = readers[0].has_news();
                    unheard
                });
                assert_ne!(wakeup, Some(Wakeup::TimedOut), "time does not pass in this model");
                if unheard {
                    drain(&mut readers[0], &mut seen);
                }
            }
        }
        writing.join().unwrap();
    });
}

/// Without sleeping in between: when the writer is done, the bell reports every frame that it has not reported before.
#[test]
fn no_frame_stays_behind_an_answered_bell() {
    explore("bell, answered while rung", 3, || {
        let (journal, registry) = (journal(1, 8), registry());
        journal.set_interest(GATED, None).unwrap();
        let mut bell = Doorbell::install(Arc::clone(&registry), GATED, [1]).unwrap();
        announce(&registry);
        let mut reader = Reader::Gated(journal.gated(GATED).unwrap());
        let writing = {
            let (journal, registry) = (Arc::clone(&journal), Arc::clone(&registry));
            spawn(1, move || write_and_stay(&journal, &registry, 2))
        };
        let mut seen = Vec::new();
        let mut answer = |reader: &mut Reader| {
            let mut due = false;
            bell.poll(|_| due = true);
            if due {
                drain(reader, &mut seen);
            }
        };
        answer(&mut reader);
        answer(&mut reader);
        answer(&mut reader);
        writing.join().unwrap();
        answer(&mut reader);
        answer(&mut reader);
        assert_eq!(seen.len(), 2);
    });
}

/// Two writers without atomic read-modify-writes: their stores hide each other, and no frame.
#[test]
fn no_frame_stays_behind_a_bell_rung_by_stores() {
    explore("bell, rung by stores", 2, || {
        let (journals, registry) = ([journal(1, 4), journal(2, 4)], registry());
        let mut bell = Doorbell::install(Arc::clone(&registry), GATED, [1, 2]).unwrap();
        let mut readers = journals.each_ref().map(|journal| Reader::Loose(journal.loose(GATED).unwrap()));
        let mut number = 0;
        let writing = journals.map(|journal| {
            let registry = Arc::clone(&registry);
            number += 1;
            spawn(number, move || {
                write(&mut writer(&journal), 1, 0).unwrap();
                // SYNC: bell.
                fence(Ordering::SeqCst);
                registry.bell(GATED, at::BELL_ALL - at::BELL).store(1, Ordering::Release);
            })
        });
        let mut seen = Vec::new();
        let mut answer = || {
            let mut due = false;
            bell.poll(|_| due = true);
            readers.iter_mut().filter(|_| due).for_each(|reader| drain(reader, &mut seen));
        };
        answer();
        answer();
        for writing in writing {
            writing.join().unwrap();
        }
        answer();
        answer();
        assert_eq!(seen.len(), 2);
    });
}

/// The writer notifies nothing. Either the relay finds the reader parked, or the reader sees the frame that the relay
/// saw.
#[test]
fn a_relay_wakes_whoever_parks_beside_its_look() {
    explore("relay", 2, || {
        let (journal, registry) = (journal(1, 8), registry());
        journal.set_interest(GATED, None).unwrap();
        let mut relay = Relay::new(Arc::clone(&registry), LOOSE, &[GATED]).unwrap();
        relay.follow(&journal).unwrap();
        relay.take_over();
        announce(&registry);
        let mut reader = Reader::Gated(journal.gated(GATED).unwrap());
        let writing = {
            let (journal, registry) = (Arc::clone(&journal), Arc::clone(&registry));
            spawn(1, move || write_and_stay(&journal, &registry, 1))
        };
        // One look concurrent with the writer, and one after it is done, which cannot miss the frame.
        let relaying = spawn(2, move || {
            relay.poll().unwrap();
            writing.join().unwrap();
            relay.poll().unwrap();
        });
        let parker = Parker::new(registry, GATED).unwrap();
        let mut seen = Vec::new();
        loop {
            drain(&mut reader, &mut seen);
            if !seen.is_empty() {
                break;
            }
            let wakeup = parker.park(LONG, || reader.has_news());
            assert_ne!(wakeup, Some(Wakeup::TimedOut), "time does not pass in this model");
        }
        relaying.join().unwrap();
    });
}

/// The relay is dead, and its seats are given back while the writer writes and the reader parks.
#[test]
fn nothing_is_lost_when_a_dead_relays_seats_are_given_back() {
    explore("relay given back", 2, || {
        let (journal, registry) = (journal(1, 8), registry());
        journal.set_interest(GATED, None).unwrap();
        Relay::new(Arc::clone(&registry), WRITER, &[GATED]).unwrap().take_over();
        announce(&registry);
        let mut reader = Reader::Gated(journal.gated(GATED).unwrap());
        let writing = {
            let (journal, registry) = (Arc::clone(&journal), Arc::clone(&registry));
            spawn(1, move || {
                hear_announcements();
                write_and_stay(&journal, &registry, 1);
            })
        };
        let giving = {
            let registry = Arc::clone(&registry);
            spawn(2, move || {
                hear_announcements();
                assert_eq!(Relay::give_back(&registry, WRITER), 1);
            })
        };
        let parker = Parker::new(Arc::clone(&registry), GATED).unwrap();
        let mut seen = Vec::new();
        loop {
            drain(&mut reader, &mut seen);
            if !seen.is_empty() {
                break;
            }
            parker.park(LONG, || reader.has_news());
        }
        writing.join().unwrap();
        giving.join().unwrap();
        assert!(!wake(&registry, GATED), "it is awake");
    });
}
