//! A journal: creating it, opening it, and its writer and readers.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::clock::Clock;
use crate::error::{CreateError, OpenError};
use crate::files::control::{Control, JournalShape, Origin};
use crate::files::lease::{self, Lease, Role, RoleTable, identity_of};
use crate::files::{JournalFiles, map_file, named_identity, open_file};
use crate::fork::{Forked, Opener, OwnFile};
use crate::layout::{self, WORD_BYTES, control as at};
use crate::memory::{Access, collapse, heap, map_on_access, mirror};
use crate::process::ProcessIdentity;
use crate::ring::bytes::Ring;
use crate::ring::reader::{GatedReader, LooseReader};
use crate::ring::tail::Tail;
use crate::ring::writer::Writer;
use crate::sync::Ordering;

/// One journal, opened by this process.
///
/// Holding it costs one mapping of the control page; the ring is mapped by each writer and reader.
#[derive(Debug)]
pub struct Journal {
    pub(crate) control: Arc<Control>,
    source: Source,
    pub(crate) opener: Opener,
}

#[derive(Debug)]
enum Source {
    Files { files: JournalFiles, writable: bool },
    Memory { ring: Ring, roles: RoleTable },
}

impl Journal {
    /// Creates the files, reserves all of their memory, and only then makes them visible.
    ///
    /// # Errors
    /// [`CreateError`]; files created so far are removed. [`CreateError::Invalid`] when a property is out of its range, or
    /// the files are not named after the journal.
    pub fn create(files: JournalFiles, shape: JournalShape, created: u64) -> Result<Journal, CreateError> {
        Journal::create_from(files, shape, Origin::new(created))
    }

    /// As [`Journal::create`], from a given position on: a journal that is made again after the host went down continues
    /// the positions of the one before it.
    ///
    /// ```
    /// # use journal::{Clock, Journal, JournalFiles, JournalShape, Origin};
    /// # let directory = tempfile::tempdir()?;
    /// # let files = JournalFiles::new(directory.path(), directory.path(), "t");
    /// # let shape = JournalShape { id: 1, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
    /// let before = Journal::create(files.clone(), shape.clone(), 1)?;
    /// before.writer(0, Clock::monotonic())?.write(7, 3, b"news")?;
    /// let stat = before.stat();
    /// let origin = Origin { first_position: stat.head, incarnation: stat.incarnation + 1, ..Origin::new(2) };
    /// let journal = Journal::create_from(files, shape, origin)?;
    /// let written = journal.writer(0, Clock::monotonic())?.write(7, 3, b"more")?;
    /// assert_eq!(written.position, stat.head);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A position before the ring's capacity becomes the capacity: a larger ring than before leaves a gap there. Read
    /// [`Journal::first_position`] of the result.
    ///
    /// # Errors
    /// As [`Journal::create`]; [`CreateError::Invalid`] for a position that no frame can start at.
    pub fn create_from(
        files: JournalFiles,
        shape: JournalShape,
        origin: Origin,
    ) -> Result<Journal, CreateError> {
        let first = origin.first_position;
        if origin.incarnation == 0 {
            let what = "an incarnation of 0: the first is 1".to_owned();
            return Err(CreateError::Invalid { name: shape.name.clone(), what });
        }
        if !first.is_multiple_of(layout::LINE_BYTES) || first >= layout::MAX_POSITION {
            let what =
                format!("no frame starts at position {first}: positions are multiples of 64 below 2^63");
            return Err(CreateError::Invalid { name: shape.name.clone(), what });
        }
        if let Some(what) = shape.problem() {
            return Err(CreateError::Invalid { name: shape.name.clone(), what });
        }
        if !files.is_named(&shape.name) {
            let name = shape.name;
            let what = format!(
                "its files must be {name}.ctl and {name}.ring, not {} and {}",
                files.control.display(),
                files.ring.display()
            );
            return Err(CreateError::Invalid { name, what });
        }
        let control = Arc::new(files.create(shape, origin)?);
        Ok(Journal::with(control, Source::Files { files, writable: true }))
    }

    /// Asks the kernel to move a ring of small pages onto transparent huge pages. They are no guarantee: the kernel may
    /// split them again when memory gets short.
    ///
    /// # Errors
    /// The ring stays usable, on small pages or on both kinds: `EINVAL` where the kernel does not support this (before
    /// 6.1, or `shmem_enabled` is `deny`), `ENOMEM` or `EAGAIN` where it finds no huge page.
    pub fn make_transparent_huge(&self) -> io::Result<()> {
        let Source::Files { files, .. } = &self.source else { return Err(io::ErrorKind::Unsupported.into()) };
        let file = self.ring_file(files, Access::ReadWrite).map_err(io::Error::other)?;
        let shape = self.shape();
        collapse(&mirror(&file, shape.capacity, shape.page, Access::ReadWrite)?)
    }

    /// Opens a journal to write or to read with a seat.
    ///
    /// # Errors
    /// [`OpenError`]: missing, forbidden, foreign, of another version, damaged.
    pub fn open(files: JournalFiles) -> Result<Journal, OpenError> {
        Journal::open_with(files, Access::ReadWrite)
    }

    /// Opens a journal for observation only: shared memory is never changed through it.
    ///
    /// # Errors
    /// As [`Journal::open`].
    pub fn open_read_only(files: JournalFiles) -> Result<Journal, OpenError> {
        Journal::open_with(files, Access::Read)
    }

    fn open_with(files: JournalFiles, access: Access) -> Result<Journal, OpenError> {
        let (region, _) = map_file(&files.control, access)?;
        let control = Arc::new(Control::check(region, &files.control)?);
        Ok(Journal::with(control, Source::Files { files, writable: access == Access::ReadWrite }))
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

    /// As [`Journal::in_memory`], without the check of sizes: models need rings of a few lines and tables of a few
    /// seats.
    pub(crate) fn on_heap(shape: JournalShape) -> Journal {
        let ring = Ring::new(heap(shape.capacity as usize / WORD_BYTES), shape.capacity);
        let page = heap(layout::control_words(shape.seats, shape.topics));
        let control = Control::initialise(page, shape, Origin::new(0), 0);
        let source = Source::Memory { ring, roles: RoleTable::default() };
        Journal::with(Arc::new(control), source)
    }

    fn with(control: Arc<Control>, source: Source) -> Journal {
        Journal { control, source, opener: Opener::current() }
    }

    pub(crate) fn ring(&self, access: Access) -> Result<Ring, OpenError> {
        self.opener.check()?;
        let files = match &self.source {
            Source::Memory { ring, .. } => return Ok(ring.clone()),
            Source::Files { files, .. } => files,
        };
        let shape = self.shape();
        let file = self.ring_file(files, access)?;
        let region =
            mirror(&file, shape.capacity, shape.page, access).map_err(refused("map", &files.ring))?;
        Ok(Ring::new(region, shape.capacity))
    }

    /// The ring mapped once, and only the pages that are touched: for one who fills it and goes, or looks at a line of it.
    fn ring_once(&self, access: Access) -> Result<Ring, OpenError> {
        self.opener.check()?;
        let files = match &self.source {
            Source::Memory { ring, .. } => return Ok(ring.clone()),
            Source::Files { files, .. } => files,
        };
        let capacity = self.shape().capacity;
        let file = self.ring_file(files, access)?;
        let region = map_on_access(&file, capacity, access).map_err(refused("map", &files.ring))?;
        Ok(Ring::new(region, capacity))
    }

    /// Opens the ring that belongs to our control page, and no other one of its name.
    fn ring_file(&self, files: &JournalFiles, access: Access) -> Result<File, OpenError> {
        let (file, bytes) = open_file(&files.ring, access)?;
        // A creator removes the old control file before it touches the ring. So while our page still has its name, the
        // ring that was opened before this look is ours.
        if named_identity(&files.control)? != Some(self.control.identity()) {
            return Err(OpenError::Replaced { path: files.control.clone() });
        }
        let capacity = self.shape().capacity;
        if bytes != capacity {
            let what = format!("its control file says {capacity} bytes, the ring has {bytes}");
            return Err(OpenError::Damaged { path: files.ring.clone(), what });
        }
        Ok(file)
    }

    /// Its files; `None` for a journal in memory.
    pub(crate) fn files(&self) -> Option<&JournalFiles> {
        match &self.source {
            Source::Files { files, .. } => Some(files),
            Source::Memory { .. } => None,
        }
    }

    fn path(&self) -> PathBuf {
        match &self.source {
            Source::Files { files, .. } => files.control.clone(),
            Source::Memory { .. } => PathBuf::from(&self.shape().name),
        }
    }

    pub(crate) fn damaged(&self, what: String) -> OpenError {
        OpenError::Damaged { path: self.path(), what }
    }

    fn writable(&self) -> Result<(), OpenError> {
        self.opener.check()?;
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
        self.writable()?;
        let shape = self.shape();
        if seat < shape.seats {
            return Ok(());
        }
        Err(OpenError::NoSuchSeat { name: shape.name.clone(), seat, seats: shape.seats })
    }

    fn lease(&self, role: Role) -> Result<Lease, OpenError> {
        self.opener.check()?;
        let lease = match &self.source {
            Source::Memory { roles, .. } => Lease::of_memory(roles, role),
            Source::Files { files, .. } => {
                let path = files.lock();
                let file = OwnFile::open(|| open_file(&path, Access::ReadWrite).map(|(file, _)| file))?;
                let identity = identity_of(&file).map_err(refused("read", &path))?;
                if identity != Some(self.control.identity()) {
                    return Err(OpenError::Replaced { path });
                }
                Lease::of_file(file, role).map_err(refused("lock", &path))?
            }
        };
        let name = || self.shape().name.clone();
        lease.ok_or_else(|| match role {
            Role::Writer => OpenError::WriterExists { name: name(), pid: self.writing_process() },
            Role::Seat(seat) => OpenError::SeatTaken { name: name(), seat },
        })
    }

    /// The process that holds the writer's lock; 0 where it is not seen from here. The control page names the process that
    /// took the lock, but a fork of it may hold the lock by now.
    fn writing_process(&self) -> u32 {
        let named = self.control.writer_state().process().filter(ProcessIdentity::is_alive);
        let found = || self.files().and_then(|files| lease::holder(&files.lock(), Role::Writer));
        named.map(|process| process.pid).or_else(found).unwrap_or(0)
    }

    /// Becomes the journal's writer. Frames that a dead predecessor did not commit do not exist; positions continue
    /// behind its last committed frame.
    ///
    /// # Errors
    /// [`OpenError::WriterExists`] while another writes it, [`OpenError::Damaged`] when its end cannot be found;
    /// others as [`Journal::open`].
    pub fn writer(&self, seat: u32, clock: Clock) -> Result<Writer, OpenError> {
        self.check_seat(seat)?;
        let lease = self.lease(Role::Writer)?;
        let ring = self.ring(Access::ReadWrite)?;
        Writer::attach(ring, Arc::clone(&self.control), clock, seat, lease, |what| self.damaged(what))
    }

    /// As [`Journal::writer`], to fill a journal that was made again ([`Writer::restore`]): its ring is mapped once only.
    ///
    /// # Errors
    /// As [`Journal::writer`].
    pub fn restoring_writer(&self, clock: Clock) -> Result<Writer, OpenError> {
        let lease = self.lease(Role::Writer)?;
        let ring = self.ring_once(Access::ReadWrite)?;
        Writer::attach(ring, Arc::clone(&self.control), clock, 0, lease, |what| self.damaged(what))
    }

    /// Refuses a process that is a fork of the one that opened the journal: what it sees of it is empty.
    ///
    /// # Errors
    /// [`Forked`].
    pub fn check_process(&self) -> Result<(), Forked> {
        self.opener.check()
    }

    /// Watches whether gated readers have handled everything that any reader can see.
    ///
    /// # Errors
    /// As [`Journal::open_read_only`]: the ring is mapped, but only the pages that are looked at are touched.
    pub fn tail(&self) -> Result<Tail, OpenError> {
        Ok(Tail { control: Arc::clone(&self.control), ring: self.ring_once(Access::Read)? })
    }

    /// Gives `seat` a gated cursor at the journal's beginning before its reader exists, so that the reader misses
    /// nothing, however late it starts. An existing cursor is kept, and a living gated reader is left alone.
    ///
    /// # Errors
    /// [`OpenError::NoSuchSeat`], [`OpenError::TooLate`] when the beginning is overwritten, [`OpenError::SeatTaken`]
    /// while a reader of another kind lives in the seat, or the journal is opened read-only.
    pub fn admit_gated(&self, seat: u32) -> Result<(), OpenError> {
        self.check_seat(seat)?;
        let _lease = match self.lease(Role::Seat(seat)) {
            Err(OpenError::SeatTaken { .. }) if self.control.has_reader(at::GATED, seat) => return Ok(()),
            lease => lease?,
        };
        if self.old_cursor(seat)?.is_some() || self.join(seat, self.first_position()) {
            return Ok(());
        }
        self.control.remove_reader(at::GATED, seat);
        Err(OpenError::TooLate { name: self.shape().name.clone(), seat })
    }

    /// Gives a seat a gated cursor at `position`. False when the writer had declared more before it could see the
    /// cursor: then bytes from `position` on may be overwritten.
    fn join(&self, seat: u32, position: u64) -> bool {
        self.start_cursor(seat, position);
        // SYNC: join.
        self.control.add_reader(at::GATED, seat);
        self.control.intent() <= position + self.shape().capacity
    }

    /// Gives a seat that has no reader a gated cursor where the writer has touched nothing.
    pub(crate) fn place_cursor(&self, seat: u32, position: u64, keeps: u64) -> Result<(), OpenError> {
        self.check_seat(seat)?;
        let _lease = self.lease(Role::Seat(seat))?;
        self.start_cursor(seat, position);
        self.control.word(self.control.cursor(seat) + at::CURSOR_KEPT).store(keeps, Ordering::Release);
        self.control.add_reader(at::GATED, seat);
        Ok(())
    }

    /// Keeps the counts of what the seat lost before.
    fn start_cursor(&self, seat: u32, position: u64) {
        let cursor = self.control.cursor(seat);
        let line = [
            (at::CURSOR_POSITION, position),
            (at::CURSOR_FRAMES, 0),
            (at::CURSOR_KEPT, 0),
            (at::CURSOR_OWED, 0),
        ];
        for (offset, value) in line {
            self.control.word(cursor + offset).store(value, Ordering::Release);
        }
    }

    /// Removes a seat's cursor and interest: the writer no longer waits for it or wakes it.
    ///
    /// # Errors
    /// [`OpenError::SeatTaken`] while its reader lives; [`OpenError::NoSuchSeat`], or the journal is opened read-only.
    pub fn dismiss(&self, seat: u32) -> Result<(), OpenError> {
        self.check_seat(seat)?;
        let _lease = self.lease(Role::Seat(seat))?;
        for topic in 0..self.shape().topics {
            self.control.set_interest(topic, seat, false);
        }
        for bitmap in [at::GATED, at::LOOSE, at::DURABLE, at::DURABLE_WAITERS] {
            self.control.remove_reader(bitmap, seat);
        }
        Ok(())
    }

    /// Reads as `seat` with a gated reader: from the seat's cursor if it has one, otherwise from the head.
    ///
    /// # Errors
    /// [`OpenError::SeatTaken`], [`OpenError::Damaged`] when the cursor is impossible; others as [`Journal::open`].
    pub fn gated(&self, seat: u32) -> Result<GatedReader, OpenError> {
        self.check_seat(seat)?;
        let lease = self.lease(Role::Seat(seat))?;
        let ring = self.ring(Access::Read)?;
        let position = match self.old_cursor(seat)? {
            Some(position) => position,
            None => self.join_at_head(seat)?,
        };
        Ok(GatedReader::new(ring, Arc::clone(&self.control), seat, position, lease))
    }

    /// Position at which the seat's last reader stopped; `None` when there was none, or it was killed before it joined.
    fn old_cursor(&self, seat: u32) -> Result<Option<u64>, OpenError> {
        if !self.control.has_reader(at::GATED, seat) {
            return Ok(None);
        }
        let cursor = self.control.cursor(seat) + at::CURSOR_POSITION;
        let position = self.control.word(cursor).load(Ordering::Acquire);
        let intent = self.control.intent();
        let possible = position.is_multiple_of(layout::LINE_BYTES)
            && (self.first_position()..=intent).contains(&position);
        if !possible || !self.control.is_plausible() {
            let what = format!("the cursor of seat {seat}, {position}, or the head is no possible position");
            return Err(self.damaged(what));
        }
        Ok((intent - position <= self.shape().capacity).then_some(position))
    }

    /// Joins at the head. Repeats once when the writer declared more meanwhile; after that the writer waits for this
    /// cursor.
    fn join_at_head(&self, seat: u32) -> Result<u64, OpenError> {
        self.control.remove_reader(at::LOOSE, seat);
        loop {
            if !self.control.is_plausible() {
                self.control.remove_reader(at::GATED, seat);
                return Err(self.damaged("head and intent do not belong together".to_owned()));
            }
            let head = self.control.head();
            if self.join(seat, head) {
                return Ok(head);
            }
        }
    }

    /// Reads as `seat` from the head on, without holding up the writer.
    ///
    /// # Errors
    /// As [`Journal::loose_at`].
    pub fn loose(&self, seat: u32) -> Result<LooseReader, OpenError> {
        self.loose_at(seat, self.control.head())
    }

    /// Reads as `seat` from a position that is known to start a frame; a gated cursor of the seat is given up.
    /// Positions before the journal's first frame mean that frame.
    ///
    /// # Errors
    /// [`OpenError::SeatTaken`], [`OpenError::NoSuchPosition`]; others as [`Journal::open`].
    pub fn loose_at(&self, seat: u32, position: u64) -> Result<LooseReader, OpenError> {
        self.check_seat(seat)?;
        let position = self.check_position(position)?;
        let lease = self.lease(Role::Seat(seat))?;
        let ring = self.ring(Access::Read)?;
        self.control.remove_reader(at::GATED, seat);
        self.start_cursor(seat, position);
        self.control.add_reader(at::LOOSE, seat);
        Ok(LooseReader::new(ring, Arc::clone(&self.control), Some((seat, lease)), position))
    }

    /// Observes from a position that is known to start a frame, without a seat. Positions before the journal's first
    /// frame mean that frame.
    ///
    /// # Errors
    /// [`OpenError::NoSuchPosition`]; others as [`Journal::open`].
    pub fn observe(&self, position: u64) -> Result<LooseReader, OpenError> {
        let position = self.check_position(position)?;
        Ok(LooseReader::new(self.ring(Access::Read)?, Arc::clone(&self.control), None, position))
    }

    fn check_position(&self, position: u64) -> Result<u64, OpenError> {
        self.opener.check()?;
        if !position.is_multiple_of(layout::LINE_BYTES) || position >= layout::MAX_POSITION {
            return Err(OpenError::NoSuchPosition { name: self.shape().name.clone(), position });
        }
        if !self.control.is_plausible() {
            return Err(self.damaged("head and intent do not belong together".to_owned()));
        }
        Ok(position.max(self.first_position()))
    }

    /// Observes from the first frame ever written. If it is overwritten, the first call of `read` returns the gap.
    ///
    /// # Errors
    /// As [`Journal::open`].
    pub fn loose_from_start(&self) -> Result<LooseReader, OpenError> {
        self.observe(self.first_position())
    }

    /// Position of the journal's first frame.
    pub fn first_position(&self) -> u64 {
        self.control.first_position()
    }

    /// Declares the topics for which `seat` wants to be woken; `None` means all.
    ///
    /// Call [`announce`](crate::wait::announce) once after all interest is set and before the first sleep.
    ///
    /// # Errors
    /// As [`Journal::admit_gated`].
    pub fn set_interest(&self, seat: u32, topics: Option<&[u32]>) -> Result<(), OpenError> {
        self.check_seat(seat)?;
        for topic in 0..self.shape().topics {
            let wanted = topics.is_none_or(|topics| topics.contains(&topic));
            self.control.set_interest(topic, seat, wanted);
        }
        Ok(())
    }

    /// Declares whether `seat` wants to be woken when more is on disk. Call [`announce`](crate::wait::announce) afterwards, as
    /// after [`Journal::set_interest`].
    ///
    /// # Errors
    /// As [`Journal::admit_gated`].
    pub fn set_durable_interest(&self, seat: u32, wanted: bool) -> Result<(), OpenError> {
        self.check_seat(seat)?;
        if wanted {
            self.control.add_reader(at::DURABLE_WAITERS, seat);
        } else {
            self.control.remove_reader(at::DURABLE_WAITERS, seat);
        }
        Ok(())
    }

    /// End of what is on disk, according to all readers that write there; `None` when no reader does.
    pub fn durable(&self) -> Option<u64> {
        self.control.durable()
    }

    /// The properties fixed at creation.
    pub fn shape(&self) -> &JournalShape {
        self.control.shape()
    }

    /// End of the committed frames.
    #[inline]
    pub fn head(&self) -> u64 {
        self.control.head()
    }
}

fn refused<'a>(action: &'static str, path: &'a std::path::Path) -> impl Fn(io::Error) -> OpenError + 'a {
    move |source| OpenError::Io { action, path: path.to_owned(), source }
}
