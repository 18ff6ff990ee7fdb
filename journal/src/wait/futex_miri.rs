//! The kernel's part of a sleep, for an interpreter. It plays the kernel as one more thread of Rust, to which a look at
//! half of the word is a race of sizes; so the sleeper itself looks at the word until it changes, as every wake-up
//! makes it do.

use std::time::{Duration, Instant};

use crate::sync::{AtomicU64, Ordering};

/// Sleeps while the word's low half says `expected`. True when the time was over, false for any other end.
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

/// Nobody sleeps in the kernel.
pub(crate) fn futex_wake(_: &AtomicU64) {}
