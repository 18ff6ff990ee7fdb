//! Takes over an instance whose master died.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use journal::Registry;
use journal::process::{self, ProcessIdentity};
use node::{Claim, Exit, InstanceDir, NodeState, Orders};
use pinning::Placement;
use pinning::huge_mounts;
use topology::{Stream, Topology};
use wire::{Message, NodeChange, NodeEvent};

use crate::error::MasterError;
use crate::lives::{self, Ended, Standing};
use crate::memory::Backing;
use crate::setup::Instance;
use crate::supervise::Master;

/// A process that was killed a moment ago still holds its locks while the kernel takes it down.
const ENDS_WITHIN: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(5);

/// The contents of a claimed directory.
pub(crate) enum Found {
    /// No running node: build the instance anew.
    Nothing,
    /// Running nodes of the same topology.
    Running(Box<Instance>, Vec<(u16, ProcessIdentity)>),
}

/// Checks what the previous master left. Remains without a living node are removed.
pub(crate) fn look(
    directory: &InstanceDir,
    topology: &Topology,
    placements: &[Placement],
    claim: Claim,
) -> Result<(Found, Option<Claim>), MasterError> {
    let path = directory.registry();
    if !path.exists() {
        // Empty, or left by an interrupted removal.
        demand_unused(&claim)?;
        clear(&claim)?;
        return Ok((Found::Nothing, Some(claim)));
    }
    let registry = match Registry::open(&path) {
        Ok(registry) => registry,
        Err(error) => {
            // The lock is free, and the version of the remains cannot be taken over.
            log::warn!("the remains of an earlier instance cannot be read and are removed: {error}");
            demand_unused(&claim)?;
            clear(&claim)?;
            return Ok((Found::Nothing, Some(claim)));
        }
    };
    if !registry.is_of_this_namespace() {
        // Its process ids are of another namespace; the locks decide.
        demand_unused(&claim)?;
        log::info!("nobody uses what an instance of another pid namespace left; it is removed");
        clear(&claim)?;
        return Ok((Found::Nothing, Some(claim)));
    }
    let alive: Vec<(u16, ProcessIdentity)> = (1..registry.seats())
        .filter_map(|number| {
            let process = directory.sits(number, registry.seat(number)?.process())?;
            Some((number as u16, process))
        })
        .collect();
    if alive.is_empty() {
        // Of the processes that the seats name. Something else may hold a lock, as a process that one of them has started.
        demand_unused(&claim)?;
        log::info!("no node of an earlier instance lives; its remains are removed");
        clear(&claim)?;
        return Ok((Found::Nothing, Some(claim)));
    }
    if alive.iter().any(|(_, process)| !process::shares_time_namespace(process.pid)) {
        // The platform's clock shows another time there.
        return Err(MasterError::InUse { instance: directory.name().to_owned() });
    }
    let known: Option<Topology> =
        fs::read(directory.topology()).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let Some(known) = known.filter(|known| runs_the_same(known, topology)) else {
        let nodes =
            alive.iter().map(|(seat, _)| registry.name(u32::from(*seat))).collect::<Vec<_>>().join(", ");
        return Err(MasterError::OtherTopology { instance: directory.name().to_owned(), nodes });
    };
    let clock = registry.clock(&path)?;
    let backings = topology.journals.iter().map(|spec| backing(directory, &spec.name)).collect();
    let instance = Instance {
        directory: directory.clone(),
        topology: known,
        registry: Arc::new(registry),
        clock,
        backings,
        placements: placements.to_vec(),
        claim,
    };
    Ok((Found::Running(Box::new(instance), alive), None))
}

/// Where the folder of the run goes is nothing that nodes run by: it stays where it was.
fn runs_the_same(known: &Topology, asked: &Topology) -> bool {
    *known == Topology { run_folder: known.run_folder.clone(), ..asked.clone() }
}

/// Removes everything except the lock, which this process holds now.
fn clear(claim: &Claim) -> Result<(), MasterError> {
    claim.clear().map_err(io("clear", claim))
}

/// Fails while any process holds a journal of the instance.
fn demand_unused(claim: &Claim) -> Result<(), MasterError> {
    let patience = Instant::now() + ENDS_WITHIN;
    while claim.is_in_use().map_err(io("look at the locks of", claim))? {
        if Instant::now() > patience {
            return Err(MasterError::InUse { instance: claim.instance().name().to_owned() });
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}

fn io(action: &'static str, claim: &Claim) -> impl Fn(std::io::Error) -> MasterError {
    let path = claim.instance().path().to_owned();
    move |source| MasterError::Io { action, path: path.clone(), source }
}

/// Where the ring of a journal actually lies.
fn backing(directory: &InstanceDir, journal: &str) -> Backing {
    let files = directory.find_journal(journal);
    let huge = huge_mounts().into_iter().map(|mount| mount.path).find(|mount| files.ring.starts_with(mount));
    let page = journal::Journal::open_read_only(files).map_or(4096, |journal| journal.shape().page);
    Backing { huge, page, transparent: false }
}

impl Master {
    /// The standing of each node: its seat, whether its process lives, and what was announced of it.
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
            // Until it takes its seat, it exists only as a request to its host.
            Some(host) if state == NodeState::Starting => {
                self.nodes.iter().any(|node| node.spec.name == *host && node.process.is_some())
            }
            // Its process is the host's, and may continue without it.
            Some(_) => {
                let sits = |process| self.instance.directory.sits(u32::from(node.spec.seat), process);
                !has_ended && seat.as_ref().is_some_and(|seat| sits(seat.process()).is_some())
            }
        };
        let found = match state {
            NodeState::Empty => lives::Found::Untouched,
            _ if !lives => lives::Found::Ended(self.end_of(index, Ended::Unknown)),
            NodeState::Starting => lives::Found::Starting,
            NodeState::Joined => lives::Found::Joined,
            _ => lives::Found::Ready,
        };
        let asked = seat.as_ref().is_some_and(|seat| Exit::is_asked(seat.exit()));
        let generation = seat.map_or(0, |seat| seat.generation());
        let held = node.intent.stopped.map(|stopped| stopped.orders == Orders::Keep);
        Standing { generation, said: said.get(&node.spec.seat).copied(), found, held, asked }
    }
}

/// The starts in each seat go on where the announcements of before have them.
pub(crate) fn continue_generations(instance: &Instance) {
    for (number, (_, generation)) in said(instance) {
        if let Some(seat) = instance.registry.occupy(u32::from(number)) {
            seat.set_generation(generation);
        }
    }
}

/// The last announcement about each seat that the journal still holds.
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
