//! What is said over master's socket: one JSON value a line, one question a connection. `docs/registration.md`
//! describes it for other languages.
//!
//! Nodes need master only to register. Afterwards they live by what is in the answer, and by shared memory.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use topology::NodeKind;
use topology::config::{Mode, Wake};

use crate::intent::{Orders, Parameters};

/// Grows with every change that an older peer would misread or miss.
pub const PROTOCOL_VERSION: u32 = 2;

/// A question to master.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// A process wants the seat of a node.
    Register {
        /// [`PROTOCOL_VERSION`].
        version: u32,
        /// Which node it is.
        node: String,
        /// Its process id.
        pid: u32,
    },
    /// A node that shares its process has left its seat; what came of it stands there.
    Left {
        /// Which node.
        node: String,
    },
    /// What a person wants of one strategy while the others go on. Answered when it is done.
    Strategy {
        /// Which node.
        node: String,
        /// What.
        want: Want,
    },
    /// Stop every node, last started first, and stay.
    StopNodes,
    /// Stop every node, remove the instance, and end.
    Shutdown,
}

/// What a person wants of a strategy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Want {
    /// That it stops and stays so.
    Stop {
        /// What becomes of its working orders.
        orders: Orders,
    },
    /// That it starts again.
    Start {
        /// With another program.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        program: Option<PathBuf>,
        /// With these parameters over those that it had.
        #[serde(default, skip_serializing_if = "Parameters::is_empty")]
        params: Parameters,
    },
    /// That it takes these parameters now, over those that it has.
    Set {
        /// Names and values.
        params: Parameters,
    },
}

/// Master's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// The node's part in the platform.
    Assigned(Box<Assignment>),
    /// Done as asked.
    Done,
    /// Somebody else has had the instance stopped and removed meanwhile.
    Removed,
    /// Not done.
    Refused {
        /// Why, and what to do.
        reason: String,
    },
}

/// Everything that a node needs to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// Name of the node.
    pub node: String,
    /// What it is.
    pub kind: NodeKind,
    /// Its seat.
    pub seat: u32,
    /// How many times a process has sat there, this one included.
    pub generation: u64,
    /// How it waits.
    pub mode: Mode,
    /// Who wakes it.
    pub wake: Wake,
    /// Whether the platform runs in lock-step.
    pub deterministic: bool,
    /// Whether the times of the frames are a strategy's clock: it is given again what was recorded on a platform that did
    /// not run in lock-step.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recorded_clock: bool,
    /// When it is asked to stop: how long it reads what is left, and waits for room to write what it kept back.
    pub drain: Duration,
    /// Whether it keeps its memory in RAM.
    #[serde(default)]
    pub lock_memory: bool,
    /// Its own section of the platform file.
    pub section: serde_json::Value,
    /// Where it runs and how; `None`: wherever the system puts it.
    pub placement: Option<pinning::Placement>,
    /// Journals that it writes.
    pub writes: Vec<WriteAssignment>,
    /// Journals that it reads.
    pub reads: Vec<ReadAssignment>,
}

/// A journal that a node writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteAssignment {
    /// What the journal is to the node: `quotes`, `orders`, …
    pub role: String,
    /// Name of the journal.
    pub journal: String,
    /// Mount point of the huge-page file system that holds its ring, if one does.
    pub huge: Option<PathBuf>,
}

/// A journal that a node reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadAssignment {
    /// What the journal is to the node.
    pub role: String,
    /// Name of the journal.
    pub journal: String,
    /// Mount point of the huge-page file system that holds its ring, if one does.
    pub huge: Option<PathBuf>,
    /// Whether the writer waits for it.
    pub gated: bool,
    /// A loose reader starts at the journal's first frame instead of its head.
    pub from_start: bool,
    /// It sees a frame only when it is on disk.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub durable: bool,
    /// The node that writes it.
    pub peer: String,
    /// That node's seat.
    pub peer_seat: u32,
    /// While there is work, the reader looks by itself within this time, and need not be woken for each message. Zero: it
    /// must be. Of one journal of a node at most.
    #[serde(default, skip_serializing_if = "Duration::is_zero")]
    pub wake_within: Duration,
}

/// A conversation over master's socket failed.
#[derive(Debug, thiserror::Error)]
pub enum ProtocolError {
    /// The connection broke.
    #[error("the connection to master broke: {0}")]
    Io(#[from] std::io::Error),
    /// The other side does not speak this protocol.
    #[error("the other side sent `{line}`, which is not understood: {source}")]
    Garbled {
        /// What came, cut to a readable length.
        line: String,
        /// Why it is not understood.
        source: serde_json::Error,
    },
}

/// Longest that one side waits for the other's line.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest line: an assignment of a node with a thousand journals is below 400 KiB.
const LONGEST_LINE: u64 = 16 << 20;

/// Sends one line.
///
/// # Errors
/// [`ProtocolError::Io`].
pub fn send<T: Serialize>(stream: &UnixStream, message: &T) -> Result<(), ProtocolError> {
    let mut line = serde_json::to_vec(message).map_err(std::io::Error::from)?;
    line.push(b'\n');
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut stream = stream;
    stream.write_all(&line)?;
    Ok(())
}

/// Waits so long at most for something to receive. False when there is nothing.
///
/// # Errors
/// The error of the system.
pub fn wait_for_answer(stream: &UnixStream, patience: Duration) -> std::io::Result<bool> {
    let until = Instant::now() + patience;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(stream.as_fd(), PollFlags::POLLIN)], timeout) {
            Ok(0) if left.is_zero() => return Ok(false),
            Ok(0) | Err(Errno::EINTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Receives one line within `patience`, 10 s by default.
///
/// # Errors
/// [`ProtocolError`].
pub fn receive<T: DeserializeOwned>(
    stream: &UnixStream,
    patience: Option<Duration>,
) -> Result<T, ProtocolError> {
    stream.set_read_timeout(Some(patience.unwrap_or(PATIENCE)))?;
    let mut line = String::new();
    BufReader::new(std::io::Read::take(stream, LONGEST_LINE)).read_line(&mut line)?;
    if line.is_empty() {
        return Err(ProtocolError::Io(std::io::ErrorKind::UnexpectedEof.into()));
    }
    serde_json::from_str(&line)
        .map_err(|source| ProtocolError::Garbled { line: line.trim_end().chars().take(80).collect(), source })
}
