//! Blocks in memory, until one write puts them on disk.

use zerocopy::{FromBytes, IntoBytes};

use crate::format::{BLOCK_MAGIC, BlockHead, Kind, LINE, padded};

/// Blocks of one cut that are written together.
#[derive(Debug)]
pub struct Batch {
    bytes: Vec<u8>,
    /// Where each block begins.
    starts: Vec<usize>,
    /// Number of the cut's first block, and the number of the next block.
    cut: u64,
    next: u64,
    chain: u64,
    segment: u32,
    time: u64,
}

impl Batch {
    /// The next block is number `next`, the chain of the one before it `chain`.
    pub fn new(segment: u32, next: u64, chain: u64) -> Batch {
        Batch {
            bytes: Vec::with_capacity(1 << 20),
            starts: Vec::new(),
            cut: next,
            next,
            chain,
            segment,
            time: 0,
        }
    }

    /// The blocks from here on belong to a cut at `time`.
    pub fn begin_cut(&mut self, time: u64) {
        debug_assert!(self.starts.is_empty());
        (self.cut, self.time) = (self.next, time);
    }

    /// The blocks from here on belong to this segment.
    pub fn begin_segment(&mut self, segment: u32) {
        self.segment = segment;
    }

    /// Number of the next block.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Chain of the last block.
    pub fn chain(&self) -> u64 {
        self.chain
    }

    /// Number of the cut's first block.
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// Time of the cut.
    pub fn time(&self) -> u64 {
        self.time
    }

    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes of memory that it takes.
    #[cfg(test)]
    pub(super) fn room(&self) -> usize {
        self.bytes.capacity()
    }

    /// How many blocks.
    pub fn count(&self) -> u64 {
        self.starts.len() as u64
    }

    /// True without any block.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Appends a block; `fill` appends its payload and says the position of its first frame and how many there are. No
    /// payload, no block.
    ///
    /// # Errors
    /// Those of `fill`; the block is not there then.
    pub fn block<E>(
        &mut self,
        kind: Kind,
        journal: u16,
        fill: impl FnOnce(&mut Vec<u8>) -> Result<(u64, u64), E>,
    ) -> Result<usize, E> {
        let start = self.bytes.len();
        self.bytes.resize(start + LINE, 0);
        let (position, frames) = match fill(&mut self.bytes) {
            Ok(filled) if self.bytes.len() > start + LINE => filled,
            other => {
                self.bytes.truncate(start);
                return other.map(|_| 0);
            }
        };
        let length = self.bytes.len() - start - LINE;
        self.bytes.resize(start + LINE + padded(length), 0);
        let head = BlockHead {
            magic: BLOCK_MAGIC.into(),
            crc: 0.into(),
            kind: kind as u8,
            flags: 0,
            journal: journal.into(),
            length: (length as u32).into(),
            number: self.next.into(),
            cut: self.cut.into(),
            position: position.into(),
            time: self.time.into(),
            frames: (frames as u32).into(),
            segment: self.segment.into(),
            chain: 0.into(),
        };
        self.bytes[start..start + LINE].copy_from_slice(head.as_bytes());
        self.starts.push(start);
        self.next += 1;
        Ok(length)
    }

    /// Says that the cut ends with the last block.
    pub fn close_cut(&mut self) {
        if let Some(start) = self.starts.last() {
            self.bytes[start + 9] |= BlockHead::CLOSES_CUT;
        }
    }

    /// The blocks, with chain and checksums.
    pub fn seal(&mut self) -> &[u8] {
        for &start in &self.starts {
            let (head, rest) = self.bytes[start..].split_at_mut(LINE);
            if let Ok(head) = BlockHead::mut_from_bytes(head) {
                head.seal(self.chain, &rest[..head.length.get() as usize]);
                self.chain = head.chain.get();
            }
        }
        &self.bytes
    }

    /// The heads of the blocks, with their offsets.
    pub fn heads(&self) -> impl Iterator<Item = (usize, BlockHead)> + '_ {
        self.starts
            .iter()
            .filter_map(|&start| Some((start, BlockHead::read_from_prefix(&self.bytes[start..]).ok()?.0)))
    }

    /// Forgets the blocks: they are written.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.starts.clear();
    }

    /// Forgets blocks that could not be written; the next one has number `next` again.
    pub fn abandon(&mut self, next: u64, chain: u64) {
        self.clear();
        (self.next, self.chain) = (next, chain);
    }
}
