//! The kernel's part of a sleep under miri. miri would report the kernel's look at half of the word as a race between
//! accesses of different sizes; so the sleeper itself polls the word, which every wake-up changes.

use std::time::{Duration, Instant};

use crate::sync::{AtomicU64, Ordering};

/// Sleeps while the word's low half equals `expected`. True on a time-out, false for any other end.
pub(crate) fn futex_wait(word: &AtomicU64, expected: u32, timeout: Duration) -> bool {
    let start = Instant::now();
    while word.load(Ordering::Relaxed) as u32 == expected {
        if start.elapsed() >= timeout {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

/// No thread sleeps in the kernel.
pub(crate) fn futex_wake(_: &AtomicU64) {}
