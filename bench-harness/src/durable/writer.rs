//! What a recorder costs the writer beside it.
//!
//! Bursts of single records go to a journal that nobody reads and to one that is recorded, in turns, with pauses in which
//! the recorder catches up: a writer that the disk holds up is another matter.

use journal::sync::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bench_kit::Spread;
use journal::{Clock, Journal, Writer};
use recorder::write::Policy;
use serde::{Deserialize, Serialize};

use super::lane::{Recording, journal};
use super::place::Place;
use super::row::joined;
use super::{DurableSettings, RECORD_BYTES};
use crate::ipc::IpcError;

/// Records of a burst.
const BURST: usize = 500;
/// From burst to burst.
const PAUSE: Duration = Duration::from_micros(500);

/// The time of a write.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WriterCost {
    /// Bursts of each journal.
    pub bursts: usize,
    /// Records of a burst.
    pub burst: usize,
    /// Median of a write into a journal that nobody records.
    pub alone_ns: f64,
    /// Median of a write into a journal that is recorded meanwhile.
    pub recorded_ns: f64,
    /// Median over the pairs of bursts of the difference.
    pub added_ns: f64,
}

pub(super) fn measure(settings: &DurableSettings, place: &Place) -> Result<WriterCost, IpcError> {
    let clock = Clock::calibrate();
    let (alone, recorded) =
        (journal(1, "alone", settings.capacity)?, journal(2, "recorded", settings.capacity)?);
    let policy = Policy { segment_bytes: settings.segment_bytes, compress: None };
    let mut recording =
        Recording::create(&place.path(), &[&recorded], serde_json::Value::Null, policy, clock)?;
    let stop = AtomicU64::new(0);
    let turns = (settings.turn * settings.rounds as u32).max(Duration::from_millis(500));
    std::thread::scope(|scope| {
        let recorder = scope.spawn(|| recording.run(clock, &stop));
        let cost = alternate(&alone, &recorded, clock, turns, || recorder.is_finished());
        stop.store(1, Ordering::Release);
        joined(recorder)?;
        cost
    })
}

fn alternate(
    alone: &Journal,
    recorded: &Journal,
    clock: Clock,
    turns: Duration,
    ended: impl Fn() -> bool,
) -> Result<WriterCost, IpcError> {
    let mut writers = [alone.writer(0, clock)?, recorded.writer(0, clock)?];
    let mut found: [Vec<f64>; 2] = Default::default();
    let begun = Instant::now();
    while begun.elapsed() < turns && !ended() {
        let first = found[0].len() % 2;
        for which in [first, 1 - first] {
            found[which].push(burst(&mut writers[which])?);
            let since = Instant::now();
            while since.elapsed() < PAUSE {
                std::hint::spin_loop();
            }
        }
    }
    let median = |figures: &[f64]| Spread::of(figures.iter().copied()).map_or(0.0, |spread| spread.median);
    let added: Vec<f64> = found[0].iter().zip(&found[1]).map(|(alone, recorded)| recorded - alone).collect();
    Ok(WriterCost {
        bursts: added.len(),
        burst: BURST,
        alone_ns: median(&found[0]),
        recorded_ns: median(&found[1]),
        added_ns: median(&added),
    })
}

/// Nanoseconds a write.
fn burst(writer: &mut Writer) -> Result<f64, IpcError> {
    let record = [0x5a; RECORD_BYTES];
    let before = Instant::now();
    for _ in 0..BURST {
        match writer.write(1, 0, &record) {
            // The disk holds the recorder up, and the burst is one of the slow ones.
            Err(journal::WriteError::Full { .. }) => std::thread::yield_now(),
            other => drop(other?),
        }
    }
    Ok(before.elapsed().as_nanos() as f64 / BURST as f64)
}
