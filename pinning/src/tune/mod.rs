//! Settings that can be corrected while the host runs: proposed, applied, and undone exactly.
//!
//! ```text
//! propose ──► changes (nothing written: the dry run) ──► apply ──► record file ──► undo
//! ```
//!
//! Each change is one value of one file of `/sys` or `/proc`. Before it is written, it is recorded on disk with the
//! previous value, so that it can be undone even after a crash. Undo goes backwards and skips values that were changed
//! since.

mod change;
mod propose;
mod record;

pub use change::{Change, Outcome, Value};
pub use propose::{Proposal, TuneOptions};
pub use record::{TuneError, undo};
