//! A reader that polls many journals: every journal's line, or its doorbell.
//!
//! The measuring process writes into one journal after another, and waits until the other has read it.

use std::sync::Arc;

use bench_kit::Spread;
use journal::wait::Doorbell;
use journal::{Clock, GatedReader, Writer};
use serde::{Deserialize, Serialize};

use super::WakeSettings;
use super::process::Peer;
use super::share::{MANY, NEWS, Share, many, seat, word};
use crate::ipc::IpcError;

/// Messages of one block.
const MESSAGES: u64 = 2_000;
/// Idle rounds that are timed together.
const ROUNDS: u64 = 1_000;
/// Looks at a word before the other side counts as ended: some ten seconds.
const PATIENCE: u64 = 1 << 30;

/// Values of [`word::MODE`].
mod mode {
    pub(super) const DIRECT: u64 = 1;
    pub(super) const BELL: u64 = 2;
    pub(super) const END: u64 = 3;
}

/// Both ways, in alternating blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DoorbellCost {
    /// Journals of the reader.
    pub journals: u32,
    /// A round of polling that finds nothing, looking at every journal; median of the blocks.
    pub direct_round_p50_ns: f64,
    /// The same by doorbell.
    pub bell_round_p50_ns: f64,
    /// From before a write until the writer sees that the reader has it, with a look at every journal; median.
    pub direct_latency_p50_ns: f64,
    /// The same by doorbell.
    pub bell_latency_p50_ns: f64,
}

fn gone() -> IpcError {
    IpcError::Peer("does nothing".to_owned())
}

/// Looks at a word until it has the expected value.
fn until(share: &Share, word: usize, value: u64) -> Result<(), IpcError> {
    for _ in 0..PATIENCE {
        if share.floor.get(word) == value {
            return Ok(());
        }
    }
    Err(gone())
}

pub(super) fn measure(
    settings: &WakeSettings,
    share: &Share,
    _peer: &mut Peer,
    progress: impl Fn(f64) -> Result<(), IpcError>,
) -> Result<DoorbellCost, IpcError> {
    let writers: Result<Vec<Writer>, _> =
        (0..MANY).map(|number| share.writer(&many(number), seat::WRITER)).collect();
    let mut writers = writers?;
    let (mut rounds, mut latencies) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    let mut written = 0;
    for round in 0..settings.handoff_rounds {
        for (way, mode) in [mode::DIRECT, mode::BELL].into_iter().enumerate() {
            share.floor.set(word::MODE, mode);
            until(share, word::IN_MODE, mode)?;
            latencies[way].push(block(share, &mut writers, &mut written)?);
            rounds[way].push(share.floor.get(word::ROUND) as f64 / 1e3);
        }
        progress((round + 1) as f64 / settings.handoff_rounds as f64)?;
    }
    share.floor.set(word::MODE, mode::END);
    let median = |figures: &[f64]| Spread::of(figures.iter().copied()).map_or(0.0, |spread| spread.median);
    Ok(DoorbellCost {
        journals: MANY,
        direct_round_p50_ns: median(&rounds[0]),
        bell_round_p50_ns: median(&rounds[1]),
        direct_latency_p50_ns: median(&latencies[0]),
        bell_latency_p50_ns: median(&latencies[1]),
    })
}

fn block(share: &Share, writers: &mut [Writer], written: &mut u64) -> Result<f64, IpcError> {
    let mut times = Vec::with_capacity(MESSAGES as usize);
    for _ in 0..MESSAGES {
        *written += 1;
        let journal = (*written * 37 % u64::from(MANY)) as usize;
        let begin = share.clock.now();
        writers[journal].write(NEWS, 0, &written.to_le_bytes())?;
        until(share, word::HAD, *written)?;
        times.push((share.clock.now() - begin) as f64);
    }
    Ok(Spread::of(times).map_or(0.0, |spread| spread.median))
}

/// The reading side.
pub(super) fn answer(share: &Share) -> Result<(), IpcError> {
    let (mut readers, mut journals) = (Vec::new(), Vec::new());
    for number in 0..MANY {
        let journal = share.journal(&many(number))?;
        readers.push(journal.gated(seat::MANY)?);
        journals.push(journal);
    }
    let mut input = vec![None; Doorbell::BITS as usize];
    for (index, journal) in journals.iter().enumerate() {
        input[Doorbell::bit(journal.shape().id) as usize] = Some(index);
    }
    let mut had = 0;
    loop {
        let now = share.floor.get(word::MODE);
        if now == mode::END {
            return Ok(());
        }
        let told = (now == mode::BELL).then_some(());
        for journal in &journals {
            journal.set_interest(seat::MANY, if told.is_some() { None } else { Some(&[]) })?;
        }
        let ids = journals.iter().map(|journal| journal.shape().id);
        let mut bell = Doorbell::install(Arc::clone(&share.registry), seat::MANY, ids).ok_or_else(gone)?;
        journal::wait::announce(&share.registry);
        // Those of the block before.
        (0..2).for_each(|_| bell.poll(|_| ()));
        let mut due = Vec::with_capacity(MANY as usize);
        let mut poll = || -> Result<(), IpcError> {
            match told {
                None => readers.iter_mut().try_for_each(|reader| take(reader, share, &mut had)),
                Some(()) => {
                    bell.poll(|bit| due.extend(input[bit as usize]));
                    due.drain(..).try_for_each(|index: usize| take(&mut readers[index], share, &mut had))
                }
            }
        };
        // The measuring process writes nothing before it sees the mode.
        share.floor.set(word::ROUND, idle_round(share.clock, &mut poll)?);
        share.floor.set(word::IN_MODE, now);
        let parent = std::os::unix::process::parent_id();
        while share.floor.get(word::MODE) == now {
            (0..ROUNDS).try_for_each(|_| poll())?;
            if std::os::unix::process::parent_id() != parent {
                return Err(gone());
            }
        }
    }
}

/// Time of a round without news, in picoseconds: the least of several blocks, which was not interrupted.
fn idle_round(clock: Clock, poll: &mut impl FnMut() -> Result<(), IpcError>) -> Result<u64, IpcError> {
    let mut least = u64::MAX;
    for _ in 0..9 {
        let begin = clock.now();
        (0..ROUNDS).try_for_each(|_| poll())?;
        least = least.min((clock.now() - begin) * 1_000 / ROUNDS);
    }
    Ok(least)
}

#[inline]
fn take(reader: &mut GatedReader, share: &Share, had: &mut u64) -> Result<(), IpcError> {
    while let Some(frame) = reader.read()? {
        let found = frame.payload.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        if found != *had + 1 {
            return Err(IpcError::Mixed { expected: *had + 1, found });
        }
        *had = found;
        share.floor.set(word::HAD, found);
    }
    Ok(())
}
