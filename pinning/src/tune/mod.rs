//! What can be mended while the host runs: proposed, applied, and undone exactly.
//!
//! ```text
//! propose ──► changes (nothing written: the dry run) ──► apply ──► record file ──► undo
//! ```
//!
//! Each change is one value of one file of `/sys` or `/proc`. Before it is written, it goes into the record with the
//! value that was there, on disk: a process that dies half-way can still be undone. Undo goes backwards and leaves
//! alone what somebody else has changed since.

mod change;
mod propose;
mod record;

pub use change::{Change, Outcome, Value};
pub use propose::{Proposal, TuneOptions};
pub use record::{TuneError, undo};
