//! What can be wrong with a topology as a whole. Pure: the same for a topology that came from a file and for one
//! that a program put together.
//!
//! # Gated circles
//!
//! A gated reader that does not read stops its writer. Some gated edges of the standard platform close a circle
//! (td → matching → td, strategy → td → strategy), so each of these processes keeps one rule: **while it waits for
//! room in a journal that it writes, it goes on reading what it reads gated.** td therefore never blocks on `td.orders`
//! or on a strategy's reports: it takes executions in meanwhile, and answers `overload` to new orders when it can keep no
//! more. A circle of further nodes must keep the same rule; [`Topology::gated_circles`] lists them all.

use std::collections::{BTreeMap, BTreeSet};

use settings::{ByteSize, nearest, or_list};

use crate::config::ReaderKind;
use crate::spec::{JournalSpec, Pages, Topology};

// Those of seats, topics and rings are the journal's, which this crate may not use: `node` does not compile if they differ.

/// Most nodes in an instance.
pub const MAX_SEATS: usize = 1_024;
/// Most topics of a journal.
pub const MAX_TOPICS: u32 = 4_096;
/// Most journals in an instance: a strategy with a process of its own has two, so that all seats can be such.
pub const MAX_JOURNALS: usize = 4_096;
/// Smallest ring.
pub const MIN_CAPACITY: u64 = 64 << 10;
/// Largest ring.
pub const MAX_CAPACITY: u64 = 64 << 30;

/// One thing that is wrong with a topology.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A journal has one writer.
    #[error("`{journal}` has two writers: `{first}` and `{second}`")]
    TwoWriters {
        /// The journal.
        journal: String,
        /// Its first writer.
        first: String,
        /// The one too many.
        second: String,
    },
    /// Nobody writes what a node wants to read.
    #[error("`{node}` reads `{journal}`, which nobody writes")]
    UnknownJournal {
        /// The reader.
        node: String,
        /// What it wants to read.
        journal: String,
        /// The most similar journal there is.
        near: Option<String>,
    },
    /// A node needs one that is not there.
    #[error("`{node}` needs `{need}`, which is no node of this platform")]
    UnknownNode {
        /// Who needs.
        node: String,
        /// What it needs.
        need: String,
        /// The most similar node there is.
        near: Option<String>,
    },
    /// A node reads its own journal, or one journal twice.
    #[error("`{node}` reads `{journal}` {}", if *own { "and writes it too" } else { "twice" })]
    ReadTwice {
        /// The reader.
        node: String,
        /// The journal.
        journal: String,
        /// It is also the writer.
        own: bool,
    },
    /// Names are unique.
    #[error("two nodes are named `{node}`")]
    TwoNodes {
        /// The name.
        node: String,
    },
    /// Nodes that wait for each other to be ready never start.
    #[error("these nodes need each other in a circle, so that none can start first: {}", nodes.join(", "))]
    NeedsCircle {
        /// Who.
        nodes: Vec<String>,
    },
    /// More nodes than seats.
    #[error("{nodes} nodes; an instance has {MAX_SEATS} seats")]
    TooManySeats {
        /// How many.
        nodes: usize,
    },
    /// More journals than an instance holds.
    #[error("{journals} journals; an instance holds {MAX_JOURNALS}")]
    TooManyJournals {
        /// How many.
        journals: usize,
    },
    /// More topics than a journal has.
    #[error("`{journal}` wants {topics} topics; a journal has 1 to {MAX_TOPICS}")]
    TooManyTopics {
        /// The journal.
        journal: String,
        /// How many.
        topics: u32,
    },
    /// No possible size of a ring.
    #[error("`{journal}` has a capacity of {}; a ring has a power of two from 64KiB to 64GiB", ByteSize(*capacity))]
    Capacity {
        /// The journal.
        journal: String,
        /// Bytes.
        capacity: u64,
        /// Nearest possible sizes.
        near: Vec<String>,
    },
    /// A ring smaller than one page.
    #[error("`{journal}` has a capacity of {}, less than one huge page of {}", ByteSize(*capacity), ByteSize(*page))]
    LessThanPage {
        /// The journal.
        journal: String,
        /// Bytes.
        capacity: u64,
        /// Bytes.
        page: u64,
    },
}

/// What a fault is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject<'a> {
    /// A node, by name.
    Node(&'a str),
    /// A journal, by name.
    Journal(&'a str),
    /// The instance.
    Instance,
}

impl Fault {
    /// What it is about, for finding its place in a file.
    pub(crate) fn subject(&self) -> Subject<'_> {
        match self {
            Fault::TwoWriters { second: node, .. }
            | Fault::UnknownJournal { node, .. }
            | Fault::UnknownNode { node, .. }
            | Fault::ReadTwice { node, .. }
            | Fault::TwoNodes { node } => Subject::Node(node),
            Fault::NeedsCircle { nodes } => {
                nodes.last().map_or(Subject::Instance, |node| Subject::Node(node))
            }
            Fault::TooManySeats { .. } | Fault::TooManyJournals { .. } => Subject::Instance,
            Fault::TooManyTopics { journal, .. }
            | Fault::Capacity { journal, .. }
            | Fault::LessThanPage { journal, .. } => Subject::Journal(journal),
        }
    }

    /// What to do.
    pub(crate) fn help(&self) -> String {
        let near = |near: &Option<String>, else_do: &str| match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => else_do.to_owned(),
        };
        match self {
            Fault::TwoWriters { second, .. } => {
                format!("a journal has one writer: give `{second}` a journal of its own")
            }
            Fault::UnknownJournal { near: like, .. } => {
                near(like, "name a journal that some node writes, or let one write it")
            }
            Fault::UnknownNode { near: like, .. } => near(like, "name a node of this file"),
            Fault::ReadTwice { own: true, .. } => {
                "a node keeps what it wrote itself; leave out this read".to_owned()
            }
            Fault::ReadTwice { own: false, .. } => "one reader a journal is enough: leave out one".to_owned(),
            Fault::TwoNodes { .. } => "rename one of them".to_owned(),
            Fault::NeedsCircle { .. } => "leave out one of the `needs`".to_owned(),
            Fault::TooManySeats { .. } | Fault::TooManyJournals { .. } => {
                "lower a `count` of the strategies, or run a second instance".to_owned()
            }
            Fault::TooManyTopics { .. } => "lower its `topics`".to_owned(),
            Fault::Capacity { near, .. } => {
                format!("the nearest: {}", or_list(near.iter().map(String::as_str), "\""))
            }
            Fault::LessThanPage { page, .. } => {
                format!("raise its capacity to \"{}\", or use smaller pages", ByteSize(*page))
            }
        }
    }
}

impl Topology {
    /// Everything that is wrong with it; empty when it can run.
    pub fn check(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        if self.nodes.len() > MAX_SEATS {
            faults.push(Fault::TooManySeats { nodes: self.nodes.len() });
        }
        if self.journals.len() > MAX_JOURNALS {
            faults.push(Fault::TooManyJournals { journals: self.journals.len() });
        }
        self.check_journals(&mut faults);
        self.check_nodes(&mut faults);
        faults
    }

    fn check_journals(&self, faults: &mut Vec<Fault>) {
        let mut writers: BTreeMap<&str, &str> = BTreeMap::new();
        for journal in &self.journals {
            if let Some(first) = writers.insert(&journal.name, &journal.writer) {
                faults.push(Fault::TwoWriters {
                    journal: journal.name.clone(),
                    first: first.to_owned(),
                    second: journal.writer.clone(),
                });
            }
            if !(1..=MAX_TOPICS).contains(&journal.topics) {
                faults.push(Fault::TooManyTopics { journal: journal.name.clone(), topics: journal.topics });
            }
            faults.extend(capacity_fault(journal));
        }
    }

    fn check_nodes(&self, faults: &mut Vec<Fault>) {
        let journals: BTreeSet<&str> = self.journals.iter().map(|journal| journal.name.as_str()).collect();
        let names: BTreeSet<&str> = self.nodes.iter().map(|node| node.name.as_str()).collect();
        let mut seen = BTreeSet::new();
        for node in &self.nodes {
            if !seen.insert(&node.name) {
                faults.push(Fault::TwoNodes { node: node.name.clone() });
            }
            let mut read = BTreeSet::new();
            for binding in &node.reads {
                let (node_name, journal) = (node.name.clone(), binding.journal.clone());
                let own = node.writes.iter().any(|write| write.journal == journal);
                if !journals.contains(journal.as_str()) {
                    let near = nearest(&journal, journals.iter().copied()).map(str::to_owned);
                    faults.push(Fault::UnknownJournal { node: node_name, journal, near });
                } else if own || !read.insert(&binding.journal) {
                    faults.push(Fault::ReadTwice { node: node_name, journal, own });
                }
            }
            for need in node.needs.iter().filter(|need| !names.contains(need.as_str())) {
                let near = nearest(need, names.iter().copied()).map(str::to_owned);
                faults.push(Fault::UnknownNode { node: node.name.clone(), need: need.clone(), near });
            }
        }
        // Nodes of one name would look like a circle.
        if seen.len() < self.nodes.len() {
            return;
        }
        let edges = self.nodes.iter().flat_map(|node| {
            node.needs.iter().map(|need| (node.name.as_str(), need.as_str())).collect::<Vec<_>>()
        });
        for nodes in circles(edges) {
            faults.push(Fault::NeedsCircle { nodes });
        }
    }

    /// Groups of nodes that gated journals join in a circle; what that asks of them stands in this module's
    /// head.
    pub fn gated_circles(&self) -> Vec<Vec<String>> {
        let edges = self.journals.iter().flat_map(|journal| {
            let gated = journal.readers.iter().filter(|reader| reader.kind == ReaderKind::Gated);
            gated.map(|reader| (journal.writer.as_str(), reader.node.as_str())).collect::<Vec<_>>()
        });
        circles(edges)
    }
}

/// `None` when a ring can have this capacity; else the nearest that one can have, as text.
pub(crate) fn near_capacities(bytes: u64) -> Option<Vec<String>> {
    if bytes.is_power_of_two() && (MIN_CAPACITY..=MAX_CAPACITY).contains(&bytes) {
        return None;
    }
    let above = bytes.checked_next_power_of_two().unwrap_or(MAX_CAPACITY);
    let mut near = [above / 2, above].map(|size| size.clamp(MIN_CAPACITY, MAX_CAPACITY)).to_vec();
    near.dedup();
    Some(near.into_iter().map(|size| ByteSize(size).to_string()).collect())
}

fn capacity_fault(journal: &JournalSpec) -> Option<Fault> {
    let (name, capacity) = (journal.name.clone(), journal.capacity_bytes);
    if let Some(near) = near_capacities(capacity) {
        return Some(Fault::Capacity { journal: name, capacity, near });
    }
    match journal.pages {
        Pages::Huge { size, .. } if capacity < size => {
            Some(Fault::LessThanPage { journal: name, capacity, page: size })
        }
        _ => None,
    }
}

/// The sets of nodes that reach each other along `edges`, in alphabetical order. A node is in at most one.
fn circles<'a>(edges: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Vec<String>> {
    let mut after: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in edges {
        after.entry(from).or_default().insert(to);
    }
    let reach = |start: &'a str, after: &BTreeMap<&'a str, BTreeSet<&'a str>>| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![start]);
        while let Some(node) = next.pop() {
            let new = after.get(node).into_iter().flatten().filter(|to| seen.insert(**to));
            next.extend(new.copied().collect::<Vec<_>>());
        }
        seen
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        after.keys().map(|&node| (node, reach(node, &after))).collect();
    let mut found: Vec<Vec<String>> = Vec::new();
    let mut done: BTreeSet<&str> = BTreeSet::new();
    for (&node, from_node) in &reached {
        if done.contains(node) || !from_node.contains(node) {
            continue;
        }
        let back = |other: &&&str| reached.get(**other).is_some_and(|set| set.contains(node));
        let circle: Vec<&str> = from_node.iter().filter(back).copied().collect();
        done.extend(&circle);
        found.push(circle.into_iter().map(str::to_owned).collect());
    }
    found
}
