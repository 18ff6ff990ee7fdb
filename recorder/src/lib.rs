//! Journals on disk: recorded as they are written, read again as if they were still there.
//!
//! # What this crate guarantees
//!
//! - What a recorder says is on disk is there after a power cut, if the disk keeps what it acknowledged.
//! - A recording ends with a whole *cut*: all that its journals held up to one time. No effect is there without its cause.
//! - Damage is found and named, and all else can still be read. What was being written when the power went is not
//!   damage, and not taken for a part of the recording.
//!
//! ```text
//!  journals ──► gather ──► Batch (blocks) ──► Segment: one write, one sync ──► durable position ──► who waits for it
//!                                               │ full
//!                                               ▼
//!                                     index, zstd, retention (another thread)
//! ```
//!
//! `docs/recording-format.md` documents the files.

#![forbid(unsafe_code)]

// The tests within share what those beside the crate use.
#[cfg(test)]
extern crate self as recorder;

pub mod format;
pub mod gather;
mod process;
pub mod read;
pub mod recover;
pub mod shelf;
pub mod write;

pub use process::SERVICE;
