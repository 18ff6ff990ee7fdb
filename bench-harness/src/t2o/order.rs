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

/// Load by load, so that the cells that are compared run within the same minutes. Every second pass has the order of the one
/// before, backwards: what becomes slower all the time falls on either side of a comparison alike.
fn interleave<'a>(pass: &mut Vec<Run<'a>>, generator: &mut ChaCha8Rng, mirrored: &mut Vec<&'a str>) {
    if !mirrored.is_empty() {
        let place = |run: &Run<'_>| mirrored.iter().position(|name| *name == run.cell.name);
        pass.sort_by_key(place);
        mirrored.clear();
        return;
    }
    pass.shuffle(generator);
    let mut loads: Vec<usize> = Vec::new();
    for run in pass.iter() {
        if !loads.contains(&run.cell.load) {
            loads.push(run.cell.load);
        }
    }
    pass.sort_by_key(|run| loads.iter().position(|load| *load == run.cell.load));
    mirrored.extend(pass.iter().rev().map(|run| run.cell.name.as_str()));
}

/// All runs. Each repeat is a pass over all cells: a drift of the host affects all cells alike, and a session that is
/// stopped early has complete passes. Shuffled passes differ from each other, and are reproducible by the seed.
pub fn runs<'a>(cells: &[&'a Cell], order: RunOrder, seed: u64) -> Vec<Run<'a>> {
    let passes = cells.iter().map(|cell| cell.repeats).max().unwrap_or(0);
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let mut all = Vec::new();
    let mut mirrored = Vec::new();
    for repeat in 1..=passes {
        let mut pass: Vec<Run<'a>> =
            cells.iter().filter(|cell| repeat <= cell.repeats).map(|&cell| Run { cell, repeat }).collect();
        match order {
            RunOrder::Listed => {}
            RunOrder::Shuffled => pass.shuffle(&mut generator),
            RunOrder::Interleaved => interleave(&mut pass, &mut generator, &mut mirrored),
        }
        all.extend(pass);
    }
    all
}
