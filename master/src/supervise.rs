//! Master's loop: what it owns, and what it does again and again.

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
use topology::config::{MasterConfig, RestartPolicy};
use topology::{NodeKind, NodeSpec, Topology};
use wire::{Message, NodeChange, NodeEvent};

use crate::adopt::{self, Found};
use crate::error::MasterError;
use crate::places::PlaceWatch;
use crate::process::NodeProcess;
use crate::register;
use crate::setup::{self, Instance};
use crate::stalls::StallWatch;

/// What master needs beside the topology.
#[derive(Clone, Debug)]
pub struct MasterOptions {
    /// The `colo` binary: it runs the platform's own nodes.
    pub colo: PathBuf,
}

/// Longest sleep of the supervision loop while every node runs that should: deaths, knocks and signals end it.
const IDLE_TICK: Duration = Duration::from_millis(250);
/// The same while a node is to be started again at some time.
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
    pub(crate) restarts: u32,
    /// Started again at this time.
    pub(crate) start_at: Option<Instant>,
    /// It ended and is not started again.
    pub(crate) done: bool,
    /// Started once more, or to be, only to end what its predecessors left: for matching.
    pub(crate) closes: bool,
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
    pub(crate) options: MasterOptions,
    pub(crate) config: MasterConfig,
    listener: UnixListener,
    events: Option<Writer>,
    stop: StopFlag,
    pub(crate) up: bool,
    pub(crate) stopping: bool,
    pub(crate) last_start: Option<Instant>,
    pub(crate) places: PlaceWatch,
    pub(crate) stalls: StallWatch,
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
                closes: false,
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
            stalls: StallWatch::new(),
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
            self.look_for_stalls();
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
        self.up = was_up;
        for index in 0..self.nodes.len() {
            let node = &self.nodes[index];
            let state = self.instance.state(node.spec.seat);
            let had_run = !matches!(state, NodeState::Empty | NodeState::Starting);
            let stays_down = node.spec.restart.policy == RestartPolicy::Never || state == NodeState::Stopped;
            if was_up && !node.lives() && had_run && stays_down {
                self.give_up(index);
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
        let all_run = self.nodes.iter().all(|node| node.lives() || node.done);
        let tick = match (self.up, all_run) {
            (true, true) => IDLE_TICK,
            (true, false) => TICK,
            (false, _) => START_TICK,
        };
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
