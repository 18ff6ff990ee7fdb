//! The folders that there are, and which of them may go.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde_json::Value as Json;

use crate::manifest::{FORMAT, MANIFEST, Manifest, VERSION};
use crate::write::RunsError;

/// A folder with this file in it is never removed by itself.
pub const KEEP: &str = "keep";

/// A run's folder cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ShelfError {
    /// There is none.
    #[error("{} is no folder of a run: it has no {MANIFEST}", .0.display())]
    NoRun(PathBuf),
    /// There is no run at all.
    #[error("there is no run in {}: `colo up` makes one", .0.display())]
    Empty(PathBuf),
    /// Its manifest cannot be read.
    #[error("{}: {why}", path.display())]
    Damaged {
        /// The manifest.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The system refuses.
    #[error(transparent)]
    Io(#[from] RunsError),
}

/// A folder on the shelf.
#[derive(Debug)]
pub struct Shelved {
    /// Where it is.
    pub folder: PathBuf,
    /// Bytes of all its files.
    pub bytes: u64,
    /// When its manifest was written last.
    pub written: SystemTime,
    /// What it says.
    pub manifest: Result<Manifest, ShelfError>,
}

/// A path for JSON, which holds only UTF-8: what of it is not is replaced.
fn as_text<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// A folder that goes, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Removal {
    /// Which.
    #[serde(serialize_with = "as_text")]
    pub folder: PathBuf,
    /// Its bytes.
    pub bytes: u64,
    /// `age` or `size`.
    pub because: &'static str,
}

/// How many are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Older ones go; zero: none for its age.
    pub age: Duration,
    /// Beyond so many bytes of all, the oldest go; zero: none for its size.
    pub bytes: u64,
}

/// Reads the manifest of a folder.
///
/// # Errors
/// [`ShelfError`].
pub fn read(folder: &Path) -> Result<Manifest, ShelfError> {
    let path = folder.join(MANIFEST);
    let bytes = match fs::read(&path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Err(ShelfError::NoRun(folder.to_owned()));
        }
        other => other.map_err(RunsError::io("read", &path))?,
    };
    let damaged = |why: String| ShelfError::Damaged { path: path.clone(), why };
    let json: Json = serde_json::from_slice(&bytes)
        .map_err(|error| damaged(format!("it is damaged or half written: {error}")))?;
    if json.get("format").and_then(Json::as_str) != Some(FORMAT) {
        return Err(damaged(format!("it is of something else: its `format` is not \"{FORMAT}\"")));
    }
    let version = json.get("version").and_then(Json::as_u64).unwrap_or(0);
    if version != u64::from(VERSION) {
        return Err(damaged(format!("it has version {version}, this colo reads {VERSION}")));
    }
    serde_json::from_value(json).map_err(|error| damaged(format!("it is damaged: {error}")))
}

/// The folders with a manifest in `root`, the oldest first. None where there is no such folder.
///
/// # Errors
/// [`ShelfError::Io`].
pub fn list(root: &Path) -> Result<Vec<Shelved>, ShelfError> {
    let entries = match fs::read_dir(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(RunsError::io("read", root))?,
    };
    let mut shelved = Vec::new();
    for entry in entries {
        let entry = entry.map_err(RunsError::io("read", root))?;
        // A link leads out of the shelf.
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let folder = entry.path();
        let Ok(metadata) = fs::metadata(folder.join(MANIFEST)) else { continue };
        let written = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let manifest = read(&folder);
        shelved.push(Shelved { bytes: bytes_of(&folder), folder, written, manifest });
    }
    let started =
        |shelved: &Shelved| shelved.manifest.as_ref().map(|it| it.started.clone()).unwrap_or_default();
    shelved.sort_by_key(|shelved| (started(shelved), shelved.folder.clone()));
    Ok(shelved)
}

/// The folder that is meant: a path, the name of one in `root`, or without either the latest there.
///
/// # Errors
/// [`ShelfError`].
pub fn find(root: &Path, name: Option<&Path>) -> Result<PathBuf, ShelfError> {
    let Some(name) = name else {
        let latest = list(root)?.pop().map(|shelved| shelved.folder);
        return latest.ok_or_else(|| ShelfError::Empty(root.to_owned()));
    };
    let on_shelf = root.join(name);
    let found = [name.to_owned(), on_shelf].into_iter().find(|folder| folder.join(MANIFEST).exists());
    found.ok_or_else(|| ShelfError::NoRun(name.to_owned()))
}

/// What would go so that these rules hold. Runs that go on, folders with a file `keep`, and what is not understood stay; they
/// count for the size.
pub fn surplus(shelved: &[Shelved], keep: Keep, now: SystemTime) -> Vec<Removal> {
    let (mut kept, mut removals) = (0_u64, Vec::new());
    for one in shelved.iter().rev() {
        let stays = match &one.manifest {
            Ok(manifest) => manifest.is_alive(&one.folder) || one.folder.join(KEEP).exists(),
            Err(_) => true,
        };
        let age = now.duration_since(one.written).unwrap_or_default();
        let because = match () {
            () if stays => None,
            () if !keep.age.is_zero() && age > keep.age => Some("age"),
            () if keep.bytes > 0 && kept.saturating_add(one.bytes) > keep.bytes => Some("size"),
            () => None,
        };
        match because {
            Some(because) => removals.push(Removal { folder: one.folder.clone(), bytes: one.bytes, because }),
            None => kept = kept.saturating_add(one.bytes),
        }
    }
    removals.reverse();
    removals
}

/// Removes a run's folder; anything else is refused.
///
/// # Errors
/// [`ShelfError`].
pub fn remove(folder: &Path) -> Result<(), ShelfError> {
    read(folder)?;
    Ok(fs::remove_dir_all(folder).map_err(RunsError::io("remove", folder))?)
}

/// Bytes of all files below a folder.
pub fn bytes_of(folder: &Path) -> u64 {
    let size = |entry: fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => bytes_of(&entry.path()),
        _ => entry.metadata().map_or(0, |metadata| metadata.len()),
    };
    fs::read_dir(folder).into_iter().flatten().flatten().map(size).sum()
}
