//! Claims on an instance: one process at a time may create, take over or remove it.
//!
//! The file `lock` has an open-file-description lock, which the kernel releases with the process however it ends, and
//! which others can query without taking it, from any pid namespace. Only this user may open the file: whoever can read
//! a file can lock it, and would refuse every successor. The file's text names the holder, and marks the folder as an
//! instance: a folder with neither this file nor a registry is never removed. No folder has the name of an instance before it
//! holds the marked lock ([`passing`]), so that what a killed process leaves is found, at whatever point it was killed.
//!
//! A child of a fork does not get the lock file ([`OwnFile`]): it would hold the instance for a parent that has ended.
//!
//! A name can be removed and created again while a process waits. So a claim locks first, and then checks that the
//! locked file and folder still have their names; otherwise it starts again.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::time::Duration;

use crossbeam_utils::Backoff;
use journal::OwnFile;
use pinning::huge_mounts;

use crate::folder::{FILE_MODE, FOLDER_MODE, FolderError, OwnFolder};
use crate::holder::{Holder, LOCK_MODE, MARK, mark, read_holder};
use crate::instance::{InstanceDir, JOURNALS, LOCK};
use crate::locks::{is_held, take_lock};
use crate::passing;

/// How often a claim starts again because the instance was removed meanwhile.
const TRIES: u32 = 1_000;

/// How often a claim of a living holder is looked at again before it refuses.
const LOOKS: u32 = 4;

/// Pause between two tries while the holder is dead and the lock still held: by a child that has not yet run its own
/// program and still has the holder's files, or by the holder's last threads. All tries together last seconds.
const PAUSE: Duration = Duration::from_millis(5);

/// An instance could not be claimed.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// Another process has it.
    #[error("it is held by {}", holder.map_or("another process".to_owned(), |holder| holder.to_string()))]
    Held {
        /// The holder, if the lock file names one.
        holder: Option<Holder>,
    },
    /// The folder is not an instance.
    #[error(
        "{} is there already and bears no mark of colo: it is left alone; choose another name for the instance, or move it away",
        path.display()
    )]
    NotOurs {
        /// Which.
        path: PathBuf,
    },
    /// A folder or file of it is not trusted, or a system call failed.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

impl From<ClaimError> for io::Error {
    fn from(error: ClaimError) -> io::Error {
        match error {
            ClaimError::Folder(error) => error.into(),
            other => io::Error::new(io::ErrorKind::ResourceBusy, other),
        }
    }
}

/// A claim on an instance, until it is dropped or the process ends.
#[derive(Debug)]
pub struct Claim {
    lock: OwnFile,
    root: OwnFolder,
    folder: OwnFolder,
    instance: InstanceDir,
}

impl Claim {
    /// Claims the instance, and creates its folder if it has none.
    pub(crate) fn take(instance: &InstanceDir) -> Result<Claim, ClaimError> {
        let (backoff, mut looks) = (Backoff::new(), 0);
        for _ in 0..TRIES {
            let root = OwnFolder::create(&InstanceDir::root(), FOLDER_MODE)?;
            match Claim::try_take(instance, root) {
                Ok(Some(claim)) => return Ok(claim),
                Ok(None) => {}
                // Between the signal that kills it and its end, a holder may look alive.
                Err(ClaimError::Held { .. }) if looks < LOOKS => {
                    looks += 1;
                    std::thread::sleep(PAUSE);
                }
                // The root or the folder was removed by its last user.
                Err(ClaimError::Folder(error)) if error.is_missing() => {}
                Err(error) => return Err(error),
            }
            backoff.snooze();
        }
        Err(ClaimError::Held { holder: None })
    }

    /// Claims what is left of the instance; `None` when it has no folder.
    pub(crate) fn take_remains(instance: &InstanceDir) -> Result<Option<Claim>, ClaimError> {
        let backoff = Backoff::new();
        for _ in 0..TRIES {
            let root = match OwnFolder::open(&InstanceDir::root()) {
                Err(error) if error.is_missing() => return Ok(None),
                root => root?,
            };
            let Some(folder) = furnished(&root, instance)? else { return Ok(None) };
            match Claim::of(instance, root, folder) {
                Ok(Some(claim)) => return Ok(Some(claim)),
                Ok(None) => backoff.snooze(),
                Err(ClaimError::Folder(error)) if error.is_missing() => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Err(ClaimError::Held { holder: None })
    }

    /// `None`: another process was at work with the name; to be tried again.
    fn try_take(instance: &InstanceDir, root: OwnFolder) -> Result<Option<Claim>, ClaimError> {
        if let Some(folder) = furnished(&root, instance)? {
            return Claim::of(instance, root, folder);
        }
        passing::remove_left(&root, instance.name())?;
        let Some((folder, lock)) = passing::make(&root, instance.name())? else { return Ok(None) };
        let claim = Claim { lock, root, folder, instance: instance.clone() };
        Ok(claim.is_current().then_some(claim))
    }

    /// Claims a folder that was found. `None`: the locked file or the folder has lost its name meanwhile.
    fn of(instance: &InstanceDir, root: OwnFolder, folder: OwnFolder) -> Result<Option<Claim>, ClaimError> {
        if !is_ours(&folder)? && !has_empty_lock_only(&folder)? {
            // Its name is no longer its own when it was removed since it was opened.
            return match root.still_has(instance.name(), &folder) {
                false => Ok(None),
                true => Err(ClaimError::NotOurs { path: folder.path().to_owned() }),
            };
        }
        let lock = OwnFile::open(|| folder.create_file(LOCK, LOCK_MODE))?;
        let io = |action| {
            let path = folder.path().join(LOCK);
            move |source| FolderError::Io { action, path, source }
        };
        let is_taken = take_lock(&lock).map_err(io("lock"))?;
        if !folder.still_has(LOCK, &lock) || !root.still_has(instance.name(), &folder) {
            return Ok(None);
        }
        if !is_taken {
            let holder = read_holder(&lock);
            if holder.is_some_and(Holder::is_ending) {
                std::thread::sleep(PAUSE);
                return Ok(None);
            }
            return Err(ClaimError::Held { holder });
        }
        mark(&lock).map_err(io("write"))?;
        Ok(Some(Claim { lock, root, folder, instance: instance.clone() }))
    }

    /// The instance.
    pub fn instance(&self) -> &InstanceDir {
        &self.instance
    }

    /// False once the instance's folder or its lock was removed, even if others now have their names.
    pub fn is_current(&self) -> bool {
        self.folder.still_has(LOCK, &self.lock) && self.root.still_has(self.instance.name(), &self.folder)
    }

    /// Whether any process writes a journal of the instance or reads one from a seat, in any pid namespace, according
    /// to their locks.
    ///
    /// # Errors
    /// The error of the system.
    pub fn is_in_use(&self) -> io::Result<bool> {
        let journals = match self.folder.folder(JOURNALS) {
            // A link here does not lead to journals of this instance.
            Err(error) if error.is_missing() || matches!(error, FolderError::Kind { .. }) => {
                return Ok(false);
            }
            journals => journals?,
        };
        for name in journals.names()? {
            let Some(name) = name.to_str().filter(|name| name.ends_with(".lock")) else { continue };
            let lock = match journals.file(name) {
                Err(error) if error.is_missing() => continue,
                lock => lock?,
            };
            if is_held(&lock) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Removes all but the folder and its lock, rings on huge pages and unfinished folders included.
    ///
    /// # Errors
    /// The error of the system; missing files are not an error.
    pub fn clear(&self) -> io::Result<()> {
        if self.is_current() {
            remove_rings_on_huge_pages(&self.instance)?;
            passing::remove_left(&self.root, self.instance.name())?;
        }
        for name in self.folder.names()? {
            if name != LOCK {
                self.folder.remove(&name)?;
            }
        }
        Ok(())
    }

    /// Removes the instance with everything in it, including rings on huge pages. A successor under the same name is
    /// left alone, even when this is called twice.
    ///
    /// # Errors
    /// As [`Claim::clear`].
    pub fn remove(&self) -> io::Result<()> {
        self.clear()?;
        if self.is_current() {
            passing::retire(&self.root, &self.folder, self.instance.name())?;
            InstanceDir::forget_root();
        }
        Ok(())
    }

    /// Creates the folder of the journals.
    ///
    /// # Errors
    /// The error of the system.
    pub fn create_journals(&self) -> Result<(), FolderError> {
        self.folder.create_folder(JOURNALS).map(drop)
    }

    /// Opens a file of the instance for writing, and creates it if it is missing.
    ///
    /// # Errors
    /// The error of the system, or the name belongs to something else.
    pub fn create_file(&self, name: &str) -> Result<File, FolderError> {
        self.folder.create_file(name, FILE_MODE)
    }
}

const REGISTRY: &str = "registry";

/// Whether a folder is marked: by a lock that colo wrote, or a registry.
fn is_ours(folder: &OwnFolder) -> Result<bool, FolderError> {
    let begins = |name: &str, with: &[u8]| -> Result<bool, FolderError> {
        let mut file = match folder.file(name) {
            Ok(file) => file,
            Err(error) if error.is_missing() => return Ok(false),
            Err(error) => return Err(error),
        };
        let mut first = vec![0; with.len()];
        Ok(file.read_exact(&mut first).is_ok() && first == with)
    };
    let registry = journal::layout::REGISTRY_MAGIC.to_le_bytes();
    Ok(begins(LOCK, MARK.as_bytes())? || begins(REGISTRY, &registry)?)
}

/// The instance's folder, if there is one with anything in it.
fn furnished(root: &OwnFolder, instance: &InstanceDir) -> Result<Option<OwnFolder>, FolderError> {
    match root.folder(instance.name()) {
        Ok(folder) => Ok((!folder.names()?.is_empty()).then_some(folder)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error),
    }
}

/// What an earlier version left that was killed before it marked its lock.
fn has_empty_lock_only(folder: &OwnFolder) -> Result<bool, FolderError> {
    let only = folder.names()?.iter().all(|name| name == LOCK);
    let empty = |file: File| file.metadata().is_ok_and(|found| found.len() == 0);
    match folder.file(LOCK) {
        Ok(file) => Ok(only && empty(file)),
        Err(error) if error.is_missing() => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether the folder of this instance is marked; false when there is none.
pub(crate) fn is_marked(instance: &InstanceDir) -> Result<bool, FolderError> {
    let folder = OwnFolder::open(&InstanceDir::root()).and_then(|root| root.folder(instance.name()));
    match folder {
        Ok(folder) => is_ours(&folder),
        Err(error) if error.is_missing() => Ok(false),
        Err(error) => Err(error),
    }
}

/// The holder of the instance, queried without taking a lock; valid in any pid namespace.
pub(crate) fn holder(instance: &InstanceDir) -> Holding {
    let lock = OwnFolder::open(&InstanceDir::root())
        .and_then(|root| root.folder(instance.name()))
        .and_then(|folder| folder.file(LOCK));
    let Ok(lock) = lock else { return Holding::Free };
    if is_held(&lock) { Holding::By(read_holder(&lock)) } else { Holding::Free }
}

/// Whether an instance is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holding {
    /// Not held.
    Free,
    /// This process, if the lock file says so.
    By(Option<Holder>),
}

/// Removes the rings of an instance on every huge-page mount, and nothing else.
fn remove_rings_on_huge_pages(instance: &InstanceDir) -> io::Result<()> {
    for mount in huge_mounts() {
        let place = mount.path.join(InstanceDir::root_on_huge_pages());
        let opened = OwnFolder::open(&place).and_then(|root| Ok((root.folder(instance.name())?, root)));
        let (folder, root) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                if !error.is_missing() {
                    log::warn!("rings on huge pages are left alone: {error}");
                }
                continue;
            }
        };
        for name in folder.names()? {
            let is_ring =
                name.to_str().is_some_and(|name| name.ends_with(".ring") || name.ends_with(".ring.new"));
            if is_ring {
                folder.remove(&name)?;
            }
        }
        root.remove_empty(instance.name());
        let _ = std::fs::remove_dir(&place);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{FileExt, PermissionsExt};

    use super::*;

    #[test]
    fn who_may_only_read_refuses_no_claim() {
        let folder = tempfile::tempdir().unwrap();
        let take = || {
            let root = OwnFolder::create(folder.path(), FOLDER_MODE).unwrap();
            Claim::try_take(&InstanceDir::new("claimed").unwrap(), root)
        };
        drop(take().unwrap().expect("nobody has it"));
        let path = folder.path().join("claimed").join(LOCK);
        let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode, 0o600, "who can open it can lock it");
        // A descriptor to read by is enough for this lock.
        let reader = File::open(path).unwrap();
        reader.lock().unwrap();
        assert!(take().unwrap().is_some());
    }

    #[test]
    fn a_lock_that_outlives_its_holder_is_waited_for_and_not_that_of_a_living_one() {
        let folder = tempfile::tempdir().unwrap();
        let take = || {
            let root = OwnFolder::create(folder.path(), FOLDER_MODE).unwrap();
            Claim::try_take(&InstanceDir::new("claimed").unwrap(), root)
        };
        let first = take().unwrap().expect("nobody has it");
        assert!(matches!(take(), Err(ClaimError::Held { holder: Some(holder) }) if !holder.is_ending()));
        // As if it were held by a child of a dead process.
        let Holder { process, namespace } = Holder::current();
        let text = format!("{MARK} pid={} start={} pidns={namespace}\n", process.pid, process.start + 1);
        first.lock.write_all_at(text.as_bytes(), 0).unwrap();
        first.lock.set_len(text.len() as u64).unwrap();
        assert!(matches!(take(), Ok(None)), "it is tried again");
        drop(first);
        assert!(take().unwrap().is_some());
    }
}
