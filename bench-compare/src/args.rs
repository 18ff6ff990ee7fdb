//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Compares colo's journals with the alternatives that one would otherwise choose, in one run on this host.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Examples:\n  compare --quick                          under five minutes\n  compare --out results                    the full run\n  compare --quick --only colo,pipe         these two, with the floor\n  compare --quick --works ping,sleepers    these works only\n  compare list                             who takes part, who cannot and why\n  compare matching --quick                 matching engines instead of journals\n\nExit codes: 0 measured, 1 failed, 2 usage."
)]
pub(crate) struct Args {
    /// The action; without one, measure.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Settings of the measurement.
    #[command(flatten)]
    pub(crate) settings: Settings,
}

/// Further actions.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Prints the rivals with their settings, and those that cannot take part with the reason.
    List,
    /// colo's exchange beside other matching engines: the same operations, in turns.
    #[command(
        after_help = "Examples:\n  compare matching                                     all engines, mixes and levels\n  compare matching --quick --mixes mixed --levels 1000\n  compare matching --only matchcore,lobster\n\nWrites matching.json and matching.md. An engine that does not match as the others do has no figures, and the table says so."
    )]
    Matching(MatchingArgs),
    /// One role of one block; for the driver's use.
    #[command(hide = true)]
    Peer {
        /// Number of the role.
        role: usize,
        /// The block, as JSON.
        task: String,
    },
    /// A process that a rival needs beside its peers; for the driver's use.
    #[command(hide = true)]
    Helper {
        /// The helper.
        name: String,
        /// Folder of the block.
        room: PathBuf,
    },
}

/// Settings of the measurement.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Settings {
    /// Fewer round trips, shorter runs, two rounds: under five minutes.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Rounds: each measures every rival once, in a new order. [default: 7, quick: 2]
    #[arg(long)]
    pub(crate) rounds: Option<usize>,
    /// Only these rivals, by name (colo and the floors are always included).
    #[arg(long, value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Only these works: ping, asleep, one-way, sleepers, deaths.
    #[arg(long, value_delimiter = ',')]
    pub(crate) works: Vec<String>,
    /// Round trips of one block; replaces the default of 150,000 (1,000 asleep; quick: 20,000 and 200).
    #[arg(long)]
    pub(crate) trips: Option<u64>,
    /// How long one block writes, in milliseconds. [default: 500, sleepers 1000; quick: 200 and 500]
    #[arg(long)]
    pub(crate) millis: Option<u64>,
    /// Sleeping readers.
    #[arg(long, default_value_t = 80)]
    pub(crate) sleepers: usize,
    /// Writers that are killed. [default: 20, quick: 3]
    #[arg(long)]
    pub(crate) kills: Option<usize>,
    /// How often a disturbed block is measured again. [default: 2, quick: 1]
    #[arg(long)]
    pub(crate) repeats: Option<usize>,
    /// CPUs: the writer or measuring side first, then the others, in rotation. [default: the last four, last first]
    #[arg(long, value_delimiter = ',')]
    pub(crate) cpus: Vec<usize>,
    /// Folder for compare.json, compare.md and compare.svg.
    #[arg(long, default_value = "results")]
    pub(crate) out: PathBuf,
    /// Path of docs/performance.md, if it is to be written as well.
    #[arg(long)]
    pub(crate) docs: Option<PathBuf>,
    /// A remark that goes into the output, such as what else ran on the host.
    #[arg(long)]
    pub(crate) note: Option<String>,
}

/// Settings of the comparison of matching engines.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct MatchingArgs {
    /// Fewer operations and turns.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only these engines, by name (colo and the bare ladder are always included).
    #[arg(long, value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Only these mixes: mixed, calm, volatile, crash.
    #[arg(long, value_delimiter = ',')]
    pub(crate) mixes: Vec<bench_kit::flow::Mix>,
    /// Price levels of both sides together. [default: 10,100,1000,10000]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub(crate) levels: Vec<u32>,
    /// Operations of each flow. [default: 200000, quick: 50000]
    #[arg(long)]
    pub(crate) operations: Option<usize>,
    /// Turns of each flow. [default: 7, quick: 3]
    #[arg(long)]
    pub(crate) turns: Option<usize>,
    /// CPU of the engines. [default: the last]
    #[arg(long)]
    pub(crate) cpu: Option<usize>,
    /// Folder for matching.json and matching.md.
    #[arg(long, default_value = "results")]
    pub(crate) out: PathBuf,
    /// A remark that goes into the output, such as what else ran on the host.
    #[arg(long)]
    pub(crate) note: Option<String>,
}
