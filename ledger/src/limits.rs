//! Numbers that all of the ledger's journals have in common.

/// A snapshot of everybody may take this part of its journal's ring, and so may unconfirmed answers: a quarter.
pub(crate) const MOST_OF_RING: u64 = 4;

/// Bytes that a ring of this capacity would need, where a snapshot takes more than its part; zero where it does not.
pub(crate) fn needed(bytes: u64, capacity: u64) -> u64 {
    if bytes > capacity / MOST_OF_RING { (bytes * MOST_OF_RING).next_power_of_two() } else { 0 }
}

/// Whether a reader finds a snapshot of so many bytes whole: up to a quarter of the ring, the oldest, is not searched.
pub(crate) fn stays_whole(bytes: u64, capacity: u64) -> bool {
    bytes <= capacity / 4 * 3
}

/// A full journal is tried again after this many nanoseconds.
pub(crate) const RETRY: u64 = 50_000;

/// Frames start at multiples of this.
pub(crate) const LINE: u64 = 64;
