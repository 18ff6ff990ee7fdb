//! Which platforms can run in one process.

use topology::{NodeKind, Program, Topology};

use crate::plugins::Plugins;

/// Why this platform cannot run in one process with these plug-ins; `None`: it can.
pub fn unfit(topology: &Topology, plugins: &Plugins) -> Option<String> {
    if !topology.deterministic {
        return Some("it does not run in lock-step (platform.deterministic)".to_owned());
    }
    topology.nodes.iter().find_map(|node| {
        let name = &node.name;
        match (node.kind, &node.program) {
            (NodeKind::Gateway | NodeKind::Service | NodeKind::Observer | NodeKind::Relay, _) => {
                Some(format!("`{name}` ({}) has a process of its own", node.kind))
            }
            (_, Program::Builtin(_)) => None,
            (_, Program::Path(path)) => {
                plugins.why_not(path).map(|why| format!("`{name}` has a program of its own, and {why}"))
            }
        }
    })
}
