//! A folder that only this user can change, held open.
//!
//! Files below a root in shared memory are removed and overwritten by name. So that no other user can redirect those
//! names, every step is one component relative to an open folder, never follows a link, and is checked after opening.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{AtFlags, OFlag, open, openat, renameat};
use nix::sys::stat::{FileStat, Mode, SFlag, fchmod, fstat, fstatat, mkdirat};
use nix::unistd::{UnlinkatFlags, geteuid, unlinkat};

/// Mode of every folder of an instance: the group may read, others may not.
pub(crate) const FOLDER_MODE: u32 = 0o750;
/// Mode of the files in it, except journals.
pub(crate) const FILE_MODE: u32 = 0o640;

/// Why a folder or file is not used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The name belongs to something else.
    #[error("{} is {found}, not {wanted} of our own; it is not used, and not followed", path.display())]
    Kind {
        /// Its path.
        path: PathBuf,
        /// "a link", …
        found: &'static str,
        /// "a folder" or "a file".
        wanted: &'static str,
    },
    /// Another user owns it.
    #[error(
        "{} belongs to user {owner}, and this is user {user}: run colo as that user, or choose a place of your own",
        path.display()
    )]
    Foreign {
        /// Its path.
        path: PathBuf,
        /// Its owner.
        owner: u32,
        /// The user of this process.
        user: u32,
    },
    /// Others could change its contents.
    #[error(
        "{} can be written by group or others (mode {mode:04o}), who could have anything removed or overwritten; \
         chmod go-w {0}, or choose a place of your own", path.display()
    )]
    Writable {
        /// Its path.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The file has further links.
    #[error("{} has {links} names; a file of an instance has one, so it is not used", path.display())]
    Links {
        /// Its path.
        path: PathBuf,
        /// How many.
        links: u64,
    },
    /// Another user could have made a link on the way.
    #[error(
        "`{}` on the way to {} is a link of user {owner} in a folder that others may change: it is not followed",
        name.display(), path.display()
    )]
    Planted {
        /// The whole path.
        path: PathBuf,
        /// The link.
        name: OsString,
        /// Its owner.
        owner: u32,
    },
    /// A system call failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The attempted action.
        action: &'static str,
        /// Its path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl FolderError {
    /// True when nothing has this name.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, FolderError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

impl From<FolderError> for io::Error {
    fn from(error: FolderError) -> io::Error {
        match error {
            FolderError::Io { source, .. } => source,
            other => io::Error::new(io::ErrorKind::PermissionDenied, other),
        }
    }
}

/// A folder of this user, held open: operations stay in this folder even when its name is given to another.
#[derive(Debug)]
pub(crate) struct OwnFolder {
    handle: OwnedFd,
    path: PathBuf,
}

impl OwnFolder {
    /// Opens a folder, and checks that only this user can change it.
    pub(crate) fn open(path: &Path) -> Result<OwnFolder, FolderError> {
        let handle =
            open(path, FOLDER_FLAGS, Mode::empty()).map_err(|error| refused_open(path, error, "a folder"))?;
        OwnFolder::of(handle, path.to_owned())
    }

    /// Opens a folder, and creates it with its parents if it is missing.
    pub(crate) fn create(path: &Path, mode: u32) -> Result<OwnFolder, FolderError> {
        let io = |source| FolderError::Io { action: "create", path: path.to_owned(), source };
        if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
            DirBuilder::new().recursive(true).mode(mode).create(above).map_err(io)?;
        }
        let is_new = match DirBuilder::new().mode(mode).create(path) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(io(error)),
        };
        let folder = OwnFolder::open(path)?;
        if is_new {
            folder.set_mode(mode)?;
        }
        Ok(folder)
    }

    /// Opens a folder in this one.
    pub(crate) fn folder(&self, name: &str) -> Result<OwnFolder, FolderError> {
        let path = self.path.join(name);
        let handle = openat(&self.handle, name, FOLDER_FLAGS, Mode::empty())
            .map_err(|error| refused_open(&path, error, "a folder"))?;
        OwnFolder::of(handle, path)
    }

    /// Opens a folder in this one, and creates it if it is missing.
    pub(crate) fn create_folder(&self, name: &str) -> Result<OwnFolder, FolderError> {
        match self.make_folder(name)? {
            Some(made) => Ok(made),
            None => self.folder(name),
        }
    }

    /// Makes a folder in this one; `None`: the name is taken.
    pub(crate) fn make_folder(&self, name: &str) -> Result<Option<OwnFolder>, FolderError> {
        match mkdirat(&self.handle, name, Mode::from_bits_truncate(FOLDER_MODE)) {
            Ok(()) => {}
            Err(nix::errno::Errno::EEXIST) => return Ok(None),
            Err(error) => return Err(self.io("create", name, error)),
        }
        let folder = self.folder(name)?;
        // mkdir has removed the umask's bits.
        folder.set_mode(FOLDER_MODE)?;
        Ok(Some(folder))
    }

    /// Renames a folder in this one. An empty folder with the new name is replaced; false when the name belongs to anything else.
    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<bool, FolderError> {
        use nix::errno::Errno;
        match renameat(&self.handle, from, &self.handle, to) {
            Ok(()) => Ok(true),
            Err(Errno::ENOTEMPTY | Errno::EEXIST | Errno::ENOTDIR) => Ok(false),
            Err(error) => Err(self.io("rename", from, error)),
        }
    }

    /// Opens a file in this folder for reading and writing, and creates it if it is missing.
    pub(crate) fn create_file(&self, name: &str, mode: u32) -> Result<File, FolderError> {
        let flags = OFlag::O_RDWR | OFlag::O_CREAT | FILE_FLAGS;
        let file = self.open_at(name, flags, Mode::from_bits_truncate(mode))?;
        fchmod(&file, Mode::from_bits_truncate(mode))
            .map_err(|error| self.io("set the mode of", name, error))?;
        Ok(file)
    }

    /// Opens an existing file for reading and writing.
    pub(crate) fn open_file(&self, name: &str) -> Result<File, FolderError> {
        self.open_at(name, OFlag::O_RDWR | FILE_FLAGS, Mode::empty())
    }

    /// Opens an existing file for reading.
    pub(crate) fn file(&self, name: &str) -> Result<File, FolderError> {
        self.open_at(name, OFlag::O_RDONLY | FILE_FLAGS, Mode::empty())
    }

    fn open_at(&self, name: &str, flags: OFlag, mode: Mode) -> Result<File, FolderError> {
        let path = self.path.join(name);
        let handle =
            openat(&self.handle, name, flags, mode).map_err(|error| refused_open(&path, error, "a file"))?;
        let stat = fstat(&handle).map_err(|error| self.io("look at", name, error))?;
        check(&stat, &path, SFlag::S_IFREG, "a file")?;
        if stat.st_nlink > 1 {
            return Err(FolderError::Links { path, links: stat.st_nlink });
        }
        Ok(File::from(handle))
    }

    fn of(handle: OwnedFd, path: PathBuf) -> Result<OwnFolder, FolderError> {
        let stat = fstat(&handle).map_err(|error| FolderError::Io {
            action: "look at",
            path: path.clone(),
            source: error.into(),
        })?;
        check(&stat, &path, SFlag::S_IFDIR, "a folder")?;
        Ok(OwnFolder { handle, path })
    }

    /// Gives the folder exactly these permissions.
    pub(crate) fn set_mode(&self, mode: u32) -> Result<(), FolderError> {
        fchmod(&self.handle, Mode::from_bits_truncate(mode))
            .map_err(|error| self.io("set the mode of", ".", error))
    }

    /// Its path when it was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Names of its entries.
    pub(crate) fn names(&self) -> Result<Vec<OsString>, FolderError> {
        let io = |source| FolderError::Io { action: "list", path: self.path.clone(), source };
        let entries = fs::read_dir(self.itself()).map_err(io)?;
        entries.map(|entry| Ok(entry.map_err(io)?.file_name())).collect()
    }

    /// True while `name` in this folder is the opened file or folder.
    pub(crate) fn still_has(&self, name: &str, opened: impl AsFd) -> bool {
        let now = fstatat(&self.handle, name, AtFlags::AT_SYMLINK_NOFOLLOW);
        let same = |a: FileStat, b: FileStat| (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino);
        now.is_ok_and(|now| fstat(opened).is_ok_and(|opened| same(now, opened)))
    }

    /// Removes a file, a link (not its target), or a folder with its contents. A missing entry is not an error.
    pub(crate) fn remove(&self, name: &std::ffi::OsStr) -> Result<(), FolderError> {
        let path = self.itself().join(name);
        let io = |source| FolderError::Io { action: "remove", path: self.path.join(name), source };
        let is_folder = match fs::symlink_metadata(&path) {
            Ok(found) => found.is_dir(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(io(error)),
        };
        // The standard library's removal of a tree opens each folder below its parent and follows no links.
        let removed = if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io(error)),
            _ => Ok(()),
        }
    }

    /// Removes a folder if it is empty; true when it was removed.
    pub(crate) fn remove_empty(&self, name: &str) -> bool {
        unlinkat(&self.handle, name, UnlinkatFlags::RemoveDir).is_ok()
    }

    /// A path to the open folder, whatever has its name now.
    fn itself(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.handle.as_raw_fd()))
    }

    fn io(&self, action: &'static str, name: &str, error: nix::errno::Errno) -> FolderError {
        FolderError::Io { action, path: self.path.join(name), source: error.into() }
    }
}

impl AsFd for OwnFolder {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

const FOLDER_FLAGS: OFlag =
    OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);
/// Not blocking: the name may belong to a pipe without a writer.
const FILE_FLAGS: OFlag = OFlag::O_NOFOLLOW.union(OFlag::O_CLOEXEC).union(OFlag::O_NONBLOCK);

/// The error of a refused open, with the kind of file that has the name.
fn refused_open(path: &Path, error: nix::errno::Errno, wanted: &'static str) -> FolderError {
    use nix::errno::Errno;
    if matches!(error, Errno::ELOOP | Errno::ENOTDIR | Errno::EISDIR | Errno::ENXIO)
        && let Ok(found) = fs::symlink_metadata(path)
    {
        let kind = found.file_type();
        let found = match () {
            () if kind.is_symlink() => "a link",
            () if kind.is_dir() => "a folder",
            () if kind.is_file() => "a file",
            () if kind.is_fifo() => "a pipe",
            () => "something else",
        };
        return FolderError::Kind { path: path.to_owned(), found, wanted };
    }
    FolderError::Io { action: "open", path: path.to_owned(), source: error.into() }
}

fn check(stat: &FileStat, path: &Path, kind: SFlag, wanted: &'static str) -> Result<(), FolderError> {
    let path = || path.to_owned();
    if stat.st_mode & SFlag::S_IFMT.bits() != kind.bits() {
        return Err(FolderError::Kind { path: path(), found: "something else", wanted });
    }
    let user = geteuid().as_raw();
    if stat.st_uid != user {
        return Err(FolderError::Foreign { path: path(), owner: stat.st_uid, user });
    }
    if stat.st_mode & 0o022 != 0 {
        return Err(FolderError::Writable { path: path(), mode: stat.st_mode & 0o7777 });
    }
    Ok(())
}

/// True for a folder that this user owns, which the place of the user's logs must be.
pub(crate) fn is_own_folder(path: &Path) -> bool {
    path.as_os_str().as_bytes().starts_with(b"/")
        && fs::metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == geteuid().as_raw())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn own() -> (tempfile::TempDir, OwnFolder) {
        let folder = tempfile::tempdir().unwrap();
        let own = OwnFolder::open(folder.path()).unwrap();
        (folder, own)
    }

    #[test]
    fn links_and_folders_that_others_may_write_are_not_used() {
        let (folder, own) = own();
        symlink("/", folder.path().join("link")).unwrap();
        assert!(matches!(own.folder("link"), Err(FolderError::Kind { found: "a link", .. })));
        assert!(matches!(own.create_folder("link"), Err(FolderError::Kind { .. })));
        fs::create_dir(folder.path().join("open")).unwrap();
        fs::set_permissions(folder.path().join("open"), fs::Permissions::from_mode(0o770)).unwrap();
        assert!(matches!(own.folder("open"), Err(FolderError::Writable { mode: 0o770, .. })));
    }

    #[test]
    fn what_another_user_owns_is_not_used_whatever_its_mode() {
        const OTHER: u32 = 61_234;
        let (folder, own) = own();
        fs::create_dir(folder.path().join("given")).unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let given = [folder.path().join("given"), folder.path().join("file")];
        if !geteuid().is_root() {
            // Only root can give something away; what the system owns is another user's too.
            assert!(matches!(OwnFolder::open(Path::new("/usr")), Err(FolderError::Foreign { owner: 0, .. })));
            println!("skipped: a folder in our own root that another user owns: needs root");
            return;
        }
        for path in &given {
            std::os::unix::fs::chown(path, Some(OTHER), None).unwrap();
        }
        assert!(matches!(OwnFolder::open(&given[0]), Err(FolderError::Foreign { owner: OTHER, .. })));
        assert!(matches!(OwnFolder::create(&given[0], 0o750), Err(FolderError::Foreign { .. })));
        assert!(matches!(own.folder("given"), Err(FolderError::Foreign { .. })));
        assert!(matches!(own.create_folder("given"), Err(FolderError::Foreign { .. })));
        assert!(matches!(own.file("file"), Err(FolderError::Foreign { .. })));
        assert!(matches!(own.create_file("file", 0o640), Err(FolderError::Foreign { .. })));
        let found = fs::metadata(&given[1]).unwrap();
        assert_eq!((found.uid(), found.permissions().mode() & 0o777), (OTHER, 0o644), "left as it was");
    }

    #[test]
    fn a_file_that_is_a_link_of_any_kind_is_not_opened() {
        let (folder, own) = own();
        let victim = folder.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        fs::set_permissions(&victim, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&victim, folder.path().join("soft")).unwrap();
        fs::hard_link(&victim, folder.path().join("hard")).unwrap();
        assert!(matches!(own.create_file("soft", 0o640), Err(FolderError::Kind { .. })));
        assert!(matches!(own.create_file("hard", 0o640), Err(FolderError::Links { links: 2, .. })));
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert_eq!(fs::metadata(&victim).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_is_removed_is_below_the_open_folder_and_never_behind_a_link() {
        let (folder, own) = own();
        let victim = tempfile::tempdir().unwrap();
        fs::write(victim.path().join("precious"), "").unwrap();
        let inner = own.create_folder("inner").unwrap();
        symlink(victim.path(), folder.path().join("inner/link")).unwrap();
        symlink(victim.path(), folder.path().join("link")).unwrap();
        own.remove("link".as_ref()).unwrap();
        own.remove("inner".as_ref()).unwrap();
        own.remove("nothing".as_ref()).unwrap();
        assert!(victim.path().join("precious").exists());
        assert!(own.names().unwrap().is_empty());
        drop(inner);
    }
}
