//! Plain memory of this process: for model checks, miri, and tests of one process.

use super::{Owner, Region};
use crate::sync::AtomicU64;

/// Zeroed words. Not mirrored: a run that passes the end comes in two pieces.
pub(crate) fn heap(words: usize) -> Region {
    let mut memory: Box<[AtomicU64]> = (0..words).map(|_| AtomicU64::new(0)).collect();
    Region {
        // Taken from a mutable borrow, so that it may be used beside the box that owns the words.
        words: memory.as_mut_ptr(),
        length: words,
        mirrored: false,
        owner: Owner::Heap(memory),
    }
}
