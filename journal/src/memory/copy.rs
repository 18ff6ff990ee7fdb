//! Bytes into and out of shared words.
//!
//! A payload may be read by a loose reader at the moment in which it is overwritten, so it is never copied as plain
//! memory: each unit is one access that the compiler neither splits, repeats nor omits. On x86-64 the unit is 16 bytes,
//! moved by one volatile access, which is meant for memory that changes from outside. (The hardware promises no tearing
//! within 8 bytes, and nothing here needs more.) Elsewhere, and under tools that watch the accesses, it is two relaxed
//! atomic words.
//!
//! The caller's bytes are loaded in words, because they were stored in words a moment ago, as the fields of a message.
//! A load that is wider than the stores it reads from cannot be served by the store buffer: it waits until all earlier
//! stores have left for the cache, including those to lines of the last frame, which readers on other cores hold.

use crate::layout::WORD_BYTES;
use crate::sync::{AtomicU64, Ordering};

/// Payloads are padded with zeros to a multiple of this.
pub(crate) const UNIT_BYTES: usize = 16;
/// Words in a unit.
pub(crate) const UNIT_WORDS: usize = UNIT_BYTES / WORD_BYTES;

/// Copies `bytes` to the words from `target` on, and pads the last unit with zeros.
///
/// # Safety
/// `target` is aligned to a unit, and whole units for all of `bytes` are mapped there and stay mapped.
#[inline(always)]
pub(crate) unsafe fn store(target: *const AtomicU64, bytes: &[u8]) {
    let (units, tail) = bytes.as_chunks::<UNIT_BYTES>();
    for (index, unit) in units.iter().enumerate() {
        // SAFETY: within the range that the caller promises.
        unsafe { store_unit(&*target.add(index * UNIT_WORDS).cast(), unit) };
    }
    if !tail.is_empty() {
        // SAFETY: as above.
        let last: &[AtomicU64; UNIT_WORDS] = unsafe { &*target.add(units.len() * UNIT_WORDS).cast() };
        let (low, high) = tail.split_at(tail.len().min(WORD_BYTES));
        last[0].store(word_of(low), Ordering::Relaxed);
        last[1].store(word_of(high), Ordering::Relaxed);
    }
}

/// Up to eight bytes, padded with zeros: assembled in a register from pieces as wide as fields are.
#[inline(always)]
fn word_of(bytes: &[u8]) -> u64 {
    if let Some(whole) = bytes.first_chunk() {
        return u64::from_le_bytes(*whole);
    }
    let (mut word, mut rest, mut at) = (0, bytes, 0);
    if let Some((piece, behind)) = rest.split_first_chunk() {
        word = u64::from(u32::from_le_bytes(*piece));
        (rest, at) = (behind, 32);
    }
    if let Some((piece, behind)) = rest.split_first_chunk() {
        word |= u64::from(u16::from_le_bytes(*piece)) << at;
        (rest, at) = (behind, at + 16);
    }
    if let [last] = rest {
        word |= u64::from(*last) << at;
    }
    word
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
        // SAFETY: within the range that the caller promises.
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
    use std::arch::asm;
    use std::arch::x86_64::{__m128i, _mm_storeu_si128};

    use super::{AtomicU64, UNIT_BYTES, UNIT_WORDS};

    #[inline(always)]
    pub(super) fn store_unit(target: &[AtomicU64; UNIT_WORDS], unit: &[u8; UNIT_BYTES]) {
        let value: __m128i;
        // Explicit: the compiler would merge loads of two adjacent words into one.
        // SAFETY: loads 16 bytes of private memory, any alignment.
        unsafe {
            #[cfg(not(target_feature = "avx"))]
            asm!("movq {value}, [{unit}]", "movhps {value}, [{unit} + 8]", unit = in(reg) unit.as_ptr(),
                value = out(xmm_reg) value, options(pure, readonly, nostack, preserves_flags));
            #[cfg(target_feature = "avx")]
            asm!("vmovq {value}, [{unit}]", "vmovhps {value}, {value}, [{unit} + 8]", unit = in(reg) unit.as_ptr(),
                value = out(xmm_reg) value, options(pure, readonly, nostack, preserves_flags));
        }
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
    use super::{AtomicU64, Ordering, UNIT_BYTES, UNIT_WORDS};
    use crate::layout::WORD_BYTES;

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
