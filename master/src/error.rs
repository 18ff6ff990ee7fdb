//! Why master ends, and with which exit code.

use std::path::PathBuf;

use journal::{CreateError, OpenError};
use node::Exit;

/// Longest path of a Unix socket, in bytes: `sun_path` less the zero at its end.
pub(crate) const SOCKET_PATH: usize = 107;

/// Master could not start, or could not continue.
#[derive(Debug, thiserror::Error)]
pub enum MasterError {
    /// The instance's name is invalid.
    #[error("`{0}` is no instance name: use 1 to 32 of a-z, 0-9, `-`, `_`")]
    BadInstance(String),
    /// Another process is master.
    #[error(
        "instance `{instance}` is held by master, {holder}; stop it with `colo down {instance}`, or choose another name with --instance"
    )]
    Held {
        /// The instance.
        instance: String,
        /// The holder.
        holder: String,
    },
    /// The folder is not an instance.
    #[error(transparent)]
    NotOurs(node::ClaimError),
    /// Processes whose state is not visible from here use it.
    #[error(
        "instance `{instance}` has no master, and processes hold its journals that cannot be judged from here: they run in another \
         pid namespace, such as another container, or in another time namespace, they were restored from a checkpoint, or the \
         registry is gone; take it over or down from there, or end what runs here with `colo down {instance} --force`"
    )]
    InUse {
        /// The instance.
        instance: String,
    },
    /// Nodes of another topology still run here.
    #[error(
        "instance `{instance}` still runs nodes of another platform file ({nodes}); stop them with `colo down {instance}` first"
    )]
    OtherTopology {
        /// The instance.
        instance: String,
        /// Their names.
        nodes: String,
    },
    /// The path is too long for a socket.
    #[error(
        "the path of master's socket has {length} bytes, and the system allows {SOCKET_PATH}: {}; choose a shorter root \
         (COLO_ROOT) or instance name", path.display()
    )]
    SocketPath {
        /// The path.
        path: PathBuf,
        /// Its length.
        length: usize,
    },
    /// A journal of before could not be filled.
    #[error("journal `{journal}` cannot be made again: {what}")]
    Past {
        /// The journal.
        journal: String,
        /// Why.
        what: String,
    },
    /// It runs, so there is nothing to recover.
    #[error("instance `{0}` runs: `colo down {0}` takes it down; what it has recorded can be recovered then")]
    StillRuns(String),
    /// Something could not be created.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The attempted action.
        action: &'static str,
        /// Its path.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A journal or the registry could not be created.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// An existing journal or registry could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Huge pages were required.
    #[error(
        "the journals require {needed} huge pages of {} MiB in all; for `{journal}` {found}; {fix}", page >> 20
    )]
    HugePages {
        /// The first journal without the required pages.
        journal: String,
        /// Pages that all journals of this size need.
        needed: u64,
        /// Size of a page in bytes.
        page: u64,
        /// The available pages.
        found: String,
        /// The command that corrects it.
        fix: String,
    },
    /// The pin plan does not fit this host.
    #[error("the pin plan does not fit this host:\n{0}")]
    Plan(String),
    /// A node failed before the platform was up, and its policy does not restart it.
    #[error("node `{node}` {how} before the platform was up; its log is {}{words}", log.display())]
    NodeFailed {
        /// The node.
        node: String,
        /// "ended with exit code 2", "was killed by signal 9".
        how: String,
        /// The last lines of the log, each on a line of its own.
        words: String,
        /// The node's log.
        log: PathBuf,
    },
    /// A node's process did not register.
    #[error("node `{node}` did not register within {seconds} s (master.ready_timeout); its log is {}{words}", log.display())]
    NotRegistered {
        /// The node.
        node: String,
        /// How long master waited.
        seconds: f64,
        /// The last lines of the log, each on a line of its own.
        words: String,
        /// The node's log.
        log: PathBuf,
    },
    /// A node registered and did not become ready.
    #[error(
        "node `{node}` registered and was not ready within {seconds} s (master.ready_timeout): {why}; its log is {}{words}",
        log.display()
    )]
    NotReady {
        /// The node.
        node: String,
        /// What it may wait for.
        why: String,
        /// How long master waited.
        seconds: f64,
        /// The last lines of the log, each on a line of its own.
        words: String,
        /// The node's log.
        log: PathBuf,
    },
    /// The instance was deleted while master ran.
    #[error("{} or its lock was deleted while the platform ran: the platform is stopped", path.display())]
    Removed {
        /// The instance's folder.
        path: PathBuf,
    },
    /// Asked to stop before the platform was up.
    #[error("asked to stop before the platform was up")]
    Interrupted,
}

impl MasterError {
    /// The exit code of the process. A node's exit code is only in the message.
    pub fn exit(&self) -> u8 {
        let exit = match self {
            MasterError::BadInstance(_) => Exit::Usage,
            MasterError::Plan(_) | MasterError::HugePages { .. } => Exit::HostUnfit,
            MasterError::Held { .. }
            | MasterError::NotOurs(_)
            | MasterError::InUse { .. }
            | MasterError::SocketPath { .. }
            | MasterError::StillRuns(_)
            | MasterError::Past { .. }
            | MasterError::OtherTopology { .. } => Exit::CannotCreate,
            MasterError::Io { source, .. } | MasterError::Create(CreateError::Io { source, .. }) => {
                match Exit::of_io(source) {
                    Exit::Failed => Exit::CannotCreate,
                    other => other,
                }
            }
            MasterError::Create(_) => Exit::CannotCreate,
            MasterError::Open(_)
            | MasterError::NodeFailed { .. }
            | MasterError::NotRegistered { .. }
            | MasterError::NotReady { .. }
            | MasterError::Removed { .. }
            | MasterError::Interrupted => Exit::Failed,
        };
        exit.code()
    }
}
