//! The messages of a frame.

use super::Frame;
use crate::layout::frame;

/// The messages of a frame and their positions, see [`Frame::records`].
#[derive(Clone, Debug)]
pub struct RecordIter<'a> {
    /// Position of the next one.
    position: u64,
    rest: &'a [u8],
    /// Bytes of each; zero for a payload that is one message and has not been returned yet.
    size: usize,
}

impl<'a> RecordIter<'a> {
    #[inline]
    pub(super) fn new(of: &Frame<'a>) -> RecordIter<'a> {
        let size = usize::from(of.flags & frame::RECORD);
        let first = if size == 0 { of.position } else { of.position + frame::HEADER_BYTES };
        RecordIter { position: first, rest: of.payload, size }
    }
}

impl<'a> Iterator for RecordIter<'a> {
    type Item = (u64, &'a [u8]);

    #[inline(always)]
    fn next(&mut self) -> Option<(u64, &'a [u8])> {
        let position = self.position;
        if self.size == 0 {
            // Nothing is left, whatever the size.
            self.size = 1;
            return Some((position, std::mem::take(&mut self.rest)));
        }
        let (record, rest) = self.rest.split_at_checked(self.size)?;
        self.rest = rest;
        self.position += self.size as u64;
        Some((position, record))
    }
}
