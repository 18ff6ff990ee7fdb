//! `colo strategy stop`, `start`, `reload`, `set`: one strategy, while the others trade.

use std::path::{Path, PathBuf};
use std::time::Duration;

use master_client::LaunchError;
use node::protocol::Want;
use node::{Exit, Intent, Orders, Parameters};
use observe::InstanceView;
use serde_json::Value;
use topology::{NodeKind, NodeSpec, Program, Topology};

use super::args::{OrdersArguments, Reload, Set, Start, Stop, Which};
use super::ls;
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::verbs::{instance, parameters};

/// Beside what master allows a strategy for its start or stop.
const BESIDES: Duration = Duration::from_secs(15);

pub(super) fn stop(arguments: &Stop) -> Result<u8, Failure> {
    let subject = Subject::find(&arguments.which)?;
    let orders = orders(&arguments.orders);
    subject.want(Want::Stop { orders })?;
    let what = match orders {
        Orders::Cancel => "its orders are cancelled",
        Orders::Keep => "its orders work on",
    };
    subject.done(&format!("is stopped, and {what}; `colo strategy start {}` starts it again", subject.name))
}

pub(super) fn start(arguments: &Start) -> Result<u8, Failure> {
    let subject = Subject::find(&arguments.which)?;
    let params = given(&arguments.parameters)?;
    if !params.is_empty() {
        subject.check(&subject.program(), &params)?;
    }
    subject.want(Want::Start { program: None, params })?;
    subject.done("runs")
}

pub(super) fn set(arguments: &Set) -> Result<u8, Failure> {
    let subject = Subject::find(&arguments.which)?;
    let params = given(&arguments.parameters)?;
    subject.check(&subject.program(), &params)?;
    subject.want(Want::Set { params })?;
    subject.done("took them; they hold for its later starts too")
}

pub(super) fn reload(arguments: &Reload) -> Result<u8, Failure> {
    let subject = Subject::find(&arguments.which)?;
    if let Some(host) = &subject.node.host {
        let message = format!(
            "`{}` runs in host `{host}`, whose program all strategies in it share: nothing was stopped; take `host` out of its group, and it can be reloaded",
            subject.name
        );
        return Err(Failure::new(Exit::Usage, message));
    }
    let (before, params) = (subject.program(), given(&arguments.parameters)?);
    let program = arguments.program.as_deref().map(whole).transpose()?;
    let after = program.clone().map_or_else(|| before.clone(), Program::Path);
    if arguments.fallback && after == before {
        let message = "--fallback needs another file than the one that runs: at the same path the build that ran is gone";
        return Err(Failure::new(Exit::Usage, message));
    }
    subject.check(&after, &params)?;
    if subject.runs() {
        subject.want(Want::Stop { orders: orders(&arguments.orders) })?;
    }
    match subject.want(Want::Start { program, params }) {
        Ok(()) => subject.done(&format!("runs again, from {}", shown(&after))),
        Err(Failure::Launch(LaunchError::Refused(why))) => {
            Err(subject.fell(&why, arguments.fallback, &before))
        }
        Err(other) => Err(other),
    }
}

/// The strategy that is meant.
struct Subject {
    name: String,
    view: InstanceView,
    topology: Topology,
    node: NodeSpec,
    format: Format,
}

impl Subject {
    fn find(which: &Which) -> Result<Subject, Failure> {
        let view = instance::view(which.instance.as_deref())?;
        let topology = ls::topology(&view)?;
        let strategies = topology.nodes.iter().filter(|node| node.kind == NodeKind::Strategy);
        let names: Vec<&str> = strategies.map(|node| node.name.as_str()).collect();
        let found = topology.node(&which.name).filter(|node| node.kind == NodeKind::Strategy);
        let Some(node) = found.cloned() else {
            let message = format!(
                "instance `{}` has no strategy `{}`{}",
                view.instance().name(),
                which.name,
                instance::suggestion(&which.name, &names)
            );
            return Err(Failure::new(Exit::Usage, message));
        };
        Ok(Subject { name: which.name.clone(), view, topology, node, format: which.format })
    }

    fn intent(&self) -> Intent {
        Intent::read(self.view.instance(), &self.name).unwrap_or_default()
    }

    fn program(&self) -> Program {
        ls::program(&self.topology, &self.node, &self.intent())
    }

    fn runs(&self) -> bool {
        let seat = self.view.seats_of(NodeKind::Strategy).find(|seat| seat.seat == u32::from(self.node.seat));
        seat.is_some_and(|seat| seat.alive && !seat.by_a_person)
    }

    /// Asks the program whether it takes its parameters with these over them.
    fn check(&self, program: &Program, changed: &Parameters) -> Result<(), Failure> {
        let mut all = self.intent().over(&self.node.parameters);
        all.extend(changed.clone());
        let builtin = self.node.section["builtin"].as_str();
        parameters::demand(program, builtin, &Value::Object(all)).map_err(|fault| {
            Failure::new(
                Exit::Usage,
                format!("`{}` would not take its parameters: {fault}; nothing was changed", self.name),
            )
        })
    }

    fn want(&self, want: Want) -> Result<(), Failure> {
        let master = self.topology.master();
        let patience = master.ready_timeout + master.stop_timeout + BESIDES;
        Ok(master_client::want(&self.view, &self.name, want, patience)?)
    }

    /// The new program did not get ready.
    fn fell(&self, why: &str, fallback: bool, before: &Program) -> Failure {
        let name = &self.name;
        if !fallback {
            let message = format!(
                "{why}\n`{name}` stays stopped; `colo strategy start {name}` starts what it was before"
            );
            return Failure::new(Exit::Failed, message);
        }
        let message = match self.want(Want::Start { program: None, params: Parameters::new() }) {
            Ok(()) => format!("{why}\n`{name}` runs again from {}, as before", shown(before)),
            Err(error) => {
                format!("{why}\n`{name}` stays stopped: {} does not come up either: {error}", shown(before))
            }
        };
        Failure::new(Exit::Failed, message)
    }

    fn done(&self, what: &str) -> Result<u8, Failure> {
        match self.format {
            Format::Json => output::print_json(&ls::row(&self.view, &self.topology, &self.node))?,
            Format::Text => talk!("{} {what}", self.name),
        }
        Ok(Exit::Done.code())
    }
}

fn orders(arguments: &OrdersArguments) -> Orders {
    if arguments.keep_orders { Orders::Keep } else { Orders::Cancel }
}

fn given(parameters: &[(String, Value)]) -> Result<Parameters, Failure> {
    let mut given = Parameters::new();
    for (name, value) in parameters {
        if given.insert(name.clone(), value.clone()).is_some() {
            return Err(Failure::new(Exit::Usage, format!("`{name}` is given twice: nothing was changed")));
        }
    }
    Ok(given)
}

/// Master runs in another folder.
fn whole(program: &Path) -> Result<PathBuf, Failure> {
    std::fs::canonicalize(program).map_err(Failure::system("find the program", program))
}

fn shown(program: &Program) -> String {
    match program {
        Program::Path(path) => path.display().to_string(),
        Program::Builtin(_) => "what is built in".to_owned(),
    }
}
