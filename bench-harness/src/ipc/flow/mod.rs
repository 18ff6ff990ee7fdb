//! Throughput: one writer at full speed, one to three readers.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::parts::{Parts, word};
use super::watch::Watch;
use super::{IpcError, IpcSettings};
use crate::spread::Spread;

mod read;
mod write;

pub(super) use read::take_part;

/// Frames of one batch.
const BATCH: u64 = 256;
/// Frames between two looks at the clock.
const LOOK: u64 = 1 << 12;

/// Whether the writer waits for the readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadMode {
    /// It waits; nothing is lost.
    Gated,
    /// It does not wait; overwritten frames are counted.
    Loose,
}

/// Whether frames are written and read one by one or in batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Calls {
    /// `write`, `read`: the clock is read for each frame.
    Single,
    /// `batch` of 256 frames, `read_batch`.
    Batch,
}

/// One row of throughput; the median of its runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FlowRow {
    /// Payload of each message.
    pub payload_bytes: usize,
    /// Reading processes, each on its own core.
    pub readers: usize,
    /// Gated or loose.
    pub mode: ReadMode,
    /// One by one, or in batches.
    pub calls: Calls,
    /// Messages a second: gated, as received by the slowest reader; loose, as written.
    pub msgs_per_s: f64,
    /// The same in bytes of payload.
    pub bytes_per_s: f64,
    /// Messages a second that each reader received, on average.
    pub received_per_s: f64,
    /// Messages that readers lost, all readers and runs together.
    pub lost: u64,
    /// Messages written, all runs together.
    pub written: u64,
    /// True when in every run, for every reader, the messages read and lost add up to those written, and each had the
    /// expected number after those lost before it.
    pub exact: bool,
    /// Lowest and highest of the runs' `msgs_per_s`.
    pub range: [f64; 2],
    /// Runs.
    pub runs: usize,
}

/// One row to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) payload: usize,
    pub(super) readers: usize,
    pub(super) mode: ReadMode,
    pub(super) calls: Calls,
}

impl Step {
    /// Name of its journal.
    pub(super) fn name(self) -> String {
        let mode = if self.mode == ReadMode::Gated { "gated" } else { "loose" };
        let calls = if self.calls == Calls::Batch { "batch" } else { "single" };
        format!("flow-{}-{}-{mode}-{calls}", self.payload, self.readers)
    }
}

/// All rows, in order; known to both sides.
pub(super) fn steps(_settings: &IpcSettings, peers: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    for (readers, mode) in
        [(1, ReadMode::Gated), (3, ReadMode::Gated), (1, ReadMode::Loose), (3, ReadMode::Loose)]
    {
        for payload in super::PAYLOADS {
            for calls in [Calls::Batch, Calls::Single] {
                if readers <= peers {
                    steps.push(Step { payload, readers, mode, calls });
                }
            }
        }
    }
    steps
}

/// First number of a step of throughput; the ping-pong is step 1.
const FIRST_STEP: u64 = 10;

/// The measuring side begins `step` once peers 0 to `peers - 1` are ready for it.
pub(super) fn meet(parts: &Parts, step: u64, peers: usize, watch: &mut Watch) -> Result<(), IpcError> {
    for peer in 0..peers {
        while parts.floor.get(word::READY + peer) < step {
            watch.idle()?;
        }
        watch.news();
    }
    parts.floor.set(word::WRITTEN, 0);
    for peer in 0..peers {
        parts.floor.set(word::STEP + peer, step);
        parts.floor.wake(word::STEP + peer);
    }
    Ok(())
}

/// A peer is ready for `step`, and continues when it begins. Until then it sleeps, however long the steps before take:
/// a core that spins beside a measurement would affect it.
pub(super) fn arrive(parts: &Parts, peer: usize, step: u64, watch: &mut Watch) -> Result<(), IpcError> {
    parts.floor.set(word::READY + peer, step);
    loop {
        let now = parts.floor.get(word::STEP + peer);
        if now >= step {
            watch.news();
            return Ok(());
        }
        parts.floor.sleep(word::STEP + peer, now as u32, Duration::from_millis(100));
        watch.parent_lives()?;
    }
}

/// One run's figures.
#[derive(Clone, Copy, Debug)]
struct Run {
    written: u64,
    nanos: u64,
    write_nanos: u64,
    read: u64,
    lost: u64,
    exact: bool,
}

/// The measuring side: writes.
pub(super) fn measure(
    settings: &IpcSettings,
    parts: &Parts,
    peers: usize,
    progress: impl Fn(f64) -> Result<(), IpcError>,
) -> Result<Vec<FlowRow>, IpcError> {
    let steps = steps(settings, peers);
    let mut runs = vec![Vec::with_capacity(settings.flow_runs); steps.len()];
    let mut number = FIRST_STEP;
    let all = (settings.flow_runs * steps.len()) as f64;
    for _ in 0..settings.flow_runs {
        for (step, runs) in steps.iter().zip(&mut runs) {
            runs.push(match step.payload {
                32 => write::write_run::<32>(settings, parts, *step, number)?,
                64 => write::write_run::<64>(settings, parts, *step, number)?,
                128 => write::write_run::<128>(settings, parts, *step, number)?,
                _ => write::write_run::<1024>(settings, parts, *step, number)?,
            });
            number += 1;
            progress((number - FIRST_STEP) as f64 / all)?;
        }
    }
    Ok(steps.iter().zip(&runs).filter_map(|(step, runs)| row(*step, runs)).collect())
}

fn row(step: Step, runs: &[Run]) -> Option<FlowRow> {
    let rate = |count: u64, nanos: u64| count as f64 * 1e9 / nanos.max(1) as f64;
    let rates = Spread::of(runs.iter().map(|run| match step.mode {
        ReadMode::Gated => rate(run.written, run.nanos),
        ReadMode::Loose => rate(run.written, run.write_nanos),
    }))?;
    let received = Spread::of(runs.iter().map(|run| rate(run.read, run.nanos) / step.readers as f64))?;
    Some(FlowRow {
        payload_bytes: step.payload,
        readers: step.readers,
        mode: step.mode,
        calls: step.calls,
        msgs_per_s: rates.median,
        bytes_per_s: rates.median * step.payload as f64,
        received_per_s: received.median,
        lost: runs.iter().map(|run| run.lost).sum(),
        written: runs.iter().map(|run| run.written).sum(),
        exact: runs.iter().all(|run| run.exact),
        range: [rates.low, rates.high],
        runs: rates.runs,
    })
}
