//! One file of a recording, while it is written.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::libc;
use zerocopy::IntoBytes;

use super::batch::Batch;
use super::medium::{Disk, Medium};
use crate::format::{FileHead, IndexEntry, Kind, LINE};

/// An index entry a journal at least each this many bytes of the segment.
const INDEX_STRIDE: u64 = 1 << 16;

/// Name of a segment that is not compressed.
pub fn segment_name(number: u32) -> String {
    format!("{number:08}.seg")
}

/// What the index has of one journal.
#[derive(Clone, Copy, Debug, Default)]
struct Indexed {
    frames: u32,
    /// Offset of the last entry's block, and where that entry is.
    last: Option<(u64, usize)>,
}

/// An open segment. Every write is on disk when it returns.
#[derive(Debug)]
pub(crate) struct Segment {
    file: Box<dyn Medium>,
    path: PathBuf,
    number: u32,
    used: u64,
    entries: Vec<IndexEntry>,
    /// By the journal's number.
    indexed: Vec<Indexed>,
}

impl Segment {
    /// Makes a segment of what was prepared (zeros, of which none must be left when it is closed), or of nothing.
    ///
    /// # Errors
    /// Those of the file system.
    pub(crate) fn begin(
        folder: &Path,
        spare: Option<&Path>,
        head: FileHead,
        room: u64,
        disk: &dyn Disk,
    ) -> io::Result<Segment> {
        let unfinished = folder.join("begun.tmp");
        Segment::begin_as(&unfinished, folder, spare, head, room, disk).inspect_err(|_| {
            // It may hold what room there is left.
            let _gone = std::fs::remove_file(&unfinished);
        })
    }

    fn begin_as(
        unfinished: &Path,
        folder: &Path,
        spare: Option<&Path>,
        head: FileHead,
        room: u64,
        disk: &dyn Disk,
    ) -> io::Result<Segment> {
        let path = folder.join(segment_name(head.number.get()));
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(0o640).custom_flags(libc::O_DSYNC);
        let file = if let Some(spare) = spare {
            std::fs::rename(spare, unfinished)?;
            options.open(unfinished)?
        } else {
            let file = options.create(true).truncate(true).open(unfinished)?;
            // Without room on the disk this must fail here, and not in the middle of a cut.
            nix::fcntl::posix_fallocate(&file, 0, room as i64)?;
            file
        };
        let file = disk.medium(file);
        file.write_all_at(head.as_bytes(), 0)?;
        // A segment has its name only when its head is on disk.
        std::fs::rename(unfinished, &path)?;
        File::open(folder)?.sync_all()?;
        Ok(Segment {
            file,
            path,
            number: head.number.get(),
            used: LINE as u64,
            entries: Vec::new(),
            indexed: Vec::new(),
        })
    }

    /// Its number.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Bytes written.
    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    /// Puts the batch on disk.
    ///
    /// # Errors
    /// Those of the file system; whether some of the batch is on disk is not known then.
    pub(crate) fn write(&mut self, batch: &mut Batch) -> io::Result<()> {
        let bytes = batch.seal();
        self.file.write_all_at(bytes, self.used)?;
        for (offset, head) in batch.heads() {
            if head.kind() == Some(Kind::Frames) {
                self.index(self.used + offset as u64, &head);
            }
        }
        self.used += batch.len() as u64;
        Ok(())
    }

    fn index(&mut self, offset: u64, head: &crate::format::BlockHead) {
        let journal = usize::from(head.journal.get());
        if self.indexed.len() <= journal {
            self.indexed.resize(journal + 1, Indexed::default());
        }
        let indexed = &mut self.indexed[journal];
        let end = head.position.get() + u64::from(head.length.get());
        match indexed.last {
            Some((last, entry)) if offset - last < INDEX_STRIDE => self.entries[entry].end = end.into(),
            _ => {
                indexed.last = Some((offset, self.entries.len()));
                self.entries.push(IndexEntry {
                    journal: head.journal,
                    reserved: 0.into(),
                    frames_before: indexed.frames.into(),
                    offset: offset.into(),
                    position: head.position,
                    end: end.into(),
                    time: head.time,
                });
            }
        }
        indexed.frames = indexed.frames.wrapping_add(head.frames.get());
    }

    /// The segment, to be closed by whoever has the time for it.
    pub(crate) fn finish(self, next_block: u64, chain: u64, time: u64) -> Unclosed {
        let Segment { file, path, number, used, entries, .. } = self;
        Unclosed { file, path, number, used, entries, next_block, chain, time }
    }
}

/// A segment to which nothing is added any more, without its index.
#[derive(Debug)]
pub(crate) struct Unclosed {
    file: Box<dyn Medium>,
    path: PathBuf,
    number: u32,
    used: u64,
    entries: Vec<IndexEntry>,
    next_block: u64,
    chain: u64,
    time: u64,
}

impl Unclosed {
    /// Writes index and end, and gives back what was prepared and not used.
    ///
    /// # Errors
    /// Those of the file system. The segment is readable without them, only slower to search.
    pub(crate) fn close(self) -> io::Result<PathBuf> {
        // Both are outside of the numbers and the chain, which go on in the next segment.
        let mut batch = Batch::new(self.number, self.next_block, self.chain);
        batch.begin_cut(self.time);
        let fill = |bytes: &mut Vec<u8>| {
            self.entries.iter().for_each(|entry| bytes.extend_from_slice(entry.as_bytes()));
            Ok::<_, io::Error>((0, 0))
        };
        batch.block(Kind::Index, 0, fill)?;
        batch.block(Kind::End, 0, |bytes| {
            bytes.extend_from_slice(&self.used.to_le_bytes());
            Ok::<_, io::Error>((0, 0))
        })?;
        batch.close_cut();
        let bytes = batch.seal();
        self.file.write_all_at(bytes, self.used)?;
        self.file.set_len(self.used + bytes.len() as u64)?;
        self.file.sync_all()?;
        Ok(self.path)
    }
}
