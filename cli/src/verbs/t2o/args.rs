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
    /// Measure a scenario, cell by cell, each on a fresh platform.
    #[command(after_help = "\
Examples:
  colo t2o run configs/scenarios/smoke.toml --out /tmp/smoke
  colo t2o run configs/scenarios/matrix-quick.toml --out results/mine --only A10,D10
  colo t2o run configs/scenarios/matrix-quick.toml --out results/mine --resume

Ctrl-C keeps what is finished; --resume goes on there. Cells that are not to be trusted are marked, with the reason.
The names of --format json and of the files in DIR stand in docs/t2o.md.

Exit code 1 when a platform did not come up or did not last, or when it was stopped.")]
    Run(Run),
    /// Make the report of a folder of results: HTML, Markdown, CSV and JSON.
    #[command(after_help = "\
Examples:
  colo t2o report results/mine
  colo t2o report results/mine --out /tmp/report --format json")]
    Report(Report),
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
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArguments,
    /// The folder for the results; made if it is not there.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Go on where an earlier run of the same scenario stopped.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// The folder that `colo t2o run` filled, or its t2o.json.
    pub(crate) results: PathBuf,
    /// Where the files go; beside the results when left out.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The claims for people, or all of it as one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) scenario: ScenarioArguments,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}
