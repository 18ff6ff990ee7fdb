//! Assigns seats to processes.

use std::path::PathBuf;
use std::time::Duration;

use journal::process::ProcessIdentity;
use node::protocol::{Assignment, PROTOCOL_VERSION, ReadAssignment, WriteAssignment};
use node::{NodeState, kind_word};
use pinning::Placement;
use topology::config::{Durability, ReaderFrom, ReaderKind};
use topology::{NodeSpec, Topology};

use crate::setup::Instance;

/// The assignment for a process that requests a seat, or the reason for a refusal.
pub(crate) fn assign(
    instance: &Instance,
    version: u32,
    name: &str,
    process: ProcessIdentity,
) -> Result<Assignment, String> {
    if version != PROTOCOL_VERSION {
        return Err(format!(
            "it speaks protocol {version}, this master speaks {PROTOCOL_VERSION}: build both from one version of colo"
        ));
    }
    let Some(node) = instance.topology.node(name) else {
        return Err(format!(
            "the platform file of instance `{}` lists no such node",
            instance.directory.name()
        ));
    };
    if node.seat == 0 {
        return Err("that is the name of master itself".to_owned());
    }
    let seat = instance.registry.occupy(u32::from(node.seat)).ok_or("it has no seat")?;
    let sitting = seat.process();
    let state = NodeState::from_word(seat.state()).unwrap_or(NodeState::Empty);
    let sitter = |number: u16, sitting| instance.directory.sits(u32::from(number), sitting);
    if let Some(host) = &node.host {
        let is_its_process = instance.topology.node(host).is_some_and(|host| {
            let seat = instance.registry.seat(u32::from(host.seat));
            seat.is_some_and(|seat| sitter(host.seat, seat.process()) == Some(process))
        });
        if !is_its_process {
            return Err(format!(
                "it runs in host `{host}`, whose process alone may register it; take `host` out of its group to run it by itself"
            ));
        }
    }
    // Between its start and its registration a program may have handed over to another process of its own.
    if node.host.is_none()
        && state != NodeState::Starting
        && let Some(sitting) = sitter(node.seat, sitting)
        && sitting != process
    {
        return Err(format!("it runs already, as process {}", sitting.pid));
    }
    let generation = seat.generation() + 1;
    seat.set_generation(generation);
    seat.set_process(process);
    seat.set_exit(0);
    seat.set_asked(0);
    seat.set_counter(node::ANSWER_WORD, 0);
    seat.set_kind(kind_word(node.kind, node.mode));
    seat.set_state(NodeState::Joined.to_word());
    let huge = |journal: &str| instance.backing(journal).and_then(|backing| backing.huge.clone());
    let placement = instance.placements.get(usize::from(node.seat)).cloned();
    Ok(assignment(&instance.topology, node, generation, placement, huge))
}

/// `huge`: the mount point of the huge-page file system that holds a journal's ring, if one does.
fn assignment(
    topology: &Topology,
    node: &NodeSpec,
    generation: u64,
    placement: Option<Placement>,
    huge: impl Fn(&str) -> Option<PathBuf>,
) -> Assignment {
    let seat_of = |name: &str| topology.node(name).map_or(0, |node| u32::from(node.seat));
    let writes = node.writes.iter().map(|write| WriteAssignment {
        role: write.role.clone(),
        journal: write.journal.clone(),
        huge: huge(&write.journal),
    });
    let reads = node.reads.iter().map(|read| {
        let spec = topology.journal(&read.journal);
        let peer = spec.map_or("", |spec| &spec.writer).to_owned();
        let is_sync = spec.is_some_and(|spec| spec.durability == Durability::Sync);
        ReadAssignment {
            role: read.role.clone(),
            journal: read.journal.clone(),
            huge: huge(&read.journal),
            gated: read.kind == ReaderKind::Gated,
            from_start: read.from != ReaderFrom::Head,
            durable: is_sync && node.kind.trades(),
            peer_seat: seat_of(&peer),
            peer,
            wake_within: read.wake_within,
        }
    });
    Assignment {
        node: node.name.clone(),
        kind: node.kind,
        seat: u32::from(node.seat),
        generation,
        mode: node.mode,
        wake: node.wake,
        deterministic: topology.deterministic,
        recorded_clock: false,
        drain: drain(topology),
        lock_memory: topology.lock_memory,
        section: section(node),
        placement,
        writes: writes.collect(),
        reads: reads.collect(),
    }
}

/// A node that has not stopped by `stop_timeout` is killed: it gives up slightly earlier by itself, and reports what is
/// left.
fn drain(topology: &Topology) -> Duration {
    topology.master().stop_timeout / 4 * 3
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use node::protocol::{Reply, Request};

    use super::*;

    /// The vectors with the assignments of this version.
    fn with_assignments(vectors: &str, topology: &Topology) -> String {
        let mut text = String::new();
        let mut assigned = None;
        for line in vectors.lines() {
            let line = match (&assigned, line.strip_prefix("< ")) {
                (Some(answer), Some(_)) => format!("< {answer}"),
                _ => line.to_owned(),
            };
            let request = line.strip_prefix("> ").map(|line| line.replace("PID", "1"));
            assigned = request.and_then(|request| {
                let Ok(Request::Register { version: PROTOCOL_VERSION, node, pid: 1 }) =
                    serde_json::from_str(&request)
                else {
                    return None;
                };
                // The others are refused.
                let node =
                    topology.node(&node).filter(|node| ["seat", "desk"].contains(&node.name.as_str()))?;
                let assignment = assignment(topology, node, 1, None, |_| None);
                serde_json::to_string(&Reply::Assigned(Box::new(assignment))).ok()
            });
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    #[test]
    fn assignments_are_those_of_the_golden_file() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../node/tests/vectors");
        let platform = std::fs::read_to_string(folder.join("registration.toml")).unwrap();
        let platform = topology::parse("registration.toml", &platform, &[]).unwrap();
        let file = folder.join("registration.txt");
        let wanted = with_assignments(&std::fs::read_to_string(&file).unwrap(), &platform.topology);
        golden::hold(&file, &wanted);
        assert_eq!(wanted.matches("{\"assigned\"").count(), 2);
    }
}
