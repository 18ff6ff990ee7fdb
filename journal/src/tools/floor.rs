//! The host's own latency, as a reference for the journal's: a bare word passed between two cores, and a bare futex.
//!
//! It deliberately uses nothing of the journal. A latency says little by itself: virtual machines move their cores, and
//! a line that takes 60 ns now may take 250 ns a second later. The ratio to this floor, taken at the same moment by the
//! same two processes, is comparable.

use std::path::Path;
use std::time::Duration;

use crate::error::{CreateError, OpenError};
use crate::files::{create_file, map_file};
use crate::layout::{LINE_WORDS, WORD_BYTES};
use crate::memory::{Access, Region, map};
use crate::sync::{AtomicU64, Ordering};
use crate::wait::{futex_wait, futex_wake};

/// Words between two entries: two lines, so that no prefetcher fetches one entry along with another.
const SPACING: usize = 2 * LINE_WORDS;
/// Sixteen pages: a line's address decides how far away its directory is, so a floor is best taken over many lines.
const BYTES: u64 = 65_536;

/// Bare words that two processes share.
///
/// ```
/// # let directory = tempfile::tempdir()?;
/// let mine = journal::tools::Floor::create(&directory.path().join("floor"))?;
/// let theirs = journal::tools::Floor::open(&directory.path().join("floor"))?;
/// mine.set(0, 7);
/// assert_eq!(theirs.get(0), 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Floor {
    region: Region,
}

impl Floor {
    /// Number of words, each on lines of its own.
    pub const WORDS: usize = BYTES as usize / WORD_BYTES / SPACING;

    /// Creates the words.
    ///
    /// # Errors
    /// [`CreateError`].
    pub fn create(path: &Path) -> Result<Floor, CreateError> {
        let file = create_file(path, 0o600, BYTES)?;
        let region = map(&file, BYTES, Access::ReadWrite).map_err(|source| CreateError::Io {
            action: "map",
            path: path.to_owned(),
            source,
        })?;
        Ok(Floor { region })
    }

    /// Maps words that another process created.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(path: &Path) -> Result<Floor, OpenError> {
        let (region, bytes) = map_file(path, Access::ReadWrite)?;
        if bytes != BYTES {
            let what = format!("a floor has {BYTES} bytes, this has {bytes}");
            return Err(OpenError::Damaged { path: path.to_owned(), what });
        }
        Ok(Floor { region })
    }

    #[inline(always)]
    fn word(&self, index: usize) -> &AtomicU64 {
        self.region.word(index % Floor::WORDS * SPACING)
    }

    /// Value of a word.
    #[inline(always)]
    pub fn get(&self, index: usize) -> u64 {
        self.word(index).load(Ordering::Acquire)
    }

    /// Sets a word.
    #[inline(always)]
    pub fn set(&self, index: usize, value: u64) {
        self.word(index).store(value, Ordering::Release);
    }

    /// Sleeps on the low half of a word while it equals `expected`. True on a time-out.
    pub fn sleep(&self, index: usize, expected: u32, timeout: Duration) -> bool {
        futex_wait(self.word(index), expected, timeout)
    }

    /// Wakes one thread that sleeps on a word.
    pub fn wake(&self, index: usize) {
        futex_wake(self.word(index));
    }
}
