//! Children that nobody else waits for: process 1 of a container gets every process whose parent has ended.

use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};

/// True for the first process of a pid namespace, with which all others end.
pub fn is_first_process() -> bool {
    std::process::id() == 1
}

/// Reaps what has ended, but for `master`, whose end its own handle notices.
pub(crate) fn reap(master: Option<u32>) {
    let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    while let Ok(status) = waitid(Id::All, look) {
        let (WaitStatus::Exited(pid, _) | WaitStatus::Signaled(pid, ..)) = status else { return };
        // Seen again at the next look, once its handle has reaped it.
        if u32::try_from(pid.as_raw()).ok() == master {
            return;
        }
        let _ = waitpid(pid, Some(WaitPidFlag::WNOHANG));
    }
}
