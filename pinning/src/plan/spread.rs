//! Distributes the CPUs of a rule among its nodes, and places the nodes without a rule.

use std::collections::BTreeMap;

use super::resolve::Draft;
use super::{DEFAULT, Spread};
use crate::cpuset::CpuSet;
use crate::host::Host;

/// The nodes that share the CPUs of one rule in one way.
#[derive(Default)]
struct Deal {
    /// Indices of the drafts, in the order of the requests.
    members: Vec<usize>,
    /// Number of members that busy-poll.
    busy: usize,
}

/// Distributes the CPUs of each rule among its nodes.
pub(super) fn deal(host: &Host, drafts: &mut [Draft<'_>]) {
    // A node of the same rule with a `spread` or CPUs of its own forms another group.
    let mut deals: BTreeMap<(String, &str, CpuSet), Deal> = BTreeMap::new();
    for (index, draft) in drafts.iter().enumerate() {
        if let Some(candidates) = &draft.candidates {
            let deal = deals.entry((origin(draft), way(draft).name(), candidates.clone())).or_default();
            deal.members.push(index);
            deal.busy += usize::from(draft.request.busy);
        }
    }
    for ((origin, _, candidates), deal) in deals {
        let mut busy_before = 0;
        for (turn, &member) in deal.members.iter().enumerate() {
            let draft = &mut drafts[member];
            let (cpus, why) = choose(draft, &candidates, turn, busy_before, &deal);
            busy_before += usize::from(draft.request.busy);
            let why = format!("{why}{}{}", numa_note(host, &cpus), remap_note(draft, &candidates));
            draft.place(cpus, &origin, why);
        }
    }
}

fn choose(
    draft: &Draft<'_>,
    candidates: &CpuSet,
    turn: usize,
    busy_before: usize,
    deal: &Deal,
) -> (CpuSet, String) {
    let cpus: Vec<usize> = candidates.iter().collect();
    let single = |index: usize| CpuSet::single(cpus[index % cpus.len()]);
    match way(draft) {
        _ if cpus.len() == 1 => (candidates.clone(), "the one CPU that the rule gives".to_owned()),
        Spread::Float => (candidates.clone(), "any of the rule's CPUs, as the kernel likes".to_owned()),
        Spread::RoundRobin => {
            (single(turn), format!("turn {} of {} over CPUs {candidates}", turn + 1, deal.members.len()))
        }
        Spread::Pack if draft.request.busy => {
            (single(busy_before), format!("packed on CPUs {candidates}: a CPU of its own to busy-poll on"))
        }
        Spread::Pack => {
            let first_quiet = deal.busy.min(cpus.len() - 1);
            (single(first_quiet), format!("packed on CPUs {candidates}: one CPU for all that sleep"))
        }
    }
}

fn numa_note(host: &Host, cpus: &CpuSet) -> String {
    let nodes: CpuSet = cpus.iter().filter_map(|cpu| host.cpu(cpu)?.node).collect();
    if host.nodes.len() > 1 { format!(", on NUMA node {nodes}") } else { String::new() }
}

fn remap_note(draft: &Draft<'_>, candidates: &CpuSet) -> String {
    match &draft.rule.cpus {
        Some(cpus) if !candidates.is_subset(&cpus.value) => {
            format!("; remapped, the plan says {}", cpus.value)
        }
        _ => String::new(),
    }
}

fn way(draft: &Draft<'_>) -> Spread {
    draft.rule.spread.as_ref().map_or(Spread::Float, |spread| spread.value)
}

fn origin(draft: &Draft<'_>) -> String {
    let cpus = draft.rule.cpus.as_ref().map(|cpus| cpus.origin.clone());
    cpus.or_else(|| draft.rule.numa.as_ref().map(|numa| numa.origin.clone())).unwrap_or_default()
}

/// Nodes without a place may run on every CPU except those that must not be disturbed.
pub(super) fn float_the_rest(host: &Host, drafts: &mut [Draft<'_>]) {
    let mut quiet = CpuSet::new();
    for draft in drafts.iter().filter(|draft| !draft.cpus.is_empty()) {
        if draft.is_exclusive() || (draft.request.busy && draft.cpus.len() == 1) {
            quiet = quiet.union(&draft.cpus);
        }
        if draft.keeps_siblings_empty() {
            quiet = quiet.union(&host.siblings_of(&draft.cpus));
        }
    }
    let left = host.allowed.difference(&quiet);
    let ordinary = left.difference(&host.isolated);
    let (cpus, why) = if left.is_empty() {
        (host.allowed.clone(), "no rule places it, and no CPU is left over: floats over all".to_owned())
    } else {
        let cpus = if ordinary.is_empty() { left } else { ordinary };
        let spared = host.allowed.difference(&cpus);
        let note = if spared.is_empty() {
            String::new()
        } else {
            format!(", but not over CPUs {spared}, which must be quiet")
        };
        (cpus, format!("no rule places it: floats{note}"))
    };
    for draft in drafts.iter_mut().filter(|draft| draft.cpus.is_empty()) {
        draft.place(cpus.clone(), DEFAULT, why.clone());
    }
}
