//! The kernel's part of a sleep: a queue under a lock, in which the word is checked once more.

use std::collections::BTreeMap;
use std::time::Duration;

use loom::sync::{Condvar, Mutex};

use super::sync::{AtomicU64, Ordering, is_dead};

#[derive(Default)]
struct Sleepers {
    /// Calls to wake, by address.
    wakes: BTreeMap<usize, u64>,
    /// Every time-out has expired, including those of future sleeps.
    expired: bool,
}

loom::lazy_static! {
    static ref SLEEPERS: Mutex<Sleepers> = Mutex::new(Sleepers::default());
    static ref NEWS: Condvar = Condvar::new();
}

fn address(word: &AtomicU64) -> usize {
    std::ptr::from_ref(word) as usize
}

/// Time passes only by [`expire`], so a lost wake-up shows as a deadlock.
pub(crate) fn futex_wait(word: &AtomicU64, expected: u32, _timeout: Duration) -> bool {
    let mut sleepers = SLEEPERS.lock().expect("no model panics in here");
    if word.load(Ordering::Relaxed) as u32 != expected {
        return false;
    }
    let wakes = |sleepers: &Sleepers| sleepers.wakes.get(&address(word)).copied().unwrap_or(0);
    let before = wakes(&sleepers);
    while wakes(&sleepers) == before && !sleepers.expired {
        sleepers = NEWS.wait(sleepers).expect("no model panics in here");
    }
    wakes(&sleepers) == before
}

pub(crate) fn futex_wake(word: &AtomicU64) {
    if is_dead() {
        return;
    }
    let mut sleepers = SLEEPERS.lock().expect("no model panics in here");
    *sleepers.wakes.entry(address(word)).or_default() += 1;
    NEWS.notify_all();
}

/// From now on every sleep times out at once.
#[cfg(test)]
pub(crate) fn expire() {
    let mut sleepers = SLEEPERS.lock().expect("no model panics in here");
    sleepers.expired = true;
    NEWS.notify_all();
}
