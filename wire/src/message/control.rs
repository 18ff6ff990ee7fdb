//! Events of the platform, written by master and md.

use wire_derive::Described;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, TryFromBytes};

use crate::{NodeChange, NodeRole};

/// A node joined or left. Written by master.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct NodeEvent {
    /// Grows with every start in this seat.
    pub generation: u64,
    /// The seat.
    pub seat: u16,
    /// What happened.
    pub change: NodeChange,
    /// What the node is.
    pub role: NodeRole,
    /// Process id, in its own pid namespace.
    pub pid: u32,
    /// Exit code, or 128 + signal, once it left or died and if known; else -1.
    #[field(none = -1)]
    pub exit_code: i32,
    /// Zero.
    pub reserved: u32,
    /// Zero.
    pub reserved_tail: u64,
}

/// The end of md's journal: nothing follows it in this run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Described)]
#[repr(C)]
pub struct EndOfStream {
    /// Quotes published.
    pub quotes: u64,
    /// Trade prints published.
    pub trades: u64,
    /// Order-flow events published.
    pub book_events: u64,
    /// Messages (rows, records) read from the source.
    pub source_messages: u64,
    /// Of those: left out on purpose (out of the time window, of a kind without effect on the book).
    pub skipped: u64,
    /// Of those: not understood. Zero unless the config tolerates them.
    pub rejected: u64,
}
