//! Errors in recorded data, with their place.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

/// A recorded day cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The path does not exist.
    #[error("{}: no such file or folder; expected {expected}", .path.display())]
    Missing {
        /// The path as it was given.
        path: PathBuf,
        /// The kind of file that was expected.
        expected: String,
    },
    /// A system call failed.
    #[error("{}: cannot be read: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The data ends too early, or cannot be unpacked.
    #[error("{}, after row {row}: {reason}; copy or download the file again", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The last complete row.
        row: u64,
        /// What is wrong with the data.
        reason: String,
    },
    /// The file has no row at all.
    #[error("{}: the file holds no data; expected {expected}", .path.display())]
    Empty {
        /// The file.
        path: PathBuf,
        /// The kind of content that was expected.
        expected: String,
    },
    /// The file has another format.
    #[error("{}: {found}; expected {expected}", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The format that it seems to have.
        found: String,
        /// What the source reads.
        expected: String,
    },
    /// A folder does not hold exactly the files that a source needs.
    #[error("{}: {found}; {advice}", .path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The files that it holds.
        found: String,
        /// What to do.
        advice: String,
    },
    /// A row does not follow the format.
    #[error(transparent)]
    Row(Box<BadRow>),
    /// More rows contradict others than are tolerated.
    #[error(
        "{first}; {irregular} of {rows} rows contradict others ({kinds}), more than md.tolerate = {share} allows: get the \
         data again from where it comes from, or raise md.tolerate to go on with it as it is"
    )]
    Irregular {
        /// The first of them.
        first: Box<BadRow>,
        /// Such rows so far.
        irregular: u64,
        /// Rows of all files.
        rows: u64,
        /// The tolerated share.
        share: f64,
        /// The number of each kind.
        kinds: String,
    },
    /// An option cannot be used with this source or these files.
    #[error("{name} = {found}: expected {expected}")]
    Option {
        /// The key.
        name: &'static str,
        /// Its value.
        found: String,
        /// The allowed values.
        expected: String,
    },
    /// More instruments than an instance can hold.
    #[error("{}: more than {limit} instruments; name the ones to replay with symbols = [...]", .path.display())]
    TooManyInstruments {
        /// The file.
        path: PathBuf,
        /// The limit.
        limit: u32,
    },
}

/// One row that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}, row {row}, {column}: found {found}, expected {expected}", .path.display())]
pub struct BadRow {
    /// The file.
    pub path: PathBuf,
    /// Line (text) or record (binary), counted from 1; a header line counts.
    pub row: u64,
    /// The column's name or place.
    pub column: Cow<'static, str>,
    /// The value found, shortened.
    pub found: String,
    /// The expected values.
    pub expected: Cow<'static, str>,
}

/// A [`BadRow`] without file and row, which the caller adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) column: Cow<'static, str>,
    pub(crate) found: String,
    pub(crate) expected: Cow<'static, str>,
}

impl Fault {
    pub(crate) fn new(
        column: impl Into<Cow<'static, str>>,
        found: impl fmt::Display,
        expected: impl Into<Cow<'static, str>>,
    ) -> Fault {
        Fault { column: column.into(), found: found.to_string(), expected: expected.into() }
    }

    /// For text of the file.
    pub(crate) fn text(column: &'static str, found: &[u8], expected: &'static str) -> Fault {
        Fault::new(column, quote(found), expected)
    }

    pub(crate) fn at(self, path: &Path, row: u64) -> BadRow {
        BadRow { path: path.to_owned(), row, column: self.column, found: self.found, expected: self.expected }
    }
}

impl From<BadRow> for SourceError {
    fn from(row: BadRow) -> SourceError {
        SourceError::Row(Box::new(row))
    }
}

/// Bytes of a file for a message: quoted, unprintable ones escaped, at most about 48 characters.
pub(crate) fn quote(bytes: &[u8]) -> String {
    const MOST: usize = 48;
    if bytes.is_empty() {
        return "nothing".to_owned();
    }
    let shown = bytes[..bytes.len().min(MOST)].escape_ascii();
    if bytes.len() > MOST { format!("`{shown}…` ({} bytes)", bytes.len()) } else { format!("`{shown}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_bytes_are_shown_short_and_printable() {
        assert_eq!(quote(b""), "nothing");
        assert_eq!(quote(b"12x"), "`12x`");
        assert_eq!(quote(b"\x00\xff"), "`\\x00\\xff`");
        assert!(quote(&[b'a'; 500]).len() < 80);
    }

    #[test]
    fn a_bad_row_says_where_what_and_what_instead() {
        let row = Fault::text("OrderPrice", b"12,x", "a price above zero").at(Path::new("a.csv"), 7);
        assert_eq!(
            SourceError::from(row).to_string(),
            "a.csv, row 7, OrderPrice: found `12,x`, expected a price above zero"
        );
    }
}
