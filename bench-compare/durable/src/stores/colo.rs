//! colo: a journal in memory, its writer, and a recorder in a thread of its own, as the platform has it in a process of its
//! own. A batch is acknowledged when the journal's durable position is behind it.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use journal::sync::{AtomicU64, Ordering};
use journal::{Clock, Journal, JournalShape, WriteError, Writer};
use recorder::format::{Description, RecordedJournal};
use recorder::gather::{Gatherer, Input};
use recorder::read::{Counts, Recording};
use recorder::write::{Policy, Recorder};

use super::{Facts, RECORD_BYTES, Record, Store, said};

pub(crate) const FACTS: Facts = Facts {
    name: "colo",
    version: "this checkout",
    setup: "journal, recorder and durable position; the records of a batch in one frame",
    open: open_records,
};

pub(crate) const FACTS_OF_FRAMES: Facts = Facts {
    name: "colo, frames",
    setup: "the same; each record a frame of its own, with its header a half larger",
    open: open_frames,
    ..FACTS
};

/// Seat of the recorder.
const SEAT: u32 = 5;
/// Type of the records.
const MESSAGE: u16 = 1;
/// Bytes of the ring.
const RING: u64 = 4 << 20;
/// Bytes of a segment.
const SEGMENT: u64 = 64 << 20;
/// Turns of polling before others get the core.
const SPINS: u32 = 200;
/// Turns before a nap: who runs at real-time priority gives way to none of the kernel's threads otherwise.
const TURNS: u32 = 20 * SPINS;

fn open_records(folder: &Path) -> Result<Box<dyn Store>, String> {
    open(folder, false)
}

fn open_frames(folder: &Path) -> Result<Box<dyn Store>, String> {
    open(folder, true)
}

struct Recorded {
    journal: Journal,
    writer: Writer,
    frames: bool,
    /// One: stop; two: the recorder failed.
    state: Arc<AtomicU64>,
    recorder: Option<JoinHandle<Result<(), String>>>,
}

fn open(folder: &Path, frames: bool) -> Result<Box<dyn Store>, String> {
    let clock = Clock::monotonic();
    let shape =
        JournalShape { id: 1, name: "records".into(), capacity: RING, seats: 64, topics: 8, page: 4096 };
    let journal = Journal::in_memory(shape).map_err(said("make a journal"))?;
    journal.admit_gated(SEAT).map_err(said("admit the recorder"))?;
    let mut reader = journal.gated(SEAT).map_err(said("read the journal"))?;
    reader.make_durable(None);
    reader.rewind();
    let policy = Policy { segment_bytes: SEGMENT, compress: None };
    let mut recorder = Recorder::open(&folder.join("recording"), &describe(&journal), policy, clock.now())
        .map_err(said("open the recording"))?;
    recorder.wait_until_prepared();
    let mut gatherer = Gatherer::new(vec![Input::Gated(reader)], vec![Counts::default()], |_, _| 0);
    let state = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&state);
    let mut record = move || {
        let mut polls = 0_u32;
        loop {
            let stops = seen.load(Ordering::Acquire) != 0;
            if gatherer.has_news() {
                gatherer.cut(&mut recorder, clock.now(), |_, _| ()).map_err(said("record"))?;
            } else if stops {
                return Ok(());
            } else {
                idle(&mut polls);
            }
        }
    };
    let failed = Arc::clone(&state);
    let thread = std::thread::spawn(move || {
        let done = record();
        if done.is_err() {
            failed.store(2, Ordering::Release);
        }
        done
    });
    let writer = journal.writer(0, clock).map_err(said("write the journal"))?;
    Ok(Box::new(Recorded { journal, writer, frames, state, recorder: Some(thread) }))
}

fn idle(polls: &mut u32) {
    *polls = polls.wrapping_add(1);
    if *polls == TURNS {
        // Without it a nap takes the 50 µs that the kernel may be late. Refused: it takes them.
        let _ = nix::sys::prctl::set_timerslack(1);
    }
    if polls.is_multiple_of(TURNS) {
        std::thread::sleep(std::time::Duration::from_nanos(1));
    } else if polls.is_multiple_of(SPINS) {
        std::thread::yield_now();
    } else {
        std::hint::spin_loop();
    }
}

impl Recorded {
    /// Waits while `goes_on`, unless the recorder failed.
    fn wait(&mut self, goes_on: impl Fn(&Journal) -> bool) -> Result<(), String> {
        let mut polls = 0;
        while goes_on(&self.journal) {
            if self.state.load(Ordering::Acquire) == 2 {
                return self.stop();
            }
            idle(&mut polls);
        }
        Ok(())
    }

    fn stop(&mut self) -> Result<(), String> {
        self.state.fetch_max(1, Ordering::AcqRel);
        let joined = self.recorder.take().map(JoinHandle::join);
        joined.unwrap_or(Ok(Ok(()))).unwrap_or_else(|_| Err("the recorder's thread has panicked".to_owned()))
    }

    /// Writes some of the records; how many.
    fn write(&mut self, records: &[Record]) -> Result<usize, WriteError> {
        if self.frames {
            let mut batch = self.writer.batch();
            let mut done = 0;
            for record in records {
                match batch.push(MESSAGE, 0, record) {
                    Err(WriteError::Full { .. } | WriteError::BatchFull { .. }) if done > 0 => break,
                    other => _ = other?,
                }
                done += 1;
            }
            batch.commit();
            return Ok(done);
        }
        let mut claimed = self.writer.claim_records(MESSAGE, 0, RECORD_BYTES, records.len())?;
        let mut done = 0;
        while done < records.len() && claimed.push(&records[done]).is_ok() {
            done += 1;
        }
        claimed.commit();
        Ok(done)
    }
}

impl Store for Recorded {
    fn put(&mut self, records: &[Record]) -> Result<(), String> {
        let mut left = records;
        while !left.is_empty() {
            match self.write(left) {
                Ok(done) => left = &left[done..],
                Err(WriteError::Full { .. }) => {
                    let durable = self.journal.durable();
                    self.wait(|journal| journal.durable() == durable)?;
                }
                Err(error) => return Err(error.to_string()),
            }
        }
        let end = self.journal.head();
        self.wait(|journal| journal.durable().is_some_and(|durable| durable < end))
    }

    fn held(mut self: Box<Self>, folder: &Path) -> Result<Option<u64>, String> {
        self.stop()?;
        let recording = Recording::open(&folder.join("recording")).map_err(said("open again"))?;
        let journal = recording.description().journal("records").ok_or("no journal was recorded")?;
        let mut frames = recording.frames(journal, 0);
        let mut bytes = 0;
        while let Some(frame) = frames.next().map_err(said("read"))? {
            bytes += frame.payload.len();
        }
        Ok(Some((bytes / RECORD_BYTES) as u64))
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        // What went wrong was said before.
        let _ = self.stop();
    }
}

fn describe(journal: &Journal) -> Description {
    Description {
        instance: "compare".into(),
        recorder: "recorder".into(),
        program: env!("CARGO_PKG_VERSION").into(),
        // None of these.
        messages: u32::MAX,
        journal_format: journal::layout::FORMAT_VERSION,
        topology: serde_json::Value::Null,
        journals: RecordedJournal::of_all(&[journal]),
    }
}
