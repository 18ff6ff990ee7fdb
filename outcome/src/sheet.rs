//! A table on disk: CSV with columns of fixed types.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use wire::{OrderId, Price};

use crate::data::Digest;

/// Decimal places of prices and exact money.
const PLACES: u32 = 9;

/// What a column holds: what a Parquet file of it would declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    /// `int64`, `uint64`, `float64`, `decimal(38,9)`, `string`, `timestamp(ns)`.
    pub(crate) kind: &'static str,
    pub(crate) unit: &'static str,
}

/// A file of the folder, as the manifest lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Its name in the folder.
    pub name: String,
    /// Rows without the head.
    pub rows: u64,
    /// Bytes.
    pub bytes: u64,
    /// XXH3, 128 bits, of its bytes; `None` where it could not be written whole.
    #[serde(default)]
    pub xxh3: Option<String>,
    /// Its columns, in order.
    pub columns: Vec<ListedColumn>,
}

/// A column of such a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedColumn {
    /// As in the head.
    pub name: String,
    /// Its type, in Parquet's words.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its unit; empty where it has none.
    pub unit: String,
}

/// A row that is being put together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    text: String,
    cells: usize,
}

impl Line {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.cells = 0;
    }

    /// Its cells, none of which has a comma.
    #[cfg(test)]
    pub(crate) fn shown_cells(&self) -> Vec<String> {
        self.text.split(',').map(str::to_owned).collect()
    }

    pub(crate) fn cells(&self) -> usize {
        self.cells
    }

    fn next(&mut self) {
        if self.cells > 0 {
            self.text.push(',');
        }
        self.cells += 1;
    }

    pub(crate) fn empty(&mut self) -> &mut Line {
        self.next();
        self
    }

    pub(crate) fn number(&mut self, value: impl Into<i128>) -> &mut Line {
        self.next();
        push_whole(&mut self.text, value.into());
        self
    }

    /// An empty cell for nothing.
    pub(crate) fn maybe(&mut self, value: Option<impl Into<i128>>) -> &mut Line {
        match value {
            Some(value) => self.number(value),
            None => self.empty(),
        }
    }

    /// Billionths, as an exact decimal.
    pub(crate) fn decimal(&mut self, value: i128) -> &mut Line {
        self.next();
        push_decimal(&mut self.text, value);
        self
    }

    pub(crate) fn price(&mut self, price: Price) -> &mut Line {
        if price.is_some() { self.decimal(i128::from(price.0)) } else { self.empty() }
    }

    /// A float in its shortest form that reads back the same; nothing for what is no number.
    pub(crate) fn float(&mut self, value: Option<f64>) -> &mut Line {
        self.next();
        if let Some(value) = value.filter(|value| value.is_finite()) {
            let _ = write!(self.text, "{value:?}");
        }
        self
    }

    pub(crate) fn shown(&mut self, value: impl std::fmt::Display) -> &mut Line {
        self.next();
        let _ = write!(self.text, "{value}");
        self
    }

    /// As it is printed everywhere: SEAT-EPOCH-SEQUENCE.
    pub(crate) fn order(&mut self, id: OrderId) -> &mut Line {
        self.next();
        push_digits(&mut self.text, u64::from(id.strategy().0), 1);
        self.text.push('-');
        push_digits(&mut self.text, u64::from(id.epoch()), 1);
        self.text.push('-');
        push_digits(&mut self.text, u64::from(id.sequence()), 1);
        self
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Line {
        self.next();
        if text.contains([',', '"', '\n', '\r']) {
            self.text.push('"');
            self.text.push_str(&text.replace('"', "\"\""));
            self.text.push('"');
        } else {
            self.text.push_str(text);
        }
        self
    }
}

fn push_whole(text: &mut String, value: i128) {
    if value < 0 {
        text.push('-');
    }
    match u64::try_from(value.unsigned_abs()) {
        Ok(small) => push_digits(text, small, 1),
        Err(_) => {
            let _ = write!(text, "{}", value.unsigned_abs());
        }
    }
}

fn push_digits(text: &mut String, mut value: u64, least: usize) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    while value > 0 || digits.len() - at < least {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
    }
    text.extend(digits[at..].iter().map(|digit| char::from(*digit)));
}

/// At least one place behind the point: a column of whole amounts is still one of decimals.
fn push_decimal(text: &mut String, value: i128) {
    if value < 0 {
        text.push('-');
    }
    let one = 10_u128.pow(PLACES);
    let magnitude = value.unsigned_abs();
    let (whole, part) = (magnitude / one, (magnitude % one) as u64);
    match u64::try_from(whole) {
        Ok(small) => push_digits(text, small, 1),
        Err(_) => {
            let _ = write!(text, "{whole}");
        }
    }
    text.push('.');
    let (mut part, mut places) = (part, PLACES as usize);
    while places > 1 && part.is_multiple_of(10) {
        part /= 10;
        places -= 1;
    }
    push_digits(text, part, places);
}

/// One table of the folder. What cannot be written is noted once; the rest of the run goes on without the file.
#[derive(Debug)]
pub(crate) struct Sheet {
    path: PathBuf,
    name: &'static str,
    columns: &'static [Column],
    out: Option<BufWriter<File>>,
    rows: u64,
    bytes: u64,
    hash: Digest,
    problem: Option<String>,
}

impl Sheet {
    pub(crate) fn create(folder: &Path, name: &'static str, columns: &'static [Column]) -> Sheet {
        let path = folder.join(name);
        let hash = Digest::default();
        let mut sheet = Sheet { path, name, columns, out: None, rows: 0, bytes: 0, hash, problem: None };
        match File::options().write(true).create_new(true).open(&sheet.path) {
            Ok(file) => sheet.out = Some(BufWriter::with_capacity(1 << 16, file)),
            Err(error) => sheet.fail(&error),
        }
        let mut head: Vec<&str> = Vec::new();
        head.extend(columns.iter().map(|column| column.name));
        sheet.put(&head.join(","));
        sheet
    }

    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    pub(crate) fn write(&mut self, line: &Line) {
        debug_assert_eq!(line.cells, self.columns.len(), "{}: {}", self.name, line.text);
        if self.out.is_some() {
            self.rows += 1;
            self.put(&line.text);
        }
    }

    fn put(&mut self, text: &str) {
        let Some(out) = &mut self.out else { return };
        self.bytes += text.len() as u64 + 1;
        self.hash.update(text.as_bytes());
        self.hash.update(b"\n");
        if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n")) {
            self.fail(&error);
        }
    }

    /// So that a run that is killed leaves what it had.
    pub(crate) fn flush(&mut self) {
        if let Some(out) = &mut self.out
            && let Err(error) = out.flush()
        {
            self.fail(&error);
        }
    }

    #[cold]
    fn fail(&mut self, error: &std::io::Error) {
        let problem = format!("cannot write {}: {error}", self.path.display());
        log::error!("{problem}; the run goes on without it");
        self.problem.get_or_insert(problem);
        // What is buffered would be tried again when it is dropped.
        if let Some(out) = self.out.take() {
            let _ = out.into_parts();
        }
    }

    /// What the manifest says of it, and what went wrong.
    pub(crate) fn finish(mut self) -> (Listed, Option<String>) {
        self.flush();
        let columns = self.columns.iter().map(|column| ListedColumn {
            name: column.name.to_owned(),
            kind: column.kind.to_owned(),
            unit: column.unit.to_owned(),
        });
        let mut listed = Listed {
            name: self.name.to_owned(),
            rows: self.rows,
            bytes: self.bytes,
            xxh3: Some(self.hash.words()),
            columns: columns.collect(),
        };
        if self.problem.is_some() {
            // What is there, not what there would have been.
            let text = std::fs::read(&self.path).unwrap_or_default();
            let lines = text.iter().filter(|byte| **byte == b'\n').count() as u64;
            (listed.rows, listed.bytes, listed.xxh3) = (lines.saturating_sub(1), text.len() as u64, None);
        }
        (listed, self.problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact_decimals_of_one_form() {
        let shown = |value: i128| {
            let mut line = Line::default();
            line.decimal(value);
            line.text
        };
        assert_eq!(shown(0), "0.0");
        assert_eq!(shown(585_330_000_000), "585.33");
        assert_eq!(shown(-1), "-0.000000001");
        assert_eq!(shown(-12_000_000_000), "-12.0");
        assert_eq!(shown(i128::MAX), "170141183460469231731687303715.884105727");
    }

    #[test]
    fn an_order_is_called_as_everywhere() {
        let id = OrderId(u64::MAX - 5);
        let mut line = Line::default();
        line.order(id);
        assert_eq!(line.text, id.to_string());
    }

    #[test]
    fn cells_that_would_break_a_row_are_quoted() {
        let mut line = Line::default();
        line.text("plain").text("a,\"b\"").empty().number(-7).maybe(None::<u64>).price(Price::NONE);
        assert_eq!(line.text, "plain,\"a,\"\"b\"\"\",,-7,,");
        assert_eq!(line.cells, 6);
    }

    #[test]
    fn a_file_that_takes_no_more_is_said_once_and_the_run_goes_on() {
        const COLUMNS: &[Column] = &[Column { name: "a", kind: "int64", unit: "" }];
        let mut sheet = Sheet::create(Path::new("/nowhere/at/all"), "a.csv", COLUMNS);
        let mut line = Line::default();
        line.number(1_i64);
        sheet.write(&line);
        let (listed, problem) = sheet.finish();
        assert_eq!(listed.rows, 0);
        assert!(problem.unwrap().starts_with("cannot write /nowhere/at/all/a.csv: "));

        let folder = tempfile::tempdir().unwrap();
        let mut sheet = Sheet::create(folder.path(), "b.csv", COLUMNS);
        // A disk that is full.
        sheet.out = Some(BufWriter::with_capacity(8, File::options().write(true).open("/dev/full").unwrap()));
        (0..10).for_each(|_| sheet.write(&line));
        let (_, problem) = sheet.finish();
        assert!(problem.unwrap().contains("No space left"));
    }
}
