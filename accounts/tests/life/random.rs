//! Numbers that look random.

/// Xorshift: the same on every host.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    pub(super) fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }

    pub(super) fn one_in(&mut self, chance: u64) -> bool {
        self.below(chance) == 0
    }
}
