//! `colo strategy ls`.

use node::{Exit, Hold, Intent, Parameters};
use observe::{InstanceView, Seated};
use serde::Serialize;
use serde_json::{Value, json};
use topology::{NodeKind, NodeSpec, Program, Topology};

use super::args::Ls;
use crate::failure::Failure;
use crate::output::{self, Format, table};
use crate::verbs::instance;

/// One strategy.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    node: String,
    state: String,
    pid: u32,
    starts: u64,
    host: Option<String>,
    program: String,
    stopped: Option<Hold>,
    set: Parameters,
    params: Parameters,
}

pub(super) fn ls(arguments: &Ls) -> Result<u8, Failure> {
    let view = instance::view(arguments.instance.name())?;
    let topology = topology(&view)?;
    let strategies = topology.nodes.iter().filter(|node| node.kind == NodeKind::Strategy);
    let rows: Vec<Row> = strategies.map(|node| row(&view, &topology, node)).collect();
    match arguments.format {
        Format::Json => {
            output::print_json(&json!({ "instance": view.instance().name(), "strategies": rows }))?
        }
        Format::Text => output::print(&text(&rows))?,
    }
    Ok(Exit::Done.code())
}

/// What an instance was made from.
pub(super) fn topology(view: &InstanceView) -> Result<Topology, Failure> {
    view.topology().map_err(Failure::system("read", &view.instance().topology()))
}

/// How one strategy stands.
pub(super) fn row(view: &InstanceView, topology: &Topology, node: &NodeSpec) -> Row {
    let seat = view.seats_of(NodeKind::Strategy).find(|seat| seat.seat == u32::from(node.seat));
    let intent = Intent::read(view.instance(), &node.name).unwrap_or_default();
    Row {
        node: node.name.clone(),
        state: seat.as_ref().map_or("empty".to_owned(), |seat| Seated::of(seat).state),
        pid: seat.as_ref().map_or(0, |seat| Seated::of(seat).pid),
        starts: seat.as_ref().map_or(0, |seat| seat.generation),
        host: node.host.clone(),
        program: match program(topology, node, &intent) {
            Program::Path(path) => path.display().to_string(),
            Program::Builtin(name) => {
                let name = node.section["builtin"].as_str().map_or(name, str::to_owned);
                format!("builtin:{name}")
            }
        },
        stopped: intent.stopped,
        params: intent.over(&node.parameters),
        set: intent.params,
    }
}

/// What a strategy is started from.
pub(super) fn program(topology: &Topology, node: &NodeSpec, intent: &Intent) -> Program {
    let host = node.host.as_ref().and_then(|host| topology.node(host));
    intent.program.clone().map_or_else(|| host.unwrap_or(node).program.clone(), Program::Path)
}

fn text(rows: &[Row]) -> String {
    let head = ["strategy", "state", "pid", "starts", "host", "program", "set"];
    let set = |set: &Parameters| match set.is_empty() {
        true => "-".to_owned(),
        false => {
            let set: Vec<String> =
                set.iter().map(|(name, value)| format!("{name}={}", plain(value))).collect();
            set.join(" ")
        }
    };
    table(
        &head,
        2,
        rows.iter().map(|row| {
            let kept = match row.stopped {
                Some(Hold { orders: node::Orders::Keep, .. }) => "; its orders work on",
                _ => "",
            };
            vec![
                row.node.clone(),
                format!("{}{kept}", row.state),
                if row.pid == 0 { "-".to_owned() } else { row.pid.to_string() },
                row.starts.to_string(),
                row.host.clone().unwrap_or("-".to_owned()),
                row.program.clone(),
                set(&row.set),
            ]
        }),
    )
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
