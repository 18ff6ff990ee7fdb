//! colo's recorder beside logs and stores that one would pick instead: the same records, a sync a batch, in turns on one
//! disk.
//!
//! ```text
//!  batch 1:  round 1: bare │ colo │ okaywal │ …   round 2: colo │ okaywal │ … │ bare     medians over the rounds
//! ```
//!
//! Each turn begins with an empty folder and ends with a look at what is there: a store that lost a record has no figures.

mod measure;
mod report;
mod stores;

use std::io;
use std::path::PathBuf;

/// The command line.
#[derive(Clone, Debug, clap::Args)]
pub struct Settings {
    /// Fewer rounds, shorter turns.
    #[arg(long)]
    quick: bool,
    /// Folder on the disk to measure; files are in a folder of their own in it, and removed.
    #[arg(long, value_name = "FOLDER", default_value = "/var/tmp")]
    dir: PathBuf,
    /// Only these stores, by name (the bare loop and colo are always included).
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Records of a batch. [default: 1,100,1000]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=10_000))]
    batches: Vec<u32>,
    /// Rounds: each measures every store once. [default: 7, quick: 3]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,
    /// How long a turn writes, in milliseconds. [default: 250, quick: 100]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    millis: Option<u32>,
    /// Folder for durable.json and durable.md.
    #[arg(long, default_value = "results")]
    out: PathBuf,
    /// Path of docs/durable-performance.md, if it is to be written as well.
    #[arg(long)]
    docs: Option<PathBuf>,
    /// A remark that goes into the output, such as what else ran on the host.
    #[arg(long)]
    note: Option<String>,
}

/// A measurement failed.
#[derive(Debug, thiserror::Error)]
pub enum DurableError {
    /// A system call failed.
    #[error("cannot {action}: {source}")]
    System {
        /// The attempted action.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// What all others are measured by failed.
    #[error("{store}: {what}")]
    Store {
        /// Its name.
        store: &'static str,
        /// Why.
        what: String,
    },
    /// The command line asks for something that does not exist.
    #[error("{0}")]
    Usage(String),
}

pub(crate) fn system(action: &'static str) -> impl Fn(io::Error) -> DurableError {
    move |source| DurableError::System { action, source }
}

/// Measures, and reports.
///
/// # Errors
/// [`DurableError`].
pub fn compare(settings: &Settings) -> Result<(), DurableError> {
    measure::run(settings)?.write(settings)
}
