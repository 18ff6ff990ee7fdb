//! Orders by their numbers.
//!
//! A table of buckets of 32 bytes, half a line of the cache. An order lies in any slot of the bucket that its hash chooses, so
//! a lookup compares the tags of six slots at once, without a branch on where the order lies: a search from slot to slot would
//! be mispredicted at every third order. What finds its bucket full lies in the next one with a free slot; each bucket counts
//! the orders that went past it, so a lookup knows when it need not go on. Nothing iterates over the table, so the order
//! of its entries affects no result.
//!
//! ```text
//!          0       1       2       3       4       5       6               8
//! bucket   │ tag   │ tag   │ tag   │ tag   │ tag   │ tag   │ went past     │ six places of 4 bytes
//! tag      0: the slot is free; else seven bits of the hash, and the highest bit
//! ```

use super::records::Place;

/// Where an order lies, or would.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    bucket: usize,
    slot: u32,
}

/// Slots of a bucket.
const SLOTS: u32 = 6;
/// The highest bits of all tags.
const HIGH: u64 = 0x0000_8080_8080_8080;
/// The lowest bits of all tags.
const LOW: u64 = 0x0000_0101_0101_0101;
/// One order that went past a bucket.
const PAST: u64 = 1 << 48;
/// So many that they are no longer counted: lookups go on behind this bucket for ever.
const COUNTLESS: u64 = 0xFFFF << 48;

#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct Bucket {
    /// A byte for each slot, and the number of orders that went past.
    tags: u64,
    places: [u32; SLOTS as usize],
}

const _: () = assert!(size_of::<Bucket>() == 32, "two buckets a line");

impl Bucket {
    const EMPTY: Bucket = Bucket { tags: 0, places: [u32::MAX; SLOTS as usize] };

    /// The slots that may have this tag, as highest bits: all that have it, and seldom one more.
    #[inline(always)]
    fn tagged(&self, tag: u64) -> u64 {
        let differ = self.tags ^ tag.wrapping_mul(LOW);
        differ.wrapping_sub(LOW) & !differ & HIGH
    }

    /// The first free slot; [`SLOTS`] or more: there is none.
    #[inline(always)]
    fn free(&self) -> u32 {
        (!self.tags & HIGH).trailing_zeros() / 8
    }

    #[inline(always)]
    fn went_past(&self) -> bool {
        self.tags >= PAST
    }

    #[inline(always)]
    fn put(&mut self, slot: u32, tag: u64, place: Place) {
        self.tags |= tag << (slot * 8);
        if let Some(to) = self.places.get_mut(slot as usize) {
            *to = place.0;
        }
    }

    #[inline(always)]
    fn clear(&mut self, slot: u32) {
        self.tags &= !(0xFF << (slot * 8));
    }

    #[inline(always)]
    fn place(&self, slot: u32) -> Place {
        Place(self.places.get(slot as usize).copied().unwrap_or(u32::MAX))
    }
}

/// Places of orders by number.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// Their number is a power of two.
    buckets: Vec<Bucket>,
    /// Bits of a hash that do not choose the bucket.
    shift: u32,
    used: usize,
}

/// One multiplication, and its highest bits, which choose the bucket: numbers that follow each other are spread more evenly
/// than at random. The upper half of the product is folded in for numbers that differ in their highest bits only. The
/// lowest bits of the result are the tag.
#[inline(always)]
pub(crate) fn hash(id: u64) -> u32 {
    // 2^64 divided by the golden ratio: odd, and with its bits well spread.
    let product = u128::from(id) * 0x9E37_79B9_7F4A_7C15;
    let folded = (product >> 64) as u64 ^ product as u64;
    (folded >> 32) as u32
}

#[inline(always)]
fn tag(hash: u32) -> u64 {
    u64::from(hash) & 0x7F | 0x80
}

/// Buckets at the start. More than the working orders need would only be more lines of the cache, so nothing is set aside
/// for orders that are expected.
const FIRST: usize = 1 << 8;
/// Orders a bucket, on average, from which on the table grows: even then few buckets are full.
const LOAD: usize = 2;

impl Numbers {
    pub(crate) fn new() -> Numbers {
        Numbers { buckets: vec![Bucket::EMPTY; FIRST], shift: 32 - FIRST.ilog2(), used: 0 }
    }

    /// Number of orders.
    pub(crate) fn len(&self) -> usize {
        self.used
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.used >= self.buckets.len() * LOAD
    }

    /// Makes room for so many orders, while there is none.
    pub(crate) fn reserve(&mut self, orders: usize) {
        while self.used == 0 && self.buckets.len() * LOAD <= orders {
            self.grow(|_| 0);
        }
    }

    /// Bytes that it occupies.
    pub(crate) fn bytes(&self) -> usize {
        self.buckets.len() * size_of::<Bucket>()
    }

    #[inline(always)]
    fn home(&self, hash: u32) -> usize {
        (hash >> self.shift) as usize
    }

    #[inline(always)]
    fn next(&self, bucket: usize) -> usize {
        (bucket + 1) & (self.buckets.len() - 1)
    }

    /// The place of the order with this hash for which `is` holds, and its entry.
    #[inline(always)]
    pub(crate) fn find(&self, hash: u32, is: impl Fn(Place) -> bool) -> Option<(Place, Entry)> {
        let home = self.home(hash);
        let mut at = home;
        loop {
            let bucket = &self.buckets[at];
            let mut tagged = bucket.tagged(tag(hash));
            while tagged != 0 {
                let slot = tagged.trailing_zeros() / 8;
                if is(bucket.place(slot)) {
                    return Some((bucket.place(slot), Entry { bucket: at, slot }));
                }
                tagged &= tagged - 1;
            }
            at = self.next(at);
            // All around only where numbers were chosen to collide.
            if !bucket.went_past() || at == home {
                return None;
            }
        }
    }

    /// The first order that may have this hash, if it lies in its own bucket.
    #[inline(always)]
    pub(crate) fn first(&self, hash: u32) -> Option<(Place, Entry)> {
        let home = self.home(hash);
        let bucket = &self.buckets[home];
        let slot = bucket.tagged(tag(hash)).trailing_zeros() / 8;
        (slot < SLOTS).then(|| (bucket.place(slot), Entry { bucket: home, slot }))
    }

    /// A free entry for an order with this hash in its own bucket, and whether an order with it may be there already.
    #[inline(always)]
    pub(crate) fn vacant(&self, hash: u32) -> (Option<Entry>, bool) {
        let home = self.home(hash);
        let bucket = &self.buckets[home];
        let slot = bucket.free();
        let entry = (slot < SLOTS && !self.is_full()).then_some(Entry { bucket: home, slot });
        (entry, bucket.tagged(tag(hash)) != 0 || bucket.went_past())
    }

    /// Adds an order at an entry of [`Numbers::vacant`], if nothing has changed since.
    #[inline(always)]
    pub(crate) fn put_at(&mut self, entry: Entry, hash: u32, place: Place) {
        self.used += 1;
        self.buckets[entry.bucket].put(entry.slot, tag(hash), place);
    }

    /// Takes out the order at an entry of [`Numbers::first`], if nothing has changed since.
    #[inline(always)]
    pub(crate) fn clear_at(&mut self, entry: Entry) {
        self.used -= 1;
        self.buckets[entry.bucket].clear(entry.slot);
    }

    /// Adds an order that is not there yet. `hash_of` is asked when the table grows.
    #[inline(never)]
    pub(crate) fn insert(&mut self, hash: u32, place: Place, hash_of: impl Fn(Place) -> u32) {
        if self.is_full() {
            self.grow(hash_of);
        }
        self.used += 1;
        self.put(hash, place);
    }

    fn put(&mut self, hash: u32, place: Place) {
        let mut at = self.home(hash);
        loop {
            let bucket = &mut self.buckets[at];
            let slot = bucket.free();
            if slot < SLOTS {
                return bucket.put(slot, tag(hash), place);
            }
            if bucket.tags < COUNTLESS {
                bucket.tags += PAST;
            }
            at = self.next(at);
        }
    }

    #[cold]
    fn grow(&mut self, hash_of: impl Fn(Place) -> u32) {
        let larger = vec![Bucket::EMPTY; self.buckets.len() * 2];
        self.shift -= 1;
        for bucket in std::mem::replace(&mut self.buckets, larger) {
            for slot in 0..SLOTS {
                if bucket.tags >> (slot * 8) & 0x80 != 0 {
                    let place = bucket.place(slot);
                    self.put(hash_of(place), place);
                }
            }
        }
    }

    /// Takes the order at `place` out, which must be there.
    #[inline(always)]
    pub(crate) fn remove(&mut self, hash: u32, place: Place) {
        match self.find(hash, |found| found == place) {
            Some((_, entry)) => self.remove_at(entry, hash),
            None => debug_assert!(false, "removed an order that is not there"),
        }
    }

    /// Takes out the order of an entry, if nothing has changed since it was found.
    #[inline(always)]
    pub(crate) fn remove_at(&mut self, entry: Entry, hash: u32) {
        self.used -= 1;
        self.buckets[entry.bucket].clear(entry.slot);
        let home = self.home(hash);
        if home != entry.bucket {
            self.returned(home, entry.bucket);
        }
    }

    /// An order that went past the buckets from `home` on until `bucket` has gone.
    #[cold]
    #[inline(never)]
    fn returned(&mut self, home: usize, bucket: usize) {
        let mut at = home;
        while at != bucket {
            if self.buckets[at].tags < COUNTLESS {
                self.buckets[at].tags -= PAST;
            }
            at = self.next(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn agrees(id: impl Fn(u64) -> u64, rounds: u32) {
        let mut numbers = Numbers::new();
        let mut plain: HashMap<u64, Place> = HashMap::new();
        let mut ids = vec![0_u64; 1 << 12];
        let mut random = 7_u64;
        for place in 0..rounds {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let id = id(random);
            let at = place as usize % ids.len();
            if let Some(old) = plain.remove(&ids[at]) {
                numbers.remove(hash(ids[at]), old);
            }
            if let std::collections::hash_map::Entry::Vacant(entry) = plain.entry(id) {
                entry.insert(Place(at as u32));
                match numbers.vacant(hash(id)) {
                    (Some(entry), _) => numbers.put_at(entry, hash(id), Place(at as u32)),
                    _ => {
                        numbers.insert(hash(id), Place(at as u32), |place| hash(ids[place.0 as usize]));
                    }
                }
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
        for (id, place) in plain {
            numbers.remove(hash(id), place);
        }
        assert!(numbers.buckets.iter().all(|bucket| bucket.tags == 0), "an empty table counts nothing");
    }

    #[test]
    fn it_finds_what_a_plain_map_finds() {
        agrees(|random| ((random >> 33) % 6_000) << ((random >> 20) % 3 * 20), 200_000);
    }

    #[test]
    fn numbers_that_collide_are_found() {
        // Of all numbers that are tried, those whose bucket is the last one.
        let colliding: Vec<u64> = (0..1 << 19).filter(|id| hash(*id) >> 20 == 0xFFF).collect();
        assert!(colliding.len() > 100);
        agrees(|random| colliding[(random >> 33) as usize % colliding.len()], 20_000);
    }
}
