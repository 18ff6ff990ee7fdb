//! Which platforms can run in one process.

use std::collections::BTreeSet;

use topology::{NodeKind, Program, Topology};

use crate::plugins::Plugins;

/// Why this platform cannot run in one process with these plug-ins, a reason for each service and program; none: it can.
pub fn unfit(topology: &Topology, plugins: &Plugins) -> Vec<String> {
    if !topology.deterministic {
        return vec!["it does not run in lock-step (platform.deterministic)".to_owned()];
    }
    let mut reasons = Vec::new();
    let mut named = BTreeSet::new();
    for node in &topology.nodes {
        let name = &node.name;
        match (node.kind, &node.program) {
            (NodeKind::Gateway | NodeKind::Service | NodeKind::Observer | NodeKind::Relay, _) => {
                reasons.push(format!("`{name}` ({}) has a process of its own", node.kind));
            }
            (_, Program::Builtin(_)) => {}
            (_, Program::Path(path)) => {
                // Many strategies may be of one program.
                if let Some(why) = plugins.why_not(path).filter(|_| named.insert(path)) {
                    reasons.push(format!("`{name}` has the program {}, and {why}", path.display()));
                }
            }
        }
    }
    reasons
}
