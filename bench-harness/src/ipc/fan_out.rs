//! The cost of a write with more and more loose readers.

use std::hint::black_box;

use bench_kit::Spread;
use journal::LooseReader;
use serde::{Deserialize, Serialize};

use super::IpcError;
use super::parts::{FAN_OUT, FAN_OUT_SEAT, Parts, SEAT, word};
use super::rendezvous::{arrive, meet};
use super::watch::Watch;

/// Loose readers of each row.
const READERS: [usize; 4] = [0, 1, 10, FAN_OUT];
/// First number of its steps.
const FIRST_STEP: u64 = 1 << 32;
/// Writes of one block, and blocks of one row.
const BLOCK: u64 = 500;
const BLOCKS: usize = 201;
/// Rounds over all rows.
const ROUNDS: usize = 3;

/// One number of readers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FanOutRow {
    /// Loose readers, all polled by one process.
    pub loose_readers: usize,
    /// Median over blocks of the mean time of a write of 32 bytes, in nanoseconds.
    pub write_p50_ns: f64,
    /// Blocks of 500 writes.
    pub blocks: usize,
}

/// The measuring side: writes.
pub(super) fn measure(
    parts: &Parts,
    progress: impl Fn(f64) -> Result<(), IpcError>,
) -> Result<Vec<FanOutRow>, IpcError> {
    let mut writer = parts.writer("fan-out", SEAT)?;
    let mut watch = Watch::default();
    let mut means = vec![Vec::new(); READERS.len()];
    let mut step = FIRST_STEP;
    for _ in 0..ROUNDS {
        for means in &mut means {
            meet(parts, step, 1, &mut watch)?;
            for _ in 0..BLOCKS {
                let begin = parts.clock.now();
                for number in 0..BLOCK {
                    writer.write(1, 0, black_box::<&[u8; 32]>(&[number as u8; 32]))?;
                }
                means.push((parts.clock.now() - begin) as f64 / BLOCK as f64);
            }
            // An odd number ends the step.
            parts.floor.set(word::STEP, step + 1);
            step += 2;
            progress((step - FIRST_STEP) as f64 / (2 * ROUNDS * READERS.len()) as f64)?;
        }
    }
    let rows = READERS.into_iter().zip(means).filter_map(|(loose_readers, means)| {
        let spread = Spread::of(means)?;
        Some(FanOutRow { loose_readers, write_p50_ns: spread.median, blocks: spread.runs })
    });
    Ok(rows.collect())
}

/// The first peer's side: polls with the step's number of readers until the next step begins.
pub(super) fn take_part(parts: &Parts, watch: &mut Watch) -> Result<(), IpcError> {
    let mut step = FIRST_STEP;
    for _ in 0..ROUNDS {
        for count in READERS {
            let journal = parts.journal("fan-out")?;
            let mut readers: Vec<LooseReader> = (0..count as u32)
                .map(|reader| journal.loose(FAN_OUT_SEAT + reader))
                .collect::<Result<_, _>>()?;
            arrive(parts, 0, step, watch)?;
            while parts.floor.get(word::STEP) == step {
                for reader in &mut readers {
                    // A lap is not an error here.
                    if let Ok(Some(frame)) = reader.read() {
                        black_box(frame.payload);
                    }
                }
                watch.idle()?;
            }
            watch.news();
            step += 2;
        }
    }
    Ok(())
}
