//! Hints to the processor's caches: they change no memory, cannot fault, and do nothing on processors without them.

use crate::layout::LINE_WORDS;
use crate::sync::AtomicU64;

/// One line of memory.
type Line = [AtomicU64; LINE_WORDS];

#[cfg(all(target_arch = "x86_64", not(any(loom, miri))))]
mod processor {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

    use super::Line;

    #[inline(always)]
    pub(crate) fn prefetch(line: &Line) {
        // SAFETY: a hint.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
}

#[cfg(not(all(target_arch = "x86_64", not(any(loom, miri)))))]
mod processor {
    use super::Line;

    pub(crate) fn prefetch(_: &Line) {}
}

pub(crate) use processor::prefetch;
