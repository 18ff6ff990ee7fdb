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

    /// The place as a number, and back: [`u32::MAX`] for none.
    pub(crate) fn number(self) -> u32 {
        self.0
    }

    /// As above.
    pub(crate) fn numbered(number: u32) -> Slot {
        Slot(number)
    }

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
    /// Which records have changed, if anybody wants to know.
    changes: Option<Changes>,
}

/// What is known of each place.
#[derive(Debug, Default)]
struct Changes {
    /// Places that have changed, each once.
    places: Vec<u32>,
    /// By place: [`CHANGED`] and [`USED`].
    marks: Vec<u8>,
}

/// It is among the places that have changed.
const CHANGED: u8 = 1;
/// There is a record.
const USED: u8 = 2;

impl Changes {
    fn mark(&mut self, slot: Slot) {
        let place = slot.0 as usize;
        if self.marks.len() <= place {
            self.marks.resize(place + 1, 0);
        }
        let mark = &mut self.marks[place];
        if *mark & CHANGED == 0 {
            *mark |= CHANGED;
            self.places.push(slot.0);
        }
    }

    fn set_used(&mut self, slot: Slot, is_used: bool) {
        self.mark(slot);
        let mark = &mut self.marks[slot.0 as usize];
        *mark = *mark & !USED | if is_used { USED } else { 0 };
    }
}

impl<T: Copy> Slab<T> {
    /// Room for `capacity` records before it grows for the first time.
    pub(crate) fn with_capacity(capacity: usize, huge_pages: bool) -> Slab<T> {
        let records = Block::with_capacity(capacity, huge_pages);
        Slab { records, free: Vec::with_capacity(capacity), changes: None }
    }

    /// From now on says which records have changed. Nothing may be stored yet.
    pub(crate) fn track(&mut self) {
        self.changes = Some(Changes::default());
    }

    /// Number of places that have changed since they were taken.
    pub(crate) fn changed(&self) -> usize {
        self.changes.as_ref().map_or(0, |changes| changes.places.len())
    }

    /// Moves up to `most` of the places that have changed into `places`.
    pub(crate) fn take_changed(&mut self, most: usize, places: &mut Vec<u32>) {
        places.clear();
        let Some(changes) = &mut self.changes else { return };
        let from = changes.places.len().saturating_sub(most);
        places.extend(changes.places.drain(from..));
        places.iter().for_each(|place| changes.marks[*place as usize] &= !CHANGED);
    }

    /// The record at a place, if one is stored there. Known only when changes are tracked.
    pub(crate) fn at(&self, place: u32) -> Option<&T> {
        let marks = &self.changes.as_ref()?.marks;
        (marks.get(place as usize)? & USED != 0).then(|| &self.records[place as usize])
    }

    /// Stores records at given places, the rest of the first `places` being free and holding `empty`. False, and nothing
    /// is stored: a place is beyond those, or comes twice, or something is stored already.
    pub(crate) fn restore(&mut self, places: u32, empty: T, records: &[(u32, T)]) -> bool {
        let is_possible = self.records.is_empty()
            && places < u32::MAX
            && records.windows(2).all(|pair| pair[0].0 < pair[1].0)
            && records.last().is_none_or(|(place, _)| *place < places);
        if !is_possible {
            return false;
        }
        let mut records = records.iter().peekable();
        for place in 0..places {
            let record = records.next_if(|(at, _)| *at == place);
            self.records.push(record.map_or(empty, |(_, record)| *record));
            if record.is_none() {
                self.free.push(Slot(place));
            }
            if let Some(changes) = &mut self.changes {
                changes.marks.push(if record.is_some() { USED } else { 0 });
            }
        }
        true
    }

    /// Whether the records lie on huge pages.
    pub(crate) fn is_huge(&self) -> bool {
        self.records.is_huge()
    }

    /// Stores `record`; `None` when all 2^32 - 1 places are taken.
    pub(crate) fn insert(&mut self, record: T) -> Option<Slot> {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.records[slot.0 as usize] = record;
                slot
            }
            None => {
                let slot = Slot(u32::try_from(self.records.len()).ok().filter(|place| *place != u32::MAX)?);
                self.records.push(record);
                slot
            }
        };
        if let Some(changes) = &mut self.changes {
            changes.set_used(slot, true);
        }
        Some(slot)
    }

    /// The record at a place that may not be there.
    pub(crate) fn get(&self, slot: Slot) -> Option<&T> {
        self.records.get(slot.0 as usize)
    }

    /// The record at a place that may not be there. A change of it is not noted: for records that come back.
    pub(crate) fn get_mut(&mut self, slot: Slot) -> Option<&mut T> {
        self.records.get_mut(slot.0 as usize)
    }

    /// Gives the place back. The caller holds no other copy of `slot`.
    pub(crate) fn remove(&mut self, slot: Slot) -> T {
        self.free.push(slot);
        if let Some(changes) = &mut self.changes {
            changes.set_used(slot, false);
        }
        self[slot]
    }

    /// Records stored now.
    pub(crate) fn len(&self) -> usize {
        self.records.len() - self.free.len()
    }

    /// Places that the block has grown to.
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
    #[inline]
    fn index_mut(&mut self, slot: Slot) -> &mut T {
        if let Some(changes) = &mut self.changes {
            changes.mark(slot);
        }
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

    #[test]
    fn what_has_changed_is_said_once_and_records_come_back_to_their_places() {
        let mut slab = Slab::with_capacity(2, false);
        slab.track();
        let slots = [7, 8, 9].map(|record| slab.insert(record).unwrap());
        slab[slots[0]] = 70;
        slab.remove(slots[1]);
        let mut changed = Vec::new();
        slab.take_changed(2, &mut changed);
        assert_eq!((changed.len(), slab.changed()), (2, 1));
        slab.take_changed(9, &mut changed);
        assert_eq!((changed.len(), slab.changed()), (1, 0));
        assert_eq!([0, 1, 2, 3].map(|place| slab.at(place).copied()), [Some(70), None, Some(9), None]);

        let mut again = Slab::with_capacity(0, false);
        again.track();
        assert!(!again.restore(3, 0, &[(2, 9), (0, 70)]) && !again.restore(3, 0, &[(3, 1)]));
        assert!(again.restore(3, 0, &[(0, 70), (2, 9)]) && !again.restore(3, 0, &[]));
        assert_eq!([0, 1, 2].map(|place| again.at(place).copied()), [Some(70), None, Some(9)]);
        assert_eq!((again.insert(5).unwrap(), again.len(), again.changed()), (slots[1], 3, 1));
    }
}
