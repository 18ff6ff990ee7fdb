//! From the configuration to the standard platform's nodes and journals.
//!
//! `g` is a gated reader, `l` a loose one:
//!
//! ```text
//! master.events        master   → ledger l, td l
//! md.instruments       md       → td l, matching l, ledger l, each strategy l          all from the start: never laps
//! md.quotes            md       → ledger l, each strategy (md.readers), matching g if it fills against quotes
//! md.flow              md       → matching g if it fills against the recorded book
//! td.orders            td       → matching g
//! matching.executions  matching → td g, ledger g
//! td.samples           td       → (observers)
//! ledger.state         ledger   → each strategy l
//! orders.STRATEGY      strategy → td g
//! reports.STRATEGY     td       → that strategy g
//! reports.HOST         td       → that host g, for the strategies that run in it; the topic is their seat
//! ```
//!
//! Strategies that run in a host write their own journals of orders; what else a strategy reads, the host reads for
//! all of them.

mod hosts;

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use serde_json::Value as Json;
use settings::ByteSize;

use crate::config::{
    Fill, HugePages, OnDeath, PageSize, PlatformConfig, ReaderFrom, ReaderKind, RunConfig, StrategyGroup,
    Wake,
};
use crate::relays;
use crate::rules::state;
use crate::spec::{
    JournalSpec, NodeKind, NodeSpec, Pages, Program, ReadBinding, ReaderSpec, RestartSpec, StrategyAccount,
    StrategySection, TdSection, Topology, WriteBinding,
};

/// The topology that `config` asks for, unchecked: `Topology::check` says whether it can run.
pub(crate) fn build(config: &PlatformConfig) -> Topology {
    let mut builder = Builder { config, nodes: Vec::new(), journals: Vec::new() };
    builder.services();
    builder.strategies();
    builder.hosts();
    builder.custom();
    builder.connect();
    let pin = builder.pin();
    let mut topology = Topology {
        instance: config.platform.instance.clone(),
        deterministic: config.platform.deterministic,
        lock_memory: config.platform.lock_memory,
        nodes: builder.nodes,
        journals: builder.journals,
        pin,
    };
    relays::add(&mut topology, &asked(config));
    order(&mut topology);
    topology
}

/// Who wakes each node, where the file says so.
fn asked(config: &PlatformConfig) -> BTreeMap<String, Wake> {
    let services = [
        ("md", &config.md.run),
        ("td", &config.td.run),
        ("matching", &config.matching.run),
        ("ledger", &config.ledger.run),
    ];
    let services = services.map(|(name, run)| (name.to_owned(), run.wake));
    let strategies = config.strategies.iter().flat_map(|group| {
        let name = |number| match &group.host {
            Some(host) => host.name.clone(),
            None => format!("{}-{number}", group.name),
        };
        (1..=group.count).map(move |number| (name(number), group.run.wake))
    });
    let custom = config.node.iter().map(|node| (node.name.clone(), node.run.wake));
    let all = services.into_iter().chain(strategies).chain(custom);
    all.filter_map(|(name, wake)| Some((name, wake?))).collect()
}

struct Builder<'a> {
    config: &'a PlatformConfig,
    nodes: Vec<NodeSpec>,
    journals: Vec<JournalSpec>,
}

fn json(value: impl serde::Serialize) -> Json {
    serde_json::to_value(value).unwrap_or_default()
}

impl Builder<'_> {
    fn node(&mut self, name: &str, kind: NodeKind, run: &RunConfig, program: Program) -> &mut NodeSpec {
        let index = self.nodes.len();
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
            needs: Vec::new(),
            stagger: Duration::ZERO,
            writes: Vec::new(),
            reads: Vec::new(),
            section: Json::Null,
            parameters: Json::Object(serde_json::Map::new()),
        });
        &mut self.nodes[index]
    }

    fn service(&mut self, name: &str, kind: NodeKind, run: &RunConfig, needs: &[&str], section: Json) {
        let node = self.node(name, kind, run, Program::Builtin(name.to_owned()));
        node.needs = needs.iter().map(|&need| need.to_owned()).collect();
        node.section = section;
    }

    /// The standard nodes with their seats, 0 to 4, and their journals.
    fn services(&mut self) {
        let config = self.config;
        self.service("master", NodeKind::Master, &config.master.run, &[], json(&config.master));
        self.service("md", NodeKind::Md, &config.md.run, &["master"], json(&config.md));
        let td = json(TdSection {
            config: config.td.clone(),
            lock_step_limit: config.platform.lock_step_limit,
            strategies: self.accounts(),
        });
        self.service("td", NodeKind::Td, &config.td.run, &["md"], td);
        self.service("matching", NodeKind::Matching, &config.matching.run, &["md"], json(&config.matching));
        self.service("ledger", NodeKind::Ledger, &config.ledger.run, &["md"], json(&config.ledger));

        let instruments = match config.md.source.is_replay() {
            true => wire::MAX_INSTRUMENTS,
            // Ids start at 1.
            false => config.md.instruments + 1,
        };
        self.journal("master.events", "master", "events", 1, ByteSize::kib(64));
        self.journal("md.instruments", "md", "instruments", 1, ByteSize::mib(1));
        self.journal("md.quotes", "md", "quotes", instruments, ByteSize::mib(4));
        if config.matching.fill == Fill::Book {
            self.journal("md.flow", "md", "flow", instruments, ByteSize::mib(4));
        }
        self.journal("td.orders", "td", "orders", 1, ByteSize::mib(1));
        self.journal("matching.executions", "matching", "executions", 1, ByteSize::mib(1));
        self.journal("td.samples", "td", "samples", 1, ByteSize::mib(1));
        // Topic 0 is everybody, topic n + 1 the strategy in seat n.
        let strategies: u32 = config.strategies.iter().map(|group| group.count).sum();
        self.journal("ledger.state", "ledger", "state", strategies + 6, state::own_capacity(config));
    }

    fn accounts(&self) -> Vec<StrategyAccount> {
        let (td, mut seat) = (&self.config.td, 5_u16);
        let mut accounts = Vec::new();
        for group in &self.config.strategies {
            for number in 1..=group.count {
                let name = format!("{}-{number}", group.name);
                let (reports, reports_topic) = match &group.host {
                    Some(host) => (reports_of(&host.name), u32::from(seat)),
                    None => (reports_of(&name), 0),
                };
                accounts.push(StrategyAccount {
                    name,
                    reports,
                    reports_topic,
                    seat,
                    max_order_quantity: group.limits.max_order_quantity.unwrap_or(td.max_order_quantity),
                    max_working_orders: group.limits.max_working_orders.unwrap_or(td.max_working_orders),
                    max_position: group.limits.max_position.unwrap_or(td.max_position),
                });
                seat = seat.saturating_add(1);
            }
        }
        accounts
    }

    fn strategies(&mut self) {
        let config = self.config;
        let mut index = 0;
        for group in &config.strategies {
            for number in 0..group.count {
                self.strategy(group, index, number);
                index += 1;
            }
        }
    }

    fn strategy(&mut self, group: &StrategyGroup, index: u32, index_in_group: u32) {
        let name = format!("{}-{}", group.name, index_in_group + 1);
        let builtin = group.program.strip_prefix("builtin:").map(str::to_owned);
        let program =
            builtin.clone().map_or_else(|| Program::Path(group.program.clone().into()), Program::Builtin);
        let section = json(StrategySection {
            group: group.name.clone(),
            index,
            index_in_group,
            instruments: group.instruments.clone(),
            builtin,
            budget: group.budget,
        });
        let node = self.node(&name, NodeKind::Strategy, &group.run, program);
        node.group = Some(group.name.clone());
        if let Some(host) = &group.host {
            node.host = Some(host.name.clone());
            node.mode = host.mode;
            node.wake = Wake::Targeted;
        }
        node.needs = ["td", "matching", "ledger"].map(str::to_owned).to_vec();
        node.stagger = if index_in_group == 0 { Duration::ZERO } else { group.stagger };
        node.section = section;
        node.parameters = group.params.clone();
        self.journal(&format!("orders.{name}"), &name, "orders", 1, ByteSize::kib(256));
        if group.host.is_none() {
            self.journal(&reports_of(&name), "td", "reports", 1, ByteSize::kib(256));
        }
    }

    /// A journal, and its writer's binding to it.
    fn journal(&mut self, name: &str, writer: &str, role: &str, topics: u32, own: ByteSize) {
        let (capacity_bytes, pages) = self.ring(name, own);
        self.journals.push(JournalSpec {
            id: self.journals.len() as u32 + 1,
            name: name.to_owned(),
            writer: writer.to_owned(),
            capacity_bytes,
            topics,
            pages,
            readers: Vec::new(),
        });
        if let Some(node) = self.nodes.iter_mut().find(|node| node.name == writer) {
            node.writes.push(WriteBinding { role: role.to_owned(), journal: name.to_owned() });
        }
    }

    /// Capacity and pages: the nearest section that speaks counts; without one, `own`, or one huge page.
    fn ring(&self, journal: &str, own: ByteSize) -> (u64, Pages) {
        let chain = self.config.journal.chain(journal);
        let capacity = chain.iter().rev().find_map(|ring| ring.capacity);
        let huge = chain.iter().rev().find_map(|ring| ring.huge_pages).unwrap_or(HugePages::Off);
        let page = chain.iter().rev().find_map(|ring| ring.page).unwrap_or(PageSize::TwoMib).bytes();
        let pages = match huge {
            HugePages::Off => return (capacity.unwrap_or(own).0, Pages::Small),
            HugePages::Prefer => Pages::Huge { size: page, require: false },
            HugePages::Require => Pages::Huge { size: page, require: true },
            HugePages::Transparent => {
                let capacity = capacity.unwrap_or(ByteSize(own.0.max(PageSize::TwoMib.bytes())));
                return (capacity.0, Pages::Transparent);
            }
        };
        (capacity.map_or(own.0.max(page), |capacity| capacity.0), pages)
    }

    fn custom(&mut self) {
        let config = self.config;
        for custom in &config.node {
            let node = self.node(
                &custom.name,
                NodeKind::Custom,
                &custom.run,
                Program::Path(custom.program.clone().into()),
            );
            node.parameters = custom.params.clone();
            node.needs = custom.needs.clone().unwrap_or_default();
            for write in &custom.writes {
                let own = write.capacity.unwrap_or(ByteSize::mib(1));
                self.journal(&write.journal, &custom.name, &write.role, write.topics, own);
                if let (Some(capacity), Some(last)) = (write.capacity, self.journals.last_mut()) {
                    last.capacity_bytes = capacity.0;
                }
            }
        }
    }

    /// All readers, node by node in the order of the seats.
    fn connect(&mut self) {
        use ReaderFrom::{Cursor, Head, Start};
        use ReaderKind::{Gated, Loose};
        let config = self.config;
        let strategies: Vec<(String, OnDeath, bool)> = config
            .strategies
            .iter()
            .flat_map(|group| {
                let name = |number: u32| format!("{}-{number}", group.name);
                (1..=group.count).map(move |number| (name(number), group.on_death, group.host.is_some()))
            })
            .collect();

        let td = config.td.run.on_death();
        self.read("td", "instruments", "md.instruments", (Loose, Start, td));
        self.read("td", "events", "master.events", (Loose, Start, td));
        for (name, ..) in &strategies {
            self.read("td", "orders", &format!("orders.{name}"), (Gated, Cursor, td));
        }
        self.read("td", "executions", "matching.executions", (Gated, Cursor, td));

        // Somebody always comes back for them: if nobody else, the one who closes the market.
        let matching = OnDeath::Hold;
        self.read("matching", "instruments", "md.instruments", (Loose, Start, matching));
        self.read("matching", "orders", "td.orders", (Gated, Cursor, matching));
        let market = match config.matching.fill {
            Fill::Book => ("flow", "md.flow"),
            Fill::Quotes => ("quotes", "md.quotes"),
        };
        self.read("matching", market.0, market.1, (Gated, Cursor, matching));

        let ledger = config.ledger.run.on_death();
        // In lock-step nobody may be behind, nor lose anything.
        let ledger_quotes =
            if config.platform.deterministic { (Gated, Cursor, ledger) } else { (Loose, Start, ledger) };
        self.read("ledger", "instruments", "md.instruments", (Loose, Start, ledger));
        self.read("ledger", "events", "master.events", (Loose, Start, ledger));
        self.read("ledger", "quotes", "md.quotes", ledger_quotes);
        self.read("ledger", "executions", "matching.executions", (Gated, Cursor, ledger));

        let alone =
            strategies.into_iter().filter(|(.., hosted)| !hosted).map(|(name, death, _)| (name, death));
        let hosts =
            hosts::all(config).into_iter().map(|host| (host.name.clone(), hosts::on_death(host, config)));
        for (name, on_death) in alone.chain(hosts) {
            // A restarted loose reader starts at the head: old quotes must not trigger orders.
            let quotes_from = if config.md.readers == Gated { Cursor } else { Head };
            self.read(&name, "instruments", "md.instruments", (Loose, Start, on_death));
            self.read(&name, "quotes", "md.quotes", (config.md.readers, quotes_from, on_death));
            self.read(&name, "reports", &reports_of(&name), (Gated, Cursor, on_death));
            // What it asks the ledger for comes behind its place there.
            self.read(&name, "state", "ledger.state", (Loose, Head, on_death));
        }
        for custom in &config.node {
            for read in &custom.reads {
                let how = (read.kind, read.from, read.on_death);
                self.read(&custom.name, &read.role, &read.journal, how);
            }
            if custom.needs.is_none() {
                self.need_writers(&custom.name);
            }
        }
    }

    /// A node needs who writes what it reads.
    fn need_writers(&mut self, name: &str) {
        let Some(node) = self.nodes.iter_mut().find(|node| node.name == name) else { return };
        let read = |journal: &JournalSpec| node.reads.iter().any(|read| read.journal == journal.name);
        let writers = self.journals.iter().filter(|journal| read(journal) && journal.writer != name);
        let mut needs: Vec<String> = writers.map(|journal| journal.writer.clone()).collect();
        needs.dedup();
        node.needs = needs;
    }

    fn read(&mut self, node: &str, role: &str, journal: &str, how: (ReaderKind, ReaderFrom, OnDeath)) {
        let (kind, from, on_death) = how;
        let (node_name, role) = (node.to_owned(), role.to_owned());
        if let Some(spec) = self.nodes.iter_mut().find(|spec| spec.name == node_name) {
            let (role, journal) = (role.clone(), journal.to_owned());
            spec.reads.push(ReadBinding { role, journal, kind, from, on_death });
        }
        // A journal that nobody writes stays in the binding alone; `Topology::check` names it.
        if let Some(spec) = self.journals.iter_mut().find(|spec| spec.name == journal) {
            spec.readers.push(ReaderSpec { node: node_name, role, kind, from, on_death });
        }
    }
}

/// The journal of td's answers to a node.
fn reports_of(name: &str) -> String {
    format!("reports.{name}")
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
