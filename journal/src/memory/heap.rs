//! Words in this process's own memory: for tests, models and other in-process use.

use super::{Owner, Region};
use crate::layout::LINE_WORDS;
use crate::sync::AtomicU64;

/// A line, aligned as in a mapped file.
#[repr(C, align(64))]
pub(super) struct Line([AtomicU64; LINE_WORDS]);

/// Zeroed words. Not mirrored: a run that passes the end comes in two pieces.
pub(crate) fn heap(words: usize) -> Region {
    let lines = words.div_ceil(LINE_WORDS);
    let memory: Box<[Line]> = (0..lines).map(|_| Line(std::array::from_fn(|_| AtomicU64::new(0)))).collect();
    // The region owns the box as a raw pointer: moving a `Box` would assert unique access to its words.
    let memory = Box::into_raw(memory);
    Region { words: memory.cast_const().cast(), length: words, mirrored: false, owner: Owner::Heap(memory) }
}
