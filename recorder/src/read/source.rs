//! The bytes of a segment, compressed or not.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::write::compress::{SEEKABLE, SKIPPABLE};

/// A segment's bytes by offset.
#[derive(Debug)]
pub(crate) enum Source {
    Plain { file: File, length: u64 },
    Compressed(Box<Compressed>),
}

/// A file in zstd's seekable format.
#[derive(Debug)]
pub(crate) struct Compressed {
    file: File,
    frames: Vec<Piece>,
    length: u64,
    /// The frame that was read last.
    latest: Option<(usize, Vec<u8>)>,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Where it is in the file, and in the segment.
    at: u64,
    from: u64,
    small: u32,
    large: u32,
}

impl Source {
    pub(crate) fn open(path: &Path) -> io::Result<Source> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        if path.extension().is_some_and(|extension| extension == "zst") {
            return Compressed::open(file, length).map(|compressed| Source::Compressed(Box::new(compressed)));
        }
        Ok(Source::Plain { file, length })
    }

    /// Bytes of the segment.
    pub(crate) fn length(&self) -> u64 {
        match self {
            Source::Plain { length, .. } => *length,
            Source::Compressed(compressed) => compressed.length,
        }
    }

    /// As many bytes from `offset` on as there are, up to `bytes`.
    pub(crate) fn read(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < bytes.len() {
            let some = match self {
                Source::Plain { file, .. } => file.read_at(&mut bytes[done..], offset + done as u64)?,
                Source::Compressed(compressed) => {
                    compressed.read(offset + done as u64, &mut bytes[done..])?
                }
            };
            if some == 0 {
                break;
            }
            done += some;
        }
        Ok(done)
    }
}

/// Most bytes of a segment in a frame that are believed; recorders write 1 MiB.
const MOST_FRAME: u32 = 1 << 26;

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

impl Compressed {
    fn open(file: File, length: u64) -> io::Result<Compressed> {
        let mut footer = [0; 9];
        let at = length.checked_sub(9).ok_or_else(|| damaged("too short for a seek table"))?;
        file.read_exact_at(&mut footer, at)?;
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0_u32, |word, &byte| word << 8 | u32::from(byte));
        if word(&footer[5..]) != SEEKABLE || footer[4] != 0 {
            return Err(damaged("no seek table at its end: it is cut, or was compressed by another program"));
        }
        let rows = word(&footer) as usize;
        let table_bytes = rows as u64 * 8;
        let start = at
            .checked_sub(table_bytes + 8)
            .ok_or_else(|| damaged("its seek table is longer than the file"))?;
        let mut table = vec![0; 8 + table_bytes as usize];
        file.read_exact_at(&mut table, start)?;
        if word(&table) != SKIPPABLE {
            return Err(damaged("its seek table does not begin as one"));
        }
        let mut frames = Vec::with_capacity(rows);
        let (mut at, mut from) = (0, 0);
        for row in table[8..].chunks_exact(8) {
            let piece = Piece { at, from, small: word(&row[..4]), large: word(&row[4..]) };
            if piece.large > MOST_FRAME {
                return Err(damaged("its seek table has a frame of more than 64 MiB"));
            }
            frames.push(piece);
            at += u64::from(piece.small);
            from += u64::from(piece.large);
        }
        if at != start {
            return Err(damaged("its seek table does not fit its frames"));
        }
        Ok(Compressed { file, frames, length: from, latest: None })
    }

    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        if offset >= self.length {
            return Ok(0);
        }
        let index = self.frames.partition_point(|piece| piece.from <= offset) - 1;
        let piece = self.frames[index];
        if self.latest.as_ref().is_none_or(|(latest, _)| *latest != index) {
            let mut small = vec![0; piece.small as usize];
            self.file.read_exact_at(&mut small, piece.at)?;
            let large = zstd::bulk::decompress(&small, piece.large as usize)?;
            if large.len() != piece.large as usize {
                return Err(damaged("a frame holds less than its seek table says"));
            }
            self.latest = Some((index, large));
        }
        let Some((_, large)) = &self.latest else { return Ok(0) };
        let from = (offset - piece.from) as usize;
        let some = bytes.len().min(large.len() - from);
        bytes[..some].copy_from_slice(&large[from..from + some]);
        Ok(some)
    }
}
