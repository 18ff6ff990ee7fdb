//! Whether strategies take the parameters that a platform file has for them: built-in ones are asked here, programs by
//! `--check-params`.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::time::Duration;

use node::{INSTANCE_VARIABLE, NODE_VARIABLE};
use serde_json::Value;
use strategy_sdk::{Options, PARAMETERS_SAID};
use topology::{NodeKind, NodeSpec, Program, Topology};

/// A program that takes longer to look at its parameters is not asked any further.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is wrong, a line for each group.
pub(super) fn faults(topology: &Topology) -> Vec<String> {
    let mut asked = BTreeSet::new();
    let strategies = topology.nodes.iter().filter(|node| node.kind == NodeKind::Strategy);
    let first = strategies.filter(|node| asked.insert(node.group.clone().unwrap_or(node.name.clone())));
    first.filter_map(|node| fault(topology, node)).collect()
}

fn fault(topology: &Topology, node: &NodeSpec) -> Option<String> {
    let parameters = match &node.parameters {
        Value::Null => Value::Object(serde_json::Map::new()),
        given => given.clone(),
    };
    // One in a host has the host's program.
    let host = node.host.as_ref().and_then(|host| topology.node(host));
    let fault = match (&host.unwrap_or(node).program, node.section["builtin"].as_str()) {
        (Program::Builtin(_), Some(name)) => {
            builtin_strategies::roster(Options::default()).check(name, parameters)?.err()?
        }
        (Program::Path(program), _) => ask(program, &parameters)?,
        (Program::Builtin(_), None) => return None,
    };
    let group = node.group.as_deref().unwrap_or(&node.name);
    Some(format!("strategies of group `{group}` do not take their `params`: {fault}"))
}

/// What a program says is wrong. `None`: nothing, or it does not answer such questions.
fn ask(program: &Path, parameters: &Value) -> Option<String> {
    let mut command = node::program::command(program);
    command.arg("--check-params");
    for (name, value) in parameters.as_object()? {
        command.arg("--param").arg(format!("{name}={value}"));
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    // Whatever it is, it is not to join a platform.
    command.env_remove(INSTANCE_VARIABLE).env_remove(NODE_VARIABLE);
    let mut child = command.spawn().ok()?;
    let mut output = child.stdout.take()?;
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = std::io::Read::read_to_end(&mut output, &mut text);
        sender.send(text)
    });
    let said = receiver.recv_timeout(PATIENCE);
    if said.is_err() {
        talk!("{} does not say within {PATIENCE:?} whether its parameters fit", program.display());
    }
    // It may have closed its output and still run.
    let _ = child.kill();
    let _ = child.wait();
    let said = said.ok()?;
    let said = String::from_utf8_lossy(&said);
    let fault = said.lines().find_map(|line| line.strip_prefix(PARAMETERS_SAID))?.trim();
    (!fault.is_empty()).then(|| fault.to_owned())
}
