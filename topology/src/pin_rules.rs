//! What must hold between `[pin]` and the nodes. Whether the host has these cores is asked elsewhere.

use std::collections::BTreeMap;

use crate::config::{PinRule, Spread};
use crate::document::Report;
use crate::settings::Settings;
use crate::spec::{NodeKind, NodeSpec, Topology};
use crate::suggest::nearest;

/// A node on a core.
struct Placed<'a> {
    node: &'a NodeSpec,
    pattern: &'a str,
    rule: &'a PinRule,
}

/// Notes every rule that does not hold.
pub(crate) fn check(topology: &Topology, settings: &Settings, report: &mut Report) {
    let mut cores: BTreeMap<u32, Vec<Placed<'_>>> = BTreeMap::new();
    for (pattern, rule) in &topology.pin.rules {
        let path = format!("pin.{pattern}");
        let of_rule = |node: &&NodeSpec| topology.pin_of(node).is_some_and(|(own, _)| own == pattern);
        let nodes: Vec<&NodeSpec> = topology.nodes.iter().filter(of_rule).collect();
        if nodes.is_empty() {
            unused(topology, pattern, settings, report);
        }
        if rule.cpu.is_some() && rule.cpus.is_some() {
            report
                .error(settings.place(&format!("{path}.cpus")), format!("[{path}] has both `cpu` and `cpus`"))
                .help("`cpu` is one core for all of them, `cpus` several to share: keep one");
        }
        let own = rule.cores();
        if rule.spread == Spread::Float {
            let fast = nodes.iter().filter(|node| node.mode.is_fast()).count();
            if fast > own.len() && !own.is_empty() {
                let message = format!("{fast} fast nodes share {} cores", own.len());
                report
                    .error(settings.place(&format!("{path}.cpus")), message)
                    .help("a fast node takes a whole core: name more, or let some be parked");
            }
            continue;
        }
        for (index, node) in nodes.into_iter().enumerate().filter(|_| !own.is_empty()) {
            let core = own[index % own.len()];
            cores.entry(core).or_default().push(Placed { node, pattern, rule });
        }
    }
    for (core, placed) in &cores {
        crowded(*core, placed, settings, report);
    }
    relays(topology, &cores, settings, report);
    overlap(&cores, settings, report);
}

fn place(pattern: &str, rule: &PinRule, settings: &Settings) -> Option<crate::document::Span> {
    settings.place(&format!("pin.{pattern}.{}", if rule.cpu.is_some() { "cpu" } else { "cpus" }))
}

fn unused(topology: &Topology, pattern: &str, settings: &Settings, report: &mut Report) {
    let groups = topology.nodes.iter().filter_map(|node| node.group.as_deref());
    let names = topology.nodes.iter().map(|node| node.name.as_str()).chain(groups);
    let place = settings.place(&format!("pin.{pattern}"));
    let noted = report.error(place, format!("[pin.{pattern}] is for no node of this platform"));
    match nearest(pattern, names) {
        Some(near) => noted.help(format!("did you mean `{near}`?")),
        None => noted.help("write a node's name, a group's name, or a pattern such as \"takers-*\""),
    };
}

/// Two fast nodes on one core, or company on a core that is somebody's own.
fn crowded(core: u32, placed: &[Placed<'_>], settings: &Settings, report: &mut Report) {
    let mut fast = placed.iter().filter(|placed| placed.node.mode.is_fast());
    if let (Some(first), Some(second)) = (fast.next(), fast.next()) {
        let names = format!("`{}` and `{}`", first.node.name, second.node.name);
        let noted = report
            .error(
                place(second.pattern, second.rule, settings),
                format!("{names} are both fast and both on core {core}"),
            )
            .help("a fast node takes a whole core: move one, or let one be parked");
        if first.pattern != second.pattern {
            let first_place = place(first.pattern, first.rule, settings);
            noted.related(first_place, format!("`{}` is put there here", first.node.name));
        }
    }
    if let [_, _, ..] = placed
        && let Some(owner) = placed.iter().find(|placed| placed.rule.exclusive)
        && let Some(guest) = placed.iter().find(|placed| placed.node.name != owner.node.name)
    {
        let message =
            format!("core {core} is exclusive to `{}`, but `{}` is put there too", owner.node.name, {
                &guest.node.name
            });
        report
            .error(place(guest.pattern, guest.rule, settings), message)
            .help("move one of them, or leave out `exclusive`");
    }
}

fn relays(
    topology: &Topology,
    cores: &BTreeMap<u32, Vec<Placed<'_>>>,
    settings: &Settings,
    report: &mut Report,
) {
    for (pattern, rule) in &topology.pin.rules {
        let Some(relay) = &rule.relay else { continue };
        let mut on_core = cores.get(&relay.cpu).into_iter().flatten();
        if let Some(fast) = on_core.find(|placed| placed.node.mode.is_fast()) {
            let message =
                format!("the relay on core {} never gets to run beside the fast `{}`", relay.cpu, {
                    &fast.node.name
                });
            report
                .error(settings.place(&format!("pin.{pattern}.relay")), message)
                .help("put the relay on the core where its strategies sleep");
        }
    }
}

fn overlap(cores: &BTreeMap<u32, Vec<Placed<'_>>>, settings: &Settings, report: &mut Report) {
    let strategy = |placed: &&Placed<'_>| placed.node.kind == NodeKind::Strategy;
    let both = cores.iter().filter_map(|(core, placed)| {
        let first = placed.iter().find(strategy)?;
        placed.iter().any(|placed| !strategy(&placed)).then_some((core, first))
    });
    let both: Vec<_> = both.collect();
    let Some((_, first)) = both.first() else { return };
    let list: Vec<String> = both.iter().map(|(core, _)| core.to_string()).collect();
    let message = format!("strategies share core {} with parts of the platform", list.join(", "));
    report
        .warning(place(first.pattern, first.rule, settings), message)
        .help("latency is steadier when strategies have cores of their own");
}
