//! Throughput: one writer at full speed, one to three readers.

use std::hint::black_box;
use std::time::Duration;

use journal::{GatedReader, LooseReader, ReadError, WriteError, Writer};
use serde::{Deserialize, Serialize};

use super::parts::{Parts, SEAT, word};
use super::watch::Watch;
use super::{IpcError, IpcSettings};
use crate::spread::Spread;

/// Frames of one batch.
const BATCH: u64 = 256;
/// Frames between two looks at the clock.
const LOOK: u64 = 1 << 12;

/// Whether the writer waits for the readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadMode {
    /// It waits, nothing is lost.
    Gated,
    /// It does not; what it overwrites is counted.
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
    /// Messages a second: gated, as the slowest reader got them; loose, as they were written.
    pub msgs_per_s: f64,
    /// The same in bytes of payload.
    pub bytes_per_s: f64,
    /// Messages a second that each reader got, on average.
    pub received_per_s: f64,
    /// Messages that readers lost, all readers and runs together.
    pub lost: u64,
    /// Messages written, all runs together.
    pub written: u64,
    /// True when in every run, for every reader, the messages read and lost add up to those written, and each bore
    /// the number that was due after what was lost before it.
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

/// All rows, in order; both sides know it.
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
    parts.floor.set(word::STEP, step);
    for _ in 0..peers {
        parts.floor.wake(word::STEP);
    }
    Ok(())
}

/// A peer is ready for `step`, and goes on when it begins. Until then it sleeps, however long the steps before take: a
/// core that spins beside a measurement is part of it.
pub(super) fn arrive(parts: &Parts, peer: usize, step: u64, watch: &mut Watch) -> Result<(), IpcError> {
    parts.floor.set(word::READY + peer, step);
    loop {
        let now = parts.floor.get(word::STEP);
        if now >= step {
            watch.news();
            return Ok(());
        }
        parts.floor.sleep(word::STEP, now as u32, Duration::from_millis(100));
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
    progress: impl Fn(f64),
) -> Result<Vec<FlowRow>, IpcError> {
    let steps = steps(settings, peers);
    let mut runs = vec![Vec::with_capacity(settings.flow_runs); steps.len()];
    let mut number = FIRST_STEP;
    let all = (settings.flow_runs * steps.len()) as f64;
    for _ in 0..settings.flow_runs {
        for (step, runs) in steps.iter().zip(&mut runs) {
            runs.push(match step.payload {
                32 => write_run::<32>(settings, parts, *step, number)?,
                64 => write_run::<64>(settings, parts, *step, number)?,
                128 => write_run::<128>(settings, parts, *step, number)?,
                _ => write_run::<1024>(settings, parts, *step, number)?,
            });
            number += 1;
            progress((number - FIRST_STEP) as f64 / all);
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

fn write_run<const BYTES: usize>(
    settings: &IpcSettings,
    parts: &Parts,
    step: Step,
    number: u64,
) -> Result<Run, IpcError> {
    let mut watch = Watch::default();
    let mut writer = parts.writer(&step.name(), SEAT)?;
    meet(parts, number, step.readers, &mut watch)?;
    let begin = parts.clock.now();
    let end = begin + settings.flow_ms * 1_000_000;
    let mut flow =
        Flow::<BYTES> { writer: &mut writer, payload: [0x5a; BYTES], written: 0, watch: &mut watch };
    loop {
        match step.calls {
            Calls::Batch => flow.batches(LOOK)?,
            Calls::Single => flow.singles(LOOK)?,
        }
        if parts.clock.now() >= end {
            break;
        }
    }
    let written = flow.written;
    let write_nanos = parts.clock.now() - begin;
    parts.floor.set(word::WRITTEN, written + 1);
    let (mut read, mut lost, mut exact) = (0, 0, true);
    for peer in 0..step.readers {
        while parts.floor.get(word::DONE + peer) < number {
            watch.idle()?;
        }
        watch.news();
        let (its, missed) = (parts.floor.get(word::READ + peer), parts.floor.get(word::LOST + peer));
        exact &= its + missed == written && parts.floor.get(word::STRANGE + peer) == 0;
        read += its;
        lost += missed;
    }
    let nanos = parts.clock.now() - begin;
    Ok(Run { written, nanos, write_nanos, read, lost, exact })
}

/// The writing side of one run.
struct Flow<'a, const BYTES: usize> {
    writer: &'a mut Writer,
    payload: [u8; BYTES],
    written: u64,
    watch: &'a mut Watch,
}

impl<const BYTES: usize> Flow<'_, BYTES> {
    fn singles(&mut self, frames: u64) -> Result<(), IpcError> {
        for _ in 0..frames {
            self.payload[..8].copy_from_slice(&self.written.to_le_bytes());
            loop {
                match self.writer.write(1, 0, black_box::<&[u8; BYTES]>(&self.payload)) {
                    Ok(_) => break,
                    Err(WriteError::Full { .. }) => pause(self.watch)?,
                    Err(error) => return Err(error.into()),
                }
            }
            self.written += 1;
        }
        self.watch.news();
        Ok(())
    }

    fn batches(&mut self, frames: u64) -> Result<(), IpcError> {
        let end = self.written + frames;
        while self.written < end {
            let mut batch = self.writer.batch();
            let mut full = false;
            for _ in 0..BATCH {
                self.payload[..8].copy_from_slice(&self.written.to_le_bytes());
                match batch.push(1, 0, black_box::<&[u8; BYTES]>(&self.payload)) {
                    Ok(_) => self.written += 1,
                    Err(WriteError::BatchFull { .. }) => break,
                    Err(WriteError::Full { .. }) => {
                        full = true;
                        break;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            batch.commit();
            if full {
                pause(self.watch)?;
            }
        }
        self.watch.news();
        Ok(())
    }
}

/// The ring is full: leaves the readers' lines alone for a moment.
fn pause(watch: &mut Watch) -> Result<(), IpcError> {
    for _ in 0..32 {
        std::hint::spin_loop();
    }
    watch.idle()
}

/// A peer's side: reads.
pub(super) fn take_part(
    settings: &IpcSettings,
    parts: &Parts,
    (peer, peers): (usize, usize),
    watch: &mut Watch,
) -> Result<(), IpcError> {
    let steps = steps(settings, peers);
    let mut number = FIRST_STEP;
    for _ in 0..settings.flow_runs {
        for step in &steps {
            if peer < step.readers {
                match step.payload {
                    32 => read_run::<32>(parts, *step, peer, number, watch)?,
                    64 => read_run::<64>(parts, *step, peer, number, watch)?,
                    128 => read_run::<128>(parts, *step, peer, number, watch)?,
                    _ => read_run::<1024>(parts, *step, peer, number, watch)?,
                }
            }
            number += 1;
        }
    }
    Ok(())
}

fn read_run<const BYTES: usize>(
    parts: &Parts,
    step: Step,
    peer: usize,
    number: u64,
    watch: &mut Watch,
) -> Result<(), IpcError> {
    let journal = parts.journal(&step.name())?;
    let seat = peer as u32 + 1;
    let mut count = Count { next: 0, lost: 0, strange: 0 };
    match step.mode {
        ReadMode::Gated => {
            let mut reader = journal.gated(seat)?;
            arrive(parts, peer, number, watch)?;
            while !is_over(parts, &count) {
                let before = count.next;
                read_gated::<BYTES>(&mut reader, step.calls, &mut count)?;
                if count.next == before { rest(watch)? } else { watch.news() }
            }
        }
        ReadMode::Loose => {
            let mut reader = journal.loose(seat)?;
            arrive(parts, peer, number, watch)?;
            while !is_over(parts, &count) {
                let before = count.next;
                read_loose::<BYTES>(&mut reader, &mut count)?;
                if count.next == before { rest(watch)? } else { watch.news() }
            }
        }
    }
    parts.floor.set(word::READ + peer, count.next - count.lost);
    parts.floor.set(word::LOST + peer, count.lost);
    parts.floor.set(word::STRANGE + peer, count.strange);
    parts.floor.set(word::DONE + peer, number);
    Ok(())
}

/// Nothing there: lets the writer get a few lines ahead, as the poll loop of a node does. A reader that looks again at
/// once takes the line away from the writer that is about to fill it.
#[inline(always)]
fn rest(watch: &mut Watch) -> Result<(), IpcError> {
    std::hint::spin_loop();
    watch.idle()
}

/// Numbers seen.
struct Count {
    /// The number that is due.
    next: u64,
    lost: u64,
    /// Messages that bore another number.
    strange: u64,
}

impl Count {
    /// Takes a message whole, and looks whether it is the one that is due.
    #[inline(always)]
    fn take<const BYTES: usize>(&mut self, payload: &[u8]) {
        let Some(payload) = payload.first_chunk::<BYTES>() else { return };
        let copy = black_box(*payload);
        let number = copy.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        self.strange += u64::from(number != self.next);
        self.next += 1;
    }
}

/// True once all that was written has been read or lost.
#[inline(always)]
fn is_over(parts: &Parts, count: &Count) -> bool {
    parts.floor.get(word::WRITTEN) == count.next + 1
}

#[inline(always)]
fn read_gated<const BYTES: usize>(
    reader: &mut GatedReader,
    calls: Calls,
    count: &mut Count,
) -> Result<(), IpcError> {
    match calls {
        Calls::Batch => {
            reader.read_batch(BATCH as usize, |frame| count.take::<BYTES>(frame.payload))?;
        }
        Calls::Single => {
            for _ in 0..BATCH {
                let Some(frame) = reader.read()? else { break };
                count.take::<BYTES>(frame.payload);
            }
        }
    }
    Ok(())
}

#[inline(always)]
fn read_loose<const BYTES: usize>(reader: &mut LooseReader, count: &mut Count) -> Result<(), IpcError> {
    for _ in 0..BATCH {
        match reader.read() {
            Ok(Some(frame)) => count.take::<BYTES>(frame.payload),
            Ok(None) => break,
            Err(ReadError::Lapped(gap)) => {
                // Frames are of one size here, so the bytes say how many; the next number must agree.
                let lost = gap.bytes() / journal::layout::frame_bytes(BYTES as u64);
                count.lost += lost;
                count.next += lost;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
