//! `colo check`: is a platform file good, and would it start on this host?

use std::path::Path;

use serde_json::json;
use topology::Platform;

use super::fit::{self, FitAnswer};
use crate::args::Check;
use crate::failure::Failure;
use crate::output::{self, Format, bytes};

pub(crate) fn check(arguments: &Check) -> Result<u8, Failure> {
    if let Some(file) = arguments.platform.file.as_ref().filter(|file| is_scenario(file)) {
        return super::t2o::plan::plan(&super::t2o::args::Plan {
            scenario: super::t2o::args::ScenarioArguments {
                scenario: file.clone(),
                only: Vec::new(),
                sets: arguments.platform.sets.clone(),
            },
            format: arguments.format,
        });
    }
    let platform = super::platform(&arguments.platform)?;
    let topology = &platform.topology;
    let bill = topology.memory_bill();
    let fit = fit::fit(topology, &arguments.root)?.with_required(topology, &arguments.root);
    match arguments.format {
        Format::Json => output::print_json(&json!({
            "file": platform.file,
            "instance": topology.instance,
            "nodes": topology.nodes.len(),
            "journals": topology.journals.len(),
            "warnings": platform.warnings.diagnostics.len(),
            "memory": bill,
            "fit": FitAnswer::of(&fit),
        }))?,
        Format::Text => output::print(&format!(
            "{} is good: instance {}, {} nodes, {} journals, {} of shared memory\n{}",
            platform.file,
            topology.instance,
            topology.nodes.len(),
            topology.journals.len(),
            bytes(total_bytes(&platform)),
            fit::lines(&fit),
        ))?,
    }
    let exit = if fit.is_good() { node::Exit::Done } else { node::Exit::HostUnfit };
    Ok(exit.code())
}

/// A file that cannot be read is reported as a platform file.
fn is_scenario(file: &Path) -> bool {
    std::fs::read_to_string(file).is_ok_and(|text| bench_harness::t2o::scenario::is_scenario(&text))
}

fn total_bytes(platform: &Platform) -> u64 {
    platform.topology.journals.iter().map(|journal| journal.capacity_bytes).sum()
}
