//! What an instance held before, for one that goes on with it.

use std::fmt::Debug;

use journal::{Journal, Origin};

/// The journals of an instance that is no more, from wherever they were kept.
pub trait Past: Debug + Send + Sync {
    /// The time up to which everything comes back, in nanoseconds since the epoch: the instance's clock goes on from there.
    fn time(&self) -> u64;

    /// Where a journal of this name begins that is to be filled; `None` if nothing of it was kept. `now` is the present
    /// time, in nanoseconds since the epoch.
    fn origin(&self, journal: &str, now: u64) -> Option<Origin>;

    /// Fills a journal that was made so: its frames, its counts, and the cursors of its gated readers.
    ///
    /// # Errors
    /// Why it cannot be filled, in words.
    fn restore(&self, journal: &Journal) -> Result<(), String>;
}
