//! Bringing a platform up, watching it run, taking it down, and saying what came of it.
//!
//! The launcher is a user of shared memory and of master's socket, nothing more: it starts the master process, and
//! everything else it knows it reads from the instance's directory, as anybody could.
//!
//! ```text
//!  Launch::start ──► `colo run master` ──► instance in /dev/shm
//!        │                                        │ registry, journals
//!        ▼                                        ▼
//!  Running::watch ◄── td.samples ───────── Collector: every order's times, for measurements
//!        │
//!        ▼
//!  Running::finish ──► stop nodes ──► Report ──► remove the instance
//! ```

#![forbid(unsafe_code)]

mod collect;
mod down;
mod error;
mod force;
mod irregular;
mod orphans;
mod processes;
mod report;
mod running;
mod stages;
mod stains;
mod start;
mod totals;

pub use collect::Collector;
pub use down::{Down, attach};
pub use error::LaunchError;
pub use force::{Forced, force};
pub use irregular::Irregular;
pub use orphans::is_first_process;
pub use processes::{Member, mapping, members};
pub use report::{NodeOutcome, Position, Report, SourceCounts, StrategyReport, profit};
pub use running::{End, Running};
pub use stages::{StageSummary, Stages};
pub use stains::JournalMemory;
pub use start::Launch;
pub use totals::{Lost, Requests, StrategyTotals, Totals};
