//! Bringing a platform up, watching it run, taking it down: what a user asks of master.
//!
//! A user of shared memory and of master's socket, nothing more: it starts the master process, and all else it knows comes
//! from [`observe`]. It is a crate beside master and no part of it, because it needs nothing of master's supervision,
//! nor does master of the view from outside.
//!
//! ```text
//!  Launch::start ──► `colo run master` ──► instance in /dev/shm ◄── attach
//!        │                                        │ registry, journals
//!        ▼                                        ▼
//!  Running::watch ◄── td.samples ───────── Collector: every order's times, for measurements
//!        │
//!        ▼
//!  Running::finish ──► stop nodes ──► Report ──► remove the instance ◄── force
//! ```

#![forbid(unsafe_code)]

mod attach;
mod dead_senders;
mod down;
mod ending;
mod error;
#[cfg(test)]
mod fixture;
mod force;
mod orphans;
mod processes;
mod running;
mod start;
mod want;

pub use attach::attach;
pub use error::LaunchError;
pub use force::{Forced, force};
pub use orphans::is_first_process;
pub use processes::{Member, mapping, members};
pub use running::{End, Running};
pub use start::{Launch, Recover};
pub use want::want;
