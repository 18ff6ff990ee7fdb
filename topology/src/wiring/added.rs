//! Services that the file adds.

use std::time::Duration;

use settings::ByteSize;

use super::Builder;
use crate::config::{ReadConfig, ServiceConfig};
use crate::services::Stream;
use crate::spec::{Program, ReadBinding};

impl Builder<'_> {
    /// A node for each of them.
    pub(super) fn added(&mut self) {
        let config = self.config;
        for service in &config.service {
            let program = Program::Path(service.program.clone().into());
            let on_death = service.run.on_death();
            let mode = self.napping(service.run.mode, service.wake_within);
            let node = self.node(&service.name, service.kind(), &service.run, on_death, program);
            node.mode = mode;
            node.parameters = service.params.clone();
        }
    }

    /// Which node is the first of them: recorders come behind.
    fn first_added(&self) -> usize {
        self.nodes.len() - self.config.recorder.len() - self.config.service.len()
    }

    /// The journals that they write.
    pub(super) fn publish_added(&mut self) {
        let config = self.config;
        let first = self.first_added();
        for (index, service) in config.service.iter().enumerate() {
            for write in &service.writes {
                let (own, pages) = self.ring(&[], write.capacity.unwrap_or(ByteSize::mib(1)));
                let ring = (
                    write.capacity.map_or(own, |capacity| capacity.0),
                    pages,
                    self.config.journal.ring.durability,
                );
                self.journal(first + index, write.journal.clone(), &write.role, write.topics, ring);
            }
        }
    }

    /// The journals that they read, and the nodes that they need for it.
    pub(super) fn subscribe_added(&mut self) {
        let config = self.config;
        let first = self.first_added();
        for (index, service) in config.service.iter().enumerate() {
            let node = first + index;
            for (place, read) in service.reads.iter().enumerate() {
                let found = match read.is_pattern() {
                    true => self.covered(node, service, place),
                    false => self.named(&read.journal),
                };
                for journal in &found {
                    let role = read.role.clone().unwrap_or_else(|| self.role_of(*journal));
                    self.read(node, &role, *journal, (read.kind, read.from, read.on_death));
                }
                // One that nobody writes, but for families that have no member now, stays in the binding alone; `Topology::check` names it.
                if found.is_empty() && !(read.is_pattern() && Stream::of(&read.journal).is_some()) {
                    self.nodes[node].reads.push(unbound(read));
                }
            }
            self.needs(node, service);
        }
    }

    /// The journals that a pattern stands for: without the node's own, those that an entry names in full, and those that
    /// an earlier pattern covers.
    fn covered(&self, node: usize, service: &ServiceConfig, place: usize) -> Vec<usize> {
        let pattern = &service.reads[place];
        let is_elsewhere = |name: &str| {
            let others = service.reads.iter().enumerate();
            let mut others = others.filter(|(other, _)| *other != place);
            others.any(|(other, read)| match read.is_pattern() {
                true => other < place && read.covers(name),
                false => read.journal == name,
            })
        };
        let own = &self.nodes[node].name;
        let journals = self.journals.iter().enumerate().filter(|(_, journal)| {
            pattern.covers(&journal.name) && journal.writer != *own && !is_elsewhere(&journal.name)
        });
        journals.map(|(index, _)| index).collect()
    }

    fn named(&self, name: &str) -> Vec<usize> {
        self.journals.iter().position(|journal| journal.name == name).into_iter().collect()
    }

    /// What a journal's writer calls it.
    pub(super) fn role_of(&self, journal: usize) -> String {
        let spec = &self.journals[journal];
        let writer = self.nodes.iter().find(|node| node.name == spec.writer);
        let binding = writer.and_then(|node| node.writes.iter().find(|write| write.journal == spec.name));
        binding.map_or_else(|| spec.name.clone(), |binding| binding.role.clone())
    }

    /// It needs what the file says, or who writes the journals that the file names in full.
    fn needs(&mut self, node: usize, service: &ServiceConfig) {
        let writers = || {
            let named = |name: &str| service.reads.iter().any(|read| read.journal == name);
            let journals = self.journals.iter().filter(|journal| named(&journal.name));
            let mut writers: Vec<String> = journals.map(|journal| journal.writer.clone()).collect();
            writers.retain(|writer| *writer != service.name);
            writers.dedup();
            writers
        };
        match service.needs.clone().unwrap_or_else(writers) {
            none if none.is_empty() && service.needs.is_none() => {}
            needs => self.nodes[node].needs = needs,
        }
    }
}

fn unbound(read: &ReadConfig) -> ReadBinding {
    ReadBinding {
        role: read.role.clone().unwrap_or_default(),
        journal: read.journal.clone(),
        kind: read.kind,
        from: read.from,
        on_death: read.on_death,
        wake_within: Duration::ZERO,
    }
}
