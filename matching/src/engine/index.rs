//! Finding orders by number, and knowing which numbers were used.
//!
//! Nothing here iterates over a hash map: the order of its entries can therefore never show in a result.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map from 64-bit numbers that are given by a market or an SDK and not chosen to collide.
pub(crate) type IdMap<V> = HashMap<u64, V, BuildHasherDefault<IdHasher>>;

/// One multiplication, folded: the map needs good low bits for its bucket and good high bits for its tag.
#[derive(Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        // 2^64 divided by the golden ratio: odd, and with its bits well spread.
        let product = u128::from(self.0 ^ value) * 0x9E37_79B9_7F4A_7C15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}

const CHUNK_BITS: u32 = 12;
const WORDS: usize = 1 << (CHUNK_BITS - 6);

/// Every number ever seen, one bit each, in chunks of 4,096 neighbours: numbers that are given out in sequence cost
/// one allocation of 512 bytes per 4,096.
#[derive(Debug, Default)]
pub(crate) struct IdSet {
    chunks: IdMap<Box<[u64; WORDS]>>,
}

impl IdSet {
    /// True when `id` was not in the set before.
    pub(crate) fn insert(&mut self, id: u64) -> bool {
        let chunk = self.chunks.entry(id >> CHUNK_BITS).or_insert_with(|| Box::new([0; WORDS]));
        let word = &mut chunk[(id >> 6) as usize % WORDS];
        let bit = 1 << (id % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_new_once() {
        let mut set = IdSet::default();
        for id in (0..10_000).chain([u64::MAX, u64::MAX - 4_096, 1 << 48]) {
            assert!(set.insert(id), "{id} was not new");
        }
        for id in [0, 4_095, 4_096, 9_999, u64::MAX, u64::MAX - 4_096, 1 << 48] {
            assert!(!set.insert(id), "{id} was new twice");
        }
        assert!(set.insert(10_000));
    }
}
