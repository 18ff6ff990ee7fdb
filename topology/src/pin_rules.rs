//! What must hold between `[pin]` and the nodes. Whether the host has these cores is asked elsewhere.

use std::collections::BTreeMap;

use pinning::Spread;
use settings::{Report, Rows, Span, nearest};

use crate::config::{Placing, Wake, fits};
use crate::paths;
use crate::services::NodeKind;
use crate::spec::{NodeSpec, Topology};

/// A node on a core of its rule.
struct Placed<'a> {
    node: &'a NodeSpec,
    placing: Placing,
    /// Where that is said.
    place: Option<Span>,
    exclusive: bool,
}

type Cores<'a> = BTreeMap<u32, Vec<Placed<'a>>>;

/// Notes every rule that does not hold.
pub(crate) fn check(topology: &Topology, rows: &Rows, report: &mut Report) {
    for (pattern, rule) in &topology.pin.nodes {
        let fitting: Vec<&NodeSpec> =
            topology.nodes.iter().filter(|node| fits(pattern, &node.name)).collect();
        match fitting.first() {
            None => unused(topology, pattern, rows, report),
            Some(NodeSpec { name, host: Some(host), .. })
                if fitting.iter().all(|node| node.host.is_some()) =>
            {
                let place = rows.place(&format!("pin.nodes.{pattern}"));
                report
                    .error(
                        place,
                        format!("[pin.nodes.{pattern}] places nothing: `{name}` runs in host `{host}`"),
                    )
                    .help(format!("place the host: [pin.nodes.{host}], or host.cpus of its strategies"));
            }
            Some(_) => {}
        }
        if rule.cpu.is_some() && rule.cpus.is_some() {
            let place = rows.place(&format!("pin.nodes.{pattern}.cpus"));
            report
                .error(place, format!("[pin.nodes.{pattern}] has both `cpu` and `cpus`"))
                .help("`cpu` is one core for all of them, `cpus` several to share: keep one");
        }
    }
    let cores = place_all(topology, rows, report);
    for (core, placed) in &cores {
        crowded(*core, placed, report);
    }
    relays(topology, &cores, rows, report);
    unserved(topology, rows, report);
    overlap(&cores, report);
}

/// Who certainly is on which core. Nodes that float are not, but there must be a core for each that is fast.
fn place_all<'a>(topology: &'a Topology, rows: &Rows, report: &mut Report) -> Cores<'a> {
    let mut cores = Cores::new();
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    for node in topology.nodes.iter().filter(|node| node.host.is_none()) {
        let Some(placing) = topology.pin.placing(&node.name) else { continue };
        let rule = topology.pin.rule_for(&node.name).unwrap_or_default();
        let place = place(topology, &placing, rows);
        let fast = node.takes_a_core();
        let nth = taken.entry(placing.pattern.clone()).or_default();
        let index = *nth;
        let spread = rule.spread.unwrap_or(Spread::Float);
        *nth += usize::from(fast || spread == Spread::RoundRobin);
        match (placing.cores.as_slice(), spread) {
            ([core], _) => {
                let exclusive = rule.exclusive == Some(true);
                cores.entry(*core).or_default().push(Placed { node, placing, place, exclusive });
            }
            (several, Spread::RoundRobin) if !several.is_empty() => {
                let core = several[index % several.len()];
                let exclusive = rule.exclusive == Some(true);
                cores.entry(core).or_default().push(Placed { node, placing, place, exclusive });
            }
            (several, _) if fast && index >= several.len() => {
                let message =
                    format!("`{}` is one fast node more than there are cores ({})", node.name, several.len());
                report
                    .error(place, message)
                    .help("a fast node takes a whole core: name more cores, or let some nodes be parked");
            }
            _ => {}
        }
    }
    cores
}

/// The cores of a host may be named in its own table.
fn place(topology: &Topology, placing: &Placing, rows: &Rows) -> Option<Span> {
    let hosted = topology.nodes.iter().find(|node| node.host.as_ref() == Some(&placing.pattern));
    if let Some(group) = hosted.and_then(|node| node.group.as_ref())
        && let Some(span) = rows.span(&format!("{}.host.cpus", paths::group(rows, group)))
    {
        return Some(span);
    }
    rows.place(&format!("pin.nodes.{}.{}", placing.pattern, placing.key))
}

fn unused(topology: &Topology, pattern: &str, rows: &Rows, report: &mut Report) {
    let place = rows.place(&format!("pin.nodes.{pattern}"));
    let noted = report.error(place, format!("[pin.nodes.{pattern}] is for no node of this platform"));
    if topology.nodes.iter().any(|node| node.group.as_deref() == Some(pattern)) {
        noted.help(format!("the nodes of that group are [pin.nodes.\"{pattern}-*\"]"));
        return;
    }
    match nearest(pattern, topology.nodes.iter().map(|node| node.name.as_str())) {
        Some(near) => noted.help(format!("did you mean `{near}`?")),
        None => noted.help("write a node's name, or a pattern such as \"takers-*\""),
    };
}

/// Two fast nodes on one core, or company on a core that is somebody's own.
fn crowded(core: u32, placed: &[Placed<'_>], report: &mut Report) {
    let mut fast = placed.iter().filter(|placed| placed.node.takes_a_core());
    if let (Some(first), Some(second)) = (fast.next(), fast.next()) {
        let (one, other) = (&first.node.name, &second.node.name);
        let message = format!("`{one}` and `{other}` are both fast and both on core {core}");
        let noted = report
            .error(second.place, message)
            .help("a fast node takes a whole core: move one, or let one be parked");
        if first.placing.pattern != second.placing.pattern {
            noted.related(first.place, format!("`{one}` is put there here"));
        }
    }
    let Some(owner) = placed.iter().find(|placed| placed.exclusive) else { return };
    if let Some(guest) = placed.iter().find(|placed| placed.node.name != owner.node.name) {
        let (own, other) = (&owner.node.name, &guest.node.name);
        report
            .error(
                guest.place,
                format!("core {core} is exclusive to `{own}`, but `{other}` is put there too"),
            )
            .help("move one of them, or leave out `exclusive`");
    }
}

fn relays(topology: &Topology, cores: &Cores<'_>, rows: &Rows, report: &mut Report) {
    for (pattern, rule) in &topology.pin.nodes {
        let Some(relay) = &rule.relay else { continue };
        let mut on_core = cores.get(&relay.cpu).into_iter().flatten();
        if let Some(fast) = on_core.find(|placed| placed.node.takes_a_core()) {
            let (core, name) = (relay.cpu, &fast.node.name);
            let place = rows.place(&format!("pin.nodes.{pattern}.relay"));
            report
                .error(place, format!("the relay on core {core} never gets to run beside the fast `{name}`"))
                .help("put the relay on the core where its strategies sleep");
        }
    }
}

/// Nodes that ask for a relay where none is planned, or that it would wake from afar.
fn unserved(topology: &Topology, rows: &Rows, report: &mut Report) {
    let mut said: Vec<String> = Vec::new();
    for node in topology.nodes.iter().filter(|node| node.wake == Wake::Relay) {
        let rule = topology.pin.rule_for(&node.name).unwrap_or_default();
        let key = match &node.group {
            Some(group) => format!("{}.wake", paths::group(rows, group)),
            None if node.kind == NodeKind::Host => "strategies.wake".to_owned(),
            None if node.kind.is_added() => format!("service.{}.wake", node.name),
            None if node.kind == NodeKind::Recorder => format!("recorder.{}.wake", node.name),
            None => format!("{}.wake", node.name),
        };
        if said.contains(&key) {
            continue;
        }
        let Some(relay) = &rule.relay else {
            report
                .error(rows.place(&key), format!("`{}` is to be woken by a relay, but no relay is planned for it", node.name))
                .help(format!("add one to its rule in [pin.nodes], with the core that it sleeps on: relay = {{ cpu = 3 }}; or write wake = \"{}\"", Wake::Targeted));
            said.push(key);
            continue;
        };
        let cores = topology.pin.placing(&node.name).map(|placing| placing.cores).unwrap_or_default();
        if cores != [relay.cpu] && rule.spread != Some(Spread::RoundRobin) {
            let message = format!(
                "the relay on core {} wakes `{}`, which may sleep on another core",
                relay.cpu, node.name
            );
            report
                .warning(rows.place(&format!("pin.nodes.{}", node.name)), message)
                .help("a relay pays on the core of those whom it wakes: pin them there with `cpu`");
            said.push(key);
        }
    }
}

fn overlap(cores: &Cores<'_>, report: &mut Report) {
    let strategy = |placed: &&Placed<'_>| placed.node.kind.trades();
    let both = cores.iter().filter_map(|(core, placed)| {
        let first = placed.iter().find(strategy)?;
        placed
            .iter()
            .any(|placed| !strategy(&placed) && placed.node.kind != NodeKind::Relay)
            .then_some((core, first))
    });
    let both: Vec<_> = both.collect();
    let Some((_, first)) = both.first() else { return };
    let list: Vec<String> = both.iter().map(|(core, _)| core.to_string()).collect();
    let message = format!("strategies share core {} with parts of the platform", list.join(", "));
    report.warning(first.place, message).help("latency is steadier when strategies have cores of their own");
}
