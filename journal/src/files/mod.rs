//! The files of a journal and the registry: their names, and how they are created, opened and recognised.

pub(crate) mod control;
pub(crate) mod lease;
pub(crate) mod registry;

use std::ffi::OsStr;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::linkat;

use crate::clock::wall_nanos;
use crate::error::{CreateError, OpenError};
use crate::layout;
use crate::memory::{Access, Region, map, reserve};
use control::{Control, JournalShape, Origin};

/// Who may map a journal: its user may write, and the user's group may read.
const MODE: u32 = 0o640;
/// Who may lock: only those who may also write, so that no reader can keep a successor out.
const LOCK_MODE: u32 = 0o600;

/// Paths of a journal's files. Beside the control file lies `NAME.lock`, which holds the locks of the writer and the
/// readers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalFiles {
    /// `NAME.ctl`: header, cursors, interest.
    pub control: PathBuf,
    /// `NAME.ring`: the frames; on a huge-page file system if the journal uses such pages.
    pub ring: PathBuf,
}

/// What a look at a lock file found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockFile {
    /// It belongs to the journal of this identity.
    Of(u64),
    /// It is no lock file.
    Foreign,
    /// It does not exist.
    Missing,
    /// It cannot be read: only its user may.
    Forbidden,
}

impl JournalFiles {
    /// The files of `name`, the control file in `control_directory` and the ring in `ring_directory`.
    pub fn new(control_directory: &Path, ring_directory: &Path, name: &str) -> JournalFiles {
        JournalFiles {
            control: control_directory.join(format!("{name}.ctl")),
            ring: ring_directory.join(format!("{name}.ring")),
        }
    }

    /// The lock file.
    pub fn lock(&self) -> PathBuf {
        self.control.with_extension("lock")
    }

    /// True when the files have the names that belong to a journal of this name.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        let fits = |path: &Path, extension: &str| {
            path.file_name() == Some(OsStr::new(&format!("{name}.{extension}")))
        };
        fits(&self.control, "ctl") && fits(&self.ring, "ring")
    }

    /// What the lock file says.
    pub(crate) fn lock_identity(&self) -> LockFile {
        match File::open(self.lock()).and_then(|lock| lease::identity_of(&lock)) {
            Ok(Some(identity)) => LockFile::Of(identity),
            Ok(None) => LockFile::Foreign,
            Err(error) if error.kind() == io::ErrorKind::NotFound => LockFile::Missing,
            Err(_) => LockFile::Forbidden,
        }
    }

    /// Removes the files; processes that have them mapped keep the memory. Missing files are not an error.
    ///
    /// # Errors
    /// The first error of the system.
    pub fn remove(&self) -> io::Result<()> {
        remove(&self.control)?;
        remove(&self.ring)?;
        remove(&self.lock())
    }

    /// Creates the files without names, reserves all of their memory, and then names them. A control file that is
    /// visible is complete and has its ring, even if this process is killed meanwhile; what it had not named by then
    /// is gone with it.
    pub(crate) fn create(&self, shape: JournalShape, origin: Origin) -> Result<Control, CreateError> {
        let ring = Unnamed::create(&self.ring, MODE, shape.capacity)?;
        // Its memory is reserved. Who maps it populates its own page tables anyway, so nothing is mapped here.
        let identity = random();
        let lock_path = self.lock();
        let words = [layout::LOCK_MAGIC, identity].map(u64::to_le_bytes);
        let lock = Unnamed::create(&lock_path, LOCK_MODE, words.as_flattened().len() as u64)?;
        (&lock.file).write_all(words.as_flattened()).map_err(refused("write", &lock_path))?;
        let bytes = layout::control_bytes(shape.seats, shape.topics);
        let page = Unnamed::create(&self.control, MODE, bytes)?;
        let region = map(&page.file, bytes, Access::ReadWrite).map_err(refused("map", &self.control))?;
        let control = Control::initialise(region, shape, origin, identity);
        // An old control file must never be visible beside the new ring, not even after a crash.
        remove(&self.control).map_err(refused("remove", &self.control))?;
        ring.name()?;
        lock.name()?;
        page.name()?;
        for file in [&ring, &lock] {
            file.check_name()?;
        }
        Ok(control.locked_by(self.lock()))
    }
}

/// A file that is being made, and has not got its name yet.
struct Unnamed<'a> {
    file: File,
    path: &'a Path,
    /// Where file systems cannot make files without a name.
    temporary: Option<PathBuf>,
}

impl Unnamed<'_> {
    /// A file of zeros with all of its memory reserved, and exactly this mode.
    fn create(path: &Path, mode: u32, bytes: u64) -> Result<Unnamed<'_>, CreateError> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let opened =
            OpenOptions::new().read(true).write(true).mode(mode).custom_flags(libc::O_TMPFILE).open(folder);
        let (file, temporary) = match opened {
            Ok(file) => (file, None),
            Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EISDIR)) => {
                let temporary = half_made(path);
                (create_new(&temporary, mode)?, Some(temporary))
            }
            Err(error) => return Err(refused("create", path)(error)),
        };
        let unnamed = Unnamed { file, path, temporary };
        fill(&unnamed.file, path, mode, bytes)?;
        Ok(unnamed)
    }

    /// Gives the file its name, instead of the file that has it.
    fn name(&self) -> Result<(), CreateError> {
        if let Some(temporary) = &self.temporary {
            return std::fs::rename(temporary, self.path).map_err(refused("rename into place", self.path));
        }
        remove(self.path).map_err(refused("remove", self.path))?;
        let source = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        linkat(AT_FDCWD, source.as_str(), AT_FDCWD, self.path, AtFlags::AT_SYMLINK_FOLLOW)
            .map_err(|error| refused("name", self.path)(error.into()))
    }

    /// Refuses a name that another process has given to a file of its own meanwhile: what it makes is another journal.
    fn check_name(&self) -> Result<(), CreateError> {
        let named = std::fs::metadata(self.path).and_then(|named| {
            let ours = self.file.metadata()?;
            Ok((named.dev(), named.ino()) == (ours.dev(), ours.ino()))
        });
        if named.map_err(refused("look at", self.path))? {
            return Ok(());
        }
        let source =
            io::Error::new(io::ErrorKind::AlreadyExists, "another process is creating the same journal");
        Err(refused("create", self.path)(source))
    }
}

impl Drop for Unnamed<'_> {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // The error that matters is the first one.
            let _ = remove(temporary);
        }
    }
}

/// The name of a file that is being made where files cannot be without one. The bytes of a path need not be text.
fn half_made(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    PathBuf::from(name)
}

fn refused<'a>(action: &'static str, path: &'a Path) -> impl Fn(io::Error) -> CreateError + 'a {
    move |source| CreateError::Io { action, path: path.to_owned(), source }
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Creates a file of zeros with all of its memory reserved and exactly this mode, whatever the umask. A file of that
/// name is removed first and never changed, since another process may have mapped it.
pub(crate) fn create_file(path: &Path, mode: u32, bytes: u64) -> Result<File, CreateError> {
    let file = create_new(path, mode)?;
    fill(&file, path, mode, bytes)?;
    Ok(file)
}

fn create_new(path: &Path, mode: u32) -> Result<File, CreateError> {
    remove(path).map_err(refused("remove", path))?;
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
        .map_err(refused("create", path))
}

fn fill(file: &File, path: &Path, mode: u32, bytes: u64) -> Result<(), CreateError> {
    file.set_permissions(Permissions::from_mode(mode)).map_err(refused("set the mode of", path))?;
    reserve(file, bytes).map_err(|source| CreateError::NoSpace { path: path.to_owned(), bytes, source })
}

/// A number that no other journal has.
fn random() -> u64 {
    let mut bytes = [0; 8];
    match File::open("/dev/urandom").and_then(|mut file| io::Read::read_exact(&mut file, &mut bytes)) {
        Ok(()) => u64::from_le_bytes(bytes),
        // Nothing here is secret: what counts is that two journals of one name differ.
        Err(_) => wall_nanos().rotate_left(20) ^ u64::from(std::process::id()),
    }
}

/// Opens and maps an existing file whole; returns its words and its size.
///
/// A file that is truncated in between is refused: the first access to what is gone would kill this process. Later
/// truncation cannot be kept out, see `docs/threat-model.md`.
pub(crate) fn map_file(path: &Path, access: Access) -> Result<(Region, u64), OpenError> {
    let damaged = |what: String| OpenError::Damaged { path: path.to_owned(), what };
    let (file, bytes) = open_file(path, access)?;
    if !bytes.is_multiple_of(layout::WORD_BYTES as u64) {
        return Err(damaged(format!("its {bytes} bytes are no whole number of words")));
    }
    let io = |action| move |source| OpenError::Io { action, path: path.to_owned(), source };
    let region = map(&file, bytes, access).map_err(io("map"))?;
    let left = file.metadata().map_err(io("read the size of"))?.len();
    if left != bytes {
        return Err(damaged(format!("it was truncated from {bytes} to {left} bytes")));
    }
    Ok((region, bytes))
}

/// Opens an existing file and returns it with its size.
pub(crate) fn open_file(path: &Path, access: Access) -> Result<(File, u64), OpenError> {
    let refused = |action| move |source| OpenError::Io { action, path: path.to_owned(), source };
    let file = OpenOptions::new()
        .read(true)
        .write(access == Access::ReadWrite)
        .open(path)
        .map_err(refused("open"))?;
    let bytes = file.metadata().map_err(refused("read the size of"))?.len();
    if bytes == 0 {
        return Err(OpenError::Damaged { path: path.to_owned(), what: "it is empty".to_owned() });
    }
    Ok((file, bytes))
}

/// The identity in the control file that has this name now; `None` when there is none.
pub(crate) fn named_identity(path: &Path) -> Result<Option<u64>, OpenError> {
    let mut bytes = [0; 8];
    let read = File::open(path).and_then(|file| {
        file.read_exact_at(&mut bytes, (layout::control::IDENTITY * layout::WORD_BYTES) as u64)
    });
    match read {
        Ok(()) => Ok(Some(u64::from_le_bytes(bytes))),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof) => {
            Ok(None)
        }
        Err(source) => Err(OpenError::Io { action: "open", path: path.to_owned(), source }),
    }
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn a_half_made_file_lies_beside_its_name_whatever_bytes_that_has() {
        let path = Path::new(OsStr::from_bytes(b"/tmp/\xff\xfe/t.ring"));
        assert_eq!(half_made(path).as_os_str().as_bytes(), b"/tmp/\xff\xfe/t.ring.new");
    }

    #[test]
    fn a_file_that_ends_within_a_word_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("odd");
        std::fs::write(&path, [0; 4_099]).unwrap();
        assert!(matches!(map_file(&path, Access::Read), Err(OpenError::Damaged { .. })));
        std::fs::write(&path, [0; 4_096]).unwrap();
        assert_eq!(map_file(&path, Access::Read).unwrap().1, 4_096);
    }
}
