//! Notification: doorbells, relays, a full ring; and threads that sleep and wake at full speed.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

mod support;

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use journal::wait::{Doorbell, Parker, Relay, Wakeup, announce, wake};
use journal::{GatedReader, Journal, JournalShape, Registry, WriteError, Writer};
use support::{SMALL, Watchdog, clock};

const SEAT: u32 = 5;
const RELAY: u32 = 9;
const LONG: Duration = Duration::from_secs(60);

fn registry() -> Arc<Registry> {
    Arc::new(Registry::in_memory(64, clock()).unwrap())
}

/// A journal of 16 topics, and its writer, which wakes through the registry.
fn journal(id: u32, registry: &Arc<Registry>) -> (Journal, Writer) {
    let shape = JournalShape {
        id,
        name: format!("journal-{id}"),
        capacity: SMALL,
        seats: 64,
        topics: 16,
        page: 4096,
    };
    let journal = Journal::in_memory(shape).unwrap();
    let mut writer = journal.writer(0, clock()).unwrap();
    writer.wake_through(Arc::clone(registry));
    (journal, writer)
}

/// The rung journals; each ring is reported in two calls.
fn answers(bell: &mut Doorbell) -> Vec<u32> {
    let (mut bits, mut again) = (Vec::new(), Vec::new());
    bell.poll(|bit| bits.push(bit));
    bell.poll(|bit| again.push(bit));
    assert_eq!(bits, again);
    bits
}

#[test]
fn a_bell_says_which_journals_have_news_once() {
    let registry = registry();
    // 448 has the bit of 0, which no journal has: ids start at 1.
    let ids = [1, 2, 63, 64, 447, 448];
    let mut journals: Vec<_> = ids.iter().map(|&id| journal(id, &registry)).collect();
    let mut bell = Doorbell::install(Arc::clone(&registry), SEAT, ids).unwrap();
    for (journal, _) in &journals {
        journal.set_interest(SEAT, Some(&[3])).unwrap();
    }
    announce(&registry);
    assert_eq!(answers(&mut bell), []);
    for (_, writer) in &mut journals {
        writer.write(1, 3, b"news").unwrap();
        writer.write(1, 3, b"more").unwrap();
        writer.write(1, 4, b"for others").unwrap();
    }
    let mut expected: Vec<u32> = ids.iter().map(|&id| Doorbell::bit(id)).collect();
    expected.sort_unstable();
    assert_eq!(answers(&mut bell), expected);
    assert_eq!(answers(&mut bell), [], "it was answered");
    journals[3].1.write(1, 4, b"for others").unwrap();
    assert_eq!(answers(&mut bell), []);
    journals[3].1.write(1, 3, b"news").unwrap();
    assert_eq!(answers(&mut bell), [64]);
    Doorbell::remove(&registry, SEAT);
    journals[3].1.write(1, 3, b"news").unwrap();
    assert_eq!(answers(&mut bell), [], "nobody rings where there is no bell");
}

/// A thread that sleeps until it has `frames` frames, and how its sleeps ended.
fn sleep_for(
    registry: &Arc<Registry>,
    mut reader: GatedReader,
    frames: usize,
) -> impl FnOnce() -> Vec<Wakeup> {
    let parker = Parker::new(Arc::clone(registry), SEAT).unwrap();
    move || {
        let (mut wakeups, mut seen) = (Vec::new(), 0);
        while seen < frames {
            if reader.read().unwrap().is_some() {
                seen += 1;
            } else if let Some(wakeup) = parker.park(LONG, || reader.has_news()) {
                wakeups.push(wakeup);
            }
        }
        wakeups
    }
}

/// Long enough for a thread to fall asleep on most hosts; where it is not, the test checks less, and still holds.
fn let_it_sleep() {
    thread::sleep(Duration::from_millis(5));
}

#[test]
fn a_relay_wakes_in_the_writers_stead_and_its_seats_can_be_given_back() {
    let _watchdog = Watchdog::start("relay", Duration::from_secs(60));
    let registry = registry();
    let (journal, mut writer) = journal(1, &registry);
    let reader = journal.gated(SEAT).unwrap();
    journal.set_interest(SEAT, Some(&[3])).unwrap();
    announce(&registry);
    let mut relay = Relay::new(Arc::clone(&registry), RELAY, &[SEAT]).unwrap();
    relay.follow(&journal).unwrap();
    assert!(!registry.is_relayed(SEAT));
    relay.take_over();
    assert!(registry.is_relayed(SEAT));
    thread::scope(|scope| {
        let sleeping = scope.spawn(sleep_for(&registry, reader, 2));
        let_it_sleep();
        writer.write(1, 4, b"for others").unwrap();
        assert_eq!(relay.poll(), Ok(0));
        writer.write(1, 3, b"news").unwrap();
        assert_eq!(journal.stat().wakes, 0, "the writer leaves it to the relay");
        let woken = relay.poll().unwrap();
        assert!(woken <= 1);
        assert_eq!(Relay::give_back(&registry, RELAY + 1), 0, "those of another relay stay");
        assert_eq!(Relay::give_back(&registry, RELAY), 1);
        assert!(!registry.is_relayed(SEAT));
        let_it_sleep();
        writer.write(1, 3, b"news").unwrap();
        let wakeups = sleeping.join().unwrap();
        assert!(wakeups.iter().all(|wakeup| *wakeup == Wakeup::Woken), "{wakeups:?}");
    });
    relay.take_over();
    assert!(registry.is_relayed(SEAT), "it can take them again");
    assert!(Relay::new(Arc::clone(&registry), RELAY, &[64]).is_none());
}

#[test]
fn a_seat_leaves_a_relay_that_shows_no_sign_of_life() {
    let registry = registry();
    let parker = Parker::new(Arc::clone(&registry), SEAT).unwrap();
    assert!(!parker.leave_silent_relay(1_000, 10), "it has no relay");
    Relay::new(Arc::clone(&registry), RELAY, &[SEAT]).unwrap().take_over();
    registry.occupy(RELAY).unwrap().set_heartbeat(995);
    assert!(!parker.leave_silent_relay(1_000, 10));
    assert!(parker.leave_silent_relay(1_100, 10));
    assert!(!registry.is_relayed(SEAT));
}

/// A gated reader that sleeps through topics that it does not want holds up the writer until it looks.
#[test]
fn a_full_ring_wakes_the_reader_that_blocks_it() {
    let _watchdog = Watchdog::start("full", Duration::from_secs(60));
    for relayed in [false, true] {
        let registry = registry();
        let (journal, mut writer) = journal(1, &registry);
        let mut reader = journal.gated(SEAT).unwrap();
        reader.set_topics(journal::Topics::only([3]));
        journal.set_interest(SEAT, Some(&[3])).unwrap();
        announce(&registry);
        if relayed {
            Relay::new(Arc::clone(&registry), RELAY, &[SEAT]).unwrap().take_over();
        }
        thread::scope(|scope| {
            let sleeping = scope.spawn(sleep_for(&registry, reader, 1));
            let_it_sleep();
            let mut full = 0;
            // Three laps; in an interpreter, a little more than one.
            let (bytes, laps) = if cfg!(miri) { (512, 1) } else { (64, 3) };
            let for_others = vec![7; support::payload_of_frame(bytes)];
            for _ in 0..laps * SMALL / bytes + 20 {
                while let Err(error) = writer.write(1, 4, &for_others) {
                    assert!(matches!(error, WriteError::Full { .. }));
                    full += 1;
                    thread::yield_now();
                }
            }
            while writer.write(1, 3, b"the end").is_err() {
                thread::yield_now();
            }
            while !sleeping.is_finished() {
                // Nobody polls the relay in this test.
                wake(&registry, SEAT);
                thread::yield_now();
            }
            let wakeups = sleeping.join().unwrap();
            assert!(wakeups.iter().all(|wakeup| *wakeup == Wakeup::Woken), "{wakeups:?}");
            println!("relayed {relayed}: {full} times full, {} wake-ups", wakeups.len());
        });
    }
}

/// What a reader keeps holds up the writer as much as what it has not read.
#[test]
fn a_full_ring_wakes_the_reader_that_keeps_it() {
    let _watchdog = Watchdog::start("kept ring", Duration::from_secs(60));
    let registry = registry();
    let (journal, mut writer) = journal(1, &registry);
    let mut reader = journal.gated(SEAT).unwrap();
    reader.keep(reader.position());
    while writer.write(1, 4, b"kept").is_ok() {
        assert!(reader.read().unwrap().is_some());
    }
    assert!(reader.read().unwrap().is_none());
    let parker = Parker::new(Arc::clone(&registry), SEAT).unwrap();
    thread::scope(|scope| {
        let sleeping = scope.spawn(move || parker.park(Duration::from_secs(10), || false));
        while !sleeping.is_finished() {
            assert!(matches!(writer.write(1, 4, b"no room"), Err(WriteError::Full { .. })));
            thread::yield_now();
        }
        assert_eq!(sleeping.join().unwrap(), Some(Wakeup::Woken));
    });
    reader.keep(reader.position());
    assert!(writer.write(1, 4, b"room").is_ok());
}

/// Writers and a reader that sleep and wake as fast as they can; a reader with a bell looks only at journals that rang.
/// No sleep may end by its time-out, and the bell may miss nothing.
#[test]
fn nothing_is_slept_through_at_full_speed() {
    const WRITERS: u32 = 3;
    let frames: u64 = if cfg!(miri) {
        20
    } else {
        std::env::var("COLO_STRESS").ok().and_then(|text| text.parse().ok()).unwrap_or(30_000)
    };
    let _watchdog = Watchdog::start("waiting", Duration::from_secs(120) * (1 + frames as u32 / 30_000));
    for (with_bell, with_relay) in [(false, false), (true, false), (false, true)] {
        let registry = registry();
        let (journals, writers): (Vec<_>, Vec<_>) = (1..=WRITERS).map(|id| journal(id, &registry)).unzip();
        let mut readers: Vec<_> = journals.iter().map(|journal| journal.gated(SEAT).unwrap()).collect();
        for journal in &journals {
            journal.set_interest(SEAT, Some(&[3])).unwrap();
        }
        let mut bell =
            with_bell.then(|| Doorbell::install(Arc::clone(&registry), SEAT, 1..=WRITERS).unwrap());
        let parker = Parker::new(Arc::clone(&registry), SEAT).unwrap();
        announce(&registry);
        let mut relay = with_relay.then(|| {
            let mut relay = Relay::new(Arc::clone(&registry), RELAY, &[SEAT]).unwrap();
            journals.iter().for_each(|journal| relay.follow(journal).unwrap());
            relay.take_over();
            relay
        });
        let all = frames * u64::from(WRITERS);
        thread::scope(|scope| {
            let mut writing = Vec::new();
            for mut writer in writers {
                writing.push(scope.spawn(move || {
                    for number in 0..frames {
                        while writer.write(number as u16, 3, &number.to_le_bytes()).is_err() {
                            thread::yield_now();
                        }
                        // Pauses of all lengths, so that it meets sleepers at every stage.
                        (0..number % 97).for_each(|_| std::hint::spin_loop());
                    }
                    // Leaving wakes every seat, and would hide a lost wake-up: leave only when everything is read.
                    writer
                }));
            }
            let reading = scope.spawn(move || {
                let (mut seen, mut sleeps, mut timed_out) = (0, 0_u64, 0_u64);
                let mut next = [0_u64; WRITERS as usize];
                let mut due = [true; WRITERS as usize];
                while seen < all {
                    match &mut bell {
                        Some(bell) => bell.poll(|bit| due[bit as usize - 1] = true),
                        None => due = [true; WRITERS as usize],
                    }
                    let before = seen;
                    for (index, reader) in readers.iter_mut().enumerate() {
                        while due[index] {
                            let Some(frame) = reader.read().unwrap() else {
                                due[index] = false;
                                break;
                            };
                            assert_eq!(u64::from_le_bytes(frame.payload.try_into().unwrap()), next[index]);
                            next[index] += 1;
                            seen += 1;
                        }
                    }
                    if seen > before {
                        continue;
                    }
                    // With a bell, half of the idle rounds rely on it alone.
                    if bell.is_some() && seen % 2 == 0 {
                        thread::yield_now();
                        continue;
                    }
                    let mut unheard = [false; WRITERS as usize];
                    let wakeup = parker.park(Duration::from_secs(10), || {
                        for (news, reader) in unheard.iter_mut().zip(&readers) {
                            *news = reader.has_news();
                        }
                        unheard.contains(&true)
                    });
                    due = unheard;
                    sleeps += u64::from(wakeup.is_some());
                    timed_out += u64::from(wakeup == Some(Wakeup::TimedOut));
                }
                println!("bell {with_bell}, relay {with_relay}: {seen} frames, {sleeps} sleeps");
                assert_eq!(timed_out, 0, "a time-out found data");
            });
            while let Some(relay) = relay.as_mut().filter(|_| !reading.is_finished()) {
                relay.poll().unwrap();
                thread::yield_now();
            }
            reading.join().unwrap();
            writing.into_iter().for_each(|writer| drop(writer.join().unwrap()));
        });
    }
}
