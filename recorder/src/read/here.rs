//! Opening a segment by the name that it has now: a recording may be written while it is read, and then a closed segment is
//! compressed under another name, and retention removes old ones.

use std::io;
use std::path::{Path, PathBuf};

use super::blocks::Blocks;
use super::{SegmentFile, removed};

/// Retention has removed the segment since the folder was listed.
#[derive(Debug, thiserror::Error)]
#[error("removed by retention while it was read, as removed.jsonl lists it")]
struct RemovedMeanwhile;

/// Whether an open failed because retention has removed the segment: then nothing is damaged.
pub fn is_removed(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<RemovedMeanwhile>())
}

impl SegmentFile {
    /// Its blocks, by whatever name it has now.
    ///
    /// # Errors
    /// As [`Blocks::open`]; see [`is_removed`].
    pub fn blocks(&self) -> io::Result<Blocks> {
        open(&self.path, self.head.number.get()).map(|(_, blocks)| blocks)
    }

    /// Bytes of its file, by whatever name it has now; `None` when it is not there any more.
    pub fn file_bytes(&self) -> Option<u64> {
        names(&self.path).into_iter().find_map(|path| path.metadata().ok()).map(|file| file.len())
    }
}

/// Opens the segment with this number that had the name `path`; the name that it has now.
///
/// # Errors
/// As [`SegmentFile::blocks`].
pub(super) fn open(path: &Path, number: u32) -> io::Result<(PathBuf, Blocks)> {
    let mut missing = None;
    for name in names(path) {
        match Blocks::open(&name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => drop(missing.get_or_insert(error)),
            opened => return opened.map(|blocks| (name, blocks)),
        }
    }
    // It is listed before it is removed.
    let listed = removed::removed(path.parent().unwrap_or(path))?;
    if listed.iter().any(|removed| removed.segment == number) {
        return Err(io::Error::new(io::ErrorKind::NotFound, RemovedMeanwhile));
    }
    Err(missing.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
}

/// The names that a segment has, the known one first. The compressed one is there before the plain one goes.
fn names(path: &Path) -> [PathBuf; 2] {
    let plain = path.with_extension("");
    let (plain, compressed) = match path.extension().is_some_and(|extension| extension == "zst") {
        true => (plain, path.to_owned()),
        false => (path.to_owned(), path.with_extension("seg.zst")),
    };
    if plain == *path { [plain, compressed] } else { [compressed, plain] }
}
