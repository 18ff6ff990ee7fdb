//! Maps by order id.
//!
//! A strategy's ids count up by one, and orders are asked for about in the order in which they came. So each strategy has a
//! ring in which an id lies at its sequence number, and neighbours lie side by side: a look-up reads memory that the one
//! before has brought near, where a hash map would read a line from anywhere. What finds its place taken, by an order that
//! is older by the length of the ring, goes to a hash map; the ring grows while it is half full.
//!
//! Ids can be made to collide; a strategy that does so slows down its own look-ups to those of a hash map.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::OrderId;

/// Where an order is kept, by its id. Places are whatever the caller makes of them, but `u32::MAX`.
#[derive(Clone, Debug, Default)]
pub struct OrderIndex {
    /// By seat.
    rings: Vec<Ring>,
    spilled: HashMap<OrderId, u32, BuildHasherDefault<IdHasher>>,
}

#[derive(Clone, Debug, Default)]
struct Ring {
    /// A power of two, or none yet.
    entries: Vec<Entry>,
    taken: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    id: OrderId,
    place: u32,
}

const FREE: Entry = Entry { id: OrderId(0), place: u32::MAX };
/// Entries of the first ring of a strategy.
const SHORTEST: usize = 256;
/// A ring grows no further.
const LONGEST: usize = 1 << 16;

impl OrderIndex {
    /// Where an order is.
    #[inline]
    pub fn find(&self, id: OrderId) -> Option<u32> {
        match self.rings.get(usize::from(id.strategy().0)).and_then(|ring| ring.at(id)) {
            Some(entry) if entry.id == id && entry.place != FREE.place => Some(entry.place),
            _ if self.spilled.is_empty() => None,
            _ => self.spilled.get(&id).copied(),
        }
    }

    /// Notes where an order is, in place of where it was.
    #[inline]
    pub fn insert(&mut self, id: OrderId, place: u32) {
        if !self.spilled.is_empty() && self.spilled.contains_key(&id) {
            self.spilled.insert(id, place);
            return;
        }
        let seat = usize::from(id.strategy().0);
        if let Some(ring) = self.rings.get_mut(seat)
            && let Some(entry) = ring.at_mut(id)
            && (entry.place == FREE.place || entry.id == id)
        {
            let is_new = entry.place == FREE.place;
            *entry = Entry { id, place };
            ring.taken += usize::from(is_new);
            return;
        }
        self.make_room(seat, Entry { id, place });
    }

    /// Forgets an order; where it was.
    #[inline]
    pub fn remove(&mut self, id: OrderId) -> Option<u32> {
        if let Some(ring) = self.rings.get_mut(usize::from(id.strategy().0))
            && let Some(entry) = ring.at_mut(id)
            && entry.id == id
            && entry.place != FREE.place
        {
            let place = std::mem::replace(entry, FREE).place;
            ring.taken -= 1;
            return Some(place);
        }
        if self.spilled.is_empty() { None } else { self.spilled.remove(&id) }
    }

    /// Makes room for this many orders of a strategy, as far as a ring may grow.
    pub fn reserve(&mut self, strategy: crate::StrategyId, orders: usize) {
        let ring = self.ring(usize::from(strategy.0));
        let entries = orders.saturating_mul(2).clamp(SHORTEST, LONGEST).next_power_of_two();
        if ring.entries.len() < entries {
            let (_, crowded) = ring.resize(entries);
            self.spill(crowded);
        }
    }

    fn ring(&mut self, seat: usize) -> &mut Ring {
        if self.rings.len() <= seat {
            self.rings.resize_with(seat + 1, Ring::default);
        }
        &mut self.rings[seat]
    }

    #[cold]
    fn make_room(&mut self, seat: usize, new: Entry) {
        let ring = self.ring(seat);
        let length = ring.entries.len();
        let mut crowded = Vec::new();
        if length == 0 {
            ring.entries = vec![FREE; SHORTEST];
        } else if length < LONGEST && ring.taken >= length / 2 {
            crowded = ring.resize(length * 2).1;
        }
        crowded.extend(ring.put(new));
        self.spill(crowded);
    }

    fn spill(&mut self, entries: Vec<Entry>) {
        self.spilled.extend(entries.into_iter().map(|entry| (entry.id, entry.place)));
    }
}

impl Ring {
    #[inline]
    fn at(&self, id: OrderId) -> Option<&Entry> {
        self.entries.get(id.sequence() as usize & self.entries.len().wrapping_sub(1))
    }

    #[inline]
    fn at_mut(&mut self, id: OrderId) -> Option<&mut Entry> {
        let mask = self.entries.len().wrapping_sub(1);
        self.entries.get_mut(id.sequence() as usize & mask)
    }

    /// Returns the entry if its place is taken by another.
    fn put(&mut self, new: Entry) -> Option<Entry> {
        match self.at_mut(new.id) {
            Some(entry) if entry.place == FREE.place => {
                *entry = new;
                self.taken += 1;
                None
            }
            _ => Some(new),
        }
    }

    /// How many are in it, and which have found no place.
    fn resize(&mut self, length: usize) -> (usize, Vec<Entry>) {
        let entries = std::mem::replace(&mut self.entries, vec![FREE; length]);
        self.taken = 0;
        let taken = entries.into_iter().filter(|entry| entry.place != FREE.place);
        let crowded = taken.filter_map(|entry| self.put(entry)).collect();
        (self.taken, crowded)
    }
}

/// Values by order id. The order in which they lie never shows: lists are sorted.
#[derive(Clone, Debug)]
pub struct OrderMap<T> {
    index: OrderIndex,
    values: Vec<Option<(OrderId, T)>>,
    free: Vec<u32>,
}

impl<T> Default for OrderMap<T> {
    fn default() -> OrderMap<T> {
        OrderMap { index: OrderIndex::default(), values: Vec::new(), free: Vec::new() }
    }
}

impl<T> OrderMap<T> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.values.len() - self.free.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes room for this many orders of a strategy.
    pub fn reserve(&mut self, strategy: crate::StrategyId, orders: usize) {
        self.index.reserve(strategy, orders);
        self.values.reserve(orders.saturating_sub(self.len()));
        self.free.reserve(orders.saturating_sub(self.free.len()));
    }

    /// The value of an order.
    #[inline]
    pub fn get(&self, id: OrderId) -> Option<&T> {
        let place = self.index.find(id)?;
        self.values.get(place as usize)?.as_ref().map(|(_, value)| value)
    }

    /// The same, to change it.
    #[inline]
    pub fn get_mut(&mut self, id: OrderId) -> Option<&mut T> {
        let place = self.index.find(id)?;
        self.values.get_mut(place as usize)?.as_mut().map(|(_, value)| value)
    }

    /// Keeps a value; the one before, if there was one.
    #[inline]
    pub fn insert(&mut self, id: OrderId, value: T) -> Option<T> {
        if let Some(known) = self.get_mut(id) {
            return Some(std::mem::replace(known, value));
        }
        let place = match self.free.pop() {
            Some(place) => {
                self.values[place as usize] = Some((id, value));
                place
            }
            None => {
                self.values.push(Some((id, value)));
                (self.values.len() - 1) as u32
            }
        };
        self.index.insert(id, place);
        None
    }

    /// Takes a value out.
    #[inline]
    pub fn remove(&mut self, id: OrderId) -> Option<T> {
        let place = self.index.remove(id)?;
        self.free.push(place);
        self.values.get_mut(place as usize)?.take().map(|(_, value)| value)
    }

    /// All, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (OrderId, &T)> {
        self.values.iter().flatten().map(|(id, value)| (*id, value))
    }

    /// How many there is room for without memory from the allocator.
    pub fn capacity(&self) -> usize {
        self.values.capacity()
    }
}

/// Spreads order ids.
#[derive(Clone, Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        // 2^64 divided by the golden ratio, odd; the rotation brings its well-mixed upper bits down to where the map
        // takes its bucket from.
        self.0 = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::StrategyId;

    fn id(seat: u16, epoch: u16, sequence: u32) -> OrderId {
        OrderId::new(StrategyId(seat), epoch, sequence)
    }

    #[test]
    fn an_index_without_entries_finds_nothing() {
        let mut index = OrderIndex::default();
        assert_eq!((index.find(id(3, 1, 7)), index.remove(id(3, 1, 7))), (None, None));
        index.insert(id(3, 1, 7), 0);
        assert_eq!((index.find(id(3, 1, 7)), index.find(OrderId(0))), (Some(0), None));
    }

    #[test]
    fn orders_that_live_long_do_not_make_the_ring_grow() {
        let mut index = OrderIndex::default();
        // One in a thousand stays.
        for sequence in 0..1_000_000 {
            index.insert(id(2, 1, sequence), sequence);
            if sequence >= 50 && (sequence - 50) % 1_000 != 0 {
                assert_eq!(index.remove(id(2, 1, sequence - 50)), Some(sequence - 50));
            }
        }
        assert!(index.rings[2].entries.len() <= 2 * SHORTEST * 2, "{}", index.rings[2].entries.len());
        for sequence in (0..999_000).step_by(1_000) {
            assert_eq!(index.find(id(2, 1, sequence)), Some(sequence));
        }
    }

    #[test]
    fn a_map_does_not_grow_in_steady_state() {
        let mut map = OrderMap::default();
        map.reserve(StrategyId(3), 200);
        let capacity = map.capacity();
        for sequence in 0..100_000_u32 {
            map.insert(id(3, 1, sequence), sequence);
            // Every seventh lives long, so that there are holes.
            if sequence >= 50 && sequence % 7 != 0 {
                map.remove(id(3, 1, sequence - 50));
            }
            if sequence >= 600 {
                map.remove(id(3, 1, sequence - 600));
                map.remove(id(3, 1, sequence - 599));
            }
        }
        assert!(map.len() <= 200, "{}", map.len());
        assert_eq!(map.capacity(), capacity);
        assert_eq!(map.iter().count(), map.len());
    }

    proptest! {
        #[test]
        fn it_is_a_map(
            operations in prop::collection::vec((0_u8..8, 0_u16..3, 0_u16..2, 0_u32..9, 0_u32..600), 1..3_000),
        ) {
            let mut map = OrderMap::default();
            let mut model = BTreeMap::new();
            for (operation, seat, epoch, far, near) in operations {
                // Near ones, and those that meet them in every ring.
                let id = id(seat, epoch, far * LONGEST as u32 + near);
                match operation {
                    0..4 => prop_assert_eq!(map.insert(id, near + far), model.insert(id, near + far)),
                    4..7 => prop_assert_eq!(map.remove(id), model.remove(&id)),
                    _ => {
                        if let Some(value) = map.get_mut(id) {
                            *value += 1;
                        }
                        if let Some(value) = model.get_mut(&id) {
                            *value += 1;
                        }
                    }
                }
                prop_assert_eq!(map.get(id), model.get(&id));
                prop_assert_eq!(map.len(), model.len());
            }
            let mut all: Vec<_> = map.iter().map(|(id, value)| (id, *value)).collect();
            all.sort_unstable();
            prop_assert_eq!(all, model.into_iter().collect::<Vec<_>>());
        }
    }
}
