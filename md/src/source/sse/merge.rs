//! Merges orders and trades into one stream, in the order in which they happened.
//!
//! The joint sequence numbers the orders and trades of one channel of the exchange, and a stock stays in its channel:
//! per stock, the sequence is the order of events. Files that are sorted by it are merged as they are read. Others
//! (rows by stock, several channels, shuffled) are read completely, sorted per stock, and then merged by time; that
//! takes about 100 bytes of memory a row.

use std::collections::VecDeque;
use std::path::Path;

use wire::InstrumentId;

use super::columns::{Columns, Part};
use super::layout::Layout;
use super::row::{self, Body, Row};
use crate::source::error::Fault;
use crate::source::listing::Listing;
use crate::source::table::Table;
use crate::source::{Counts, OnBadRow, SourceError, fields};

/// A row with its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) part: Part,
    pub(super) line: u64,
    pub(super) time: u64,
    /// As the row has it.
    pub(super) stated: u64,
    /// The row's own time was different: it does not fit between those of its neighbours.
    pub(super) strayed: bool,
    pub(super) sequence: u64,
    /// Zero: not requested.
    pub(super) instrument: InstrumentId,
    pub(super) body: Body,
}

/// A line's number, and its row or its fault.
type Numbered = (u64, Result<Row, Fault>);

/// One of the two files.
pub(super) struct File {
    table: Table,
    columns: Columns,
    midnight: u64,
    /// Date of the first row that has one.
    day: Option<u64>,
}

impl File {
    pub(super) fn open(
        path: &Path,
        part: Part,
        date: Option<u64>,
        layout: &Layout,
    ) -> Result<File, SourceError> {
        let mut table = Table::open(path, super::EXPECTED)?;
        let columns = Columns::read(&mut table, part, layout)?;
        let midnight = date.or_else(|| fields::date_in_path(path)).unwrap_or(0);
        Ok(File { table, columns, midnight, day: None })
    }

    pub(super) fn path(&self) -> &Path {
        self.table.path()
    }

    /// The next row, or its fault.
    pub(super) fn next(&mut self) -> Result<Option<Numbered>, SourceError> {
        let Some(line) = self.table.next()? else { return Ok(None) };
        let row = row::read(self.table.record(), &self.columns).and_then(|mut row| {
            if row.dated {
                let day = row.time / fields::DAY;
                if *self.day.get_or_insert(day) != day {
                    let expected = "the date of the first row: a file holds one day";
                    return Err(Fault::new("date", "another day", expected));
                }
            } else {
                row.time += self.midnight;
            }
            Ok(row)
        });
        Ok(Some((line, row)))
    }

    /// Behind the last row: it has no line end.
    pub(super) fn is_unended(&self) -> bool {
        self.table.is_unended()
    }

    fn next_placed(
        &mut self,
        listing: &Listing,
        counts: &mut Counts,
        on_bad_row: OnBadRow,
    ) -> Result<Option<Placed>, SourceError> {
        while let Some((line, row)) = self.next()? {
            counts.read += 1;
            match row {
                Err(fault) => counts.reject(on_bad_row, fault, self.path(), line)?,
                Ok(row) => {
                    return Ok(Some(Placed {
                        part: self.columns.part,
                        line,
                        time: row.time,
                        stated: row.time,
                        strayed: false,
                        sequence: row.sequence,
                        instrument: listing.get(&row.symbol).unwrap_or_default(),
                        body: row.body,
                    }));
                }
            }
        }
        Ok(None)
    }
}

/// Checks in the first pass whether the rows of a file can be merged as they are.
#[derive(Debug)]
pub(super) struct OrderCheck {
    last: Option<(u64, u64)>,
    pub(super) sorted: bool,
}

impl OrderCheck {
    pub(super) fn new() -> OrderCheck {
        OrderCheck { last: None, sorted: true }
    }

    pub(super) fn row(&mut self, row: &Row) {
        if let Some((time, sequence)) = self.last {
            self.sorted &= row.sequence >= sequence && row.time >= time;
        }
        self.last = Some((row.time, row.sequence));
    }
}

/// The merged stream.
pub(super) enum Merge {
    Streamed(Box<Streamed>),
    Sorted(VecDeque<Placed>),
}

/// Two sorted files, and the next row of each.
pub(super) struct Streamed {
    orders: File,
    trades: File,
    next_order: Option<Placed>,
    next_trade: Option<Placed>,
    primed: bool,
}

impl Merge {
    pub(super) fn streamed(orders: File, trades: File) -> Merge {
        Merge::Streamed(Box::new(Streamed {
            orders,
            trades,
            next_order: None,
            next_trade: None,
            primed: false,
        }))
    }

    /// Reads both files completely.
    pub(super) fn sorted(
        mut orders: File,
        mut trades: File,
        listing: &Listing,
        counts: &mut Counts,
        on_bad_row: OnBadRow,
    ) -> Result<Merge, SourceError> {
        let mut rows = Vec::new();
        for file in [&mut orders, &mut trades] {
            while let Some(row) = file.next_placed(listing, counts, on_bad_row)? {
                rows.push(row);
            }
            counts.unended += u64::from(file.is_unended());
        }
        rows.sort_by_key(|row| (row.instrument, row.sequence));
        rows.chunk_by_mut(|one, next| one.instrument == next.instrument).for_each(straighten);
        rows.sort_by_key(|row| (row.time, row.sequence));
        Ok(Merge::Sorted(rows.into()))
    }

    pub(super) fn next(
        &mut self,
        listing: &Listing,
        counts: &mut Counts,
        on_bad_row: OnBadRow,
    ) -> Result<Option<Placed>, SourceError> {
        match self {
            Merge::Sorted(rows) => Ok(rows.pop_front()),
            Merge::Streamed(streamed) => streamed.next(listing, counts, on_bad_row),
        }
    }
}

/// Within a stock the sequence decides, whatever the clock says. A row whose time does not fit gets one that does: that
/// of the previous row when it lies before that; that of the next row when it lies after that and the two others are in
/// order.
fn straighten(rows: &mut [Placed]) {
    let mut latest = 0;
    for index in 0..rows.len() {
        let next = rows.get(index + 1).map(|row| row.time).filter(|&next| next >= latest);
        let row = &mut rows[index];
        let time = row.time.min(next.unwrap_or(u64::MAX)).max(latest);
        row.strayed = time != row.time;
        row.time = time;
        latest = time;
    }
}

impl Streamed {
    fn next(
        &mut self,
        listing: &Listing,
        counts: &mut Counts,
        on_bad_row: OnBadRow,
    ) -> Result<Option<Placed>, SourceError> {
        if !self.primed {
            self.primed = true;
            self.next_order = self.orders.next_placed(listing, counts, on_bad_row)?;
            self.next_trade = self.trades.next_placed(listing, counts, on_bad_row)?;
        }
        let order_first = match (&self.next_order, &self.next_trade) {
            (Some(order), Some(trade)) => order.sequence <= trade.sequence,
            (order, _) => order.is_some(),
        };
        let (slot, file) = if order_first {
            (&mut self.next_order, &mut self.orders)
        } else {
            (&mut self.next_trade, &mut self.trades)
        };
        let row = slot.take();
        if row.is_some() {
            *slot = file.next_placed(listing, counts, on_bad_row)?;
            counts.unended += u64::from(slot.is_none() && file.is_unended());
        }
        Ok(row)
    }
}
