//! The cost of idle journals in one round of polling.

use std::hint::black_box;
use std::sync::Arc;

use bench_kit::Spread;
use journal::wait::Doorbell;
use journal::{Clock, GatedReader, Journal, JournalShape, Registry};
use node::BELL_FROM;
use serde::{Deserialize, Serialize};

use super::IpcError;

/// Idle journals of each column.
const IDLE: [usize; 3] = [0, 8, 80];
/// Rounds of polling of one block, and blocks.
const ROUNDS: u64 = 2_000;
const BLOCKS: usize = 101;

/// Columns of the same length, one entry for each number of idle journals.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PollRow {
    /// Journals without news in addition to the one that is waited for.
    pub idle_journals: Vec<usize>,
    /// What they add to a node's round, in nanoseconds: a node looks at each journal while they are few, and at its
    /// doorbell when they are many.
    pub added_p50_ns: Vec<f64>,
    /// What they would add to a round that looks at each journal.
    pub looking_added_p50_ns: Vec<f64>,
}

/// Polls idle journals; blocks of all columns interleaved.
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
    let registry = Arc::new(Registry::in_memory(64, clock)?);
    let mut bell = Doorbell::install(registry, 1, 0..most as u32);
    let mut looking = vec![Vec::new(); IDLE.len()];
    let mut ringing = Vec::new();
    for _ in 0..BLOCKS {
        for (idle, looking) in IDLE.into_iter().zip(&mut looking) {
            looking.push(time(clock, || readers[..=idle].iter().any(|reader| black_box(reader.has_news()))));
        }
        if let Some(bell) = &mut bell {
            ringing.push(time(clock, || {
                let mut rung = false;
                black_box(&mut *bell).poll(|_| rung = true);
                rung
            }));
        }
    }
    let base = medians(&looking[0]);
    let added = |looks: &Vec<f64>| (medians(looks) - base).max(0.0);
    let of_node = |(idle, looks): (usize, &Vec<f64>)| {
        if idle + 1 >= BELL_FROM { added(&ringing) } else { added(looks) }
    };
    Ok(PollRow {
        idle_journals: IDLE.to_vec(),
        added_p50_ns: IDLE.into_iter().zip(&looking).map(of_node).collect(),
        looking_added_p50_ns: looking.iter().map(added).collect(),
    })
}

fn medians(figures: &[f64]) -> f64 {
    Spread::of(figures.iter().copied()).map_or(0.0, |spread| spread.median)
}

/// Mean time of a round that finds nothing.
fn time(clock: Clock, mut round: impl FnMut() -> bool) -> f64 {
    let begin = clock.now();
    for _ in 0..ROUNDS {
        if round() {
            return f64::NAN;
        }
    }
    (clock.now() - begin) as f64 / ROUNDS as f64
}
