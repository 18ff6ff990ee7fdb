//! `colo check`: is a platform file good, and would it start on this host?

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;
use serde_json::json;
use topology::Platform;

use super::fit::{self, FitAnswer};
use super::parameters;
use crate::args::Check;
use crate::failure::Failure;
use crate::output::{self, Format, bytes, count};

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
    if let Some(file) = arguments.platform.file.as_ref().filter(|file| is_sweep(file)) {
        return super::sweep::plan::check(file, &arguments.platform.sets, arguments.format);
    }
    let platform = super::platform(&arguments.platform)?;
    let topology = &platform.topology;
    let unfit = parameters::faults(topology);
    if !unfit.is_empty() {
        return Err(Failure::new(node::Exit::Usage, unfit.join("\n")));
    }
    let bill = topology.memory_bill();
    let fit = fit::fit(topology, &arguments.root)?.with_required(topology, &arguments.root);
    let accounts = Accounts::of(&platform)?;
    match arguments.format {
        Format::Json => output::print_json(&json!({
            "file": platform.file,
            "instance": topology.instance,
            "nodes": topology.nodes.len(),
            "journals": topology.journals.len(),
            "warnings": platform.warnings.diagnostics.len(),
            "accounts": accounts,
            "memory": bill,
            "fit": FitAnswer::of(&fit),
        }))?,
        Format::Text => output::print(&format!(
            "{} is good: instance {}, {} nodes, {} journals, {} of shared memory\n{}{}",
            platform.file,
            topology.instance,
            topology.nodes.len(),
            topology.journals.len(),
            bytes(total_bytes(&platform)),
            accounts.as_ref().map_or(String::new(), Accounts::text),
            fit::lines(&fit),
        ))?,
    }
    let exit = if fit.is_good() { node::Exit::Done } else { node::Exit::HostUnfit };
    Ok(exit.code())
}

/// What a platform file says of accounts.
#[derive(Debug, Serialize)]
struct Accounts {
    accounts: usize,
    groups: usize,
    /// Rows of what is true of instruments.
    contracts: usize,
}

impl Accounts {
    /// `None` where no accounts are kept.
    fn of(platform: &Platform) -> Result<Option<Accounts>, Failure> {
        let config = &platform.config;
        if !config.keeps_accounts() {
            return Ok(None);
        }
        let mut groups: BTreeSet<u32> = config.accounts.iter().map(|account| account.group).collect();
        let mut accounts = config.accounts.len();
        if let Some(file) = &config.desk.file {
            let listed = topology::desk::read_accounts(Path::new(file))
                .map_err(|what| Failure::new(node::Exit::Usage, what))?;
            accounts += listed.len();
            groups.extend(listed.iter().map(|account| account.group));
        }
        groups.remove(&0);
        Ok(Some(Accounts { accounts, groups: groups.len(), contracts: config.desk.contracts.len() }))
    }

    fn text(&self) -> String {
        let Accounts { accounts, groups, contracts } = self;
        format!(
            "{}, {}, {}\n",
            count(*accounts as u64, "account"),
            count(*groups as u64, "group"),
            count(*contracts as u64, "rule") + " of contracts"
        )
    }
}

/// A file that cannot be read is reported as a platform file.
fn is_scenario(file: &Path) -> bool {
    std::fs::read_to_string(file).is_ok_and(|text| bench_harness::t2o::scenario::is_scenario(&text))
}

fn is_sweep(file: &Path) -> bool {
    std::fs::read_to_string(file).is_ok_and(|text| ::sweep::is_sweep(&text))
}

fn total_bytes(platform: &Platform) -> u64 {
    platform.topology.journals.iter().map(|journal| journal.capacity_bytes).sum()
}
