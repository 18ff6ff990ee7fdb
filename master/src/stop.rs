//! Stopping the nodes so that nothing under way is lost.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use node::{Phase, Quiescence};
use topology::NodeKind;

use crate::supervise::Master;

/// Those who write first stop first; who books it all stops last.
const ORDER: [&[NodeKind]; 5] = [
    &[NodeKind::Strategy, NodeKind::Host, NodeKind::Custom, NodeKind::Relay],
    &[NodeKind::Md],
    &[NodeKind::Td],
    &[NodeKind::Matching],
    &[NodeKind::Ledger],
];
/// Longest wait between two groups for what is under way.
const SETTLE: Duration = Duration::from_millis(500);

impl Master {
    /// Stops all nodes, group by group. Between two groups, what the first has written is handled by the others.
    pub(crate) fn stop_nodes(&mut self) {
        if !self.stopping {
            self.stopping = true;
            self.instance.set_phase(Phase::Stopping);
            log::info!("stopping");
        }
        for kinds in ORDER {
            let in_group = |kind: NodeKind| kinds.contains(&kind);
            if !self.nodes.iter().any(|node| in_group(node.spec.kind) && node.process.is_some()) {
                continue;
            }
            self.signal(Signal::SIGTERM, |node| in_group(node.spec.kind));
            self.await_end(in_group);
            self.settle();
        }
    }

    fn await_end(&mut self, in_group: impl Fn(NodeKind) -> bool) {
        let patience = Instant::now() + self.config.stop_timeout;
        let mut killed = false;
        loop {
            // While stopping, no death is an error.
            let _ = self.reap();
            if !self.nodes.iter().any(|node| in_group(node.spec.kind) && node.process.is_some()) {
                return;
            }
            if !killed && Instant::now() > patience {
                for node in
                    self.nodes.iter().filter(|node| in_group(node.spec.kind) && node.process.is_some())
                {
                    log::error!("node `{}` does not stop and is killed", node.spec.name);
                }
                self.signal(Signal::SIGKILL, |node| in_group(node.spec.kind));
                killed = true;
            }
            // A signal that comes between a node's look at its flag and its sleep does not end the sleep.
            for node in self.nodes.iter().filter(|node| in_group(node.spec.kind) && node.process.is_some()) {
                journal::wake(&self.instance.registry, u32::from(node.spec.seat));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Lets the living handle what is committed. Cursors of the dead are not waited for long.
    fn settle(&self) {
        let Ok(mut quiescence) = Quiescence::watch(&self.instance.directory, |_| true) else { return };
        let patience = Instant::now() + SETTLE;
        while !quiescence.is_quiet() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
