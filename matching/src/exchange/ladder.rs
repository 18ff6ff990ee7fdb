//! One side of a book: its price levels, the best first.
//!
//! Prices are *ranks*: of two, the greater is the better one, on both sides. Chunks of levels near each other are found by
//! an array and three words of bits, in the same time however many levels there are. What lies beyond the array, more
//! than some 30,000 ticks away, is found in a sorted list; when trading moves there, the array follows.
//!
//! ```text
//!   best ──▶ level          window: 4,096 chunks of 16 levels           far: (number, chunk), sorted
//!                            summary │1 bit a word of bits
//!                            bits    │1 bit a chunk        ──▶ chunk ──▶ 1 bit a level ──▶ level
//! ```

use super::levels::{CHUNK, Levels, chunk_number};
use super::records::LevelPlace;

/// Chunks that the array covers.
const WINDOW: usize = 4_096;
const NO_CHUNK: u32 = u32::MAX;
/// Uses of chunks beyond the array until it follows the best price.
const PATIENCE: u32 = 1_024;

/// One side of a book.
#[derive(Debug)]
pub(crate) struct Ladder {
    /// Rank of the best level; meaningless without one.
    pub(crate) best_rank: i64,
    /// The best level.
    pub(crate) best: LevelPlace,
    summary: u64,
    /// Number of the window's first chunk.
    base: i64,
    /// Chunks with orders.
    bits: [u64; WINDOW / 64],
    /// Chunks by number; empty before the first order.
    window: Vec<u32>,
    /// Chunks outside of the window by number, ascending. Those that emptied stay until there are many.
    far: Vec<(i64, u32)>,
    /// Chunks in `far` without orders.
    far_empty: usize,
    far_uses: u32,
}

impl Ladder {
    pub(crate) fn new() -> Ladder {
        Ladder {
            best_rank: i64::MIN,
            best: LevelPlace::NONE,
            summary: 0,
            base: 0,
            bits: [0; WINDOW / 64],
            window: Vec::new(),
            far: Vec::new(),
            far_empty: 0,
            far_uses: 0,
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of::<Ladder>() + self.window.len() * size_of::<u32>() + self.far.len() * size_of::<(i64, u32)>()
    }

    #[inline(always)]
    fn offset(&self, number: i64) -> usize {
        number.wrapping_sub(self.base) as u64 as usize
    }

    /// The level of a rank, made if there is none; `None` when there is no room. An order must follow.
    #[inline(always)]
    pub(crate) fn level(&mut self, levels: &mut Levels, rank: i64) -> Option<LevelPlace> {
        let number = chunk_number(rank);
        match self.window.get(self.offset(number)) {
            Some(&chunk) if chunk != NO_CHUNK => Some(LevelPlace::new(chunk, rank)),
            _ => self.make(levels, number).map(|chunk| LevelPlace::new(chunk, rank)),
        }
    }

    /// The level of a rank, if it has orders.
    pub(crate) fn find(&self, levels: &Levels, rank: i64) -> Option<LevelPlace> {
        let number = chunk_number(rank);
        let far =
            || self.far.binary_search_by_key(&number, |(number, _)| *number).ok().map(|at| self.far[at].1);
        let near = self.window.get(self.offset(number)).copied();
        let chunk = near.map_or_else(far, |chunk| Some(chunk).filter(|chunk| *chunk != NO_CHUNK))?;
        let place = LevelPlace::new(chunk, rank);
        (levels.chunk(chunk).mask & 1 << place.bit() != 0).then_some(place)
    }

    #[cold]
    #[inline(never)]
    fn make(&mut self, levels: &mut Levels, number: i64) -> Option<u32> {
        if self.window.is_empty() {
            self.window = vec![NO_CHUNK; WINDOW];
            self.base = number.saturating_sub(WINDOW as i64 / 2);
        }
        if self.offset(number) >= WINDOW {
            self.far_uses += 1;
            let best = chunk_number(self.best_rank);
            if !self.best.is_some() {
                self.move_window(levels, number);
            } else if self.far_uses >= PATIENCE && self.offset(best) >= WINDOW {
                self.move_window(levels, best);
            }
        }
        let offset = self.offset(number);
        if offset < WINDOW {
            // Looked up again: the window may have moved here.
            if self.window[offset] == NO_CHUNK {
                self.window[offset] = levels.take_chunk(number)?;
            }
            return Some(self.window[offset]);
        }
        match self.far.binary_search_by_key(&number, |(number, _)| *number) {
            Ok(index) => Some(self.far[index].1),
            Err(index) => {
                let chunk = levels.take_chunk(number)?;
                self.far.insert(index, (number, chunk));
                self.far_empty += 1;
                Some(chunk)
            }
        }
    }

    /// The first order of a level has come.
    #[inline(always)]
    pub(crate) fn filled(&mut self, levels: &mut Levels, rank: i64, level: LevelPlace) {
        let chunk = levels.chunk_mut(level.chunk());
        let was_empty = chunk.mask == 0;
        chunk.mask |= 1 << level.bit();
        if was_empty {
            self.mark(chunk.number);
        }
        if rank > self.best_rank || !self.best.is_some() {
            (self.best_rank, self.best) = (rank, level);
        }
    }

    fn mark(&mut self, number: i64) {
        let offset = self.offset(number);
        if offset < WINDOW {
            self.bits[offset / 64] |= 1 << (offset % 64);
            self.summary |= 1 << (offset / 64);
        } else {
            self.far_empty -= 1;
        }
    }

    /// The last order of a level has gone.
    #[inline(always)]
    pub(crate) fn emptied(&mut self, levels: &mut Levels, level: LevelPlace) {
        let chunk = levels.chunk_mut(level.chunk());
        chunk.mask &= !(1 << level.bit());
        let (mask, number) = (chunk.mask, chunk.number);
        if mask == 0 {
            self.unmark(levels, number, level.chunk());
        }
        if level == self.best {
            // All levels are worse than the best one was.
            if mask != 0 {
                let bit = 15 - mask.leading_zeros();
                self.best_rank = number * CHUNK + i64::from(bit);
                self.best = LevelPlace::new(level.chunk(), self.best_rank);
            } else {
                self.find_best(levels);
            }
        }
    }

    fn unmark(&mut self, levels: &mut Levels, number: i64, chunk: u32) {
        let offset = self.offset(number);
        if offset < WINDOW {
            self.bits[offset / 64] &= !(1 << (offset % 64));
            if self.bits[offset / 64] == 0 {
                self.summary &= !(1 << (offset / 64));
            }
            self.window[offset] = NO_CHUNK;
            levels.give_back(chunk);
            return;
        }
        self.far_empty += 1;
        if self.far_empty > 16 && self.far_empty * 2 > self.far.len() {
            self.prune(levels);
        }
    }

    #[cold]
    fn prune(&mut self, levels: &mut Levels) {
        self.far.retain(|(_, chunk)| {
            let used = levels.chunk(*chunk).mask != 0;
            if !used {
                levels.give_back(*chunk);
            }
            used
        });
        self.far_empty = 0;
    }

    #[cold]
    #[inline(never)]
    fn find_best(&mut self, levels: &Levels) {
        match self.worse_than_chunk(levels, None) {
            Some((rank, level)) => (self.best_rank, self.best) = (rank, level),
            None => (self.best_rank, self.best) = (i64::MIN, LevelPlace::NONE),
        }
    }

    /// The best level.
    pub(crate) fn first(&self) -> Option<(i64, LevelPlace)> {
        self.best.is_some().then_some((self.best_rank, self.best))
    }

    /// The best level that is worse than the one at `rank`, which is `level`.
    pub(crate) fn next(&self, levels: &Levels, level: LevelPlace) -> Option<(i64, LevelPlace)> {
        let chunk = levels.chunk(level.chunk());
        let worse = chunk.mask & ((1_u16 << level.bit()) - 1);
        if worse != 0 {
            let rank = chunk.number * CHUNK + i64::from(15 - worse.leading_zeros());
            return Some((rank, LevelPlace::new(level.chunk(), rank)));
        }
        self.worse_than_chunk(levels, Some(chunk.number))
    }

    /// The best level in a chunk below `number`; `None`: of all.
    fn worse_than_chunk(&self, levels: &Levels, number: Option<i64>) -> Option<(i64, LevelPlace)> {
        let top = self.base.saturating_add(WINDOW as i64);
        let above = number.is_none_or(|number| number > top);
        if above && let Some(found) = self.far_below(levels, number, Some(top)) {
            return Some(found);
        }
        if let Some(found) = self.window_below(levels, number) {
            return Some(found);
        }
        let number = number.map_or(self.base, |number| number.min(self.base));
        self.far_below(levels, Some(number), None)
    }

    fn window_below(&self, levels: &Levels, number: Option<i64>) -> Option<(i64, LevelPlace)> {
        let end = match number {
            Some(number) if number <= self.base => return None,
            Some(number) => self.offset(number).min(WINDOW),
            None => WINDOW,
        };
        let (word, bit) = (end / 64, end % 64);
        let in_word = if bit == 0 { 0 } else { self.bits[word] & ((1 << bit) - 1) };
        let offset = if in_word != 0 {
            word * 64 + 63 - in_word.leading_zeros() as usize
        } else {
            let words = if word == 64 { self.summary } else { self.summary & ((1 << word) - 1) };
            if words == 0 {
                return None;
            }
            let word = 63 - words.leading_zeros() as usize;
            word * 64 + 63 - self.bits[word].leading_zeros() as usize
        };
        best_of(levels, self.window[offset])
    }

    /// The best level of a far chunk below `end` and not below `from`.
    fn far_below(&self, levels: &Levels, end: Option<i64>, from: Option<i64>) -> Option<(i64, LevelPlace)> {
        if self.far.is_empty() {
            return None;
        }
        let end = end.map_or(self.far.len(), |end| self.far.partition_point(|(number, _)| *number < end));
        let start = from.map_or(0, |from| self.far.partition_point(|(number, _)| *number < from));
        let chunks = self.far.get(start..end)?;
        chunks.iter().rev().find_map(|(_, chunk)| best_of(levels, *chunk))
    }

    /// Moves the window so that `number` lies in its middle.
    #[cold]
    fn move_window(&mut self, levels: &mut Levels, number: i64) {
        self.far_uses = 0;
        let mut all: Vec<(i64, u32)> = self
            .window
            .iter()
            .chain(self.far.iter().map(|(_, chunk)| chunk))
            .filter(|chunk| **chunk != NO_CHUNK)
            .map(|chunk| (levels.chunk(*chunk).number, *chunk))
            .collect();
        all.sort_unstable();
        self.base = number.saturating_sub(WINDOW as i64 / 2);
        self.window.fill(NO_CHUNK);
        self.bits = [0; WINDOW / 64];
        self.summary = 0;
        self.far.clear();
        self.far_empty = 0;
        for (number, chunk) in all {
            if levels.chunk(chunk).mask == 0 {
                levels.give_back(chunk);
                continue;
            }
            let offset = self.offset(number);
            if offset < WINDOW {
                self.window[offset] = chunk;
                self.mark(number);
            } else {
                self.far.push((number, chunk));
            }
        }
    }
}

/// The best level of a chunk, if one has orders.
fn best_of(levels: &Levels, place: u32) -> Option<(i64, LevelPlace)> {
    let chunk = levels.chunk(place);
    (chunk.mask != 0).then(|| {
        let rank = chunk.number * CHUNK + i64::from(15 - chunk.mask.leading_zeros());
        (rank, LevelPlace::new(place, rank))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Levels come and go at these ranks; the ladder always agrees with a sorted set.
    fn agrees(ranks: impl Fn(u64) -> i64, rounds: usize) {
        let mut levels = Levels::new(false);
        let mut ladder = Ladder::new();
        let mut plain: BTreeSet<i64> = BTreeSet::new();
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        for round in 0..rounds {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let rank = ranks(random);
            let level = ladder.level(&mut levels, rank).unwrap();
            if plain.remove(&rank) {
                levels[level].orders = 0;
                ladder.emptied(&mut levels, level);
            } else {
                plain.insert(rank);
                levels[level].orders = 1;
                ladder.filled(&mut levels, rank, level);
            }
            assert_eq!(ladder.first().map(|(rank, _)| rank), plain.last().copied());
            for wanted in [rank, ranks(random.rotate_left(17))] {
                let found = ladder.find(&levels, wanted).map(|level| levels[level].orders);
                assert_eq!(found, plain.contains(&wanted).then_some(1), "{wanted} after {round}");
            }
            if round % 64 == 0 {
                let mut found = Vec::new();
                let mut at = ladder.first();
                while let Some((rank, level)) = at {
                    assert_eq!(levels[level].orders, 1);
                    found.push(rank);
                    at = ladder.next(&levels, level);
                }
                assert!(found.iter().eq(plain.iter().rev()), "after {round}");
            }
        }
        for rank in plain {
            let level = ladder.level(&mut levels, rank).unwrap();
            ladder.emptied(&mut levels, level);
        }
        assert_eq!(ladder.first(), None);
    }

    #[test]
    fn levels_near_each_other_are_found_in_order() {
        agrees(|random| (random % 500) as i64 - 250, 20_000);
    }

    #[test]
    fn levels_far_from_each_other_are_found_in_order() {
        agrees(|random| (random % 400) as i64 * 40_000 - 8_000_000, 20_000);
    }

    #[test]
    fn the_ends_of_the_range_work_like_the_middle() {
        let ends =
            [i64::MIN, i64::MIN + 1, i64::MIN + 70_000, -1, 0, 1, i64::MAX - 70_000, i64::MAX - 1, i64::MAX];
        agrees(|random| ends[(random % 9) as usize], 5_000);
    }

    #[test]
    fn the_window_follows_a_price_that_walks_away() {
        let mut levels = Levels::new(false);
        let mut ladder = Ladder::new();
        for step in 0..200_000_i64 {
            let rank = step * 16;
            let level = ladder.level(&mut levels, rank).unwrap();
            ladder.filled(&mut levels, rank, level);
            if step >= 10 {
                let old = ladder.level(&mut levels, (step - 10) * 16).unwrap();
                ladder.emptied(&mut levels, old);
            }
            assert_eq!(ladder.best_rank, rank);
        }
        assert!(ladder.far.len() < 2 * PATIENCE as usize && levels.bytes() < 1 << 21, "{}", levels.bytes());
    }
}
