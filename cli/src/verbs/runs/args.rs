//! The command line of `colo runs`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use settings::ByteSize;

use crate::output::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum RunsVerb {
    /// List the runs, the oldest first.
    #[command(after_help = "\
Examples:
  colo runs ls
  colo runs ls --dir results --format json

A run that was killed is `unfinished`: its files hold what had been written by then.")]
    Ls(Ls),
    /// Show what came of a run.
    #[command(after_help = "\
Examples:
  colo runs show
  colo runs show runs/replay-20261123T174845Z --format json")]
    Show(One),
    /// Compare two runs: which differences are more than noise.
    #[command(after_help = "\
Examples:
  colo runs compare runs/replay-20261123T174845Z runs/replay-20261123T175102Z
  colo runs compare A B --format json

Two runs in lock-step differ where their files do: the first order and the first fill that differ are shown, and any difference is
real. Of live runs, tick-to-order times and what a closing fill realised are compared by an interval for the difference of
the means: a moving-block bootstrap over the run's own sequence, 2,000 times with a fixed seed, 95 %. A difference
whose interval holds zero is noise.
Exit code 4 when runs in lock-step differ, or a live difference is more than noise; 5 when there is too little to tell.")]
    Compare(Compare),
    /// Make one HTML page of a run.
    #[command(after_help = "\
Examples:
  colo runs report                                  of the latest run, as report.html in its folder
  colo runs report runs/replay-20261123T174845Z --to page.html")]
    Report(Page),
    /// Remove old runs.
    #[command(after_help = "\
Examples:
  colo runs clean --dry-run                         what would go by the rules of `colo up`
  colo runs clean --keep-for 7d --keep-bytes 1GiB

Runs that go on, folders with a file `keep` in them and what is no run's folder stay.")]
    Clean(Clean),
}

/// Where the runs are.
#[derive(Debug, Args)]
pub(crate) struct Dir {
    /// The folder of the runs: by default COLO_RUNS, or runs in the current folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Ls {
    #[command(flatten)]
    pub(crate) dir: Dir,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct One {
    /// A run's folder, or its name among the runs; the latest when left out.
    pub(crate) run: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) dir: Dir,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// A run's folder, or its name among the runs.
    pub(crate) one: PathBuf,
    /// Another.
    pub(crate) other: PathBuf,
    #[command(flatten)]
    pub(crate) dir: Dir,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Page {
    /// A run's folder, or its name among the runs; the latest when left out.
    pub(crate) run: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) dir: Dir,
    /// The file; report.html in the run's folder when left out.
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Clean {
    #[command(flatten)]
    pub(crate) dir: Dir,
    /// Runs that are older go; 0s: none for its age.
    #[arg(long, value_name = "TIME", default_value = "90d", value_parser = humantime::parse_duration)]
    pub(crate) keep_for: Duration,
    /// Beyond so many bytes of all, the oldest go; 0B: none for its size.
    #[arg(long, value_name = "BYTES", default_value = "4GiB", value_parser = byte_size)]
    pub(crate) keep_bytes: ByteSize,
    /// Only say what would go.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

fn byte_size(text: &str) -> Result<ByteSize, String> {
    serde_json::from_value(serde_json::Value::String(text.to_owned())).map_err(|error| error.to_string())
}
