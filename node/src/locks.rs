//! Who lives, by the locks of the journals.
//!
//! A process that sits in a seat holds a lock for each journal that it writes, or reads from its seat. The kernel releases it
//! with the process, and it is seen from every namespace. A start time is not: it differs between time namespaces, and
//! changes when a process is restored from a checkpoint.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt};

use journal::layout::{control, lock};
use journal::process::{self, ProcessIdentity};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;

use crate::folder::OwnFolder;
use crate::instance::{InstanceDir, JOURNALS};

impl InstanceDir {
    /// The process that sits in this seat, which `noted` names, and has not ended according to the locks that it holds; with the
    /// start time that is seen from here. `None` when nothing holds a lock of the seat.
    ///
    /// Where the lock is held and `noted` is no process of this namespace that holds it, it is returned as it is.
    pub fn locked_by(&self, seat: u32, noted: ProcessIdentity) -> Option<ProcessIdentity> {
        let inodes = self.locks_of(seat);
        if inodes.is_empty() {
            return None;
        }
        let holds = process::locked_files(noted.pid).iter().any(|inode| inodes.contains(inode));
        let seen = ProcessIdentity::of(noted.pid).filter(|_| holds);
        Some(seen.unwrap_or(noted))
    }

    /// The process with the id of `noted`, as it is seen from here, if it is the one that sits in this seat: `noted` lives by its
    /// start time, or a process with its id holds a lock of the seat. A start time alone does not decide: it changes when a
    /// process is restored from a checkpoint.
    pub fn sits(&self, seat: u32, noted: ProcessIdentity) -> Option<ProcessIdentity> {
        if noted.is_alive() {
            return Some(noted);
        }
        let seen = ProcessIdentity::of(noted.pid)?;
        let held = process::locked_files(noted.pid);
        (!held.is_empty() && self.locks_of(seat).iter().any(|inode| held.contains(inode))).then_some(seen)
    }

    /// The lock files of the journals in which a lock of this seat is held, by their inodes. None where they may not be opened.
    fn locks_of(&self, seat: u32) -> Vec<u64> {
        let journals = OwnFolder::open(&InstanceDir::root())
            .and_then(|root| root.folder(self.name()))
            .and_then(|folder| folder.folder(JOURNALS));
        let Ok(journals) = journals else { return Vec::new() };
        let held = |name: String| {
            let file = journals.file(&format!("{name}.lock")).ok()?;
            let writes =
                journals.file(&format!("{name}.ctl")).is_ok_and(|page| writer_seat(&page) == Some(seat));
            let is_held = is_locked(&file, lock::SEAT_BYTES + u64::from(seat), 1)
                || writes && is_locked(&file, lock::WRITER_BYTE, 1);
            is_held.then(|| file.metadata().map_or(0, |data| data.ino()))
        };
        self.journal_names().unwrap_or_default().into_iter().filter_map(held).collect()
    }
}

/// The seat of the writer in a control page.
fn writer_seat(page: &File) -> Option<u32> {
    let mut word = [0; 8];
    page.read_exact_at(&mut word, (control::WRITER * 8) as u64).ok()?;
    Some((u64::from_le_bytes(word) >> 32) as u32)
}

/// The range of a whole file, for locking it or querying its locks.
fn whole_file(kind: i32) -> libc::flock {
    let (l_type, l_whence) = (kind as libc::c_short, libc::SEEK_SET as libc::c_short);
    libc::flock { l_type, l_whence, l_start: 0, l_len: 0, l_pid: 0 }
}

/// Locks the file; false when it is locked through another open file.
pub(crate) fn take_lock(lock: &File) -> io::Result<bool> {
    match fcntl(lock.as_fd(), FcntlArg::F_OFD_SETLK(&whole_file(libc::F_WRLCK))) {
        Ok(_) => Ok(true),
        Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether another open file holds an open-file-description lock on any part of this one.
pub(crate) fn is_held(file: &File) -> bool {
    is_locked(file, 0, 0)
}

/// Whether another open file holds a lock of these bytes; `length` 0: to the end. True where that cannot be queried.
pub(crate) fn is_locked(file: &File, start: u64, length: u64) -> bool {
    let mut range = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: start as libc::off_t,
        l_len: length as libc::off_t,
        l_pid: 0,
    };
    match fcntl(file.as_fd(), FcntlArg::F_OFD_GETLK(&mut range)) {
        Ok(_) => i32::from(range.l_type) != libc::F_UNLCK,
        Err(_) => true,
    }
}
