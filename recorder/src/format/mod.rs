//! The bytes of a segment: a head, then blocks. `docs/recording-format.md` documents them.

mod block;
mod description;
mod entry;
mod head;

pub use block::{Block, BlockHead, Kind, padded};
pub use description::{Description, RecordedJournal, Stood};
pub use entry::{CursorEntry, IndexEntry, SyncedEntry, What};
pub use head::FileHead;

/// Files and blocks start on lines, as frames do.
pub const LINE: usize = 64;

/// First bytes of a segment.
pub const FILE_MAGIC: [u8; 8] = *b"COLOSEGM";

/// First bytes of a block.
pub const BLOCK_MAGIC: u32 = u32::from_le_bytes(*b"CBLK");

/// The version that this build writes, and the only one that it reads.
pub const VERSION: u32 = 1;

/// Longest payload of a block; a longer one is damage.
pub const MOST_PAYLOAD: usize = 1 << 30;
