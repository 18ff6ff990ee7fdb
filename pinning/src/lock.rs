//! Keeping a process's memory in RAM.

use std::io;

/// Why memory is not locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The kernel refused.
    #[error(
        "the process's memory cannot be locked (mlockall): {source}; raise the limit (`ulimit -l unlimited`, LimitMEMLOCK=infinity in a unit), \
         give it CAP_IPC_LOCK, or leave out platform.lock_memory"
    )]
    Refused {
        /// Its answer.
        source: io::Error,
    },
    /// It agreed, and nothing is locked.
    #[error("mlockall succeeded, but /proc/self/status says VmLck: 0 kB; this kernel does not lock memory")]
    Nothing,
}

/// Keeps every page of this process in RAM from its first touch on: what is mapped now and what will be, its own memory
/// and the journals. Such a page is never swapped out and never has to be read from a file again. Read back from
/// `/proc/self/status`: the kilobytes locked now.
///
/// # Errors
/// [`LockError`]: the limit is too low, or the right is missing.
pub fn lock_memory() -> Result<u64, LockError> {
    // On fault: locks what is there, and the rest when it is touched. Without, every stack and ring would be filled at
    // once, whether it is ever used or not.
    let flags = libc::MCL_CURRENT | libc::MCL_FUTURE | libc::MCL_ONFAULT;
    // SAFETY: changes how long pages stay in memory, and nothing that is in them.
    if unsafe { libc::mlockall(flags) } != 0 {
        return Err(LockError::Refused { source: io::Error::last_os_error() });
    }
    match locked_kib() {
        Some(0) => Err(LockError::Nothing),
        kib => Ok(kib.unwrap_or_default()),
    }
}

/// `VmLck` of this process.
fn locked_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmLck:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_locked_or_the_refusal_says_what_to_do() {
        match lock_memory() {
            Ok(kib) => {
                println!("{kib} KiB locked");
                assert!(kib > 0);
                // SAFETY: takes back what the line above did.
                assert_eq!(unsafe { libc::munlockall() }, 0);
            }
            Err(error) => {
                assert!(error.to_string().contains("memory") && error.to_string().contains("lock"), "{error}")
            }
        }
    }
}
