//! The order in which cells are run.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::scenario::{Cell, RunOrder};

/// One run of one cell, on a platform of its own.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The cell.
    pub cell: &'a Cell,
    /// From 1 to the cell's repeats.
    pub repeat: u32,
}

/// All runs. Each repeat is a pass over all cells: a drift of the host affects all cells alike, and a session that is
/// stopped early has complete passes. Shuffled passes differ from each other, and are reproducible by the seed.
pub fn runs<'a>(cells: &[&'a Cell], order: RunOrder, seed: u64) -> Vec<Run<'a>> {
    let passes = cells.iter().map(|cell| cell.repeats).max().unwrap_or(0);
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let mut all = Vec::new();
    for repeat in 1..=passes {
        let mut pass: Vec<Run<'a>> =
            cells.iter().filter(|cell| repeat <= cell.repeats).map(|&cell| Run { cell, repeat }).collect();
        if order == RunOrder::Shuffled {
            pass.shuffle(&mut generator);
        }
        all.extend(pass);
    }
    all
}
