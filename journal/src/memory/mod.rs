//! Shared memory as an array of atomic words, whatever backs it.

pub(crate) mod copy;
mod heap;
pub(crate) mod hint;
// Models use the heap only: loom cannot follow memory that another process maps.
#[cfg(not(loom))]
mod map;
#[cfg(loom)]
#[path = "map_loom.rs"]
mod map;

pub(crate) use heap::heap;
pub use map::map_large_rings_on_access;
pub(crate) use map::{Access, collapse, map, map_on_access, mirror, reserve};

use std::fmt;

use crate::sync::AtomicU64;

/// A run of words that lives as long as this value. Other mappings of a file are not affected by its end.
///
/// Everything in it is an atomic: another process may write any word at any time, so no plain reference into it
/// may exist (but see [`Ring::borrow_payload`](crate::ring::bytes::Ring::borrow_payload)). A region mapped read-only is only ever loaded from: the types that
/// hold one ([`Ring`](crate::ring::bytes::Ring) of a reader) offer no store.
pub(crate) struct Region {
    words: *const AtomicU64,
    /// Words that may be addressed: twice the file when mirrored.
    length: usize,
    /// The second half maps the same memory as the first.
    mirrored: bool,
    /// Frees the memory.
    owner: Owner,
}

enum Owner {
    Heap(*mut [heap::Line]),
    #[cfg(not(loom))]
    Map {
        address: *mut libc::c_void,
        bytes: usize,
        withheld: crate::fork::Withheld,
    },
}

// SAFETY: all access to the words is through atomics; the pointer itself never changes.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    /// All the words.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: `words` points at `length` words that stay mapped until `self` is dropped, aligned to at least
        // a page (map) or a word (heap), and initialised (the kernel's zeros, or the box's).
        unsafe { std::slice::from_raw_parts(self.words, self.length) }
    }

    /// One word; panics if it lies outside, which the layout's assertions and the checks at opening rule out.
    #[inline(always)]
    pub(crate) fn word(&self, index: usize) -> &AtomicU64 {
        &self.words()[index]
    }

    /// True when the words repeat, so that no run of up to half of them is ever split.
    pub(crate) fn is_mirrored(&self) -> bool {
        self.mirrored
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        match &self.owner {
            Owner::Heap(memory) => {
                // SAFETY: `heap` got this pointer from a box that is not shared, and no reference into it outlives
                // `self`.
                drop(unsafe { Box::from_raw(*memory) });
            }
            #[cfg(not(loom))]
            Owner::Map { address, bytes, withheld } => {
                // In a child of a fork the range stays: it may be another's by now.
                if withheld.is_here() {
                    withheld.end(|| {
                        // SAFETY: this very range was mapped by `map` or `mirror`, and no reference into it outlives
                        // `self`.
                        unsafe { libc::munmap(*address, *bytes) };
                    });
                }
            }
        }
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Region").field("words", &self.length).field("mirrored", &self.mirrored).finish()
    }
}
