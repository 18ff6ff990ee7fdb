//! The command line of `colo t2o`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::output::Format;

/// The tick-to-order matrix.
#[derive(Debug, Subcommand)]
pub(crate) enum T2oVerb {
    /// Say what a scenario will take before anything starts: cells, wall time, memory, cores.
    #[command(after_help = "\
Examples:
  colo t2o plan configs/scenarios/matrix-quick.toml
  colo t2o plan configs/scenarios/matrix.toml --only A10,D10 --format json")]
    Plan(Plan),
}

/// Which scenario, and which of its cells.
#[derive(Debug, Args)]
pub(crate) struct ScenarioArguments {
    /// The scenario file.
    pub(crate) scenario: PathBuf,
    /// Only these cells: `A10,D10`, a group `K`, a load `*10`.
    #[arg(long, value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Change one key: `--set run.repeats=1`. May be given many times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArguments,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}
