//! Errors of joining and running, with the exit code each leads to.

use std::path::PathBuf;

use journal::OpenError;

use crate::exit::Exit;
use crate::protocol::ProtocolError;

/// A process could not become a node.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The instance's name is no name.
    #[error("`{0}` is no instance name: use 1 to 32 of a-z, 0-9, `-`, `_`")]
    BadInstance(String),
    /// Nobody answers at the instance's socket.
    #[error("no master runs for instance `{instance}` ({}: {source}); start it with `colo up`", socket.display())]
    NoMaster {
        /// Which instance.
        instance: String,
        /// Where it should have been.
        socket: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// Master said no.
    #[error("master refuses node `{node}`: {reason}")]
    Refused {
        /// Which node.
        node: String,
        /// Master's words.
        reason: String,
    },
    /// The conversation broke.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// A journal or the registry cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The process cannot run where the plan says.
    #[error("cannot take its place: {0}")]
    Placement(#[from] pinning::ApplyError),
    /// Its memory cannot be kept in RAM.
    #[error(transparent)]
    Memory(#[from] pinning::LockError),
    /// The node's own section does not fit its program.
    #[error("section of node `{node}`: {source}")]
    Section {
        /// Which node.
        node: String,
        /// What does not fit.
        source: serde_json::Error,
    },
    /// The topology gives the node no such journal.
    #[error("node `{node}` needs a journal in the role `{role}` {direction}, and the topology gives it none")]
    NoSuchRole {
        /// Which node.
        node: String,
        /// The role.
        role: String,
        /// "to write" or "to read".
        direction: &'static str,
    },
    /// The process could not be set up.
    #[error("cannot {action}: {source}")]
    System {
        /// What was tried.
        action: &'static str,
        /// The system's answer.
        source: std::io::Error,
    },
}

impl JoinError {
    /// What the process ends with.
    pub fn exit(&self) -> Exit {
        match self {
            JoinError::BadInstance(_) | JoinError::Section { .. } | JoinError::NoSuchRole { .. } => {
                Exit::Usage
            }
            JoinError::NoMaster { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied => {
                Exit::Permission
            }
            JoinError::NoMaster { .. } => Exit::NoMaster,
            JoinError::Refused { .. } | JoinError::Protocol(_) => Exit::Failed,
            JoinError::Open(OpenError::Io { source, .. }) | JoinError::System { source, .. } => {
                Exit::of_io(source)
            }
            JoinError::Open(_) => Exit::Failed,
            JoinError::Placement(_) | JoinError::Memory(_) => Exit::HostUnfit,
        }
    }
}

/// A node had to stop.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A journal that it reads is damaged.
    #[error("journal `{journal}`: {source}")]
    Read {
        /// Which one.
        journal: String,
        /// What was found.
        source: journal::ReadError,
    },
    /// A message cannot be written and cannot be kept either.
    #[error("journal `{journal}`: {source}")]
    Write {
        /// Which one.
        journal: String,
        /// Why.
        source: journal::WriteError,
    },
    /// A frame is no message that belongs here.
    #[error("journal `{journal}` at position {position}: {source}")]
    Message {
        /// Which one.
        journal: String,
        /// Where.
        position: u64,
        /// What does not fit.
        source: wire::WireError,
    },
    /// The component itself cannot go on.
    #[error("{message}")]
    Component {
        /// Why, and what to do.
        message: String,
        /// What the process ends with.
        exit: Exit,
    },
    /// Nor could a successor: the node is not started again, and the run ends.
    #[error("{0}")]
    GivesUp(String),
}

impl RunError {
    /// A component's own reason to stop, exit code 1.
    pub fn failed(message: impl Into<String>) -> RunError {
        RunError::Component { message: message.into(), exit: Exit::Failed }
    }

    /// What the process ends with.
    pub fn exit(&self) -> Exit {
        match self {
            RunError::Component { exit, .. } => *exit,
            _ => Exit::Failed,
        }
    }

    /// True when the run is to end with it.
    pub fn gives_up(&self) -> bool {
        matches!(self, RunError::GivesUp(_))
    }
}

impl From<JoinError> for RunError {
    /// A component finds out late that its part of the topology does not fit: the node ends with the same code.
    fn from(error: JoinError) -> RunError {
        RunError::Component { exit: error.exit(), message: error.to_string() }
    }
}
