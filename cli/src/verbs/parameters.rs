//! Whether strategies take the parameters that a platform file has for them: built-in ones are asked here, programs by
//! `--check-params`.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use backtest::Plugin;
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

/// Whether a strategy of this program takes these parameters: for a change while the others trade. `builtin`: its name where
/// the program is `colo` itself.
pub(super) fn demand(program: &Program, builtin: Option<&str>, parameters: &Value) -> Result<(), String> {
    match program {
        Program::Builtin(_) => match builtin {
            Some(name) => builtin_strategies::roster(Options::default())
                .check(name, parameters.clone())
                .unwrap_or_else(|| Err(format!("there is no strategy `builtin:{name}`"))),
            None => Ok(()),
        },
        Program::Path(path) => match asked(path, parameters) {
            Said::Nothing => Ok(()),
            Said::Fault(fault) => Err(fault),
            Said::NotStarted(error) => Err(format!("{} cannot be started: {error}", path.display())),
            Said::Killed(signal) => {
                Err(format!("{}, asked for --check-params, {}", path.display(), node::killed_by(signal)))
            }
        },
    }
}

/// What a program says is wrong. `None`: nothing, or it does not answer such questions.
fn ask(program: &Path, parameters: &Value) -> Option<String> {
    match asked(program, parameters) {
        Said::Fault(fault) => Some(fault),
        _ => None,
    }
}

/// What came of the question.
enum Said {
    /// Nothing is wrong, or it does not answer such questions.
    Nothing,
    Fault(String),
    NotStarted(std::io::Error),
    Killed(i32),
}

fn asked(program: &Path, parameters: &Value) -> Said {
    if backtest::is_plugin(program) {
        let checked = Plugin::load(program)
            .map_err(|error| error.to_string())
            .and_then(|plugin| plugin.check(parameters));
        return checked.map_or_else(Said::Fault, |()| Said::Nothing);
    }
    let mut command = node::program::command(program);
    command.arg("--check-params");
    for (name, value) in parameters.as_object().into_iter().flatten() {
        command.arg("--param").arg(format!("{name}={value}"));
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    // Whatever it is, it is not to join a platform.
    command.env_remove(INSTANCE_VARIABLE).env_remove(NODE_VARIABLE);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Said::NotStarted(error),
    };
    let Some(mut output) = child.stdout.take() else { return Said::Nothing };
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
    let Ok(said) = said else {
        let _ = child.kill();
        let _ = child.wait();
        return Said::Nothing;
    };
    let text = String::from_utf8_lossy(&said);
    let answer = text.lines().find_map(|line| line.strip_prefix(PARAMETERS_SAID)).map(str::trim);
    if answer.is_some() {
        // It may have closed its output and still run.
        let _ = child.kill();
    }
    let ended = wait(&mut child);
    match (answer, ended) {
        (Some(""), _) => Said::Nothing,
        (Some(fault), _) => Said::Fault(fault.to_owned()),
        (None, Some(signal)) => Said::Killed(signal),
        (None, None) => Said::Nothing,
    }
}

/// The signal that ended it, if one but ours did.
fn wait(child: &mut Child) -> Option<i32> {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        match child.try_wait() {
            Ok(Some(status)) => return status.signal(),
            Ok(None) => std::thread::sleep(Duration::from_millis(1)),
            Err(_) => break,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}
