//! For tools: what a journal holds, where its frames are, whether it is intact.

pub(crate) mod backlog;
#[cfg(not(loom))]
pub(crate) mod floor;
#[cfg(not(loom))]
pub(crate) mod histogram;
pub(crate) mod scan;
pub(crate) mod stat;
pub(crate) mod verify;
