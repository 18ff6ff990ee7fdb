//! An instance whose nodes all live in the process that made it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use journal::Writer;
use journal::process::ProcessIdentity;
use node::protocol::{Assignment, PROTOCOL_VERSION};
use node::{Front, InstanceDir, JoinError, Node, NodeState, Phase};
use topology::Topology;
use wire::{Message, NodeChange, NodeEvent};

use crate::adopt::{self, Found};
use crate::error::MasterError;
use crate::register;
use crate::setup::{self, Instance};

/// An instance as master makes it, without processes: its owner asks for the nodes one by one, and turns them.
///
/// Everything that can be seen from outside (registry, journals, topology) is there as ever.
#[derive(Debug)]
pub struct Embedded(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    instance: Instance,
    events: Mutex<Option<Writer>>,
    /// Seats whose nodes have left by themselves.
    left: Mutex<Vec<u32>>,
}

impl Embedded {
    /// Claims and makes the instance. Nothing is left behind on an error.
    ///
    /// # Errors
    /// [`MasterError`].
    pub fn build(topology: Topology) -> Result<Embedded, MasterError> {
        node::raise_open_files();
        let directory = InstanceDir::new(&topology.instance)
            .ok_or_else(|| MasterError::BadInstance(topology.instance.clone()))?;
        let claim = setup::claim(&directory)?;
        let claim = match adopt::look(&directory, &topology, &[], claim)? {
            (Found::Nothing, Some(claim)) => claim,
            _ => return Err(MasterError::StillRuns(topology.instance)),
        };
        let instance = setup::build(directory, topology, Vec::new(), claim, None)?;
        setup::take_seat(&instance);
        instance.set_phase(Phase::Starting);
        let events = match instance.topology.journal("master.events") {
            Some(spec) => {
                match instance.open(&spec.name).and_then(|journal| Ok(journal.writer(0, instance.clock)?)) {
                    Ok(writer) => Some(writer),
                    Err(error) => {
                        setup::remove(&instance.claim);
                        return Err(error);
                    }
                }
            }
            None => None,
        };
        let (events, left) = (Mutex::new(events), Mutex::new(Vec::new()));
        Ok(Embedded(Arc::new(Inner { instance, events, left })))
    }

    /// Where the instance is.
    pub fn directory(&self) -> &InstanceDir {
        &self.0.instance.directory
    }

    /// What runs.
    pub fn topology(&self) -> &Topology {
        &self.0.instance.topology
    }

    /// A node's part in the platform, for whoever sits down by himself.
    ///
    /// # Errors
    /// [`JoinError`].
    pub fn assign(&self, name: &str) -> Result<Assignment, JoinError> {
        let refused = |reason| JoinError::Refused { node: name.to_owned(), reason };
        self.0.seat(name).map_err(refused)
    }

    /// Who gives the seats.
    pub fn front(&self) -> Arc<dyn Front> {
        Arc::clone(&self.0) as Arc<dyn Front>
    }

    /// Gives a node of this process its seat.
    ///
    /// # Errors
    /// [`JoinError`].
    pub fn seat(&self, name: &str) -> Result<Node, JoinError> {
        let assignment = self.assign(name)?;
        let instance = &self.0.instance;
        let (directory, registry) = (instance.directory.clone(), Arc::clone(&instance.registry));
        Node::seated(assignment, directory, registry, instance.clock, Arc::clone(&self.0) as Arc<dyn Front>)
    }

    /// Asks the host that is to run it for this node: it registers by itself.
    pub fn ask_for(&self, seat: u16) {
        if let Some(seat) = self.0.instance.registry.occupy(u32::from(seat)) {
            seat.set_state(NodeState::Starting.to_word());
        }
    }

    /// The phase that all nodes see.
    pub fn set_phase(&self, phase: Phase) {
        self.0.instance.set_phase(phase);
    }

    /// The state of the node in this seat.
    pub fn state(&self, seat: u16) -> NodeState {
        self.0.instance.state(seat)
    }

    /// Marks a node whose end nobody is going to mend.
    pub fn give_up(&self, seat: u16) {
        if let Some(seat) = self.0.instance.registry.occupy(u32::from(seat)) {
            seat.set_state(NodeState::Failed.to_word());
        }
    }

    /// Removes the cursors of a node that has gone and will not come again: nobody is to wait for them.
    pub fn release(&self, seat: u16) {
        let instance = &self.0.instance;
        let Some(spec) = instance.topology.nodes.iter().find(|node| node.seat == seat) else { return };
        for read in &spec.reads {
            let dismissed =
                instance.open(&read.journal).and_then(|journal| Ok(journal.dismiss(u32::from(seat))?));
            if let Err(error) = dismissed {
                log::warn!("the cursor of `{}` in `{}` stays: {error}", spec.name, read.journal);
            }
        }
    }

    /// Says in `master.events` what became of a node.
    pub fn announce(&self, seat: u16, change: NodeChange, exit_code: i32) {
        self.0.announce(seat, change, exit_code);
    }

    /// Seats whose nodes have left by themselves since the last call.
    pub fn take_left(&self) -> Vec<u32> {
        std::mem::take(&mut *self.0.left.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Signs of life, for whoever looks.
    pub fn beat(&self) {
        let instance = &self.0.instance;
        for node in &instance.topology.nodes {
            if let Some(seat) = instance.registry.occupy(u32::from(node.seat)) {
                seat.set_heartbeat(instance.clock.now());
            }
        }
    }

    /// Removes the instance.
    pub fn remove(self) {
        setup::remove(&self.0.instance.claim);
    }

    /// The log of a node, whose last lines a report quotes.
    pub fn log(&self, name: &str) -> PathBuf {
        self.0.instance.directory.log(name)
    }
}

impl Inner {
    fn announce(&self, seat: u16, change: NodeChange, exit_code: i32) {
        let Some(spec) = self.instance.topology.nodes.iter().find(|node| node.seat == seat) else { return };
        let generation = self.instance.registry.seat(u32::from(seat)).map_or(0, |seat| seat.generation());
        let event = self.instance.event_of(spec, change, generation, exit_code);
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(events) = events.as_mut()
            && let Err(error) = events.write(NodeEvent::ID, 0, event.bytes())
        {
            log::warn!("an event of seat {seat} was not written: {error}");
        }
    }
}

impl Front for Inner {
    fn seat(&self, name: &str) -> Result<Assignment, String> {
        let assignment =
            register::assign(&self.instance, PROTOCOL_VERSION, name, ProcessIdentity::current())?;
        self.announce(assignment.seat as u16, NodeChange::Joined, -1);
        Ok(assignment)
    }

    fn left(&self, seat: u32) {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).push(seat);
    }
}
