//! Waking a seat whose waker was killed half-way.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::{
    AWAKE, Doorbell, PARKED, Parker, Wakeup, dozing, force_wake, is_to_wake, wake, wake_after_fence,
};
use crate::clock::Clock;
use crate::files::registry::Registry;
use crate::layout::registry as at;
use crate::sync::Ordering;

const SEAT: u32 = 5;
/// A test that sleeps for so long has failed.
const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_sleeper_whose_waker_was_killed_before_the_call_is_roused() {
    let registry = Arc::new(Registry::in_memory(64, Clock::monotonic()).unwrap());
    let parker = Parker::new(Arc::clone(&registry), SEAT).unwrap();
    let word = registry.wait_word(SEAT);
    let sleeping = thread::spawn(move || parker.park(LONG, || false));
    // What the killed waker had done: the exchange, and nothing after it. If the exchange came before the sleeper
    // reached the kernel it would not sleep at all, so the test waits.
    while word.load(Ordering::Relaxed) != PARKED {
        thread::yield_now();
    }
    thread::sleep(Duration::from_millis(20));
    word.compare_exchange(PARKED, AWAKE, Ordering::Release, Ordering::Relaxed).unwrap();
    assert!(!wake(&registry, SEAT), "for everybody else it is awake");
    force_wake(&registry, SEAT);
    assert_eq!(sleeping.join().unwrap(), Some(Wakeup::Woken));
}

#[test]
fn who_dozes_is_left_to_its_clock_by_one_journal_and_woken_by_any_other() {
    for (journal, woken) in [(7, false), (8, true)] {
        let registry = Arc::new(Registry::in_memory(64, Clock::monotonic()).unwrap());
        let parker = Parker::new(Arc::clone(&registry), SEAT).unwrap();
        let word = registry.wait_word(SEAT);
        let timeout = if woken { LONG } else { Duration::from_millis(300) };
        let sleeping = thread::spawn(move || parker.doze(timeout, 7, || false));
        while word.load(Ordering::Relaxed) == AWAKE {
            thread::yield_now();
        }
        assert_eq!(wake_after_fence(&registry, SEAT, Some(journal)), woken);
        let expected = if woken { Wakeup::Woken } else { Wakeup::TimedOut };
        assert_eq!(sleeping.join().unwrap(), Some(expected));
        assert_eq!(word.load(Ordering::Relaxed), AWAKE);
    }
}

/// A word that no sleeper stores must not lose anybody: at worst all wake the node.
#[test]
fn a_word_names_one_journal_or_none() {
    for journal in [0, 1, u32::MAX - 1] {
        assert!(!is_to_wake(dozing(journal), Some(journal)), "{journal}");
        assert!(
            is_to_wake(dozing(journal), Some(journal + 1)) && is_to_wake(dozing(journal), None),
            "{journal}"
        );
        assert!(is_to_wake(PARKED, Some(journal)) && !is_to_wake(AWAKE, None), "{journal}");
    }
    assert!(is_to_wake(dozing(u32::MAX), Some(u32::MAX)), "it has no name in a word");
}

#[test]
fn a_store_in_the_last_word_of_a_bell_reports_every_journal_once() {
    let registry = Arc::new(Registry::in_memory(64, Clock::monotonic()).unwrap());
    let mut bell = Doorbell::install(Arc::clone(&registry), SEAT, [1, 70, 447]).unwrap();
    let mut look = || {
        let mut bits = Vec::new();
        bell.poll(|bit| bits.push(bit));
        bits
    };
    assert_eq!(look(), []);
    registry.bell(SEAT, at::BELL_ALL - at::BELL).store(1, Ordering::Release);
    // Each ring is reported in two calls.
    assert_eq!([look(), look(), look()], [vec![1, 70, 447], vec![1, 70, 447], vec![]]);
    // A ring between the two calls, by the bit of one journal, is reported as long as its own rule says.
    registry.bell(SEAT, at::BELL_ALL - at::BELL).store(1, Ordering::Release);
    assert_eq!(look(), [1, 70, 447]);
    registry.bell(SEAT, 1).fetch_or(1 << 6, Ordering::Release);
    assert_eq!([look(), look(), look()], [vec![1, 70, 447], vec![70], vec![]]);
}

#[test]
fn rousing_who_is_awake_or_nobody_does_no_harm() {
    let registry = Arc::new(Registry::in_memory(64, Clock::monotonic()).unwrap());
    let parker = Parker::new(Arc::clone(&registry), SEAT).unwrap();
    force_wake(&registry, SEAT);
    force_wake(&registry, 64);
    assert_eq!(parker.park(Duration::from_millis(1), || false), Some(Wakeup::TimedOut), "it is no token");
    assert_eq!(registry.wait_word(SEAT).load(Ordering::Relaxed), AWAKE);
}
