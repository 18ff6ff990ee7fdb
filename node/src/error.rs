//! Errors of joining and running, with the exit code each leads to.

use std::path::PathBuf;

use journal::OpenError;

use crate::exit::Exit;
use crate::protocol::ProtocolError;

/// A process could not become a node.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The instance's name is invalid.
    #[error("`{0}` is no instance name: use 1 to 32 of a-z, 0-9, `-`, `_`")]
    BadInstance(String),
    /// No process answers at the instance's socket.
    #[error("no master runs for instance `{instance}` ({}: {source}); start it with `colo up`", socket.display())]
    NoMaster {
        /// Which instance.
        instance: String,
        /// Where the socket should be.
        socket: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// Master refused.
    #[error("master refuses node `{node}`: {reason}")]
    Refused {
        /// Which node.
        node: String,
        /// Master's reason.
        reason: String,
    },
    /// The connection failed.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// A journal or the registry could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The process cannot run where the plan says.
    #[error("cannot take its place: {0}")]
    Placement(#[from] pinning::ApplyError),
    /// Its memory could not be locked in RAM.
    #[error(transparent)]
    Memory(#[from] pinning::LockError),
    /// The node's own section is not valid for its program.
    #[error("section of node `{node}`: {source}")]
    Section {
        /// Which node.
        node: String,
        /// What is invalid.
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
        /// The attempted action.
        action: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
}

impl JoinError {
    /// The exit code of the process.
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
        /// The journal.
        journal: String,
        /// The damage.
        source: journal::ReadError,
    },
    /// A message could neither be written nor kept.
    #[error("journal `{journal}`: {source}")]
    Write {
        /// The journal.
        journal: String,
        /// The reason.
        source: journal::WriteError,
    },
    /// A frame is not a valid message for this node.
    #[error("journal `{journal}` at position {position}: {source}")]
    Message {
        /// The journal.
        journal: String,
        /// The frame's position.
        position: u64,
        /// What is invalid.
        source: wire::WireError,
    },
    /// The component cannot continue.
    #[error("{message}")]
    Component {
        /// The reason, and what to do.
        message: String,
        /// The exit code of the process.
        exit: Exit,
    },
    /// This process is a fork of the node's.
    #[error(transparent)]
    Forked(#[from] journal::Forked),
    /// A successor could not continue either: the node is not restarted, and the run ends.
    #[error("{0}")]
    GivesUp(String),
}

impl RunError {
    /// A component's own reason to stop, exit code 1.
    pub fn failed(message: impl Into<String>) -> RunError {
        RunError::Component { message: message.into(), exit: Exit::Failed }
    }

    /// The exit code of the process.
    pub fn exit(&self) -> Exit {
        match self {
            RunError::Component { exit, .. } => *exit,
            _ => Exit::Failed,
        }
    }

    /// True when the run should end with it.
    pub(crate) fn gives_up(&self) -> bool {
        matches!(self, RunError::GivesUp(_))
    }
}

impl From<JoinError> for RunError {
    /// A component that later finds its part of the topology invalid ends the node with the same code.
    fn from(error: JoinError) -> RunError {
        RunError::Component { exit: error.exit(), message: error.to_string() }
    }
}
