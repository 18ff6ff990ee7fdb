//! The state that executions lead to: the ledger's snapshot, and the executions behind it.
//!
//! ```text
//!   ledger.state ────────► SnapshotReader ──► Snapshot ─┬─► positions, quotes
//!                                                       ▼
//!   matching.executions ──────────────────────► WorkingOrders ──► working orders, last trade
//! ```
//!
//! Every part of the platform that takes up where a predecessor was reads these two journals, and must come to the same
//! state. A [`Snapshot`] is whole or does not exist, so its readers need not check it again. [`WorkingOrders`] is the fold
//! of executions that the ledger writes its snapshots from and a restarted matching continues with.
//!
//! Positions are not folded here: how a fill changes one is the reader's accounting (average cost in the ledger, the worst
//! case in td, cash in a strategy), and each applies the fills behind the snapshot as it applies all others.
//!
//! Where accounts are kept, `ledger.desk` has snapshots of them, in parts: [`DeskReader`] puts them together. What the bytes
//! say is known to `accounts`.

mod desk;
mod snapshot;
mod working;

pub use desk::{DeskReader, desk_parts};
pub use snapshot::{Snapshot, SnapshotError, SnapshotReader};
pub use working::{Contradiction, WorkingOrders};
