//! Recorders, and what they record.

use super::{Builder, json};
use crate::config::{Durability, OnDeath, ReaderFrom, ReaderKind, WhenFull};
use crate::services::NodeKind;
use crate::spec::{Program, TdSection};

impl Builder<'_> {
    /// A node for each of them.
    pub(super) fn recorders(&mut self) {
        let config = self.config;
        for recorder in &config.recorder {
            let program = Program::Builtin(NodeKind::Recorder.as_str().to_owned());
            let mode = self.napping(recorder.run.mode, recorder.wake_within);
            let on_death = recorder.run.on_death();
            let node = self.node(&recorder.name, NodeKind::Recorder, &recorder.run, on_death, program);
            (node.mode, node.section) = (mode, json(recorder));
        }
    }

    /// The journals that they record. What is recorded and says nothing of its durability is "async". What asks for "sync"
    /// and is not recorded keeps that, for the rules to find.
    pub(super) fn subscribe_recorders(&mut self) {
        let config = self.config;
        for journal in 0..self.journals.len() {
            let spec = &self.journals[journal];
            let by = config.recorder.iter().find(|recorder| recorder.covers(&spec.name));
            let asked = self.durabilities[journal];
            if asked == Some(Durability::Sync) {
                self.journals[journal].durability = Durability::Sync;
            }
            let Some(recorder) = by.filter(|_| asked != Some(Durability::None)) else { continue };
            let spec = &self.journals[journal];
            let kind = if recorder.is_loose(&spec.name) { ReaderKind::Loose } else { ReaderKind::Gated };
            let Some(node) = self.nodes.iter().position(|node| node.name == recorder.name) else { continue };
            self.journals[journal].durability = asked.unwrap_or(Durability::Async);
            let role = self.role_of(journal);
            let holds = recorder.when_full == WhenFull::Hold || asked == Some(Durability::Sync);
            let on_death = if holds { OnDeath::Hold } else { self.on_death[node] };
            self.read(node, &role, journal, (kind, ReaderFrom::Cursor, on_death));
        }
    }

    /// Tells td for which strategies it must know that a disk takes their reports.
    pub(super) fn tell_of_recorders(&mut self) {
        let waits = |journal: &str| {
            self.journals.iter().any(|spec| spec.name == journal && spec.durability == Durability::Sync)
        };
        let recorders_of = |journal: &str| {
            let recorders = self.nodes.iter().filter(|node| node.kind == NodeKind::Recorder);
            let reads = recorders.filter(|node| node.reads.iter().any(|read| read.journal == journal));
            reads.map(|node| node.seat).collect::<Vec<_>>()
        };
        let Some(td) = self.nodes.iter().position(|node| node.kind == NodeKind::Td) else { return };
        let section = self.nodes[td].section.clone();
        let Ok(mut section) = serde_json::from_value::<TdSection>(section) else { return };
        for strategy in section.strategies.iter_mut().filter(|strategy| waits(&strategy.reports)) {
            strategy.recorders = recorders_of(&strategy.reports);
        }
        if section.strategies.iter().any(|strategy| !strategy.recorders.is_empty()) {
            self.nodes[td].section = json(section);
        }
    }
}
