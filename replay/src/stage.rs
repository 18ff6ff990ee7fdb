//! An instance without a master: one seat, its journals, and the strategy's process in it.
//!
//! The journals have their recorded numbers and positions, so that what the strategy sends names the same causes. This
//! process writes them all, and reads the strategy's orders.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use journal::layout::{frame, frame_bytes};
use journal::process::ProcessIdentity;
use journal::{Clock, History, Journal, JournalShape, LooseReader, Origin, ReadError, Registry, Writer};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use node::protocol::{Assignment, ReadAssignment, WriteAssignment};
use node::{
    Claim, Counter, Exit, INSTANCE_VARIABLE, InstanceDir, NODE_VARIABLE, NodeState, Phase, how_it_ended,
    kind_word,
};
use recorder::format::RecordedJournal;
use topology::config::{Mode, Wake};
use topology::{NodeSpec, Program, Topology};

use crate::error::ReplayError;
use crate::reception::Reception;
use crate::start::{GENERATION, Prepared};
use crate::subject::Subject;
use crate::tape::Taken;

/// A strategy that handles one frame for longer than this is given up.
const PATIENCE: Duration = Duration::from_secs(60);
/// Looks at the strategy's cursors before this process sleeps between them.
const LOOKS: u32 = 200;
/// Such a sleep.
const NAP: Duration = Duration::from_micros(20);
/// The page that rings lie on.
const PAGE: u64 = 4_096;

/// What a stage is made for.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) instance: &'a str,
    pub(crate) topology: &'a Topology,
    pub(crate) subject: &'a Subject,
    /// By journal that is read: position of the first frame.
    pub(crate) first_positions: Vec<u64>,
    /// Of the journal of orders.
    pub(crate) epoch: u64,
    /// The platform ran in lock-step: the market's time is the strategy's clock.
    pub(crate) deterministic: bool,
    pub(crate) program: Option<PathBuf>,
    pub(crate) colo: PathBuf,
}

/// The instance. What is left of it is removed with it.
#[derive(Debug)]
pub(crate) struct Stage {
    directory: InstanceDir,
    claim: Claim,
    registry: Arc<Registry>,
    /// By journal that is read.
    journals: Vec<(Journal, Writer)>,
    orders: LooseReader,
    seat: u32,
    reception: Option<Reception>,
    child: Option<Child>,
    command: Command,
    name: String,
    bytes: Vec<u8>,
}

fn system(action: &'static str, path: &Path) -> impl Fn(io::Error) -> ReplayError {
    let path = path.to_owned();
    move |source| ReplayError::System { action, path: path.clone(), source }
}

impl Stage {
    /// Makes the instance; the process is not started.
    pub(crate) fn build(plan: &Plan<'_>) -> Result<Stage, ReplayError> {
        let named = || ReplayError::Usage(format!("`{}` is no name of an instance", plan.instance));
        let directory = InstanceDir::new(plan.instance).ok_or_else(named)?;
        if directory.path().exists() {
            let what = format!("instance `{}` is there already: choose another name", plan.instance);
            return Err(ReplayError::Usage(what));
        }
        directory.create_logs().map_err(system("create", &directory.logs()))?;
        let claim = directory
            .claim()
            .map_err(|source| ReplayError::Claim { instance: plan.instance.to_owned(), source })?;
        match Stage::furnish(plan, &directory) {
            Ok((registry, journals, orders)) => {
                Stage::open(plan, directory, claim, registry, journals, orders)
            }
            Err(error) => {
                let _ = claim.remove();
                Err(error)
            }
        }
    }

    #[allow(clippy::type_complexity, reason = "used once")]
    fn furnish(
        plan: &Plan<'_>,
        directory: &InstanceDir,
    ) -> Result<(Arc<Registry>, Vec<(Journal, Writer)>, LooseReader), ReplayError> {
        let folder = directory.journals();
        std::fs::create_dir_all(&folder).map_err(system("create", &folder))?;
        let clock = Clock::calibrate();
        let seats = (plan.topology.nodes.len() as u32).next_multiple_of(64);
        let process = u32::from(plan.subject.process().seat);
        let mut journals = Vec::new();
        for ((_, recorded), &first) in plan.subject.reads.iter().zip(&plan.first_positions) {
            let wrong = |error: &dyn std::fmt::Display| ReplayError::journal(&recorded.name, error);
            let journal = create(directory, recorded, first, seats, clock)?;
            journal.admit_gated(process).map_err(|error| wrong(&error))?;
            let writer = journal.writer(0, clock).map_err(|error| wrong(&error))?;
            journals.push((journal, writer));
        }
        let recorded = &plan.subject.orders;
        let wrong = |error: &dyn std::fmt::Display| ReplayError::journal(&recorded.name, error);
        let orders = create(directory, recorded, recorded.first_position, seats, clock)?;
        let before = orders.writer(0, clock).map_err(|error| wrong(&error))?;
        before.finish_restoring(History { epoch: plan.epoch - 1, ..History::default() });
        let reader = orders.observe(orders.first_position()).map_err(|error| wrong(&error))?;
        let path = directory.registry();
        let registry = Registry::create(&path, seats, clock).map_err(|error| ReplayError::System {
            action: "create",
            path,
            source: io::Error::other(error),
        })?;
        for node in &plan.topology.nodes {
            registry.set_name(u32::from(node.seat), &node.name);
            if let Some(seat) = registry.occupy(u32::from(node.seat)) {
                seat.set_kind(kind_word(node.kind, node.mode));
            }
        }
        if let Some(seat) = registry.occupy(0) {
            seat.set_generation(1);
            seat.set_process(ProcessIdentity::current());
            seat.set_heartbeat(clock.now());
            seat.set_state(NodeState::Running.to_word());
        }
        registry.set_phase(Phase::Running.to_word());
        Ok((Arc::new(registry), journals, reader))
    }

    fn open(
        plan: &Plan<'_>,
        directory: InstanceDir,
        claim: Claim,
        registry: Arc<Registry>,
        journals: Vec<(Journal, Writer)>,
        orders: LooseReader,
    ) -> Result<Stage, ReplayError> {
        let process = plan.subject.process();
        let mut stage = Stage {
            command: command(plan, process),
            seat: u32::from(process.seat),
            name: plan.subject.node.name.clone(),
            directory,
            claim,
            registry,
            journals,
            orders,
            reception: None,
            child: None,
            bytes: Vec::new(),
        };
        let path = stage.directory.topology();
        let topology = Topology { instance: plan.instance.to_owned(), ..plan.topology.clone() };
        let text = serde_json::to_vec_pretty(&topology).map_err(io::Error::from);
        let written = text.and_then(|text| {
            let mut file = stage.claim.create_file("topology.json").map_err(io::Error::from)?;
            file.write_all(&text)
        });
        written.map_err(system("write", &path))?;
        let socket = stage.directory.socket();
        let reception = Reception::open(&socket, Arc::clone(&stage.registry), assignments(plan));
        stage.reception = Some(reception.map_err(system("listen at", &socket))?);
        Ok(stage)
    }

    /// Writes what the strategy finds when it starts.
    pub(crate) fn prepare(&mut self, journal: usize, prepared: &Prepared) -> Result<(), ReplayError> {
        let (journal, writer) = &mut self.journals[journal];
        let Prepared { time, message_id, topic, ref payload } = *prepared;
        writer
            .write_at(time, message_id, topic, payload)
            .map(drop)
            .map_err(|error| ReplayError::journal(&journal.shape().name, error))
    }

    /// Starts the strategy's process.
    pub(crate) fn start(&mut self) -> Result<(), ReplayError> {
        // A host's strategy joins when its seat says so.
        for (seat, name) in (0..self.registry.seats()).map(|seat| (seat, self.registry.name(seat))) {
            if (seat == self.seat || name == self.name)
                && let Some(seat) = self.registry.occupy(seat)
            {
                seat.set_state(NodeState::Starting.to_word());
            }
        }
        let path = self.log();
        let log = OpenOptions::new().create(true).append(true).open(&path).map_err(system("open", &path))?;
        let also = log.try_clone().map_err(system("open", &path))?;
        let command = self.command.stdin(Stdio::null()).stdout(also).stderr(log).process_group(0);
        let program = PathBuf::from(command.get_program());
        self.child = Some(command.spawn().map_err(system("start", &program))?);
        Ok(())
    }

    /// The strategy's log.
    pub(crate) fn log(&self) -> PathBuf {
        self.directory.log(&self.registry.name(self.seat))
    }

    /// Gives the strategy a frame, and waits until it is handled.
    pub(crate) fn give(&mut self, journal: usize, taken: &Taken) -> Result<(), ReplayError> {
        let (into, writer) = &mut self.journals[journal];
        bytes_of(taken, &mut self.bytes);
        writer.restore(&self.bytes).map_err(|error| ReplayError::journal(&into.shape().name, error))?;
        journal::wait::wake(&self.registry, self.seat);
        self.settle()
    }

    /// Waits until the strategy has handled everything.
    pub(crate) fn settle(&mut self) -> Result<(), ReplayError> {
        let mut looks = 0_u32;
        let began = Instant::now();
        while !self.journals.iter().all(|(journal, _)| journal.is_drained()) {
            looks += 1;
            if looks < LOOKS {
                std::thread::yield_now();
                continue;
            }
            self.check_alive()?;
            if began.elapsed() > PATIENCE {
                return Err(self.failed(format!("has not handled a frame in {PATIENCE:?}")));
            }
            std::thread::sleep(NAP);
        }
        Ok(())
    }

    /// Whether the strategy has read the clock or set a timer, so that what it sends may depend on when it reads.
    pub(crate) fn has_read_clock(&self) -> bool {
        let seats = (0..self.registry.seats())
            .filter(|seat| *seat == self.seat || self.registry.name(*seat) == self.name);
        let reads =
            |seat| self.registry.seat(seat).map_or(0, |seat| seat.counter(Counter::ClockReads as usize));
        seats.map(reads).sum::<u64>() > 0
    }

    fn check_alive(&mut self) -> Result<(), ReplayError> {
        let Some(child) = &mut self.child else { return Ok(()) };
        match child.try_wait() {
            Ok(Some(status)) => {
                let how = status.code().map_or("by a signal".to_owned(), |code| how_it_ended(code as u8));
                Err(self.failed(format!("ended ({how}) before the recording did")))
            }
            _ => Ok(()),
        }
    }

    fn failed(&self, what: String) -> ReplayError {
        ReplayError::Strategy { strategy: self.name.clone(), what, log: self.log() }
    }

    /// Calls `each` with what the strategy has sent since the last call: position, time, message id, payload.
    pub(crate) fn sent(&mut self, mut each: impl FnMut(u64, u64, u16, &[u8])) -> Result<(), ReplayError> {
        loop {
            match self.orders.read() {
                Ok(Some(frame)) => each(frame.position, frame.time, frame.message_id, frame.payload),
                Ok(None) => return Ok(()),
                Err(error @ ReadError::Lapped(_)) => {
                    let what = format!("sends more for one frame than its journal holds: {error}");
                    return Err(self.failed(what));
                }
                Err(error) => return Err(ReplayError::journal(self.orders.journal_name(), error)),
            }
        }
    }

    /// Stops the strategy, which may send something more, and waits for its end.
    pub(crate) fn stop(&mut self) -> Result<(), ReplayError> {
        let Some(mut child) = self.child.take() else { return Ok(()) };
        signal(&child, Signal::SIGTERM);
        journal::wait::wake(&self.registry, self.seat);
        let began = Instant::now();
        loop {
            match child.try_wait() {
                Ok(Some(status)) if status.code() == Some(i32::from(Exit::Done.code())) => return Ok(()),
                Ok(Some(status)) => {
                    let how = status.code().map_or("by a signal".to_owned(), |code| how_it_ended(code as u8));
                    return Err(self.failed(format!("did not stop in good order ({how})")));
                }
                Err(_) => return Ok(()),
                Ok(None) if began.elapsed() > PATIENCE => {
                    signal(&child, Signal::SIGKILL);
                    let _ = child.wait();
                    return Err(self.failed(format!("did not stop in {PATIENCE:?}, and was killed")));
                }
                Ok(None) => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    /// The instance's folder, for what is kept beside the journals.
    pub(crate) fn directory(&self) -> &InstanceDir {
        &self.directory
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            signal(&child, Signal::SIGKILL);
            let _ = child.wait();
        }
        if let Some(reception) = &mut self.reception {
            reception.close();
        }
        if let Err(error) = self.claim.remove() {
            log::warn!("cannot remove {}: {error}", self.directory.path().display());
        }
    }
}

/// Sends a signal to our own child, which is not reaped yet.
fn signal(child: &Child, signal: Signal) {
    let Ok(pid) = i32::try_from(child.id()) else { return };
    let _ = kill(Pid::from_raw(pid), signal);
}

fn create(
    directory: &InstanceDir,
    recorded: &RecordedJournal,
    first_position: u64,
    seats: u32,
    clock: Clock,
) -> Result<Journal, ReplayError> {
    let shape = JournalShape {
        id: recorded.id,
        name: recorded.name.clone(),
        capacity: recorded.capacity,
        seats,
        topics: recorded.topics,
        page: PAGE,
    };
    let origin = Origin { first_position, max_payload: recorded.max_payload, ..Origin::new(clock.now()) };
    Journal::create_from(directory.journal(&recorded.name, None), shape, origin)
        .map_err(|error| ReplayError::journal(&recorded.name, error))
}

fn command(plan: &Plan<'_>, process: &NodeSpec) -> Command {
    let mut command = match (&plan.program, &process.program) {
        (Some(path), _) | (None, Program::Path(path)) => node::program::command(path),
        (None, Program::Builtin(name)) => {
            let mut command = Command::new(&plan.colo);
            command.arg("run");
            if process.kind == topology::NodeKind::Strategy {
                command.arg("strategy");
            }
            command.arg(name);
            command
        }
    };
    command.env(INSTANCE_VARIABLE, plan.instance).env(NODE_VARIABLE, &process.name);
    command
}

/// The seats of the strategy's process, and of the strategy if it has another.
fn assignments(plan: &Plan<'_>) -> Vec<Assignment> {
    let process = plan.subject.process();
    let seat_of = |name: &str| plan.topology.node(name).map_or(0, |node| u32::from(node.seat));
    let reads = plan.subject.reads.iter().map(|(read, _)| {
        let writer = plan.topology.journal(&read.journal).map_or("", |spec| &spec.writer);
        ReadAssignment {
            role: read.role.clone(),
            journal: read.journal.clone(),
            huge: None,
            gated: true,
            from_start: true,
            durable: false,
            peer: writer.to_owned(),
            peer_seat: seat_of(writer),
            wake_within: Duration::ZERO,
        }
    });
    let write =
        WriteAssignment { role: "orders".to_owned(), journal: plan.subject.orders.name.clone(), huge: None };
    let assignment = |node: &NodeSpec| Assignment {
        node: node.name.clone(),
        kind: node.kind,
        seat: u32::from(node.seat),
        generation: GENERATION,
        mode: Mode::Parked,
        wake: Wake::Targeted,
        // Frames are handed over in the order of their times in any case.
        deterministic: true,
        recorded_clock: !plan.deterministic,
        drain: Duration::from_secs(5),
        lock_memory: false,
        section: section(node),
        placement: None,
        writes: if node.name == plan.subject.node.name { vec![write.clone()] } else { Vec::new() },
        reads: if node.name == process.name { reads.clone().collect() } else { Vec::new() },
    };
    let mut all = vec![assignment(&plan.subject.node)];
    if let Some(host) = &plan.subject.host {
        all.push(assignment(host));
    }
    all
}

/// A node's section with its parameters beside it, under `params`.
fn section(node: &NodeSpec) -> serde_json::Value {
    let mut section = node.section.clone();
    if let Some(table) = section.as_object_mut()
        && node.parameters.as_object().is_some_and(|parameters| !parameters.is_empty())
    {
        table.insert("params".to_owned(), node.parameters.clone());
    }
    section
}

/// The frame as it lay in the ring.
fn bytes_of(taken: &Taken, bytes: &mut Vec<u8>) {
    bytes.clear();
    let length = taken.payload.len() as u64;
    bytes.extend_from_slice(&taken.position.to_le_bytes());
    bytes.extend_from_slice(&(length as u32).to_le_bytes());
    bytes.extend_from_slice(&taken.message_id.to_le_bytes());
    bytes.extend_from_slice(&0_u16.to_le_bytes());
    bytes.extend_from_slice(&taken.time.to_le_bytes());
    bytes.extend_from_slice(&taken.topic.to_le_bytes());
    bytes.extend_from_slice(&taken.epoch.to_le_bytes());
    debug_assert_eq!(bytes.len() as u64, frame::HEADER_BYTES);
    bytes.extend_from_slice(&taken.payload);
    bytes.resize(frame_bytes(length) as usize, 0);
}
