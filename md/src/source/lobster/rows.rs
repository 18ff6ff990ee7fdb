//! The rows of a message file, and the cross that an instant holds.

use std::collections::VecDeque;
use std::path::Path;

use wire::Price;

use super::row::{self, Kind, Row};
use crate::source::SourceError;
use crate::source::error::Fault;
use crate::source::table::Table;

/// A row with its line number.
type Numbered = (u64, Result<Row, Fault>);

/// Rows in their order.
pub(super) struct Rows {
    table: Table,
    /// Rows that are read and not given yet.
    ahead: VecDeque<Numbered>,
    /// Of this time the cross has this price, if there is one.
    cross: Option<(u64, Option<Price>)>,
}

impl Rows {
    pub(super) fn open(path: &Path, expected: &str) -> Result<Rows, SourceError> {
        Ok(Rows { table: Table::open(path, expected)?, ahead: VecDeque::new(), cross: None })
    }

    /// The next row with its line number; `None` behind the last.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<Numbered>, SourceError> {
        if let Some(row) = self.ahead.pop_front() {
            return Ok(Some(row));
        }
        self.read()
    }

    #[inline]
    fn read(&mut self) -> Result<Option<Numbered>, SourceError> {
        let number = self.table.next()?;
        Ok(number.map(|number| (number, row::message(self.table.record()))))
    }

    /// The price of the cross in the instant of `row`, which was given last. Its rows of type 4 and 5 may come before that of type 6, and
    /// their price may be the limit of the order. Nothing behind that instant is looked at but the row that ends it.
    pub(super) fn cross_price(&mut self, row: &Row) -> Result<Option<Price>, SourceError> {
        let time = row.time;
        if row.kind == Kind::Cross {
            self.cross = Some((time, Some(row.price)));
        }
        if let Some((of, price)) = self.cross
            && of == time
        {
            return Ok(price);
        }
        let is_later = |row: &Result<Row, Fault>| row.as_ref().is_ok_and(|row| row.time != time);
        while !self.ahead.iter().any(|(_, row)| is_later(row)) {
            let Some(row) = self.read()? else { break };
            self.ahead.push_back(row);
        }
        let of_instant = self.ahead.iter().take_while(|(_, row)| !is_later(row));
        let mut crosses =
            of_instant.filter_map(|(_, row)| row.as_ref().ok().filter(|row| row.kind == Kind::Cross));
        let price = crosses.next().map(|row| row.price);
        self.cross = Some((time, price));
        Ok(price)
    }

    pub(super) fn is_unended(&self) -> bool {
        self.table.is_unended()
    }

    pub(super) fn path(&self) -> &Path {
        self.table.path()
    }
}
