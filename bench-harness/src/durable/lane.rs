//! One journal, its writer and its recorder.

use journal::sync::{AtomicU64, Ordering};
use std::convert::Infallible;
use std::path::Path;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use journal::{Clock, Journal, JournalShape, WriteError, Writer};
use recorder::format::{CursorEntry, Description, Kind, RecordedJournal, What};
use recorder::gather::{Gatherer, Input};
use recorder::read::Counts;
use recorder::write::{Batch, Policy, Recorder};
use zerocopy::IntoBytes as _;

use super::{Mode, RECORD_BYTES};
use crate::ipc::{IpcError, system};

/// Seat of the recorder.
const SEAT: u32 = 5;

/// Type of the records.
const MESSAGE: u16 = 1;

/// Turns of polling before others get the core: on a host with few of them the other side may be waiting for it.
const SPINS: u32 = 200;

/// As many turns before a nap: who runs at real-time priority gives way to none of the kernel's threads otherwise, and the
/// disk waits for them.
const TURNS: u32 = 20 * SPINS;

/// The shortest that there is.
const NAP: Duration = Duration::from_nanos(1);

/// Greater times, in nanoseconds, count as this.
const LONGEST: u64 = 600_000_000_000;

pub(super) fn histogram() -> Result<Histogram<u64>, IpcError> {
    Histogram::new_with_bounds(1, LONGEST, 3)
        .map_err(|error| system("count times")(std::io::Error::other(error)))
}

/// Polls, and lets others run now and then.
#[derive(Debug, Default)]
pub(super) struct Polling(u32);

impl Polling {
    pub(super) fn idle(&mut self) {
        self.0 = self.0.wrapping_add(1);
        if self.0 == TURNS {
            // Without it a nap takes the 50 µs that the kernel may be late. Refused: it takes them.
            let _ = nix::sys::prctl::set_timerslack(1);
        }
        if self.0.is_multiple_of(TURNS) {
            std::thread::sleep(NAP);
        } else if self.0.is_multiple_of(SPINS) {
            std::thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}

pub(super) fn journal(id: u32, name: &str, capacity: u64) -> Result<Journal, IpcError> {
    let shape = JournalShape { id, name: name.into(), capacity, seats: 64, topics: 8, page: 4096 };
    Ok(Journal::in_memory(shape)?)
}

/// What writes journals to disk, as the recorder's process does.
#[derive(Debug)]
pub(super) struct Recording {
    pub(super) gatherer: Gatherer,
    pub(super) recorder: Recorder,
}

impl Recording {
    /// Nothing may have been written into the journals yet.
    pub(super) fn create(
        folder: &Path,
        journals: &[&Journal],
        topology: serde_json::Value,
        policy: Policy,
        clock: Clock,
    ) -> Result<Recording, IpcError> {
        let mut inputs = Vec::with_capacity(journals.len());
        for journal in journals {
            journal.admit_gated(SEAT)?;
            let mut reader = journal.gated(SEAT)?;
            reader.make_durable(None);
            reader.rewind();
            inputs.push(Input::Gated(reader));
        }
        let description = describe(journals, topology);
        let mut recorder = Recorder::open(folder, &description, policy, clock.now())?;
        recorder.wait_until_prepared();
        let counts = vec![Counts::default(); journals.len()];
        Ok(Recording { gatherer: Gatherer::new(inputs, counts, node::class_of), recorder })
    }

    /// Records what is new; false when nothing is.
    pub(super) fn cut(&mut self, time: u64) -> Result<bool, IpcError> {
        Ok(self.gatherer.cut(&mut self.recorder, time, |_, _| ())?.frames > 0)
    }

    /// The same, with a block of what the journals have held, which a recovery begins with.
    pub(super) fn last_cut(&mut self, time: u64) -> Result<(), IpcError> {
        self.gatherer.cut(&mut self.recorder, time, state)?;
        Ok(())
    }

    /// Records until `stop`.
    pub(super) fn run(&mut self, clock: Clock, stop: &AtomicU64) -> Result<(), IpcError> {
        let mut polling = Polling::default();
        loop {
            // Looked at first: what was written before the end is recorded.
            let ends = stop.load(Ordering::Acquire) != 0;
            if !self.gatherer.has_news() {
                if ends {
                    return Ok(());
                }
                polling.idle();
                continue;
            }
            self.cut(clock.now())?;
        }
    }
}

fn state(batch: &mut Batch, counts: &[Counts]) {
    let fill = |bytes: &mut Vec<u8>| {
        for (index, counts) in counts.iter().enumerate() {
            let mut push = |seat: usize, what: What, first: u64, second: u64| {
                let entry = CursorEntry {
                    journal: (index as u16 + 1).into(),
                    seat: (seat as u16).into(),
                    what: (what as u16).into(),
                    reserved: 0.into(),
                    first: first.into(),
                    second: second.into(),
                };
                bytes.extend_from_slice(entry.as_bytes());
            };
            push(0, What::Writer, 1, counts.frames);
            for (class, &count) in counts.tally.iter().enumerate().filter(|(_, count)| **count > 0) {
                push(class, What::Class, count, 0);
            }
        }
        Ok::<_, Infallible>((0, 0))
    };
    let Ok(_) = batch.block(Kind::Cursors, 0, fill);
}

fn describe(journals: &[&Journal], topology: serde_json::Value) -> Description {
    Description {
        instance: "bench".into(),
        recorder: "recorder".into(),
        program: env!("CARGO_PKG_VERSION").into(),
        messages: u32::from(wire::schema::VERSION),
        journal_format: journal::layout::FORMAT_VERSION,
        topology,
        journals: RecordedJournal::of_all(journals),
    }
}

/// What a writer did.
#[derive(Debug)]
pub(super) struct Wrote {
    pub(super) records: u64,
    pub(super) seconds: f64,
    /// From before a batch was written until it was on disk.
    pub(super) durable_ns: Histogram<u64>,
}

/// Writes for so long, and waits until everything is on disk.
pub(super) fn write(
    journal: &Journal,
    mode: Mode,
    batch: Option<usize>,
    clock: Clock,
    turn: Duration,
    failed: &AtomicU64,
) -> Result<Wrote, IpcError> {
    let mut writer = journal.writer(0, clock)?;
    let mut wrote = Wrote { records: 0, seconds: 0.0, durable_ns: histogram()? };
    // Records that may be on their way: those of eight strategies, with so many orders each.
    let most_pending = 8 * 1_024 * 192;
    let mut sample: Option<(u64, Instant)> = None;
    let mut polling = Polling::default();
    let mut number = 0_u64;
    let durable = |position: u64| {
        // The recorder failed: its error says why.
        journal.durable().is_none_or(|durable| durable >= position) || failed.load(Ordering::Relaxed) != 0
    };
    // Who waits for nothing looks at the clock now and then only.
    let batches = if mode == Mode::Sync { 1 } else { (256 / batch.unwrap_or(1)).max(1) };
    let begun = Instant::now();
    while begun.elapsed() < turn && failed.load(Ordering::Relaxed) == 0 {
        let started = Instant::now();
        for _ in 0..batches {
            write_batch(&mut writer, batch.unwrap_or(1), &mut number, || {
                polling.idle();
                failed.load(Ordering::Relaxed) != 0
            })?;
        }
        let position = journal.head();
        if mode == Mode::None {
            continue;
        }
        if sample.is_none() {
            sample = Some((position, started));
        }
        let wait_for = match (mode, batch) {
            (Mode::Sync, Some(_)) => position,
            (Mode::Sync, None) => position.saturating_sub(most_pending),
            _ => 0,
        };
        while !durable(wait_for) {
            polling.idle();
        }
        if let Some((end, since)) = sample
            && durable(end)
        {
            wrote.durable_ns.saturating_record(since.elapsed().as_nanos() as u64);
            sample = None;
        }
    }
    while mode != Mode::None && !durable(journal.head()) {
        polling.idle();
    }
    wrote.seconds = begun.elapsed().as_secs_f64();
    wrote.records = number;
    Ok(wrote)
}

/// One batch, in as many frames as it needs. `full` is called while there is no room; true gives up.
pub(super) fn write_batch(
    writer: &mut Writer,
    records: usize,
    number: &mut u64,
    mut full: impl FnMut() -> bool,
) -> Result<(), IpcError> {
    let mut record = [0x5a; RECORD_BYTES];
    let end = *number + records as u64;
    while *number < end {
        match writer.claim_records(MESSAGE, 0, RECORD_BYTES, (end - *number) as usize) {
            Ok(mut claimed) => {
                while *number < end {
                    record[..8].copy_from_slice(&number.to_le_bytes());
                    if claimed.push(&record).is_err() {
                        break;
                    }
                    *number += 1;
                }
                claimed.commit();
                // As a node does.
                writer.count(node::class_of(MESSAGE, &record));
            }
            Err(WriteError::Full { .. }) => {
                if full() {
                    return Ok(());
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
