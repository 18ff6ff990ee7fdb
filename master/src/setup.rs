//! Claims an instance, and creates everything that its nodes need.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use journal::process::ProcessIdentity;
use journal::{Clock, Journal, Origin, Registry};
use node::{Claim, ClaimError, InstanceDir, NodeState, Phase, kind_word};
use pinning::{Host, Placement};
use topology::config::ReaderKind;
use topology::{NodeKind, NodeSpec, Topology};
use wire::{NodeChange, NodeEvent, NodeRole};

use crate::adopt;
use crate::error::MasterError;
use crate::memory::{self, Backing};
use crate::past::Past;

/// What master works with once the instance is set up.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) directory: InstanceDir,
    pub(crate) topology: Topology,
    pub(crate) registry: Arc<Registry>,
    pub(crate) clock: Clock,
    /// By journal, in the topology's order.
    pub(crate) backings: Vec<Backing>,
    /// By seat; empty when the platform file has no plan.
    pub(crate) placements: Vec<Placement>,
    pub(crate) claim: Claim,
}

fn io(action: &'static str, path: &Path) -> impl Fn(std::io::Error) -> MasterError {
    let path = path.to_owned();
    move |source| MasterError::Io { action, path: path.clone(), source }
}

/// Claims the instance.
pub(crate) fn claim(directory: &InstanceDir) -> Result<Claim, MasterError> {
    let logs = directory.logs();
    directory.create_logs().map_err(io("create", &logs))?;
    directory.claim().map_err(|error| match error {
        ClaimError::Held { holder } => MasterError::Held {
            instance: directory.name().to_owned(),
            holder: holder.map_or("another process".to_owned(), |holder| holder.to_string()),
        },
        ClaimError::NotOurs { .. } => MasterError::NotOurs(error),
        ClaimError::Folder(error) => io("use", directory.path())(error.into()),
    })
}

/// The placement of every node on this host, by seat; master moves to its own at once. Empty without a plan.
pub(crate) fn place(topology: &Topology) -> Result<Vec<Placement>, MasterError> {
    let host = Host::read(Path::new("/")).map_err(|error| MasterError::Plan(error.to_string()))?;
    let plan = topology.place(&host).map_err(|problems| {
        MasterError::Plan(
            problems.iter().map(|problem| format!("  {problem}")).collect::<Vec<_>>().join("\n"),
        )
    })?;
    let Some(plan) = plan else { return Ok(Vec::new()) };
    for warning in &plan.warnings {
        log::warn!("pin plan: {warning}");
    }
    if let Some(own) = plan.placements.first() {
        pinning::apply(own).map_err(|error| MasterError::Plan(error.to_string()))?;
    }
    Ok(plan.placements)
}

/// Creates journals, registry and seats of a fresh instance. On an error, everything created so far is removed.
pub(crate) fn build(
    directory: InstanceDir,
    topology: Topology,
    placements: Vec<Placement>,
    claim: Claim,
    past: Option<&dyn Past>,
) -> Result<Instance, MasterError> {
    let built = try_build(&directory, &topology, &claim, past);
    match built {
        Ok((registry, clock, backings)) => {
            let instance = Instance { directory, topology, registry, clock, backings, placements, claim };
            if past.is_some() {
                adopt::continue_generations(&instance);
            }
            Ok(instance)
        }
        Err(error) => {
            remove(&claim);
            Err(error)
        }
    }
}

fn try_build(
    directory: &InstanceDir,
    topology: &Topology,
    claim: &Claim,
    past: Option<&dyn Past>,
) -> Result<(Arc<Registry>, Clock, Vec<Backing>), MasterError> {
    claim.create_journals().map_err(|error| io("create", &directory.journals())(error.into()))?;
    let mut backings = memory::decide(&topology.journals)?;
    let clock = clock_behind(past);
    let seats = seat_count(topology);
    for (spec, backing) in topology.journals.iter().zip(&mut backings) {
        let origin = past.and_then(|past| past.origin(&spec.name, clock.now()));
        let journal =
            memory::create(directory, spec, backing, seats, origin.unwrap_or(Origin::new(clock.now())))?;
        memory::make_transparent(&journal, backing);
        if let Some(past) = past
            && origin.is_some()
        {
            past.restore(&journal).map_err(|what| MasterError::Past { journal: spec.name.clone(), what })?;
        }
        for reader in spec.readers.iter().filter(|reader| reader.kind == ReaderKind::Gated) {
            if let Some(node) = topology.node(&reader.node) {
                admit(&journal, node, origin.is_some())?;
            }
        }
    }
    let registry = Registry::create(&directory.registry(), seats, clock)?;
    for node in &topology.nodes {
        registry.set_name(u32::from(node.seat), &node.name);
        if let Some(seat) = registry.occupy(u32::from(node.seat)) {
            seat.set_kind(kind_word(node.kind, node.mode));
        }
    }
    write_topology(directory, topology, claim)?;
    Ok((Arc::new(registry), clock, backings))
}

/// The clock of a new instance. Where it goes on with an earlier run, it reads later than all that comes back: a host may have
/// had its clock set back since, and every message is stamped later than the one before it.
fn clock_behind(past: Option<&dyn Past>) -> Clock {
    let clock = Clock::calibrate();
    let Some(past) = past else { return clock };
    let moved = clock.not_before(past.time().saturating_add(1));
    if moved != clock {
        log::warn!(
            "the recording ends later than this host's clock reads, which was set back since: the platform's clock goes on from the \
             recording's end, {:.3} s ahead of the host's",
            Duration::from_nanos(moved.now().saturating_sub(clock.now())).as_secs_f64()
        );
    }
    moved
}

/// A gated reader without a cursor begins at the first frame. So does a recorder in any case: its recording is a new one,
/// which must hold all that was brought back, and not only what another recorder had not seen of it.
fn admit(journal: &Journal, node: &NodeSpec, is_filled: bool) -> Result<(), MasterError> {
    let seat = u32::from(node.seat);
    let has_cursor = || journal.stat().readers.iter().any(|reader| reader.gated && reader.seat == seat);
    if is_filled && (node.kind == NodeKind::Recorder || !has_cursor()) {
        journal.restore_cursor(seat, journal.first_position(), 0)?;
    } else {
        journal.admit_gated(seat)?;
    }
    Ok(())
}

/// The number of seats, rounded up to whole words of seat bits.
fn seat_count(topology: &Topology) -> u32 {
    (topology.nodes.len() as u32).next_multiple_of(64)
}

fn write_topology(directory: &InstanceDir, topology: &Topology, claim: &Claim) -> Result<(), MasterError> {
    let path = directory.topology();
    let text = serde_json::to_vec_pretty(topology).map_err(|error| io("write", &path)(error.into()))?;
    let mut file = claim.create_file("topology.json").map_err(|error| io("create", &path)(error.into()))?;
    file.set_len(0).and_then(|()| file.write_all(&text)).map_err(io("write", &path))
}

/// Removes everything of the claimed instance, and nothing of a successor.
pub(crate) fn remove(claim: &Claim) {
    if let Err(error) = claim.remove() {
        log::error!("cannot remove {}: {error}", claim.instance().path().display());
    }
}

/// Master takes seat 0 like any node.
pub(crate) fn take_seat(instance: &Instance) {
    if let Some(seat) = instance.registry.occupy(0) {
        seat.set_generation(seat.generation() + 1);
        seat.set_process(ProcessIdentity::current());
        seat.set_exit(0);
        seat.set_heartbeat(instance.clock.now());
        seat.set_state(NodeState::Running.to_word());
    }
}

impl Instance {
    /// Sets the phase that all nodes see.
    pub(crate) fn set_phase(&self, phase: Phase) {
        self.registry.set_phase(phase.to_word());
    }

    /// The state of a node.
    pub(crate) fn state(&self, seat: u16) -> NodeState {
        self.registry
            .seat(u32::from(seat))
            .and_then(|seat| NodeState::from_word(seat.state()))
            .unwrap_or(NodeState::Empty)
    }

    /// What is said in `master.events` of a node.
    pub(crate) fn event_of(
        &self,
        node: &NodeSpec,
        change: NodeChange,
        generation: u64,
        exit_code: i32,
    ) -> NodeEvent {
        let role = if node.kind == NodeKind::Strategy { NodeRole::Strategy } else { NodeRole::Platform };
        let seat = self.registry.seat(u32::from(node.seat));
        NodeEvent {
            generation,
            seat: node.seat,
            change,
            role,
            pid: seat.map_or(0, |seat| seat.process().pid),
            exit_code,
            reserved: 0,
            reserved_tail: 0,
        }
    }

    /// The backing of a journal.
    pub(crate) fn backing(&self, journal: &str) -> Option<&Backing> {
        let index = self.topology.journals.iter().position(|spec| spec.name == journal)?;
        self.backings.get(index)
    }

    /// A journal of this instance.
    pub(crate) fn open(&self, journal: &str) -> Result<Journal, MasterError> {
        let huge = self.backing(journal).and_then(|backing| backing.huge.as_deref());
        Ok(Journal::open(self.directory.journal(journal, huge))?)
    }
}
