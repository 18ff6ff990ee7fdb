//! The bytes of a ring, addressed by stream position.

use std::sync::Arc;

use crate::layout::{LINE_BYTES, LINE_WORDS, WORD_BYTES, frame};
use crate::memory::{Region, copy, hint};
use crate::sync::{AtomicU64, Ordering};

/// A ring's words. Positions grow without end; the ring repeats every `capacity` bytes. Clones share the memory.
///
/// All copying is by relaxed atomic words, or equivalent to it ([`copy`]): the surrounding protocol decides whether the
/// bytes are valid (`SYNC: commit`, `SYNC: intent`).
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    /// The region's words and their number, stored here to save the hot path one indirection.
    words: *const AtomicU64,
    length: usize,
    /// Capacity in bytes less one: a power of two less one.
    mask: u64,
    /// Keeps `words` mapped.
    _region: Arc<Region>,
}

// SAFETY: `words` points into `_region`, which may be shared and sent; all access to them is as atomics.
unsafe impl Send for Ring {}
// SAFETY: as above.
unsafe impl Sync for Ring {}

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
        assert!(capacity.is_power_of_two() && capacity >= LINE_BYTES);
        let views = if region.is_mirrored() { 2 } else { 1 };
        assert_eq!(region.words().len() * WORD_BYTES, capacity as usize * views);
        let words = region.words();
        Ring { words: words.as_ptr(), length: words.len(), mask: capacity - 1, _region: Arc::new(region) }
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.mask + 1
    }

    /// True when no payload is ever split.
    pub(crate) fn is_mirrored(&self) -> bool {
        (self.length * WORD_BYTES) as u64 > self.capacity()
    }

    #[inline(always)]
    fn index(&self, position: u64) -> usize {
        (position & self.mask) as usize / WORD_BYTES
    }

    /// The line at `position`, where a frame starts.
    #[inline(always)]
    fn line(&self, position: u64) -> &[AtomicU64; LINE_WORDS] {
        let first = (position & self.mask & !(LINE_BYTES - 1)) as usize / WORD_BYTES;
        // SAFETY: the region holds at least `capacity` bytes, a multiple of a line (`Ring::new`), and `first` is the
        // start of a line below that; `_region` keeps it mapped.
        unsafe { &*self.words.add(first).cast::<[AtomicU64; LINE_WORDS]>() }
    }

    /// The commit word of the frame at `position`.
    #[inline(always)]
    pub(crate) fn commit_word(&self, position: u64) -> &AtomicU64 {
        &self.line(position)[frame::COMMIT]
    }

    /// The word at `position`, anywhere.
    pub(crate) fn word(&self, position: u64) -> &AtomicU64 {
        // SAFETY: the index is below the capacity, and so within the words; `_region` keeps them mapped.
        unsafe { &*self.words.add(self.index(position)) }
    }

    /// Header of the frame at `position`. A header never wraps: frames start on lines.
    #[inline(always)]
    pub(crate) fn header(&self, position: u64) -> RawHeader {
        let line = self.line(position);
        let word = |offset: usize| line[offset].load(Ordering::Relaxed);
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

    /// Stores the header except for the commit word.
    #[inline(always)]
    pub(crate) fn store_header(&self, position: u64, header: RawHeader) {
        let line = self.line(position);
        let store = |offset: usize, value: u64| line[offset].store(value, Ordering::Relaxed);
        let shape =
            u64::from(header.length) | u64::from(header.message_id) << 32 | u64::from(header.flags) << 48;
        store(frame::SHAPE, shape);
        store(frame::TIME, header.time);
        store(frame::ORIGIN, u64::from(header.topic) | u64::from(header.epoch) << 32);
    }

    /// Stores the time of the frame at `position`.
    #[inline(always)]
    pub(crate) fn set_time(&self, position: u64, time: u64) {
        self.line(position)[frame::TIME].store(time, Ordering::Relaxed);
    }

    /// Word index of byte `offset` of the payload of the frame at `position`; and whether `bytes` bytes from there on,
    /// in whole units, are contiguous. In a mirrored ring they always are.
    #[inline(always)]
    fn payload_at(&self, position: u64, offset: usize, bytes: usize) -> (usize, bool) {
        let first = self.index(position) + frame::HEADER_WORDS + offset / WORD_BYTES;
        let words = bytes.div_ceil(copy::UNIT_BYTES) * copy::UNIT_WORDS;
        (first, first + words <= self.length)
    }

    /// Writes bytes of a payload from `offset` on, a multiple of the copy's unit, and pads the last unit with zeros.
    #[inline(always)]
    pub(crate) fn store_payload(&self, position: u64, offset: usize, bytes: &[u8]) {
        let (first, whole) = self.payload_at(position, offset, bytes.len());
        if whole {
            // SAFETY: in bounds by the comparison in `payload_at`; whole units, as positions are multiples of a line.
            unsafe { copy::store(self.words.add(first), bytes) };
        } else {
            self.store_split(first, bytes);
        }
    }

    /// Stores a payload that wraps, in a ring that is not mirrored.
    #[cold]
    fn store_split(&self, first: usize, bytes: &[u8]) {
        let head = self.length.saturating_sub(first) * WORD_BYTES;
        let (before, behind) = bytes.split_at(head.min(bytes.len()));
        let wrapped = if before.is_empty() { first - self.length } else { 0 };
        assert!(
            wrapped * WORD_BYTES + behind.len().next_multiple_of(copy::UNIT_BYTES)
                <= self.capacity() as usize
        );
        // SAFETY: `before` ends at the end of the words (its last unit is whole, as both ends are multiples of a
        // unit), and `behind` fits from `wrapped` on by the line above.
        unsafe {
            if !before.is_empty() {
                copy::store(self.words.add(first), before);
            }
            copy::store(self.words.add(wrapped), behind);
        }
    }

    /// Copies a payload from the ring.
    #[inline(always)]
    pub(crate) fn load_payload(&self, position: u64, payload: &mut [u8]) {
        let (first, whole) = self.payload_at(position, 0, payload.len());
        if whole {
            // SAFETY: in bounds by the comparison in `payload_at`.
            unsafe { copy::load(self.words.add(first), payload) };
        } else {
            self.load_split(first, payload);
        }
    }

    #[cold]
    fn load_split(&self, first: usize, payload: &mut [u8]) {
        let head = self.length.saturating_sub(first) * WORD_BYTES;
        let (before, behind) = payload.split_at_mut(head.min(payload.len()));
        assert!(behind.len().next_multiple_of(copy::UNIT_BYTES) <= self.capacity() as usize);
        // SAFETY: as in `store_split`; a payload's first word is never behind the end.
        unsafe {
            copy::load(self.words.add(first), before);
            copy::load(self.words, behind);
        }
    }

    /// Copies whole lines from the ring, header and all.
    pub(crate) fn load_bytes(&self, position: u64, bytes: &mut [u8]) {
        let first = self.index(position);
        if bytes.len().is_multiple_of(copy::UNIT_BYTES) && first + bytes.len() / WORD_BYTES <= self.length {
            // SAFETY: in bounds by the comparison above; whole units, as positions are multiples of a line.
            return unsafe { copy::load(self.words.add(first), bytes) };
        }
        for (line, bytes) in bytes.chunks_mut(LINE_BYTES as usize).enumerate() {
            let words = self.line(position + line as u64 * LINE_BYTES);
            for (word, bytes) in words.iter().zip(bytes.chunks_mut(WORD_BYTES)) {
                bytes.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes()[..bytes.len()]);
            }
        }
    }

    /// Whole frames in place, when they are contiguous.
    ///
    /// # Safety
    /// As for [`Ring::borrow_payload`].
    #[cfg(not(loom))]
    pub(crate) unsafe fn borrow_bytes(&self, position: u64, length: usize) -> Option<&[u8]> {
        let first = self.index(position);
        if first + length.div_ceil(WORD_BYTES) > self.length {
            return None;
        }
        // SAFETY: in bounds and initialised; the caller promises that no process writes them.
        Some(unsafe { std::slice::from_raw_parts(self.words.add(first).cast(), length) })
    }

    /// Prefetches the line at `position`.
    #[inline(always)]
    pub(crate) fn prefetch(&self, position: u64) {
        hint::prefetch(self.line(position));
    }

    /// The payload in place, when it is contiguous.
    ///
    /// # Safety
    /// No process writes these bytes while the slice lives. For a gated reader this holds for the frames between its
    /// published cursor and the head: the writer does not pass its gate.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) unsafe fn borrow_payload(&self, position: u64, length: usize) -> Option<&[u8]> {
        let (first, whole) = self.payload_at(position, 0, length);
        if !whole {
            return None;
        }
        // SAFETY: in bounds and initialised; the caller promises that no process writes them.
        Some(unsafe { std::slice::from_raw_parts(self.words.add(first).cast(), length) })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::memory::heap;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

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
