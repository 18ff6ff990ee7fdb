//! Reading the tables of a folder again, also of one that is half written.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use crate::shelf::ShelfError;
use crate::write::RunsError;

/// A table's rows, one after the other.
#[derive(Debug)]
pub(crate) struct Table {
    path: PathBuf,
    lines: BufReader<File>,
    columns: Vec<String>,
    /// Rows that have another number of cells than the head: what was being written when the run was killed.
    pub(crate) damaged: u64,
}

/// One row's cells.
pub(crate) type Row = Vec<String>;

impl Table {
    /// `None` where the run has no such table, or not even its head was written.
    pub(crate) fn open(folder: &Path, name: &str) -> Result<Option<Table>, ShelfError> {
        let path = folder.join(name);
        if !path.exists() {
            return Ok(None);
        }
        let file = File::open(&path).map_err(RunsError::io("read", &path))?;
        let mut table = Table { path, lines: BufReader::new(file), columns: Vec::new(), damaged: 0 };
        match table.line()? {
            Some(head) => table.columns = cells(&head),
            None => return Ok(None),
        }
        Ok(Some(table))
    }

    /// The place of a column.
    pub(crate) fn column(&self, name: &str) -> Result<usize, ShelfError> {
        let found = self.columns.iter().position(|column| column == name);
        found.ok_or_else(|| ShelfError::Damaged {
            path: self.path.clone(),
            why: format!("it has no column `{name}`: another version of colo wrote it, or it is damaged"),
        })
    }

    /// The next whole row.
    pub(crate) fn next(&mut self) -> Result<Option<Row>, ShelfError> {
        while let Some(line) = self.line()? {
            let row = cells(&line);
            if row.len() == self.columns.len() {
                return Ok(Some(row));
            }
            self.damaged += 1;
        }
        Ok(None)
    }

    /// The next line that has its end.
    pub(crate) fn line(&mut self) -> Result<Option<String>, ShelfError> {
        let mut bytes = Vec::new();
        self.lines.read_until(b'\n', &mut bytes).map_err(RunsError::io("read", &self.path))?;
        if bytes.pop() != Some(b'\n') {
            self.damaged += u64::from(!bytes.is_empty());
            return Ok(None);
        }
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }
}

fn cells(line: &str) -> Row {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                cell.push('"');
                letters.next();
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            letter => cell.push(letter),
        }
    }
    cells.push(cell);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_was_cut_off_is_counted_and_left_out() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.csv"), "x,y\n1,\"a,\"\"b\"\"\"\n2\n3,c\n4,").unwrap();
        let mut table = Table::open(folder.path(), "a.csv").unwrap().unwrap();
        assert_eq!((table.column("y").unwrap(), table.column("z").is_err()), (1, true));
        let mut rows = Vec::new();
        while let Some(row) = table.next().unwrap() {
            rows.push(row.join("|"));
        }
        assert_eq!(rows, ["1|a,\"b\"", "3|c"]);
        assert_eq!(table.damaged, 2);
        assert!(Table::open(folder.path(), "b.csv").unwrap().is_none());
        std::fs::write(folder.path().join("c.csv"), "").unwrap();
        assert!(Table::open(folder.path(), "c.csv").unwrap().is_none());
    }
}
