//! `colo t2o`: the tick-to-order matrix.

pub(crate) mod args;
mod capacity;
mod compare;
pub(crate) mod plan;
mod report;
mod run;

use std::path::Path;

use bench_harness::t2o::scenario::{self, Cell, Scenario};
use bench_harness::t2o::{Plan, Results, Store};
use node::Exit;
use pinning::Host;

use crate::failure::Failure;
use args::{ScenarioArguments, T2oVerb};

pub(crate) fn run(verb: &T2oVerb) -> Result<u8, Failure> {
    match verb {
        T2oVerb::Plan(arguments) => plan::plan(arguments),
        T2oVerb::Run(arguments) => run::run(arguments),
        T2oVerb::Compare(arguments) => compare::compare(arguments),
        T2oVerb::Capacity(arguments) => capacity::capacity(arguments),
        T2oVerb::Report(arguments) => report::report(arguments),
    }
}

/// The checked scenario, with its warnings said.
fn scenario(arguments: &ScenarioArguments) -> Result<Scenario, Failure> {
    let scenario = scenario::load(&arguments.scenario, &arguments.sets)?;
    if !scenario.warnings.diagnostics.is_empty() {
        talk!("{}", scenario.warnings.render(std::io::IsTerminal::is_terminal(&std::io::stderr())));
    }
    for wanted in &arguments.only {
        if !scenario.cells.iter().any(|cell| names(wanted, cell)) {
            let groups: Vec<&str> = scenario.config.group.iter().map(|group| group.name.as_str()).collect();
            return Err(Failure::new(
                Exit::Usage,
                format!(
                    "--only {wanted}: {} has no such cell; its groups are {}, its loads 1 to {}",
                    scenario.file,
                    groups.join(", "),
                    scenario.config.load.len()
                ),
            ));
        }
    }
    Ok(scenario)
}

/// Whether `wanted` (`A10`, `A`, `*10`) names this cell.
fn names(wanted: &str, cell: &Cell) -> bool {
    wanted == cell.name || wanted == cell.group || wanted.strip_prefix('*') == Some(&cell.load.to_string())
}

fn is_chosen(arguments: &ScenarioArguments, cell: &Cell) -> bool {
    arguments.only.is_empty() || arguments.only.iter().any(|wanted| names(wanted, cell))
}

fn host() -> Result<Host, Failure> {
    Host::read("/".as_ref())
        .map_err(|error| Failure::new(Exit::HostUnfit, format!("cannot read the host's topology: {error}")))
}

fn plan_of(scenario: &Scenario, arguments: &ScenarioArguments) -> Result<Plan, Failure> {
    Plan::of(scenario, &host()?, |cell| is_chosen(arguments, cell)).map_err(|problems| {
        let list = problems.join("\n  ");
        Failure::new(
            Exit::HostUnfit,
            format!("{} does not fit this host:\n  {list}\nset pin.on_small_host = \"remap\" in [base.pin], or --only other groups", scenario.file),
        )
    })
}

/// Results whose figures are those of their raw files. Where there are none, it is said so.
fn checked(path: &Path) -> Result<Results, Failure> {
    let checked = Store::results(path)?;
    if !checked.from_raw {
        talk!("{}: no raw files lie beside it; its figures cannot be checked", path.display());
    }
    Ok(checked.results)
}
