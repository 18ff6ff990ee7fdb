//! Hints to the processor's caches: they change no memory, cannot fault, and do nothing where there is no such thing.

use crate::layout::LINE_WORDS;
use crate::sync::AtomicU64;

/// One line of memory.
type Line = [AtomicU64; LINE_WORDS];

#[cfg(all(target_arch = "x86_64", not(any(loom, miri))))]
mod processor {
    use std::arch::asm;
    use std::arch::x86_64::{_MM_HINT_ET0, _MM_HINT_T0, _mm_prefetch};

    use super::Line;

    #[inline(always)]
    pub(crate) fn prefetch_for_write(line: &Line) {
        // SAFETY: a hint.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(line.as_ptr().cast()) };
    }

    #[inline(always)]
    pub(crate) fn prefetch(line: &Line) {
        // SAFETY: a hint.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }

    #[inline(always)]
    pub(crate) fn hand_down(line: &Line) {
        // SAFETY: CLDEMOTE is a hint; processors that do not know it take it for the NOP that its code was before.
        unsafe { asm!("cldemote [{}]", in(reg) line.as_ptr(), options(nostack, preserves_flags)) };
    }
}

#[cfg(not(all(target_arch = "x86_64", not(any(loom, miri)))))]
mod processor {
    use super::Line;

    pub(crate) fn prefetch_for_write(_: &Line) {}
    pub(crate) fn prefetch(_: &Line) {}
    pub(crate) fn hand_down(_: &Line) {}
}

pub(crate) use processor::{hand_down, prefetch, prefetch_for_write};
