//! Taking over an instance whose master died.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use journal::{ProcessIdentity, Registry};
use node::{Claim, InstanceDir, NodeState};
use pinning::Placement;
use pinning::huge_mounts;
use topology::{Stream, Topology};
use wire::{Message, NodeChange, NodeEvent};

use crate::error::MasterError;
use crate::lives::{self, Ended, Standing};
use crate::memory::Backing;
use crate::setup::Instance;
use crate::supervise::Master;

/// What a claimed directory holds.
pub(crate) enum Found {
    /// Nothing that runs: build it anew.
    Nothing,
    /// Nodes that run by this very topology.
    Running(Box<Instance>, Vec<(u16, ProcessIdentity)>),
}

/// Looks at what the previous master left. Remains without a living node are removed.
pub(crate) fn look(
    directory: &InstanceDir,
    topology: &Topology,
    placements: &[Placement],
    claim: Claim,
) -> Result<(Found, Option<Claim>), MasterError> {
    let path = directory.registry();
    if !path.exists() {
        // Nothing, or what a removal left that was cut short.
        demand_unused(&claim)?;
        clear(&claim)?;
        return Ok((Found::Nothing, Some(claim)));
    }
    let registry = match Registry::open(&path) {
        Ok(registry) => registry,
        Err(error) => {
            // Nobody holds the lock, and what is here is of no version that could be taken over.
            log::warn!("the remains of an earlier instance cannot be read and are removed: {error}");
            demand_unused(&claim)?;
            clear(&claim)?;
            return Ok((Found::Nothing, Some(claim)));
        }
    };
    if !registry.is_of_this_namespace() {
        // Its process ids say nothing here; the locks do.
        demand_unused(&claim)?;
        log::info!("nobody uses what an instance of another pid namespace left; it is removed");
        clear(&claim)?;
        return Ok((Found::Nothing, Some(claim)));
    }
    let alive: Vec<(u16, ProcessIdentity)> = (1..registry.seats())
        .filter_map(|number| {
            let process = registry.seat(number)?.process();
            process.is_alive().then_some((number as u16, process))
        })
        .collect();
    if alive.is_empty() {
        log::info!("no node of an earlier instance lives; its remains are removed");
        clear(&claim)?;
        return Ok((Found::Nothing, Some(claim)));
    }
    let known: Option<Topology> =
        fs::read(directory.topology()).ok().and_then(|text| serde_json::from_slice(&text).ok());
    if known.as_ref() != Some(topology) {
        let nodes =
            alive.iter().map(|(seat, _)| registry.name(u32::from(*seat))).collect::<Vec<_>>().join(", ");
        return Err(MasterError::OtherTopology { instance: directory.name().to_owned(), nodes });
    }
    let clock = registry.clock(&path)?;
    let backings = topology.journals.iter().map(|spec| backing(directory, &spec.name)).collect();
    let instance = Instance {
        directory: directory.clone(),
        topology: topology.clone(),
        registry: Arc::new(registry),
        clock,
        backings,
        placements: placements.to_vec(),
        claim,
    };
    Ok((Found::Running(Box::new(instance), alive), None))
}

/// Removes all but the lock, which is ours by now.
fn clear(claim: &Claim) -> Result<(), MasterError> {
    claim.clear().map_err(io("clear", claim))
}

/// Refuses to go on while anybody holds a journal of the instance.
fn demand_unused(claim: &Claim) -> Result<(), MasterError> {
    if claim.is_in_use().map_err(io("look at the locks of", claim))? {
        return Err(MasterError::InUse { instance: claim.instance().name().to_owned() });
    }
    Ok(())
}

fn io(action: &'static str, claim: &Claim) -> impl Fn(std::io::Error) -> MasterError {
    let path = claim.instance().path().to_owned();
    move |source| MasterError::Io { action, path: path.clone(), source }
}

/// Where the ring of a journal really is.
fn backing(directory: &InstanceDir, journal: &str) -> Backing {
    let files = directory.find_journal(journal);
    let huge = huge_mounts().into_iter().map(|mount| mount.path).find(|mount| files.ring.starts_with(mount));
    let page = journal::Journal::open_read_only(files).map_or(4096, |journal| journal.shape().page);
    Backing { huge, page, transparent: false }
}

impl Master {
    /// How each node stands, by what its seat says, whether its process lives, and what was announced of it.
    pub(crate) fn standings(&self) -> Vec<Standing> {
        let said = said(&self.instance);
        (0..self.nodes.len()).map(|index| self.standing(index, &said)).collect()
    }

    fn standing(&self, index: usize, said: &BTreeMap<u16, (NodeChange, u64)>) -> Standing {
        let node = &self.nodes[index];
        let seat = self.instance.registry.seat(u32::from(node.spec.seat));
        let state = self.instance.state(node.spec.seat);
        let has_ended = matches!(state, NodeState::Dead | NodeState::Failed | NodeState::Stopped);
        let lives = match &node.spec.host {
            None => node.process.is_some(),
            // Until it takes its seat, it lives as a wish to its host.
            Some(host) if state == NodeState::Starting => {
                self.nodes.iter().any(|node| node.spec.name == *host && node.process.is_some())
            }
            // Its process is the host's, and may run on without it.
            Some(_) => !has_ended && seat.as_ref().is_some_and(|seat| seat.process().is_alive()),
        };
        let found = match state {
            NodeState::Empty => lives::Found::Untouched,
            _ if !lives => lives::Found::Ended(self.end_of(index, Ended::Unknown)),
            NodeState::Starting => lives::Found::Starting,
            NodeState::Joined => lives::Found::Joined,
            _ => lives::Found::Ready,
        };
        let generation = seat.map_or(0, |seat| seat.generation());
        Standing { generation, said: said.get(&node.spec.seat).copied(), found }
    }
}

/// What was announced last of each seat, as far as the journal still holds it.
fn said(instance: &Instance) -> BTreeMap<u16, (NodeChange, u64)> {
    let mut said = BTreeMap::new();
    let read =
        node::read_held(&instance.directory, Stream::Events.journal().unwrap_or_default(), None, |frame| {
            if let Ok(event) = NodeEvent::decode(frame.payload) {
                said.insert(event.seat, (event.change, event.generation));
            }
        });
    if let Err(error) = read {
        log::warn!("what was announced before cannot be read: {error}");
    }
    said
}
