//! The command line of `colo sweep`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::output::Format;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  colo sweep configs/sweeps/maker.toml --dry-run      what would run, and about how long
  colo sweep configs/sweeps/maker.toml
  colo sweep --resume sweeps/maker-20261123T174845Z   go on after Ctrl-C, kill -9 or a crash
  colo sweep show                                     the latest: combinations, and what the best one is worth
  colo sweep report                                   heat maps, as one HTML page

The file names a platform file, [parameters] with lists or ranges, [days] and seeds; every combination is checked before
anything starts. Each run is a process of `colo up`. The table is the same whatever the number of jobs.
Exit codes: 0 all runs finished; 1 some failed; 2 the file is wrong; 4 what finished runs were made from has changed;
130 interrupted."
)]
pub(crate) struct Sweep {
    #[command(subcommand)]
    pub(crate) verb: Option<SweepVerb>,
    #[command(flatten)]
    pub(crate) run: SweepRun,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SweepVerb {
    /// Show the combinations of a sweep, the best first, and how much of the best one's lead may be luck.
    #[command(after_help = "\
Examples:
  colo sweep show
  colo sweep show sweeps/maker-20261123T174845Z --top 5
  colo sweep show --sort worst                  by the worst day
  colo sweep show --measure pnl --split 0.7     by another measure; the first 70 % of the days choose, the others judge

Combinations are ranked on the days to train with. mean, sd and worst are over days: a day counts once, as the mean
over its seeds. docs/sweeps.md has the formulas of what is said below the table.")]
    Show(Show),
    /// Make one HTML page of a sweep: heat maps, days side by side, the table.
    #[command(after_help = "\
Examples:
  colo sweep report                             of the latest sweep, as report.html in its folder
  colo sweep report sweeps/maker-20261123T174845Z --to page.html")]
    Report(Report),
    /// List the sweeps, the oldest first.
    #[command(after_help = "\
Examples:
  colo sweep ls
  colo sweep ls --dir sweeps --format json")]
    Ls(Ls),
}

/// What runs again of what has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rerun {
    /// Runs that were made from other settings, data or programs than there are now.
    Changed,
    /// Runs that failed or took too long.
    Failed,
}

#[derive(Debug, Args)]
pub(crate) struct SweepRun {
    /// The sweep file; with --resume by default the one that the folder was begun with.
    pub(crate) file: Option<PathBuf>,
    /// Change one key of the sweep file: `--set sample=20`. May be given many times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
    /// The sweep's folder; sweeps/NAME-TIME when left out.
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub(crate) out: Option<PathBuf>,
    /// Go on in the folder of an earlier sweep: what has ended there is kept.
    #[arg(long, value_name = "DIR")]
    pub(crate) resume: Option<PathBuf>,
    /// What runs again of what has ended there.
    #[arg(long, value_enum, value_delimiter = ',', requires = "resume")]
    pub(crate) rerun: Vec<Rerun>,
    /// Runs at a time, instead of the file's `jobs`.
    #[arg(short, long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) jobs: Option<u32>,
    /// Only check, and say what would run, what it takes and about how long.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// A sweep's folder, or its name among the sweeps; the latest when left out.
    pub(crate) sweep: Option<PathBuf>,
    /// The measure to compare by, instead of the file's.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) measure: Option<String>,
    /// Sort by this: mean, sd, worst, test, a parameter, or the mean of another measure, which is shown then.
    #[arg(long, value_name = "COLUMN", default_value = "mean")]
    pub(crate) sort: String,
    /// The worst first.
    #[arg(long)]
    pub(crate) reverse: bool,
    /// Only so many combinations.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) top: Option<usize>,
    /// Other days for the test than the file's: a share of the days to train with (0.7), or the days for the test by name (A,B).
    #[arg(long, value_name = "SHARE|DAYS")]
    pub(crate) split: Option<String>,
    /// The folder of the sweeps.
    #[arg(long, value_name = "DIR", default_value = "sweeps")]
    pub(crate) dir: PathBuf,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// A sweep's folder, or its name among the sweeps; the latest when left out.
    pub(crate) sweep: Option<PathBuf>,
    /// The file; report.html in the sweep's folder when left out.
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// The folder of the sweeps.
    #[arg(long, value_name = "DIR", default_value = "sweeps")]
    pub(crate) dir: PathBuf,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Ls {
    /// The folder of the sweeps.
    #[arg(long, value_name = "DIR", default_value = "sweeps")]
    pub(crate) dir: PathBuf,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}
