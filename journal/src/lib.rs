//! Ring journals in shared memory: one writer, many readers, sleeping and waking.
//!
//! # What this crate guarantees
//!
//! - A frame is seen whole or not at all, in the order of writing, even when its writer is killed at any instruction.
//! - A gated reader misses nothing: the writer returns [`WriteError::Full`] rather than pass it. A loose reader never
//!   holds up the writer, and learns exactly which bytes it lost when it is lapped.
//! - All memory is reserved when a journal is created. Afterwards nothing allocates, faults or makes system calls,
//!   except to sleep and to wake sleepers.
//! - The contents of shared memory are never trusted: garbage makes readers return an error.
//! - A child of a fork can neither use nor end what its parent has opened: its calls return [`Forked`].
//!
//! The crate knows bytes and a `u16` message id; `wire` defines what the bytes mean.
//!
//! ```text
//!            one writer                                     many readers
//!  Writer::write ──► ring (NAME.ring, mapped twice in a row) ──► GatedReader: lends frames in place
//!        │             64-byte lines: commit │ header │ payload   LooseReader: copies, then checks
//!        │                                                             │
//!        └──► control page (NAME.ctl): head, intent, cursors ◄─────────┘
//!                    interest[topic] → seats ──► Registry: the word that each node sleeps on
//! ```
//!
//! # Example
//!
//! ```
//! use journal::{Clock, Journal, JournalFiles, JournalShape};
//!
//! let directory = tempfile::tempdir()?;
//! let files = JournalFiles::new(directory.path(), directory.path(), "quotes");
//! let shape = JournalShape { id: 1, name: "quotes".into(), capacity: 1 << 16, seats: 64, topics: 16, page: 4096 };
//! let journal = Journal::create(files, shape, 0)?;
//!
//! let mut reader = journal.gated(5)?;
//! let mut writer = journal.writer(0, Clock::calibrate())?;
//! writer.write(2, 7, b"a quote")?;
//!
//! let frame = reader.read()?.expect("it was committed");
//! assert_eq!((frame.topic, frame.payload), (7, &b"a quote"[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `docs/journal-format.md` documents the format, [`sync`] the orderings, [`wait`] sleeping and waking.

#![allow(
    clippy::disallowed_types,
    reason = "`sync` is the door that the ban points to; a test holds that no other file names std's atomics"
)]

mod clock;
mod error;
mod files;
mod fork;
mod latest;
pub mod layout;
mod memory;
#[cfg(any(loom, test))]
mod models;
pub mod process;
mod relay;
mod ring;
pub mod sync;
pub mod tools;
pub mod wait;

pub use clock::{Clock, ClockSource};
pub use error::{CreateError, Gap, OpenError, ReadError, RestoreError, WriteError};
pub use files::JournalFiles;
pub use files::control::{JournalShape, Origin, WriterState};
pub use files::registry::{Registry, Seat, SeatWriter};
pub use fork::{Forked, Opener, OwnFile};
pub use latest::{Latest, LatestError};
pub use memory::map_large_rings_on_access;
pub use ring::journal::Journal;
pub use ring::merge::{Merge, MergeError};
pub use ring::reader::{
    self, Frame, FrameHeader, GatedReader, LooseReader, NoWriter, Reader, ReaderCore, RecordIter, Topics,
    View,
};
pub use ring::tail::Tail;
pub use ring::writer::{Batch, Claim, History, Records, Writer, Written};
