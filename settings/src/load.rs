//! Files on disk.

use std::path::{Path, PathBuf};

use crate::Diagnostics;

/// Why a file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It cannot be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is wrong.
    #[error(transparent)]
    Invalid(#[from] Diagnostics),
}

/// The text of the file at `path`.
///
/// # Errors
/// [`LoadError::Read`].
pub fn read_file(path: &Path) -> Result<String, LoadError> {
    std::fs::read_to_string(path).map_err(|source| LoadError::Read { path: path.to_owned(), source })
}
