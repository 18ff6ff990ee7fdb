//! The accounts, where the platform keeps them: the ledger follows the drop copy and shows others what it finds there.
//!
//! ```text
//!  td.drops ──► Follower ──┬─► ledger.accounts   each account that has changed, in shared memory      (publish)
//!                          ├─► ledger.desk       snapshots, from which td and a next ledger start      (cadence)
//!                          └─► guard ──┐         who has lost too much, whose margin is too high
//!  md's prices ──► pacer ──────────────┴─► ledger.risk ──► td: marks, kills, forced orders ──► td.drops
//! ```
//!
//! td decides, and everything else follows the drop copy: a mark counts here when it comes back through it, and a kill falls
//! here when td has let it fall. So the state here is a function of the drop copy alone, to the byte, whoever asks for it.
//!
//! The ledger never waits for td: a mark that finds no room is left out for a while, kills and forced orders are tried again.

mod cadence;
mod guard;
mod keeper;
mod kills;
mod pacer;
mod publish;
mod restore;
mod surveys;
#[cfg(test)]
mod tests;

pub(crate) use keeper::Keeper;
