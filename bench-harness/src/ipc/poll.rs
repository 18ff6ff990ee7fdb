//! What idle journals add to one round of polling.

use std::hint::black_box;

use journal::{Clock, GatedReader, Journal, JournalShape};
use serde::{Deserialize, Serialize};

use super::IpcError;
use crate::spread::Spread;

/// Idle journals of each column.
const IDLE: [usize; 3] = [0, 8, 80];
/// Rounds of polling of one block, and blocks.
const ROUNDS: u64 = 2_000;
const BLOCKS: usize = 101;

/// Columns of the same length, one entry for each number of idle journals.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PollRow {
    /// Journals without news beside the one that is waited for.
    pub idle_journals: Vec<usize>,
    /// What they add to a round that looks at every journal, in nanoseconds.
    pub added_p50_ns: Vec<f64>,
}

/// Polls journals in which nothing happens; blocks of all columns interleaved.
pub(super) fn measure(clock: Clock) -> Result<PollRow, IpcError> {
    let most = IDLE.into_iter().max().unwrap_or(0) + 1;
    let mut readers = Vec::with_capacity(most);
    for id in 0..most as u32 {
        let name = format!("idle-{id}");
        let shape = JournalShape { id, name, capacity: 1 << 16, seats: 64, topics: 1, page: 4096 };
        let journal = Journal::in_memory(shape)?;
        readers.push((journal.gated(1)?, journal));
    }
    let readers: Vec<GatedReader> = readers.into_iter().map(|(reader, _)| reader).collect();
    let mut looks = vec![Vec::new(); IDLE.len()];
    for _ in 0..BLOCKS {
        for (idle, looks) in IDLE.into_iter().zip(&mut looks) {
            looks.push(look(clock, &readers[..=idle]));
        }
    }
    let base = medians(&looks[0]);
    let added = |looks: &Vec<f64>| (medians(looks) - base).max(0.0);
    Ok(PollRow { idle_journals: IDLE.to_vec(), added_p50_ns: looks.iter().map(added).collect() })
}

fn medians(figures: &[f64]) -> f64 {
    Spread::of(figures.iter().copied()).map_or(0.0, |spread| spread.median)
}

/// Mean time of a round that looks at all of `readers`.
fn look(clock: Clock, readers: &[GatedReader]) -> f64 {
    let begin = clock.now();
    for _ in 0..ROUNDS {
        for reader in readers {
            if black_box(reader.has_news()) {
                return f64::NAN;
            }
        }
    }
    (clock.now() - begin) as f64 / ROUNDS as f64
}
