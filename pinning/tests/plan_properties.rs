//! Random plans for random nodes on every recorded host: what is accepted can be applied.
#![allow(clippy::unwrap_used)] // The helpers are tests too.

mod support;

use std::collections::BTreeMap;

use pinning::{CpuSet, Host, NodeRequest, Plan, PlanWarning, ResolvedPlan};
use proptest::prelude::*;
use support::Recorded;

fn any_rule() -> impl Strategy<Value = String> {
    let pattern = prop::sample::select(vec!["*", "n*", "n1", "n2", "n-*", "?2"]);
    let place = prop_oneof![
        (0..12_usize).prop_map(|cpu| format!("cpu = {cpu}")),
        (0..8_usize, 0..8_usize).prop_map(|(first, more)| format!("cpus = \"{first}-{}\"", first + more)),
        (0..2_usize).prop_map(|numa| format!("numa = {numa}")),
        Just("policy = \"idle\"".to_owned()),
    ];
    let flag = prop::sample::select(vec![
        "",
        ", exclusive = true",
        ", no_smt_sibling = true",
        ", spread = \"pack\"",
        ", spread = \"round-robin\"",
    ]);
    (pattern, place, flag).prop_map(|(pattern, place, flag)| format!("\"{pattern}\" = {{ {place}{flag} }}"))
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let auto = prop::sample::select(vec!["", "auto = \"latency\"\n", "auto = \"density\"\n"]);
    let small = prop::sample::select(vec!["", "on_small_host = \"remap\"\n"]);
    (auto, small, prop::collection::vec(any_rule(), 0..4)).prop_map(|(auto, small, rules)| {
        let unique: BTreeMap<String, String> =
            rules.into_iter().map(|rule| (rule.split(" = ").next().unwrap().to_owned(), rule)).collect();
        let rules: Vec<String> = unique.into_values().collect();
        toml::from_str(&format!("{auto}{small}[nodes]\n{}", rules.join("\n"))).unwrap()
    })
}

fn any_nodes() -> impl Strategy<Value = Vec<NodeRequest>> {
    prop::collection::vec((any::<bool>(), any::<bool>()), 0..14).prop_map(|nodes| {
        let name = |(n, (busy, platform)): (usize, (bool, bool))| NodeRequest {
            name: format!("n{n}"),
            busy,
            platform,
        };
        nodes.into_iter().enumerate().map(name).collect()
    })
}

#[test]
fn whatever_is_accepted_can_be_carried_out() {
    let hosts: Vec<Host> =
        Recorded::all().iter().filter_map(|recorded| Host::read(recorded.root.path()).ok()).collect();
    assert!(hosts.len() >= 20);
    let host = 0..hosts.len();
    let config = ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let accepted = std::cell::Cell::new(0);
    runner
        .run(&(host, any_plan(), any_nodes()), |(host, plan, nodes)| {
            let host = &hosts[host];
            let first = plan.resolve(host, &nodes);
            prop_assert_eq!(&first, &plan.resolve(host, &nodes), "the same input gives the same plan");
            match first {
                Err(problems) => prop_assert!(!problems.is_empty()),
                Ok(resolved) => {
                    accepted.set(accepted.get() + 1);
                    carried_out(host, &nodes, &resolved)?;
                }
            }
            Ok(())
        })
        .unwrap();
    assert!(accepted.get() > 500, "only {} plans were accepted", accepted.get());
}

fn carried_out(host: &Host, nodes: &[NodeRequest], resolved: &ResolvedPlan) -> Result<(), TestCaseError> {
    prop_assert_eq!(resolved.placements.len(), nodes.len());
    let bends = resolved.warnings.iter().any(|warning| matches!(warning, PlanWarning::PromiseBroken { .. }));
    let mut busy = CpuSet::new();
    for (placement, node) in resolved.placements.iter().zip(nodes) {
        prop_assert_eq!(&placement.node, &node.name);
        prop_assert!(
            !placement.cpus.is_empty() && placement.cpus.is_subset(&host.allowed),
            "{:?}",
            placement
        );
        prop_assert!(!placement.reasons.is_empty());
        if node.busy
            && let Some(cpu) = placement.pinned_cpu()
        {
            prop_assert!(busy.insert(cpu) || bends, "two busy-pollers on CPU {}", cpu);
        }
        let others = resolved.placements.iter().filter(|other| other.node != placement.node);
        for other in others {
            prop_assert!(!placement.exclusive || bends || !other.cpus.overlaps(&placement.cpus));
        }
    }
    let json = serde_json::to_string(resolved).unwrap();
    prop_assert_eq!(&serde_json::from_str::<ResolvedPlan>(&json).unwrap(), resolved);
    Ok(())
}
