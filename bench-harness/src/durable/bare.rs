//! The bare loop: a prepared file, and writes into it that are on disk when they return.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use nix::libc;

use super::lane::histogram;
use crate::ipc::{IpcError, system};

/// How a file is prepared and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    /// Zeros were written before; otherwise its blocks are only reserved.
    pub(super) prepared: bool,
    /// Flags of `open`, `O_DSYNC` and `O_DIRECT`. Without `O_DSYNC` each write is followed by `fdatasync`.
    pub(super) flags: i32,
}

impl Way {
    /// As the recorder does.
    pub(super) const RECORDER: Way = Way { prepared: true, flags: libc::O_DSYNC };
}

/// What a loop did.
#[derive(Debug)]
pub(super) struct Looped {
    pub(super) writes: u64,
    pub(super) seconds: f64,
    pub(super) write_ns: Histogram<u64>,
}

/// A file to be written again and again.
#[derive(Debug)]
pub(super) struct Bare {
    file: File,
    bytes: u64,
    at: u64,
    direct: bool,
    synced: bool,
}

/// What `O_DIRECT` wants buffers and sizes to be a multiple of.
pub(super) const ALIGNED: usize = 4096;

impl Bare {
    pub(super) fn create(path: &Path, bytes: u64, way: Way) -> Result<Bare, IpcError> {
        prepare(path, bytes, way.prepared).map_err(system("prepare a file"))?;
        let file = OpenOptions::new().write(true).custom_flags(way.flags).open(path);
        Ok(Bare {
            file: file.map_err(system("open a file"))?,
            bytes,
            at: 0,
            direct: way.flags & libc::O_DIRECT != 0,
            synced: way.flags & libc::O_DSYNC != 0,
        })
    }

    /// Writes `size` bytes at a time, from the start again when the file is full.
    pub(super) fn run(&mut self, size: usize, turn: Duration) -> Result<Looped, IpcError> {
        let size = if self.direct { size.next_multiple_of(ALIGNED) } else { size };
        let mut room: Vec<u8> = (0..size + ALIGNED).map(|index| ((index * 31) >> 3) as u8).collect();
        let start = room.as_ptr().align_offset(ALIGNED).min(ALIGNED);
        let buffer = &mut room[start..start + size];
        let mut looped = Looped { writes: 0, seconds: 0.0, write_ns: histogram()? };
        let begun = Instant::now();
        while begun.elapsed() < turn {
            if self.at + size as u64 > self.bytes {
                self.at = 0;
            }
            // No two writes are alike: what does not change need not be written.
            buffer[..8].copy_from_slice(&looped.writes.to_le_bytes());
            let before = Instant::now();
            self.file.write_all_at(buffer, self.at).map_err(system("write to the disk"))?;
            if !self.synced {
                self.file.sync_data().map_err(system("sync a file"))?;
            }
            looped.write_ns.saturating_record(before.elapsed().as_nanos() as u64);
            looped.writes += 1;
            self.at += size as u64;
        }
        looped.seconds = begun.elapsed().as_secs_f64();
        Ok(looped)
    }
}

fn prepare(path: &Path, bytes: u64, zeros: bool) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
    nix::fcntl::posix_fallocate(&file, 0, bytes as i64)?;
    if zeros {
        let block = vec![0; 1 << 20];
        let mut left = bytes;
        while left > 0 {
            let some = left.min(block.len() as u64);
            file.write_all(&block[..some as usize])?;
            left -= some;
        }
    }
    file.sync_all()
}
