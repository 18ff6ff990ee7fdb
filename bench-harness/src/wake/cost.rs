//! The cost of being able to wake, for a writer that wakes no reader.

use std::hint::black_box;
use std::sync::Arc;

use bench_kit::Spread;
use journal::wait::announce;
use journal::{Clock, Journal, JournalShape, Registry, Writer};
use serde::{Deserialize, Serialize};

use crate::ipc::IpcError;

/// Writes of one block, and blocks.
const WRITES: usize = 4_000;
const BLOCKS: usize = 301;
/// The seat of the interested reader.
const SEAT: u32 = 5;

/// A write of 32 bytes, in memory that no other core reads; blocks of all three variants alternate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WaitSupport {
    /// A writer that cannot wake.
    pub write_p50_ns: f64,
    /// The added cost of being able to, while no seat is interested: median of the differences of neighbouring blocks.
    pub nobody_added_ns: f64,
    /// The added cost while one reader that sleeps at times is interested, and awake: the full fence.
    pub awake_added_ns: f64,
}

pub(super) fn measure(clock: Clock) -> Result<WaitSupport, IpcError> {
    let registry = Arc::new(Registry::in_memory(128, clock)?);
    let mut writers = Vec::new();
    let mut journals = Vec::new();
    for id in 1..=3 {
        let name = format!("cost-{id}");
        // Small enough to stay in the core's own cache.
        let shape = JournalShape { id, name, capacity: 256 << 10, seats: 128, topics: 64, page: 4096 };
        let journal = Journal::in_memory(shape)?;
        writers.push(journal.writer(0, clock)?);
        journals.push(journal);
    }
    writers[1].wake_through(Arc::clone(&registry));
    writers[2].wake_through(Arc::clone(&registry));
    journals[2].set_interest(SEAT, None)?;
    announce(&registry);
    let (mut write, mut nobody, mut awake) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..BLOCKS {
        let base = block(clock, &mut writers[0])?;
        write.push(base);
        nobody.push(block(clock, &mut writers[1])? - base);
        awake.push(block(clock, &mut writers[2])? - base);
    }
    let median = |figures: Vec<f64>| Spread::of(figures).map_or(0.0, |spread| spread.median);
    Ok(WaitSupport {
        write_p50_ns: median(write),
        nobody_added_ns: median(nobody),
        awake_added_ns: median(awake),
    })
}

/// Mean time of a write.
fn block(clock: Clock, writer: &mut Writer) -> Result<f64, IpcError> {
    let begin = clock.now();
    for number in 0..WRITES {
        let payload = [number as u64; 4].map(u64::to_le_bytes);
        writer.write(1, (number % 64) as u32, black_box(payload.as_flattened()))?;
    }
    Ok((clock.now() - begin) as f64 / WRITES as f64)
}
