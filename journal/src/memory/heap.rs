//! Plain memory of this process: for model checks, miri, and tests of one process.

use super::{Owner, Region};
use crate::sync::AtomicU64;

/// Zeroed words. Not mirrored: a run that passes the end comes in two pieces.
pub(crate) fn heap(words: usize) -> Region {
    let memory: Box<[AtomicU64]> = (0..words).map(|_| AtomicU64::new(0)).collect();
    // The box is given up until the region is dropped: a box that is moved claims its words for itself alone.
    let memory = Box::into_raw(memory);
    Region { words: memory.cast_const().cast(), length: words, mirrored: false, owner: Owner::Heap(memory) }
}
