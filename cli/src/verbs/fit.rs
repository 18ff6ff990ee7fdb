//! Does a platform fit a host, as several verbs ask and print it.

use std::path::Path;

use node::Exit;
use observe::Fit;
use pinning::{Host, HostError};
use serde::Serialize;
use topology::Topology;

use crate::failure::Failure;

/// How a verb prints it.
#[derive(Debug, Serialize)]
pub(super) struct FitAnswer<'a> {
    /// Whether the platform would start here.
    fits: bool,
    plan_problems: &'a [String],
    plan_warnings: &'a [String],
    memory_problems: &'a [String],
    memory_warnings: &'a [String],
    required_problems: &'a [String],
    required_warnings: &'a [String],
}

impl<'a> FitAnswer<'a> {
    pub(super) fn of(fit: &'a Fit) -> FitAnswer<'a> {
        FitAnswer {
            fits: fit.is_good(),
            plan_problems: &fit.plan_problems,
            plan_warnings: &fit.plan_warnings,
            memory_problems: &fit.memory_problems,
            memory_warnings: &fit.memory_warnings,
            required_problems: &fit.required_problems,
            required_warnings: &fit.required_warnings,
        }
    }
}

/// One line for each that is wrong or doubtful.
pub(super) fn lines(fit: &Fit) -> String {
    let problems = fit.problems().map(|text| format!("does not fit: {text}\n"));
    let warnings = fit.warnings().map(|text| format!("warning: {text}\n"));
    problems.chain(warnings).collect()
}

pub(super) fn host(root: &Path) -> Result<Host, Failure> {
    Host::read(root).map_err(no_host)
}

pub(super) fn fit(topology: &Topology, root: &Path) -> Result<Fit, Failure> {
    Fit::of(topology, root).map_err(no_host)
}

fn no_host(error: HostError) -> Failure {
    Failure::new(Exit::Failed, error.to_string())
}

/// Asks the running host before anything starts. Warnings go to standard error.
///
/// # Errors
/// The host is not fit: the plan, the memory, or a check of the doctor that the plan requires.
pub(super) fn demand(topology: &Topology) -> Result<(), Failure> {
    let root = Path::new("/");
    let fit = fit(topology, root)?.with_required(topology, root);
    for warning in fit.warnings() {
        talk!("warning: {warning}");
    }
    if fit.is_good() {
        return Ok(());
    }
    let lines: String = fit.problems().map(|line| format!("\n  {line}")).collect();
    Err(Failure::new(Exit::HostUnfit, format!("this host does not fit the platform:{lines}")))
}
