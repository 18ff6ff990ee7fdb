//! Why master ends, and with which exit code.

use std::path::PathBuf;

use journal::{CreateError, OpenError};
use node::Exit;

/// Longest path of a Unix socket, in bytes: `sun_path` less the zero at its end.
pub(crate) const SOCKET_PATH: usize = 107;

/// Master could not start, or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum MasterError {
    /// The instance's name is no name.
    #[error("`{0}` is no instance name: use 1 to 32 of a-z, 0-9, `-`, `_`")]
    BadInstance(String),
    /// Somebody else is master.
    #[error(
        "instance `{instance}` is held by master, {holder}; stop it with `colo down {instance}`, or choose another name with --instance"
    )]
    Held {
        /// Which instance.
        instance: String,
        /// By whom.
        holder: String,
    },
    /// Its folder is no instance.
    #[error(transparent)]
    NotOurs(node::ClaimError),
    /// Processes that cannot be judged from here use it.
    #[error(
        "instance `{instance}` has no master, and processes hold its journals that cannot be judged from here: they run in another \
         pid namespace, such as another container, or the registry is gone; take it over or down from there, or end what runs \
         here with `colo down {instance} --force`"
    )]
    InUse {
        /// Which instance.
        instance: String,
    },
    /// Nodes of another topology still run here.
    #[error(
        "instance `{instance}` still runs nodes of another platform file ({nodes}); stop them with `colo down {instance}` first"
    )]
    OtherTopology {
        /// Which instance.
        instance: String,
        /// Their names.
        nodes: String,
    },
    /// No socket can have such a path.
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
    /// Something could not be made.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A journal or the registry could not be made.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// A journal or the registry that is there cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Huge pages were required.
    #[error(
        "the journals require {needed} huge pages of {} MiB in all; for `{journal}` {found}; {fix}", page >> 20
    )]
    HugePages {
        /// The first journal that does not get them.
        journal: String,
        /// Pages that all journals of this size need.
        needed: u64,
        /// Bytes of a page.
        page: u64,
        /// What there is.
        found: String,
        /// The command that helps.
        fix: String,
    },
    /// The pin plan does not fit this host.
    #[error("the pin plan does not fit this host:\n{0}")]
    Plan(String),
    /// A node failed before the platform was up, and its policy does not start it again.
    #[error("node `{node}` {how} before the platform was up; its log is {}{words}", log.display())]
    NodeFailed {
        /// Which node.
        node: String,
        /// "ended with exit code 2", "was killed by signal 9".
        how: String,
        /// The last lines that it left there, each on a line of its own.
        words: String,
        /// Where it says why.
        log: PathBuf,
    },
    /// A node's process did not register.
    #[error("node `{node}` did not register within {seconds} s (master.ready_timeout); its log is {}{words}", log.display())]
    NotRegistered {
        /// Which node.
        node: String,
        /// How long master waited.
        seconds: f64,
        /// The last lines that it left there, each on a line of its own.
        words: String,
        /// Where it may say why.
        log: PathBuf,
    },
    /// A strategy registered and did not get ready.
    #[error(
        "strategy `{node}` registered and was not ready within {seconds} s (master.ready_timeout): its `create` does not return, or the ledger does not answer; its log is {}{words}", log.display()
    )]
    NotReady {
        /// Which node.
        node: String,
        /// How long master waited.
        seconds: f64,
        /// The last lines that it left there, each on a line of its own.
        words: String,
        /// Where it may say why.
        log: PathBuf,
    },
    /// Somebody has deleted the instance under its hands.
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
    /// What the process ends with. The exit code of a node is never ours: it stands in the message.
    pub fn exit(&self) -> u8 {
        let exit = match self {
            MasterError::BadInstance(_) => Exit::Usage,
            MasterError::Plan(_) | MasterError::HugePages { .. } => Exit::HostUnfit,
            MasterError::Held { .. }
            | MasterError::NotOurs(_)
            | MasterError::InUse { .. }
            | MasterError::SocketPath { .. }
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
