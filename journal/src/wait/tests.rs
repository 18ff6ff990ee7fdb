//! Waking a seat whose waker was killed half-way.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::{AWAKE, PARKED, Parker, Wakeup, force_wake, wake};
use crate::clock::Clock;
use crate::files::registry::Registry;
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
fn rousing_who_is_awake_or_nobody_does_no_harm() {
    let registry = Arc::new(Registry::in_memory(64, Clock::monotonic()).unwrap());
    let parker = Parker::new(Arc::clone(&registry), SEAT).unwrap();
    force_wake(&registry, SEAT);
    force_wake(&registry, 64);
    assert_eq!(parker.park(Duration::from_millis(1), || false), Some(Wakeup::TimedOut), "it is no token");
    assert_eq!(registry.wait_word(SEAT).load(Ordering::Relaxed), AWAKE);
}
