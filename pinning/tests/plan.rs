//! Plans against recorded hosts: placements, errors and warnings.
#![allow(clippy::unwrap_used)] // The helpers are tests too.

mod support;

use std::collections::BTreeMap;

use pinning::{Host, NodeRequest, Plan, PlanProblem, PlanWarning, ResolvedPlan};
use support::Recorded;
/// How a node waits.
const BUSY: bool = true;
const SLEEPS: bool = false;

/// 80 strategies on the cores that the platform leaves, as on a host of 12 cores.
const TWELVE_CORES: &str = r#"
    [nodes]
    master       = { cpu = 0 }
    ledger       = { cpu = 1 }
    md           = { cpu = 6 }
    td           = { cpu = 8 }
    "strategy-*" = { cpus = "2-5,7,9-11", spread = "round-robin" }
"#;

fn host(name: &str) -> Host {
    Host::read(Recorded::open(name).root.path()).unwrap()
}

fn plan(text: &str) -> Plan {
    toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn platform(nodes: &[(&str, bool)]) -> Vec<NodeRequest> {
    nodes
        .iter()
        .map(|(name, busy)| NodeRequest { name: (*name).into(), busy: *busy, platform: true })
        .collect()
}

fn strategies(count: usize, busy: bool) -> Vec<NodeRequest> {
    (1..=count).map(|n| NodeRequest { name: format!("strategy-{n}"), busy, platform: false }).collect()
}

fn usual(count: usize) -> Vec<NodeRequest> {
    let mut nodes = platform(&[("master", SLEEPS), ("md", BUSY), ("td", BUSY), ("ledger", SLEEPS)]);
    nodes.extend(strategies(count, SLEEPS));
    nodes
}

fn cpus(resolved: &ResolvedPlan, node: &str) -> String {
    resolved.placement(node).unwrap().cpus.to_string()
}

fn problems(result: Result<ResolvedPlan, Vec<PlanProblem>>) -> Vec<String> {
    result.expect_err("the plan should be refused").iter().map(|problem| problem.to_string()).collect()
}

fn has_warning(resolved: &ResolvedPlan, is_it: impl Fn(&PlanWarning) -> bool) -> bool {
    resolved.warnings.iter().any(is_it)
}

#[test]
fn a_plan_that_fits_is_carried_out_as_written() {
    let resolved = plan(TWELVE_CORES).resolve(&host("workstation-12-cores"), &usual(80)).unwrap();
    assert!(resolved.remapped.is_empty());
    assert_eq!(resolved.warnings, []);
    let places: Vec<String> = ["master", "ledger", "md", "td"].map(|node| cpus(&resolved, node)).into();
    assert_eq!(places, ["0", "1", "6", "8"]);
    let turns: Vec<String> = (1..=9).map(|n| cpus(&resolved, &format!("strategy-{n}"))).collect();
    assert_eq!(turns, ["2", "3", "4", "5", "7", "9", "10", "11", "2"]);
    let reason = &resolved.placement("strategy-2").unwrap().reasons[0];
    assert_eq!((reason.value.as_str(), reason.origin.as_str()), ("3", "pin.nodes.\"strategy-*\".cpus"));
    assert_eq!(reason.why, "turn 2 of 80 over CPUs 2-5,7,9-11");
    assert_eq!(resolved.pinned_cpus().to_string(), "0-11");
    assert_eq!(resolved.busy_cpus().to_string(), "6,8");
    let map = resolved.cpu_map(&host("workstation-12-cores"));
    assert_eq!(map.len(), 12);
    assert_eq!(map[6].pinned, ["md"]);
    assert_eq!(map[2].pinned.len(), 10);
}

#[test]
fn a_plan_for_a_bigger_host_is_refused_with_every_missing_cpu() {
    let found = problems(plan(TWELVE_CORES).resolve(&host("cloud-vm-4-cores"), &usual(80)));
    assert_eq!(found.len(), 3, "{found:#?}");
    assert!(found.iter().all(|problem| problem.contains("this host has 0-3") && problem.contains("remap")));
    assert!(found.iter().any(|problem| problem.starts_with("pin.nodes.md.cpu names CPU 6")));
    assert!(found.iter().any(|problem| problem.contains("\"strategy-*\".cpus names CPU 4-5,7,9-11")));
}

#[test]
fn a_plan_for_a_bigger_host_is_remapped_when_asked() {
    let remap = format!("on_small_host = \"remap\"\n{TWELVE_CORES}");
    let placed = |host_name: &str| {
        let resolved = plan(&remap).resolve(&host(host_name), &usual(80)).unwrap();
        assert!(
            has_warning(&resolved, |warning| matches!(warning, PlanWarning::Remapped { .. })),
            "{host_name}"
        );
        ["master", "ledger", "md", "td", "strategy-1"].map(|node| cpus(&resolved, node)).join(" ")
    };
    assert_eq!(placed("cloud-vm-4-cores"), "0 0 2 3 1");
    assert_eq!(placed("cpuinfo-only"), "0 0 1 1 0");
    assert_eq!(placed("one-core"), "0 0 0 0 0");
    // Eight CPUs: the strategies have 1 to 5.
    assert_eq!(placed("node-without-cpus"), "0 0 2 3 1");
    assert_eq!(placed("two-nodes-per-socket"), "0 0 6 7 1");
    // Allowed are 1 and 2 only.
    assert_eq!(placed("cgroup-hybrid"), "1 1 2 2 1");

    let resolved = plan(&remap).resolve(&host("cpuinfo-only"), &usual(2)).unwrap();
    let broken = |warning: &PlanWarning| matches!(warning, PlanWarning::PromiseBroken { promise } if promise.contains("`md` and `td`"));
    assert!(has_warning(&resolved, broken), "{:#?}", resolved.warnings);
}

#[test]
fn remap_keeps_what_is_there_when_there_is_room() {
    let text = "on_small_host = \"remap\"\nnodes = { md = { cpu = 1 }, td = { cpu = 9 } }";
    let resolved =
        plan(text).resolve(&host("cloud-vm-4-cores"), &platform(&[("md", BUSY), ("td", BUSY)])).unwrap();
    assert_eq!((cpus(&resolved, "md"), cpus(&resolved, "td")), ("1".into(), "0".into()));
    assert_eq!(resolved.remapped, BTreeMap::from([(1, 1), (9, 0)]));
    // A plan that fits is not changed, and its promises stay promises.
    let text = "on_small_host = \"remap\"\nnodes = { md = { cpu = 1 }, td = { cpu = 1 } }";
    let found =
        problems(plan(text).resolve(&host("cloud-vm-4-cores"), &platform(&[("md", BUSY), ("td", BUSY)])));
    assert!(found[0].starts_with("`md` and `td` busy-poll on CPU 1"), "{found:?}");
}

#[test]
fn all_problems_of_the_input_come_at_once() {
    let text = r#"
        required = ["clock-source", "clock-sauce"]
        [nodes]
        md = { cpu = 4 }
        td = { cpu = 99 }
        a = { cpu = 1, cpus = "2" }
        b = { cpus = "" }
        c = { cpu = 1, spread = "pack" }
        d = { numa = 7 }
        "x*" = { policy = "idle" }
        "*y" = { policy = "nice:5" }
    "#;
    let nodes = platform(&[("md", BUSY), ("td", BUSY), ("d", SLEEPS), ("xy", SLEEPS), ("xy", SLEEPS)]);
    let found = problems(plan(text).resolve(&host("offline-cores"), &nodes));
    let expected = [
        "pin.required names `clock-sauce`",
        "pin.nodes.a.cpu: a rule has either",
        "pin.nodes.b.cpus names no CPU",
        "pin.nodes.c.spread: there is nothing to spread",
        "two nodes are called `xy`",
        "`*y` and `x*` of pin.nodes both fit node `xy`",
        "pin.nodes.md.cpu names CPU 4, which is offline",
        "pin.nodes.td.cpu names CPU 99, this host has 0-3,6-7",
        "pin.nodes.d.numa names NUMA node 7",
    ];
    for start in expected {
        assert!(found.iter().any(|problem| problem.starts_with(start)), "{start} is not in {found:#?}");
    }
    assert_eq!(found.len(), expected.len(), "{found:#?}");
}

#[test]
fn a_cpu_outside_the_cpuset_is_refused_as_such() {
    let found = problems(plan("nodes.md.cpu = 0").resolve(&host("container-v1"), &platform(&[("md", BUSY)])));
    assert!(found[0].contains("the cpuset of this process allows only 2-3"), "{found:?}");
}

#[test]
fn the_closest_rule_gives_each_key() {
    let text = r#"
        [nodes]
        "*" = { policy = "nice:-5", cpus = "0-3" }
        "strategy-*" = { cpus = "4-7", spread = "round-robin" }
        "strategy-1" = { cpu = 9, policy = "fifo:50" }
    "#;
    let mut nodes = platform(&[("md", SLEEPS)]);
    nodes.extend(strategies(3, SLEEPS));
    let resolved = plan(text).resolve(&host("workstation-12-cores"), &nodes).unwrap();
    let seen = |node: &str| {
        let placement = resolved.placement(node).unwrap();
        format!("{} {}", placement.cpus, placement.policy.unwrap())
    };
    assert_eq!(seen("md"), "0-3 nice:-5");
    assert_eq!(seen("strategy-1"), "9 fifo:50");
    assert_eq!((seen("strategy-2"), seen("strategy-3")), ("4 nice:-5".into(), "5 nice:-5".into()));
}

#[test]
fn busy_pollers_need_cpus_of_their_own() {
    let host = host("workstation-12-cores");
    let text = r#"nodes."strategy-*" = { cpus = "2-3", spread = "round-robin" }"#;
    let found = problems(plan(text).resolve(&host, &strategies(3, BUSY)));
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("`strategy-1` and `strategy-3` busy-poll on CPU 2"), "{found:?}");
    assert!(plan(text).resolve(&host, &strategies(3, SLEEPS)).is_ok());
    // The kernel distributes floating nodes: a warning, not an error.
    let floating =
        plan(r#"nodes."strategy-*" = { cpus = "2-3" }"#).resolve(&host, &strategies(3, BUSY)).unwrap();
    assert!(has_warning(&floating, |warning| matches!(warning, PlanWarning::BusyFloat { .. })));
}

#[test]
fn pack_takes_as_few_cpus_as_the_modes_allow() {
    let mut nodes = strategies(2, BUSY);
    nodes.extend((3..=9).map(|n| NodeRequest {
        name: format!("strategy-{n}"),
        busy: SLEEPS,
        platform: false,
    }));
    let text = r#"nodes."strategy-*" = { cpus = "2-7", spread = "pack" }"#;
    let resolved = plan(text).resolve(&host("workstation-12-cores"), &nodes).unwrap();
    let places: Vec<String> =
        resolved.placements.iter().map(|placement| placement.cpus.to_string()).collect();
    assert_eq!(places, ["2", "3", "4", "4", "4", "4", "4", "4", "4"]);
}

#[test]
fn exclusive_and_empty_siblings_are_promises() {
    let nodes = platform(&[("md", BUSY), ("td", SLEEPS)]);
    let xeon = host("xeon-2s-smt");
    let text = "nodes = { md = { cpu = 3, exclusive = true }, td = { cpus = \"2-3\" } }";
    let found = problems(plan(text).resolve(&xeon, &nodes));
    assert!(found[0].starts_with("CPU 3 is exclusive to `md`, and `td` may run there too"), "{found:?}");

    let text = "nodes = { md = { cpu = 3, no_smt_sibling = true }, td = { cpu = 23 } }";
    let found = problems(plan(text).resolve(&xeon, &nodes));
    assert!(found[0].contains("and `td` may run on CPU 23"), "{found:?}");

    // A node without a rule keeps away from both.
    let text = "nodes.md = { cpu = 3, no_smt_sibling = true, exclusive = true }";
    let resolved = plan(text).resolve(&xeon, &nodes).unwrap();
    assert_eq!(cpus(&resolved, "td"), "0-2,4-22,24-39");
    assert!(has_warning(&resolved, |warning| matches!(warning, PlanWarning::ExclusiveNotIsolated { .. })));

    // Round robin over whole cores takes one thread of each.
    let text =
        r#"nodes."strategy-*" = { cpus = "0-3,20-23", spread = "round-robin", no_smt_sibling = true }"#;
    let resolved = plan(text).resolve(&xeon, &strategies(4, BUSY)).unwrap();
    let places: Vec<String> =
        resolved.placements.iter().map(|placement| placement.cpus.to_string()).collect();
    assert_eq!(places, ["0", "1", "2", "3"]);
}

#[test]
fn doubtful_plans_are_warned_of() {
    let warned = |host_name: &str, text: &str, nodes: &[NodeRequest], is_it: fn(&PlanWarning) -> bool| {
        let resolved =
            plan(text).resolve(&host(host_name), nodes).unwrap_or_else(|p| panic!("{text}: {p:#?}"));
        assert!(has_warning(&resolved, is_it), "{text}: {:#?}", resolved.warnings);
        resolved.warnings.iter().for_each(|warning| assert!(warning.to_string().len() > 20));
    };
    let pair = platform(&[("md", BUSY), ("td", BUSY)]);
    let mut shared = platform(&[("td", BUSY)]);
    shared.extend(strategies(2, SLEEPS));
    warned(
        "workstation-12-cores",
        r#"nodes = { td = { cpu = 2 }, "strategy-*" = { cpu = 2 } }"#,
        &shared,
        |w| matches!(w, PlanWarning::PlatformAndStrategies { cpus, .. } if cpus.to_string() == "2"),
    );
    warned(
        "workstation-12-cores",
        r#"nodes = { td = { cpu = 2 }, "strategy-*" = { cpu = 2 } }"#,
        &shared,
        |w| matches!(w, PlanWarning::SleepersUnderBusy { others, .. } if others.len() == 2),
    );
    warned(
        "xeon-2s-smt",
        "nodes = { md = { cpu = 1 }, td = { cpu = 21 } }",
        &pair,
        |w| matches!(w, PlanWarning::BusyOnOneCore { cpus, .. } if cpus.to_string() == "1,21"),
    );
    warned(
        "xeon-2s-smt",
        "nodes = { md = { cpu = 1 }, td = { cpu = 11 } }",
        &pair,
        |w| matches!(w, PlanWarning::AcrossNuma { nodes } if nodes.to_string() == "0-1"),
    );
    warned(
        "epyc-many-l3",
        "nodes = { md = { cpu = 1 }, td = { cpu = 5 } }",
        &pair,
        |w| matches!(w, PlanWarning::AcrossCaches { cpus } if cpus.to_string() == "1,5"),
    );
    warned(
        "hybrid-intel",
        "nodes = { md = { cpu = 1 }, td = { cpu = 9 } }",
        &pair,
        |w| matches!(w, PlanWarning::EfficientCore { node, .. } if node == "td"),
    );
    warned(
        "isolcpus",
        "nodes = { md = { cpus = \"3-4\" }, td = { cpu = 5 } }",
        &pair,
        |w| matches!(w, PlanWarning::FloatsOverIsolated { cpus, .. } if cpus.to_string() == "3-4"),
    );
    warned(
        "workstation-12-cores",
        "nodes.md = { cpu = 1, policy = \"fifo:50\" }",
        &pair,
        |w| matches!(w, PlanWarning::BusyFifo { node, .. } if node == "md"),
    );
    warned("container-v1", "nodes = { md = { cpu = 2 }, td = { cpu = 3 } }", &pair, |w| {
        matches!(w, PlanWarning::Quota { busy: 2, .. })
    });
    warned(
        "workstation-12-cores",
        "nodes = { mdd = { cpu = 2 } }",
        &pair,
        |w| matches!(w, PlanWarning::UnusedRule { pattern, hint: None } if pattern == "mdd"),
    );
    warned(
        "workstation-12-cores",
        "nodes = { strategy = { cpu = 2 } }",
        &shared,
        |w| matches!(w, PlanWarning::UnusedRule { hint: Some(hint), .. } if hint == "strategy-*"),
    );
}

#[test]
fn memory_comes_from_the_node_that_is_named() {
    let nodes = platform(&[("md", BUSY)]);
    let resolved = plan("nodes.md = { numa = 1 }").resolve(&host("xeon-2s-smt"), &nodes).unwrap();
    let md = resolved.placement("md").unwrap();
    assert_eq!((md.cpus.to_string().as_str(), md.memory_node), ("10-19,30-39", Some(1)));

    let found = problems(plan("nodes.md = { numa = 1 }").resolve(&host("node-without-memory"), &nodes));
    assert!(found[0].contains("which has none"), "{found:?}");
    let found = problems(plan("nodes.md = { cpu = 3, numa = 1 }").resolve(&host("xeon-2s-smt"), &nodes));
    assert!(found[0].contains("none of the CPUs 3"), "{found:?}");
    let text = "on_small_host = \"remap\"\nnodes.md = { cpu = 1, numa = 1 }";
    let resolved = plan(text).resolve(&host("cloud-vm-4-cores"), &nodes).unwrap();
    assert_eq!(resolved.placement("md").unwrap().memory_node, None);
    assert!(has_warning(&resolved, |warning| matches!(warning, PlanWarning::NumaDropped { numa: 1, .. })));
}

#[test]
fn auto_latency_gives_busy_pollers_whole_cores_near_each_other() {
    let auto = plan("auto = \"latency\"");
    let mut nodes = platform(&[("master", SLEEPS), ("md", BUSY), ("td", BUSY), ("matching", BUSY)]);
    nodes.extend(strategies(8, SLEEPS));
    let place = |host_name: &str| {
        let resolved =
            auto.resolve(&host(host_name), &nodes).unwrap_or_else(|p| panic!("{host_name}: {p:#?}"));
        for placement in &resolved.placements {
            assert!(
                !placement.reasons.is_empty()
                    && placement.reasons.iter().all(|reason| !reason.why.is_empty())
            );
        }
        ["master", "md", "td", "matching", "strategy-1", "strategy-2"]
            .map(|node| cpus(&resolved, node))
            .join(" ")
    };
    assert_eq!(place("cloud-vm-4-cores"), "0 1 2 3 0 0");
    assert_eq!(place("workstation-12-cores"), "0 1 2 3 4 5");
    // One socket, no second thread of a core while there are cores.
    assert_eq!(place("xeon-2s-smt"), "0 1 2 3 4 5");
    // One L3 of four cores has room for the platform; the strategies take whole cores next to it.
    assert_eq!(place("epyc-many-l3"), "0 1 2 3 4 5");
    // Isolated CPUs for busy-pollers, an ordinary one for the rest.
    assert_eq!(place("isolcpus"), "0 2 3 4 5 1");
    // Fast cores only.
    assert_eq!(place("hybrid-intel"), "0 2 4 6 8 9");
    assert_eq!(place("container-v2"), "4 5 6 7 12 12");
}

#[test]
fn auto_density_packs() {
    let auto = plan("auto = \"density\"");
    let mut nodes = platform(&[("master", SLEEPS), ("md", BUSY), ("td", BUSY)]);
    nodes.extend(strategies(100, SLEEPS));
    let resolved = auto.resolve(&host("xeon-2s-smt"), &nodes).unwrap();
    let places =
        ["master", "md", "td", "strategy-1", "strategy-80", "strategy-81"].map(|node| cpus(&resolved, node));
    // Both threads of one core for md and td: the cost of density, which is reported.
    assert_eq!(places.join(" "), "0 1 21 2 2 22");
    assert!(has_warning(&resolved, |warning| matches!(warning, PlanWarning::BusyOnOneCore { .. })));
}

#[test]
fn auto_refuses_more_busy_pollers_than_cpus_and_bends_when_asked() {
    let nodes = platform(&[("a", BUSY), ("b", BUSY), ("c", BUSY), ("d", BUSY), ("e", BUSY)]);
    let found = problems(plan("auto = \"latency\"").resolve(&host("cloud-vm-4-cores"), &nodes));
    assert!(found[0].starts_with("5 nodes busy-poll and 4 CPUs are left"), "{found:?}");
    let text = "auto = \"latency\"\non_small_host = \"remap\"";
    let resolved = plan(text).resolve(&host("cloud-vm-4-cores"), &nodes).unwrap();
    assert!(has_warning(&resolved, |warning| matches!(warning, PlanWarning::PromiseBroken { .. })));
}

#[test]
fn auto_leaves_what_rules_place() {
    let text = "auto = \"latency\"\nnodes.md = { cpu = 1, exclusive = true }";
    let nodes = platform(&[("md", BUSY), ("td", BUSY), ("master", SLEEPS)]);
    let resolved = plan(text).resolve(&host("workstation-12-cores"), &nodes).unwrap();
    assert_eq!(["md", "td", "master"].map(|node| cpus(&resolved, node)).join(" "), "1 2 0");
}

#[test]
fn toml_is_checked() {
    let error = toml::from_str::<Plan>("nodes.md.cpuu = 1").unwrap_err().to_string();
    assert!(error.contains("unknown field `cpuu`"), "{error}");
    let error = toml::from_str::<Plan>("nodes.md.cpus = \"5-2\"").unwrap_err().to_string();
    assert!(error.contains("a range runs upwards"), "{error}");
    let error = toml::from_str::<Plan>("nodes.md.policy = \"fifo\"").unwrap_err().to_string();
    assert!(error.contains("write fifo:1 to fifo:99"), "{error}");
    let whole = plan(TWELVE_CORES);
    assert_eq!(toml::from_str::<Plan>(&toml::to_string(&whole).unwrap()).unwrap(), whole);
}
