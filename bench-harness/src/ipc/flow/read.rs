//! The reading side of a run of throughput.

use std::hint::black_box;

use journal::{Frame, GatedReader, LooseReader, ReadError};

use super::{BATCH, FIRST_STEP};
use crate::ipc::parts::{Parts, word};
use crate::ipc::rendezvous::arrive;
use crate::ipc::step::{Calls, ReadMode, Step, steps};
use crate::ipc::watch::Watch;
use crate::ipc::{IpcError, IpcSettings};

/// A peer's side: reads.
pub(in crate::ipc) fn take_part(
    settings: &IpcSettings,
    parts: &Parts,
    (peer, peers): (usize, usize),
    watch: &mut Watch,
) -> Result<(), IpcError> {
    let steps = steps(peers);
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

/// Counts of a reader.
struct Count {
    /// The expected number.
    next: u64,
    lost: u64,
    /// Messages with another number than expected.
    strange: u64,
}

impl Count {
    /// Copies a message completely, and checks that it is the expected one.
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
        Calls::Records => {
            let mut take = |frame: Frame<'_>| {
                frame.records().for_each(|(_, record)| count.take::<BYTES>(record));
            };
            reader.read_batch(BATCH as usize, &mut take)?;
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
                // All frames have one size here, so the bytes determine the count; the next number must agree.
                let lost = gap.bytes() / journal::layout::frame_bytes(BYTES as u64);
                count.lost += lost;
                count.next += lost;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
