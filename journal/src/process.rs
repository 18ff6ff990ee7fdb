//! The identity of a process: never a bare pid, because pids are reused.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;
use std::time::Duration;

/// A process id and the start time of the process: together they identify one process for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProcessIdentity {
    /// Process id.
    pub pid: u32,
    /// Clock ticks since boot (field 22 of `/proc/PID/stat`).
    pub start: u64,
}

impl ProcessIdentity {
    /// This process.
    pub fn current() -> ProcessIdentity {
        let pid = std::process::id();
        ProcessIdentity { pid, start: start_time(pid).unwrap_or(0) }
    }

    /// The process that has this pid now, if there is one.
    pub fn of(pid: u32) -> Option<ProcessIdentity> {
        start_time(pid).map(|start| ProcessIdentity { pid, start })
    }

    /// True while it runs. False for a zombie, which only waits to be reaped by its parent.
    pub fn is_alive(&self) -> bool {
        self.pid != 0 && start_time(self.pid) == Some(self.start)
    }

    /// How long it has run; `None` where the system does not tell.
    pub fn age(&self) -> Option<Duration> {
        let uptime = fs::read_to_string("/proc/uptime").ok()?;
        let uptime: f64 = uptime.split_ascii_whitespace().next()?.parse().ok()?;
        // SAFETY: sysconf takes a number and touches no memory of ours.
        let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
        (ticks > 0).then(|| Duration::from_secs_f64((uptime - self.start as f64 / ticks as f64).max(0.0)))
    }

    /// Whether it was killed and has not ended yet: SIGKILL waits for it, or it is being taken down.
    pub fn is_killed(&self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        let flags: u64 =
            fields.split_ascii_whitespace().nth(6).and_then(|flags| flags.parse().ok()).unwrap_or(0);
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let mut pending = status.lines().filter_map(|line| {
            let mask = line.strip_prefix("SigPnd:").or(line.strip_prefix("ShdPnd:"))?;
            u64::from_str_radix(mask.trim(), 16).ok()
        });
        flags & EXITING != 0 || pending.any(|mask| mask >> (libc::SIGKILL - 1) & 1 == 1)
    }

    /// True while it is stopped by a signal or a debugger.
    pub fn is_stopped(&self) -> bool {
        let now = state_and_start(self.pid);
        now.is_some_and(|(state, start)| start == self.start && matches!(state, 'T' | 't'))
    }
}

/// Flag of a process that is ending (`PF_EXITING`), in field 9 of `/proc/PID/stat`.
const EXITING: u64 = 4;

/// The pid namespace of this process, by the number of its inode; 0 where the kernel does not report it. Process ids
/// are comparable only among processes of one namespace.
pub fn pid_namespace() -> u64 {
    use std::os::unix::fs::MetadataExt;
    // A process never changes its own namespace.
    static NAMESPACE: OnceLock<u64> = OnceLock::new();
    *NAMESPACE.get_or_init(|| fs::metadata("/proc/self/ns/pid").map_or(0, |namespace| namespace.ino()))
}

/// Programs that this process starts from now on do not have the descriptors above 2 that are open now: what its caller left open, as a
/// lock of cron's or the end of a pipe, is not held by a platform that outlives the caller.
///
/// # Errors
/// The descriptors cannot be listed.
pub fn pass_no_descriptors_on() -> io::Result<()> {
    // SAFETY: the call changes a flag of descriptors, and neither closes one nor touches memory of ours.
    let done = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3 as libc::c_uint,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC as libc::c_uint,
        )
    };
    if done == 0 {
        return Ok(());
    }
    // Linux before 5.11, or a filter of system calls.
    for entry in fs::read_dir("/proc/self/fd")? {
        let name = entry?.file_name();
        if let Some(number) =
            name.to_str().and_then(|name| name.parse::<i32>().ok()).filter(|number| *number > 2)
        {
            // SAFETY: as above. A number that is closed by now is refused.
            let _ = unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
    Ok(())
}

/// The files of which a process holds open-file-description locks, by their inodes. Empty where its descriptors may not be looked
/// at, as those of another user.
pub fn locked_files(pid: u32) -> Vec<u64> {
    crate::files::lease::locks_of(pid).into_iter().map(|(inode, _)| inode).collect()
}

/// Whether a process runs in the time namespace of this one: in another, the same clock shows another time. True where the
/// system does not tell.
pub fn shares_time_namespace(pid: u32) -> bool {
    let namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/time")).ok();
    match (namespace("self"), namespace(&pid.to_string())) {
        (Some(ours), Some(theirs)) => ours == theirs,
        _ => true,
    }
}

/// `None` when there is no such process, or only its zombie.
fn start_time(pid: u32) -> Option<u64> {
    state_and_start(pid).map(|(_, start)| start)
}

fn state_and_start(pid: u32) -> Option<(char, u64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the command in parentheses, which may itself hold spaces and parentheses.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    if matches!(state, 'Z' | 'X') {
        return None;
    }
    Some((state, fields.nth(18)?.parse().ok()?))
}

/// Makes this process, and all that it starts from now on, ignore SIGHUP.
///
/// The kernel sends SIGHUP to a process group with a stopped member when the last process that could continue it ends: a
/// node that a debugger has stopped would die with master.
pub fn ignore_hangup() {
    // SAFETY: SIG_IGN installs no handler of ours, so nothing runs in the context of a signal.
    unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
}

/// A handle on one process: polls readable when it has ended, and takes signals without a race on its pid.
#[derive(Debug)]
pub struct PidFd(OwnedFd);

impl PidFd {
    /// Opens a handle.
    ///
    /// # Errors
    /// `ESRCH` when this process has ended (even when another now has its pid); other errors of the system.
    pub fn open(process: ProcessIdentity) -> io::Result<PidFd> {
        // SAFETY: pidfd_open takes two integers and touches no memory of ours.
        let raw = unsafe { libc::syscall(libc::SYS_pidfd_open, process.pid as libc::c_int, 0) };
        if raw < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call above has just created this descriptor; nothing else owns it.
        let handle = PidFd(unsafe { OwnedFd::from_raw_fd(raw as i32) });
        // The handle is opened first and the start time read second: if the pid were reused in between, the start time
        // would differ.
        if process.is_alive() { Ok(handle) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
    }

    /// Sends a signal.
    ///
    /// # Errors
    /// `ESRCH` when the process has ended; `EPERM` when it is not ours.
    pub fn signal(&self, signal: i32) -> io::Result<()> {
        // SAFETY: the descriptor is open, and the third argument may be null by contract.
        let done = unsafe {
            libc::syscall(
                libc::SYS_pidfd_send_signal,
                self.0.as_raw_fd(),
                signal,
                std::ptr::null::<libc::siginfo_t>(),
                0,
            )
        };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

impl AsFd for PidFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "miri starts no processes")]
    fn the_current_process_lives_and_an_impostor_does_not() {
        let me = ProcessIdentity::current();
        assert!(me.is_alive());
        assert!(me.age().is_some_and(|age| age < Duration::from_secs(24 * 3_600)), "{:?}", me.age());
        assert!(!ProcessIdentity { start: me.start + 1, ..me }.is_alive());
        assert!(PidFd::open(me).is_ok());
        assert!(PidFd::open(ProcessIdentity { start: me.start + 1, ..me }).is_err());
    }

    #[test]
    #[cfg_attr(miri, ignore = "miri starts no processes")]
    fn a_killed_child_is_seen_as_dead_before_it_is_reaped() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let identity = ProcessIdentity::of(child.id()).unwrap();
        assert!(!identity.is_killed());
        PidFd::open(identity).unwrap().signal(libc::SIGKILL).unwrap();
        // From the signal on, whatever the kernel has done about it so far.
        let mut looks = vec![identity.is_killed()];
        while identity.is_alive() {
            looks.push(identity.is_killed());
            std::thread::yield_now();
        }
        assert!(looks[0] || !identity.is_alive(), "{looks:?}");
        child.wait().unwrap();
        assert!(!identity.is_alive());
    }
}
