//! The speed of a journal, compared with the cache line that it moves on.
//!
//! Two processes bounce messages over two journals, and in the same rounds, between the same two cores, a bare word:
//! the host's floor. On a virtual machine a line's latency changes from second to second; so every block of journal
//! round trips lies between two blocks of the floor, a block is *near* or *far* by both of its neighbours, and a ratio
//! never divides figures of different moments.
//!
//! ```text
//!  round:  floor │ 32 B │ floor │ 64 B │ floor │ 128 B │ floor │ 1,024 B │ floor      (some thousand round trips each)
//! ```
//!
//! One-way times are half of a round trip. Every round trip is timed by one reading of the clock, which is included:
//! for the floor an extra one, for the journal the frame's own time (the answering side stamps its frame too, which the
//! floor's does not). The bare floor is the same word without that reading: a hundred round trips between two of them.
//! The two directions of the word lie on two cache lines, as those of two journals do; both on one line would be
//! faster. The reader copies every payload out completely before it answers.
//!
//! Then follow throughput, the cost of a write with loose readers, and the cost of idle journals in one round of
//! polling.

mod fan_out;
mod flow;
mod parts;
mod peer;
mod ping;
mod poll;
mod rendezvous;
mod report;
mod step;
pub(crate) mod watch;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use bench_kit::OwnedChild;
use pinning::{CpuSet, Host};
use serde::{Deserialize, Serialize};

use crate::scratch::Scratch;

pub use fan_out::FanOutRow;
pub use flow::FlowRow;
pub(crate) use parts::pin;
pub use peer::run_peer;
pub use ping::{PingRow, Placement};
pub use poll::PollRow;
pub use report::IpcReport;

/// Payloads in bytes, as in the ping-pong's rows.
pub(crate) const PAYLOADS: [usize; 4] = [32, 64, 128, 1024];

/// What to measure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IpcSettings {
    /// Interleaved rounds of the ping-pong.
    pub rounds: usize,
    /// Round trips of one block.
    pub trips: usize,
    /// How long one run of throughput writes, in milliseconds.
    pub flow_ms: u64,
    /// Runs of each throughput row; the median is reported.
    pub flow_runs: usize,
    /// Bytes of each ring.
    pub capacity: u64,
    /// CPUs: the measuring process, then its peers. Chosen when empty.
    pub cpus: Vec<usize>,
}

impl IpcSettings {
    /// About a minute.
    pub fn full() -> IpcSettings {
        IpcSettings {
            rounds: 101,
            trips: 4_000,
            flow_ms: 400,
            flow_runs: 7,
            capacity: 1 << 20,
            cpus: Vec::new(),
        }
    }

    /// Within 20 seconds.
    pub fn quick() -> IpcSettings {
        IpcSettings { rounds: 21, trips: 3_000, flow_ms: 120, flow_runs: 3, ..IpcSettings::full() }
    }
}

/// A measurement failed.
#[derive(Debug, thiserror::Error)]
pub enum IpcError {
    /// Fewer CPUs than the measurement needs.
    #[error("needs at least 2 CPUs that this process may use, there are {found}")]
    TooFewCpus {
        /// CPUs found.
        found: usize,
    },
    /// A requested CPU does not exist, or is listed twice.
    #[error("CPU {cpu} cannot be used: {why}")]
    BadCpu {
        /// The CPU.
        cpu: usize,
        /// The reason.
        why: &'static str,
    },
    /// The measurement was asked to stop.
    #[error("stopped: nothing was measured to its end")]
    Stopped,
    /// The peer did nothing for a long time, or ended.
    #[error("the other process {0}")]
    Peer(String),
    /// A language's program cannot be built, or does not do what it is told.
    #[error("{0}")]
    Language(String),
    /// A message came back with a wrong number.
    #[error("message {expected} came as {found}")]
    Mixed {
        /// The expected number.
        expected: u64,
        /// The number found.
        found: u64,
    },
    /// A book does not match as it should, so no figure means anything.
    #[error(transparent)]
    Book(#[from] bench_kit::book::Disagreement),
    /// The events of a matching engine did not arrive as they were written.
    #[error("of {sent} events {received} arrived, or with other contents")]
    Events {
        /// Events written.
        sent: u64,
        /// Events read.
        received: u64,
    },
    /// The exchange does not list the instrument.
    #[error(transparent)]
    List(#[from] ::matching::exchange::ListError),
    /// The host could not be read.
    #[error(transparent)]
    Host(#[from] pinning::HostError),
    /// The thread could not be placed.
    #[error(transparent)]
    Place(#[from] pinning::ApplyError),
    /// A journal could not be created.
    #[error(transparent)]
    Create(#[from] journal::CreateError),
    /// A journal could not be opened.
    #[error(transparent)]
    Open(#[from] journal::OpenError),
    /// A journal could not be read.
    #[error(transparent)]
    Read(#[from] journal::ReadError),
    /// A journal could not be written.
    #[error(transparent)]
    Write(#[from] journal::WriteError),
    /// Nothing could be recorded.
    #[error(transparent)]
    Record(#[from] recorder::write::WriteError),
    /// A cut could not be recorded.
    #[error(transparent)]
    Gather(#[from] recorder::gather::GatherError),
    /// A recording could not be brought back.
    #[error(transparent)]
    Recover(#[from] recorder::recover::RecoverError),
    /// The platform of a recording could not be made up.
    #[error("cannot describe a platform: {0}")]
    Platform(String),
    /// Another system call failed.
    #[error("cannot {action}: {source}")]
    System {
        /// The attempted action.
        action: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
}

pub(crate) fn system(action: &'static str) -> impl Fn(std::io::Error) -> IpcError {
    move |source| IpcError::System { action, source }
}

/// What all sides must agree on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) settings: IpcSettings,
    pub(crate) directory: PathBuf,
    /// The peer's number, from 0.
    pub(crate) peer: usize,
    /// Number of peers.
    pub(crate) peers: usize,
    pub(crate) cpu: usize,
    pub(crate) parent: u32,
}

/// Measures. `program` starts this program as a peer, which must call [`run_peer`] with its standard input; `progress`
/// receives what is being measured, and how much is done (0 to 1). When it returns false, the measurement ends with
/// [`IpcError::Stopped`], and leaves nothing behind.
///
/// # Errors
/// [`IpcError`].
pub fn measure(
    settings: &IpcSettings,
    program: impl Fn() -> Command,
    progress: impl Fn(&str, f64) -> bool,
) -> Result<IpcReport, IpcError> {
    let host = Host::read("/".as_ref())?;
    let cpus = choose(&host, &settings.cpus)?;
    let directory = Scratch::create().map_err(system("make a folder in /dev/shm"))?;
    let peers = (cpus.len() - 1).min(3);
    let parts = parts::Parts::create(directory.path(), settings, peers)?;
    let mut children = Vec::with_capacity(peers);
    for peer in 0..peers {
        let setup = Setup {
            settings: settings.clone(),
            directory: directory.path().to_owned(),
            peer,
            peers,
            cpu: cpus[peer + 1],
            parent: std::process::id(),
        };
        children.push(start(&program, &setup)?);
    }
    parts::pin(cpus[0])?;
    let progress = |what: &str, done| if progress(what, done) { Ok(()) } else { Err(IpcError::Stopped) };
    let result = report::measure_all(settings, &parts, &mut children, peers, &progress);
    let (rows, throughput, fan_out, poll) = result?;
    Ok(IpcReport {
        host: host.summary(),
        cpus,
        ring_bytes: settings.capacity,
        clock: parts.clock.source().as_str().to_owned(),
        floor_lines: ping::FLOOR_LINES,
        rows,
        throughput,
        fan_out,
        poll,
    })
}

fn start(program: &impl Fn() -> Command, setup: &Setup) -> Result<OwnedChild, IpcError> {
    let mut child = OwnedChild::spawn(program().stdin(Stdio::piped()).stdout(Stdio::null()))
        .map_err(system("start the other process"))?;
    let text = serde_json::to_string(setup).map_err(|error| system("describe the work")(error.into()))?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(text.as_bytes()).map_err(system("tell the other process"))?;
    }
    Ok(child)
}

/// The requested CPUs; or up to four of those allowed, each on a core of its own, the last ones first: CPU 0 takes most
/// of the host's interrupts.
pub(crate) fn choose(host: &Host, requested: &[usize]) -> Result<Vec<usize>, IpcError> {
    let mut seen = CpuSet::new();
    for &cpu in requested {
        if !host.allowed.contains(cpu) {
            return Err(IpcError::BadCpu { cpu, why: "this process may not use it" });
        }
        if !seen.insert(cpu) {
            return Err(IpcError::BadCpu { cpu, why: "it was named twice" });
        }
    }
    let mut cpus = requested.to_vec();
    if cpus.is_empty() {
        let cores = host.cores.iter().rev();
        cpus = cores.filter_map(|core| core.cpus.intersection(&host.allowed).first()).take(4).collect();
    }
    if cpus.len() < 2 {
        return Err(IpcError::TooFewCpus { found: cpus.len() });
    }
    Ok(cpus)
}
