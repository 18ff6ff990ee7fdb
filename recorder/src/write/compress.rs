//! A closed segment as zstd, in frames that can be read one by one.
//!
//! The file is in the seekable format of zstd's own repository: frames, then a skippable frame with a row each. Every
//! `zstd -d` makes the segment of it again.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Bytes of the segment in a frame.
const FRAME: usize = 1 << 20;

/// Magic numbers of the seek table.
pub(crate) const SKIPPABLE: u32 = 0x184D_2A5E;
pub(crate) const SEEKABLE: u32 = 0x8F92_EAB1;

/// Compresses the segment at `path` and removes it.
///
/// # Errors
/// Those of the file system; the segment is there then.
pub(crate) fn compress(path: &Path, level: i32) -> io::Result<PathBuf> {
    let (done, unfinished) = (path.with_extension("seg.zst"), path.with_extension("zst.tmp"));
    let result = write_frames(path, &unfinished, level).and_then(|()| std::fs::rename(&unfinished, &done));
    if let Err(error) = result {
        let _gone = std::fs::remove_file(&unfinished);
        return Err(error);
    }
    let sync = || path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all());
    sync()?;
    // Only now: with both there, a reader takes either.
    std::fs::remove_file(path)?;
    sync()?;
    Ok(done)
}

fn write_frames(from: &Path, to: &Path, level: i32) -> io::Result<()> {
    let mut source = File::open(from)?;
    let mut target = OpenOptions::new().write(true).create(true).truncate(true).mode(0o640).open(to)?;
    let mut table = Vec::new();
    let mut compressor = zstd::bulk::Compressor::new(level)?;
    let mut piece = Vec::with_capacity(FRAME);
    loop {
        piece.clear();
        Read::by_ref(&mut source).take(FRAME as u64).read_to_end(&mut piece)?;
        if piece.is_empty() {
            break;
        }
        let small = compressor.compress(&piece)?;
        target.write_all(&small)?;
        table.extend_from_slice(&(small.len() as u32).to_le_bytes());
        table.extend_from_slice(&(piece.len() as u32).to_le_bytes());
    }
    let frames = (table.len() / 8) as u32;
    table.extend_from_slice(&frames.to_le_bytes());
    table.push(0);
    table.extend_from_slice(&SEEKABLE.to_le_bytes());
    target.write_all(&SKIPPABLE.to_le_bytes())?;
    target.write_all(&(table.len() as u32).to_le_bytes())?;
    target.write_all(&table)?;
    target.sync_all()
}
