//! The process that owns an instance: its directory, its journals, its seats, and its nodes.
//!
//! # What this crate guarantees
//!
//! - One master an instance, ensured by a lock that the kernel releases with the process.
//! - Everything that the nodes need is created completely before the first of them starts; on an error, which names
//!   what failed, nothing is left behind.
//! - A node's death is noticed through its pidfd. Its seat is marked, its gated cursors are kept or released as the
//!   topology says, and it is restarted according to its policy.
//! - Matching that is not to be restarted is started once more, to close the market: its orders end, and no node waits
//!   for it.
//! - No data passes through master. When it dies the platform continues; the next master takes over the running nodes.
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
mod embedded;
mod error;
mod group;
mod host_watch;
mod lives;
mod logs;
mod memory;
mod past;
mod peer;
mod places;
mod process;
mod reap;
mod register;
mod setup;
mod stalls;
mod supervise;
mod unready;
mod wanted;

pub use embedded::Embedded;
pub use error::MasterError;
pub use past::Past;
pub use supervise::{MasterOptions, run};
