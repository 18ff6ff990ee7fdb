//! The control page of one journal, typed.

use crate::error::OpenError;
use crate::files::lease::{self, Role};
use crate::layout::{self, control as at};
use crate::memory::Region;
use crate::process::ProcessIdentity;
use crate::sync::{AtomicU64, Ordering, fence};

use std::path::{Path, PathBuf};

/// The properties of a journal that are fixed when it is created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalShape {
    /// Number within the instance; ties in a merge are broken by it.
    pub id: u32,
    /// Its name: `a-z`, `0-9`, `.`, `_`, `-`; at most 63 bytes.
    pub name: String,
    /// Bytes in the ring: a power of two from 64 KiB to 64 GiB.
    pub capacity: u64,
    /// Seats that can read it, a multiple of 64 up to 1,024.
    pub seats: u32,
    /// Topics, 1 to 4,096.
    pub topics: u32,
    /// Size of the ring's pages in bytes: 4096, or that of a huge page.
    pub page: u64,
}

impl JournalShape {
    /// True for what a journal may be called. Anything else would make another path of its files' names.
    pub fn is_name(name: &str) -> bool {
        (1..=layout::MAX_NAME).contains(&name.len())
            && name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'))
            && !name.starts_with('.')
    }

    /// Largest payload of a frame.
    pub fn max_payload(&self) -> u64 {
        layout::max_payload(self.capacity)
    }

    /// Everything that is out of range, as text; `None` when the shape is valid.
    pub fn problem(&self) -> Option<String> {
        if !JournalShape::is_name(&self.name) {
            return Some(format!(
                "the name must be 1 to {} of a-z, 0-9, `.`, `_`, `-`, and must not start with a dot",
                layout::MAX_NAME
            ));
        }
        if !self.capacity.is_power_of_two()
            || !(layout::MIN_CAPACITY..=layout::MAX_CAPACITY).contains(&self.capacity)
        {
            return Some(format!(
                "capacity is {} bytes, but must be a power of two from 64 KiB to 64 GiB",
                self.capacity
            ));
        }
        if !self.page.is_power_of_two() || self.page < 4096 {
            return Some(format!("pages of {} bytes do not exist", self.page));
        }
        if !self.capacity.is_multiple_of(self.page) {
            return Some(format!(
                "capacity {} is no whole number of pages of {} bytes",
                self.capacity, self.page
            ));
        }
        if !layout::is_seat_count(self.seats) {
            return Some(format!(
                "{} seats, but must be a multiple of 64 up to {}",
                self.seats,
                layout::MAX_SEATS
            ));
        }
        if self.topics == 0 || self.topics > layout::MAX_TOPICS {
            return Some(format!("{} topics, but must be 1 to {}", self.topics, layout::MAX_TOPICS));
        }
        None
    }
}

/// Where a journal begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Creation time, nanoseconds since the epoch.
    pub created: u64,
    /// Position of the first frame; one that is too low for the ring is raised. [`Journal::head`](crate::Journal::head)
    /// of a journal whose positions this one continues.
    pub first_position: u64,
    /// 1, or one more than that of the journal that this one continues.
    pub incarnation: u64,
    /// Largest payload in bytes, if it is to be less than the ring would take. Loose readers reserve memory for one.
    pub max_payload: u64,
}

impl Origin {
    /// A journal that continues no other.
    pub fn new(created: u64) -> Origin {
        Origin { created, first_position: 0, incarnation: 1, max_payload: u64::MAX }
    }
}

/// The writer of a journal, according to its control page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriterState {
    /// The journal has never had a writer.
    Never,
    /// This process writes it. (For a moment after a successor attaches, its dead predecessor may still be shown.)
    Attached(ProcessIdentity),
    /// The last writer closed the journal.
    Closed,
    /// The last writer ended without closing the journal.
    Dead(ProcessIdentity),
}

impl WriterState {
    /// The name in output: `never`, `alive`, `closed` or `dead`.
    pub fn as_str(self) -> &'static str {
        match self {
            WriterState::Never => "never",
            WriterState::Attached(_) => "alive",
            WriterState::Closed => "closed",
            WriterState::Dead(_) => "dead",
        }
    }

    /// The process that writes the journal, or that ended without closing it.
    pub fn process(self) -> Option<ProcessIdentity> {
        match self {
            WriterState::Attached(process) | WriterState::Dead(process) => Some(process),
            WriterState::Never | WriterState::Closed => None,
        }
    }
}

/// One reader's line in the control page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReaderView {
    /// Its seat.
    pub seat: u32,
    /// Whether the writer waits for it.
    pub gated: bool,
    /// Position up to which it has read.
    pub position: u64,
    /// First position that the writer must not overwrite for this reader; `None` if it does not wait for it.
    pub holds: Option<u64>,
    /// Whether what it no longer holds is on disk.
    pub durable: bool,
    /// Bytes that this seat's readers, past and present, lost to laps.
    pub lost: u64,
    /// Number of those laps.
    pub gaps: u64,
    /// Frames read.
    pub frames: u64,
}

/// Typed view of a control page.
#[derive(Debug)]
pub(crate) struct Control {
    region: Region,
    shape: JournalShape,
    /// Position of the first frame.
    first: u64,
    max_payload: u64,
    interest_start: usize,
    row_words: usize,
    /// The lock file, of a journal in files.
    lock: Option<PathBuf>,
}

impl Control {
    /// Writes the header of a fresh, zeroed page. Not visible to others yet: the caller renames the file into place.
    pub(crate) fn initialise(region: Region, shape: JournalShape, origin: Origin, identity: u64) -> Control {
        let word = |index: usize, value: u64| region.word(index).store(value, Ordering::Relaxed);
        let first = origin.first_position.max(layout::first_position(shape.capacity));
        let max_payload = origin.max_payload.min(shape.max_payload());
        word(at::VERSION, u64::from(layout::FORMAT_VERSION));
        word(at::LAYOUT_HASH, layout::layout_hash());
        word(at::ID, u64::from(shape.id) | u64::from(shape.page.trailing_zeros()) << 32);
        word(at::CAPACITY, shape.capacity);
        word(at::TABLES, u64::from(shape.seats) | u64::from(shape.topics) << 32);
        word(at::CREATED, origin.created);
        word(at::MAX_PAYLOAD, max_payload);
        store_name(&region, at::NAME, &shape.name);
        word(at::FIRST, first);
        word(at::INCARNATION, origin.incarnation);
        word(at::IDENTITY, identity);
        word(at::HEAD, first);
        word(at::INTENT, first);
        region.word(at::MAGIC).store(layout::CONTROL_MAGIC, Ordering::Release);
        Control::with(region, shape, first, max_payload)
    }

    /// Checks a page that another process created.
    pub(crate) fn check(region: Region, path: &Path) -> Result<Control, OpenError> {
        let damaged = |what: String| OpenError::Damaged { path: path.to_owned(), what };
        if region.words().len() < at::CURSORS {
            return Err(damaged(format!("{} bytes are too few for a header", region.words().len() * 8)));
        }
        let word = |index: usize| region.word(index).load(Ordering::Acquire);
        check_format(&word, layout::CONTROL_MAGIC, "journal control file", path)?;
        let shape = JournalShape {
            id: word(at::ID) as u32,
            name: load_name(&region, at::NAME).ok_or_else(|| damaged("the name is no text".to_owned()))?,
            capacity: word(at::CAPACITY),
            seats: word(at::TABLES) as u32,
            topics: (word(at::TABLES) >> 32) as u32,
            page: 1_u64
                .checked_shl((word(at::ID) >> 32) as u32)
                .ok_or_else(|| damaged("the page size is out of range".to_owned()))?,
        };
        if let Some(problem) = shape.problem() {
            return Err(damaged(problem));
        }
        let max_payload = word(at::MAX_PAYLOAD);
        if max_payload > shape.max_payload() {
            let most = shape.max_payload();
            return Err(damaged(format!(
                "its largest payload is {max_payload} bytes, a ring of its size has at most {most}"
            )));
        }
        let first = word(at::FIRST);
        if first < layout::first_position(shape.capacity)
            || first >= layout::MAX_POSITION
            || !first.is_multiple_of(layout::LINE_BYTES)
        {
            return Err(damaged(format!("its first position, {first}, is not possible")));
        }
        let expected = layout::control_bytes(shape.seats, shape.topics);
        let found = (region.words().len() * 8) as u64;
        if found != expected {
            return Err(damaged(format!("its header asks for {expected} bytes, the file has {found}")));
        }
        let lock = Some(path.with_extension("lock"));
        Ok(Control { lock, ..Control::with(region, shape, first, max_payload) })
    }

    fn with(region: Region, shape: JournalShape, first: u64, max_payload: u64) -> Control {
        let interest_start = layout::interest_start(shape.seats);
        let row_words = layout::seat_words(shape.seats);
        Control { region, shape, first, max_payload, interest_start, row_words, lock: None }
    }

    /// The same of a journal whose lock file is this one.
    pub(crate) fn locked_by(self, lock: PathBuf) -> Control {
        Control { lock: Some(lock), ..self }
    }

    pub(crate) fn shape(&self) -> &JournalShape {
        &self.shape
    }

    /// Position of the first frame.
    pub(crate) fn first_position(&self) -> u64 {
        self.first
    }

    /// Largest payload of this journal.
    #[inline(always)]
    pub(crate) fn max_payload(&self) -> u64 {
        self.max_payload
    }

    /// What tells this journal from others of its name.
    pub(crate) fn identity(&self) -> u64 {
        self.load(at::IDENTITY)
    }

    #[inline(always)]
    pub(crate) fn word(&self, index: usize) -> &AtomicU64 {
        self.region.word(index)
    }

    /// Words of the page.
    pub(crate) fn words(&self) -> usize {
        self.region.words().len()
    }

    #[inline(always)]
    pub(crate) fn load(&self, index: usize) -> u64 {
        self.word(index).load(Ordering::Relaxed)
    }

    /// SYNC: head. All frames before it are committed.
    #[inline]
    pub(crate) fn head(&self) -> u64 {
        self.word(at::HEAD).load(Ordering::Acquire)
    }

    /// The intent, for a loose reader after its copy. SYNC: reach. A head that is loaded after this is near it.
    #[inline(always)]
    pub(crate) fn intent(&self) -> u64 {
        self.word(at::INTENT).load(Ordering::Acquire)
    }

    /// False when the writer declared something that no writer would, as far as that shows from outside.
    pub(crate) fn is_plausible(&self) -> bool {
        // Loaded before the head, so that it is never too far ahead; and again behind it, so that it is never behind.
        let earlier = self.intent();
        let head = self.head();
        head.is_multiple_of(layout::LINE_BYTES)
            && (self.first..layout::MAX_POSITION).contains(&head)
            && earlier.saturating_sub(head) <= layout::max_reach(self.shape.capacity)
            && self.intent() >= head
    }

    pub(crate) fn writer_state(&self) -> WriterState {
        // SYNC: writer. A torn pair can only be an old pid with a new start time, and that pid's process is dead.
        let state = self.word(at::WRITER_STATE).load(Ordering::Acquire);
        let pid = self.word(at::WRITER).load(Ordering::Acquire) as u32;
        let identity = ProcessIdentity { pid, start: self.load(at::WRITER_START) };
        match state {
            0 => WriterState::Never,
            1 if identity.is_alive() || self.is_writer_locked() => WriterState::Attached(identity),
            1 => WriterState::Dead(identity),
            _ => WriterState::Closed,
        }
    }

    /// Whether a process holds the writer's lock. Start times differ between time namespaces, and change when a process is
    /// restored from a checkpoint; a lock is held wherever its holder is seen from. False where the file cannot be opened.
    fn is_writer_locked(&self) -> bool {
        self.lock.as_deref().is_some_and(|lock| lease::is_taken(lock, Role::Writer))
    }

    /// Index of a seat's cursor line.
    #[inline(always)]
    pub(crate) fn cursor(&self, seat: u32) -> usize {
        at::CURSORS + seat as usize * layout::LINE_WORDS
    }

    pub(crate) fn has_reader(&self, bitmap: usize, seat: u32) -> bool {
        self.load(bitmap + seat as usize / 64) & 1 << (seat % 64) != 0
    }

    /// Adds a seat to one of the bitmaps. Sequentially consistent: `SYNC: join`.
    pub(crate) fn add_reader(&self, bitmap: usize, seat: u32) {
        self.word(bitmap + seat as usize / 64).fetch_or(1 << (seat % 64), Ordering::SeqCst);
        fence(Ordering::SeqCst);
    }

    pub(crate) fn remove_reader(&self, bitmap: usize, seat: u32) {
        self.word(bitmap + seat as usize / 64).fetch_and(!(1 << (seat % 64)), Ordering::SeqCst);
    }

    /// Seats in a bitmap, ascending.
    pub(crate) fn readers(&self, bitmap: usize) -> impl Iterator<Item = u32> + '_ {
        (0..self.row_words).flat_map(move |index| {
            Bits(self.word(bitmap + index).load(Ordering::Acquire)).map(move |bit| index as u32 * 64 + bit)
        })
    }

    /// Position of the slowest gated reader; `u64::MAX` when there are none. SYNC: gate, SYNC: join.
    pub(crate) fn slowest_gated(&self) -> u64 {
        self.gated_positions().map(|(_, position)| position).min().unwrap_or(u64::MAX)
    }

    /// Position of each gated reader, by its seat. SYNC: gate, SYNC: join.
    pub(crate) fn gated_positions(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.readers(at::GATED)
            .map(|seat| (seat, self.word(self.cursor(seat) + at::CURSOR_POSITION).load(Ordering::Acquire)))
    }

    /// First position that the writer must not overwrite: the slowest gated reader's, or an earlier one from which a
    /// reader keeps frames that it has read. SYNC: gate, SYNC: join.
    pub(crate) fn needed_from(&self) -> u64 {
        self.readers(at::GATED).map(|seat| self.needed_by(seat)).min().unwrap_or(u64::MAX)
    }

    /// First position that the gated reader in `seat` needs.
    pub(crate) fn needed_by(&self, seat: u32) -> u64 {
        let cursor = self.cursor(seat);
        let position = self.word(cursor + at::CURSOR_POSITION).load(Ordering::Acquire);
        // It was set before the position moved, so a thread that sees the new position sees this too. (By itself
        // this load could be Relaxed: the writer's full fence between its look at the gate and its first byte
        // acquires what was seen here, and the models of `kept` pass. With a Relaxed position they fail.)
        match self.word(cursor + at::CURSOR_KEPT).load(Ordering::Acquire) {
            0 => position,
            kept => kept.min(position),
        }
    }

    /// Up to where the gated reader in `seat` has finished with the frames.
    pub(crate) fn finished_by(&self, seat: u32) -> u64 {
        let needed = self.needed_by(seat);
        match self.load(self.cursor(seat) + at::CURSOR_OWED) {
            0 => needed,
            owed => owed.min(needed),
        }
    }

    /// End of what is on disk, according to all readers that write there; `None` when no reader does.
    pub(crate) fn durable(&self) -> Option<u64> {
        // SYNC: durable.
        let kept = |seat| self.word(self.cursor(seat) + at::CURSOR_KEPT).load(Ordering::Acquire);
        self.readers(at::DURABLE).map(kept).min()
    }

    /// The seats that wait until more is on disk, by words of 64.
    pub(crate) fn durable_waiters(&self) -> impl Iterator<Item = (u32, &AtomicU64)> + '_ {
        (0..self.row_words).map(|index| (index as u32 * 64, self.word(at::DURABLE_WAITERS + index)))
    }

    /// Leaves a mark at `position`, where a frame starts, unless its step has one.
    pub(crate) fn leave_mark(&self, position: u64) {
        let capacity = self.shape.capacity;
        let word = self.word(at::MARKS + layout::mark_slot(position, capacity));
        let step = |position| layout::mark_number(position, capacity);
        if step(word.load(Ordering::Relaxed)) != step(position) {
            word.store(position, Ordering::Release);
        }
    }

    /// The positions at which, by the writer's marks, frames of the last ring start. Not in order.
    pub(crate) fn marks(&self) -> impl Iterator<Item = u64> + '_ {
        (at::MARKS..at::MARKS + at::MARK_COUNT)
            .map(|index| self.word(index).load(Ordering::Acquire))
            .filter(|mark| *mark >= self.first && mark.is_multiple_of(layout::LINE_BYTES))
    }

    /// The starts of the frames from which on gated readers need them: a cursor stands at the start of one, and so does what is
    /// kept. Not in order.
    pub(crate) fn needed(&self) -> impl Iterator<Item = u64> + '_ {
        let durable: Vec<u32> = self.readers(at::DURABLE).collect();
        let start = move |seat: u32| match durable.contains(&seat) {
            // What it keeps says what is on disk.
            true => self.word(self.cursor(seat) + at::CURSOR_POSITION).load(Ordering::Acquire),
            false => self.needed_by(seat),
        };
        self.readers(at::GATED).map(start).map(|needed| needed - needed % layout::LINE_BYTES)
    }

    pub(crate) fn reader_views(&self) -> Vec<ReaderView> {
        let view =
            |gated: bool, bitmap: usize| self.readers(bitmap).map(move |seat| self.reader_view(seat, gated));
        let mut views: Vec<ReaderView> = view(true, at::GATED).chain(view(false, at::LOOSE)).collect();
        views.sort_by_key(|view| view.seat);
        views
    }

    pub(crate) fn reader_view(&self, seat: u32, gated: bool) -> ReaderView {
        let word = |offset: usize| self.load(self.cursor(seat) + offset);
        ReaderView {
            seat,
            gated,
            position: word(at::CURSOR_POSITION),
            holds: gated.then(|| self.needed_by(seat)),
            durable: self.has_reader(at::DURABLE, seat),
            lost: word(at::CURSOR_LOST),
            gaps: word(at::CURSOR_GAPS),
            frames: word(at::CURSOR_FRAMES),
        }
    }

    /// The seats that lost bytes since the journal was created, including those without a reader now.
    pub(crate) fn losers(&self) -> impl Iterator<Item = ReaderView> + '_ {
        let view = |seat| self.reader_view(seat, self.has_reader(at::GATED, seat));
        (0..self.shape.seats).map(view).filter(|view| view.gaps > 0)
    }

    /// Frames by class.
    pub(crate) fn tally(&self) -> [u64; at::CLASSES] {
        // SYNC: tally.
        std::array::from_fn(|class| self.word(at::TALLY + class).load(Ordering::Acquire))
    }

    /// The seats that want `topic`, by words of 64. The topic must exist.
    #[inline(always)]
    pub(crate) fn interest(&self, topic: u32) -> impl Iterator<Item = (u32, &AtomicU64)> + '_ {
        let row = self.interest_start + topic as usize * self.row_words;
        (0..self.row_words).map(move |index| (index as u32 * 64, self.region.word(row + index)))
    }

    pub(crate) fn set_interest(&self, topic: u32, seat: u32, wanted: bool) {
        let row = self.interest_start + topic as usize * self.row_words;
        let word = self.region.word(row + seat as usize / 64);
        let bit = 1 << (seat % 64);
        if wanted {
            word.fetch_or(bit, Ordering::SeqCst);
        } else {
            word.fetch_and(!bit, Ordering::SeqCst);
        }
    }
}

/// The set bits of a word, ascending.
pub(crate) struct Bits(pub(crate) u64);

impl Iterator for Bits {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

/// Refuses files of other programs, and of older or newer formats.
pub(crate) fn check_format(
    word: &impl Fn(usize) -> u64,
    magic: u64,
    what: &'static str,
    path: &Path,
) -> Result<(), OpenError> {
    if word(at::MAGIC) != magic {
        return Err(OpenError::Foreign { path: path.to_owned(), what, found: word(at::MAGIC) });
    }
    let (found, found_layout) = (word(at::VERSION) as u32, word(at::LAYOUT_HASH));
    let (expected, expected_layout) = (layout::FORMAT_VERSION, layout::layout_hash());
    if found != expected || found_layout != expected_layout {
        let path = path.to_owned();
        return Err(OpenError::Version { path, found, expected, found_layout, expected_layout });
    }
    Ok(())
}

/// Writes a name of up to 63 bytes into eight words.
pub(crate) fn store_name(region: &Region, first: usize, name: &str) {
    let mut bytes = [0; layout::MAX_NAME + 1];
    let length = name.len().min(layout::MAX_NAME);
    bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
    for (index, chunk) in bytes.as_chunks::<8>().0.iter().enumerate() {
        region.word(first + index).store(u64::from_le_bytes(*chunk), Ordering::Relaxed);
    }
}

/// Reads a name; `None` when it is not UTF-8.
pub(crate) fn load_name(region: &Region, first: usize) -> Option<String> {
    let mut bytes = Vec::with_capacity(layout::MAX_NAME + 1);
    for index in 0..8 {
        bytes.extend(region.word(first + index).load(Ordering::Relaxed).to_le_bytes());
    }
    let length = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    bytes.truncate(length);
    String::from_utf8(bytes).ok()
}
