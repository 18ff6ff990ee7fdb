//! Which ticks have orders.

/// A set of small numbers, as bits with two summaries: one bit for each word below. So the neighbour of any number is found in at
/// most five words.
#[derive(Clone, Debug)]
pub(super) struct Bitmap {
    words: Vec<u64>,
    sums: Vec<u64>,
    tops: Vec<u64>,
}

/// Number of its word, its bit.
#[inline(always)]
fn split(number: u32) -> (u32, u64) {
    (number >> 6, 1 << (number & 63))
}

impl Bitmap {
    /// The empty set of numbers below `most`.
    pub(super) fn new(most: u32) -> Bitmap {
        let words = |bits: usize| vec![0; bits / 64 + 1];
        let low: Vec<u64> = words(most as usize);
        let sums: Vec<u64> = words(low.len());
        let tops = words(sums.len());
        Bitmap { words: low, sums, tops }
    }

    #[inline(always)]
    pub(super) fn insert(&mut self, number: u32) {
        let (word, bit) = split(number);
        let before = self.words[word as usize];
        self.words[word as usize] = before | bit;
        if before == 0 {
            let (sum, bit) = split(word);
            self.sums[sum as usize] |= bit;
            let (top, bit) = split(sum);
            self.tops[top as usize] |= bit;
        }
    }

    #[inline(always)]
    pub(super) fn remove(&mut self, number: u32) {
        let (word, bit) = split(number);
        self.words[word as usize] &= !bit;
        if self.words[word as usize] == 0 {
            let (sum, bit) = split(word);
            self.sums[sum as usize] &= !bit;
            if self.sums[sum as usize] == 0 {
                let (top, bit) = split(sum);
                self.tops[top as usize] &= !bit;
            }
        }
    }

    /// The lowest number above `number`.
    #[inline(always)]
    pub(super) fn above(&self, number: u32) -> Option<u32> {
        let (word, bit) = split(number);
        if let Some(found) = lowest(self.words[word as usize] & above(bit)) {
            return Some(word << 6 | found);
        }
        let (sum, bit) = split(word);
        let word = match lowest(self.sums[sum as usize] & above(bit)) {
            Some(found) => sum << 6 | found,
            None => {
                let (top, bit) = split(sum);
                let sum = match lowest(self.tops[top as usize] & above(bit)) {
                    Some(found) => top << 6 | found,
                    None => {
                        let next =
                            self.tops.get(top as usize + 1..)?.iter().position(|&top| top != 0)? as u32;
                        (top + 1 + next) << 6 | lowest(self.tops[(top + 1 + next) as usize])?
                    }
                };
                sum << 6 | lowest(self.sums[sum as usize])?
            }
        };
        Some(word << 6 | lowest(self.words[word as usize])?)
    }

    /// The highest number below `number`.
    #[inline(always)]
    pub(super) fn below(&self, number: u32) -> Option<u32> {
        let (word, bit) = split(number);
        if let Some(found) = highest(self.words[word as usize] & (bit - 1)) {
            return Some(word << 6 | found);
        }
        let (sum, bit) = split(word);
        let word = match highest(self.sums[sum as usize] & (bit - 1)) {
            Some(found) => sum << 6 | found,
            None => {
                let (top, bit) = split(sum);
                let sum = match highest(self.tops[top as usize] & (bit - 1)) {
                    Some(found) => top << 6 | found,
                    None => {
                        let next = self.tops[..top as usize].iter().rposition(|&top| top != 0)? as u32;
                        next << 6 | highest(self.tops[next as usize])?
                    }
                };
                sum << 6 | highest(self.sums[sum as usize])?
            }
        };
        Some(word << 6 | highest(self.words[word as usize])?)
    }
}

/// The bits above `bit`.
#[inline(always)]
fn above(bit: u64) -> u64 {
    !(bit | (bit - 1))
}

#[inline(always)]
fn lowest(word: u64) -> Option<u32> {
    (word != 0).then(|| word.trailing_zeros())
}

#[inline(always)]
fn highest(word: u64) -> Option<u32> {
    (word != 0).then(|| 63 - word.leading_zeros())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::{Rng as _, SeedableRng as _};

    use super::*;

    #[test]
    fn neighbours_are_those_of_a_sorted_set() {
        const MOST: u32 = 600_000;
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(7);
        let (mut bitmap, mut set) = (Bitmap::new(MOST), BTreeSet::new());
        let edges = [0, 63, 64, 4_095, 4_096, 262_143, 262_144, MOST - 1];
        let mut found = 0;
        for step in 0..40_000 {
            let number = if step % 3 == 0 { edges[step % edges.len()] } else { random.random_range(0..MOST) };
            if random.random_bool(0.45) {
                bitmap.insert(number);
                set.insert(number);
            } else {
                let number = set.range(number..).next().copied().unwrap_or(number);
                bitmap.remove(number);
                set.remove(&number);
            }
            let asked = random.random_range(0..MOST);
            for asked in [asked, number] {
                let (above, below) = (bitmap.above(asked), bitmap.below(asked));
                assert_eq!(above, set.range(asked + 1..).next().copied());
                assert_eq!(below, set.range(..asked).next_back().copied());
                found += usize::from(above.is_some()) + usize::from(below.is_some());
            }
        }
        assert!(found > 10_000, "the set was empty most of the time: {found}");
    }
}
