//! Checks of a finished plan: errors, and warnings that a measurement should carry.

use std::collections::BTreeMap;

use super::DEFAULT;
use crate::cpuset::CpuSet;
use crate::host::{CoreKind, Host};
use crate::placement::Placement;
use crate::policy::Policy;
use crate::problem::{PlanProblem, PlanWarning};

#[derive(Default)]
pub(super) struct Found {
    pub(super) problems: Vec<PlanProblem>,
    pub(super) warnings: Vec<PlanWarning>,
}

pub(super) fn run(host: &Host, placements: &[Placement]) -> Found {
    let mut found = Found::default();
    busy_on_one_cpu(placements, &mut found);
    busy_on_one_core(host, placements, &mut found);
    busy_float(placements, &mut found);
    sleepers_under_busy(placements, &mut found);
    exclusive(host, placements, &mut found);
    siblings(host, placements, &mut found);
    platform_and_strategies(placements, &mut found);
    floating_over_isolated(host, placements, &mut found);
    distances(host, placements, &mut found);
    policies_and_quota(host, placements, &mut found);
    found
}

fn names<'a>(placements: impl IntoIterator<Item = &'a Placement>) -> Vec<String> {
    placements.into_iter().map(|placement| placement.node.clone()).collect()
}

/// Busy-pollers with one CPU, by that CPU.
fn busy_by_cpu(placements: &[Placement]) -> BTreeMap<usize, Vec<&Placement>> {
    let mut by_cpu: BTreeMap<usize, Vec<&Placement>> = BTreeMap::new();
    for placement in placements.iter().filter(|placement| placement.busy) {
        if let Some(cpu) = placement.pinned_cpu() {
            by_cpu.entry(cpu).or_default().push(placement);
        }
    }
    by_cpu
}

fn busy_on_one_cpu(placements: &[Placement], found: &mut Found) {
    for (cpu, nodes) in busy_by_cpu(placements) {
        if nodes.len() > 1 {
            found.problems.push(PlanProblem::BusyOnOneCpu { cpu, nodes: names(nodes) });
        }
    }
}

fn busy_on_one_core(host: &Host, placements: &[Placement], found: &mut Found) {
    let by_cpu = busy_by_cpu(placements);
    for core in &host.cores {
        let used: CpuSet = core.cpus.iter().filter(|cpu| by_cpu.contains_key(cpu)).collect();
        if used.len() > 1 {
            let nodes = names(used.iter().flat_map(|cpu| by_cpu[&cpu].iter().copied()));
            found.warnings.push(PlanWarning::BusyOnOneCore { cpus: used, nodes });
        }
    }
}

/// Floating busy-pollers, together with those pinned to the same CPUs, must not outnumber the CPUs.
fn busy_float(placements: &[Placement], found: &mut Found) {
    let mut sets: Vec<&CpuSet> = placements
        .iter()
        .filter(|placement| placement.busy && placement.cpus.len() > 1)
        .map(|placement| &placement.cpus)
        .collect();
    sets.sort();
    sets.dedup();
    for set in sets {
        let inside = placements.iter().filter(|placement| placement.busy && placement.cpus.is_subset(set));
        let inside = names(inside);
        if inside.len() > set.len() {
            found.warnings.push(PlanWarning::BusyFloat { cpus: set.clone(), nodes: inside });
        }
    }
}

fn sleepers_under_busy(placements: &[Placement], found: &mut Found) {
    for (cpu, nodes) in busy_by_cpu(placements) {
        let others = names(placements.iter().filter(|other| !other.busy && other.pinned_cpu() == Some(cpu)));
        if !others.is_empty() {
            found.warnings.push(PlanWarning::SleepersUnderBusy { node: nodes[0].node.clone(), cpu, others });
        }
    }
}

fn exclusive(host: &Host, placements: &[Placement], found: &mut Found) {
    let mut kept = CpuSet::new();
    for (index, placement) in placements.iter().enumerate().filter(|(_, placement)| placement.exclusive) {
        kept = kept.union(&placement.cpus);
        let others: Vec<&Placement> = placements
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != index)
            .map(|(_, other)| other)
            .filter(|other| other.cpus.overlaps(&placement.cpus))
            .collect();
        if !others.is_empty() {
            let shared = others.iter().fold(CpuSet::new(), |all, other| all.union(&other.cpus));
            found.problems.push(PlanProblem::NotExclusive {
                node: placement.node.clone(),
                cpus: shared.intersection(&placement.cpus),
                others: names(others),
            });
        }
    }
    let open = kept.difference(&host.isolated);
    if !open.is_empty() {
        found.warnings.push(PlanWarning::ExclusiveNotIsolated { cpus: open });
    }
}

fn siblings(host: &Host, placements: &[Placement], found: &mut Found) {
    for placement in placements.iter().filter(|placement| placement.no_smt_sibling) {
        let empty = host.siblings_of(&placement.cpus).difference(&placement.cpus);
        let others: Vec<&Placement> = placements.iter().filter(|other| other.cpus.overlaps(&empty)).collect();
        if !others.is_empty() {
            found.problems.push(PlanProblem::SiblingUsed {
                node: placement.node.clone(),
                cpus: empty,
                others: names(others),
            });
        }
    }
}

fn platform_and_strategies(placements: &[Placement], found: &mut Found) {
    // Without a plan all nodes share all CPUs, as expected.
    if placements.iter().flat_map(|placement| &placement.reasons).all(|reason| reason.origin == DEFAULT) {
        return;
    }
    let cpus_of = |platform: bool| {
        let of_kind = placements.iter().filter(|placement| placement.platform == platform);
        of_kind.fold(CpuSet::new(), |all, placement| all.union(&placement.cpus))
    };
    let shared = cpus_of(true).intersection(&cpus_of(false));
    if shared.is_empty() {
        return;
    }
    let on_shared = |platform: bool| {
        names(placements.iter().filter(|p| p.platform == platform && p.cpus.overlaps(&shared)))
    };
    let (platform, strategies) = (on_shared(true), on_shared(false));
    found.warnings.push(PlanWarning::PlatformAndStrategies { cpus: shared, platform, strategies });
}

fn floating_over_isolated(host: &Host, placements: &[Placement], found: &mut Found) {
    for placement in placements.iter().filter(|placement| placement.cpus.len() > 1) {
        let isolated = placement.cpus.intersection(&host.isolated);
        if !isolated.is_empty() {
            let node = placement.node.clone();
            found.warnings.push(PlanWarning::FloatsOverIsolated { node, cpus: isolated });
        }
    }
}

/// The distances between the platform's busy-pollers, and their kinds of core.
fn distances(host: &Host, placements: &[Placement], found: &mut Found) {
    let pinned: CpuSet = placements
        .iter()
        .filter(|placement| placement.platform && placement.busy)
        .filter_map(Placement::pinned_cpu)
        .collect();
    let nodes: CpuSet = pinned.iter().filter_map(|cpu| host.cpu(cpu)?.node).collect();
    let is_together = |cpu: usize| pinned.is_subset(&host.cache_neighbours(cpu));
    if nodes.len() > 1 {
        found.warnings.push(PlanWarning::AcrossNuma { nodes });
    } else if pinned.first().is_some_and(|cpu| !is_together(cpu)) {
        found.warnings.push(PlanWarning::AcrossCaches { cpus: pinned });
    }
    let is_slow = |cpu: &usize| host.cpu(*cpu).is_some_and(|cpu| cpu.kind == CoreKind::Efficient);
    for placement in placements.iter().filter(|placement| placement.platform && placement.busy) {
        let slow: CpuSet = placement.cpus.iter().filter(is_slow).collect();
        if !slow.is_empty() {
            found.warnings.push(PlanWarning::EfficientCore { node: placement.node.clone(), cpus: slow });
        }
    }
}

fn policies_and_quota(host: &Host, placements: &[Placement], found: &mut Found) {
    let busy: Vec<&Placement> = placements.iter().filter(|placement| placement.busy).collect();
    for placement in &busy {
        if let Some(policy @ Policy::Fifo(_)) = placement.policy {
            let (node, policy) = (placement.node.clone(), policy.to_string());
            found.warnings.push(PlanWarning::BusyFifo { node, policy });
        }
    }
    if let Some(quota) = host.limits.cpu_quota
        && quota < busy.len() as f64
    {
        found.warnings.push(PlanWarning::Quota { quota: format!("{quota:.2}"), busy: busy.len() });
    }
}
