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
    /// Compare two folders of results cell by cell: improved, worse, no change, or inconclusive.
    #[command(after_help = "\
Examples:
  colo t2o compare results/before results/after
  colo t2o compare results/before results/after --tolerance 0.1 --format json

The figure is the median t2o of each run. The intervals of all cells hold together with 95 %, from five runs a side on
(--set run.repeats=5); fewer are inconclusive, and so are cells that were disturbed or measured under another load. Exit
code 4 when a cell is worse beyond the tolerance or the raw files say otherwise, 5 when nothing can be said, 3 when the
hosts differ (--any-host compares all the same).")]
    Compare(Compare),
    /// Find by measuring how many strategies this host carries.
    #[command(after_help = "\
Examples:
  colo t2o capacity --rate 100 --target-p99 200us
  colo t2o capacity --rate 10 --think 20us --target-p99 1ms --plan configs/scenarios/matrix-quick.toml --group C
  colo t2o capacity --rate 100 --target-p99 200us --format json

Each strategy has an instrument of its own, quoted --rate times a second. A number of strategies is carried when the 99th
percentile of t2o, counted from when md's schedule wanted the quote, is within the target, md keeps its rate, every answer
comes, and no more than a twentieth of them after the end. Stopped before its end, it says nothing: exit code 1.")]
    Capacity(Capacity),
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
pub(crate) struct Compare {
    /// The first folder, or its t2o.json.
    pub(crate) before: PathBuf,
    /// The second.
    pub(crate) after: PathBuf,
    /// Share of the first figure that counts as no change.
    #[arg(long, default_value_t = 0.05, value_parser = share)]
    pub(crate) tolerance: f64,
    /// Compare figures of different hosts too.
    #[arg(long)]
    pub(crate) any_host: bool,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// A share from 0 to 10.
fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=10.0).contains(&share) => Ok(share),
        _ => Err("a share from 0 to 10 is wanted: 0.05 is five per cent".to_owned()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct Capacity {
    /// Quotes a second for each strategy.
    #[arg(long)]
    pub(crate) rate: f64,
    /// How long a strategy computes between a quote and its order.
    #[arg(long, default_value = "0s")]
    pub(crate) think: String,
    /// The 99th percentile of t2o that is still good enough.
    #[arg(long, value_name = "TIME")]
    pub(crate) target_p99: String,
    /// A scenario that has the group to run; the kernel places all nodes when left out.
    #[arg(long, value_name = "SCENARIO", requires = "group")]
    pub(crate) plan: Option<PathBuf>,
    /// Which group of the scenario.
    #[arg(long, requires = "plan")]
    pub(crate) group: Option<String>,
    /// The search goes no further.
    #[arg(long, default_value_t = 320, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) most: u32,
    /// Fresh platforms for each number of strategies.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeats: u32,
    /// How long each of them is measured.
    #[arg(long, default_value = "3s")]
    pub(crate) seconds: String,
    /// Text for people, or one JSON object.
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
