//! Rows of both files, in the order of the joint sequence.

use std::path::Path;

use wire::{InstrumentId, Nanos, Quantity};

use super::columns::Part;
use super::layout::Layout;
use super::merge::{File, Merge};
use super::row::Body;
use super::snapshot::{Snapshot, Snapshots};
use super::{EXPECTED, first_pass};
use crate::source::error::Fault;
use crate::source::listing::{Listing, TickRule};
use crate::source::published::{Published, PublishedDay, PublishedFile, PublishedRow};
use crate::source::{Counts, Options, SourceError};

/// Reads an orders file and a trades file: of the symbols and the date of `options`, all rows.
///
/// The rows of a stock are in the order of the joint sequence, whatever their place in the files. A time that does not
/// lie between those of its neighbours is replaced by one that does, as in a replay.
///
/// # Errors
/// [`SourceError`]: a file that cannot be used, a row that cannot be understood, a sequence number that one stock has
/// twice, no row of an orders file.
pub fn read(
    orders: &Path,
    trades: &Path,
    layout: &Layout,
    options: &Options,
) -> Result<PublishedDay, SourceError> {
    let date = options.date.map(|date| date.0);
    let open = |path: &Path, part| File::open(path, part, date, layout);
    let mut listing = Listing::new(&options.symbols, TickRule::Cents);
    let mut orders_seen = false;
    for (path, part) in [(orders, Part::Orders), (trades, Part::Trades)] {
        let seen = first_pass(&mut open(path, part)?, options, &mut listing)?;
        orders_seen |= part == Part::Orders && seen.earliest != u64::MAX;
    }
    if !orders_seen {
        return Err(SourceError::Empty { path: orders.to_owned(), expected: EXPECTED.to_owned() });
    }
    let mut counts = Counts::default();
    let (first, second) = (open(orders, Part::Orders)?, open(trades, Part::Trades)?);
    let mut merge = Merge::sorted(first, second, &listing, &mut counts, options.on_bad_row)?;
    let instruments = listing.finish()?;
    let mut day = PublishedDay { instruments, ..PublishedDay::default() };
    let mut last = vec![None; day.instruments.len() + 1];
    while let Some(placed) = merge.next(&listing, &mut counts, options.on_bad_row)? {
        if placed.instrument == InstrumentId::default() {
            continue;
        }
        let path = if placed.part == Part::Orders { orders } else { trades };
        let before = last[placed.instrument.0 as usize].replace(placed.sequence);
        if before.is_some_and(|before| placed.sequence <= before) {
            let expected = "a number that no other row of the stock has (is the row doubled?)";
            let fault = Fault::new("joint sequence", placed.sequence, expected);
            counts.reject(options.on_bad_row, fault, path, placed.line)?;
            continue;
        }
        let body = match placed.body {
            Body::Status => {
                day.without_effect += 1;
                continue;
            }
            Body::Add { order, side, price, quantity } => {
                Published::Order { order, side, price, quantity: Quantity(quantity) }
            }
            Body::Cancel { order, side, price, quantity } => {
                Published::Cancel { order, quantity: Quantity(quantity), resting: Some((side, price)) }
            }
            Body::Trade { buy, sell, price, quantity, aggressor, .. } => {
                Published::Trade { buy, sell, price, quantity: Quantity(quantity), aggressor }
            }
        };
        let file = if placed.part == Part::Orders { PublishedFile::Orders } else { PublishedFile::Trades };
        let (instrument, time, stated) = (placed.instrument, Nanos(placed.time), Nanos(placed.stated));
        let off_money = matches!(placed.body, Body::Trade { off_money: true, .. });
        day.rows.push(PublishedRow { file, row: placed.line, instrument, time, stated, off_money, body });
    }
    Ok(day)
}

/// Reads a file of ten-level snapshots, of all stocks and phases.
///
/// # Errors
/// [`SourceError`]: a file that cannot be used, a row that cannot be understood.
pub fn read_snapshots(path: &Path) -> Result<Vec<Snapshot>, SourceError> {
    let mut reader = Snapshots::open(path)?;
    let mut snapshots = Vec::new();
    while let Some(snapshot) = reader.next()? {
        snapshots.push(snapshot);
    }
    Ok(snapshots)
}
