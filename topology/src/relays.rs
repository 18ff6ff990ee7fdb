//! The nodes that the plan asks for: relays, and spinners that keep a core awake.
//!
//! Both are one program on a core of the plan, scheduled as `idle`: whoever else wants the core gets it at once.

use std::collections::{BTreeMap, BTreeSet};

use pinning::Policy;
use serde_json::Value as Json;

use crate::config::{Mode, PinRule, RunConfig, Wake};
use crate::services::{NodeKind, Service, Waiting};
use crate::spec::{NodeSpec, Program, RelaySection, RestartSpec, Topology};
use crate::wiring::names_of;

/// Adds them behind all other nodes, each with its place in the plan; nodes that a relay serves are marked so, unless
/// the file asks for another way (`asked`, by name).
pub(crate) fn add(topology: &mut Topology, asked: &BTreeMap<String, Wake>) {
    let mut served: BTreeMap<u32, Vec<u16>> = BTreeMap::new();
    let mut awake: BTreeSet<u32> = BTreeSet::new();
    for index in 0..topology.nodes.len() {
        let node = &topology.nodes[index];
        if node.mode.is_fast() || Service::of(node.kind).waiting == Waiting::System || node.host.is_some() {
            continue;
        }
        let Some(rule) = topology.pin.rule_for(&node.name) else { continue };
        let wanted = asked.get(&node.name).copied();
        if let Some(relay) = &rule.relay
            && matches!(wanted, None | Some(Wake::Relay))
        {
            served.entry(relay.cpu).or_default().push(node.seat);
            topology.nodes[index].wake = Wake::Relay;
        }
        if rule.keep_awake == Some(true) {
            let name = &topology.nodes[index].name;
            awake.extend(topology.pin.placing(name).map(|placing| placing.cores).unwrap_or_default());
        }
    }
    for (&cpu, seats) in &served {
        awake.remove(&cpu);
        let journals = read_by(topology, seats);
        place(topology, "relay", RelaySection { cpu, seats: seats.clone(), journals });
    }
    for cpu in awake {
        place(topology, "awake", RelaySection { cpu, seats: Vec::new(), journals: Vec::new() });
    }
}

/// All journals that these seats read, each once.
fn read_by(topology: &Topology, seats: &[u16]) -> Vec<String> {
    let readers = topology.nodes.iter().filter(|node| seats.contains(&node.seat));
    let journals: BTreeSet<&String> =
        readers.flat_map(|node| node.reads.iter().map(|read| &read.journal)).collect();
    journals.into_iter().cloned().collect()
}

fn place(topology: &mut Topology, kind: &str, section: RelaySection) {
    let name = format!("{kind}-{}", section.cpu);
    let own = PinRule { cpu: Some(section.cpu), policy: Some(Policy::Idle), ..PinRule::default() };
    topology.pin.nodes.insert(name.clone(), own);
    let run = RunConfig::of(NodeKind::Relay);
    topology.nodes.push(NodeSpec {
        name,
        kind: NodeKind::Relay,
        group: None,
        host: None,
        seat: u16::try_from(topology.nodes.len()).unwrap_or(u16::MAX),
        mode: Mode::Fast,
        wake: Wake::Targeted,
        program: Program::Builtin("relay".to_owned()),
        restart: RestartSpec { policy: run.restart, max: run.restart_max, backoff: run.restart_backoff },
        start_order: 0,
        needs: names_of(Service::of(NodeKind::Relay).needs),
        stagger: std::time::Duration::ZERO,
        writes: Vec::new(),
        reads: Vec::new(),
        section: serde_json::to_value(section).unwrap_or_default(),
        parameters: Json::Object(serde_json::Map::new()),
    });
}

#[cfg(test)]
mod tests {
    use pinning::Policy;

    use crate::config::Wake;
    use crate::services::NodeKind;
    use crate::spec::RelaySection;

    const BASE: &str = "[md]\n[strategies]\ncount = 3\n[pin.nodes.\"strategy-*\"]\ncpu = 3\n";

    fn relay(text: &str, name: &str) -> Option<RelaySection> {
        let topology = crate::parse("t.toml", text, &[]).unwrap().topology;
        let node = topology.node(name)?;
        assert_eq!((node.kind, usize::from(node.seat)), (NodeKind::Relay, topology.nodes.len() - 1));
        let place = topology.pin.rule_for(name).unwrap();
        assert_eq!((place.cpu, place.policy), (Some(3), Some(Policy::Idle)));
        Some(serde_json::from_value(node.section.clone()).unwrap())
    }

    #[test]
    fn a_relay_serves_all_who_sleep_under_its_rule() {
        let text = format!("{BASE}relay = {{ cpu = 3 }}\nkeep_awake = true\n");
        let section = relay(&text, "relay-3").unwrap();
        assert_eq!(section.seats, [5, 6, 7]);
        assert!(section.journals.contains(&"reports.strategy-2".to_owned()));
        assert_eq!(section.journals.iter().filter(|name| *name == "md.quotes").count(), 1);
        let topology = crate::parse("t.toml", &text, &[]).unwrap().topology;
        assert_eq!(topology.node("strategy-1").unwrap().wake, Wake::Relay);
        assert_eq!(topology.node("td").unwrap().wake, Wake::Targeted);
        assert!(topology.node("awake-3").is_none(), "the relay keeps the core awake");
    }

    #[test]
    fn who_asks_for_another_way_or_never_sleeps_is_not_served() {
        for own in ["wake = \"targeted\"", "wake = \"broadcast\"", "mode = \"fast\"\ncount = 1"] {
            let text = format!("{BASE}relay = {{ cpu = 3 }}\n").replace("count = 3", own);
            if own.contains("fast") {
                let refused = crate::parse("t.toml", &text, &[]).unwrap_err().to_string();
                assert!(refused.contains("never gets to run"), "{refused}");
            } else {
                assert_eq!(relay(&text, "relay-3"), None, "{own}");
            }
        }
    }

    #[test]
    fn a_core_is_kept_awake_by_a_spinner() {
        let section = relay(&format!("{BASE}keep_awake = true\n"), "awake-3").unwrap();
        assert_eq!(section, RelaySection { cpu: 3, seats: Vec::new(), journals: Vec::new() });
    }

    #[test]
    fn a_relay_that_nobody_plans_is_an_error() {
        let text = BASE.replace("count = 3", "count = 3\nwake = \"relay\"");
        let refused = crate::parse("t.toml", &text, &[]).unwrap_err().to_string();
        assert!(refused.contains("no relay"), "{refused}");
    }
}
