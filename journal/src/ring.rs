//! The bytes of a ring, addressed by stream position.

use crate::layout::{WORD_BYTES, frame};
use crate::memory::Region;
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

    /// `words` words from the payload of the frame at `position` on: one run, and a second only where an unmirrored
    /// ring wraps.
    #[inline]
    fn payload_runs(&self, position: u64, words: usize) -> (&[AtomicU64], &[AtomicU64]) {
        let first = self.index(position) + frame::HEADER_WORDS;
        let all = self.region.words();
        if first + words <= all.len() {
            (&all[first..first + words], &[])
        } else {
            let head = &all[first.min(all.len())..];
            let rest = words - head.len();
            (head, &all[..rest])
        }
    }

    /// Writes a payload, filled up with zeros to a whole word.
    #[inline]
    pub(crate) fn store_payload(&self, position: u64, payload: &[u8]) {
        let (first, second) = self.payload_runs(position, payload.len().div_ceil(WORD_BYTES));
        let mut words = first.iter().chain(second);
        let (chunks, tail) = payload.as_chunks::<WORD_BYTES>();
        for (chunk, word) in chunks.iter().zip(words.by_ref()) {
            word.store(u64::from_le_bytes(*chunk), Ordering::Relaxed);
        }
        if let Some(word) = words.next() {
            let mut last = [0; WORD_BYTES];
            last[..tail.len()].copy_from_slice(tail);
            word.store(u64::from_le_bytes(last), Ordering::Relaxed);
        }
    }

    /// Copies a payload out.
    #[inline]
    pub(crate) fn load_payload(&self, position: u64, payload: &mut [u8]) {
        let (first, second) = self.payload_runs(position, payload.len().div_ceil(WORD_BYTES));
        let mut words = first.iter().chain(second);
        let (chunks, tail) = payload.as_chunks_mut::<WORD_BYTES>();
        for (chunk, word) in chunks.iter_mut().zip(words.by_ref()) {
            *chunk = word.load(Ordering::Relaxed).to_le_bytes();
        }
        if let Some(word) = words.next() {
            let last = word.load(Ordering::Relaxed).to_le_bytes();
            tail.copy_from_slice(&last[..tail.len()]);
        }
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
            ring.store_payload(position, &payload);
            let mut copy = vec![0xee; payload.len()];
            ring.load_payload(position, &mut copy);
            prop_assert_eq!(copy, payload);
        }
    }
}
