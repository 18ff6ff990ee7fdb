//! Price levels: what rests at one price. Sixteen neighbouring prices share a chunk, so that prices that are near each
//! other lie near each other, and those that are far from all others cost a chunk and not a ladder.

use pinning::Block;

use super::records::{LevelPlace, Place};

/// Prices of a chunk.
pub(crate) const CHUNK: i64 = 16;
const CHUNK_BITS: u32 = 4;

/// The orders of one price.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Level {
    /// The first in line.
    pub(crate) head: Place,
    /// The last in line.
    pub(crate) tail: Place,
    /// Quantity that the book shows.
    pub(crate) shown: i64,
    /// Quantity of icebergs that it does not show.
    pub(crate) hidden: i64,
    pub(crate) orders: u32,
}

const _: () = assert!(size_of::<Level>() == 32, "two levels a line");

impl Level {
    const EMPTY: Level = Level { head: Place::NONE, tail: Place::NONE, shown: 0, hidden: 0, orders: 0 };

    /// All that can be had.
    pub(crate) fn quantity(&self) -> i128 {
        i128::from(self.shown) + i128::from(self.hidden)
    }
}

/// Where a chunk belongs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    /// Rank of its first level, divided by [`CHUNK`].
    pub(crate) number: i64,
    /// Levels that have orders.
    pub(crate) mask: u16,
}

/// The levels of all books.
#[derive(Debug)]
pub(crate) struct Levels {
    levels: Block<Level>,
    chunks: Vec<Chunk>,
    free: Vec<u32>,
}

impl Levels {
    pub(crate) fn new(huge_pages: bool) -> Levels {
        // One huge page; on ordinary ones nothing is set aside.
        let most = if huge_pages { (2 << 20) / size_of::<Level>() } else { 0 };
        Levels { levels: Block::with_capacity(most, huge_pages), chunks: Vec::new(), free: Vec::new() }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.levels.len() * size_of::<Level>() + self.chunks.len() * size_of::<Chunk>()
    }

    pub(crate) fn is_huge(&self) -> bool {
        self.levels.is_huge()
    }

    /// A chunk of empty levels; `None` when there is no number left.
    #[cold]
    pub(crate) fn take_chunk(&mut self, number: i64) -> Option<u32> {
        let chunk = Chunk { number, mask: 0 };
        if let Some(place) = self.free.pop() {
            self.chunks[place as usize] = chunk;
            return Some(place);
        }
        if self.chunks.len() >= (u32::MAX >> CHUNK_BITS) as usize {
            return None;
        }
        for _ in 0..CHUNK {
            self.levels.push(Level::EMPTY);
        }
        self.chunks.push(chunk);
        Some((self.chunks.len() - 1) as u32)
    }

    /// Gives back a chunk whose levels are empty.
    pub(crate) fn give_back(&mut self, place: u32) {
        self.free.push(place);
    }

    #[inline(always)]
    pub(crate) fn chunk(&self, place: u32) -> &Chunk {
        &self.chunks[place as usize]
    }

    #[inline(always)]
    pub(crate) fn chunk_mut(&mut self, place: u32) -> &mut Chunk {
        &mut self.chunks[place as usize]
    }
}

impl LevelPlace {
    /// The level at `rank` in its chunk.
    #[inline(always)]
    pub(crate) fn new(chunk: u32, rank: i64) -> LevelPlace {
        LevelPlace(chunk << CHUNK_BITS | (rank & (CHUNK - 1)) as u32)
    }

    #[inline(always)]
    pub(crate) fn chunk(self) -> u32 {
        self.0 >> CHUNK_BITS
    }

    /// Its bit in the chunk's mask.
    #[inline(always)]
    pub(crate) fn bit(self) -> u32 {
        self.0 & (CHUNK as u32 - 1)
    }
}

/// Number of the chunk of a rank.
#[inline(always)]
pub(crate) fn chunk_number(rank: i64) -> i64 {
    rank >> CHUNK_BITS
}

impl std::ops::Index<LevelPlace> for Levels {
    type Output = Level;
    #[inline(always)]
    fn index(&self, place: LevelPlace) -> &Level {
        &self.levels[place.0 as usize]
    }
}

impl std::ops::IndexMut<LevelPlace> for Levels {
    #[inline(always)]
    fn index_mut(&mut self, place: LevelPlace) -> &mut Level {
        &mut self.levels[place.0 as usize]
    }
}
