//! Folders and files on disk that colo writes: recordings, folders of runs, what the gateway and venues keep.
//!
//! They lie where the user puts them, so the rules are those of an instance's folder as far as a path has others' folders in
//! it:
//!
//! - A link on the way is followed only where no other user could have made it: its folder can be changed by this user and root
//!   alone, or the link itself is theirs.
//! - A folder that colo has to itself ([`own_folder`]) belongs to this user. Group and others lose the right to write there; what
//!   they may have put there before is not used.
//! - A lock ([`OwnLock`]) is an open-file-description lock on a file of this user alone: a user who can read a file can lock it.
//!
//! The way is taken folder by folder over open descriptors, so that nothing is looked at by one name and used by another.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use journal::OwnFile;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, open, openat, readlinkat};
use nix::sys::stat::{FileStat, Mode, SFlag, fchmod, fstat, fstatat, mkdirat};
use nix::unistd::geteuid;

use crate::folder::FolderError;
use crate::locks::{is_held, take_lock};

/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;
/// Permissions to write of group and others.
const OF_OTHERS: u32 = 0o022;

/// Makes a folder that colo has to itself, with those above it, each on disk before the next; or takes the one that is there.
///
/// # Errors
/// [`FolderError`]: another user owns it, could lead elsewhere on the way, or has something in it.
pub fn own_folder(path: &Path, mode: u32) -> Result<(), FolderError> {
    let handle = way_to(path, Some(mode))?.handle;
    let found = fstat(&handle).map_err(|error| io_of("look at", path, error))?;
    let user = geteuid().as_raw();
    if found.st_uid != user {
        return Err(FolderError::Foreign { path: path.to_owned(), owner: found.st_uid, user });
    }
    if found.st_mode & OF_OTHERS == 0 {
        return Ok(());
    }
    let less = Mode::from_bits_truncate(found.st_mode & 0o7777 & !OF_OTHERS);
    let itself = open_again(&handle, path)?;
    fchmod(&itself, less).map_err(|error| io_of("set the mode of", path, error))?;
    log::warn!("{}: group and others could write there, and no longer can", path.display());
    demand_own_entries(&itself, path)
}

/// Makes the folders on the way to this one, and itself: one that colo shares with others.
///
/// # Errors
/// [`FolderError`]: another user could lead elsewhere on the way.
pub fn shared_folder(path: &Path, mode: u32) -> Result<(), FolderError> {
    way_to(path, Some(mode)).map(drop)
}

/// Opens a file that colo writes. No link leads to it that another user could have made, and where others may change its folder
/// it is this user's and has no other name.
///
/// # Errors
/// [`FolderError`].
pub fn own_file(path: &Path, options: &mut OpenOptions) -> Result<File, FolderError> {
    let name = path.file_name().ok_or_else(|| io_of("open", path, Errno::EISDIR))?;
    let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut links = 0;
    let (mut folder, mut name) = (way_to(above, None)?, name.to_owned());
    // The last link of the way is judged as those before it.
    while let Some(target) = folder.link(&name, path)? {
        links += 1;
        let last = target.file_name().filter(|_| links <= MOST_LINKS);
        name = last.ok_or_else(|| io_of("open", path, Errno::ELOOP))?.to_owned();
        let above = target.parent().unwrap_or(Path::new(""));
        folder = walk(folder, above, None, path)?;
    }
    let io = |source| FolderError::Io { action: "open", path: path.to_owned(), source };
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let at = PathBuf::from(format!("/proc/self/fd/{}", folder.handle.as_raw_fd())).join(&name);
    let file = options.custom_flags(flags.bits()).open(at).map_err(io)?;
    let found = file.metadata().map_err(io)?;
    if !found.is_file() {
        return Err(FolderError::Kind { path: path.to_owned(), found: "something else", wanted: "a file" });
    }
    if folder.others_may_change {
        let user = geteuid().as_raw();
        if found.uid() != user {
            return Err(FolderError::Foreign { path: path.to_owned(), owner: found.uid(), user });
        }
        if found.nlink() > 1 {
            return Err(FolderError::Links { path: path.to_owned(), links: found.nlink() });
        }
    }
    Ok(file)
}

/// A lock in a file of its own: held until this is dropped or the process ends. A child of a fork does not have it.
#[derive(Debug)]
pub struct OwnLock {
    _file: OwnFile,
}

impl OwnLock {
    /// Takes the lock; `None` while another process has it.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn take(path: &Path) -> Result<Option<OwnLock>, FolderError> {
        let io = |action| move |source| FolderError::Io { action, path: path.to_owned(), source };
        let file = OwnFile::open(|| {
            own_file(path, OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600))
        })?;
        let found = file.metadata().map_err(io("look at"))?;
        // One of an earlier version can be read by others, and so locked.
        if found.mode() & 0o177 != 0 {
            file.set_permissions(Permissions::from_mode(0o600)).map_err(io("set the mode of"))?;
        }
        Ok(take_lock(&file).map_err(io("lock"))?.then_some(OwnLock { _file: file }))
    }

    /// Whether a process has the lock of this file; also where the file may not be looked at.
    pub fn is_held(path: &Path) -> bool {
        match File::open(path) {
            Ok(file) => is_held(&file),
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }
}

/// An open folder on the way.
struct Place {
    handle: OwnedFd,
    /// Users other than this one and root may put something into it.
    others_may_change: bool,
}

impl Place {
    fn of(handle: OwnedFd, path: &Path) -> Result<Place, FolderError> {
        let found = fstat(&handle).map_err(|error| io_of("look at", path, error))?;
        let others_may_change = !is_trusted(&found) || found.st_mode & OF_OTHERS != 0;
        Ok(Place { handle, others_may_change })
    }

    /// Where a link of this name leads; `None`: it is no link.
    fn link(&self, name: &OsStr, path: &Path) -> Result<Option<PathBuf>, FolderError> {
        let found = match fstatat(&self.handle, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(found) => found,
            Err(Errno::ENOENT) => return Ok(None),
            Err(error) => return Err(io_of("look at", path, error)),
        };
        if found.st_mode & SFlag::S_IFMT.bits() != SFlag::S_IFLNK.bits() {
            return Ok(None);
        }
        if self.others_may_change && !is_trusted(&found) {
            return Err(FolderError::Planted {
                path: path.to_owned(),
                name: name.into(),
                owner: found.st_uid,
            });
        }
        let target = readlinkat(&self.handle, name).map_err(|error| io_of("read a link of", path, error))?;
        Ok(Some(PathBuf::from(target)))
    }
}

fn is_trusted(found: &FileStat) -> bool {
    found.st_uid == 0 || found.st_uid == geteuid().as_raw()
}

fn way_to(path: &Path, make: Option<u32>) -> Result<Place, FolderError> {
    let here = open(".", WAY, Mode::empty()).map_err(|error| io_of("open", Path::new("."), error))?;
    let here = Place::of(here, Path::new("."))?;
    walk(here, path, make, path)
}

const WAY: OFlag = OFlag::O_PATH.union(OFlag::O_DIRECTORY).union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

/// Goes from a folder to another one. `make`: the mode of those that are missing. `whole`: the path of which errors speak.
fn walk(from: Place, to: &Path, make: Option<u32>, whole: &Path) -> Result<Place, FolderError> {
    let (mut place, mut links) = (from, 0);
    let mut rest: VecDeque<OsString> = parts(to).collect();
    while let Some(part) = rest.pop_front() {
        if part == "/" {
            let root = open("/", WAY, Mode::empty()).map_err(|error| io_of("open", whole, error))?;
            place = Place::of(root, Path::new("/"))?;
            continue;
        }
        if let Some(target) = place.link(&part, whole)? {
            links += 1;
            if links > MOST_LINKS {
                return Err(io_of("open", whole, Errno::ELOOP));
            }
            parts(&target).collect::<Vec<_>>().into_iter().rev().for_each(|part| rest.push_front(part));
            continue;
        }
        let handle = match (openat(&place.handle, part.as_os_str(), WAY, Mode::empty()), make) {
            (Err(Errno::ENOENT), Some(mode)) => make_in(&place, &part, mode, whole)?,
            (opened, _) => opened.map_err(|error| io_of("open", whole, error))?,
        };
        place = Place::of(handle, whole)?;
    }
    Ok(place)
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> + '_ {
    path.components().filter_map(|part| match part {
        Component::CurDir | Component::Prefix(_) => None,
        part => Some(part.as_os_str().to_owned()),
    })
}

/// Makes a folder, and has its name on disk.
fn make_in(place: &Place, name: &OsStr, mode: u32, whole: &Path) -> Result<OwnedFd, FolderError> {
    match mkdirat(&place.handle, name, Mode::from_bits_truncate(mode)) {
        Ok(()) | Err(Errno::EEXIST) => {}
        Err(error) => return Err(io_of("create", whole, error)),
    }
    open_again(&place.handle, whole)?.sync_all().map_err(|source| FolderError::Io {
        action: "sync",
        path: whole.to_owned(),
        source,
    })?;
    openat(&place.handle, name, WAY, Mode::empty()).map_err(|error| io_of("open", whole, error))
}

/// The same folder, for more than the way.
fn open_again(handle: &OwnedFd, path: &Path) -> Result<File, FolderError> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    openat(handle, ".", flags, Mode::empty()).map(File::from).map_err(|error| io_of("open", path, error))
}

/// Fails where a folder that others could write has something in it that may be theirs.
fn demand_own_entries(folder: &File, path: &Path) -> Result<(), FolderError> {
    let io = |source| FolderError::Io { action: "list", path: path.to_owned(), source };
    let entries = fs::read_dir(format!("/proc/self/fd/{}", folder.as_fd().as_raw_fd())).map_err(io)?;
    for entry in entries {
        let name = entry.map_err(io)?.file_name();
        let found = fstatat(folder, name.as_os_str(), AtFlags::AT_SYMLINK_NOFOLLOW);
        let found = found.map_err(|error| io_of("look at", &path.join(&name), error))?;
        if !is_trusted(&found) {
            let user = geteuid().as_raw();
            return Err(FolderError::Foreign { path: path.join(&name), owner: found.st_uid, user });
        }
    }
    Ok(())
}

fn io_of(action: &'static str, path: &Path, error: Errno) -> FolderError {
    FolderError::Io { action, path: path.to_owned(), source: error.into() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{chown, symlink};

    use super::*;

    const OTHER: u32 = 61_234;

    /// A folder of every user, as `/tmp` is, with another user's link in it to a folder of ours.
    struct Planted {
        _all: tempfile::TempDir,
        shared: PathBuf,
        victim: PathBuf,
    }

    /// `None` where only root could give something away.
    fn planted() -> Option<Planted> {
        if !geteuid().is_root() {
            println!("skipped: links that another user has made: needs root");
            return None;
        }
        let all = tempfile::tempdir().unwrap();
        let (shared, victim) = (all.path().join("shared"), all.path().join("victim"));
        fs::create_dir(&shared).unwrap();
        fs::create_dir(&victim).unwrap();
        fs::write(victim.join("precious"), "precious").unwrap();
        fs::set_permissions(&shared, Permissions::from_mode(0o1777)).unwrap();
        symlink(&victim, shared.join("theirs")).unwrap();
        symlink(victim.join("precious"), shared.join("file")).unwrap();
        for link in ["theirs", "file"] {
            std::os::unix::fs::lchown(shared.join(link), Some(OTHER), Some(OTHER)).unwrap();
        }
        symlink(&victim, shared.join("ours")).unwrap();
        Some(Planted { _all: all, shared, victim })
    }

    fn write() -> OpenOptions {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        options
    }

    #[test]
    fn a_link_of_another_user_is_followed_nowhere_on_the_way() {
        let Some(there) = planted() else { return };
        let is_planted = |found: Result<(), FolderError>| {
            assert!(matches!(found, Err(FolderError::Planted { owner: OTHER, .. })), "{found:?}");
        };
        for end in ["theirs", "theirs/below", "theirs/a/b", "./theirs/../theirs/c"] {
            let path = there.shared.join(end);
            is_planted(own_folder(&path, 0o750));
            is_planted(shared_folder(&path, 0o750));
            is_planted(own_file(&path.join("file"), &mut write()).map(drop));
            is_planted(OwnLock::take(&path.join("lock")).map(drop));
        }
        is_planted(own_file(&there.shared.join("file"), &mut write()).map(drop));
        assert_eq!(fs::read_to_string(there.victim.join("precious")).unwrap(), "precious");
        assert_eq!(fs::read_dir(&there.victim).unwrap().count(), 1, "nothing was made there");
    }

    #[test]
    fn a_link_of_our_own_is_followed_everywhere() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("big")).unwrap();
        symlink("big", folder.path().join("link")).unwrap();
        symlink("link/elsewhere", folder.path().join("file")).unwrap();
        own_folder(&folder.path().join("link/a/b"), 0o750).unwrap();
        assert!(folder.path().join("big/a/b").is_dir());
        own_file(&folder.path().join("file"), &mut write()).unwrap();
        assert!(folder.path().join("big/elsewhere").is_file());
        let Some(there) = planted() else { return };
        own_folder(&there.shared.join("ours/below"), 0o750).unwrap();
        assert!(there.victim.join("below").is_dir());
    }

    #[test]
    fn a_link_that_leads_to_itself_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        symlink("round", folder.path().join("round")).unwrap();
        for found in [
            own_folder(&folder.path().join("round"), 0o750),
            own_file(&folder.path().join("round"), &mut write()).map(drop),
        ] {
            assert!(matches!(found, Err(FolderError::Io { .. })), "{found:?}");
        }
    }

    #[test]
    fn group_and_others_lose_the_right_to_write_and_what_is_theirs_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let open = folder.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::write(open.join("ours"), "").unwrap();
        fs::set_permissions(&open, Permissions::from_mode(0o775)).unwrap();
        own_folder(&open, 0o750).unwrap();
        assert_eq!(fs::metadata(&open).unwrap().mode() & 0o7777, 0o755);
        if !geteuid().is_root() {
            println!("skipped: entries of another user: needs root");
            return;
        }
        fs::set_permissions(&open, Permissions::from_mode(0o775)).unwrap();
        chown(open.join("ours"), Some(OTHER), None).unwrap();
        assert!(matches!(own_folder(&open, 0o750), Err(FolderError::Foreign { owner: OTHER, .. })));
        chown(&open, Some(OTHER), None).unwrap();
        assert!(matches!(own_folder(&open, 0o750), Err(FolderError::Foreign { owner: OTHER, .. })));
    }

    #[test]
    fn a_file_of_another_user_or_with_another_name_is_not_written_where_others_may_change_the_folder() {
        let Some(there) = planted() else { return };
        fs::write(there.shared.join("given"), "theirs").unwrap();
        chown(there.shared.join("given"), Some(OTHER), None).unwrap();
        fs::hard_link(there.victim.join("precious"), there.shared.join("second")).unwrap();
        let mut write = OpenOptions::new();
        write.write(true);
        let given = own_file(&there.shared.join("given"), &mut write);
        assert!(matches!(given, Err(FolderError::Foreign { owner: OTHER, .. })), "{given:?}");
        let second = own_file(&there.shared.join("second"), &mut write);
        assert!(matches!(second, Err(FolderError::Links { links: 2, .. })), "{second:?}");
        own_file(&there.victim.join("precious"), &mut write).unwrap();
    }

    #[test]
    fn a_lock_is_for_this_user_alone_and_held_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        assert!(!OwnLock::is_held(&path), "it is not there");
        // As an earlier version made it.
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        let lock = OwnLock::take(&path).unwrap().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o600);
        assert!(OwnLock::is_held(&path));
        assert!(OwnLock::take(&path).unwrap().is_none());
        drop(lock);
        assert!(!OwnLock::is_held(&path));
        assert!(OwnLock::take(&path).unwrap().is_some());
    }
}
