//! Bytes into and out of shared words.
//!
//! A payload may be read by a loose reader in the moment in which it is overwritten, so it is never copied as plain
//! memory: each unit is one access that the compiler neither splits, repeats nor leaves out. On x86-64 the unit is 16
//! bytes, moved by one volatile access, which is what volatile is for: memory that others change. (The hardware
//! promises no tearing within 8 bytes, and nothing here needs more.) Elsewhere, and where a tool watches the
//! accesses, it is two relaxed atomic words.

use crate::layout::WORD_BYTES;
use crate::sync::AtomicU64;

/// Payloads are filled up with zeros to a multiple of this.
pub(crate) const UNIT_BYTES: usize = 16;
/// Words in a unit.
pub(crate) const UNIT_WORDS: usize = UNIT_BYTES / WORD_BYTES;

/// Copies `bytes` to the words from `target` on, and fills the last unit up with zeros.
///
/// # Safety
/// `target` is aligned to a unit, and whole units for all of `bytes` are mapped there and stay so.
#[inline(always)]
pub(crate) unsafe fn store(target: *const AtomicU64, bytes: &[u8]) {
    let (units, tail) = bytes.as_chunks::<UNIT_BYTES>();
    for (index, unit) in units.iter().enumerate() {
        // SAFETY: within what the caller promises.
        unsafe { store_unit(&*target.add(index * UNIT_WORDS).cast(), unit) };
    }
    if !tail.is_empty() {
        let mut last = [0; UNIT_BYTES];
        last[..tail.len()].copy_from_slice(tail);
        // SAFETY: as above.
        unsafe { store_unit(&*target.add(units.len() * UNIT_WORDS).cast(), &last) };
    }
}

/// Copies the words from `source` on to `bytes`.
///
/// # Safety
/// As for [`store`].
#[inline(always)]
pub(crate) unsafe fn load(source: *const AtomicU64, bytes: &mut [u8]) {
    let (units, tail) = bytes.as_chunks_mut::<UNIT_BYTES>();
    let whole = units.len();
    for (index, unit) in units.iter_mut().enumerate() {
        // SAFETY: within what the caller promises.
        *unit = unsafe { load_unit(&*source.add(index * UNIT_WORDS).cast()) };
    }
    if !tail.is_empty() {
        // SAFETY: as above.
        let last = unsafe { load_unit(&*source.add(whole * UNIT_WORDS).cast()) };
        tail.copy_from_slice(&last[..tail.len()]);
    }
}

#[cfg(all(target_arch = "x86_64", not(any(loom, miri, colo_tsan))))]
mod unit {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_storeu_si128};

    use super::{AtomicU64, UNIT_BYTES, UNIT_WORDS};

    #[inline(always)]
    pub(super) fn store_unit(target: &[AtomicU64; UNIT_WORDS], unit: &[u8; UNIT_BYTES]) {
        // SAFETY: 16 bytes of private memory, any alignment.
        let value: __m128i = unsafe { _mm_loadu_si128(unit.as_ptr().cast()) };
        let target = target.as_ptr().cast::<__m128i>().cast_mut();
        debug_assert!(target.is_aligned());
        // SAFETY: two words that may be written through a shared reference as all atomics may; payloads and units
        // start on multiples of 16 bytes, and regions on multiples of a line.
        unsafe { target.write_volatile(value) };
    }

    #[inline(always)]
    pub(super) fn load_unit(source: &[AtomicU64; UNIT_WORDS]) -> [u8; UNIT_BYTES] {
        let source = source.as_ptr().cast::<__m128i>();
        debug_assert!(source.is_aligned());
        // SAFETY: two words, aligned as above; any bytes are a valid value.
        let value = unsafe { source.read_volatile() };
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
