//! Writing a recording.

mod background;
mod batch;
pub(crate) mod compress;
mod medium;
mod retain;
mod segment;
mod synced;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

pub use background::Policy;
pub use batch::Batch;
pub use retain::{Keep, Retained, retain};
pub use segment::segment_name;

use background::Background;
use medium::{Disk, Files};
use segment::Segment;
use synced::Synced;

use journal::Clock;
use node::OwnLock;

use crate::format::{Description, FileHead, Kind};
use crate::read::{OpenError, Recording, note_newest};

/// Why nothing could be recorded.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The folder is another recorder's.
    #[error("{}: another recorder writes here", .0.display())]
    Taken(PathBuf),
    /// What is there cannot be continued.
    #[error("{}: {source}", .folder.display())]
    NotARecording {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: OpenError,
    },
    /// The disk has no room for a segment.
    #[error(
        "{}: {source}; a segment and the one prepared behind it take {need} bytes, {free} are free: make room, or record with a \
         smaller `segment`", .path.display()
    )]
    NoRoom {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
        /// Bytes that are needed.
        need: u64,
        /// Bytes that the file system has left for this user.
        free: u64,
    },
    /// The disk.
    #[error("{}: {source}", .path.display())]
    Disk {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl WriteError {
    /// True when the disk, or what this user may take of it, is full.
    pub fn is_full(&self) -> bool {
        use nix::errno::Errno;
        let full = [Errno::ENOSPC, Errno::EDQUOT, Errno::EFBIG].map(|errno| Some(errno as i32));
        matches!(self, WriteError::Disk { source, .. } | WriteError::NoRoom { source, .. }
            if full.contains(&source.raw_os_error()))
    }

    /// Why a segment of so many bytes could not be begun at `path`.
    fn of_segment(path: PathBuf, source: io::Error, bytes: u64) -> WriteError {
        match free(&path) {
            Some(free) if source.raw_os_error() == Some(nix::errno::Errno::ENOSPC as i32) => {
                WriteError::NoRoom { path, source, need: bytes.saturating_mul(2), free }
            }
            _ => WriteError::Disk { path, source },
        }
    }
}

/// Called with the number of the first block that is not on disk, each time when it has grown.
pub struct Note(pub Box<dyn FnMut(u64) + Send>);

impl std::fmt::Debug for Note {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Note")
    }
}

/// A recording that is written.
#[derive(Debug)]
pub struct Recorder {
    folder: PathBuf,
    policy: Policy,
    background: Background,
    description: Vec<u8>,
    recording: u64,
    segment: Option<Segment>,
    /// Number of the last segment begun.
    last_number: u32,
    batch: Batch,
    /// First block behind the last cut on disk, its chain and its time.
    whole: (u64, u64, u64),
    /// Syncs so far, and the bytes that they put on disk.
    syncs: u64,
    written: u64,
    /// When cuts were on disk, until a later cut has said so.
    synced: Synced,
    note: Option<Note>,
    disk: Box<dyn Disk>,
    _lock: OwnLock,
}

impl Recorder {
    /// Begins a recording in `folder`, or continues the one that is there: at the end of its last whole cut, and also if the
    /// disk takes nothing at the moment.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn open(
        folder: &Path,
        description: &Description,
        policy: Policy,
        now: u64,
    ) -> Result<Recorder, WriteError> {
        Recorder::open_on(folder, description, policy, now, (None, None), Box::new(Files))
    }

    /// As [`Recorder::open`], for the successor of a recorder that has died: what is read of a file may be in the kernel's
    /// memory and on no disk, if a write has failed. So the recording goes on at `on_disk`, the number that `note` was
    /// called with last; `None` if it never was. Cuts behind that do not count any more.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn reopen(
        folder: &Path,
        description: &Description,
        policy: Policy,
        now: u64,
        on_disk: Option<u64>,
        note: Note,
    ) -> Result<Recorder, WriteError> {
        Recorder::open_on(folder, description, policy, now, (on_disk, Some(note)), Box::new(Files))
    }

    fn open_on(
        folder: &Path,
        description: &Description,
        policy: Policy,
        now: u64,
        (on_disk, note): (Option<u64>, Option<Note>),
        medium: Box<dyn Disk>,
    ) -> Result<Recorder, WriteError> {
        let disk = |source| WriteError::Disk { path: folder.to_owned(), source };
        make_folder(folder).map_err(disk)?;
        let lock = lock(folder)?;
        let found = Recording::open_before(folder, on_disk.unwrap_or(u64::MAX));
        let (recording, last_number, whole) = match found {
            Ok(found) => {
                let end = found.end();
                (found.id(), found.highest_number(), (end.next_block, end.chain, end.time))
            }
            Err(OpenError::Empty) => (random().map_err(disk)?, 0, (1, 0, 0)),
            Err(source) => return Err(WriteError::NotARecording { folder: folder.to_owned(), source }),
        };
        background::remove_unfinished(folder).map_err(disk)?;
        let mut background = Background::start(folder.to_owned(), policy.clone()).map_err(disk)?;
        // The first segment too: a sync of blocks that were only reserved takes half as long again.
        background.wait_for_spare();
        let description = serde_json::to_vec(description).map_err(|error| disk(error.into()))?;
        let batch = Batch::new(last_number.saturating_add(1), whole.0, whole.1);
        let mut recorder = Recorder {
            folder: folder.to_owned(),
            policy,
            background,
            description,
            recording,
            segment: None,
            last_number,
            batch,
            whole,
            syncs: 0,
            written: 0,
            synced: Synced::default(),
            note,
            disk: medium,
            _lock: lock,
        };
        match recorder.begin_segment(now) {
            // The disk may take nothing just now: every cut begins with trying again.
            Err(error) if last_number > 0 => log::error!("no segment was begun: {error}"),
            begun => begun?,
        }
        Ok(recorder)
    }

    /// Removes closed segments from now on, in the background: now, when a segment is closed, and now and then.
    pub fn keep(&mut self, keep: Keep) {
        self.background.keep(keep);
    }

    /// From now on the recording says when each cut was on disk, on this clock: each with the next.
    pub fn say_when_synced(&mut self, clock: Clock) {
        self.synced.begin(clock);
    }

    /// Since when a cut is on disk of which the recording does not say so yet.
    pub fn unsaid_since(&self) -> Option<u64> {
        self.synced.since()
    }

    /// Writes a cut at `time` without a frame, with the times on disk of the cuts before it. The caller has seen, after that
    /// time, that the journals hold nothing new. If the disk takes nothing, these times are lost and nothing else.
    pub fn write_idle(&mut self, time: u64) {
        let said = self.begin_cut(time).map(drop).and_then(|()| {
            self.synced.append(&mut self.batch);
            if self.batch.is_empty() {
                synced::append_nothing(&mut self.batch);
            }
            self.end_cut()
        });
        if let Err(error) = said {
            log::debug!("not recorded that nothing is new: {error}");
            self.abandon();
        }
        self.synced.is_said();
    }

    /// The journals are on disk up to this time.
    pub fn whole_until(&self) -> u64 {
        self.whole.2
    }

    /// Begins a cut at `time`: the blocks are put into what is returned, as often as it is given to
    /// [`Recorder::write`].
    ///
    /// # Errors
    /// [`WriteError::Disk`] when the next segment had to be begun and could not.
    pub fn begin_cut(&mut self, time: u64) -> Result<&mut Batch, WriteError> {
        let full = self.segment.as_ref().is_none_or(|segment| segment.used() >= self.policy.segment_bytes);
        if full {
            self.begin_segment(time)?;
        }
        self.batch.begin_cut(time);
        Ok(&mut self.batch)
    }

    /// The blocks that are not written yet.
    pub fn batch(&mut self) -> &mut Batch {
        &mut self.batch
    }

    /// Puts on disk what the batch holds; the cut goes on.
    ///
    /// # Errors
    /// [`WriteError::Disk`]. The cut has failed then: the next one begins a new segment, and what the cut held must be
    /// given again.
    pub fn write(&mut self) -> Result<(), WriteError> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let Some(segment) = &mut self.segment else {
            let source = io::Error::other("a cut that was not begun");
            return Err(WriteError::Disk { path: self.folder.clone(), source });
        };
        let result = segment.write(&mut self.batch);
        self.syncs += 1;
        if let Err(source) = result {
            let path = self.folder.join(segment_name(segment.number()));
            self.abandon();
            return Err(WriteError::Disk { path, source });
        }
        self.written += self.batch.len() as u64;
        self.batch.clear();
        Ok(())
    }

    /// Puts the rest of the cut on disk. Everything that it held is safe when this returns.
    ///
    /// # Errors
    /// As [`Recorder::write`].
    pub fn close_cut(&mut self) -> Result<(), WriteError> {
        self.synced.append(&mut self.batch);
        self.end_cut()?;
        self.synced.is_said();
        self.synced.note(self.batch.cut());
        Ok(())
    }

    fn end_cut(&mut self) -> Result<(), WriteError> {
        if self.batch.is_empty() && self.batch.next() > self.batch.cut() {
            synced::append_nothing(&mut self.batch);
        }
        self.batch.close_cut();
        self.write()?;
        self.whole = (self.batch.next(), self.batch.chain(), self.batch.time());
        if let Some(Note(note)) = &mut self.note {
            note(self.whole.0);
        }
        Ok(())
    }

    /// Gives up a cut of which nothing is on disk yet.
    pub fn abandon_batch(&mut self) {
        let (next, chain, _) = self.whole;
        if self.batch.next() - next == self.batch.count() {
            self.batch.abandon(next, chain);
        } else {
            self.abandon();
        }
    }

    /// Gives up the cut, and the segment with it: what of it is on disk does not count.
    pub fn abandon(&mut self) {
        let (next, chain, _) = self.whole;
        self.batch.abandon(next, chain);
        // Without an index: its file may be beyond writing, and holds blocks that do not count.
        self.segment = None;
    }

    /// Begins the next segment now, for instance because this one is old.
    ///
    /// # Errors
    /// [`WriteError::Disk`].
    pub fn begin_segment(&mut self, now: u64) -> Result<(), WriteError> {
        let (next, chain, time) = self.whole;
        if let Some(segment) = self.segment.take() {
            self.background.close(segment.finish(next, chain, time));
        }
        let number = self.last_number + 1;
        let head = FileHead::new(number, self.recording, next, chain, now);
        let spare = self.background.take_spare();
        let path = self.folder.join(segment_name(number));
        let bytes = self.policy.segment_bytes;
        let disk = |source| WriteError::of_segment(path.clone(), source, bytes);
        let segment =
            Segment::begin(&self.folder, spare.as_deref(), head, bytes, self.disk.as_ref()).map_err(disk)?;
        self.last_number = number;
        self.segment = Some(segment);
        if let Err(error) = note_newest(&self.folder, number) {
            log::warn!("segment {number} is not noted as the newest, so that nobody would miss it: {error}");
        }
        self.batch.begin_segment(number);
        self.batch.begin_cut(time);
        let description = std::mem::take(&mut self.description);
        let fill = |bytes: &mut Vec<u8>| {
            bytes.extend_from_slice(&description);
            Ok::<_, io::Error>((0, 0))
        };
        let filled = self.batch.block(Kind::Description, 0, fill);
        self.description = description;
        filled.map_err(disk)?;
        self.end_cut()
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The random number of the recording.
    pub fn recording(&self) -> u64 {
        self.recording
    }

    /// Number of the segment that is written, or was last.
    pub fn segment(&self) -> u32 {
        self.last_number
    }

    /// Bytes of the segment that are written.
    pub fn used(&self) -> u64 {
        self.segment.as_ref().map_or(0, Segment::used)
    }

    /// Writes that reached the disk so far.
    pub fn syncs(&self) -> u64 {
        self.syncs
    }

    /// Bytes of blocks that these writes put there.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Waits until the next segment is prepared, so that a measurement does not meet it.
    pub fn wait_until_prepared(&mut self) {
        self.background.wait_for_spare();
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let (next, chain, time) = self.whole;
        if let Some(segment) = self.segment.take() {
            self.background.close(segment.finish(next, chain, time));
        }
    }
}

/// Name of the file that the recorder of a folder has locked.
pub(crate) const LOCK: &str = "lock";
/// Mode of the folders: the group may read.
const FOLDER_MODE: u32 = 0o750;

fn lock(folder: &Path) -> Result<OwnLock, WriteError> {
    let lock = OwnLock::take(&folder.join(LOCK));
    let lock = lock.map_err(|error| WriteError::Disk { path: folder.join(LOCK), source: error.into() })?;
    lock.ok_or_else(|| WriteError::Taken(folder.to_owned()))
}

/// Makes the folder and those above it, each on disk before the next. It is this user's, and no link of another user leads to it.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    node::own_folder(folder, FOLDER_MODE).map_err(io::Error::from)
}

/// Bytes that the file system of a file has left for this user.
pub(crate) fn free(path: &Path) -> Option<u64> {
    let folder = if path.is_dir() { path } else { path.parent()? };
    let room = nix::sys::statvfs::statvfs(folder).ok()?;
    Some(room.blocks_available() as u64 * room.fragment_size() as u64)
}

fn random() -> io::Result<u64> {
    use std::io::Read;
    let mut bytes = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod platter;
#[cfg(test)]
mod tests;
