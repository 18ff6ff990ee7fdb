//! What a dead master leaves of an instance, for tests; gone with the value.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use journal::process::ProcessIdentity;
use journal::{Clock, Registry};
use node::{InstanceDir, NodeState, kind_word};
use topology::Topology;
use topology::config::Mode;

/// An instance that nobody holds: its registry and its topology, and no process in any seat.
pub(crate) struct Remains {
    pub(crate) instance: InstanceDir,
    pub(crate) topology: Topology,
    registry: Registry,
}

impl Remains {
    /// With one strategy. `test` tells instances apart.
    pub(crate) fn new(test: &str) -> Remains {
        let topology = topology::parse("t.toml", "[md]\n[strategies]\ncount = 1\n", &[]).unwrap().topology;
        let instance = InstanceDir::new(&format!("mc-{test}-{}", std::process::id())).unwrap();
        let claim = instance.claim().unwrap();
        claim.create_journals().unwrap();
        let registry = Registry::create(&instance.registry(), 64, Clock::monotonic()).unwrap();
        for node in &topology.nodes {
            registry.set_name(u32::from(node.seat), &node.name);
            let seat = registry.occupy(u32::from(node.seat)).unwrap();
            seat.set_kind(kind_word(node.kind, Mode::Parked));
            seat.set_generation(1);
            seat.set_state(NodeState::Stopped.to_word());
        }
        std::fs::write(instance.topology(), serde_json::to_vec(&topology).unwrap()).unwrap();
        drop(claim);
        Remains { instance, topology, registry }
    }

    /// Lets this process sit in the seat of a node.
    pub(crate) fn seat(&self, node: &str, child: &Child) {
        let number = self.topology.node(node).unwrap().seat;
        let seat = self.registry.occupy(u32::from(number)).unwrap();
        seat.set_process(ProcessIdentity::of(child.id()).expect("it lives"));
        seat.set_state(NodeState::Running.to_word());
    }
}

impl Drop for Remains {
    fn drop(&mut self) {
        if let Ok(Some(claim)) = self.instance.claim_remains() {
            claim.remove().unwrap();
        }
    }
}

/// A process that does `on_term` when it is asked to end, and ends by itself after half a minute.
pub(crate) fn process(folder: &Path, name: &str, on_term: &str) -> Child {
    let ready = folder.join(format!("{name}.ready"));
    let script = format!(
        "trap '{on_term}' TERM; touch '{}'; i=0; while [ $i -lt 1500 ]; do sleep 0.02; i=$((i+1)); done",
        ready.display()
    );
    let child = Command::new("sh")
        .args(["-c", &script])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while !ready.exists() {
        assert!(begin.elapsed() < Duration::from_secs(20), "`{name}` has not set its trap");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}
