//! NUMA nodes, from `/sys/devices/system/node`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::memory::{self, HugePages, Memory};
use super::tree::Tree;
use crate::cpuset::CpuSet;

const NODES: &str = "sys/devices/system/node";

/// A NUMA node. It may have no memory (a socket without DIMMs), or no CPU (memory on an expansion card).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NumaNode {
    /// The kernel's number for it.
    pub id: usize,
    /// Its CPUs that are online.
    pub cpus: CpuSet,
    /// Memory in bytes; `None` when the kernel does not report it.
    pub memory_bytes: Option<u64>,
    /// Free memory in bytes.
    pub free_bytes: Option<u64>,
    /// Distance to every node by its number, 10 = local. Empty when the kernel does not report it.
    pub distances: BTreeMap<usize, u32>,
    /// Pools of huge pages on this node, smallest page first.
    pub huge_pages: Vec<HugePages>,
}

impl NumaNode {
    /// Whether memory can be allocated from it. True for a node whose size is unknown.
    pub fn has_memory(&self) -> bool {
        self.memory_bytes != Some(0)
    }
}

pub(super) fn read(
    tree: &Tree,
    online: &CpuSet,
    memory: &Memory,
    huge_pages: &[HugePages],
    notes: &mut Vec<String>,
) -> Vec<NumaNode> {
    let folders = tree.numbered(NODES, "node");
    let ids: Vec<usize> = match tree.cpus(&format!("{NODES}/online")) {
        Ok(listed) => folders.into_iter().filter(|&id| listed.contains(id)).collect(),
        Err(_) => folders,
    };
    let mut nodes: Vec<NumaNode> = ids.iter().map(|&id| node(tree, id, &ids, online, notes)).collect();
    let mut placed = CpuSet::new();
    for node in &mut nodes {
        if node.cpus.overlaps(&placed) {
            notes.push(format!(
                "node {} claims CPUs {} of an earlier node",
                node.id,
                node.cpus.intersection(&placed)
            ));
            node.cpus = node.cpus.difference(&placed);
        }
        placed = placed.union(&node.cpus);
    }
    let homeless = online.difference(&placed);
    if nodes.is_empty() {
        // A kernel without NUMA has no such folder: that is a host of one node.
        return vec![NumaNode {
            id: 0,
            cpus: online.clone(),
            memory_bytes: memory.total_bytes,
            free_bytes: memory.free_bytes,
            distances: BTreeMap::from([(0, 10)]),
            huge_pages: huge_pages.to_vec(),
        }];
    }
    if !homeless.is_empty() {
        notes.push(format!("no NUMA node lists CPUs {homeless}; counted to node {}", nodes[0].id));
        nodes[0].cpus = nodes[0].cpus.union(&homeless);
    }
    nodes
}

fn node(tree: &Tree, id: usize, ids: &[usize], online: &CpuSet, notes: &mut Vec<String>) -> NumaNode {
    let folder = format!("{NODES}/node{id}");
    let cpus = match tree.cpus(&format!("{folder}/cpulist")) {
        Ok(cpus) => cpus,
        Err(error) => match tree.text(&format!("{folder}/cpumap")).map(|mask| CpuSet::from_mask(&mask)) {
            Ok(Ok(cpus)) => cpus,
            _ => {
                notes.push(format!("{error}; node {id} counts as one without CPUs"));
                CpuSet::new()
            }
        },
    };
    // `Node 0 MemTotal:  4942036 kB`
    let kilobytes = |key: &str| tree.field(&format!("{folder}/meminfo"), &format!("Node {id} {key}")).ok();
    let bytes = |key: &str| kilobytes(key).and_then(|value| value.checked_mul(1024));
    let distances = tree.text(&format!("{folder}/distance")).unwrap_or_default();
    let distances: Vec<u32> = distances.split_whitespace().map_while(|word| word.parse().ok()).collect();
    if !distances.is_empty() && distances.len() != ids.len() {
        notes.push(format!(
            "/{folder}/distance has {} entries for {} nodes; ignored",
            distances.len(),
            ids.len()
        ));
    }
    let distances = if distances.len() == ids.len() {
        ids.iter().copied().zip(distances).collect()
    } else {
        BTreeMap::new()
    };
    NumaNode {
        id,
        cpus: cpus.intersection(online),
        memory_bytes: bytes("MemTotal"),
        free_bytes: bytes("MemFree"),
        distances,
        huge_pages: memory::huge_pages(tree, &format!("{folder}/hugepages")),
    }
}
