//! For tools: what a journal holds, where its frames are, whether it is intact.

mod backlog;
#[cfg(not(loom))]
mod floor;
#[cfg(not(loom))]
mod histogram;
mod scan;
mod stat;
mod verify;

pub use backlog::Backlog;
#[cfg(not(loom))]
pub use floor::Floor;
#[cfg(not(loom))]
pub use histogram::Histograms;
pub use stat::JournalStat;
pub use verify::{Check, CheckKind, Finding, VerifyReport, verify_files};

pub use crate::files::control::ReaderView;
