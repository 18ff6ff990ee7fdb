//! Records at stable places: one growing block, and a stack of the places that are free.
//!
//! The only file that knows where records lie: on huge pages, where that is wanted and there are some. The place freed last is given out first: its cache lines are the warmest. Memory is asked
//! for when the block grows past its largest size so far, and at no other time.

use std::ops::{Index, IndexMut};

use pinning::Block;

/// The place of one record. Four bytes, so that links between records stay small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(u32);

impl Slot {
    /// No record.
    pub(crate) const NONE: Slot = Slot(u32::MAX);

    /// True unless this is [`Slot::NONE`].
    pub(crate) fn is_some(self) -> bool {
        self != Slot::NONE
    }
}

/// Records of one type.
#[derive(Debug)]
pub(crate) struct Slab<T: Copy> {
    records: Block<T>,
    free: Vec<Slot>,
}

impl<T: Copy> Slab<T> {
    /// Room for `capacity` records before it grows for the first time.
    pub(crate) fn with_capacity(capacity: usize, huge_pages: bool) -> Slab<T> {
        Slab { records: Block::with_capacity(capacity, huge_pages), free: Vec::with_capacity(capacity) }
    }

    /// Whether the records lie on huge pages.
    pub(crate) fn is_huge(&self) -> bool {
        self.records.is_huge()
    }

    /// Stores `record`; `None` when all 2^32 - 1 places are taken.
    pub(crate) fn insert(&mut self, record: T) -> Option<Slot> {
        if let Some(slot) = self.free.pop() {
            self[slot] = record;
            return Some(slot);
        }
        let slot = Slot(u32::try_from(self.records.len()).ok()?);
        if !slot.is_some() {
            return None;
        }
        self.records.push(record);
        Some(slot)
    }

    /// Gives the place back. The caller holds no other copy of `slot`.
    pub(crate) fn remove(&mut self, slot: Slot) -> T {
        self.free.push(slot);
        self[slot]
    }

    /// Records stored now.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.records.len() - self.free.len()
    }

    /// Places that the block has grown to.
    #[cfg(test)]
    pub(crate) fn places(&self) -> usize {
        self.records.len()
    }
}

impl<T: Copy> Index<Slot> for Slab<T> {
    type Output = T;
    fn index(&self, slot: Slot) -> &T {
        &self.records[slot.0 as usize]
    }
}

impl<T: Copy> IndexMut<Slot> for Slab<T> {
    fn index_mut(&mut self, slot: Slot) -> &mut T {
        &mut self.records[slot.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_freed_last_is_used_first_and_the_block_does_not_grow() {
        let mut slab = Slab::with_capacity(2, false);
        let first = slab.insert(1).unwrap();
        let second = slab.insert(2).unwrap();
        assert_eq!(slab.remove(first), 1);
        assert_eq!(slab.remove(second), 2);
        assert_eq!(slab.insert(3), Some(second));
        assert_eq!(slab.insert(4), Some(first));
        assert_eq!((slab[second], slab[first], slab.len(), slab.places()), (3, 4, 2, 2));
    }
}
