//! The processes of the nodes: started by this master, or taken over.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use journal::process::{PidFd, ProcessIdentity};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use node::{INSTANCE_VARIABLE, InstanceDir, LogMark, NODE_VARIABLE};
use topology::{NodeSpec, Program};

use crate::group::{Group, Remainder};
use crate::lives::Ended;

/// One process. Dropping this does not end it.
#[derive(Debug)]
pub(crate) struct NodeProcess {
    identity: ProcessIdentity,
    /// `None` when the system provided none: its end is then noticed at the next look.
    handle: Option<PidFd>,
    /// The exit code is available only for processes that we started ourselves.
    child: Option<Child>,
    /// The processes that its program has started; `None` when they must not be ended with it.
    group: Option<Group>,
    /// The end of its log when it started: later text is its own.
    log_from: LogMark,
}

impl NodeProcess {
    /// Starts a node's program in a process group of its own, so that a Ctrl-C at the terminal reaches only the
    /// foreground process. Its output goes to its log.
    pub(crate) fn start(
        colo: &Path,
        directory: &InstanceDir,
        node: &NodeSpec,
        arguments: &[&str],
    ) -> io::Result<NodeProcess> {
        let mut command = match &node.program {
            Program::Path(path) => node::program::command(path),
            Program::Builtin(name) => {
                let mut command = Command::new(colo);
                command.arg("run");
                if node.kind == topology::NodeKind::Strategy {
                    command.arg("strategy");
                }
                command.arg(name);
                command
            }
        };
        let log_from = LogMark::at_the_end_of(&directory.log(&node.name));
        let log = OpenOptions::new().create(true).append(true).open(directory.log(&node.name))?;
        let child = command
            .args(arguments)
            .env(INSTANCE_VARIABLE, directory.name())
            .env(NODE_VARIABLE, &node.name)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0)
            .spawn()?;
        // A child that has ended already is a zombie until we reap it, so its pid is not reused.
        let pid = child.id();
        let identity = ProcessIdentity::of(pid).unwrap_or(ProcessIdentity { pid, start: 0 });
        // A child without a handle, because it has ended or the system provides none, is managed all the same.
        let handle = PidFd::open(identity).ok();
        let group = Group::led_by(pid);
        Ok(NodeProcess { identity, handle, child: Some(child), group, log_from })
    }

    /// Takes over a process that another process started, in this group.
    ///
    /// # Errors
    /// It has ended.
    pub(crate) fn adopt(identity: ProcessIdentity, group: Option<Group>) -> io::Result<NodeProcess> {
        let handle = match PidFd::open(identity) {
            Err(error) if error.raw_os_error() == Some(nix::libc::ESRCH) => return Err(error),
            other => other.ok(),
        };
        Ok(NodeProcess { identity, handle, child: None, group, log_from: LogMark::default() })
    }

    /// Start of its own text in its log.
    pub(crate) fn log_from(&self) -> LogMark {
        self.log_from
    }

    /// The group that its program was started in.
    pub(crate) fn group(&self) -> Option<Group> {
        self.group
    }

    /// The rest of its group, once it has ended.
    pub(crate) fn remainder(&self, node: &str, patience: Duration, overstayed: bool) -> Option<Remainder> {
        Remainder::of(self.group?, node, patience, overstayed)
    }

    /// Our child, still to be reaped, when another process has taken its place.
    pub(crate) fn into_child(self) -> Option<Child> {
        self.child
    }

    pub(crate) fn identity(&self) -> ProcessIdentity {
        self.identity
    }

    /// How it ended, if it has. `sits`: the process of this id that still sits in its seat.
    pub(crate) fn ended(
        &mut self,
        sits: impl Fn(ProcessIdentity) -> Option<ProcessIdentity>,
    ) -> Option<Ended> {
        match &mut self.child {
            Some(child) => match child.try_wait() {
                Ok(None) => None,
                Ok(Some(status)) => Some(match (status.code(), status.signal()) {
                    (Some(code), _) => Ended::Exit(code as u8),
                    (None, Some(signal)) => Ended::Signal(signal),
                    (None, None) => Ended::Unknown,
                }),
                Err(_) => Some(Ended::Unknown),
            },
            None if let Some(handle) = &self.handle => has_ended(handle).then_some(Ended::Unknown),
            None => match sits(self.identity) {
                Some(sitting) => {
                    self.identity = sitting;
                    None
                }
                None => Some(Ended::Unknown),
            },
        }
    }

    /// Readable once it has ended.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.handle.as_ref().map(AsFd::as_fd)
    }

    /// Sends a signal. A process that has ended is not an error.
    pub(crate) fn signal(&self, signal: Signal) {
        let sent = match &self.handle {
            Some(handle) => handle.signal(signal as i32),
            None => PidFd::open(self.identity).and_then(|handle| handle.signal(signal as i32)),
        };
        if let Err(error) = sent {
            log::debug!("process {} takes no {signal}: {error}", self.identity.pid);
        }
    }
}

/// Whether the process of a handle has ended.
fn has_ended(handle: &PidFd) -> bool {
    let mut ended = [PollFd::new(handle.as_fd(), PollFlags::POLLIN)];
    poll(&mut ended, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
}
