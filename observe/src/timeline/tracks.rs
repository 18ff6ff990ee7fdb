//! The tracks: one for each node, below its process where that is known, and what belongs to a node beside it.

use std::collections::HashMap;
use std::io::{self, Write};

use topology::NodeKind;

use super::TracedNode;
use super::packet::{self, Unit};
use super::sink::Sink;

/// A node's track.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeTrack {
    pub(super) track: u64,
    /// What its other tracks lie below.
    process: u64,
}

#[derive(Debug, Default)]
pub(super) struct Tracks {
    next: u64,
    nodes: HashMap<String, NodeTrack>,
    names: HashMap<u32, String>,
    /// Those that are not nodes': by what they are and whose.
    others: HashMap<(&'static str, String), u64>,
    /// Up to where slices reach, by track.
    reach: HashMap<u64, u64>,
}

impl Tracks {
    pub(super) fn describe<W: Write>(&mut self, nodes: &[TracedNode], sink: &mut Sink<W>) -> io::Result<()> {
        let mut processes: HashMap<u32, u64> = HashMap::new();
        for node in nodes {
            self.names.insert(node.seat, node.name.clone());
            let Some(pid) = node.pid else {
                self.add(&node.name, None, 0, sink)?;
                continue;
            };
            let mut same: Vec<&TracedNode> = nodes.iter().filter(|other| other.pid == Some(pid)).collect();
            same.sort_by_key(|other| (other.kind != NodeKind::Host, other.seat));
            let process = match processes.get(&pid) {
                Some(process) => *process,
                None => {
                    let process = self.uuid();
                    sink.packet(&packet::process(process, pid, &same[0].name))?;
                    processes.insert(pid, process);
                    process
                }
            };
            // A thread has one track: of several nodes in one process each has one of its own.
            let thread = (same.len() == 1).then_some(pid);
            self.add(&node.name, thread, process, sink)?;
        }
        Ok(())
    }

    fn add<W: Write>(
        &mut self,
        name: &str,
        thread: Option<u32>,
        process: u64,
        sink: &mut Sink<W>,
    ) -> io::Result<NodeTrack> {
        let track = self.uuid();
        match thread {
            Some(pid) => sink.packet(&packet::thread(track, process, pid, name))?,
            None => sink.packet(&packet::named(track, process, name))?,
        };
        let process = if process == 0 { track } else { process };
        let node = NodeTrack { track, process };
        self.nodes.insert(name.to_owned(), node);
        Ok(node)
    }

    fn uuid(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Of a node; one that nobody has described has a track without a process.
    pub(super) fn node<W: Write>(&mut self, name: &str, sink: &mut Sink<W>) -> io::Result<NodeTrack> {
        match self.nodes.get(name) {
            Some(node) => Ok(*node),
            None => self.add(name, None, 0, sink),
        }
    }

    /// Name of the node in a seat.
    pub(super) fn name(&self, seat: u32) -> String {
        self.names.get(&seat).cloned().unwrap_or_else(|| format!("seat {seat}"))
    }

    /// A track of a node beside its own.
    pub(super) fn beside<W: Write>(
        &mut self,
        node: &str,
        what: &'static str,
        unit: Option<Unit>,
        sink: &mut Sink<W>,
    ) -> io::Result<u64> {
        if let Some(track) = self.others.get(&(what, node.to_owned())) {
            return Ok(*track);
        }
        let parent = self.node(node, sink)?.process;
        self.make(parent, &format!("{node}: {what}"), (what, node), unit, sink)
    }

    /// A track in a group of tracks that are no node's.
    pub(super) fn grouped<W: Write>(
        &mut self,
        group: &'static str,
        name: &str,
        unit: Option<Unit>,
        sink: &mut Sink<W>,
    ) -> io::Result<u64> {
        if let Some(track) = self.others.get(&(group, name.to_owned())) {
            return Ok(*track);
        }
        let parent = self.group(group, sink)?;
        self.make(parent, name, (group, name), unit, sink)
    }

    /// The same, a new one each time: tracks of one name are shown as one with several rows.
    pub(super) fn row<W: Write>(
        &mut self,
        group: &'static str,
        name: &str,
        sink: &mut Sink<W>,
    ) -> io::Result<u64> {
        let parent = self.group(group, sink)?;
        let track = self.uuid();
        sink.packet(&packet::named(track, parent, name))?;
        Ok(track)
    }

    fn group<W: Write>(&mut self, group: &'static str, sink: &mut Sink<W>) -> io::Result<u64> {
        match self.others.get(&(group, String::new())) {
            Some(parent) => Ok(*parent),
            None => self.make(0, group, (group, ""), None, sink),
        }
    }

    fn make<W: Write>(
        &mut self,
        parent: u64,
        name: &str,
        (what, whose): (&'static str, &str),
        unit: Option<Unit>,
        sink: &mut Sink<W>,
    ) -> io::Result<u64> {
        let track = self.uuid();
        match unit {
            Some(unit) => sink.packet(&packet::counter(track, parent, name, unit))?,
            None => sink.packet(&packet::named(track, parent, name))?,
        };
        self.others.insert((what, whose.to_owned()), track);
        Ok(track)
    }

    /// Where a slice on this track can begin: not before the one before it has ended.
    pub(super) fn reach(&mut self, track: u64, begin: u64, end: u64) -> u64 {
        let reach = self.reach.entry(track).or_default();
        let begin = begin.max(*reach);
        *reach = (*reach).max(end);
        begin
    }
}
