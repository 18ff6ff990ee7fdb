//! What a segment's file begins with.

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::{FILE_MAGIC, LINE, VERSION};

/// The first line of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct FileHead {
    /// [`FILE_MAGIC`].
    pub magic: [u8; 8],
    /// [`VERSION`].
    pub version: U32,
    /// Number of the segment in its recording, from 1.
    pub number: U32,
    /// A random number, the same in all segments of a recording.
    pub recording: U64,
    /// Number of the first block here. Blocks of an earlier segment with this number or a later one do not count: they
    /// belong to a cut that was never finished.
    pub first_block: U64,
    /// Chain of the block before it.
    pub chain: U64,
    /// When the segment was begun, nanoseconds since the epoch.
    pub created: U64,
    /// Zero.
    pub reserved: [u8; 12],
    /// CRC-32C of the bytes before it.
    pub crc: U32,
}

const _: () = assert!(size_of::<FileHead>() == LINE);

impl FileHead {
    /// With its checksum.
    pub fn new(number: u32, recording: u64, first_block: u64, chain: u64, created: u64) -> FileHead {
        let mut head = FileHead {
            magic: FILE_MAGIC,
            version: VERSION.into(),
            number: number.into(),
            recording: recording.into(),
            first_block: first_block.into(),
            chain: chain.into(),
            created: created.into(),
            reserved: [0; 12],
            crc: 0.into(),
        };
        head.crc = head.checksum().into();
        head
    }

    fn checksum(&self) -> u32 {
        crc32c::crc32c(&self.as_bytes()[..LINE - 4])
    }

    /// The head at the start of `bytes`, if it is whole.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn read(bytes: &[u8]) -> Result<FileHead, String> {
        let (head, _) =
            FileHead::read_from_prefix(bytes).map_err(|_| "it is shorter than a head".to_owned())?;
        if head.magic != FILE_MAGIC {
            return Err("it does not begin with COLOSEGM: this is no segment".to_owned());
        }
        if head.version != VERSION {
            let found = head.version;
            return Err(format!("its format is version {found}, this build reads version {VERSION}"));
        }
        if head.crc != head.checksum() {
            return Err("the checksum of its first line is wrong".to_owned());
        }
        Ok(head)
    }
}
