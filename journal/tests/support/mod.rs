//! Shared by the tests.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use journal::{Clock, Journal, JournalFiles, JournalShape, layout};
use tempfile::TempDir;

/// Capacity of the smallest ring.
pub(crate) const SMALL: u64 = layout::MIN_CAPACITY;

/// A directory in memory if possible, otherwise among the temporary files.
pub(crate) fn directory() -> TempDir {
    let shm = Path::new("/dev/shm");
    let builder = || {
        let mut builder = tempfile::Builder::new();
        builder.prefix("colo-test-");
        builder
    };
    builder().tempdir_in(shm).or_else(|_| builder().tempdir()).expect("a temporary directory")
}

pub(crate) fn shape(name: &str, capacity: u64) -> JournalShape {
    JournalShape { id: 7, name: name.to_owned(), capacity, seats: 64, topics: 16, page: 4096 }
}

pub(crate) fn files(directory: &TempDir, name: &str) -> JournalFiles {
    JournalFiles::new(directory.path(), directory.path(), name)
}

/// A fresh journal of `capacity` bytes in a directory of its own.
pub(crate) fn journal(capacity: u64) -> (TempDir, JournalFiles, Journal) {
    let directory = directory();
    let files = files(&directory, "t");
    let journal = Journal::create(files.clone(), shape("t", capacity), 1).expect("a journal");
    (directory, files, journal)
}

pub(crate) fn clock() -> Clock {
    Clock::monotonic()
}

/// Overwrites one word of a shared file.
pub(crate) fn poke(path: &Path, word: usize, value: u64) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&value.to_le_bytes(), word as u64 * 8).unwrap();
}

/// Reads one word of a shared file.
pub(crate) fn peek(path: &Path, word: usize) -> u64 {
    let mut bytes = [0; 8];
    File::open(path).unwrap().read_exact_at(&mut bytes, word as u64 * 8).unwrap();
    u64::from_le_bytes(bytes)
}

/// A payload in which every byte follows from the seed and its place.
pub(crate) fn payload(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .collect()
}

/// A payload whose every line starts with the commit word that a reader will expect there `laps` laps later.
pub(crate) fn forged(position: u64, capacity: u64, laps: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    for (offset, chunk) in bytes.chunks_mut(8).enumerate() {
        let at = position + 32 + offset as u64 * 8;
        let value = (at - at % 64) + laps * capacity;
        chunk.copy_from_slice(&value.to_le_bytes()[..chunk.len()]);
    }
    bytes
}

/// The largest payload whose frame takes exactly this many bytes.
pub(crate) fn payload_of_frame(bytes: u64) -> usize {
    (bytes - 32) as usize
}

/// Ends the whole test binary when something hangs, so that a hang is a failure.
pub(crate) struct Watchdog(std::sync::mpsc::Sender<()>);

impl Watchdog {
    pub(crate) fn start(what: &'static str, limit: std::time::Duration) -> Watchdog {
        // An interpreter is slow.
        let limit = if cfg!(miri) { 10 * limit } else { limit };
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        std::thread::spawn(move || {
            if let Err(std::sync::mpsc::RecvTimeoutError::Timeout) = receiver.recv_timeout(limit) {
                eprintln!("watchdog: {what} did not end within {limit:?}");
                std::process::abort();
            }
        });
        Watchdog(sender)
    }

    /// Ends the watch when the work is done.
    pub(crate) fn stop(self) {
        drop(self.0);
    }
}
