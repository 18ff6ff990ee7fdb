//! Starting the nodes, and looking after them.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use journal::Writer;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use node::protocol::{self, Reply, Request};
use node::{InstanceDir, NodeState, Phase, StopFlag};
use topology::config::{MasterConfig, OnDeath, ReaderKind, RestartPolicy};
use topology::{NodeKind, NodeSpec, Topology};
use wire::{Message, NodeChange, NodeEvent};

use crate::adopt::{self, Found};
use crate::error::MasterError;
use crate::places::PlaceWatch;
use crate::process::{Ended, NodeProcess};
use crate::register;
use crate::setup::{self, Instance};

/// What master needs beside the topology.
#[derive(Clone, Debug)]
pub struct MasterOptions {
    /// The `colo` binary: it runs the platform's own nodes.
    pub colo: PathBuf,
}

/// Longest sleep of the supervision loop.
const TICK: Duration = Duration::from_millis(100);
/// The same while nodes start: their readiness shows in shared memory only.
const START_TICK: Duration = Duration::from_millis(2);

/// Owns the instance until it is asked to stop.
///
/// # Errors
/// [`MasterError`]: what could not be made, or the node that failed before the platform was up. Nothing is left behind
/// then.
pub fn run(topology: Topology, options: MasterOptions) -> Result<(), MasterError> {
    let stop = StopFlag::install().map_err(|error| MasterError::Io {
        action: "handle signals of",
        path: PathBuf::from("this process"),
        source: io::Error::other(error),
    })?;
    let directory = InstanceDir::new(&topology.instance)
        .ok_or_else(|| MasterError::BadInstance(topology.instance.clone()))?;
    let placements = setup::place(&topology)?;
    let claim = setup::claim(&directory)?;
    let (instance, running) = match adopt::look(&directory, &topology, &placements, claim)? {
        (Found::Running(instance, running), _) => (*instance, running),
        (Found::Nothing, Some(claim)) => (setup::build(directory, topology, placements, claim)?, Vec::new()),
        (Found::Nothing, None) => return Err(MasterError::BadInstance(topology.instance)),
    };
    let mut master = Master::new(instance, options, stop)?;
    let outcome = master.work(&running);
    if outcome.is_err() {
        master.stop_nodes();
    }
    adopt::finish(master.instance);
    outcome
}

/// One node under supervision.
#[derive(Debug)]
pub(crate) struct Managed {
    pub(crate) spec: NodeSpec,
    pub(crate) process: Option<NodeProcess>,
    /// Asked to start in its host, or running there: for strategies that have no process of their own.
    pub(crate) is_hosted: bool,
    pub(crate) started: Option<Instant>,
    restarts: u32,
    /// Started again at this time.
    pub(crate) start_at: Option<Instant>,
    /// It ended and is not started again.
    pub(crate) done: bool,
}

impl Managed {
    /// Its process runs, or its host was asked for it.
    pub(crate) fn lives(&self) -> bool {
        self.process.is_some() || self.is_hosted
    }
}

#[derive(Debug)]
pub(crate) struct Master {
    pub(crate) instance: Instance,
    pub(crate) nodes: Vec<Managed>,
    options: MasterOptions,
    pub(crate) config: MasterConfig,
    listener: UnixListener,
    events: Option<Writer>,
    stop: StopFlag,
    up: bool,
    pub(crate) stopping: bool,
    last_start: Option<Instant>,
    pub(crate) places: PlaceWatch,
}

/// What a look at the sockets asks master to do.
enum Asked {
    Nothing,
    Shutdown(UnixStream),
}

impl Master {
    fn new(instance: Instance, options: MasterOptions, stop: StopFlag) -> Result<Master, MasterError> {
        let socket = instance.directory.socket();
        let failed = |source| MasterError::Io { action: "listen on", path: socket.clone(), source };
        // We hold the lock: a socket that is here is a dead master's.
        let _ = std::fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let events = match instance.topology.journal("master.events") {
            Some(spec) => {
                let mut writer = instance.open(&spec.name)?.writer(0, instance.clock)?;
                writer.wake_through(std::sync::Arc::clone(&instance.registry));
                Some(writer)
            }
            None => None,
        };
        setup::take_seat(&instance);
        let nodes = instance
            .topology
            .start_sequence()
            .into_iter()
            .filter(|spec| spec.seat != 0)
            .map(|spec| Managed {
                spec: spec.clone(),
                process: None,
                is_hosted: false,
                started: None,
                restarts: 0,
                start_at: None,
                done: false,
            })
            .collect();
        let config = instance
            .topology
            .nodes
            .first()
            .and_then(|master| serde_json::from_value(master.section.clone()).ok())
            .unwrap_or_default();
        Ok(Master {
            instance,
            nodes,
            options,
            config,
            listener,
            events,
            stop,
            up: false,
            stopping: false,
            last_start: None,
            places: PlaceWatch::new(),
        })
    }

    fn work(&mut self, running: &[(u16, journal::ProcessIdentity)]) -> Result<(), MasterError> {
        for (seat, identity) in running {
            if let Some(node) = self.nodes.iter_mut().find(|node| node.spec.seat == *seat) {
                if node.spec.host.is_some() {
                    node.is_hosted = true;
                    node.started = Some(Instant::now());
                    continue;
                }
                node.process = NodeProcess::adopt(*identity).ok();
                node.started = node.process.is_some().then(Instant::now);
                log::info!("node `{}` runs on as process {}", node.spec.name, identity.pid);
            }
        }
        if !running.is_empty() {
            self.finish_adoption();
        }
        loop {
            if self.stop.is_set() {
                let outcome = if self.up { Ok(()) } else { Err(MasterError::Interrupted) };
                self.stop_nodes();
                return outcome;
            }
            self.start_what_can()?;
            self.wait();
            if let Asked::Shutdown(stream) = self.answer() {
                self.stop_nodes();
                setup::remove(&self.instance.directory);
                let _ = protocol::send(&stream, &Reply::Done);
                return Ok(());
            }
            self.reap()?;
            self.check_up()?;
            self.look_at_places();
            if let Some(seat) = self.instance.registry.occupy(0) {
                seat.set_heartbeat(self.instance.clock.now());
                if let Ok(cpu) = nix::sched::sched_getcpu() {
                    seat.set_cpu(cpu as u64);
                }
            }
        }
    }

    /// A running platform stays what it was: nodes that had ended before count as done unless they are to restart.
    fn finish_adoption(&mut self) {
        let was_up = self.instance.registry.phase() == Phase::Running.to_word();
        for node in &mut self.nodes {
            let state = self.instance.state(node.spec.seat);
            let had_run = !matches!(state, NodeState::Empty | NodeState::Starting);
            if was_up && !node.lives() && had_run {
                node.done = node.spec.restart.policy == RestartPolicy::Never || state == NodeState::Stopped;
            }
        }
        self.up = was_up;
    }

    /// Starts every node whose turn has come.
    fn start_what_can(&mut self) -> Result<(), MasterError> {
        let now = Instant::now();
        for index in 0..self.nodes.len() {
            let node = &self.nodes[index];
            // A host is started with the first of its strategies.
            if self.stopping || node.lives() || node.done || node.spec.kind == NodeKind::Host {
                continue;
            }
            let due = match node.start_at {
                Some(at) => at <= now,
                None => {
                    self.needs_are_met(&node.spec)
                        && self.last_start.is_none_or(|last| now - last >= node.spec.stagger)
                }
            };
            if due {
                self.start(index)?;
                self.last_start = Some(now);
            }
        }
        Ok(())
    }

    fn needs_are_met(&self, spec: &NodeSpec) -> bool {
        spec.needs.iter().all(|need| {
            self.instance.topology.node(need).is_none_or(|needed| {
                matches!(self.instance.state(needed.seat), NodeState::Running | NodeState::Finished)
            })
        })
    }

    pub(crate) fn start(&mut self, index: usize) -> Result<(), MasterError> {
        let node = &mut self.nodes[index];
        node.start_at = None;
        if node.spec.host.is_some() {
            return self.start_hosted(index);
        }
        if let Some(seat) = self.instance.registry.occupy(u32::from(node.spec.seat)) {
            seat.set_state(NodeState::Starting.to_word());
        }
        match NodeProcess::start(&self.options.colo, &self.instance.directory, &node.spec) {
            Ok(process) => {
                if let Some(seat) = self.instance.registry.occupy(u32::from(node.spec.seat)) {
                    seat.set_process(process.identity());
                }
                log::info!("node `{}` started as process {}", node.spec.name, process.identity().pid);
                node.process = Some(process);
                node.started = Some(Instant::now());
                Ok(())
            }
            Err(source) => {
                let name = &node.spec.name;
                let action = "start the program of a node:";
                let path = match &node.spec.program {
                    topology::Program::Path(path) => path.clone(),
                    topology::Program::Builtin(_) => self.options.colo.clone(),
                };
                log::error!("node `{name}` does not start: {source}");
                Err(MasterError::Io { action, path, source })
            }
        }
    }

    /// Sleeps until a process ends, somebody knocks, or the next look is due.
    fn wait(&self) {
        let mut descriptors = vec![PollFd::new(self.listener.as_fd(), PollFlags::POLLIN)];
        descriptors.extend(
            self.nodes
                .iter()
                .filter_map(|node| node.process.as_ref())
                .map(|process| PollFd::new(process.as_fd(), PollFlags::POLLIN)),
        );
        let tick = if self.up { TICK } else { START_TICK };
        // A signal ends the wait, which is all it should do.
        let _ = poll(&mut descriptors, PollTimeout::try_from(tick).unwrap_or(PollTimeout::ZERO));
    }

    /// Answers everybody who knocked.
    fn answer(&mut self) -> Asked {
        loop {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Asked::Nothing,
                Err(error) => {
                    log::warn!("a connection failed: {error}");
                    return Asked::Nothing;
                }
            };
            let _ = stream.set_nonblocking(false);
            let reply = match protocol::receive(&stream, Some(Duration::from_secs(1))) {
                Ok(Request::Register { version, node, pid }) => self.register(version, &node, pid),
                // Its seat says the rest, and is looked at next.
                Ok(Request::Left { .. }) => Reply::Done,
                Ok(Request::StopNodes) => {
                    self.stop_nodes();
                    Reply::Done
                }
                Ok(Request::Shutdown) => return Asked::Shutdown(stream),
                Err(error) => Reply::Refused { reason: error.to_string() },
            };
            if let Err(error) = protocol::send(&stream, &reply) {
                log::warn!("an answer did not arrive: {error}");
            }
        }
    }

    fn register(&mut self, version: u32, name: &str, pid: u32) -> Reply {
        if self.stopping {
            return Reply::Refused { reason: "the platform is stopping".to_owned() };
        }
        match register::assign(&self.instance, version, name, pid) {
            Ok((seat, identity, assignment)) => {
                if let Some(node) = self.nodes.iter_mut().find(|node| node.spec.seat == seat) {
                    if node.spec.host.is_some() {
                        node.is_hosted = true;
                    } else if node.process.as_ref().is_none_or(|process| process.identity() != identity) {
                        node.process = NodeProcess::adopt(identity).ok();
                        node.started.get_or_insert_with(Instant::now);
                    }
                    node.done = false;
                }
                self.tell(seat, NodeChange::Joined, assignment.generation, pid, -1);
                Reply::Assigned(Box::new(assignment))
            }
            Err(reason) => {
                log::warn!("process {pid} wanted to be node `{name}` and was refused: {reason}");
                Reply::Refused { reason }
            }
        }
    }

    /// Writes what happened to a node for everybody to read.
    pub(crate) fn tell(&mut self, seat: u16, change: NodeChange, generation: u64, pid: u32, exit_code: i32) {
        let is_strategy =
            self.nodes.iter().any(|node| node.spec.seat == seat && node.spec.kind == NodeKind::Strategy);
        let kind = if is_strategy { NodeEvent::STRATEGY } else { NodeEvent::PLATFORM };
        let event =
            NodeEvent { generation, seat, change, kind, pid, exit_code, reserved: 0, reserved_tail: 0 };
        if let Some(events) = &mut self.events
            && let Err(error) = events.write(NodeEvent::ID, 0, event.bytes())
        {
            log::warn!("an event of seat {seat} was not written: {error}");
        }
    }

    /// Notices which processes have ended.
    pub(crate) fn reap(&mut self) -> Result<(), MasterError> {
        for index in 0..self.nodes.len() {
            let Some(ended) = self.nodes[index].process.as_mut().and_then(NodeProcess::ended) else {
                continue;
            };
            self.buried(index, ended)?;
        }
        self.reap_hosted()
    }

    fn buried(&mut self, index: usize, ended: Ended) -> Result<(), MasterError> {
        let pid = self.nodes[index].process.take().map_or(0, |process| process.identity().pid);
        if self.nodes[index].spec.kind == NodeKind::Host {
            self.host_ended(index, ended)?;
        }
        self.seat_left(index, pid, ended)
    }

    /// Marks the seat, tells everybody, lets go of cursors, and starts the node again if it should be.
    pub(crate) fn seat_left(&mut self, index: usize, pid: u32, ended: Ended) -> Result<(), MasterError> {
        let seat_number = self.nodes[index].spec.seat;
        let left = self.instance.state(seat_number) == NodeState::Stopped;
        let mut generation = 0;
        if let Some(seat) = self.instance.registry.occupy(u32::from(seat_number)) {
            generation = seat.generation();
            if !left {
                seat.set_state(NodeState::Dead.to_word());
            }
            if ended.code() >= 0 {
                seat.set_exit(ended.code() as u64 + 1);
            }
        }
        let change = if left { NodeChange::Left } else { NodeChange::Died };
        self.tell(seat_number, change, generation, pid, ended.code());
        let spec = self.nodes[index].spec.clone();
        if left && ended.code() <= 0 {
            log::info!("node `{}` stopped", spec.name);
        } else {
            log::error!("node `{}` (process {pid}) {ended}", spec.name);
        }
        if spec.kind == NodeKind::Relay {
            let seats = journal::Relay::give_back(&self.instance.registry, u32::from(seat_number));
            log::info!("{seats} nodes that `{}` woke are woken by the writers now", spec.name);
        }
        let outcome = self.restart_or_not(index, ended, left);
        // Nobody comes back for what a strategy held that stays down, nor for anything once the platform stops.
        let for_good = self.nodes[index].done && (self.stopping || spec.kind == NodeKind::Strategy);
        self.release_cursors(&spec, for_good);
        outcome
    }

    /// Lets go of what a dead reader held: where the topology says so, or all of it.
    fn release_cursors(&self, spec: &NodeSpec, all: bool) {
        let dropped = spec
            .reads
            .iter()
            .filter(|read| all || read.kind == ReaderKind::Loose || read.on_death == OnDeath::Drop);
        for read in dropped {
            let dismissed = self
                .instance
                .open(&read.journal)
                .and_then(|journal| Ok(journal.dismiss(u32::from(spec.seat))?));
            if let Err(error) = dismissed {
                log::warn!("the cursor of `{}` in `{}` stays: {error}", spec.name, read.journal);
            }
        }
    }

    fn restart_or_not(&mut self, index: usize, ended: Ended, left: bool) -> Result<(), MasterError> {
        let (up, stopping) = (self.up, self.stopping);
        let node = &mut self.nodes[index];
        let failed = !left || ended.code() > 0;
        let wanted = match node.spec.restart.policy {
            RestartPolicy::Never => false,
            RestartPolicy::OnFailure => failed,
            RestartPolicy::Always => true,
        };
        if stopping {
            node.done = true;
            return Ok(());
        }
        if wanted && node.restarts < node.spec.restart.max {
            // Whoever ran for a while starts at the shortest pause again.
            let pause = node.spec.restart.backoff * 2_u32.saturating_pow(node.restarts.min(10));
            node.restarts += 1;
            node.start_at = Some(Instant::now() + pause);
            log::info!("node `{}` is started again in {pause:?} (restart {})", node.spec.name, node.restarts);
            return Ok(());
        }
        node.done = true;
        let log = self.instance.directory.log(node.spec.host.as_ref().unwrap_or(&node.spec.name));
        // A host that one of its strategies needs again comes again with it.
        if !up && failed && node.spec.kind != NodeKind::Host {
            return Err(MasterError::NodeFailed {
                node: node.spec.name.clone(),
                how: ended.to_string(),
                words: last_errors(&log),
                log,
                exit: u8::try_from(ended.code()).ok(),
            });
        }
        Ok(())
    }

    /// Is everybody there? Then the platform runs.
    fn check_up(&mut self) -> Result<(), MasterError> {
        if self.up || self.stopping {
            return Ok(());
        }
        let mut all = true;
        for node in &self.nodes {
            let state = self.instance.state(node.spec.seat);
            all &= matches!(state, NodeState::Running | NodeState::Finished) || node.done;
            if state == NodeState::Starting
                && node.started.is_some_and(|started| started.elapsed() > self.config.ready_timeout)
            {
                return Err(MasterError::NotReady {
                    node: node.spec.name.clone(),
                    seconds: self.config.ready_timeout.as_secs(),
                    log: self.instance.directory.log(&node.spec.name),
                });
            }
        }
        if all {
            self.up = true;
            self.instance.set_phase(Phase::Running);
            log::info!("all {} nodes run", self.nodes.len());
        }
        Ok(())
    }

    /// Sends a signal to the nodes that `chosen` picks.
    pub(crate) fn signal(&self, signal: Signal, chosen: impl Fn(&Managed) -> bool) {
        for node in self.nodes.iter().filter(|node| chosen(node)) {
            if let Some(process) = &node.process {
                process.signal(signal);
            }
        }
    }
}

/// What a node's log says last of errors: the lines behind the last informational one.
fn last_errors(log: &std::path::Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let mut lines: Vec<&str> =
        text.lines().rev().take_while(|line| !line.contains(" INFO ")).take(12).collect();
    lines.reverse();
    lines.iter().map(|line| format!("\n  {line}")).collect()
}
