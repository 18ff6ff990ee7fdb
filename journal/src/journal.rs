//! A journal as a pair of files: making it, opening it, and what can be had from it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::clock::Clock;
use crate::control::{Control, JournalShape, ReaderView, WriterState};
use crate::error::{CreateError, OpenError};
use crate::layout::{self, WORD_BYTES, control as at};
use crate::memory::{Access, heap, map, mirror, reserve};
use crate::process::ProcessIdentity;
use crate::reader::{GatedReader, LooseReader};
use crate::ring::Ring;
use crate::sync::Ordering;
use crate::writer::Writer;

/// Where a journal's two files are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalFiles {
    /// `NAME.ctl`: header, cursors, interest.
    pub control: PathBuf,
    /// `NAME.ring`: the frames; on a huge-page file system if the journal uses such pages.
    pub ring: PathBuf,
}

impl JournalFiles {
    /// Both files of `name`, the control file in `control_directory` and the ring in `ring_directory`.
    pub fn new(control_directory: &Path, ring_directory: &Path, name: &str) -> JournalFiles {
        JournalFiles {
            control: control_directory.join(format!("{name}.ctl")),
            ring: ring_directory.join(format!("{name}.ring")),
        }
    }

    /// Removes both files; processes that have them mapped keep the memory. Files that are gone already are fine.
    ///
    /// # Errors
    /// The first refusal of the system.
    pub fn remove(&self) -> io::Result<()> {
        for path in [&self.control, &self.ring] {
            match std::fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// One journal, opened by this process.
///
/// Holding it costs one mapping of the control page; the ring is mapped by each writer and reader.
#[derive(Debug)]
pub struct Journal {
    control: Arc<Control>,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Files { files: JournalFiles, writable: bool },
    Memory(Arc<Ring>),
}

/// What a journal's control page says at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalStat {
    /// What it is.
    pub shape: JournalShape,
    /// End of the committed frames.
    pub head: u64,
    /// Frames committed since it was made.
    pub frames: u64,
    /// Time of the last one, nanoseconds since the epoch; zero before the first.
    pub last_time: u64,
    /// Bytes before this position may be overwritten or gone.
    pub oldest: u64,
    /// Times that the writer found it full.
    pub full: u64,
    /// Wake-ups sent.
    pub wakes: u64,
    /// Who writes.
    pub writer: WriterState,
    /// How many writers there were.
    pub epoch: u64,
    /// When it was made, nanoseconds since the epoch.
    pub created: u64,
    /// Its readers by seat.
    pub readers: Vec<ReaderView>,
}

impl Journal {
    /// Makes the files, takes all of their memory, and only then lets them be seen.
    ///
    /// # Errors
    /// [`CreateError`]; what was made so far is removed.
    pub fn create(files: JournalFiles, shape: JournalShape, created: u64) -> Result<Journal, CreateError> {
        if let Some(what) = shape.problem() {
            return Err(CreateError::Invalid { name: shape.name.clone(), what });
        }
        let temporary = JournalFiles {
            control: files.control.with_extension("ctl.new"),
            ring: files.ring.with_extension("ring.new"),
        };
        let made = make_files(&temporary, &files, shape, created);
        if made.is_err() {
            // The error that matters is the first one.
            let _ = temporary.remove();
        }
        made
    }

    /// Opens a journal to write or to read with a seat.
    ///
    /// # Errors
    /// [`OpenError`]: missing, forbidden, foreign, of another version, damaged.
    pub fn open(files: JournalFiles) -> Result<Journal, OpenError> {
        Journal::open_with(files, Access::ReadWrite)
    }

    /// Opens a journal to look at it only: nothing in shared memory changes by it.
    ///
    /// # Errors
    /// As [`Journal::open`].
    pub fn open_read_only(files: JournalFiles) -> Result<Journal, OpenError> {
        Journal::open_with(files, Access::Read)
    }

    fn open_with(files: JournalFiles, access: Access) -> Result<Journal, OpenError> {
        let (file, bytes) = open_file(&files.control, access)?;
        let region = map(&file, bytes, access).map_err(io_error("map", &files.control))?;
        let control = Arc::new(Control::check(region, &files.control)?);
        Ok(Journal { control, source: Source::Files { files, writable: access == Access::ReadWrite } })
    }

    /// A journal in the plain memory of this process: for tests and models.
    ///
    /// # Errors
    /// [`CreateError::Invalid`].
    pub fn in_memory(shape: JournalShape) -> Result<Journal, CreateError> {
        if let Some(what) = shape.problem() {
            return Err(CreateError::Invalid { name: shape.name.clone(), what });
        }
        Ok(Journal::on_heap(shape))
    }

    /// As [`Journal::in_memory`], without the check of sizes: models need rings of a few lines.
    pub(crate) fn on_heap(shape: JournalShape) -> Journal {
        let ring = Ring::new(heap(shape.capacity as usize / WORD_BYTES), shape.capacity);
        let words = layout::control_bytes(shape.seats, shape.topics) as usize / WORD_BYTES;
        let control = Arc::new(Control::initialise(heap(words), shape, 0));
        Journal { control, source: Source::Memory(Arc::new(ring)) }
    }

    fn ring(&self, access: Access) -> Result<Arc<Ring>, OpenError> {
        let files = match &self.source {
            Source::Memory(ring) => return Ok(Arc::clone(ring)),
            Source::Files { files, .. } => files,
        };
        let shape = self.shape();
        let (file, bytes) = open_file(&files.ring, access)?;
        if bytes != shape.capacity {
            let what = format!("its control file says {} bytes, the ring has {bytes}", shape.capacity);
            return Err(OpenError::Damaged { path: files.ring.clone(), what });
        }
        let region = mirror(&file, bytes, shape.page, access).map_err(io_error("map", &files.ring))?;
        Ok(Arc::new(Ring::new(region, shape.capacity)))
    }

    fn path(&self) -> PathBuf {
        match &self.source {
            Source::Files { files, .. } => files.control.clone(),
            Source::Memory(_) => PathBuf::from(&self.shape().name),
        }
    }

    fn writable(&self) -> Result<(), OpenError> {
        match &self.source {
            Source::Files { files, writable: false } => Err(OpenError::Io {
                action: "write to",
                path: files.control.clone(),
                source: io::Error::new(io::ErrorKind::PermissionDenied, "opened read-only"),
            }),
            _ => Ok(()),
        }
    }

    fn check_seat(&self, seat: u32) -> Result<(), OpenError> {
        let shape = self.shape();
        if seat < shape.seats {
            return Ok(());
        }
        Err(OpenError::NoSuchSeat { name: shape.name.clone(), seat, seats: shape.seats })
    }

    /// Becomes the journal's writer. What a dead one left unfinished does not exist; positions go on behind its last
    /// committed frame.
    ///
    /// # Errors
    /// [`OpenError::WriterExists`] while another process writes it; others as [`Journal::open`].
    pub fn writer(&self, seat: u32, clock: Clock) -> Result<Writer, OpenError> {
        self.writable()?;
        self.check_seat(seat)?;
        let path = self.path();
        let lock = match &self.source {
            Source::Memory(_) => None,
            Source::Files { files, .. } => Some(self.lock(files)?),
        };
        let ring = self.ring(Access::ReadWrite)?;
        let damaged = move |what| OpenError::Damaged { path: path.clone(), what };
        Writer::attach(ring, Arc::clone(&self.control), clock, seat, lock, damaged)
    }

    fn lock(&self, files: &JournalFiles) -> Result<File, OpenError> {
        let (file, _) = open_file(&files.control, Access::ReadWrite)?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(OpenError::WriterExists {
                name: self.shape().name.clone(),
                pid: self.control.load(at::WRITER) as u32,
            }),
            Err(TryLockError::Error(source)) => {
                Err(OpenError::Io { action: "lock", path: files.control.clone(), source })
            }
        }
    }

    /// Gives `seat` a gated cursor at the journal's beginning before its reader exists, so that nothing is lost
    /// however late it starts. A cursor that is there already stays as it is.
    ///
    /// # Errors
    /// [`OpenError::NoSuchSeat`], or opened read-only.
    pub fn admit_gated(&self, seat: u32) -> Result<(), OpenError> {
        self.writable()?;
        self.check_seat(seat)?;
        if !self.control.has_reader(at::GATED, seat) {
            let first = layout::first_position(self.shape().capacity);
            self.start_cursor(seat, first);
            self.control.add_reader(at::GATED, seat);
        }
        Ok(())
    }

    fn start_cursor(&self, seat: u32, position: u64) {
        let cursor = self.control.cursor(seat);
        for (offset, value) in [
            (at::CURSOR_POSITION, position),
            (at::CURSOR_LOST, 0),
            (at::CURSOR_GAPS, 0),
            (at::CURSOR_FRAMES, 0),
        ] {
            self.control.word(cursor + offset).store(value, Ordering::Release);
        }
    }

    /// Takes a seat's cursor and interest away: the writer no longer waits for it, nor wakes it.
    ///
    /// # Errors
    /// As [`Journal::admit_gated`].
    pub fn dismiss(&self, seat: u32) -> Result<(), OpenError> {
        self.writable()?;
        self.check_seat(seat)?;
        for topic in 0..self.shape().topics {
            self.control.set_interest(topic, seat, false);
        }
        self.control.remove_reader(at::GATED, seat);
        self.control.remove_reader(at::LOOSE, seat);
        Ok(())
    }

    /// Reads as `seat`, which the writer waits for: from the seat's cursor if it has one, else from the head.
    ///
    /// # Errors
    /// As [`Journal::open`].
    pub fn gated(&self, seat: u32) -> Result<GatedReader, OpenError> {
        self.writable()?;
        self.check_seat(seat)?;
        let ring = self.ring(Access::Read)?;
        let position_word = self.control.word(self.control.cursor(seat) + at::CURSOR_POSITION);
        let position = if self.control.has_reader(at::GATED, seat) {
            position_word.load(Ordering::Acquire)
        } else {
            // SYNC: join. The writer may have declared more before it could see our bit; then join again, later.
            loop {
                let head = self.control.head();
                self.start_cursor(seat, head);
                self.control.add_reader(at::GATED, seat);
                if self.control.word(at::INTENT).load(Ordering::SeqCst) <= head + ring.capacity() {
                    break head;
                }
            }
        };
        Ok(GatedReader::new(ring, Arc::clone(&self.control), seat, position))
    }

    /// Reads as `seat` from the head on, without holding the writer up.
    ///
    /// # Errors
    /// As [`Journal::open`].
    pub fn loose(&self, seat: u32) -> Result<LooseReader, OpenError> {
        self.loose_at(seat, self.control.head())
    }

    /// Reads as `seat` from a position that is known to start a frame.
    ///
    /// # Errors
    /// As [`Journal::open`].
    pub fn loose_at(&self, seat: u32, position: u64) -> Result<LooseReader, OpenError> {
        self.writable()?;
        self.check_seat(seat)?;
        self.start_cursor(seat, position);
        self.control.add_reader(at::LOOSE, seat);
        Ok(LooseReader::new(self.ring(Access::Read)?, Arc::clone(&self.control), Some(seat), position))
    }

    /// Looks on from a position that is known to start a frame, unseen by everybody.
    ///
    /// # Errors
    /// As [`Journal::open`].
    pub fn observe(&self, position: u64) -> Result<LooseReader, OpenError> {
        Ok(LooseReader::new(self.ring(Access::Read)?, Arc::clone(&self.control), None, position))
    }

    /// Looks on from the first frame ever written. If it is gone, the first answer is the gap.
    ///
    /// # Errors
    /// As [`Journal::open`].
    pub fn loose_from_start(&self) -> Result<LooseReader, OpenError> {
        self.observe(layout::first_position(self.shape().capacity))
    }

    /// Position of the journal's first frame.
    pub fn first_position(&self) -> u64 {
        layout::first_position(self.shape().capacity)
    }

    /// Says that `seat` wants to be woken for these topics; `None`: for all.
    ///
    /// Call [`announce`](crate::announce) once after all interest is set and before the first sleep.
    ///
    /// # Errors
    /// As [`Journal::admit_gated`].
    pub fn set_interest(&self, seat: u32, topics: Option<&[u32]>) -> Result<(), OpenError> {
        self.writable()?;
        self.check_seat(seat)?;
        for topic in 0..self.shape().topics {
            let wanted = topics.is_none_or(|topics| topics.contains(&topic));
            self.control.set_interest(topic, seat, wanted);
        }
        Ok(())
    }

    /// What it is.
    pub fn shape(&self) -> &JournalShape {
        self.control.shape()
    }

    /// End of the committed frames.
    pub fn head(&self) -> u64 {
        self.control.head()
    }

    /// True when every gated reader stands at the head.
    pub fn is_drained(&self) -> bool {
        let slowest = self.control.slowest_gated();
        slowest >= self.control.head()
    }

    /// Everything that the control page says.
    pub fn stat(&self) -> JournalStat {
        let shape = self.shape().clone();
        let oldest =
            self.control.intent().saturating_sub(shape.capacity).max(layout::first_position(shape.capacity));
        JournalStat {
            oldest,
            head: self.control.head(),
            frames: self.control.load(at::FRAMES),
            last_time: self.control.load(at::LAST_TIME),
            full: self.control.load(at::FULL),
            wakes: self.control.load(at::WAKES),
            writer: self.control.writer_state(),
            epoch: self.control.load(at::EPOCH),
            created: self.control.load(at::CREATED),
            readers: self.control.reader_views(),
            shape,
        }
    }

    /// The process that writes it now, if one does.
    pub fn writer_process(&self) -> Option<ProcessIdentity> {
        match self.control.writer_state() {
            WriterState::Attached(process) => Some(process),
            _ => None,
        }
    }
}

fn io_error<'a>(action: &'static str, path: &'a Path) -> impl Fn(io::Error) -> OpenError + 'a {
    move |source| OpenError::Io { action, path: path.to_owned(), source }
}

fn open_file(path: &Path, access: Access) -> Result<(File, u64), OpenError> {
    let file = OpenOptions::new()
        .read(true)
        .write(access == Access::ReadWrite)
        .open(path)
        .map_err(io_error("open", path))?;
    let bytes = file.metadata().map_err(io_error("read the size of", path))?.len();
    if bytes == 0 {
        return Err(OpenError::Damaged { path: path.to_owned(), what: "it is empty".to_owned() });
    }
    Ok((file, bytes))
}

fn make_files(
    temporary: &JournalFiles,
    last: &JournalFiles,
    shape: JournalShape,
    created: u64,
) -> Result<Journal, CreateError> {
    let create = |path: &Path, mode: u32, bytes: u64| {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .mode(mode)
            .open(path)
            .map_err(|source| CreateError::Io { action: "create", path: path.to_owned(), source })?;
        reserve(&file, bytes).map_err(|source| CreateError::NoSpace {
            path: path.to_owned(),
            bytes,
            source,
        })?;
        Ok(file)
    };
    let failed = |action: &'static str, path: &Path| {
        let path = path.to_owned();
        move |source| CreateError::Io { action, path, source }
    };
    let ring_file = create(&temporary.ring, 0o640, shape.capacity)?;
    // Populated through a writable mapping: the pages exist and are zero from here on.
    mirror(&ring_file, shape.capacity, shape.page, Access::ReadWrite)
        .map_err(failed("map", &temporary.ring))?;
    let bytes = layout::control_bytes(shape.seats, shape.topics);
    let control_file = create(&temporary.control, 0o660, bytes)?;
    let region = map(&control_file, bytes, Access::ReadWrite).map_err(failed("map", &temporary.control))?;
    let control = Arc::new(Control::initialise(region, shape, created));
    // The ring first: whoever sees the control file finds the ring.
    std::fs::rename(&temporary.ring, &last.ring).map_err(failed("rename into place", &last.ring))?;
    std::fs::rename(&temporary.control, &last.control).map_err(failed("rename into place", &last.control))?;
    Ok(Journal { control, source: Source::Files { files: last.clone(), writable: true } })
}
