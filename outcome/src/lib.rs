//! What a run leaves behind: a folder with its orders, fills, equity, times and logs, made while it goes.
//!
//! # What this crate guarantees
//!
//! - Nothing waits for it: its readers have no seat. What they miss is in the folder, by journal, in bytes.
//! - The same run in lock-step gives the same tables, byte for byte, in one process and over many.
//! - A disk that takes no more ends the folder and not the run; the manifest and the caller are told.
//! - A run that is killed leaves a folder that says so.
//!
//! ```text
//!  journals ──► follow ──► fold ──► sheets (CSV) ──┐
//!  report, platform file, logs, hashes of the data ┴──► run.json ──► shelf: ls, clean ──► compare, page
//! ```
//!
//! `docs/runs.md` documents the files.

#![forbid(unsafe_code)]

pub mod compare;
mod data;
mod fold;
mod follow;
mod logs;
mod manifest;
pub mod page;
mod power;
mod sheet;
pub mod shelf;
mod table;
mod whole;
mod worker;
mod write;

pub use data::{FileMark, files_below};
pub use fold::{Halts, Measure, strategy_measures};
pub use follow::Missed;
pub use manifest::{FORMAT, MANIFEST, Manifest, Mode, RunState, VERSION, Writer};
pub use power::PowerSums;
pub use sheet::{Listed, ListedColumn};
pub use whole::faults;
pub use write::{About, Place, RunWriter, RunsError, Written, make_folder};
