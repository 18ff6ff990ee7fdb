//! The two futex system calls.
#![cfg(not(loom))]

use std::time::Duration;

use crate::sync::AtomicU64;

/// Sleeps while the word's low half equals `expected`. True on a time-out, false for any other end.
pub(crate) fn futex_wait(word: &AtomicU64, expected: u32, timeout: Duration) -> bool {
    let time = libc::timespec {
        tv_sec: timeout.as_secs() as _,
        tv_nsec: libc::c_long::from(timeout.subsec_nanos() as i32),
    };
    // The low half of a little-endian word lies at its address.
    // SAFETY: the word and the timespec live across the call; the kernel only reads them. Not a private futex: the
    // word is shared between processes.
    let refused = unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT,
            expected,
            &time as *const libc::timespec,
        )
    };
    refused != 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ETIMEDOUT)
}

pub(crate) fn futex_wake(word: &AtomicU64) {
    // SAFETY: the kernel uses the address as a key only.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, 1) };
}
