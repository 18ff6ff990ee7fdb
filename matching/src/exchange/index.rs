//! Orders by their numbers.
//!
//! Open addressing with eight bytes an entry: half of the hash, and the order's place. So a line of the cache holds
//! eight entries, and a lookup that finds its order touches that line and the order's own, which the caller needs
//! anyway. Nothing iterates over it, so the order of its entries affects no result.

use super::records::Place;

/// An entry of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(usize);

/// Places of orders by number.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// Hash in the upper half, place in the lower; [`EMPTY`] where there is none. Its length is a power of two.
    entries: Vec<u64>,
    used: usize,
}

const EMPTY: u64 = u64::MAX;

/// One multiplication, folded: both halves of the product reach the low bits, which choose the entry. Numbers that follow
/// each other are spread: next to each other they would share lines of the cache, but longer searches cost more than that.
#[inline(always)]
pub(crate) fn hash(id: u64) -> u32 {
    // 2^64 divided by the golden ratio: odd, and with its bits well spread.
    let product = u128::from(id) * 0x9E37_79B9_7F4A_7C15;
    let folded = (product >> 64) as u64 ^ product as u64;
    (folded ^ folded >> 32) as u32
}

/// Entries at the start. More than the working orders need would only be more lines of the cache, so nothing is set aside
/// for orders that are expected.
const FIRST: usize = 1 << 10;

impl Numbers {
    pub(crate) fn new() -> Numbers {
        Numbers { entries: vec![EMPTY; FIRST], used: 0 }
    }

    /// At most half of the entries are used: then most orders lie where their hash says.
    #[inline(always)]
    fn is_full(&self) -> bool {
        self.used * 2 >= self.entries.len()
    }

    /// Bytes that it occupies.
    pub(crate) fn bytes(&self) -> usize {
        self.entries.len() * size_of::<u64>()
    }

    #[inline(always)]
    fn mask(&self) -> usize {
        self.entries.len() - 1
    }

    /// The place of the order with this hash for which `is` holds, and its entry.
    #[inline(always)]
    pub(crate) fn find(&self, hash: u32, is: impl Fn(Place) -> bool) -> Option<(Place, Entry)> {
        self.probe(hash, is).ok()
    }

    /// As [`Numbers::find`]; where it is not there, the entry that it would get.
    #[inline(always)]
    pub(crate) fn probe(&self, hash: u32, is: impl Fn(Place) -> bool) -> Result<(Place, Entry), Entry> {
        let mask = self.mask();
        let mut at = hash as usize & mask;
        loop {
            let entry = self.entries[at];
            if entry == EMPTY {
                return Err(Entry(at));
            }
            if (entry >> 32) as u32 == hash && is(Place(entry as u32)) {
                return Ok((Place(entry as u32), Entry(at)));
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds an order where [`Numbers::probe`] said that it belongs, if nothing has changed since.
    #[inline(always)]
    pub(crate) fn insert_at(&mut self, entry: Entry, hash: u32, place: Place) {
        if self.is_full() {
            return self.insert(hash, place);
        }
        self.used += 1;
        self.entries[entry.0] = u64::from(hash) << 32 | u64::from(place.0);
    }

    /// Adds an order that is not there yet.
    #[inline(always)]
    pub(crate) fn insert(&mut self, hash: u32, place: Place) {
        if self.is_full() {
            self.grow();
        }
        self.used += 1;
        self.put(u64::from(hash) << 32 | u64::from(place.0));
    }

    #[inline(always)]
    fn put(&mut self, entry: u64) {
        let mask = self.mask();
        let mut at = (entry >> 32) as usize & mask;
        while self.entries[at] != EMPTY {
            at = (at + 1) & mask;
        }
        self.entries[at] = entry;
    }

    /// Makes room for so many orders more.
    pub(crate) fn reserve(&mut self, more: usize) {
        let entries = ((self.used + more) * 2 + 1).next_power_of_two();
        if entries > self.entries.len() {
            self.grow_to(entries);
        }
    }

    #[cold]
    fn grow(&mut self) {
        self.grow_to(self.entries.len() * 2);
    }

    fn grow_to(&mut self, entries: usize) {
        let larger = vec![EMPTY; entries];
        for entry in std::mem::replace(&mut self.entries, larger) {
            if entry != EMPTY {
                self.put(entry);
            }
        }
    }

    /// Takes the order at `place` out, which must be there.
    #[inline(always)]
    pub(crate) fn remove(&mut self, hash: u32, place: Place) {
        match self.find(hash, |found| found == place) {
            Some((_, entry)) => self.remove_at(entry),
            None => debug_assert!(false, "removed an order that is not there"),
        }
    }

    /// Takes out the order of an entry, if nothing has changed since it was found.
    #[inline(always)]
    pub(crate) fn remove_at(&mut self, entry: Entry) {
        let mask = self.mask();
        let mut at = entry.0;
        self.used -= 1;
        // Entries behind it move up, unless that would put them before the place that their hash chooses.
        let mut next = (at + 1) & mask;
        loop {
            let entry = self.entries[next];
            if entry == EMPTY {
                break;
            }
            let home = (entry >> 32) as usize & mask;
            if next.wrapping_sub(home) & mask >= next.wrapping_sub(at) & mask {
                self.entries[at] = entry;
                at = next;
            }
            next = (next + 1) & mask;
        }
        self.entries[at] = EMPTY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn it_finds_what_a_plain_map_finds() {
        let mut numbers = Numbers::new();
        let mut plain: HashMap<u64, Place> = HashMap::new();
        let mut ids = vec![0_u64; 1 << 12];
        let mut random = 7_u64;
        for place in 0..200_000_u32 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let id = ((random >> 33) % 6_000) << ((random >> 20) % 3 * 20);
            let at = place as usize % ids.len();
            if let Some(old) = plain.remove(&ids[at]) {
                numbers.remove(hash(ids[at]), old);
            }
            if let std::collections::hash_map::Entry::Vacant(entry) = plain.entry(id) {
                entry.insert(Place(at as u32));
                numbers.insert(hash(id), Place(at as u32));
                ids[at] = id;
            }
            let found = numbers.find(hash(id), |place| ids[place.0 as usize] == id).map(|(place, _)| place);
            assert_eq!(found, plain.get(&id).copied());
        }
        for (at, id) in ids.iter().enumerate() {
            let found = numbers.find(hash(*id), |place| ids[place.0 as usize] == *id && place.0 == at as u32);
            let found = found.map(|(place, _)| place);
            assert_eq!(found, plain.get(id).copied().filter(|place| place.0 == at as u32));
        }
        assert_eq!(numbers.used, plain.len());
    }
}
