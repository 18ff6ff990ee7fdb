//! Facts about the host and the run, without which the results cannot be interpreted.

use serde::Serialize;

use super::Plan;
use crate::args::Settings;
use crate::error::CompareError;

/// The host and the run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct HostFacts {
    /// Model of the CPU.
    pub(crate) cpu: String,
    /// Number of CPUs.
    pub(crate) cpus: usize,
    /// Kernel.
    pub(crate) kernel: String,
    /// True on a virtual machine.
    pub(crate) virtual_machine: bool,
    /// Load average of the last minute when the run began.
    pub(crate) load: String,
    /// Version of the compiler.
    pub(crate) rustc: String,
    /// When the run began, UTC.
    pub(crate) date: String,
    /// The remark from the command line.
    pub(crate) note: Option<String>,
    /// CPUs of the roles.
    pub(crate) used_cpus: Vec<usize>,
    /// Rounds.
    pub(crate) rounds: usize,
    /// How often a disturbed block was measured again at most.
    pub(crate) repeats: usize,
    /// True for `--quick`.
    pub(crate) quick: bool,
}

fn said(program: &str, arguments: &[&str]) -> String {
    let output = std::process::Command::new(program).args(arguments).output();
    output.map_or_else(
        |_| "unknown".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

impl HostFacts {
    /// Reads the facts.
    pub(crate) fn read(plan: &Plan, settings: &Settings) -> Result<HostFacts, CompareError> {
        let mut facts = HostFacts::of(&plan.cpus, settings.quick, settings.note.as_deref())?;
        (facts.rounds, facts.repeats) = (plan.rounds, plan.repeats);
        Ok(facts)
    }

    /// Reads the facts of a run of one round.
    pub(crate) fn of(cpus: &[usize], quick: bool, note: Option<&str>) -> Result<HostFacts, CompareError> {
        let host = pinning::Host::read("/".as_ref())
            .map_err(|error| CompareError::Usage(format!("the host cannot be read: {error}")))?;
        let host = host.summary();
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Ok(HostFacts {
            cpu: host.cpu_model,
            cpus: host.allowed_cpus.len(),
            kernel: host.kernel.map(|kernel| kernel.to_string()).unwrap_or_default(),
            virtual_machine: host.virtualised.is_some(),
            load: load.split_ascii_whitespace().next().unwrap_or_default().to_owned(),
            rustc: said("rustc", &["--version"]),
            date: said("date", &["-u", "+%Y-%m-%d %H:%M UTC"]),
            note: note.map(str::to_owned),
            used_cpus: cpus.to_vec(),
            rounds: 1,
            repeats: 0,
            quick,
        })
    }
}
