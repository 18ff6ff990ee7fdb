//! Sleeping on a seat's word, and waking sleepers. `docs/waiting.md` has the protocols, and why no message is slept
//! through; here is who does what.
//!
//! - A node sleeps through its [`Parker`]: it marks its word, looks at everything once more, and calls the kernel.
//! - A writer, after its commit, looks at the topic's row of seats (`Waker`), and wakes those whose word says that they
//!   sleep. If no seat is interested, it loads one row of bits and is done, without a fence: a seat's interest is
//!   [announced](announce) long before it first parks.
//! - A process that notices another's death wakes every seat with [`force_wake`], because the dead one may have been
//!   about to: between its exchange of a word and its call, no other writer wakes the parker. Without such a process the
//!   parker sleeps until its safety time-out: [`SAFETY_TIMEOUT`], or up to [`LONGEST_SLEEP`] after a long time without
//!   events.
//!
//! The word is the seat's, not the journal's: a node that reads eighty journals parks with one store.
//!
//! ```text
//!   high half                           low half (the futex)
//!   0, or 1 + ID of a journal whose     0 awake, 1 parked
//!   writer need not wake the sleeper
//! ```
//!
//! The reading side can choose two other ways of notification, seat by seat, with a bit in the registry: a
//! [`Doorbell`], one line that reports which of many journals have news, and a [`Relay`](Relay), which wakes the seat instead
//! of the writers.

pub(crate) mod barrier;
mod doorbell;
#[cfg(not(miri))]
mod futex;
#[cfg(miri)]
#[path = "futex_miri.rs"]
mod futex;
pub(crate) mod relayed;
mod waker;

pub use barrier::announce;
pub use doorbell::Doorbell;
pub(crate) use waker::Waker;

pub use crate::relay::{Relay, RelayError};

use std::sync::Arc;
use std::time::Duration;

use crate::files::registry::Registry;
#[cfg(loom)]
pub(crate) use crate::models::futex::{futex_wait, futex_wake};
use crate::sync::{Ordering, fence};
#[cfg(not(loom))]
pub(crate) use futex::{futex_wait, futex_wake};

const AWAKE: u64 = 0;
const PARKED: u64 = 1;

/// The word of a node that sleeps, and that the writer of `journal` need not wake.
fn dozing(journal: u32) -> u64 {
    // Of the last number there is no successor: such a node is woken by all.
    PARKED | u64::from(journal.wrapping_add(1)) << 32
}

/// What the word says to who only looks.
pub(crate) fn is_parked(word: u64) -> bool {
    word as u32 == PARKED as u32
}

/// What the word says to the writer of `journal`, if it is one: that it is to wake the node.
#[inline]
fn is_to_wake(word: u64, journal: Option<u32>) -> bool {
    word as u32 == PARKED as u32 && journal.is_none_or(|journal| word >> 32 != u64::from(journal) + 1)
}

/// Longest sleep of a node that was just active: a safety net under the protocol. A time-out that finds news is
/// counted, and the count must stay zero.
pub const SAFETY_TIMEOUT: Duration = Duration::from_millis(100);

/// Longest sleep of all. Each time-out that finds nothing may lengthen the next sleep, up to this limit, so that nodes
/// that are idle for minutes cost next to nothing. Not with a relay, whose silence is found by time-outs.
pub const LONGEST_SLEEP: Duration = Duration::from_millis(400);
const _: () =
    assert!(LONGEST_SLEEP.as_nanos() > SAFETY_TIMEOUT.as_nanos(), "the net widens, and never narrows");

/// The end of a sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wakeup {
    /// A waker (or a signal) ended it: look at the journals.
    Woken,
    /// The time-out expired.
    TimedOut,
}

/// The sleeping side: one per node.
#[derive(Debug)]
pub struct Parker {
    registry: Arc<Registry>,
    seat: u32,
}

impl Parker {
    /// A parker for the node in `seat`; `None` when there is no such seat.
    pub fn new(registry: Arc<Registry>, seat: u32) -> Option<Parker> {
        (registry.is_writable() && seat < registry.seats()).then(|| {
            registry.wait_word(seat).store(AWAKE, Ordering::Relaxed);
            Parker { registry, seat }
        })
    }

    /// Sleeps until woken or for `timeout`, unless `has_news` returns true. `has_news` must check everything that the
    /// caller wants to be woken for; it is called after the seat is marked as parked.
    ///
    /// Returns `None` when there was news and no sleep.
    pub fn park(&self, timeout: Duration, has_news: impl FnOnce() -> bool) -> Option<Wakeup> {
        self.sleep(PARKED, timeout, has_news)
    }

    /// As [`Parker::park`], but what is written to the journal with number `journal` does not end the sleep; everything
    /// else does. So `timeout` is the longest that a message of that journal waits. `has_news` must look at that journal
    /// too: what came before the sleep may be older than that.
    pub fn doze(&self, timeout: Duration, journal: u32, has_news: impl FnOnce() -> bool) -> Option<Wakeup> {
        self.sleep(dozing(journal), timeout, has_news)
    }

    fn sleep(&self, asleep: u64, timeout: Duration, has_news: impl FnOnce() -> bool) -> Option<Wakeup> {
        let word = self.registry.wait_word(self.seat);
        word.store(asleep, Ordering::Relaxed);
        // SYNC: park.
        fence(Ordering::SeqCst);
        if has_news() {
            word.store(AWAKE, Ordering::Relaxed);
            return None;
        }
        let timed_out = futex_wait(word, PARKED as u32, timeout);
        // A waker has set the word to AWAKE; if it still says what we stored, there was none. A signal, or the late call of a
        // waker of an earlier sleep that timed out, is not a time-out either.
        let before = word.swap(AWAKE, Ordering::Acquire);
        Some(if timed_out && before == asleep { Wakeup::TimedOut } else { Wakeup::Woken })
    }

    /// True while a relay wakes this seat instead of the writers.
    pub fn is_relayed(&self) -> bool {
        self.registry.is_relayed(self.seat)
    }

    /// Returns to being woken by writers if this seat's relay has shown no sign of life for `patience` nanoseconds
    /// before `now`. True when it did. Call it after a safety time-out, and look at every journal afterwards.
    pub fn leave_silent_relay(&self, now: u64, patience: u64) -> bool {
        relayed::leave_silent_relay(&self.registry, self.seat, now, patience)
    }
}

/// Wakes the node in `seat` if it sleeps. True when this call woke it.
///
/// If this call comes too early for a sleep, the sleep's `has_news` sees what the caller stored before.
pub fn wake(registry: &Registry, seat: u32) -> bool {
    // SYNC: park. Between the caller's stores and the look at the word.
    fence(Ordering::SeqCst);
    wake_after_fence(registry, seat, None)
}

/// `journal`: the one that was written to, if the caller writes one.
#[inline]
pub(crate) fn wake_after_fence(registry: &Registry, seat: u32, journal: Option<u32>) -> bool {
    if seat >= registry.seats() || !registry.is_writable() {
        return false;
    }
    let word = registry.wait_word(seat);
    let seen = word.load(Ordering::Relaxed);
    if !is_to_wake(seen, journal)
        || word.compare_exchange(seen, AWAKE, Ordering::Release, Ordering::Relaxed).is_err()
    {
        return false;
    }
    futex_wake(word);
    true
}

/// Wakes the node in `seat` even when its word says that it is awake: for a process that has noticed another's death.
/// The dead one may have been killed between the exchange of the word and the call, or before both; then neither
/// [`wake`] nor any writer would help. A node that was woken without need looks at its journals and sleeps again.
pub fn force_wake(registry: &Registry, seat: u32) {
    if seat >= registry.seats() || !registry.is_writable() {
        return;
    }
    // SYNC: park. Between the dead one's stores, which its end has made visible, and the change of the word.
    fence(Ordering::SeqCst);
    let word = registry.wait_word(seat);
    word.swap(AWAKE, Ordering::Release);
    futex_wake(word);
}

#[cfg(all(test, not(loom)))]
mod tests;
