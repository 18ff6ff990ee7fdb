//! Master's loop: what it owns, and what it does repeatedly.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

use journal::Writer;
use journal::process::ProcessIdentity;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use node::protocol::{Reply, Request};
use node::{Counter, InstanceDir, Intent, LogMark, Phase, Quiescence, StopFlag};
use topology::config::MasterConfig;
use topology::{NodeKind, NodeSpec, Program, Topology};

use crate::adopt::{self, Found};
use crate::clients::{ClientId, Clients};
use crate::error::{MasterError, SOCKET_PATH};
use crate::group::{Group, Remainder};
use crate::lives::{Event, Limits, Lives, Rules, Stopping};
use crate::past::Past;
use crate::places::PlaceWatch;
use crate::process::NodeProcess;
use crate::register;
use crate::setup::{self, Instance};
use crate::stalls::StallWatch;
use crate::wanted::Wanted;

/// What master needs besides the topology.
#[derive(Clone, Debug)]
pub struct MasterOptions {
    /// The `colo` binary: it runs the platform's own nodes.
    pub colo: PathBuf,
    /// What the instance goes on with, if it is made anew.
    pub past: Option<Arc<dyn Past>>,
}

/// Longest sleep of the supervision loop: deaths, connections and signals end it.
const IDLE_TICK: Duration = Duration::from_millis(250);
/// The same while something shows only in shared memory: starting nodes, or messages to be handled before a stop.
const SHORT_TICK: Duration = Duration::from_millis(2);

/// A node without a heartbeat for so long, or for half of `stop_timeout`, hangs.
const SILENT: Duration = Duration::from_secs(2);

/// Time limit of a client that was told that all nodes have stopped: if it has not had the instance removed by then,
/// the next waiting client is told.
const HEIR_AFTER: Duration = Duration::from_secs(10);

/// Owns the instance until it is asked to stop.
///
/// # Errors
/// [`MasterError`]: what could not be created, or the node that failed before the platform was up. Then nothing is left
/// behind.
pub fn run(topology: Topology, options: MasterOptions) -> Result<(), MasterError> {
    let stop = StopFlag::install().map_err(|error| MasterError::Io {
        action: "handle signals of",
        path: PathBuf::from("this process"),
        source: io::Error::other(error),
    })?;
    node::raise_open_files();
    journal::process::ignore_hangup();
    journal::process::pass_no_descriptors_on().map_err(|source| MasterError::Io {
        action: "keep the caller's files from the nodes of",
        path: PathBuf::from("this process"),
        source,
    })?;
    let directory = InstanceDir::new(&topology.instance)
        .ok_or_else(|| MasterError::BadInstance(topology.instance.clone()))?;
    let (socket, length) = (directory.socket(), directory.socket().as_os_str().len());
    if length > SOCKET_PATH {
        return Err(MasterError::SocketPath { path: socket, length });
    }
    let placements = setup::place(&topology)?;
    let claim = setup::claim(&directory)?;
    let (instance, running) = match adopt::look(&directory, &topology, &placements, claim)? {
        (Found::Running(..), _) if options.past.is_some() => {
            return Err(MasterError::StillRuns(topology.instance));
        }
        (Found::Running(instance, running), _) => (*instance, running),
        (Found::Nothing, Some(claim)) => {
            let past = options.past.as_deref();
            (setup::build(directory, topology, placements, claim, past)?, Vec::new())
        }
        (Found::Nothing, None) => return Err(MasterError::BadInstance(topology.instance)),
    };
    let mut master = Master::new(instance, options, stop, running.is_empty())?;
    master.take_over(&running);
    let outcome = master.work();
    // Removed once, while the lock is held; only then may a waiting process start another instance.
    setup::remove(&master.instance.claim);
    for client in std::mem::take(&mut master.awaiting_end) {
        master.clients.answer(client, &Reply::Done, Instant::now());
    }
    for client in std::mem::take(&mut master.awaiting_stop) {
        master.clients.answer(client, &Reply::Removed, Instant::now());
    }
    outcome
}

/// One node under supervision.
#[derive(Debug)]
pub(crate) struct Managed {
    pub(crate) spec: NodeSpec,
    pub(crate) process: Option<NodeProcess>,
    /// Its present process, or the last one.
    pub(crate) last_pid: u32,
    /// Start of that process's text in its log.
    pub(crate) log_from: LogMark,
    /// It was killed because it did not stop when it was asked to.
    pub(crate) overstayed: bool,
    /// Why the system refused to start it.
    pub(crate) refused: Option<io::Error>,
    /// What people want of it, over its platform file.
    pub(crate) intent: Intent,
    /// Number of an ask for new parameters that is not answered.
    pub(crate) asked: Option<u64>,
}

impl Managed {
    /// The node as it is started.
    pub(crate) fn as_wanted(&self) -> Cow<'_, NodeSpec> {
        match &self.intent.program {
            Some(program) => {
                Cow::Owned(NodeSpec { program: Program::Path(program.clone()), ..self.spec.clone() })
            }
            None => Cow::Borrowed(&self.spec),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Master {
    pub(crate) instance: Instance,
    /// In the order of their starts; [`Lives`] refers to them by index.
    pub(crate) nodes: Vec<Managed>,
    pub(crate) lives: Lives,
    /// Events that are not handled yet.
    pub(crate) pending: VecDeque<Event>,
    pub(crate) is_following_up: bool,
    pub(crate) options: MasterOptions,
    pub(crate) config: MasterConfig,
    pub(crate) events: Option<Writer>,
    /// Why the platform fails to start.
    pub(crate) failure: Option<MasterError>,
    /// Children whose place another process has taken: to be reaped when they end.
    pub(crate) left_over: Vec<Child>,
    /// Processes that the programs of ended nodes have started, and that have not ended.
    pub(crate) remainders: Vec<Remainder>,
    /// Cursors to release, by node and journal, whose seats something still locks.
    pub(crate) unreleased: Vec<(usize, String)>,
    pub(crate) began: Instant,
    pub(crate) places: PlaceWatch,
    pub(crate) stalls: StallWatch,
    pub(crate) clients: Clients,
    /// Clients to tell, one at a time, that all nodes have stopped: the first of them looks at what they left and has
    /// it removed.
    awaiting_stop: VecDeque<ClientId>,
    /// When the last of them was told.
    told_stop: Option<Instant>,
    /// Clients to tell when the instance is removed.
    awaiting_end: Vec<ClientId>,
    stop: StopFlag,
    /// What people want, and are not answered yet.
    pub(crate) wanted: Vec<Wanted>,
    /// Watches the messages of the ended group of nodes until they are handled.
    settling: Option<Quiescence>,
    /// How far they were handled at the last look.
    settled: u64,
}

impl Master {
    /// `is_fresh`: no node runs yet, so that everything created is removed when this fails.
    fn new(
        instance: Instance,
        options: MasterOptions,
        stop: StopFlag,
        is_fresh: bool,
    ) -> Result<Master, MasterError> {
        match Master::open(&instance) {
            Ok((clients, events)) => Ok(Master::with(instance, options, stop, clients, events)),
            Err(error) => {
                if is_fresh {
                    setup::remove(&instance.claim);
                }
                Err(error)
            }
        }
    }

    /// Master's socket, and its journal.
    fn open(instance: &Instance) -> Result<(Clients, Option<Writer>), MasterError> {
        let socket = instance.directory.socket();
        // We hold the lock: an existing socket is a dead master's.
        let _ = std::fs::remove_file(&socket);
        let clients = Clients::listen(&socket).map_err(|source| MasterError::Io {
            action: "listen on",
            path: socket.clone(),
            source,
        })?;
        let events = match instance.topology.journal("master.events") {
            Some(spec) => {
                let mut writer = instance.open(&spec.name)?.writer(0, instance.clock)?;
                writer.wake_through(std::sync::Arc::clone(&instance.registry));
                Some(writer)
            }
            None => None,
        };
        Ok((clients, events))
    }

    fn with(
        instance: Instance,
        options: MasterOptions,
        stop: StopFlag,
        clients: Clients,
        events: Option<Writer>,
    ) -> Master {
        setup::take_seat(&instance);
        let specs = instance.topology.start_sequence().into_iter().filter(|spec| spec.seat != 0);
        let nodes: Vec<Managed> = specs.map(managed).collect();
        let config = instance.topology.master();
        Master {
            lives: Lives::new(rules(&nodes), limits(&config, &instance.topology)),
            instance,
            nodes,
            pending: VecDeque::new(),
            is_following_up: false,
            options,
            config,
            events,
            failure: None,
            left_over: Vec::new(),
            remainders: Vec::new(),
            unreleased: Vec::new(),
            began: Instant::now(),
            places: PlaceWatch::new(),
            stalls: StallWatch::new(),
            clients,
            awaiting_stop: VecDeque::new(),
            told_stop: None,
            awaiting_end: Vec::new(),
            stop,
            wanted: Vec::new(),
            settling: None,
            settled: 0,
        }
    }

    /// Takes over the running nodes, and handles the deaths that were not noticed.
    fn take_over(&mut self, running: &[(u16, ProcessIdentity)]) {
        if running.is_empty() && self.options.past.is_none() {
            return;
        }
        for node in self.nodes.iter_mut().filter(|node| node.spec.host.is_none()) {
            let identity = running.iter().find(|(seat, _)| *seat == node.spec.seat);
            node.process = identity.and_then(|(_, identity)| {
                NodeProcess::adopt(*identity, Group::of(*identity, &self.instance.directory)).ok()
            });
            // One that died meanwhile is named by the process that sat there last.
            let seat = self.instance.registry.seat(u32::from(node.spec.seat));
            node.last_pid = seat.map_or(0, |seat| seat.process().pid);
            if node.process.is_some() {
                log::info!("node `{}` runs on as process {}", node.spec.name, node.last_pid);
            }
        }
        self.recall_intents();
        let was_up = self.instance.registry.phase() == Phase::Running.to_word();
        if !was_up {
            self.instance.set_phase(Phase::Starting);
        }
        let standings = self.standings();
        let (rules, limits) = (rules(&self.nodes), limits(&self.config, &self.instance.topology));
        let (lives, decisions) = Lives::taken_over(rules, limits, &standings, was_up, self.began.elapsed());
        self.lives = lives;
        self.carry_out(decisions);
    }

    fn work(&mut self) -> Result<(), MasterError> {
        loop {
            if self.stop.is_set() {
                self.happened(Event::StopAsked);
            }
            self.happened(Event::Tick);
            if self.lives.stopping() == Some(Stopping::Done) && self.remainders.is_empty() && self.is_over() {
                return self.outcome();
            }
            self.wait();
            // Before any client is answered: a process that requests a dead node's seat must not hide its death.
            self.reap();
            self.release_the_rest();
            self.answer();
            self.look_for_ready();
            self.look_at_wanted();
            self.help_stopping();
            self.look_at_places();
            self.look_for_stalls();
            self.look_for_own_folder();
            if let Some(seat) = self.instance.registry.occupy(0) {
                seat.set_heartbeat(self.instance.clock.now());
                if let Ok(cpu) = nix::sched::sched_getcpu() {
                    seat.set_cpu(cpu as u64);
                }
            }
        }
    }

    /// An instance whose folder or lock was deleted can no longer be found: its nodes are stopped.
    fn look_for_own_folder(&mut self) {
        if self.failure.is_some() || self.lives.stopping().is_some() || self.instance.claim.is_current() {
            return;
        }
        let error = MasterError::Removed { path: self.instance.directory.path().to_owned() };
        log::error!("{error}");
        self.failure = Some(error);
        self.happened(Event::StopAsked);
    }

    /// All nodes have stopped: tells the first waiting client. True when master has nothing left to do.
    fn is_over(&mut self) -> bool {
        let now = Instant::now();
        let is_due = self.told_stop.is_none_or(|told| now >= told + HEIR_AFTER);
        if is_due && let Some(client) = self.awaiting_stop.pop_front() {
            self.clients.answer(client, &Reply::Done, now);
            self.told_stop = Some(now);
        }
        self.stop.is_set() || self.failure.is_some() || !self.awaiting_end.is_empty()
    }

    fn outcome(&mut self) -> Result<(), MasterError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if self.awaiting_end.is_empty() {
            return if self.lives.is_up() { Ok(()) } else { Err(MasterError::Interrupted) };
        }
        Ok(())
    }

    /// Sleeps until a process ends, a client connects, or the next look is due.
    fn wait(&self) {
        let mut descriptors: Vec<PollFd<'_>> = self.clients.descriptors().collect();
        let processes = self.nodes.iter().filter_map(|node| node.process.as_ref()?.descriptor());
        descriptors.extend(processes.map(|process| PollFd::new(process, PollFlags::POLLIN)));
        let is_stopping = self.lives.stopping().is_some_and(|stopping| stopping != Stopping::Done);
        let due = self.lives.next_start().map(|at| at.saturating_sub(self.began.elapsed()));
        let tick = match due {
            _ if is_stopping || !self.lives.is_up() || !self.remainders.is_empty() => SHORT_TICK,
            _ if self.is_at_a_wish() => SHORT_TICK,
            // Rounded up, as `poll` rounds down.
            Some(due) => (due + Duration::from_millis(1)).min(IDLE_TICK),
            None => IDLE_TICK,
        };
        // A signal only ends the wait.
        let _ = poll(&mut descriptors, PollTimeout::try_from(tick).unwrap_or(PollTimeout::ZERO));
    }

    /// Answers the requests that can be answered now.
    fn answer(&mut self) {
        for (client, request) in self.clients.look(Instant::now()) {
            let reply = match request {
                Request::Register { version, node, pid } => {
                    let process = self.clients.process(client, pid);
                    process.and_then(|process| self.register(version, &node, process)).unwrap_or_else(
                        |reason| {
                            log::warn!("process {pid} wanted to be node `{node}` and was refused: {reason}");
                            Reply::Refused { reason }
                        },
                    )
                }
                // Its seat has the details, and is looked at next.
                Request::Left { .. } => Reply::Done,
                Request::Strategy { node, want } => match self.want(client, &node, want) {
                    None => continue,
                    Some(reply) => reply,
                },
                Request::StopNodes => {
                    self.happened(Event::StopAsked);
                    self.awaiting_stop.push_back(client);
                    continue;
                }
                Request::Shutdown => {
                    self.happened(Event::StopAsked);
                    self.awaiting_end.push(client);
                    continue;
                }
            };
            self.clients.answer(client, &reply, Instant::now());
        }
    }

    /// The assignment of a process to the seat of node `name`, or the reason for a refusal.
    fn register(&mut self, version: u32, name: &str, process: ProcessIdentity) -> Result<Reply, String> {
        let index = self.nodes.iter().position(|node| node.spec.name == name);
        if let Some(index) = index {
            // Its predecessor may have ended since the last look, and the platform with it.
            self.reap_node(index);
        }
        if self.lives.stopping().is_some() && !index.is_some_and(|index| self.lives.may_register(index)) {
            return Err("the platform is stopping".to_owned());
        }
        let assignment = register::assign(&self.instance, version, name, process)?;
        let mut assignment = assignment;
        if let Some(index) = index {
            self.has_registered(index, process, assignment.generation);
            self.hand_over_parameters(index, &mut assignment);
        }
        Ok(Reply::Assigned(Box::new(assignment)))
    }

    fn has_registered(&mut self, index: usize, identity: ProcessIdentity, generation: u64) {
        self.happened(Event::Registered { node: index, generation });
        let node = &mut self.nodes[index];
        if node.spec.host.is_some()
            || node.process.as_ref().is_some_and(|process| process.identity() == identity)
        {
            return;
        }
        (node.last_pid, node.overstayed) = (identity.pid, false);
        // A script that started it is in its group.
        let group = match &node.process {
            Some(script) => script.group(),
            None => Group::of(identity, &self.instance.directory),
        };
        let before = match NodeProcess::adopt(identity, group) {
            Ok(process) => node.process.replace(process),
            Err(error) => {
                log::debug!("process {} of node `{}`: {error}", identity.pid, node.spec.name);
                node.process.take()
            }
        };
        let is_gone = node.process.is_none();
        self.left_over.extend(before.and_then(NodeProcess::into_child));
        if is_gone {
            let end = self.end_of(index, crate::lives::Ended::Unknown);
            self.happened(Event::Ended { node: index, end });
        }
    }

    /// While stopping: wakes the nodes that were asked to end, and notices when the messages of the ended ones are
    /// handled.
    fn help_stopping(&mut self) {
        match self.lives.stopping() {
            Some(Stopping::Ending { .. }) => {
                self.settling = None;
                // A signal between a node's look at its flag and its sleep does not end the sleep.
                for node in self.nodes.iter().filter(|node| node.process.is_some()) {
                    journal::wait::wake(&self.instance.registry, u32::from(node.spec.seat));
                }
            }
            Some(Stopping::Settling { .. }) if self.lives.awaits_successors() => self.settling = None,
            Some(Stopping::Settling { next, .. }) => self.look_for_settled(next),
            Some(Stopping::Done) | None => self.settling = None,
        }
    }

    /// Looks whether all that the living have to handle is handled, before the group `next` is asked to end.
    fn look_for_settled(&mut self, next: usize) {
        let owes_ends = self.owes_ends(next);
        if self.settling.is_none() {
            self.settling = Quiescence::watch(&self.instance.directory, |_| true).ok();
        }
        let handles = |node: &Managed| node.process.is_some() && !topology::looks_on(node.spec.kind);
        let seats: Vec<u32> =
            self.nodes.iter().filter(|node| handles(node)).map(|node| u32::from(node.spec.seat)).collect();
        let counts = |seat: u32| seats.contains(&seat);
        let is_quiet = self.settling.as_mut().is_none_or(|settling| settling.is_quiet_among(counts));
        if is_quiet && !owes_ends {
            self.settling = None;
            self.happened(Event::Settled);
            return;
        }
        let Some(settling) = &self.settling else { return };
        let settled = settling.read_by(counts);
        if settled != std::mem::replace(&mut self.settled, settled) {
            self.happened(Event::Moves);
        } else if !is_quiet {
            let nodes = self.hanging();
            if !nodes.is_empty() {
                self.happened(Event::Hang { nodes });
            }
        }
    }

    /// Whether orders that td has to end may still work at a market elsewhere, and `next` takes the way there away.
    fn owes_ends(&self, next: usize) -> bool {
        let topology = &self.instance.topology;
        let order = topology::stop_order(topology.deterministic);
        let is_way = order.get(next).is_some_and(|kinds| kinds.contains(&NodeKind::Matching));
        is_way
            && topology.trades_elsewhere()
            && self.nodes.iter().any(|node| {
                let seat = self.instance.registry.seat(u32::from(node.spec.seat));
                node.spec.kind == NodeKind::Td
                    && node.process.is_some()
                    && seat.is_some_and(|seat| seat.counter(Counter::MustEnd as usize) > 0)
            })
    }

    /// Nodes that have something to handle, and no heartbeat.
    fn hanging(&mut self) -> Vec<usize> {
        let longest = SILENT.min(self.config.stop_timeout / 2).as_nanos() as u64;
        let now = self.instance.clock.now();
        let Some(settling) = &mut self.settling else { return Vec::new() };
        let registry = &self.instance.registry;
        let mut hangs = |node: &Managed| {
            let seat = u32::from(node.spec.seat);
            let beat = registry.seat(seat).map_or(now, |record| record.heartbeat());
            node.process.is_some()
                && topology::finishes(node.spec.kind)
                && now.saturating_sub(beat) > longest
                && !settling.is_quiet_among(|other| other == seat)
        };
        (0..self.nodes.len()).filter(|node| hangs(&self.nodes[*node])).collect()
    }
}

fn managed(spec: &NodeSpec) -> Managed {
    Managed {
        spec: spec.clone(),
        process: None,
        last_pid: 0,
        log_from: LogMark::default(),
        overstayed: false,
        refused: None,
        intent: Intent::default(),
        asked: None,
    }
}

fn limits(config: &MasterConfig, topology: &Topology) -> Limits {
    Limits {
        ready_timeout: config.ready_timeout,
        stop_timeout: config.stop_timeout,
        in_lock_step: topology.deterministic,
    }
}

/// The rules for each node's life.
fn rules(nodes: &[Managed]) -> Vec<Rules> {
    let place = |name: &String| nodes.iter().position(|node| node.spec.name == *name);
    let of = |node: &Managed| Rules {
        kind: node.spec.kind,
        host: node.spec.host.as_ref().and_then(place),
        needs: node.spec.needs.iter().filter_map(place).collect(),
        stagger: node.spec.stagger,
        policy: node.spec.restart.policy,
        max: node.spec.restart.max,
        backoff: node.spec.restart.backoff,
    };
    nodes.iter().map(of).collect()
}
