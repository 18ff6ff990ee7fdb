//! Which files a run was made from, so that two runs can be told to have had the same.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

/// More files than this in one folder are no recorded day.
const MOST_FILES: usize = 10_000;

/// A file as it was when the run began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileMark {
    /// Where it lies.
    pub path: PathBuf,
    /// Bytes.
    pub bytes: u64,
    /// XXH3, 128 bits, of its bytes; `None` where it could not be read.
    pub xxh3: Option<String>,
}

impl FileMark {
    /// Reads the whole file.
    pub fn of(path: &Path) -> FileMark {
        let (bytes, xxh3) = match digest(path) {
            Ok((bytes, digest)) => (bytes, Some(digest)),
            Err(error) => {
                log::warn!("{}: no hash: {error}", path.display());
                (fs::metadata(path).map_or(0, |metadata| metadata.len()), None)
            }
        };
        FileMark { path: path.to_owned(), bytes, xxh3 }
    }
}

/// XXH3, 128 bits, of bytes that come one after the other.
#[derive(Default)]
pub(crate) struct Digest(Box<Xxh3>);

impl Digest {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// In hexadecimal.
    pub(crate) fn words(&self) -> String {
        format!("{:032x}", self.0.digest128())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words())
    }
}

/// Length and hash of a file.
pub(crate) fn digest(path: &Path) -> io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    let (mut hash, mut bytes, mut buffer) = (Digest::default(), 0, vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok((bytes, hash.words())),
            read => {
                hash.update(&buffer[..read]);
                bytes += read as u64;
            }
        }
    }
}

/// The files below these paths, in the order of their names.
pub fn files_below(paths: &[PathBuf]) -> Vec<PathBuf> {
    let (mut files, mut open) = (Vec::new(), paths.to_vec());
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else if path.is_file() {
            files.push(path);
        }
        if files.len() >= MOST_FILES {
            break;
        }
    }
    files.sort();
    files
}
