//! Processes that a node's program has started: they belong to the node's process group, and end with it.

use std::fs;
use std::io;
use std::time::{Duration, Instant};

use journal::process::{PidFd, ProcessIdentity};
use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, getpgid, getpgrp};
use node::InstanceDir;

/// Time for a script that has started the node to finish after it.
const GRACE: Duration = Duration::from_millis(500);
/// Pause between two looks at the remaining processes.
const LOOK: Duration = Duration::from_millis(20);

/// The process group of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group(Pid);

impl Group {
    /// The group led by a child that was started with a group of its own.
    pub(crate) fn led_by(pid: u32) -> Option<Group> {
        Some(Group(Pid::from_raw(i32::try_from(pid).ok()?)))
    }

    /// The group of a process that an earlier master has started. `None` for one that was started by hand, whose group
    /// belongs to its user.
    pub(crate) fn of(process: ProcessIdentity, instance: &InstanceDir) -> Option<Group> {
        let group = getpgid(Some(Pid::from_raw(i32::try_from(process.pid).ok()?))).ok()?;
        let node = node::started_for(process.pid, instance)?;
        let leader = u32::try_from(group.as_raw()).ok()?;
        let is_ours = ProcessIdentity::of(leader).is_none()
            || node::started_for(leader, instance).is_some_and(|other| other == node);
        (is_ours && group != getpgrp()).then_some(Group(group))
    }

    /// True when the group has no process, not even a zombie. Until then its number is not reused.
    fn is_empty(self) -> bool {
        killpg(self.0, None) == Err(Errno::ESRCH)
    }

    /// All processes of the group except zombies.
    fn members(self) -> Vec<ProcessIdentity> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let ours = pids.filter(|pid| getpgid(Some(Pid::from_raw(*pid))) == Ok(self.0));
        ours.filter_map(|pid| ProcessIdentity::of(u32::try_from(pid).ok()?)).collect()
    }
}

/// The remaining processes of a group whose node has ended.
#[derive(Debug)]
pub(crate) struct Remainder {
    group: Group,
    node: String,
    looked: Option<Instant>,
    /// When they are to be asked to end; `None` once they were.
    ask_at: Option<Instant>,
    /// When they are to be killed.
    kill_at: Instant,
}

impl Remainder {
    /// The rest of this node's group, if there is any. The processes have `patience` to end when asked to; none when
    /// the node itself had to be killed.
    pub(crate) fn of(group: Group, node: &str, patience: Duration, was_killed: bool) -> Option<Remainder> {
        if group.is_empty() {
            return None;
        }
        let now = Instant::now();
        let (ask_at, kill_at) =
            if was_killed { (None, now) } else { (Some(now + GRACE), now + GRACE + patience) };
        Some(Remainder { group, node: node.to_owned(), looked: None, ask_at, kill_at })
    }

    /// Does what is due. False once no process remains.
    pub(crate) fn look(&mut self) -> bool {
        let now = Instant::now();
        if self.looked.is_some_and(|looked| now < looked + LOOK) {
            return true;
        }
        self.looked = Some(now);
        if self.group.is_empty() {
            return false;
        }
        let members = self.group.members();
        if now >= self.kill_at {
            self.signal(&members, Signal::SIGKILL);
        } else if self.ask_at.is_some_and(|at| now >= at) {
            self.ask_at = None;
            self.signal(&members, Signal::SIGTERM);
        }
        !members.is_empty()
    }

    fn signal(&self, members: &[ProcessIdentity], signal: Signal) {
        for member in members {
            match PidFd::open(*member).and_then(|handle| handle.signal(signal as i32)) {
                Ok(()) => log::info!(
                    "process {}, which the program of node `{}` has started, gets {signal}",
                    member.pid,
                    self.node
                ),
                Err(error) if error.raw_os_error() == Some(Errno::ESRCH as i32) => {}
                Err(error) => self.keeps(member.pid, &error),
            }
        }
    }

    fn keeps(&self, pid: u32, error: &io::Error) {
        log::warn!("process {pid}, which the program of node `{}` has started, runs on: {error}", self.node);
    }
}
