//! Recorders, and what they record.

use super::{Builder, json};
use crate::config::{Durability, ReaderFrom, ReaderKind};
use crate::services::{NodeKind, Stream};
use crate::spec::Program;

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

    /// The journals that they record. What is recorded and says nothing of its durability is "async".
    pub(super) fn subscribe_recorders(&mut self) {
        let config = self.config;
        for journal in 0..self.journals.len() {
            let spec = &self.journals[journal];
            let by = config.recorder.iter().find(|recorder| recorder.covers(&spec.name));
            let asked = self.durabilities[journal];
            // A recovery from disk has no use for the images that a killed matching leaves in shared memory.
            let own = if spec.stream == Some(Stream::Books) { Durability::None } else { Durability::Async };
            let durability = asked.unwrap_or(own);
            let Some(recorder) = by.filter(|_| durability != Durability::None) else { continue };
            let kind = if recorder.is_loose(&spec.name) { ReaderKind::Loose } else { ReaderKind::Gated };
            let Some(node) = self.nodes.iter().position(|node| node.name == recorder.name) else { continue };
            self.journals[journal].durability = durability;
            let role = self.role_of(journal);
            let on_death = self.on_death[node];
            self.read(node, &role, journal, (kind, ReaderFrom::Cursor, on_death));
        }
    }
}
