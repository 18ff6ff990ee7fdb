//! The ring and who uses it: one writer, many readers.

pub(crate) mod bytes;
pub(crate) mod journal;
pub(crate) mod merge;
pub mod reader;
pub(crate) mod tail;
pub(crate) mod writer;
