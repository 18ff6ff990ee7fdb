//! The blocks of one segment, one after the other.

use std::io;
use std::path::Path;

use super::source::Source;
use crate::format::{Block, BlockHead, FileHead, LINE};

/// Bytes that are read at once.
const PIECE: usize = 1 << 22;

/// Reads the blocks of a segment.
#[derive(Debug)]
pub struct Blocks {
    source: Source,
    head: FileHead,
    /// A part of the segment, which starts at `base`.
    buffer: Vec<u8>,
    base: u64,
    filled: usize,
    offset: u64,
}

/// What is at an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A whole block of this size.
    Block(usize),
    /// None, or none that is whole.
    Nothing,
}

impl Blocks {
    /// Opens the segment at `path`.
    ///
    /// # Errors
    /// Those of the file system, and `InvalidData` with what is wrong with its head.
    pub fn open(path: &Path) -> io::Result<Blocks> {
        let mut source = Source::open(path)?;
        let mut line = [0; LINE];
        let some = source.read(0, &mut line)?;
        let head =
            FileHead::read(&line[..some]).map_err(|what| io::Error::new(io::ErrorKind::InvalidData, what))?;
        Ok(Blocks { source, head, buffer: Vec::new(), base: 0, filled: 0, offset: LINE as u64 })
    }

    /// Bytes from our offset up to the last one that is not zero.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn used_behind(&mut self) -> io::Result<u64> {
        let (mut at, mut used) = (self.offset, self.offset);
        let left = self.source.length().saturating_sub(at);
        let mut piece = vec![0; usize::try_from(left).map_or(PIECE, |left| left.clamp(1, PIECE))];
        loop {
            let some = self.source.read(at, &mut piece)?;
            if some == 0 {
                return Ok(used - self.offset);
            }
            if let Some(last) = piece[..some].iter().rposition(|&byte| byte != 0) {
                used = at + last as u64 + 1;
            }
            at += some as u64;
        }
    }

    /// The segment's first line.
    pub fn head(&self) -> FileHead {
        self.head
    }

    /// Bytes of the segment.
    pub fn length(&self) -> u64 {
        self.source.length()
    }

    /// Where the next block is looked for.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Looks for the next block at this offset.
    pub fn seek(&mut self, offset: u64) {
        self.offset = offset.min(self.source.length());
    }

    /// Has `bytes` bytes from our offset on in the buffer, or as many as there are; where they begin.
    fn fill(&mut self, bytes: usize) -> io::Result<usize> {
        let has = |blocks: &Blocks| {
            blocks.offset >= blocks.base && blocks.offset + bytes as u64 <= blocks.base + blocks.filled as u64
        };
        if !has(self) {
            // A short read, as of an index at the end, needs no large buffer.
            let left = self.source.length().saturating_sub(self.offset);
            let piece = usize::try_from(left).map_or(PIECE, |left| left.min(PIECE)).max(bytes);
            if self.buffer.len() < piece {
                self.buffer.resize(piece, 0);
            }
            // The part of it that is there already is not read again.
            let known = self.offset.checked_sub(self.base).and_then(|known| usize::try_from(known).ok());
            let kept = match known.filter(|&known| known < self.filled) {
                Some(known) => {
                    self.buffer.copy_within(known..self.filled, 0);
                    self.filled - known
                }
                None => 0,
            };
            (self.base, self.filled) = (self.offset, kept);
            self.filled += self.source.read(self.base + kept as u64, &mut self.buffer[kept..piece])?;
        }
        Ok((self.offset - self.base) as usize)
    }

    /// The head at our offset, if there may be a block; its checksum was not looked at.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn peek(&mut self) -> io::Result<Option<BlockHead>> {
        let start = self.fill(LINE)?;
        let head = BlockHead::peek(&self.buffer[start..self.filled]);
        Ok(head.filter(|head| self.offset + head.size() as u64 <= self.source.length()))
    }

    /// What is at our offset; a block is given by [`Blocks::block`] then.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn find(&mut self) -> io::Result<Found> {
        let Some(head) = self.peek()? else { return Ok(Found::Nothing) };
        let start = self.fill(head.size())?;
        let whole = Block::read(&self.buffer[start..self.filled]).is_some();
        Ok(if whole && head.segment == self.head.number { Found::Block(head.size()) } else { Found::Nothing })
    }

    /// The block that [`Blocks::find`] found.
    pub fn block(&self) -> Option<Block<'_>> {
        let start = usize::try_from(self.offset.checked_sub(self.base)?).ok()?;
        let head = BlockHead::peek(self.buffer.get(start..self.filled)?)?;
        let payload = self.buffer.get(start + LINE..start + LINE + head.length.get() as usize)?;
        Some(Block { head, payload })
    }

    /// The payload of the block with this head at `offset`, while it is the one that was found last.
    pub(super) fn payload_of(&self, offset: u64, head: &BlockHead) -> Option<&[u8]> {
        let start = usize::try_from(offset.checked_sub(self.base)?).ok()? + LINE;
        self.buffer.get(start..start + head.length.get() as usize)
    }

    /// Goes on behind the block at our offset.
    pub fn pass(&mut self, size: usize) {
        self.offset += size as u64;
    }

    /// Goes to the next whole block behind our offset, line by line; false if there is none.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn resync(&mut self) -> io::Result<bool> {
        while self.offset + (LINE as u64) < self.source.length() {
            self.offset += LINE as u64;
            if self.find()? != Found::Nothing {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
