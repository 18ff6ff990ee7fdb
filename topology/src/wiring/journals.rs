//! Journals: from what the rows publish to rings, and from what they subscribe to to readers.

use std::time::Duration;

use settings::ByteSize;

use super::Builder;
use crate::config::{
    Durability, HugePages, MarketData, OnDeath, PageSize, ReaderFrom, ReaderKind, RingConfig, StrategyGroup,
};
use crate::services::{Journals, NodeKind, Publication, Service};
use crate::spec::{JournalSpec, NodeSpec, Pages, ReadBinding, ReaderSpec, WriteBinding};

/// The journal that a family has for a node.
pub(super) fn journal_of(family: &str, node: &str) -> String {
    format!("{family}.{node}")
}

impl Builder<'_> {
    /// All journals, each with its writer's binding to it: node by node those that it writes, and those that another
    /// writes for it alone.
    pub(super) fn publish(&mut self) {
        for index in 0..self.nodes.len() {
            let (kind, name) = (self.nodes[index].kind, self.nodes[index].name.clone());
            for publication in Service::of(kind).publishes {
                match publication.journals {
                    Journals::One(journal) => self.publication(publication, index, journal.to_owned()),
                    Journals::EachWriter(family) => {
                        self.publication(publication, index, journal_of(family, &name));
                    }
                    Journals::EachReader(..) => {}
                }
            }
            if self.nodes[index].host.is_some() {
                continue;
            }
            for service in Service::all() {
                for publication in service.publishes {
                    let Journals::EachReader(family, reader) = publication.journals else { continue };
                    let Some(writer) = self.nodes.iter().position(|node| node.kind == service.kind) else {
                        continue;
                    };
                    if reader == kind {
                        let journal = journal_of(family, &name);
                        self.addressees.insert(journal.clone(), name.clone());
                        self.publication(publication, writer, journal);
                    }
                }
            }
        }
        self.publish_added();
    }

    fn publication(&mut self, publication: &Publication, writer: usize, name: String) {
        let config = self.config;
        if !publication.when.holds(config) {
            return;
        }
        let strategies = config.strategies.iter().map(|group| group.count).sum::<u32>()
            + u32::from(config.gateway.is_some());
        let topics = publication.topics.count(config, u32::from(Service::standard_count()), strategies);
        let sections = (publication.rings)(&config.journal);
        let (capacity, pages) = self.ring(&sections, (publication.capacity)(config));
        let ring = (capacity, pages, self.durability(&sections, &name));
        self.journal(writer, name, publication.role, topics, ring).stream = Some(publication.stream);
    }

    /// A journal, and its writer's binding to it.
    pub(super) fn journal(
        &mut self,
        writer: usize,
        name: String,
        role: &str,
        topics: u32,
        (capacity_bytes, pages, durability): (u64, Pages, Option<Durability>),
    ) -> &mut JournalSpec {
        let index = self.journals.len();
        self.durabilities.push(durability);
        let node = &mut self.nodes[writer];
        node.writes.push(WriteBinding { role: role.to_owned(), journal: name.clone() });
        self.journals.push(JournalSpec {
            id: index as u32 + 1,
            name,
            writer: node.name.clone(),
            capacity_bytes,
            topics,
            pages,
            stream: None,
            durability: Durability::None,
            readers: Vec::new(),
        });
        &mut self.journals[index]
    }

    /// What the nearest section says; before all of them the group of the strategy whose reports these are.
    fn durability(&self, sections: &[&RingConfig], journal: &str) -> Option<Durability> {
        let reader = self.addressees.get(journal);
        let group = reader.and_then(|reader| {
            let is_its = |group: &&StrategyGroup| match &group.host {
                Some(host) => host.name == *reader,
                None => self
                    .nodes
                    .iter()
                    .any(|node| node.name == *reader && node.group.as_ref() == Some(&group.name)),
            };
            self.config.strategies.iter().find(is_its)?.durability
        });
        let chain = || [&self.config.journal.ring].into_iter().chain(sections.iter().copied()).rev();
        group.or_else(|| chain().find_map(|ring| ring.durability))
    }

    /// Capacity and pages: the nearest section that speaks counts; without one, `own`, or one huge page.
    pub(super) fn ring(&self, sections: &[&RingConfig], own: ByteSize) -> (u64, Pages) {
        let chain = || [&self.config.journal.ring].into_iter().chain(sections.iter().copied()).rev();
        let capacity = chain().find_map(|ring| ring.capacity);
        let huge = chain().find_map(|ring| ring.huge_pages).unwrap_or(HugePages::Off);
        let page = chain().find_map(|ring| ring.page).unwrap_or(PageSize::TwoMib).bytes();
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

    /// All readers, node by node in the order of the seats. A strategy's host reads for it.
    pub(super) fn subscribe(&mut self) {
        for node in 0..self.nodes.len() {
            if self.nodes[node].host.is_some() {
                continue;
            }
            let on_death = self.on_death[node];
            let kind = self.nodes[node].kind;
            let heard = self.heard(&self.nodes[node]);
            for subscription in Service::of(kind).subscribes {
                let is_there = match kind.trades() {
                    true => subscription.when.holds_for(self.config, &heard),
                    false => subscription.when.holds(self.config),
                };
                if !is_there {
                    continue;
                }
                let (kind, from) = subscription.manner.resolve(self.config);
                for journal in 0..self.journals.len() {
                    let spec = &self.journals[journal];
                    let addressee = || self.addressees.get(&spec.name);
                    let is_meant = || addressee().is_none_or(|name| *name == self.nodes[node].name);
                    if spec.stream == Some(subscription.stream) && is_meant() {
                        self.read(node, subscription.role, journal, (kind, from, on_death));
                    }
                }
            }
        }
        self.subscribe_added();
    }

    /// What the strategies of a node hear of the market: its group's, or those of all groups in the host.
    fn heard(&self, node: &NodeSpec) -> Vec<MarketData> {
        if node.kind == NodeKind::Gateway {
            return self.config.gateway.iter().map(|gateway| gateway.data).collect();
        }
        let here = |group: &&StrategyGroup| {
            let is_host = group.host.as_ref().is_some_and(|host| host.name == node.name);
            (node.kind == NodeKind::Host && is_host) || node.group.as_ref() == Some(&group.name)
        };
        self.config
            .strategies
            .iter()
            .filter(|group| group.count > 0)
            .filter(here)
            .map(|group| group.data)
            .collect()
    }

    /// Binds a node to a journal.
    pub(super) fn read(
        &mut self,
        node: usize,
        role: &str,
        journal: usize,
        (kind, from, on_death): (ReaderKind, ReaderFrom, OnDeath),
    ) {
        let (node, spec) = (&mut self.nodes[node], &mut self.journals[journal]);
        let (journal, role) = (spec.name.clone(), role.to_owned());
        spec.readers.push(ReaderSpec { node: node.name.clone(), role: role.clone(), kind, from, on_death });
        let wake_within = Duration::ZERO;
        node.reads.push(ReadBinding { role, journal, kind, from, on_death, wake_within });
    }
}
