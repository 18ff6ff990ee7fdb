//! A program of its own beside `compare`, so that it is built without the rivals of the journals.

use std::process::ExitCode;

use clap::Parser;

/// colo's recorder beside logs and stores that one would pick instead: the same records, a sync a batch.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Examples:\n  compare-durable --quick\n  compare-durable --dir /data --docs ../docs/durable-performance.md\n\nWrites durable.json and durable.md.\n\nExit codes: 0 measured, 1 failed, 2 usage."
)]
struct Args {
    #[command(flatten)]
    settings: compare_durable::Settings,
}

fn main() -> ExitCode {
    match compare_durable::compare(&Args::parse().settings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("compare-durable: {error}");
            ExitCode::from(if matches!(error, compare_durable::DurableError::Usage(_)) { 2 } else { 1 })
        }
    }
}
