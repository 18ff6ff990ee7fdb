//! The latest value of each of many things, in shared memory: one process sets them, any process reads them at any time.
//!
//! ```text
//!  line 0    magic │ version │ layout hash │ slots │ bytes of a value
//!       1…   slot 0:  line 0   how often it was set (0: never)
//!                     then     the values of even numbers, whole lines
//!                     then     the values of odd numbers, whole lines
//!            slot 1 …
//! ```
//!
//! Value number n goes to the half that value n - 1 does not occupy, and counts once the slot's number is n. So:
//!
//! - A value is seen whole or not at all. A reader takes a copy, then looks at the number again: it has changed if the
//!   writer was in the same half meanwhile, and the copy is made anew.
//! - A writer that is killed in the middle leaves the value before it. Its successor goes on; nothing is repaired.
//! - Who has read, in a journal, what was written there after a [`Latest::set`] reads this value or a later one.
//! - The writer never waits, and a reader stores nothing: it cannot be noticed, and costs the writer a line at most.

use std::path::Path;

use crate::error::OpenError;
use crate::fork::{Forked, Opener};
use crate::layout::{self, LINE_BYTES, LINE_WORDS, WORD_BYTES};
use crate::memory::Region;
use crate::sync::{Ordering, fence};

const MAGIC_WORD: u64 = u64::from_le_bytes(*b"COLOLAST");
const MAGIC: usize = 0;
const VERSION: usize = 1;
const HASH: usize = 2;
const SLOTS: usize = 3;
const SIZE: usize = 4;
/// First slot.
const FIRST: usize = LINE_WORDS;

/// Most slots of a file: one for each account of an instance, of which there can be more than of instruments.
const MOST_SLOTS: u32 = 1 << 21;
/// Largest value in bytes.
const MOST_BYTES: usize = 4_096;
/// Copies that a reader makes before it gives up. Each failure means that the writer has set the value meanwhile.
const TRIES: usize = 1_000;

/// Why there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LatestError {
    /// The file has fewer slots.
    #[error("there is no slot {slot}: the file has {slots}")]
    NoSuchSlot {
        /// The slot that was asked for.
        slot: u32,
        /// Number of slots.
        slots: u32,
    },
    /// Nothing was set yet.
    #[error("nothing was set yet")]
    Empty,
    /// This process is a fork of the one that mapped the file.
    #[error(transparent)]
    Forked(#[from] Forked),
    /// The writer set it anew during every attempt.
    #[error("it changed during each of {TRIES} attempts to copy it: try again")]
    Busy,
}

/// The values of one file, mapped into this process.
#[derive(Debug)]
pub struct Latest {
    region: Region,
    slots: u32,
    /// Words of a value.
    words: usize,
    writable: bool,
    opener: Opener,
}

impl Latest {
    /// Number of slots.
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// Sets the value of a slot. False: there is no such slot, the value has another size, or the file is mapped
    /// read-only, or this process is a fork of the one that mapped it; nothing was set then.
    ///
    /// One process sets values: nothing here keeps two apart.
    #[inline]
    pub fn set(&self, slot: u32, value: &[u8]) -> bool {
        if !self.writable
            || !self.opener.is_here()
            || slot >= self.slots
            || value.len() != self.words * WORD_BYTES
        {
            return false;
        }
        let at = self.slot(slot);
        let number = self.region.word(at);
        let next = number.load(Ordering::Relaxed).wrapping_add(1);
        // SYNC: latest. Whoever copies a word that is stored below sees the number that was stored before.
        fence(Ordering::Release);
        for (word, bytes) in self.half(at, next).iter().zip(value.as_chunks().0) {
            word.store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
        }
        // SYNC: latest. The value comes before its number.
        number.store(next, Ordering::Release);
        true
    }

    /// Copies the value of a slot, and returns its number: how often the slot had been set. `value` has the size of
    /// the file's values; a longer one keeps its end, a shorter one gets the beginning.
    ///
    /// # Errors
    /// [`LatestError`]; `value` then holds anything.
    #[inline]
    pub fn get(&self, slot: u32, value: &mut [u8]) -> Result<u64, LatestError> {
        self.opener.check()?;
        if slot >= self.slots {
            return Err(LatestError::NoSuchSlot { slot, slots: self.slots });
        }
        let at = self.slot(slot);
        let number = self.region.word(at);
        for _ in 0..TRIES {
            // SYNC: latest. The number before its value.
            let before = number.load(Ordering::Acquire);
            if before == 0 {
                return Err(LatestError::Empty);
            }
            for (word, bytes) in self.half(at, before).iter().zip(value.as_chunks_mut().0) {
                *bytes = word.load(Ordering::Relaxed).to_le_bytes();
            }
            // SYNC: latest. The copy before the second look at the number.
            fence(Ordering::Acquire);
            if number.load(Ordering::Relaxed) == before {
                return Ok(before);
            }
        }
        Err(LatestError::Busy)
    }

    /// Index of a slot's number. The slot must exist.
    #[inline(always)]
    fn slot(&self, slot: u32) -> usize {
        FIRST + slot as usize * slot_words(self.words)
    }

    /// The words that value `number` of the slot at `at` occupies.
    #[inline(always)]
    fn half(&self, at: usize, number: u64) -> &[crate::sync::AtomicU64] {
        let first = at + LINE_WORDS + (number % 2) as usize * lines(self.words);
        &self.region.words()[first..first + self.words]
    }

    fn initialise(region: Region, slots: u32, bytes: usize) -> Latest {
        let word = |index: usize, value: u64| region.word(index).store(value, Ordering::Relaxed);
        word(VERSION, u64::from(layout::FORMAT_VERSION));
        word(HASH, layout::layout_hash());
        word(SLOTS, u64::from(slots));
        word(SIZE, bytes as u64);
        region.word(MAGIC).store(MAGIC_WORD, Ordering::Release);
        Latest { region, slots, words: bytes / WORD_BYTES, writable: true, opener: Opener::current() }
    }

    /// In the plain memory of this process.
    #[cfg(test)]
    pub(crate) fn on_heap(slots: u32, bytes: usize) -> Latest {
        let words = file_bytes(slots, bytes) as usize / WORD_BYTES;
        Latest::initialise(crate::memory::heap(words), slots, bytes)
    }
}

/// A value's words, in whole lines.
const fn lines(words: usize) -> usize {
    words.next_multiple_of(LINE_WORDS)
}

const fn slot_words(words: usize) -> usize {
    LINE_WORDS + 2 * lines(words)
}

const fn file_bytes(slots: u32, bytes: usize) -> u64 {
    let words = FIRST + slots as usize * slot_words(bytes / WORD_BYTES);
    ((words * WORD_BYTES) as u64).next_multiple_of(4_096)
}

fn is_possible(slots: u64, bytes: u64) -> bool {
    (1..=u64::from(MOST_SLOTS)).contains(&slots)
        && (1..=MOST_BYTES as u64).contains(&bytes)
        && bytes.is_multiple_of(WORD_BYTES as u64)
}

const _: () = assert!(SIZE < FIRST && LINE_BYTES as usize == LINE_WORDS * WORD_BYTES);

#[cfg(not(loom))]
mod files {
    use super::*;
    use crate::error::CreateError;
    use crate::files::control::check_format;
    use crate::files::{create_file, map_file};
    use crate::memory::{Access, map};

    impl Latest {
        /// Maps a file of so many slots, each for values of `bytes` bytes, a multiple of 8, for setting them. An
        /// existing file is continued, with the values that it holds; otherwise one is created, complete or not at all.
        ///
        /// # Errors
        /// [`OpenError`]: no space, no permission, or a file of another program, version or shape.
        pub fn open_or_create(path: &Path, slots: u32, bytes: usize) -> Result<Latest, OpenError> {
            if !path.exists() {
                create(path, slots, bytes).map_err(|error| match error {
                    CreateError::Io { action, path, source } => OpenError::Io { action, path, source },
                    CreateError::NoSpace { path, source, .. } => {
                        OpenError::Io { action: "reserve memory for", path, source }
                    }
                    other => OpenError::Damaged { path: path.to_owned(), what: other.to_string() },
                })?;
            }
            let opened = Latest::open(path, Access::ReadWrite)?;
            if (opened.slots, opened.words * WORD_BYTES) != (slots, bytes) {
                let (has, size) = (opened.slots, opened.words * WORD_BYTES);
                let what = format!(
                    "it has {has} slots of {size} bytes, but should have {slots} of {bytes}: was it written by another version?"
                );
                return Err(OpenError::Damaged { path: path.to_owned(), what });
            }
            Ok(opened)
        }

        /// Maps a file to read it.
        ///
        /// # Errors
        /// As [`Latest::open_or_create`]; also when the file does not exist.
        pub fn open_read_only(path: &Path) -> Result<Latest, OpenError> {
            Latest::open(path, Access::Read)
        }

        /// Bytes of a value.
        pub fn size(&self) -> usize {
            self.words * WORD_BYTES
        }

        fn open(path: &Path, access: Access) -> Result<Latest, OpenError> {
            let damaged = |what: String| OpenError::Damaged { path: path.to_owned(), what };
            let (region, bytes) = map_file(path, access)?;
            if bytes < LINE_BYTES {
                return Err(damaged(format!("{bytes} bytes are too few for a file of latest values")));
            }
            let word = |index: usize| region.word(index).load(Ordering::Acquire);
            check_format(&word, MAGIC_WORD, "file of latest values", path)?;
            let (slots, size) = (word(SLOTS), word(SIZE));
            if !is_possible(slots, size) || bytes != file_bytes(slots as u32, size as usize) {
                return Err(damaged(format!("{slots} slots of {size} bytes do not fit {bytes} bytes")));
            }
            let words = size as usize / WORD_BYTES;
            let (slots, writable) = (slots as u32, access == Access::ReadWrite);
            Ok(Latest { region, slots, words, writable, opener: Opener::current() })
        }
    }

    fn create(path: &Path, slots: u32, bytes: usize) -> Result<(), CreateError> {
        if !is_possible(u64::from(slots), bytes as u64) {
            let what = format!(
                "{slots} slots of {bytes} bytes, but there can be 1 to {MOST_SLOTS} of a multiple of 8 up to {MOST_BYTES}"
            );
            return Err(CreateError::Invalid { name: path.display().to_string(), what });
        }
        let temporary = path.with_extension("new");
        let length = file_bytes(slots, bytes);
        let io = |action| {
            let path = path.to_owned();
            move |source| CreateError::Io { action, path, source }
        };
        let file = create_file(&temporary, 0o640, length)?;
        let region = map(&file, length, Access::ReadWrite).map_err(io("map"))?;
        drop(Latest::initialise(region, slots, bytes));
        std::fs::rename(&temporary, path).map_err(io("rename into place"))
    }
}
