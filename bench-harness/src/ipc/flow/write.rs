//! The writing side of a run of throughput.

use std::hint::black_box;

use journal::{WriteError, Writer};

use super::{BATCH, LOOK, Run};
use crate::ipc::parts::{Parts, SEAT, word};
use crate::ipc::rendezvous::meet;
use crate::ipc::step::{Calls, Step};
use crate::ipc::watch::Watch;
use crate::ipc::{IpcError, IpcSettings};

pub(super) fn write_run<const BYTES: usize>(
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
            Calls::Records => flow.records(LOOK)?,
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
            let time = self.writer.now();
            let mut batch = self.writer.batch_at(time);
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

    fn records(&mut self, records: u64) -> Result<(), IpcError> {
        let end = self.written + records;
        while self.written < end {
            let mut claimed = match self.writer.claim_records(1, 0, BYTES, BATCH as usize) {
                Ok(claimed) => claimed,
                Err(WriteError::Full { .. }) => {
                    pause(self.watch)?;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            loop {
                self.payload[..8].copy_from_slice(&self.written.to_le_bytes());
                match claimed.push(black_box::<&[u8; BYTES]>(&self.payload)) {
                    Ok(_) => self.written += 1,
                    Err(WriteError::BatchFull { .. }) => break,
                    Err(error) => return Err(error.into()),
                }
            }
            claimed.commit();
        }
        self.watch.news();
        Ok(())
    }
}

/// The ring is full: does not touch the readers' lines for a moment.
fn pause(watch: &mut Watch) -> Result<(), IpcError> {
    for _ in 0..32 {
        std::hint::spin_loop();
    }
    watch.idle()
}
