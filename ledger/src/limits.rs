//! Numbers that all of the ledger's journals have in common.

/// A snapshot of everybody may take this part of its journal's ring, and so may unconfirmed answers: a quarter.
pub(crate) const MOST_OF_RING: u64 = 4;

/// A full journal is tried again after this many nanoseconds.
pub(crate) const RETRY: u64 = 50_000;

/// Frames start at multiples of this.
pub(crate) const LINE: u64 = 64;
