//! A block: its head of one line, its payload, zeros up to the next line.

use xxhash_rust::xxh3::Xxh3;
use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::{BLOCK_MAGIC, LINE, MOST_PAYLOAD};

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A [`Description`](super::Description), as JSON.
    Description = 1,
    /// Whole frames of one journal, byte for byte.
    Frames = 2,
    /// [`CursorEntry`](super::CursorEntry) after entry: where readers and writers stood.
    Cursors = 3,
    /// Nothing: the bytes of a journal from `position` on are not recorded, as many as the payload's one `u64` says. A loose
    /// recorder was overtaken, or the disk took nothing and nobody was to wait for it.
    Gap = 4,
    /// [`IndexEntry`](super::IndexEntry) after entry: what the segment holds.
    Index = 5,
    /// The last block of a closed segment; its payload is one `u64`, the offset of the index.
    End = 6,
    /// [`SyncedEntry`](super::SyncedEntry) after entry: when earlier cuts were on disk.
    Synced = 7,
}

impl Kind {
    /// The kind with this number.
    pub fn of(number: u8) -> Option<Kind> {
        use Kind::{Cursors, Description, End, Frames, Gap, Index, Synced};
        let all = [Description, Frames, Cursors, Gap, Index, End, Synced];
        all.into_iter().find(|kind| *kind as u8 == number)
    }
}

/// The first line of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct BlockHead {
    /// [`BLOCK_MAGIC`].
    pub magic: U32,
    /// CRC-32C of the rest of the head and of the payload.
    pub crc: U32,
    /// A [`Kind`].
    pub kind: u8,
    /// [`BlockHead::CLOSES_CUT`] or zero.
    pub flags: u8,
    /// Number of the journal in the description; zero in blocks that belong to none.
    pub journal: U16,
    /// Bytes of payload.
    pub length: U32,
    /// Number of the block in its recording, from 1, without gaps.
    pub number: U64,
    /// Number of the first block of its cut.
    pub cut: U64,
    /// Position of the first frame; see [`Kind::Gap`].
    pub position: U64,
    /// The time of the cut, nanoseconds since the epoch.
    pub time: U64,
    /// Frames in the payload.
    pub frames: U32,
    /// Number of the segment.
    pub segment: U32,
    /// XXH3-64 of this head, from `kind` on and without the chain, and of the payload; its seed is the chain of the block
    /// before.
    pub chain: U64,
}

const _: () = assert!(size_of::<BlockHead>() == LINE);

/// `length` and what fills up the last line.
pub fn padded(length: usize) -> usize {
    length.next_multiple_of(LINE)
}

impl BlockHead {
    /// The cut ends with this block: all journals are whole up to the cut's time.
    pub const CLOSES_CUT: u8 = 1;

    /// Its kind, if this version knows it.
    pub fn kind(&self) -> Option<Kind> {
        Kind::of(self.kind)
    }

    /// True for the last block of a cut.
    pub fn closes_cut(&self) -> bool {
        self.flags & BlockHead::CLOSES_CUT != 0
    }

    /// Bytes of head, payload and padding.
    pub fn size(&self) -> usize {
        LINE + padded(self.length.get() as usize)
    }

    /// Fills in chain and checksum.
    pub(crate) fn seal(&mut self, before: u64, payload: &[u8]) {
        self.chain = self.chained(before, payload).into();
        self.crc = self.checksum(payload).into();
    }

    /// What the chain is, if the block before has the chain `before`.
    pub fn chained(&self, before: u64, payload: &[u8]) -> u64 {
        let mut hash = Xxh3::with_seed(before);
        hash.update(&self.as_bytes()[8..56]);
        hash.update(payload);
        hash.digest()
    }

    fn checksum(&self, payload: &[u8]) -> u32 {
        crc32c::crc32c_append(crc32c::crc32c(&self.as_bytes()[8..]), payload)
    }

    /// The head at the start of `bytes`, if there may be one: neither its payload nor its checksum was looked at.
    pub(crate) fn peek(bytes: &[u8]) -> Option<BlockHead> {
        let (head, _) = BlockHead::read_from_prefix(bytes).ok()?;
        let possible = head.magic == BLOCK_MAGIC && head.length.get() as usize <= MOST_PAYLOAD;
        possible.then_some(head)
    }
}

/// A block as it was read.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// Its first line.
    pub head: BlockHead,
    /// The rest.
    pub payload: &'a [u8],
}

impl<'a> Block<'a> {
    /// The block at the start of `bytes`, which hold it whole; `None` if its checksum is wrong, or what fills up its last
    /// line is not zero: no checksum covers that.
    pub fn read(bytes: &'a [u8]) -> Option<Block<'a>> {
        let head = BlockHead::peek(bytes)?;
        let (payload, padding) = bytes.get(LINE..head.size())?.split_at(head.length.get() as usize);
        let is_whole = padding.iter().all(|&byte| byte == 0) && head.crc == head.checksum(payload);
        is_whole.then_some(Block { head, payload })
    }
}
