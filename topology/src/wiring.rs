//! From the configuration to the nodes and journals that the table of services asks for.
//!
//! Strategies that run in a host write their own journals of orders; what else a strategy reads, the host reads for
//! all of them.

mod added;
mod gateway;
mod hosts;
mod journals;
mod recorders;
mod strategies;

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use serde_json::Value as Json;

use crate::config::{Durability, Fill, Mode, OnDeath, PlatformConfig, RunConfig, Wake};
use crate::market::Market;
use crate::relays;
use crate::services::{NodeKind, Seat, Service};
use crate::spec::{JournalSpec, MdSection, NodeSpec, Program, RestartSpec, Topology};
use strategies::desk_section;

pub(crate) use strategies::{ledger_section, td_section};

/// The topology that `config` asks for, unchecked: `Topology::check` says whether it can run.
pub(crate) fn build(config: &PlatformConfig, market: Market) -> Topology {
    let mut builder = Builder {
        config,
        nodes: Vec::new(),
        on_death: Vec::new(),
        journals: Vec::new(),
        durabilities: Vec::new(),
        addressees: BTreeMap::new(),
    };
    builder.standard();
    builder.strategies();
    builder.gateway();
    builder.hosts();
    builder.added();
    builder.recorders();
    builder.publish();
    builder.subscribe();
    builder.reports_may_wait();
    builder.subscribe_recorders();
    builder.tell_of_recorders();
    let pin = builder.pin();
    let mut topology = Topology {
        instance: config.platform.instance.clone(),
        deterministic: config.is_in_lock_step(),
        one_process: config.platform.one_process,
        lock_memory: config.platform.lock_memory,
        run_folder: None,
        nodes: builder.nodes,
        journals: builder.journals,
        pin,
        market,
    };
    tell_of_instruments(&mut topology, config);
    relays::add(&mut topology, &asked(config));
    order(&mut topology);
    topology
}

/// md lists by it; td and the ledger charge by it.
fn tell_of_instruments(topology: &mut Topology, config: &PlatformConfig) {
    let market = &topology.market;
    let mut desk = desk_section(config);
    if let Some(desk) = &mut desk {
        (desk.config.fees, desk.config.margins) = (market.fees.clone(), market.margins.clone());
        desk.market = market.clone();
    }
    for node in &mut topology.nodes {
        let told = match node.kind {
            NodeKind::Md => json(MdSection { config: config.md.clone(), market: market.clone() }),
            NodeKind::Td | NodeKind::Ledger => {
                let mut section = node.section.clone();
                if let (Some(desk), Some(section)) = (&desk, section.as_object_mut()) {
                    section.insert("desk".to_owned(), json(desk));
                }
                section
            }
            _ => continue,
        };
        node.section = told;
    }
}

/// Who wakes each node, where the file says so.
fn asked(config: &PlatformConfig) -> BTreeMap<String, Wake> {
    let standard = Service::standard(config).map(|(service, run)| (service.kind.to_string(), run.wake));
    let strategies = config.strategies.iter().flat_map(|group| {
        let name = |number| match &group.host {
            Some(host) => host.name.clone(),
            None => format!("{}-{number}", group.name),
        };
        (1..=group.count).map(move |number| (name(number), group.run.wake))
    });
    let added = config.service.iter().map(|service| (service.name.clone(), service.run.wake));
    let recorders = config.recorder.iter().map(|recorder| (recorder.name.clone(), recorder.run.wake));
    let gateway = config.gateway.iter().map(|gateway| (NodeKind::Gateway.to_string(), gateway.run.wake));
    let all = standard.chain(strategies).chain(gateway).chain(added).chain(recorders);
    all.filter_map(|(name, wake)| Some((name, wake?))).collect()
}

struct Builder<'a> {
    config: &'a PlatformConfig,
    nodes: Vec<NodeSpec>,
    /// By node: what becomes of its cursors when it dies.
    on_death: Vec<OnDeath>,
    journals: Vec<JournalSpec>,
    /// By journal: what the file says of its durability.
    durabilities: Vec<Option<Durability>>,
    /// Of journals that are for one reader alone: which node that is.
    addressees: BTreeMap<String, String>,
}

pub(crate) fn json(value: impl serde::Serialize) -> Json {
    serde_json::to_value(value).unwrap_or_default()
}

/// The nodes of kinds of which there is one.
pub(crate) fn names_of(kinds: &[NodeKind]) -> Vec<String> {
    kinds.iter().map(NodeKind::to_string).collect()
}

impl Builder<'_> {
    fn node(
        &mut self,
        name: &str,
        kind: NodeKind,
        run: &RunConfig,
        on_death: OnDeath,
        program: Program,
    ) -> &mut NodeSpec {
        let service = Service::of(kind);
        let index = self.nodes.len();
        self.on_death.push(if service.always_returns { OnDeath::Hold } else { on_death });
        self.nodes.push(NodeSpec {
            name: name.to_owned(),
            kind,
            group: None,
            host: None,
            seat: u16::try_from(index).unwrap_or(u16::MAX),
            mode: run.mode,
            wake: run.wake.unwrap_or(Wake::Targeted),
            program,
            restart: RestartSpec { policy: run.restart, max: run.restart_max, backoff: run.restart_backoff },
            start_order: 0,
            needs: names_of(service.needs),
            stagger: Duration::ZERO,
            writes: Vec::new(),
            reads: Vec::new(),
            section: Json::Object(serde_json::Map::new()),
            parameters: Json::Object(serde_json::Map::new()),
        });
        &mut self.nodes[index]
    }

    /// How a node that is there once waits.
    fn naps(&self, kind: NodeKind, mode: Mode) -> Mode {
        match kind {
            NodeKind::Ledger => self.napping(mode, self.config.ledger.wake_within),
            _ => mode,
        }
    }

    /// In lock-step the next event waits for every answer to this one, so nobody naps.
    fn napping(&self, mode: Mode, within: Duration) -> Mode {
        if self.config.is_in_lock_step() { mode } else { mode.napping(within) }
    }

    /// The nodes that are there once.
    fn standard(&mut self) {
        let config = self.config;
        for (service, run) in Service::standard(config) {
            let Seat::One { section, .. } = service.seat else { continue };
            let name = service.kind.as_str();
            let is_outside = service.kind == NodeKind::Matching && config.matching.fill == Fill::External;
            let program = match is_outside {
                true => Program::Path(config.matching.program.clone().into()),
                false => Program::Builtin(name.to_owned()),
            };
            let naps = self.naps(service.kind, run.mode);
            let node = self.node(name, service.kind, run, run.on_death(), program);
            (node.mode, node.section) = (naps, section(config));
        }
    }
}

/// Fills in `start_order`: every node after what it needs, otherwise by seat. Nodes that need each other in a
/// circle come last; `Topology::check` names them.
fn order(topology: &mut Topology) {
    let known: HashSet<String> = topology.nodes.iter().map(|node| node.name.clone()).collect();
    let mut placed: HashSet<String> = HashSet::new();
    let mut waiting: Vec<&mut NodeSpec> = topology.nodes.iter_mut().collect();
    let mut next = 0;
    loop {
        let before = waiting.len();
        waiting.retain_mut(|node| {
            let ready = node.needs.iter().all(|need| placed.contains(need) || !known.contains(need));
            if ready {
                node.start_order = next;
                next += 1;
                placed.insert(node.name.clone());
            }
            !ready
        });
        if waiting.is_empty() || waiting.len() == before {
            break;
        }
    }
    for node in waiting {
        node.start_order = next;
        next += 1;
    }
}
