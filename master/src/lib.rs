//! The process that owns an instance: its directory, its journals, its seats, and the lives of its nodes.
//!
//! # What this crate guarantees
//!
//! - One master an instance, held by a lock that the kernel drops with the process.
//! - Everything that the nodes need is made, whole, before the first of them starts; what cannot be made is an error
//!   that names it, and nothing is left behind.
//! - A node's death is noticed through its pidfd. Its seat is marked, its gated cursors are held or dropped as the
//!   topology says, and it is started again as its policy says.
//! - Matching that is not to be started again is started once more, to close the market: its orders end, and nobody waits
//!   for it.
//! - No data passes through master. When it dies the platform runs on; the next master takes the running nodes over.
//!
//! ```text
//!            fresh                      all running                 asked to stop
//!  claim ──► setup ──► start nodes ──► supervise ───────────────► stop nodes ──► remove the instance
//!    │                     ▲               ▲   │ a node died
//!    └── adopt ────────────┴───────────────┘   └─► mark, hold or drop, start again
//! ```

#![forbid(unsafe_code)]

mod adopt;
mod carry;
mod clients;
mod error;
mod group;
mod host_watch;
mod lives;
mod memory;
mod places;
mod process;
mod reap;
mod register;
mod setup;
mod stalls;
mod supervise;

pub use error::MasterError;
pub use supervise::{MasterOptions, run};
