//! The processes of the nodes: started by us, or taken over.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use journal::{PidFd, ProcessIdentity};
use node::{INSTANCE_VARIABLE, InstanceDir, NODE_VARIABLE};
use topology::{NodeSpec, Program};

/// One process. Dropping it leaves the process alone.
#[derive(Debug)]
pub(crate) struct NodeProcess {
    identity: ProcessIdentity,
    handle: PidFd,
    /// Only of processes that we started ourselves can the exit code be had.
    child: Option<Child>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Exit(u8),
    Signal(i32),
    /// It was not our child.
    Unknown,
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ended::Exit(code) => write!(f, "ended with exit code {code}"),
            Ended::Signal(signal) => write!(f, "was killed by signal {signal}"),
            Ended::Unknown => f.write_str("ended"),
        }
    }
}

impl Ended {
    /// Exit code, 128 + signal, or -1.
    pub(crate) fn code(self) -> i32 {
        match self {
            Ended::Exit(code) => i32::from(code),
            Ended::Signal(signal) => 128 + signal,
            Ended::Unknown => -1,
        }
    }
}

impl NodeProcess {
    /// Starts a node's program in a process group of its own, so that a Ctrl-C at the terminal reaches only whoever
    /// runs in the foreground. Its output goes to its log.
    pub(crate) fn start(
        colo: &Path,
        directory: &InstanceDir,
        node: &NodeSpec,
        arguments: &[&str],
    ) -> io::Result<NodeProcess> {
        let mut command = match &node.program {
            Program::Path(path) => Command::new(path),
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
        // A child that has ended already is a zombie until we reap it, so its pid cannot be anybody else's.
        let pid = child.id();
        let identity = ProcessIdentity::of(pid).unwrap_or(ProcessIdentity { pid, start: 0 });
        match PidFd::open(identity) {
            Ok(handle) => Ok(NodeProcess { identity, handle, child: Some(child) }),
            Err(error) => {
                let mut child = child;
                let _ = child.kill();
                let status = child.wait()?;
                Err(io::Error::new(error.kind(), format!("it ended at once ({status})")))
            }
        }
    }

    /// Takes over a process that somebody else started.
    pub(crate) fn adopt(identity: ProcessIdentity) -> io::Result<NodeProcess> {
        Ok(NodeProcess { identity, handle: PidFd::open(identity)?, child: None })
    }

    pub(crate) fn identity(&self) -> ProcessIdentity {
        self.identity
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<Ended> {
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
            None => (!self.identity.is_alive()).then_some(Ended::Unknown),
        }
    }

    /// Sends a signal; a process that is gone already is fine.
    pub(crate) fn signal(&self, signal: nix::sys::signal::Signal) {
        if let Err(error) = self.handle.signal(signal as i32) {
            log::debug!("process {} takes no {signal}: {error}", self.identity.pid);
        }
    }
}

impl AsFd for NodeProcess {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}
