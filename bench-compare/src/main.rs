//! Compares colo's journals with the alternatives that one would otherwise choose: the same work, the same host, the
//! same minutes.
//!
//! One program. As the *driver* it shuffles the rivals, starts the peers of one measurement (a *block*) as child
//! processes of itself, and proceeds in rounds: A B C A B C …. A disturbed block is repeated. As a *peer* it performs
//! one role of one block and prints what it measured.
//!
//! ```text
//!   driver ── round 1: [pipe] [colo] [iceoryx2] …   round 2: [iceoryx2] [pipe] [colo] …        rounds.rs
//!                │
//!                ├─ role 0: creates, measures ─┐  the same cores for all, a fresh folder in /dev/shm each time
//!                └─ role 1: opens, answers   ──┘  works/, over the traits in rival.rs
//! ```
//!
//! Matching engines are a verb of their own (`compare matching`): one process, in turns; `matching/`.
//!
//! Each rival is one file in `rivals/`; each kind of work one file in `works/`, the same code for every rival.

mod args;
mod board;
mod driver;
mod error;
mod matching;
mod peer;
mod place;
mod report;
mod rival;
mod rivals;
mod role;
mod task;
mod works;

use std::process::ExitCode;

use clap::Parser as _;

/// Measures, and reports.
fn compare(settings: &args::Settings) -> Result<(), error::CompareError> {
    let report = report::Report::new(driver::run(settings)?);
    report.write(settings)?;
    eprintln!("{:.1} minutes; results in {}", report.minutes, settings.out.display());
    Ok(())
}

fn main() -> ExitCode {
    let outcome = match args::Args::parse().command {
        Some(args::Command::Peer { role, task }) => peer::run(role, &task),
        Some(args::Command::Helper { name, room }) => rivals::run_helper(&name, &room),
        Some(args::Command::List) => {
            driver::list();
            Ok(())
        }
        Some(args::Command::Matching(arguments)) => matching::compare(&arguments),
        None => compare(&args::Args::parse().settings),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("compare: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
