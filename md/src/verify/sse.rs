//! Compares our book with the exchange's own ten-level snapshots.
//!
//! A snapshot is taken every three seconds, at an unknown place between two events. Its count of trades narrows the
//! place down: our book is compared with it after every event while the day's count of trades is the snapshot's. One
//! agreement is enough, and all of ten prices and ten volumes a side must agree at once.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use wire::{Price, Side, Symbol};

use super::{BookDifference, VerifyError, contradictions, first_difference};
use crate::book::{Book, Books};
use crate::source::sse::SseSource;
use crate::source::sse::snapshot::{Snapshot, Snapshots};
use crate::source::{Counts, Files, Options, Source, SourceEvent};

/// The result of a comparison with snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SseReport {
    /// Stocks compared.
    pub symbols: u64,
    /// Snapshots of continuous trading.
    pub snapshots: u64,
    /// Of these: found in our book, with prices and volumes of ten levels a side.
    pub identical: u64,
    /// Of these: with the same number of orders at each level, if the file has it.
    pub identical_orders: u64,
    /// The first snapshot not found, and our book at its count of trades.
    pub first_difference: Option<BookDifference>,
    /// Snapshots outside of continuous trading, which are not compared.
    pub other_phases: u64,
    /// Events that did not fit our book; anything but zero is an error of the reader.
    pub anomalies: u64,
    /// The counts of the orders and trades.
    pub counts: Counts,
    /// The first rows that contradict others, at most five.
    pub contradictions: Vec<String>,
}

/// Searches for every snapshot of continuous trading in the books built from orders and trades: of every stock in the
/// snapshot file, or of the requested ones (`600519` or `600519.SH`).
///
/// # Errors
/// [`VerifyError`]: files that cannot be used, no snapshot in continuous trading, a stock without orders and trades.
pub fn verify_sse(files: &Files, snapshots: &Path, symbols: &[String]) -> Result<SseReport, VerifyError> {
    let mut reader = Snapshots::open(snapshots)?;
    let (mut wanted, mut other_phases) = (BTreeMap::<Symbol, Vec<Snapshot>>::new(), 0);
    let asked = |symbol: &Symbol| {
        let (name, bare) = (symbol.as_str(), symbol.as_str().split('.').next());
        symbols.is_empty() || symbols.iter().any(|text| text == name || Some(text.as_str()) == bare)
    };
    while let Some(snapshot) = reader.next()? {
        if !asked(&snapshot.symbol) {
            continue;
        }
        if snapshot.continuous {
            wanted.entry(snapshot.symbol).or_default().push(snapshot);
        } else {
            other_phases += 1;
        }
    }
    let missing = symbols.iter().find(|text| {
        !wanted
            .keys()
            .any(|name| name.as_str() == *text || name.as_str().split('.').next() == Some(text.as_str()))
    });
    if wanted.is_empty() || missing.is_some() {
        let of = missing.map_or(String::new(), |symbol| format!(" of {symbol}"));
        let reason = format!("no snapshot{of} in continuous trading (InstruStatus TRADE)");
        return Err(VerifyError::Nothing { file: snapshots.display().to_string(), reason });
    }
    let symbols = wanted.keys().map(Symbol::to_string).collect();
    let mut source = SseSource::open(files, &Options { symbols, ..Options::default() })?;
    let mut books = Books::new(source.instruments());
    let listed = source.instruments().iter().map(|instrument| instrument.symbol);
    let mut searches: Vec<Search<'_>> = listed
        .map(|symbol| Search {
            symbol,
            wanted: wanted.get(&symbol).map_or(&[], Vec::as_slice),
            ..Search::default()
        })
        .collect();
    let empty = Book::new();
    let mut event = SourceEvent::default();
    while source.next(&mut event)? {
        let Some(search) = searches.get_mut(event.instrument.0 as usize - 1) else { continue };
        let trades = search.trades + event.trades.len() as u64;
        search.give_up_before(trades, books.book(event.instrument).unwrap_or(&empty));
        search.trades = trades;
        if books.apply(&event).crossed {
            source.crossed(&event)?;
        }
        search.compare(books.book(event.instrument).unwrap_or(&empty));
    }
    for (search, instrument) in searches.iter_mut().zip(source.instruments()) {
        search.give_up_before(u64::MAX, books.book(instrument.id).unwrap_or(&empty));
    }
    let sum = |count: fn(&Search<'_>) -> u64| searches.iter().map(count).sum();
    Ok(SseReport {
        symbols: searches.len() as u64,
        snapshots: sum(|search| search.wanted.len() as u64),
        identical: sum(|search| search.identical),
        identical_orders: sum(|search| search.identical_orders),
        first_difference: searches.iter().find_map(|search| search.first_difference.clone()),
        other_phases,
        anomalies: books.anomalies().total(),
        counts: *source.counts(),
        contradictions: contradictions(&source),
    })
}

#[derive(Default)]
struct Search<'a> {
    symbol: Symbol,
    wanted: &'a [Snapshot],
    /// The first snapshot neither found nor given up.
    open: usize,
    trades: u64,
    identical: u64,
    identical_orders: u64,
    first_difference: Option<BookDifference>,
}

impl Search<'_> {
    /// Gives up the snapshots of fewer than `trades` trades.
    fn give_up_before(&mut self, trades: u64, book: &Book) {
        while let Some(snapshot) = self.wanted.get(self.open).filter(|snapshot| snapshot.trades < trades) {
            self.open += 1;
            let symbol = self.symbol;
            self.first_difference.get_or_insert_with(|| {
                let found = difference(snapshot, book).unwrap_or_else(|| BookDifference {
                    row: snapshot.row,
                    place: "count of trades".to_owned(),
                    file: snapshot.trades.to_string(),
                    ours: "not in the order of the file".to_owned(),
                });
                BookDifference { place: format!("{symbol}, {}", found.place), ..found }
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
            self.identical += 1;
            self.identical_orders += u64::from(same_orders(snapshot, book));
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
