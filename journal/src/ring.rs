//! The bytes of a ring, addressed by stream position.

use crate::layout::{WORD_BYTES, frame};
use crate::memory::{Region, copy};
use crate::sync::{AtomicU64, Ordering};

/// A ring's words. Positions grow for ever; the ring repeats every `capacity` bytes.
///
/// All copying is by relaxed atomic words: whether the bytes meant anything is decided by the protocol around it
/// (`SYNC: commit`, `SYNC: intent`).
#[derive(Debug)]
pub(crate) struct Ring {
    region: Region,
    capacity: u64,
}

/// The header of a frame as it was read, unchecked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawHeader {
    pub(crate) length: u32,
    pub(crate) message_id: u16,
    pub(crate) flags: u16,
    pub(crate) time: u64,
    pub(crate) topic: u32,
    pub(crate) epoch: u32,
}

impl Ring {
    /// `capacity` is a power of two, and `region` holds that many bytes (or twice, mirrored).
    pub(crate) fn new(region: Region, capacity: u64) -> Ring {
        debug_assert!(capacity.is_power_of_two());
        let views = if region.is_mirrored() { 2 } else { 1 };
        assert_eq!(region.words().len() * WORD_BYTES, capacity as usize * views);
        Ring { region, capacity }
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    #[inline(always)]
    fn index(&self, position: u64) -> usize {
        (position & (self.capacity - 1)) as usize / WORD_BYTES
    }

    /// The commit word of the frame at `position`.
    #[inline(always)]
    pub(crate) fn commit_word(&self, position: u64) -> &AtomicU64 {
        self.region.word(self.index(position) + frame::COMMIT)
    }

    /// Header of the frame at `position`. A header never wraps: frames start on lines.
    #[inline]
    pub(crate) fn header(&self, position: u64) -> RawHeader {
        let first = self.index(position);
        let word = |offset: usize| self.region.word(first + offset).load(Ordering::Relaxed);
        let (shape, origin) = (word(frame::SHAPE), word(frame::ORIGIN));
        RawHeader {
            length: shape as u32,
            message_id: (shape >> 32) as u16,
            flags: (shape >> 48) as u16,
            time: word(frame::TIME),
            topic: origin as u32,
            epoch: (origin >> 32) as u32,
        }
    }

    /// Everything of the header but the commit word.
    #[inline]
    pub(crate) fn store_header(&self, position: u64, header: RawHeader) {
        let first = self.index(position);
        let store =
            |offset: usize, value: u64| self.region.word(first + offset).store(value, Ordering::Relaxed);
        let shape =
            u64::from(header.length) | u64::from(header.message_id) << 32 | u64::from(header.flags) << 48;
        store(frame::SHAPE, shape);
        store(frame::TIME, header.time);
        store(frame::ORIGIN, u64::from(header.topic) | u64::from(header.epoch) << 32);
    }

    /// The words of `bytes` bytes of payload, from byte `offset` on, in whole units: one run, and a second only where
    /// an unmirrored ring wraps.
    #[inline(always)]
    fn payload_runs(&self, position: u64, offset: usize, bytes: usize) -> (&[AtomicU64], &[AtomicU64]) {
        let first = self.index(position) + frame::HEADER_WORDS + offset / WORD_BYTES;
        let words = bytes.next_multiple_of(copy::UNIT_BYTES) / WORD_BYTES;
        let all = self.region.words();
        match all.get(first..first + words) {
            Some(run) => (run, &[]),
            None => self.split_run(first, words),
        }
    }

    #[cold]
    fn split_run(&self, first: usize, words: usize) -> (&[AtomicU64], &[AtomicU64]) {
        let all = self.region.words();
        let head = &all[first.min(all.len())..];
        let wrapped = first.saturating_sub(all.len());
        (head, &all[wrapped..wrapped + words - head.len()])
    }

    /// Writes bytes of a payload from `offset` on, a multiple of the copy's unit, and fills the last unit up with
    /// zeros.
    #[inline(always)]
    pub(crate) fn store_payload(&self, position: u64, offset: usize, bytes: &[u8]) {
        let (first, second) = self.payload_runs(position, offset, bytes.len());
        if second.is_empty() {
            copy::store(first, bytes);
        } else {
            let (head, tail) = bytes.split_at(bytes.len().min(first.len() * WORD_BYTES));
            copy::store(first, head);
            copy::store(second, tail);
        }
    }

    /// Copies a payload out.
    #[inline(always)]
    pub(crate) fn load_payload(&self, position: u64, payload: &mut [u8]) {
        let (first, second) = self.payload_runs(position, 0, payload.len());
        if second.is_empty() {
            copy::load(first, payload);
        } else {
            let (head, tail) = payload.split_at_mut(payload.len().min(first.len() * WORD_BYTES));
            copy::load(first, head);
            copy::load(second, tail);
        }
    }

    /// Asks for the line at `position` to be written soon: its owner gives it up while we do other things.
    #[inline(always)]
    pub(crate) fn prefetch_for_write(&self, position: u64) {
        #[cfg(all(target_arch = "x86_64", not(any(loom, miri))))]
        {
            use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
            let word = self.region.word(self.index(position));
            // SAFETY: a hint; it changes no memory and cannot fault.
            unsafe { _mm_prefetch::<_MM_HINT_ET0>(std::ptr::from_ref(word).cast()) };
        }
        #[cfg(not(all(target_arch = "x86_64", not(any(loom, miri)))))]
        let _ = position;
    }

    /// The payload in place, when it lies in one piece.
    ///
    /// # Safety
    /// As for [`Region::borrow_bytes`]: the caller's gate keeps the writer off these bytes.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) unsafe fn borrow_payload(&self, position: u64, length: usize) -> Option<&[u8]> {
        let first = self.index(position) + frame::HEADER_WORDS;
        if first + length.div_ceil(WORD_BYTES) > self.region.words().len() {
            return None;
        }
        // SAFETY: in bounds by the line above; passed on from our caller.
        Some(unsafe { self.region.borrow_bytes(first, length) })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::memory::heap;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_payload_comes_back_whole_wherever_it_lies(
            line in 0_u64..40,
            payload in proptest::collection::vec(any::<u8>(), 0..900),
        ) {
            let ring = Ring::new(heap(1_024 / 8), 1_024);
            let position = line * 64;
            ring.store_payload(position, 0, &payload);
            let mut copy = vec![0xee; payload.len()];
            ring.load_payload(position, &mut copy);
            prop_assert_eq!(copy, payload);
        }
    }
}
