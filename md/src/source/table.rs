//! Rows of comma-separated columns.

use std::path::{Path, PathBuf};

use super::SourceError;
use super::error::{Fault, quote};
use super::input::{Input, damaged, open};

/// A text table, row by row. Without quoting: no format read here quotes, and a stray quotation mark must not swallow
/// the following rows.
pub(crate) struct Table {
    path: PathBuf,
    reader: csv::Reader<Input>,
    record: csv::ByteRecord,
    row: u64,
}

impl Table {
    pub(crate) fn open(path: &Path, expected: &str) -> Result<Table, SourceError> {
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .quoting(false)
            .buffer_capacity(1 << 16)
            .from_reader(open(path, expected)?);
        Ok(Table { path: path.to_owned(), reader, record: csv::ByteRecord::new(), row: 0 })
    }

    /// Reads the next row that is not blank, and returns its line number.
    pub(crate) fn next(&mut self) -> Result<Option<u64>, SourceError> {
        match self.reader.read_byte_record(&mut self.record) {
            Ok(false) => Ok(None),
            Ok(true) => {
                // Trimming copies the row; hardly any row needs it.
                if self.record.as_slice().iter().any(u8::is_ascii_whitespace) {
                    self.record.trim();
                }
                self.row = self.record.position().map_or(self.row + 1, csv::Position::line);
                Ok(Some(self.row))
            }
            Err(error) => Err(match error.into_kind() {
                csv::ErrorKind::Io(error) => damaged(&self.path, self.row, error),
                other => SourceError::Damaged {
                    path: self.path.clone(),
                    row: self.row,
                    reason: format!("the table cannot be read: {other:?}"),
                },
            }),
        }
    }

    /// Behind the last row: it has no line end.
    pub(crate) fn is_unended(&self) -> bool {
        self.reader.get_ref().is_unended()
    }

    /// The columns of the row that was read last.
    pub(crate) fn record(&self) -> &csv::ByteRecord {
        &self.record
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A row must have `expected` columns; additional empty ones are allowed (some vendors end rows with a comma).
    pub(crate) fn check_width(record: &csv::ByteRecord, expected: usize) -> Result<(), Fault> {
        let surplus = record.iter().skip(expected).any(|column| !column.is_empty());
        if record.len() < expected || surplus {
            return Err(Fault::new(
                "the row",
                format!(
                    "{} columns, {}",
                    record.len(),
                    quote(&record.iter().collect::<Vec<_>>().join(&b','))
                ),
                format!("{expected} columns (is the row cut off?)"),
            ));
        }
        Ok(())
    }
}
