//! The registry file: one record a seat, each with the word that its node sleeps on.
//!
//! Who accesses what:
//!
//! - the node of a seat writes its state, heartbeat, CPU and counters; nothing else writes them while it lives;
//! - master writes identity, generation, kind and name before the node runs, and state and exit after it died;
//! - the wait word is written by the node (to sleep and when it wakes) and by any writer or relay that wakes it;
//! - the doorbell is written by the writers of the node's journals (to set bits) and by the node (to take them);
//! - whether writers make fences is written by the creator, and by a node that finds no barrier in its kernel;
//! - how a seat is notified is written by the node (whether it has a bell), its relay, and by master when the relay has
//!   died;
//! - answers to a seat through a journal that several seats share are counted by the one node that answers;
//! - all other access is read-only;
//! - a child of a fork sees an empty registry of its own: what it sets there reaches no other process
//!   ([`Registry::check_process`]).

use std::path::Path;

use crate::clock::Clock;
use crate::error::{CreateError, OpenError};
use crate::files::control::{check_format, load_name, store_name};
use crate::files::{create_file, map_file};
use crate::fork::{Forked, Opener};
use crate::layout::{self, registry as at};
use crate::memory::{Access, Region, heap, map};
use crate::process::{ProcessIdentity, pid_namespace};
use crate::sync::{AtomicU64, Ordering};
use crate::wait::{barrier, is_parked};

/// The registry of one instance, mapped into this process.
#[derive(Debug)]
pub struct Registry {
    region: Region,
    seats: u32,
    /// False: mapped read-only.
    writable: bool,
    opener: Opener,
}

impl Registry {
    /// Creates a registry file with this many empty seats. It becomes visible under `path` complete or not at all.
    ///
    /// # Errors
    /// [`CreateError`]: too many seats, no space, no permission.
    pub fn create(path: &Path, seats: u32, clock: Clock) -> Result<Registry, CreateError> {
        check_seats(seats)?;
        let temporary = path.with_extension("new");
        let made = Registry::make(&temporary, seats, clock).and_then(|registry| {
            std::fs::rename(&temporary, path).map_err(|source| CreateError::Io {
                action: "rename into place",
                path: path.to_owned(),
                source,
            })?;
            Ok(registry)
        });
        if made.is_err() {
            // The error that matters is the first one.
            let _ = std::fs::remove_file(&temporary);
        }
        made
    }

    fn make(path: &Path, seats: u32, clock: Clock) -> Result<Registry, CreateError> {
        let bytes = layout::registry_bytes(seats);
        let file = create_file(path, 0o640, bytes)?;
        let region = map(&file, bytes, Access::ReadWrite).map_err(|source| CreateError::Io {
            action: "map",
            path: path.to_owned(),
            source,
        })?;
        region.word(at::NAMESPACE).store(pid_namespace(), Ordering::Relaxed);
        region.word(at::FENCES).store(u64::from(!barrier::is_available()), Ordering::Relaxed);
        Ok(Registry::initialise(region, seats, clock))
    }

    /// A registry in the plain memory of this process: for tests and models, where threads take the place of nodes.
    ///
    /// # Errors
    /// [`CreateError::Invalid`]: too many seats.
    pub fn in_memory(seats: u32, clock: Clock) -> Result<Registry, CreateError> {
        check_seats(seats)?;
        let words = layout::registry_bytes(seats) as usize / layout::WORD_BYTES;
        Ok(Registry::initialise(heap(words), seats, clock))
    }

    pub(crate) fn initialise(region: Region, seats: u32, clock: Clock) -> Registry {
        let word = |index: usize, value: u64| region.word(index).store(value, Ordering::Relaxed);
        word(at::VERSION, u64::from(layout::FORMAT_VERSION));
        word(at::LAYOUT_HASH, layout::layout_hash());
        word(at::SEATS, u64::from(seats));
        for (offset, value) in clock.to_words().into_iter().enumerate() {
            word(at::CLOCK_KIND + offset, value);
        }
        word(at::CLOCK_OFFSET, clock.monotonic_offset());
        region.word(at::MAGIC).store(layout::REGISTRY_MAGIC, Ordering::Release);
        Registry { region, seats, writable: true, opener: Opener::current() }
    }

    /// Maps a registry for writing: as a node with a seat, or as master.
    ///
    /// # Errors
    /// [`OpenError`]: missing, forbidden, foreign, of another version, damaged.
    pub fn open(path: &Path) -> Result<Registry, OpenError> {
        Registry::open_with(path, Access::ReadWrite)
    }

    /// Maps a registry read-only: [`Registry::occupy`] returns `None`, and the setters do nothing.
    ///
    /// # Errors
    /// As [`Registry::open`].
    pub fn open_read_only(path: &Path) -> Result<Registry, OpenError> {
        Registry::open_with(path, Access::Read)
    }

    fn open_with(path: &Path, access: Access) -> Result<Registry, OpenError> {
        let (region, bytes) = map_file(path, access)?;
        let damaged = |what: String| OpenError::Damaged { path: path.to_owned(), what };
        if bytes < layout::registry_bytes(64) {
            return Err(damaged(format!("{bytes} bytes are too few for a registry: it was truncated")));
        }
        let word = |index: usize| region.word(index).load(Ordering::Acquire);
        check_format(&word, layout::REGISTRY_MAGIC, "registry", path)?;
        let seats = word(at::SEATS);
        if !u32::try_from(seats).is_ok_and(layout::is_seat_count) {
            return Err(damaged(format!("{seats} seats are not possible")));
        }
        let seats = seats as u32;
        if bytes != layout::registry_bytes(seats) {
            return Err(damaged(format!("{seats} seats do not fit {bytes} bytes")));
        }
        Ok(Registry { region, seats, writable: access == Access::ReadWrite, opener: Opener::current() })
    }

    /// Refuses a process that is a fork of the one that mapped the registry.
    ///
    /// # Errors
    /// [`Forked`].
    pub fn check_process(&self) -> Result<(), Forked> {
        self.opener.check()
    }

    /// Number of seats.
    pub fn seats(&self) -> u32 {
        self.seats
    }

    /// False when the registry's processes belong to another pid namespace: then its process ids mean nothing here.
    /// True when either namespace is unknown.
    pub fn is_of_this_namespace(&self) -> bool {
        let (theirs, ours) = (self.region.word(at::NAMESPACE).load(Ordering::Relaxed), pid_namespace());
        theirs == 0 || ours == 0 || theirs == ours
    }

    /// The platform's clock.
    ///
    /// # Errors
    /// [`OpenError::Damaged`] when the registry holds none; [`OpenError::Forked`].
    pub fn clock(&self, path: &Path) -> Result<Clock, OpenError> {
        self.check_process()?;
        let words =
            std::array::from_fn(|offset| self.region.word(at::CLOCK_KIND + offset).load(Ordering::Acquire));
        Clock::from_words(words)
            .ok_or_else(|| OpenError::Damaged { path: path.to_owned(), what: "it holds no clock".to_owned() })
    }

    /// The clock less `CLOCK_MONOTONIC`, as master last measured it: see [`Clock::monotonic_offset`].
    pub fn clock_offset(&self) -> u64 {
        self.region.word(at::CLOCK_OFFSET).load(Ordering::Relaxed)
    }

    /// Measures [`Clock::monotonic_offset`] again, for programs that read the platform's time that way. Only master does.
    pub fn refresh_clock_offset(&self, clock: Clock) {
        if self.writable {
            self.region.word(at::CLOCK_OFFSET).store(clock.monotonic_offset(), Ordering::Relaxed);
        }
    }

    /// True when writers must put a full fence between each commit and their look at who wants it.
    #[inline(always)]
    pub(crate) fn requires_fences(&self) -> bool {
        // SYNC: interest.
        self.region.word(at::FENCES).load(Ordering::Relaxed) != 0
    }

    /// From now on, writers do so.
    pub(crate) fn require_fences(&self) {
        if self.writable {
            self.region.word(at::FENCES).store(1, Ordering::SeqCst);
        }
    }

    /// Instance-wide phase; the platform defines its meaning.
    pub fn phase(&self) -> u64 {
        self.region.word(at::PHASE).load(Ordering::Acquire)
    }

    /// Sets the phase. Only master does.
    pub fn set_phase(&self, phase: u64) {
        if self.writable {
            self.region.word(at::PHASE).store(phase, Ordering::Release);
        }
    }

    /// One seat's record; `None` past the last.
    pub fn seat(&self, seat: u32) -> Option<Seat<'_>> {
        (seat < self.seats).then(|| Seat { words: self.record(seat) })
    }

    /// One seat's record for writing; `None` past the last, and when mapped read-only.
    pub fn occupy(&self, seat: u32) -> Option<SeatWriter<'_>> {
        (self.writable && seat < self.seats).then(|| SeatWriter { seat: Seat { words: self.record(seat) } })
    }

    /// True when this mapping is writable, and this process's own.
    pub(crate) fn is_writable(&self) -> bool {
        self.writable && self.opener.is_here()
    }

    fn record(&self, seat: u32) -> &[AtomicU64] {
        let first = at::RECORDS + seat as usize * at::RECORD_WORDS;
        &self.region.words()[first..first + at::RECORD_WORDS]
    }

    /// The word that a seat's node sleeps on. `seat` must exist.
    #[inline(always)]
    pub(crate) fn wait_word(&self, seat: u32) -> &AtomicU64 {
        self.region.word(at::RECORDS + seat as usize * at::RECORD_WORDS + at::WAIT)
    }

    /// The seats among the 64 from `first` on that are notified in this way: [`at::NOTIFY_BELL`] or [`at::NOTIFY_RELAY`].
    /// `first` must exist.
    #[inline(always)]
    pub(crate) fn notify_word(&self, first: u32, way: usize) -> &AtomicU64 {
        self.region.word(at::NOTIFY + first as usize / 64 * at::NOTIFY_WORDS + way)
    }

    /// True when `seat` is notified in this way. `seat` must exist.
    pub(crate) fn is_notified_by(&self, seat: u32, way: usize) -> bool {
        self.notify_word(seat, way).load(Ordering::Relaxed) & 1 << (seat % 64) != 0
    }

    /// Sets whether `seat` is notified in this way. True when that changed. `seat` must exist.
    pub(crate) fn set_notified_by(&self, seat: u32, way: usize, so: bool) -> bool {
        let (word, bit) = (self.notify_word(seat, way), 1 << (seat % 64));
        let before =
            if so { word.fetch_or(bit, Ordering::SeqCst) } else { word.fetch_and(!bit, Ordering::SeqCst) };
        (before & bit != 0) != so
    }

    /// True while a relay wakes `seat` instead of the writers.
    pub fn is_relayed(&self, seat: u32) -> bool {
        seat < self.seats && self.is_notified_by(seat, at::NOTIFY_RELAY)
    }

    /// True while the word of this seat's node says that it sleeps, or is about to: for who looks from outside.
    pub fn is_asleep(&self, seat: u32) -> bool {
        seat < self.seats && is_parked(self.wait_word(seat).load(Ordering::Relaxed))
    }

    /// Seat of the relay that wakes `seat`, or was the last to do so. `seat` must exist.
    pub(crate) fn relay(&self, seat: u32) -> &AtomicU64 {
        self.region.word(at::RECORDS + seat as usize * at::RECORD_WORDS + at::RELAY)
    }

    /// One word of a seat's doorbell. Both must exist.
    #[inline(always)]
    pub(crate) fn bell(&self, seat: u32, word: usize) -> &AtomicU64 {
        self.region.word(at::RECORDS + seat as usize * at::RECORD_WORDS + at::BELL + word)
    }

    /// Index of a seat's name in the region.
    fn name_index(&self, seat: u32) -> usize {
        at::RECORDS + seat as usize * at::RECORD_WORDS + at::NAME
    }

    /// Name of the node in a seat; empty if the seat was never used.
    pub fn name(&self, seat: u32) -> String {
        if seat >= self.seats {
            return String::new();
        }
        load_name(&self.region, self.name_index(seat)).unwrap_or_default()
    }

    /// Names a seat. Only master does; names longer than 63 bytes are cut.
    pub fn set_name(&self, seat: u32, name: &str) {
        if self.writable && seat < self.seats {
            store_name(&self.region, self.name_index(seat), name);
        }
    }
}

fn check_seats(seats: u32) -> Result<(), CreateError> {
    if !layout::is_seat_count(seats) {
        let what = format!("{seats} seats, but must be a multiple of 64 up to {}", layout::MAX_SEATS);
        return Err(CreateError::Invalid { name: "registry".to_owned(), what });
    }
    Ok(())
}

/// One seat's record, to read.
#[derive(Clone, Copy, Debug)]
pub struct Seat<'a> {
    words: &'a [AtomicU64],
}

/// One seat's record for reading and writing: for its node, and for master.
#[derive(Clone, Copy, Debug)]
pub struct SeatWriter<'a> {
    seat: Seat<'a>,
}

impl<'a> std::ops::Deref for SeatWriter<'a> {
    type Target = Seat<'a>;

    fn deref(&self) -> &Seat<'a> {
        &self.seat
    }
}

macro_rules! seat_words {
    ($($(#[$doc:meta])* $get:ident $set:ident $offset:ident;)*) => {
        impl Seat<'_> {
            $(
                $(#[$doc])*
                pub fn $get(&self) -> u64 {
                    self.words[at::$offset].load(Ordering::Acquire)
                }
            )*
        }

        impl SeatWriter<'_> {
            $(
                #[doc = concat!("Sets [`Seat::", stringify!($get), "`].")]
                pub fn $set(&self, value: u64) {
                    self.seat.words[at::$offset].store(value, Ordering::Release);
                }
            )*
        }
    };
}

seat_words! {
    /// Starts in this seat.
    generation set_generation GENERATION;
    /// State of the node; the numbers are the node crate's.
    state set_state STATE;
    /// Kind of the node (low 16 bits) and its wait mode (next 16).
    kind set_kind KIND;
    /// Exit code plus one; zero: the node has not exited.
    exit set_exit EXIT;
    /// A request of the node to another one; the numbers are the node crate's.
    asked set_asked ASKED;
    /// Last sign of life, nanoseconds on the platform's clock.
    heartbeat set_heartbeat HEARTBEAT;
    /// CPU that the node ran on at its last heartbeat.
    cpu set_cpu CPU;
    /// Abandoned answers to this seat, counted by the answering node.
    undelivered set_undelivered UNDELIVERED;
    /// Answers to this seat that exist only in the memory of the answering node, and are lost with it.
    at_risk set_at_risk AT_RISK;
}

impl Seat<'_> {
    /// The process in this seat, now or last.
    pub fn process(&self) -> ProcessIdentity {
        ProcessIdentity {
            pid: self.words[at::PID].load(Ordering::Acquire) as u32,
            start: self.words[at::START].load(Ordering::Acquire),
        }
    }

    /// Answers that another node wrote to this seat into a journal that several share: see
    /// [`ANSWERS`](layout::registry::ANSWERS).
    pub fn answers(&self) -> [u64; layout::control::CLASSES] {
        std::array::from_fn(|class| self.words[at::ANSWERS + class].load(Ordering::Acquire))
    }

    /// Value of a counter; zero past the last.
    #[inline]
    pub fn counter(&self, index: usize) -> u64 {
        at::counter_word(index).map_or(0, |word| self.words[word].load(Ordering::Relaxed))
    }
}

impl SeatWriter<'_> {
    /// Assigns a process to this seat.
    pub fn set_process(&self, process: ProcessIdentity) {
        self.seat.words[at::PID].store(u64::from(process.pid), Ordering::Release);
        self.seat.words[at::START].store(process.start, Ordering::Release);
    }

    /// Counts an answer to this seat. Only the answering node does.
    #[inline]
    pub fn count_answer(&self, class: usize) {
        if class < layout::control::CLASSES {
            let word = &self.seat.words[at::ANSWERS + class];
            // SYNC: tally. The commit comes before it.
            word.store(word.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
        }
    }

    /// Sets a counter. Only the seat's own node does, so a plain store suffices.
    #[inline]
    pub fn set_counter(&self, index: usize, value: u64) {
        if let Some(word) = at::counter_word(index) {
            self.seat.words[word].store(value, Ordering::Relaxed);
        }
    }

    /// Adds to a counter. Only the seat's own node does: a load and a store, no locked instruction.
    #[inline]
    pub fn add(&self, index: usize, amount: u64) {
        self.set_counter(index, self.seat.counter(index).wrapping_add(amount));
    }
}
