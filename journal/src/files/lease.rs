//! Leases on the right to write a journal, and to read it in a seat: locks that the kernel releases with the process.
//!
//! Lending frames in place is sound only while one reader moves a cursor and one writer moves the head. These leases
//! ensure it within this process as well as between processes:
//!
//! - the writer holds a lock on one byte of the lock file, a reader with a seat on another;
//! - they are open-file-description locks for writing: only who may write the file can take or hold them up, and
//!   `F_OFD_GETLK` tells whether somebody lives there, across pid namespaces.
//!
//! A child of a fork does not get the lock file ([`OwnFile`]): it would keep the lock of a parent that has ended.
//!
//! A journal in memory keeps the same leases in a set.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::fork::OwnFile;
use crate::layout::{LOCK_MAGIC, lock};

/// The right that is leased.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// To write the journal.
    Writer,
    /// To read it in this seat.
    Seat(u32),
}

/// The taken roles of a journal in memory.
pub(crate) type RoleTable = Arc<Mutex<BTreeSet<Role>>>;

/// An role, held until this is dropped or the process ends.
#[derive(Debug)]
pub(crate) enum Lease {
    File(OwnFile, Role),
    Memory(RoleTable, Role),
}

impl Role {
    /// The byte of the lock file that stands for the role.
    fn byte(self) -> u64 {
        match self {
            Role::Writer => lock::WRITER_BYTE,
            Role::Seat(seat) => lock::SEAT_BYTES + u64::from(seat),
        }
    }
}

impl Lease {
    /// Takes a role in the journal of this lock file; `None` when it is taken.
    ///
    /// # Errors
    /// The error of the system.
    pub(crate) fn of_file(file: OwnFile, role: Role) -> io::Result<Option<Lease>> {
        Ok(set_lock(&file, role, libc::F_WRLCK)?.then_some(Lease::File(file, role)))
    }

    /// Takes a role in a journal in memory; `None` when it is taken.
    pub(crate) fn of_memory(table: &RoleTable, role: Role) -> Option<Lease> {
        let mut roles = table.lock().unwrap_or_else(PoisonError::into_inner);
        roles.insert(role).then(|| Lease::Memory(Arc::clone(table), role))
    }
}

impl Drop for Lease {
    /// Unlocks explicitly: a child that was made by the bare system call may hold the same open file. If that fails, the lock
    /// ends with the file. A child of a fork unlocks nothing: the lock is its parent's.
    fn drop(&mut self) {
        match self {
            Lease::File(file, role) => {
                if file.is_here() {
                    let _ = set_lock(file, *role, libc::F_UNLCK);
                }
            }
            Lease::Memory(table, role) => {
                table.lock().unwrap_or_else(PoisonError::into_inner).remove(role);
            }
        }
    }
}

/// The identity in a lock file; `None` when it is none.
pub(crate) fn identity_of(mut file: &File) -> io::Result<Option<u64>> {
    let mut bytes = [0; 8 * lock::WORDS];
    match file.read_exact(&mut bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let word = |index: usize| bytes.as_chunks::<8>().0.get(index).map(|word| u64::from_le_bytes(*word));
    Ok(word(lock::IDENTITY).filter(|_| word(lock::MAGIC) == Some(LOCK_MAGIC)))
}

/// The process that holds the lock of a role, as far as `/proc` shows: the lock itself names none.
pub(crate) fn holder(lock: &Path, role: Role) -> Option<u32> {
    let wanted = (std::fs::metadata(lock).ok()?.ino(), role.byte());
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    let mut pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.find(|pid| locks_of(*pid).contains(&wanted))
}

/// The open-file-description locks of a process: the inodes of the files, and the first byte of each lock. Empty where its
/// descriptors may not be looked at.
pub(crate) fn locks_of(pid: u32) -> Vec<(u64, u64)> {
    let files = std::fs::read_dir(format!("/proc/{pid}/fdinfo")).into_iter().flatten().flatten();
    let texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
    let of = |text: String| -> Vec<(u64, u64)> { text.lines().filter_map(lock_in).collect() };
    texts.flat_map(of).collect()
}

/// `lock:  1: OFDLCK  ADVISORY  WRITE -1 00:1a:1234 64 64`
fn lock_in(line: &str) -> Option<(u64, u64)> {
    let mut words = line.strip_prefix("lock:")?.split_ascii_whitespace().skip(5);
    let inode = words.next()?.rsplit(':').next()?.parse().ok()?;
    Some((inode, words.next()?.parse().ok()?))
}

/// Whether any process holds the lock of a role; false where the file cannot be opened. The query takes no lock.
pub(crate) fn is_taken(lock: &Path, role: Role) -> bool {
    let Ok(file) = File::options().read(true).write(true).open(lock) else { return false };
    let mut range = byte_range(role, libc::F_WRLCK);
    // SAFETY: an open descriptor, and a range that the kernel fills in.
    let done = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &mut range as *mut libc::flock) };
    done == 0 && libc::c_int::from(range.l_type) != libc::F_UNLCK
}

fn byte_range(role: Role, kind: libc::c_int) -> libc::flock {
    libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: role.byte() as libc::off_t,
        l_len: 1,
        l_pid: 0,
    }
}

/// Locks or unlocks the byte of a role; false when it is locked through another open file.
fn set_lock(file: &File, role: Role, kind: libc::c_int) -> io::Result<bool> {
    let range = byte_range(role, kind);
    // SAFETY: an open descriptor, and a range that the kernel only reads.
    let refused = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &range as *const libc::flock) };
    if refused == 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EACCES) => Ok(false),
        _ => Err(error),
    }
}
