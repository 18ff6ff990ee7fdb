//! The rows of blocks that are tables.

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// What a [`CursorEntry`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum What {
    /// `first` is the cursor of a gated reader, `second` what it keeps (zero: its cursor).
    Reader = 1,
    /// `first` is the epoch of the journal's writer, `second` the number of frames ever committed up to the end of the cut.
    Writer = 2,
    /// `first` is the number of frames of the class that stands in place of the seat, up to the end of the cut.
    Class = 3,
}

/// Where a reader stood before the cut was taken, so that everything that it had caused by then is in the cut; or what a
/// journal has held at the end of the cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct CursorEntry {
    /// Number of the journal in the description.
    pub journal: U16,
    /// Seat of the reader or writer.
    pub seat: U16,
    /// A [`What`].
    pub what: U16,
    /// Zero.
    pub reserved: U16,
    /// See [`What`].
    pub first: U64,
    /// See [`What`].
    pub second: U64,
}

/// A block that is worth finding. Not every block has one: from an entry on, the next blocks are found one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct IndexEntry {
    /// Number of the journal in the description.
    pub journal: U16,
    /// Zero.
    pub reserved: U16,
    /// Frames of this journal in the segment before this block.
    pub frames_before: U32,
    /// Offset of the block in the segment.
    pub offset: U64,
    /// Position of its first frame.
    pub position: U64,
    /// Position behind the last frame of this journal before the next entry.
    pub end: U64,
    /// Time of the block's cut.
    pub time: U64,
}

/// When a cut was on disk, which only a later cut can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct SyncedEntry {
    /// Number of the cut's first block; zero in a row that says nothing.
    pub cut: U64,
    /// When the write of its last block had returned.
    pub time: U64,
}

const _: () = assert!(size_of::<SyncedEntry>() == 16);
const _: () = assert!(size_of::<CursorEntry>() == 24 && size_of::<IndexEntry>() == 40);
