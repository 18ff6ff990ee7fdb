//! Our book against the exchange's own ten-level snapshots.
//!
//! A snapshot is taken every three seconds and does not say between which two events. Its count of trades does
//! nearly: our book is compared with it after every event while the day's count of trades is the snapshot's. One
//! agreement is enough, and all of ten prices and ten volumes a side must agree at once.

use std::path::Path;

use serde::Serialize;
use wire::{Price, Side};

use super::{BookDifference, VerifyError, first_difference};
use crate::book::{Book, Books};
use crate::source::sse::SseSource;
use crate::source::sse::snapshot::{Snapshot, Snapshots};
use crate::source::{Counts, Files, Options, Source, SourceEvent};

/// What came of a comparison with snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SseReport {
    /// Snapshots of continuous trading.
    pub snapshots: u64,
    /// Of these: found in our book, prices and volumes of ten levels a side.
    pub identical: u64,
    /// Of these: with the same number of orders at each level, where the file says it.
    pub identical_orders: u64,
    /// The first snapshot not found, against our book as it was when its count of trades went by.
    pub first_difference: Option<BookDifference>,
    /// Snapshots outside of continuous trading, which are not compared.
    pub other_phases: u64,
    /// Events that did not fit our book; zero, or the reader is at fault.
    pub anomalies: u64,
    /// How the orders and trades fared.
    pub counts: Counts,
}

/// Looks for every snapshot of one stock's continuous trading in the book that orders and trades make.
///
/// # Errors
/// [`VerifyError`]: files that cannot be used, or no snapshot of the stock in continuous trading.
pub fn verify_sse(files: &Files, snapshots: &Path) -> Result<SseReport, VerifyError> {
    let mut reader = Snapshots::open(snapshots)?;
    let (mut wanted, mut other_phases, mut symbol) = (Vec::new(), 0, None);
    while let Some(snapshot) = reader.next()? {
        symbol.get_or_insert(snapshot.symbol);
        if symbol != Some(snapshot.symbol) {
            continue;
        }
        if snapshot.continuous { wanted.push(snapshot) } else { other_phases += 1 }
    }
    let Some(symbol) = symbol.filter(|_| !wanted.is_empty()) else {
        let reason = "no snapshot of continuous trading (InstruStatus TRADE)".to_owned();
        return Err(VerifyError::Nothing { file: snapshots.display().to_string(), reason });
    };
    let options = Options { symbols: vec![symbol.to_string()], ..Options::default() };
    let mut source = SseSource::open(files, &options)?;
    let mut books = Books::new(source.instruments());
    let mut search = Search {
        wanted: &wanted,
        open: 0,
        trades: 0,
        report: SseReport {
            snapshots: wanted.len() as u64,
            identical: 0,
            identical_orders: 0,
            first_difference: None,
            other_phases,
            anomalies: 0,
            counts: Counts::default(),
        },
    };
    let empty = Book::new();
    let mut event = SourceEvent::default();
    loop {
        let more = source.next(&mut event)?;
        let book = books.book(wire::InstrumentId(1)).unwrap_or(&empty);
        search.give_up_before(if more { search.trades + event.trades.len() as u64 } else { u64::MAX }, book);
        if !more {
            break;
        }
        search.trades += event.trades.len() as u64;
        books.apply(&event);
        search.compare(books.book(wire::InstrumentId(1)).unwrap_or(&empty));
    }
    let mut report = search.report;
    report.anomalies = books.anomalies().total();
    report.counts = *source.counts();
    Ok(report)
}

struct Search<'a> {
    wanted: &'a [Snapshot],
    /// The first one neither found nor given up.
    open: usize,
    trades: u64,
    report: SseReport,
}

impl Search<'_> {
    /// Snapshots of fewer than `trades` trades will not be found any more.
    fn give_up_before(&mut self, trades: u64, book: &Book) {
        while let Some(snapshot) = self.wanted.get(self.open).filter(|snapshot| snapshot.trades < trades) {
            self.open += 1;
            self.report.first_difference.get_or_insert_with(|| {
                difference(snapshot, book).unwrap_or_else(|| BookDifference {
                    row: snapshot.row,
                    place: "count of trades".to_owned(),
                    file: snapshot.trades.to_string(),
                    ours: "not in the order of the file".to_owned(),
                })
            });
        }
    }

    fn compare(&mut self, book: &Book) {
        while let Some(snapshot) =
            self.wanted.get(self.open).filter(|snapshot| snapshot.trades == self.trades)
        {
            if difference(snapshot, book).is_some() {
                return;
            }
            self.open += 1;
            self.report.identical += 1;
            self.report.identical_orders += u64::from(same_orders(snapshot, book));
        }
    }
}

fn difference(snapshot: &Snapshot, book: &Book) -> Option<BookDifference> {
    [Side::Sell, Side::Buy].into_iter().find_map(|side| {
        let levels: Vec<(Price, i64)> =
            snapshot.side(side).iter().map(|level| (level.price, level.quantity)).collect();
        first_difference(snapshot.row, book, side, &levels, wire::LEVELS)
    })
}

fn same_orders(snapshot: &Snapshot, book: &Book) -> bool {
    [Side::Buy, Side::Sell].into_iter().all(|side| {
        let file = snapshot.side(side).iter();
        file.zip(book.levels(side))
            .all(|(file, ours)| file.orders.is_none_or(|orders| orders == u64::from(ours.orders)))
    })
}
