//! Locks a process's memory in RAM.

use std::io;

/// The memory could not be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The kernel refused.
    #[error(
        "the process's memory cannot be locked (mlockall): {source}; raise the limit (`ulimit -l unlimited`, LimitMEMLOCK=infinity in a unit), \
         give it CAP_IPC_LOCK, or leave out platform.lock_memory"
    )]
    Refused {
        /// The kernel's error.
        source: io::Error,
    },
    /// The call succeeded, but no memory is locked.
    #[error("mlockall succeeded, but /proc/self/status says VmLck: 0 kB; this kernel does not lock memory")]
    Nothing,
}

/// Keeps every page of this process in RAM from its first access on: current and future mappings, private memory and
/// journals. Such a page is never swapped out and never read from a file again. Returns the kilobytes locked now, read
/// from `/proc/self/status`.
///
/// # Errors
/// [`LockError`]: the limit is too low, or the permission is missing.
pub fn lock_memory() -> Result<u64, LockError> {
    // On fault: locks existing pages now, and the rest when they are accessed. Otherwise every stack and ring would be
    // populated at once, whether it is used or not.
    let flags = libc::MCL_CURRENT | libc::MCL_FUTURE | libc::MCL_ONFAULT;
    // SAFETY: changes how long pages stay in memory, not their contents.
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
                // SAFETY: reverts the call above.
                assert_eq!(unsafe { libc::munlockall() }, 0);
            }
            Err(error) => {
                assert!(error.to_string().contains("memory") && error.to_string().contains("lock"), "{error}")
            }
        }
    }
}
