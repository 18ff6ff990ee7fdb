//! Backtests over parameters, days and seeds: planned, run beside each other, kept, gone on with, judged.
//!
//! # What this crate guarantees
//!
//! - Nothing starts before every combination was checked as a platform file is; errors are shown at their place in the sweep
//!   file, all at once.
//! - The table has a row a run in the order of the grid, the same bytes whatever the number of jobs and the order in which runs
//!   end. Nothing of this host's clock is in it.
//! - A run counts as finished as long as what it was made from is the same: settings, data, programs, `colo`.
//! - It may be killed at any moment: what had ended is kept, nothing that had not is shown as a result.
//!
//! ```text
//!  sweep file, platform file ──► plan: cells ──► runner: `colo up` each ──► outcome_of ──► store: done.jsonl, table.csv
//!                                   │                                          │
//!                                 inputs: a hash a run                       shelf: what stays of the folders
//!                                                             table.csv ──► results ──► judge ──► page
//! ```
//!
//! `docs/sweeps.md` documents the file, the folder and the figures.

#![forbid(unsafe_code)]

mod config;
mod error;
mod inputs;
mod judge;
mod outcome_of;
mod page;
mod plan;
mod presence;
mod results;
mod runner;
mod sample;
mod shelf;
mod store;
mod values;

pub use config::{DayConfig, DaysConfig, Goal, Keep, MOST_RUNS, SweepConfig, is_sweep};
pub use error::SweepError;
pub use inputs::{Inputs, PluginOf};
pub use judge::{Combination, Figures, Judgement, Selection, Split, judge};
pub use page::page;
pub use plan::{Cell, Checked, Day, Parameter, ParameterCheck, Sweep, goal_of, load};
pub use results::{Results, Row};
pub use runner::{OWNER_VARIABLE, Options, Progress, Session, run};
pub use store::{
    Axis, Done, FORMAT, ListedDay, MANIFEST, Manifest, RunEnd, State, Store, TABLE, VERSION, all, costs,
    find, is_in_use, name_of, read_manifest,
};
pub use values::Value;
