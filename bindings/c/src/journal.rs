//! Journals and registries as C opens them.

use std::ffi::c_char;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::journal::{Clock, Journal, JournalFiles, JournalShape, Registry, WriterState};

use crate::fault::{Fault, at, bytes, close, guarded, sized, text};

/// A journal that this process has opened.
pub struct colo_journal {
    pub(crate) journal: Journal,
}

/// The registry of an instance: its clock, and the words on which its nodes sleep.
pub struct colo_registry {
    pub(crate) registry: Arc<Registry>,
    path: PathBuf,
}

impl colo_registry {
    pub(crate) fn clock(&self) -> Result<Clock, Fault> {
        Ok(self.registry.clock(&self.path)?)
    }
}

/// What a journal is, and how far it is.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct colo_journal_state {
    /// Size of this structure: set it first.
    pub struct_size: u32,
    /// Its number in its instance.
    pub id: u32,
    /// Bytes in its ring.
    pub capacity: u64,
    /// Seats.
    pub seats: u32,
    /// Topics.
    pub topics: u32,
    /// Largest payload.
    pub max_payload: u64,
    /// Position of its first frame.
    pub first: u64,
    /// End of its frames.
    pub head: u64,
    /// Frames that were ever committed.
    pub frames: u64,
    /// How many writers it has had.
    pub epoch: u64,
    /// Its writer: `COLO_WRITER_NONE`, `COLO_WRITER_ATTACHED`, `COLO_WRITER_CLOSED`, `COLO_WRITER_DEAD`.
    pub writer: u32,
    /// Process id of the writer, or 0.
    pub writer_pid: u32,
}

/// The journal has never had a writer.
pub const COLO_WRITER_NONE: u32 = 0;
/// A process writes it.
pub const COLO_WRITER_ATTACHED: u32 = 1;
/// Its last writer has left in good order.
pub const COLO_WRITER_CLOSED: u32 = 2;
/// Its last writer's process has ended without leaving.
pub const COLO_WRITER_DEAD: u32 = 3;

/// The files of a journal, by what a call gives. A name that no journal has would be another path.
macro_rules! files {
    ($folder:expr, $rings:expr, $name:expr) => {{
        let (folder, name) = (Path::new(text!($folder)), text!($name));
        if !JournalShape::is_name(name) {
            return Err(Fault::argument(format!(
                "`{name}` is no name of a journal: 1 to 63 of a-z, 0-9, `.`, `_`, `-`, and no dot at its start"
            )));
        }
        let rings = if $rings.is_null() { folder } else { Path::new(text!($rings)) };
        JournalFiles::new(folder, rings, name)
    }};
}

/// Opens a journal to write, or to read with a seat. `rings`: the folder of its ring, where that is on huge pages; null: the same folder.
/// Close it with `colo_journal_close`; its readers and writer do not need it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_journal_open(
    folder: *const c_char,
    rings: *const c_char,
    name: *const c_char,
    journal: *mut *mut colo_journal,
) -> i32 {
    guarded(|| {
        let place = at!(journal);
        let opened = Journal::open(files!(folder, rings, name))?;
        *place = Box::into_raw(Box::new(colo_journal { journal: opened }));
        Ok(0)
    })
}

/// As `colo_journal_open`, for one who only looks on: without a seat, and shared memory stays as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_journal_open_read_only(
    folder: *const c_char,
    rings: *const c_char,
    name: *const c_char,
    journal: *mut *mut colo_journal,
) -> i32 {
    guarded(|| {
        let place = at!(journal);
        let opened = Journal::open_read_only(files!(folder, rings, name))?;
        *place = Box::into_raw(Box::new(colo_journal { journal: opened }));
        Ok(0)
    })
}

/// Closes it; null is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_journal_close(journal: *mut colo_journal) {
    guarded(|| {
        close!(journal);
        Ok(0)
    });
}

/// What the journal is, and how far it is. Looks at the writer's process: not for every turn of a loop.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_journal_look(
    journal: *mut colo_journal,
    state: *mut colo_journal_state,
) -> i32 {
    guarded(|| {
        let (journal, state) = (&at!(journal).journal, sized!(state.cast_const()));
        journal.check_process()?;
        let stat = journal.stat();
        let (writer, writer_pid) = match stat.writer {
            WriterState::Never => (COLO_WRITER_NONE, 0),
            WriterState::Attached(process) => (COLO_WRITER_ATTACHED, process.pid),
            WriterState::Closed => (COLO_WRITER_CLOSED, 0),
            WriterState::Dead(process) => (COLO_WRITER_DEAD, process.pid),
        };
        *state = colo_journal_state {
            struct_size: state.struct_size,
            id: stat.shape.id,
            capacity: stat.shape.capacity,
            seats: stat.shape.seats,
            topics: stat.shape.topics,
            max_payload: stat.max_payload,
            first: stat.first_position,
            head: stat.head,
            frames: stat.frames,
            epoch: stat.epoch,
            writer,
            writer_pid,
        };
        Ok(0)
    })
}

/// Position of the oldest frame that can still be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_journal_oldest(journal: *mut colo_journal, position: *mut u64) -> i32 {
    guarded(|| {
        *at!(position) = at!(journal).journal.oldest_frame()?;
        Ok(0)
    })
}

/// Says for which topics a seat wants to be woken; `topics` null: for all. Call `colo_announce` behind it, before the first sleep.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_journal_interest(
    journal: *mut colo_journal,
    seat: u32,
    topics: *const u32,
    count: usize,
) -> i32 {
    guarded(|| {
        let journal = &at!(journal).journal;
        if topics.is_null() {
            journal.set_interest(seat, None)?;
            return Ok(0);
        }
        let numbers: Vec<u32> = bytes!(topics, count.saturating_mul(4)).chunks_exact(4).map(four).collect();
        journal.set_interest(seat, Some(&numbers))?;
        Ok(0)
    })
}

/// A number of four bytes.
pub(crate) fn four(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Opens the registry of an instance: the file `registry` in its folder.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_registry_open(path: *const c_char, registry: *mut *mut colo_registry) -> i32 {
    guarded(|| {
        let place = at!(registry);
        let path = PathBuf::from(text!(path));
        let opened = Arc::new(Registry::open(&path)?);
        *place = Box::into_raw(Box::new(colo_registry { registry: opened, path }));
        Ok(0)
    })
}

/// Closes it; null is fine. Writers that wake through it keep it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_registry_close(registry: *mut colo_registry) {
    guarded(|| {
        close!(registry);
        Ok(0)
    });
}
