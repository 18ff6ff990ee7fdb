//! Turns a process into a node: registers, moves to its place, opens the journals.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use journal::reader::View;
use journal::wait::Relay;
use journal::{Clock, Journal, JournalFiles, OpenError, Reader, Registry};
use serde::de::DeserializeOwned;
use topology::config::Wake;

use crate::error::JoinError;
use crate::front::Front;
use crate::fuse::Fuse;
use crate::handle::NodeHandle;
use crate::input::{Input, InputId, Told};
use crate::instance::InstanceDir;
use crate::output::Output;
use crate::protocol::{Assignment, ReadAssignment};
use crate::registration::register;
use crate::state::{NodeState, kind_word};
use crate::stop::StopFlag;

/// Environment variable with the instance's name, set by master for the processes that it starts.
pub const INSTANCE_VARIABLE: &str = "COLO_INSTANCE";
/// Environment variable with the node's name, set by master in the same way.
pub const NODE_VARIABLE: &str = "COLO_NODE";

/// From so many inputs on a node has a doorbell. Below, looking at every journal's line is as fast, and a message then
/// moves one line to its reader instead of two.
pub const BELL_FROM: usize = 16;

/// A process waits so long for its seat: a master that starts a thousand on a busy host answers one after the other.
/// `ready_timeout` may be over before.
const REGISTERS_WITHIN: Duration = Duration::from_secs(60);

/// A process that has its seat, its place and its journals, and does not poll yet.
///
/// Master is needed for [`Node::join`] alone.
#[derive(Debug)]
pub struct Node {
    pub(crate) assignment: Assignment,
    pub(crate) instance: InstanceDir,
    pub(crate) registry: Arc<Registry>,
    pub(crate) clock: Clock,
    pub(crate) inputs: Vec<Input>,
    pub(crate) stop: StopFlag,
    /// Whether it has enough inputs for a doorbell.
    pub(crate) rings: bool,
    /// Somebody turns its loop round by round.
    is_stepped: bool,
    front: Option<Arc<dyn Front>>,
    outputs: Vec<Output>,
}

impl Node {
    /// Registers as node `name` of `instance`, moves to its planned place, opens the journals.
    ///
    /// The place is taken before the journals are accessed: the first access decides which NUMA node a page lies on.
    ///
    /// # Errors
    /// [`JoinError`].
    pub fn join(instance: &str, name: &str) -> Result<Node, JoinError> {
        let instance =
            InstanceDir::new(instance).ok_or_else(|| JoinError::BadInstance(instance.to_owned()))?;
        let stop = StopFlag::install()?;
        crate::open_files::raise_open_files();
        instance
            .demand_own()
            .map_err(|error| JoinError::System { action: "use the instance", source: error.into() })?;
        let assignment = register(&instance, name, Some(REGISTERS_WITHIN))?;
        if let Some(placement) = &assignment.placement {
            let applied = pinning::apply(placement)?;
            log::info!("runs on CPU {}", applied.cpus);
        }
        if assignment.lock_memory {
            log::info!("{} KiB of memory are locked so far", pinning::lock_memory()?);
        }
        fine_timers();
        let registry_path = instance.registry();
        let registry = Arc::new(Registry::open(&registry_path)?);
        let clock = registry.clock(&registry_path)?;
        Node::with(assignment, instance, registry, clock, stop, None)
    }

    /// A node of a process that gives its own seats: nothing is asked over a socket, the thread stays where it is, and the
    /// process's signals do not stop it.
    ///
    /// # Errors
    /// [`JoinError`] when a journal cannot be opened.
    pub fn seated(
        assignment: Assignment,
        instance: InstanceDir,
        registry: Arc<Registry>,
        clock: Clock,
        front: Arc<dyn Front>,
    ) -> Result<Node, JoinError> {
        let node = Node::with(assignment, instance, registry, clock, StopFlag::default(), Some(front))?;
        Ok(Node { is_stepped: true, ..node })
    }

    /// The same for a part of the process that shares no memory of its own with who gives the seats: it opens the instance by
    /// its name.
    ///
    /// # Errors
    /// [`JoinError`].
    pub fn seated_in(
        instance: &str,
        assignment: Assignment,
        front: Arc<dyn Front>,
    ) -> Result<Node, JoinError> {
        let instance =
            InstanceDir::new(instance).ok_or_else(|| JoinError::BadInstance(instance.to_owned()))?;
        let path = instance.registry();
        let registry = Arc::new(Registry::open(&path)?);
        let clock = registry.clock(&path)?;
        Node::seated(assignment, instance, registry, clock, front)
    }

    /// Opens the journals, and says that the node has joined.
    fn with(
        assignment: Assignment,
        instance: InstanceDir,
        registry: Arc<Registry>,
        clock: Clock,
        stop: StopFlag,
        front: Option<Arc<dyn Front>>,
    ) -> Result<Node, JoinError> {
        let mut outputs = Vec::with_capacity(assignment.writes.len());
        for write in &assignment.writes {
            let journal = Journal::open(files(&instance, &write.journal, write.huge.as_deref()))?;
            let mut writer = journal.writer(assignment.seat, clock)?;
            writer.wake_through(Arc::clone(&registry));
            outputs.push(Output::new(&journal, writer, write)?);
        }
        let rings = assignment.reads.len() >= BELL_FROM;
        // A predecessor's bell; the poll loop installs ours.
        journal::wait::Doorbell::remove(&registry, assignment.seat);
        let told = match (assignment.mode.sleeps(), assignment.wake) {
            (true, Wake::Broadcast) => Told::Everything,
            (false, _) if !rings => Told::Nothing,
            _ => Told::Wanted,
        };
        let mut inputs = Vec::with_capacity(assignment.reads.len());
        for read in &assignment.reads {
            inputs.push(open_input(&instance, &assignment, read, told)?);
        }
        // Whose steps somebody else takes never sleeps.
        if front.is_none() && assignment.mode.sleeps() && !inputs.is_empty() {
            journal::wait::announce(&registry);
        }
        let node = Node {
            assignment,
            instance,
            registry,
            clock,
            inputs,
            stop,
            rings,
            is_stepped: false,
            front,
            outputs,
        };
        if let Some(seat) = node.registry.occupy(node.assignment.seat) {
            seat.set_kind(kind_word(node.assignment.kind, node.assignment.mode));
            seat.set_heartbeat(node.clock.now());
            seat.set_state(NodeState::Joined.to_word());
        }
        Ok(node)
    }

    /// The node's own section of the platform file, as the type of its program.
    ///
    /// # Errors
    /// [`JoinError::Section`].
    pub fn section<T: DeserializeOwned>(&self) -> Result<T, JoinError> {
        serde_json::from_value(self.assignment.section.clone())
            .map_err(|source| JoinError::Section { node: self.assignment.node.clone(), source })
    }

    /// Takes the one journal that the node writes in this role.
    ///
    /// # Errors
    /// [`JoinError::NoSuchRole`].
    pub fn take_output(&mut self, role: &'static str) -> Result<Output, JoinError> {
        self.take_outputs(role).into_iter().next().ok_or_else(|| JoinError::NoSuchRole {
            node: self.assignment.node.clone(),
            role: role.to_owned(),
            direction: "to write",
        })
    }

    /// Takes all journals that the node writes in this role, in the topology's order.
    pub fn take_outputs(&mut self, role: &str) -> Vec<Output> {
        let (taken, kept) =
            std::mem::take(&mut self.outputs).into_iter().partition(|output| output.role == role);
        self.outputs = kept;
        taken
    }

    /// Ends this node's thread behind a commit to one of the journals that it writes and that are not taken yet.
    pub fn light(&mut self, fuse: &Fuse) {
        self.outputs.iter_mut().for_each(|output| output.light(fuse));
    }

    /// The one input in this role.
    ///
    /// # Errors
    /// [`JoinError::NoSuchRole`].
    pub fn input(&self, role: &str) -> Result<InputId, JoinError> {
        self.inputs_of(role).next().ok_or_else(|| JoinError::NoSuchRole {
            node: self.assignment.node.clone(),
            role: role.to_owned(),
            direction: "to read",
        })
    }

    /// All inputs in this role, in the topology's order.
    pub fn inputs_of<'a>(&'a self, role: &'a str) -> impl Iterator<Item = InputId> + 'a {
        self.inputs
            .iter()
            .enumerate()
            .filter(move |(_, input)| input.role == role)
            .map(|(index, _)| InputId(index))
    }

    /// All inputs, in the topology's order.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Takes all inputs, for a component that reads them by itself in [`Component::turn`](crate::Component::turn). They
    /// wake the node as ever; [`Component::is_wanted`](crate::Component::is_wanted) says whether they have news.
    pub fn take_inputs(&mut self) -> Vec<Input> {
        // Without a doorbell, writers wake the seat by its word.
        self.rings = false;
        std::mem::take(&mut self.inputs)
    }

    /// The registry, for whoever wakes other seats.
    pub fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry)
    }

    /// One input, to narrow its topics.
    pub fn input_mut(&mut self, input: InputId) -> Option<&mut Input> {
        self.inputs.get_mut(input.0)
    }

    /// What master assigned to this process: its seat, its kind, how it waits.
    pub fn assignment(&self) -> &Assignment {
        &self.assignment
    }

    /// Whether somebody turns its loop, who lets nothing happen between two rounds of it that it did not cause
    /// ([`Steps`](crate::Steps)).
    pub fn is_stepped(&self) -> bool {
        self.is_stepped
    }

    /// The instance.
    pub fn instance(&self) -> &InstanceDir {
        &self.instance
    }

    /// A relay in this node's seat for `seats`, which follows `journals` and has not taken over yet.
    ///
    /// # Errors
    /// [`JoinError::Open`] when a journal cannot be followed; [`JoinError::Refused`] when a seat does not exist.
    pub(crate) fn relay<'a>(
        &self,
        seats: &[u32],
        journals: impl IntoIterator<Item = &'a str>,
    ) -> Result<Relay, JoinError> {
        let mut relay =
            Relay::new(Arc::clone(&self.registry), self.assignment.seat, seats).ok_or_else(|| {
                let reason = "it is to wake a seat that this instance does not have".to_owned();
                JoinError::Refused { node: self.assignment.node.clone(), reason }
            })?;
        for name in journals {
            relay.follow(&Journal::open_read_only(self.instance.find_journal(name))?)?;
        }
        Ok(relay)
    }

    /// Creates a node without a master.
    #[cfg(test)]
    pub(crate) fn for_test(
        assignment: Assignment,
        instance: InstanceDir,
        registry: Arc<Registry>,
        clock: Clock,
        inputs: Vec<Input>,
        stop: StopFlag,
    ) -> Node {
        let rings = inputs.len() >= BELL_FROM;
        Node {
            assignment,
            instance,
            registry,
            clock,
            inputs,
            stop,
            rings,
            is_stepped: false,
            front: None,
            outputs: Vec::new(),
        }
    }

    /// A handle that other threads of this process may hold: counters, clock, phase.
    pub fn handle(&self) -> NodeHandle {
        NodeHandle {
            registry: Arc::clone(&self.registry),
            seat: self.assignment.seat,
            clock: self.clock,
            stop: self.stop.clone(),
            instance: self.instance.clone(),
            front: self.front.clone(),
        }
    }
}

impl NodeHandle {
    /// Registers this process as another node too, which stays where the process is: how a host comes to the seats of
    /// its strategies.
    ///
    /// # Errors
    /// [`JoinError`].
    pub fn join_as(&self, name: &str) -> Result<Node, JoinError> {
        let assignment = match &self.front {
            Some(front) => {
                front.seat(name).map_err(|reason| JoinError::Refused { node: name.to_owned(), reason })?
            }
            None => register(&self.instance, name, None)?,
        };
        let (instance, registry) = (self.instance.clone(), Arc::clone(&self.registry));
        Node::with(assignment, instance, registry, self.clock, self.stop.clone(), self.front.clone())
    }
}

fn files(instance: &InstanceDir, journal: &str, huge: Option<&Path>) -> JournalFiles {
    instance.journal(journal, huge)
}

fn open_input(
    instance: &InstanceDir,
    assignment: &Assignment,
    read: &ReadAssignment,
    told: Told,
) -> Result<Input, JoinError> {
    let journal = Journal::open(files(instance, &read.journal, read.huge.as_deref()))?;
    let seat = assignment.seat;
    let mut reader = if read.gated {
        Reader::Gated(journal.gated(seat)?)
    } else if read.from_start {
        Reader::Loose(journal.loose_at(seat, oldest(&journal)?)?)
    } else {
        Reader::Loose(journal.loose(seat)?)
    };
    if read.durable {
        reader.set_view(View::Durable);
    }
    let mut input = Input {
        reader,
        journal,
        role: read.role.clone(),
        peer: read.peer.clone(),
        peer_seat: read.peer_seat,
        seat,
        told,
        wake_within: read.wake_within,
        durable: read.durable,
    };
    input.narrow(None)?;
    Ok(input)
}

/// The first frame, or once the journal has wrapped the oldest that is left.
fn oldest(journal: &Journal) -> Result<u64, OpenError> {
    let first = journal.first_position();
    if journal.stat().oldest <= first { Ok(first) } else { journal.oldest_frame() }
}

/// Makes sleeps end on time: by default the system may delay them by 50 µs to save power.
fn fine_timers() {
    if let Err(error) = nix::sys::prctl::set_timerslack(1) {
        log::debug!("timer slack stays as it is: {error}");
    }
}
