//! Models of sleeping and waking: SYNC: park.

use std::sync::Arc;

use super::futex::{expire, futex_wake};
use super::stage::explore;
use super::support::{GATED, LONG, LOOSE, drain, journal, registry, write, writer};
use super::sync::{is_dead, kill_after, spawn};
use crate::files::registry::Registry;
use crate::ring::journal::Journal;
use crate::ring::reader::Reader;
use crate::sync::{Ordering, fence};
use crate::wait::{Parker, Wakeup, announce, force_wake, wake};

fn write_and_wake(journal: &Journal, registry: &Arc<Registry>, numbers: std::ops::RangeInclusive<u16>) {
    let mut writer = writer(journal);
    writer.wake_through(Arc::clone(registry));
    for number in numbers {
        write(&mut writer, number, 0).unwrap();
    }
}

/// Sleeps until the readers together have read `frames` frames.
fn sleep_until(parker: &Parker, readers: &mut [Reader], frames: usize) {
    let mut seen = Vec::new();
    loop {
        for reader in readers.iter_mut() {
            drain(reader, &mut seen);
        }
        if seen.len() >= frames {
            assert_eq!(seen.len(), frames);
            return;
        }
        let wakeup = parker.park(LONG, || readers.iter().any(Reader::has_news));
        assert_ne!(wakeup, Some(Wakeup::TimedOut), "time does not pass in this model");
    }
}

#[test]
fn no_commit_is_slept_through() {
    explore("park and commit", 3, || {
        let (journal, registry) = (journal(1, 8), registry());
        journal.set_interest(GATED, None).unwrap();
        announce(&registry);
        let mut readers = [Reader::Gated(journal.gated(GATED).unwrap())];
        let writing = {
            let (journal, registry) = (Arc::clone(&journal), Arc::clone(&registry));
            spawn(1, move || write_and_wake(&journal, &registry, 1..=2))
        };
        sleep_until(&Parker::new(registry, GATED).unwrap(), &mut readers, 2);
        writing.join().unwrap();
    });
}

#[test]
fn one_word_serves_the_writers_of_two_journals() {
    explore("park, two writers", 2, || {
        let (journals, registry) = ([journal(1, 4), journal(2, 4)], registry());
        let mut readers = Vec::new();
        for journal in &journals {
            journal.set_interest(GATED, None).unwrap();
            readers.push(Reader::Loose(journal.loose(GATED).unwrap()));
        }
        announce(&registry);
        let mut number = 0;
        let writing = journals.map(|journal| {
            let registry = Arc::clone(&registry);
            number += 1;
            spawn(number, move || write_and_wake(&journal, &registry, 1..=1))
        });
        sleep_until(&Parker::new(registry, GATED).unwrap(), &mut readers, 2);
        for writing in writing {
            writing.join().unwrap();
        }
    });
}

/// A writer without compare-and-swap stores AWAKE. That may cover the word of a later sleep, which its call then ends.
#[test]
fn a_waker_that_stores_loses_no_sleeper() {
    explore("park, wakers that store", 2, || {
        let (journals, registry) = ([journal(1, 4), journal(2, 4)], registry());
        let mut readers = journals.each_ref().map(|journal| Reader::Loose(journal.loose(GATED).unwrap()));
        let mut number = 0;
        let writing = journals.map(|journal| {
            let registry = Arc::clone(&registry);
            number += 1;
            spawn(number, move || {
                write(&mut writer(&journal), 1, 0).unwrap();
                // SYNC: park.
                fence(Ordering::SeqCst);
                let word = registry.wait_word(GATED);
                if word.load(Ordering::Relaxed) == 1 {
                    word.store(0, Ordering::Release);
                    futex_wake(word);
                }
            })
        });
        sleep_until(&Parker::new(registry, GATED).unwrap(), &mut readers, 2);
        for writing in writing {
            writing.join().unwrap();
        }
    });
}

/// A node that dozes is woken by what it is to be woken for, and by nothing of the journal that may wait. Once it parks, that
/// journal wakes it too, although its writer may still have seen the word of the doze.
#[test]
fn who_dozes_is_woken_for_what_is_urgent_and_misses_nothing_when_it_parks() {
    explore("doze, then park", 2, || {
        let (journals, registry) = ([journal(1, 4), journal(2, 4)], registry());
        let mut readers = journals.each_ref().map(|journal| {
            journal.set_interest(GATED, None).unwrap();
            Reader::Loose(journal.loose(GATED).unwrap())
        });
        announce(&registry);
        let mut number = 0;
        let writing = journals.map(|journal| {
            let registry = Arc::clone(&registry);
            number += 1;
            spawn(number, move || write_and_stay(&journal, &registry))
        });
        let parker = Parker::new(registry, GATED).unwrap();
        let mut seen = [Vec::new(), Vec::new()];
        while seen[0].is_empty() {
            let wakeup = parker.doze(LONG, 2, || readers.iter().any(Reader::has_news));
            assert_ne!(wakeup, Some(Wakeup::TimedOut), "time does not pass in this model");
            let urgent = readers[0].has_news();
            assert!(wakeup != Some(Wakeup::Woken) || urgent, "woken by what may wait");
            readers.iter_mut().zip(&mut seen).for_each(|(reader, seen)| drain(reader, seen));
        }
        while seen[1].is_empty() {
            let wakeup = parker.park(LONG, || readers[1].has_news());
            assert_ne!(wakeup, Some(Wakeup::TimedOut), "time does not pass in this model");
            drain(&mut readers[1], &mut seen[1]);
        }
        for writing in writing {
            writing.join().unwrap();
        }
    });
}

/// One message wakes the seat that wants its topic; the other sleeps on.
#[test]
fn only_who_wants_the_topic_is_woken() {
    explore("park, two seats", 2, || {
        let (journal, registry) = (journal(1, 4), registry());
        journal.set_interest(GATED, Some(&[1])).unwrap();
        journal.set_interest(LOOSE, Some(&[0])).unwrap();
        announce(&registry);
        let mut readers = [Reader::Loose(journal.loose(GATED).unwrap())];
        let sleeping = {
            let registry = Arc::clone(&registry);
            spawn(1, move || sleep_until_phase_1(&registry))
        };
        let writing = {
            let (journal, registry) = (Arc::clone(&journal), Arc::clone(&registry));
            // Seat 1 wants topic 1.
            spawn(2, move || write_and_stay(&journal, &registry))
        };
        sleep_until(&Parker::new(Arc::clone(&registry), GATED).unwrap(), &mut readers, 1);
        writing.join().unwrap();
        registry.set_phase(1);
        wake(&registry, LOOSE);
        sleeping.join().unwrap();
    });
}

/// Fails when the seat is woken before the phase is 1.
fn sleep_until_phase_1(registry: &Arc<Registry>) {
    let parker = Parker::new(Arc::clone(registry), LOOSE).unwrap();
    while registry.phase() != 1 {
        let wakeup = parker.park(LONG, || registry.phase() == 1);
        assert!(wakeup != Some(Wakeup::Woken) || registry.phase() == 1, "woken for nothing");
    }
}

fn write_and_stay(journal: &Journal, registry: &Arc<Registry>) {
    let mut writer = writer(journal);
    writer.wake_through(Arc::clone(registry));
    write(&mut writer, 1, 0).unwrap();
    // Leaving wakes every seat, which this model does not test.
    kill_after(Some(0));
}

/// A writer that is killed between the exchange and the call leaves a sleeper that is never woken: the time-out ends
/// the sleep, and no committed frame is overlooked then.
#[test]
fn the_time_out_saves_whom_a_killed_waker_left_asleep() {
    for stores in 0..30 {
        explore(&format!("waker killed after {stores} stores"), 2, move || {
            let (journal, registry) = (journal(1, 4), registry());
            journal.set_interest(GATED, None).unwrap();
            announce(&registry);
            let mut reader = Reader::Gated(journal.gated(GATED).unwrap());
            let writing = {
                let (journal, registry) = (Arc::clone(&journal), Arc::clone(&registry));
                spawn(1, move || {
                    kill_after(Some(stores));
                    write_and_wake(&journal, &registry, 1..=1);
                    let killed = is_dead();
                    kill_after(None);
                    // Stands for master, which tells every node to stop, or for the clock.
                    registry.set_phase(1);
                    if killed {
                        expire();
                    } else {
                        wake(&registry, GATED);
                    }
                })
            };
            let parker = Parker::new(Arc::clone(&registry), GATED).unwrap();
            let mut seen = Vec::new();
            loop {
                let stopping = registry.phase() == 1;
                drain(&mut reader, &mut seen);
                if stopping {
                    break;
                }
                parker.park(LONG, || reader.has_news() || registry.phase() == 1);
            }
            writing.join().unwrap();
            let mut witness = Reader::Loose(journal.loose_from_start().unwrap());
            let mut committed = Vec::new();
            drain(&mut witness, &mut committed);
            assert_eq!(seen, committed);
        });
    }
}

/// The same with a master that has noticed the death: it wakes the sleeper, and no time passes.
#[test]
fn whom_a_killed_waker_left_asleep_is_roused() {
    for stores in 0..30 {
        explore(&format!("waker killed after {stores} stores, and noticed"), 2, move || {
            let (journal, registry) = (journal(1, 4), registry());
            journal.set_interest(GATED, None).unwrap();
            announce(&registry);
            let mut reader = Reader::Gated(journal.gated(GATED).unwrap());
            let writing = {
                let (journal, registry) = (Arc::clone(&journal), Arc::clone(&registry));
                spawn(1, move || {
                    kill_after(Some(stores));
                    write_and_wake(&journal, &registry, 1..=1);
                    // From here on this thread is master: what the dead one stored is visible once its pidfd reports
                    // the end.
                    kill_after(None);
                    registry.set_phase(1);
                    force_wake(&registry, GATED);
                })
            };
            let parker = Parker::new(Arc::clone(&registry), GATED).unwrap();
            let mut seen = Vec::new();
            loop {
                let noticed = registry.phase() == 1;
                drain(&mut reader, &mut seen);
                if noticed {
                    break;
                }
                let wakeup = parker.park(LONG, || reader.has_news() || registry.phase() == 1);
                assert_ne!(wakeup, Some(Wakeup::TimedOut), "time does not pass in this model");
            }
            writing.join().unwrap();
            let mut witness = Reader::Loose(journal.loose_from_start().unwrap());
            let mut committed = Vec::new();
            drain(&mut witness, &mut committed);
            assert_eq!(seen, committed);
        });
    }
}
