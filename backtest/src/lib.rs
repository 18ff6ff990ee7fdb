//! A platform in lock-step on one thread.
//!
//! The nodes are the ones that processes run, with their journals, in the order of their seats: md publishes one message, the
//! others are turned until none of them has anything to do, md publishes the next. Lock-step over processes lets nothing else
//! happen either, so both give the same orders and fills; here no message waits for a process to wake up.
//!
//! ```text
//!  Embedded (an instance without processes)
//!     │ seats                ┌──────────── until nobody has anything to do ───────────┐
//!     ▼                      ▼                                                        │
//!   md: one message ──► td ─► matching ─► ledger ─► strategies, hosts ─► recorders ───┘
//!     ▲                                                                │ idle
//!     └────────────────────────────────────────────────────────────────┘
//! ```
//!
//! From outside it is an instance like any other: `colo status`, `colo top` and `colo journal` look at it while it runs.

#![forbid(unsafe_code)]

mod crew;
mod error;
mod fit;
mod part;
mod plugins;
mod run;

pub use error::BacktestError;
pub use fit::unfit;
pub use part::Maker;
pub use plugin::Plugin;
pub use plugins::{Plugins, is_plugin, plugin_of};
pub use run::{Outcome, Progress, Unwatched, Witness, run};
