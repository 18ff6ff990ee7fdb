//! One strategy alone with a recording: everything that it read live is given to it again, in the order of the
//! recording, and what it sends is compared with what it sent.
//!
//! # What this crate guarantees
//!
//! - A frame is given when the strategy has handled all frames before it and has committed what it sends for them.
//! - Frames have their recorded positions, times and contents. Where the platform did not run in lock-step, these times are
//!   the strategy's clock, and its timers fire before the frame that passes them.
//! - The strategy has its recorded seat, and gives out the same order ids.
//! - What is missing in the recording is an error, not passed over.
//!
//! ```text
//!            ┌ Tape ── next frame ──► Stage: registry, journals ──► the strategy's process
//!  Recording │                          ▲ all handled?                     │ orders.STRATEGY
//!            └ requests of then ──► Check: the same? ◄─────────────────────┘
//! ```
//!
//! No master runs: the stage assigns the strategy's seat itself ([`stage`]).

#![forbid(unsafe_code)]

mod begin;
mod check;
mod damage;
mod error;
mod life;
mod reception;
mod run;
mod search;
pub mod stage;
mod start;
mod subject;
mod tape;

pub use check::{Difference, Input};
pub use damage::damage;
pub use error::ReplayError;
pub use run::{Options, Outcome, open, replay};
pub use search::Verdict;
