//! Histograms in shared memory: one process records, any process reads at any time, and the values survive both.
//!
//! ```text
//!  word 0      1        2            3       4          8             64
//!       ┌──────┬────────┬────────────┬───────┬──────────┬─────────────┬──────────────────┬──────────────┄
//!       │ magic│ version│ layout hash│ number│ left out │ maxima …    │ first: counts …  │ second …
//!       └──────┴────────┴────────────┴───────┴──────────┴─────────────┴──────────────────┴──────────────┄
//! ```
//!
//! Buckets are log-linear, as those of an HDR histogram of three digits: values below 2,048 have one each, and every
//! doubling from there on has 1,024.

use std::path::Path;

use crate::error::{CreateError, OpenError};
use crate::files::control::check_format;
use crate::files::{create_file, map_file};
use crate::layout;
use crate::memory::{Access, Region, map};
use crate::sync::{AtomicU64, Ordering};

const MAGIC_WORD: u64 = u64::from_le_bytes(*b"COLOHIST");
const VERSION: usize = 1;
const HASH: usize = 2;
const NUMBER: usize = 3;
const LEFT_OUT: usize = 4;
const MAXIMA: usize = 8;
const COUNTS: usize = 64;
/// Buckets of a doubling, as a power of two.
const HALF_BITS: u32 = 10;
const HALF: u64 = 1 << HALF_BITS;
/// Largest value that has a bucket of its own range: 73 minutes in nanoseconds. Longer ones are counted with it.
const LONGEST: u64 = (1 << 42) - 1;
/// Buckets of one histogram.
const BUCKETS: usize = bucket(LONGEST) + 1;
/// Greatest number of histograms in a file.
const MOST: usize = COUNTS - MAXIMA;

/// The bucket of a value.
#[inline(always)]
const fn bucket(value: u64) -> usize {
    let value = if value < LONGEST { value } else { LONGEST };
    let shift = (63 - (value | HALF).leading_zeros()) - HALF_BITS;
    ((shift as u64 * HALF) + (value >> shift)) as usize
}

/// The smallest value of a bucket.
const fn lowest(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * HALF { bucket } else { (HALF + bucket % HALF) << (bucket / HALF - 1) }
}

/// The histograms of one file, mapped into this process.
#[derive(Debug)]
pub struct Histograms {
    region: Region,
    number: usize,
    writable: bool,
}

impl Histograms {
    /// Maps a file of `number` histograms for recording. An existing file is continued; otherwise one is created,
    /// complete or not at all.
    ///
    /// # Errors
    /// [`OpenError`]: no space, no permission, or a file of another program, version or number of histograms.
    pub fn open_or_create(path: &Path, number: usize) -> Result<Histograms, OpenError> {
        if !path.exists() {
            create(path, number).map_err(|error| match error {
                CreateError::Io { action, path, source } => OpenError::Io { action, path, source },
                CreateError::NoSpace { path, source, .. } => {
                    OpenError::Io { action: "reserve memory for", path, source }
                }
                other => OpenError::Damaged { path: path.to_owned(), what: other.to_string() },
            })?;
        }
        let opened = Histograms::open(path, Access::ReadWrite)?;
        if opened.number != number {
            let what = format!("it has {} histograms, but should have {number}", opened.number);
            return Err(OpenError::Damaged { path: path.to_owned(), what });
        }
        Ok(opened)
    }

    /// Maps a file to read it.
    ///
    /// # Errors
    /// As [`Histograms::open_or_create`]; also when the file does not exist.
    pub fn open_read_only(path: &Path) -> Result<Histograms, OpenError> {
        Histograms::open(path, Access::Read)
    }

    fn open(path: &Path, access: Access) -> Result<Histograms, OpenError> {
        let damaged = |what: String| OpenError::Damaged { path: path.to_owned(), what };
        let (region, bytes) = map_file(path, access)?;
        if bytes < file_bytes(0) {
            return Err(damaged(format!("{bytes} bytes are too few for histograms")));
        }
        let word = |index: usize| region.word(index).load(Ordering::Acquire);
        check_format(&word, MAGIC_WORD, "file of histograms", path)?;
        let number = usize::try_from(word(NUMBER)).unwrap_or(usize::MAX);
        if number > MOST || bytes != file_bytes(number) {
            return Err(damaged(format!("{number} histograms do not fit {bytes} bytes")));
        }
        Ok(Histograms { region, number, writable: access == Access::ReadWrite })
    }

    /// Adds a value. Only one process records, so a load and a store suffice.
    #[inline]
    pub fn record(&self, histogram: usize, value: u64) {
        if !self.writable || histogram >= self.number {
            return;
        }
        add(self.region.word(COUNTS + histogram * BUCKETS + bucket(value)));
        let largest = self.region.word(MAXIMA + histogram);
        if value > largest.load(Ordering::Relaxed) {
            largest.store(value, Ordering::Relaxed);
        }
    }

    /// Counts a measurement that contradicts itself. No histogram contains it.
    #[cold]
    pub fn leave_out(&self) {
        if self.writable {
            add(self.region.word(LEFT_OUT));
        }
    }

    /// Measurements that were left out.
    pub fn left_out(&self) -> u64 {
        self.region.word(LEFT_OUT).load(Ordering::Relaxed)
    }

    /// The exact largest value of a histogram; zero when it is empty.
    pub fn largest(&self, histogram: usize) -> u64 {
        if histogram < self.number { self.region.word(MAXIMA + histogram).load(Ordering::Relaxed) } else { 0 }
    }

    /// The non-empty buckets of a histogram, ascending: smallest value and count.
    pub fn counts(&self, histogram: usize) -> impl Iterator<Item = (u64, u64)> + '_ {
        let buckets = if histogram < self.number { 0..BUCKETS } else { 0..0 };
        buckets.filter_map(move |bucket| {
            let count = self.region.word(COUNTS + histogram * BUCKETS + bucket).load(Ordering::Relaxed);
            (count > 0).then(|| (lowest(bucket), count))
        })
    }
}

#[inline(always)]
fn add(word: &AtomicU64) {
    word.store(word.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
}

fn file_bytes(number: usize) -> u64 {
    (((COUNTS + number * BUCKETS) * layout::WORD_BYTES) as u64).next_multiple_of(4096)
}

fn create(path: &Path, number: usize) -> Result<(), CreateError> {
    if number > MOST {
        let what = format!("{number} histograms, but must be at most {MOST}");
        return Err(CreateError::Invalid { name: path.display().to_string(), what });
    }
    let temporary = path.with_extension("new");
    let bytes = file_bytes(number);
    let io = |action| {
        let path = path.to_owned();
        move |source| CreateError::Io { action, path, source }
    };
    let file = create_file(&temporary, 0o640, bytes)?;
    let region = map(&file, bytes, Access::ReadWrite).map_err(io("map"))?;
    region.word(VERSION).store(u64::from(layout::FORMAT_VERSION), Ordering::Relaxed);
    region.word(HASH).store(layout::layout_hash(), Ordering::Relaxed);
    region.word(NUMBER).store(number as u64, Ordering::Relaxed);
    region.word(0).store(MAGIC_WORD, Ordering::Release);
    std::fs::rename(&temporary, path).map_err(io("rename into place"))
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_values_that_agree_in_three_digits() {
        for value in (0..4_096).chain((12..42).flat_map(|bits| [1 << bits, (1 << bits) - 1, 3 << (bits - 1)]))
        {
            let low = lowest(bucket(value));
            let next = lowest(bucket(value) + 1);
            assert!(low <= value && (value < next || value == LONGEST), "{value} in {low}..{next}");
            assert!((next - low) * 1_000 <= low.max(1_000), "{low}..{next}");
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn what_was_recorded_stays_when_its_writer_is_gone_and_a_successor_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("latency");
        for round in 1..=3_u64 {
            let histograms = Histograms::open_or_create(&path, 2).unwrap();
            histograms.record(0, 5);
            histograms.record(1, round * 10_000);
            histograms.leave_out();
        }
        let read = Histograms::open_read_only(&path).unwrap();
        assert_eq!(read.counts(0).collect::<Vec<_>>(), [(5, 3)]);
        assert_eq!(read.counts(1).map(|(_, count)| count).sum::<u64>(), 3);
        assert_eq!((read.largest(1), read.left_out()), (30_000, 3));
        read.record(0, 5);
        assert_eq!(read.counts(0).next(), Some((5, 3)), "mapped to read only");
        assert!(Histograms::open_or_create(&path, 3).is_err());
    }
}
