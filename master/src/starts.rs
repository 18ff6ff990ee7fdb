//! Starting nodes: each when what it needs runs, or when its pause after a death is over.

use std::time::Instant;

use node::NodeState;
use topology::{NodeKind, NodeSpec};

use crate::error::MasterError;
use crate::process::NodeProcess;
use crate::supervise::Master;

impl Master {
    /// Starts every node whose turn has come.
    pub(crate) fn start_what_can(&mut self) -> Result<(), MasterError> {
        let now = Instant::now();
        for index in 0..self.nodes.len() {
            let node = &self.nodes[index];
            // A host is started with the first of its strategies.
            if self.stopping || node.lives() || node.done || node.spec.kind == NodeKind::Host {
                continue;
            }
            let due = match node.start_at {
                Some(at) => at <= now,
                None => {
                    self.needs_are_met(&node.spec)
                        && self.last_start.is_none_or(|last| now - last >= node.spec.stagger)
                }
            };
            if due {
                self.start(index)?;
                self.last_start = Some(now);
            }
        }
        Ok(())
    }

    fn needs_are_met(&self, spec: &NodeSpec) -> bool {
        spec.needs.iter().all(|need| {
            self.instance.topology.node(need).is_none_or(|needed| {
                matches!(self.instance.state(needed.seat), NodeState::Running | NodeState::Finished)
            })
        })
    }

    pub(crate) fn start(&mut self, index: usize) -> Result<(), MasterError> {
        let node = &mut self.nodes[index];
        node.start_at = None;
        if node.spec.host.is_some() {
            return self.start_hosted(index);
        }
        if let Some(seat) = self.instance.registry.occupy(u32::from(node.spec.seat)) {
            seat.set_state(NodeState::Starting.to_word());
        }
        let arguments: &[&str] = if node.closes { &["--closed"] } else { &[] };
        match NodeProcess::start(&self.options.colo, &self.instance.directory, &node.spec, arguments) {
            Ok(process) => {
                if let Some(seat) = self.instance.registry.occupy(u32::from(node.spec.seat)) {
                    seat.set_process(process.identity());
                }
                log::info!("node `{}` started as process {}", node.spec.name, process.identity().pid);
                node.process = Some(process);
                node.started = Some(Instant::now());
                Ok(())
            }
            Err(source) => {
                let name = &node.spec.name;
                let action = "start the program of a node:";
                let path = match &node.spec.program {
                    topology::Program::Path(path) => path.clone(),
                    topology::Program::Builtin(_) => self.options.colo.clone(),
                };
                log::error!("node `{name}` does not start: {source}");
                Err(MasterError::Io { action, path, source })
            }
        }
    }
}
