//! The messages of a file, each with its place.
//!
//! Before each message stand two bytes with its length. Some files have zero there: the length is then that of the type. A zero
//! length with nothing behind it ends a session.

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use super::message::length;
use crate::source::error::{Fault, SourceError};
use crate::source::input::{self, Input};

/// The messages of a file, one by one.
pub(super) struct Frames {
    reader: BufReader<Input>,
    /// Of the next byte, unpacked.
    offset: u64,
    number: u64,
    bytes: Vec<u8>,
}

/// One message.
pub(super) struct Framed<'a> {
    /// From 1.
    pub(super) number: u64,
    /// Of its type, from 0.
    pub(super) offset: u64,
    pub(super) bytes: &'a [u8],
}

impl Frames {
    pub(super) fn open(path: &Path, expected: &str) -> Result<Frames, SourceError> {
        let reader = BufReader::with_capacity(1 << 16, input::open(path, expected)?);
        Ok(Frames { reader, offset: 0, number: 0, bytes: Vec::new() })
    }

    /// The next message; `None` at the end.
    pub(super) fn next(&mut self, path: &Path) -> Result<Option<Framed<'_>>, SourceError> {
        let after = self.number;
        let begin = self.offset;
        let cut = |reason: String| SourceError::Damaged { path: path.to_owned(), row: after, reason };
        let failed = |error: std::io::Error| input::damaged(path, after, error);
        if self.reader.fill_buf().map_err(failed)?.is_empty() {
            return Ok(None);
        }
        let mut prefix = [0; 2];
        let is_whole = fill(&mut self.reader, &mut prefix).map_err(failed)?;
        if !is_whole {
            return Err(cut(format!("the file ends at byte {}, inside of a message's length", begin + 1)));
        }
        let mut stated = usize::from(u16::from_be_bytes(prefix));
        let rest = self.reader.fill_buf().map_err(failed)?;
        let kind = match (rest.first(), stated) {
            (None, 0) => return Ok(None),
            (None, _) => return Err(cut(format!("the file ends at byte {}, before a message", begin + 2))),
            (Some(&kind), _) => kind,
        };
        if stated == 0 {
            // Without a length there is no way past a type that is unknown.
            stated = length(kind).ok_or_else(|| {
                let fault = Fault::text(
                    "message type",
                    &[kind],
                    "a type of ITCH 5.0, as the length before it is zero",
                );
                SourceError::from(at(fault, begin + 2).at(path, after + 1))
            })?;
        }
        self.bytes.resize(stated, 0);
        let is_whole = fill(&mut self.reader, &mut self.bytes).map_err(failed)?;
        if !is_whole {
            let what = format!(
                "the file ends inside of message {}, which begins at byte {} and has {stated} bytes",
                after + 1,
                begin + 2
            );
            return Err(cut(what));
        }
        self.number += 1;
        self.offset = begin + 2 + stated as u64;
        Ok(Some(Framed { number: self.number, offset: begin + 2, bytes: &self.bytes }))
    }
}

/// A fault with the byte at which its message begins.
pub(super) fn at(fault: Fault, offset: u64) -> Fault {
    Fault { column: format!("{} (message at byte {offset})", fault.column).into(), ..fault }
}

/// Reads all of it; `false` when the file ends before.
fn fill(reader: &mut impl Read, bytes: &mut [u8]) -> std::io::Result<bool> {
    match reader.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether these first bytes of a file are messages with their lengths.
pub(crate) fn is_itch(head: &[u8]) -> bool {
    let mut rest = head;
    for seen in 0..3 {
        let Some((prefix, message)) = rest.split_at_checked(2) else { return seen > 0 };
        let Some(kind) = message.first() else { return seen > 0 };
        let (Some(length), stated) = (length(*kind), u16::from_be_bytes([prefix[0], prefix[1]])) else {
            return false;
        };
        if stated != 0 && usize::from(stated) != length {
            return false;
        }
        let Some(next) = message.get(length..) else { return seen > 0 };
        rest = next;
    }
    true
}
