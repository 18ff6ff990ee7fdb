//! Calls everything that can be called on a journal and a registry whose every word may be garbage. Nothing may panic,
//! touch memory that is not theirs, or run for ever; errors are the right answer.
//!
//! Used by the property test `garbage` and by the fuzz targets.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use journal::wait::Parker;
use journal::{
    Clock, Journal, JournalFiles, JournalShape, Merge, OpenError, ReadError, Reader, Registry, Topics,
    WriteError, Writer, layout,
};

/// Capacity of the ring.
pub(crate) const CAPACITY: u64 = layout::MIN_CAPACITY;
const SEATS: u32 = 64;
const TOPICS: u32 = 4;
/// A static ring has at most this many frames, and a reader is lapped at most once.
const MOST_READS: u64 = CAPACITY / layout::LINE_BYTES + 2;

/// How far a run got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reached {
    pub(crate) opened: bool,
    pub(crate) frames: u64,
    pub(crate) corrupt: u64,
    pub(crate) written: u64,
}

/// A good journal and registry, to be damaged repeatedly.
pub(crate) struct Template {
    directory: PathBuf,
    control: Vec<u8>,
    ring: Vec<u8>,
    registry: Vec<u8>,
    /// Positions of frames, which make good garbage.
    positions: Vec<u64>,
}

impl Template {
    pub(crate) fn new(directory: &Path) -> Template {
        let files = JournalFiles::new(directory, directory, "good");
        let shape = JournalShape {
            id: 1,
            name: "good".into(),
            capacity: CAPACITY,
            seats: SEATS,
            topics: TOPICS,
            page: 4096,
        };
        let journal = Journal::create(files.clone(), shape, 1).expect("a good journal");
        let mut writer = journal.writer(0, Clock::monotonic()).expect("its writer");
        let mut positions = vec![0, 1, CAPACITY, u64::MAX, layout::MAX_POSITION];
        for number in 0..900_usize {
            let payload = vec![number as u8; number * 7 % 300];
            positions
                .push(writer.write(1, number as u32 % TOPICS, &payload).expect("nobody gates it").position);
        }
        journal.admit_gated(9).expect_err("it went round");
        drop(journal.gated(3).expect("a seat"));
        drop(journal.loose(4).expect("a seat"));
        journal.set_interest(3, None).expect("a seat");
        positions.push(writer.position());
        drop(writer);
        let registry = directory.join("good.registry");
        Registry::create(&registry, SEATS, Clock::monotonic()).expect("a good registry");
        let read = |path: &Path| fs::read(path).expect("just made");
        Template {
            directory: directory.to_owned(),
            control: read(&files.control),
            ring: read(&files.ring),
            registry: read(&registry),
            positions,
        }
    }

    /// Interprets the bytes as damage: each change is a place, a kind, and a value; a few at the start may change the
    /// files' lengths. The second half of the changes is made while readers and a writer are active.
    pub(crate) fn exercise(&self, data: &[u8]) -> Reached {
        let (lengths, changes) = data.split_at(data.len().min(3));
        let changes: Vec<_> = changes.chunks_exact(11).map(|chunk| self.change(chunk)).collect();
        let (before, during) = changes.split_at(changes.len().div_ceil(2));
        let mut bytes = [self.control.clone(), self.ring.clone(), self.registry.clone()];
        for change in before {
            let file = &mut bytes[change.file];
            let at = change.word * 8 % file.len();
            file[at..at + 8].copy_from_slice(&change.value.to_le_bytes());
        }
        let names = ["bad.ctl", "bad.ring", "bad.registry"].map(|name| self.directory.join(name));
        for (index, name) in names.iter().enumerate() {
            // Most lengths stay: a wrong one is refused at once.
            if let Some(&length) = lengths.get(index)
                && length >= 0xf0
            {
                bytes[index].resize(usize::from(length - 0xf0) * 4_099, 0xee);
            }
            fs::write(name, &bytes[index]).expect("a file in memory");
        }
        fs::copy(self.directory.join("good.lock"), self.directory.join("bad.lock"))
            .expect("a file in memory");
        let mut reached = Reached::default();
        let registry = self.registry(&names[2]);
        let files = JournalFiles { control: names[0].clone(), ring: names[1].clone() };
        if let Ok(journal) = Journal::open(files) {
            reached.opened = true;
            let more = || {
                for change in during {
                    let file =
                        OpenOptions::new().write(true).open(&names[change.file]).expect("just written");
                    self.poke(&file, change);
                }
            };
            self.everything(&journal, registry, more, &mut reached);
        }
        reached
    }

    fn poke(&self, file: &File, change: &Change) {
        let length = file.metadata().expect("an open file").len();
        if length >= 8 {
            let at = (change.word as u64 * 8 % length).min(length - 8);
            file.write_all_at(&change.value.to_le_bytes(), at).expect("a file in memory");
        }
    }

    fn change(&self, chunk: &[u8]) -> Change {
        let number = |range: std::ops::Range<usize>| {
            chunk[range].iter().rev().fold(0_u64, |number, &byte| number << 8 | u64::from(byte))
        };
        let place = number(1..3) as usize;
        let (kind, raw) = (chunk[0], number(3..11));
        let value = match kind >> 2 & 0b111 {
            0 => raw,
            1 => raw & 0xff,
            // A position of a frame.
            2 => self.positions[raw as usize % self.positions.len()],
            3 => self.positions[raw as usize % self.positions.len()].wrapping_add(CAPACITY),
            // The position that belongs to this place, now or a lap later.
            4 => place as u64 * 8 / 64 * 64 + CAPACITY,
            5 => place as u64 * 8 / 64 * 64 + (raw & 0xff) * CAPACITY,
            6 => 1 << (raw & 63),
            _ => (raw & 0xffff) << (raw >> 16 & 63),
        };
        let file = match kind & 0b11 {
            0 => 0,
            3 => 2,
            _ => 1,
        };
        // The important words of the control page and the registry are among the first.
        let word = if file != 1 && kind & 0x80 == 0 { place % 192 } else { place };
        Change { file, word, value }
    }

    fn registry(&self, path: &Path) -> Option<Arc<Registry>> {
        let registry = Registry::open(path).ok()?;
        let _ = registry.clock(path).map(|clock| clock.now());
        for seat in [0, 3, SEATS - 1, SEATS, u32::MAX] {
            let _ = registry.name(seat);
            let _ =
                registry.seat(seat).map(|seat| (seat.process(), seat.counter(0), seat.counter(usize::MAX)));
        }
        Some(Arc::new(registry))
    }

    fn everything(
        &self,
        journal: &Journal,
        registry: Option<Arc<Registry>>,
        more_damage: impl Fn(),
        reached: &mut Reached,
    ) {
        let _ = (journal.stat(), journal.is_drained(), journal.writer_process());
        let report = journal.verify();
        assert!(report.checked() > 0 && report.frames <= 20 * MOST_READS);
        let mut starts = vec![journal.first_position(), journal.head()];
        starts.extend(journal.oldest_frame());
        starts.extend(self.positions.iter().rev().step_by(300));
        let mut readers = Vec::new();
        for position in starts {
            readers.extend(journal.observe(position).map(Reader::Loose));
        }
        readers.extend(journal.gated(3).map(Reader::Gated));
        readers.extend(journal.loose(4).map(Reader::Loose));
        readers.extend(journal.gated(5).map(Reader::Gated));
        if let Some(last) = readers.last_mut() {
            last.set_topics(Topics::only([1, 99]));
        }
        for reader in &mut readers {
            exhaust(reader, reached);
        }
        let clock = Clock::monotonic();
        let mut writer = journal.writer(0, clock).ok();
        if let (Some(writer), Some(registry)) = (&mut writer, &registry) {
            writer.wake_through(Arc::clone(registry));
        }
        for damage in 0..2 {
            if let Some(writer) = &mut writer {
                reached.written += write_all_ways(writer, damage);
            }
            for reader in &mut readers {
                exhaust(reader, reached);
            }
            more_damage();
        }
        drop(writer);
        drop(journal.admit_gated(6));
        drop(journal.dismiss(6));
        drop(journal.set_interest(7, Some(&[0, u32::MAX])));
        let _ = (journal.stat(), journal.oldest_frame(), journal.verify().is_clean());
        if let Err(error @ OpenError::SeatTaken { .. }) = journal.gated(8) {
            panic!("{error}");
        }
        if let Some(parker) = registry.and_then(|registry| Parker::new(registry, 3)) {
            let _ = parker.park(Duration::from_nanos(1), || false);
        }
        let mut merge = Merge::new(readers);
        let mut turns = 0;
        while let Ok(Some(_)) = merge.next() {
            turns += 1;
            assert!(turns < 20 * MOST_READS, "a merge of static rings has no end");
        }
    }
}

struct Change {
    file: usize,
    word: usize,
    value: u64,
}

/// Writes single frames, a claim and a batch, each of sizes that fit and that do not. Returns how many were accepted.
fn write_all_ways(writer: &mut Writer, fill: u8) -> u64 {
    let sizes = [0, 32, 4_000, 8_000];
    let payload = vec![fill; 8_000];
    let mut written = 0;
    for size in sizes {
        let topic = size as u32 % TOPICS;
        written += u64::from(taken(writer.write(1, topic, &payload[..size])));
        match writer.claim(2, topic, size) {
            Ok(mut claim) => {
                claim.put(&payload[..size / 3]).expect("less than was claimed");
                claim.put(&payload[..size / 3]).expect("less than was claimed");
                claim.commit();
                written += 1;
            }
            Err(error) => drop(taken::<()>(Err(error))),
        }
    }
    let mut batch = writer.batch();
    for (size, topic) in sizes.into_iter().zip(0..) {
        taken(batch.push(3, topic, &payload[..size]));
    }
    written += batch.frames();
    batch.commit();
    let mut dropped = writer.batch();
    taken(dropped.push(4, 0, &payload[..100]));
    taken(dropped.push(4, 0, &payload[..100]));
    written
}

/// True when it was accepted; fails on a refusal that garbage cannot cause.
fn taken<T>(result: Result<T, WriteError>) -> bool {
    match result {
        Ok(_) => true,
        Err(
            WriteError::Full { .. }
            | WriteError::TooLarge { .. }
            | WriteError::PastClaim { .. }
            | WriteError::BatchFull { .. },
        ) => false,
        Err(error) => panic!("{error}"),
    }
}

/// Reads until there is nothing more, or nothing valid.
fn exhaust(reader: &mut Reader, reached: &mut Reached) {
    for turn in 0.. {
        if let Reader::Gated(gated) = reader
            && turn % 3 == 1
        {
            // A batch read on the way; errors that it finds, the single read finds too.
            let most = layout::max_payload(CAPACITY);
            let _ = gated.read_batch(2, |frame| assert!(frame.payload.len() as u64 <= most));
        }
        assert!(turn < MOST_READS, "a static ring has no end");
        reader.look_ahead(3, |frame| assert!(frame.payload.len() as u64 <= layout::max_payload(CAPACITY)));
        let _ = (reader.has_news(), reader.peek_time(), reader.position());
        match reader.read() {
            Ok(Some(frame)) => {
                assert!(frame.payload.len() as u64 <= layout::max_payload(CAPACITY));
                reached.frames += 1;
            }
            Ok(None) => return,
            Err(ReadError::Lapped(gap)) => assert!(gap.bytes() > 0),
            Err(ReadError::Corrupt { .. }) => {
                reached.corrupt += 1;
                return;
            }
            Err(ReadError::Forked(error)) => panic!("{error}"),
        }
    }
}
