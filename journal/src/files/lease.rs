//! Leases on the right to write a journal, and to read it in a seat: locks that the kernel releases with the process.
//!
//! Lending frames in place is sound only while one reader moves a cursor and one writer moves the head. These leases
//! ensure it within this process as well as between processes:
//!
//! - the writer holds `flock` on the control file;
//! - a reader with a seat holds an open-file-description lock on the 64 bytes of the seat's cursor.
//!
//! A journal in memory keeps the same leases in a set.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io;
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, PoisonError};

use crate::layout::{LINE_BYTES, LINE_WORDS, WORD_BYTES, control};

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
    File(File, Role),
    Memory(RoleTable, Role),
}

impl Lease {
    /// Takes an role of the journal with this control file; `None` when it is taken.
    ///
    /// # Errors
    /// The error of the system.
    pub(crate) fn of_file(file: File, role: Role) -> io::Result<Option<Lease>> {
        let taken = match role {
            Role::Writer => match file.try_lock() {
                Ok(()) => false,
                Err(TryLockError::WouldBlock) => true,
                Err(TryLockError::Error(error)) => return Err(error),
            },
            Role::Seat(seat) => !set_cursor_lock(&file, seat, libc::F_WRLCK)?,
        };
        Ok((!taken).then_some(Lease::File(file, role)))
    }

    /// Takes an role of a journal in memory; `None` when it is taken.
    pub(crate) fn of_memory(table: &RoleTable, role: Role) -> Option<Lease> {
        let mut roles = table.lock().unwrap_or_else(PoisonError::into_inner);
        roles.insert(role).then(|| Lease::Memory(Arc::clone(table), role))
    }
}

impl Drop for Lease {
    /// Unlocks explicitly: a process that was forked a moment ago may hold the same open file until it calls exec. If
    /// that fails, the lock ends with the file.
    fn drop(&mut self) {
        match self {
            Lease::File(file, Role::Writer) => drop(file.unlock()),
            Lease::File(file, Role::Seat(seat)) => drop(set_cursor_lock(file, *seat, libc::F_UNLCK)),
            Lease::Memory(table, role) => {
                table.lock().unwrap_or_else(PoisonError::into_inner).remove(role);
            }
        }
    }
}

/// Locks or unlocks a cursor's bytes; false when they are locked through another open file.
fn set_cursor_lock(file: &File, seat: u32, kind: libc::c_int) -> io::Result<bool> {
    let first = (control::CURSORS + seat as usize * LINE_WORDS) * WORD_BYTES;
    let range = libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: first as libc::off_t,
        l_len: LINE_BYTES as libc::off_t,
        l_pid: 0,
    };
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
