//! Orders by number, and the numbers that were used.
//!
//! Nothing here iterates over a hash map, so the order of its entries never affects a result.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use wire::{OrderId, StrategyId};

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

/// The newest order id of each strategy. Within one epoch of a strategy ids only grow, and so do its epochs: what is not
/// newer was used before. A few bytes a strategy, however many orders there are.
#[derive(Debug, Default)]
pub(crate) struct UsedIds {
    /// By seat.
    newest: Vec<Option<OrderId>>,
}

impl UsedIds {
    /// The newest of a strategy.
    pub(crate) fn newest(&self, strategy: StrategyId) -> Option<OrderId> {
        self.newest.get(usize::from(strategy.0)).copied().flatten()
    }

    /// Strategies have seats below this.
    pub(crate) fn seats(&self) -> usize {
        self.newest.len()
    }

    /// True, and remembered, when `id` is newer than all before of its strategy.
    pub(crate) fn claim(&mut self, id: OrderId) -> bool {
        let seat = usize::from(id.strategy().0);
        if self.newest.len() <= seat {
            self.newest.resize(seat + 1, None);
        }
        let newest = &mut self.newest[seat];
        let is_newer = newest.is_none_or(|newest| id.is_newer_than(newest));
        if is_newer {
            *newest = Some(id);
        }
        is_newer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_new_once_and_none_before_it_is() {
        let mut used = UsedIds::default();
        let id = |epoch, sequence| OrderId::new(StrategyId(7), epoch, sequence);
        assert!(used.claim(id(65_535, 3)) && !used.claim(id(65_535, 3)) && !used.claim(id(65_535, 2)));
        assert!(used.claim(id(0, 1)), "the epoch after 65,535 is 0");
        assert!(!used.claim(id(65_535, 9)), "of its predecessor");
        assert!(used.claim(OrderId::new(StrategyId(8), 1, 1)), "another strategy's");
    }

    #[test]
    fn what_is_remembered_does_not_grow_with_the_orders() {
        let mut used = UsedIds::default();
        for sequence in 1..100_000 {
            assert!(used.claim(OrderId::new(StrategyId(7), 1, sequence)));
        }
        assert_eq!(used.newest.len(), 8);
    }
}
