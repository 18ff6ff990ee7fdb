//! Bytes into and out of shared words.
//!
//! A payload may be read by a loose reader in the moment in which it is overwritten, so it is never copied as plain
//! memory: each unit is one access that the compiler neither splits, repeats nor leaves out. On x86-64 the unit is 16
//! bytes, moved by one instruction that the compiler does not look into (the hardware promises no tearing within 8
//! bytes, and nothing here needs more). Elsewhere, and where a tool watches the accesses, it is a relaxed atomic word.

use crate::layout::WORD_BYTES;
use crate::sync::AtomicU64;

/// Payloads are filled up with zeros to a multiple of this.
pub(crate) const UNIT_BYTES: usize = 16;
/// Words in a unit.
pub(crate) const UNIT_WORDS: usize = UNIT_BYTES / WORD_BYTES;

/// Copies `bytes` to `words`, and fills the last unit up with zeros.
///
/// `words` must hold whole units for all of `bytes`; what does not fit is not written.
#[inline(always)]
pub(crate) fn store(words: &[AtomicU64], bytes: &[u8]) {
    let (units, tail) = bytes.as_chunks::<UNIT_BYTES>();
    let (targets, _) = words.as_chunks::<UNIT_WORDS>();
    for (target, unit) in targets.iter().zip(units) {
        store_unit(target, unit);
    }
    if !tail.is_empty()
        && let Some(target) = targets.get(units.len())
    {
        let mut last = [0; UNIT_BYTES];
        last[..tail.len()].copy_from_slice(tail);
        store_unit(target, &last);
    }
}

/// Copies `words` to `bytes`.
#[inline(always)]
pub(crate) fn load(words: &[AtomicU64], bytes: &mut [u8]) {
    let (units, tail) = bytes.as_chunks_mut::<UNIT_BYTES>();
    let (sources, _) = words.as_chunks::<UNIT_WORDS>();
    let whole = units.len();
    for (source, unit) in sources.iter().zip(units) {
        *unit = load_unit(source);
    }
    if !tail.is_empty()
        && let Some(source) = sources.get(whole)
    {
        let last = load_unit(source);
        tail.copy_from_slice(&last[..tail.len()]);
    }
}

#[cfg(all(target_arch = "x86_64", not(any(loom, miri, colo_tsan))))]
mod unit {
    use std::arch::asm;
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_storeu_si128};

    use super::{AtomicU64, UNIT_BYTES, UNIT_WORDS};

    #[inline(always)]
    pub(super) fn store_unit(target: &[AtomicU64; UNIT_WORDS], unit: &[u8; UNIT_BYTES]) {
        // SAFETY: 16 bytes of private memory, any alignment.
        let value: __m128i = unsafe { _mm_loadu_si128(unit.as_ptr().cast()) };
        // SAFETY: writes the 16 bytes of two words, which may be written through a shared reference as atomics may;
        // to the compiler this is as good as two relaxed stores in another language.
        unsafe {
            asm!("movdqu xmmword ptr [{target}], {value}",
                target = in(reg) target.as_ptr(), value = in(xmm_reg) value,
                options(nostack, preserves_flags));
        }
    }

    #[inline(always)]
    pub(super) fn load_unit(source: &[AtomicU64; UNIT_WORDS]) -> [u8; UNIT_BYTES] {
        let value: __m128i;
        // SAFETY: reads the 16 bytes of two words, as two relaxed loads would.
        unsafe {
            asm!("movdqu {value}, xmmword ptr [{source}]",
                source = in(reg) source.as_ptr(), value = out(xmm_reg) value,
                options(nostack, preserves_flags, readonly));
        }
        let mut unit = [0; UNIT_BYTES];
        // SAFETY: 16 bytes of private memory, any alignment.
        unsafe { _mm_storeu_si128(unit.as_mut_ptr().cast(), value) };
        unit
    }
}

#[cfg(not(all(target_arch = "x86_64", not(any(loom, miri, colo_tsan)))))]
mod unit {
    use crate::layout::WORD_BYTES;
    use crate::sync::Ordering;

    use super::{AtomicU64, UNIT_BYTES, UNIT_WORDS};

    pub(super) fn store_unit(target: &[AtomicU64; UNIT_WORDS], unit: &[u8; UNIT_BYTES]) {
        for (word, bytes) in target.iter().zip(unit.as_chunks::<WORD_BYTES>().0) {
            word.store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
        }
    }

    pub(super) fn load_unit(source: &[AtomicU64; UNIT_WORDS]) -> [u8; UNIT_BYTES] {
        let mut unit = [0; UNIT_BYTES];
        for (word, bytes) in source.iter().zip(unit.as_chunks_mut::<WORD_BYTES>().0) {
            *bytes = word.load(Ordering::Relaxed).to_le_bytes();
        }
        unit
    }
}

use unit::{load_unit, store_unit};
