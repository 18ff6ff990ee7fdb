//! Compares our book with LOBSTER's own, row by row.

use std::path::Path;

use serde::Serialize;
use wire::Side;

use super::{BookDifference, VerifyError, contradictions, first_difference};
use crate::book::Books;
use crate::source::lobster::{LobsterSource, Step};
use crate::source::{Counts, Files, Options, Source, SourceEvent};

/// The result of a comparison with an orderbook file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LobsterReport {
    /// Rows compared, which are all of them.
    pub rows: u64,
    /// Rows in which the best `levels` levels of both sides agree in price and size. A row is compared before anything
    /// is taken from it, except the first one, which also gives the orders from before it.
    pub identical: u64,
    /// The first row that differs.
    pub first_difference: Option<BookDifference>,
    /// Levels compared.
    pub levels: usize,
    /// Rows that differ only in levels which that very row brought into the file's view: the messages of such a file do
    /// not contain the orders behind its last level. Not counted as identical.
    pub revealed: u64,
    /// Events that did not fit our book; anything but zero is an error of the reader.
    pub anomalies: u64,
    /// The counts of the messages.
    pub counts: Counts,
    /// The first rows that contradict others, at most five.
    pub contradictions: Vec<String>,
}

/// Compares the best `levels` levels after each message with the same row of the orderbook file.
///
/// The file is also the source of volume that no message contains: its first row for the orders before the first
/// message, each later row for the prices that it newly shows ("Files of few levels" in [`crate::source::lobster`]).
/// Prices that stay in its view are never taken from it.
///
/// # Errors
/// [`VerifyError`]: files that cannot be used, or more levels than the orderbook file has.
pub fn verify_lobster(
    messages: &Path,
    orderbook: &Path,
    levels: usize,
) -> Result<LobsterReport, VerifyError> {
    let files = Files::named([("messages", messages.to_owned()), ("orderbook", orderbook.to_owned())]);
    let mut source = LobsterSource::open(&files, &Options::default())?;
    let found = source.view().map_or(0, |(_, levels)| levels);
    if levels == 0 || levels > found {
        return Err(VerifyError::Levels { asked: levels, found, file: orderbook.display().to_string() });
    }
    let mut books = Books::new(source.instruments());
    let mut report = LobsterReport {
        rows: 0,
        identical: 0,
        first_difference: None,
        levels,
        revealed: 0,
        anomalies: 0,
        counts: Counts::default(),
        contradictions: Vec::new(),
    };
    let mut event = SourceEvent::default();
    let mut shown_now = SourceEvent::default();
    loop {
        match source.step(&mut event)? {
            Step::End => break,
            Step::Quiet => {}
            Step::Event { revealed_from } => {
                // Levels that the row newly shows are added to our book after the comparison.
                shown_now =
                    SourceEvent { book_events: event.book_events.split_off(revealed_from), ..event.clone() };
                shown_now.trades.clear();
                if books.apply(&event).crossed {
                    source.crossed(&event)?;
                }
            }
        }
        report.rows += 1;
        match difference(&source, &books, report.rows, levels) {
            None => report.identical += 1,
            Some(difference) => {
                report.first_difference.get_or_insert(difference);
                books.apply(&shown_now);
                report.revealed +=
                    u64::from(self::difference(&source, &books, report.rows, levels).is_none());
                shown_now.book_events.clear();
            }
        }
        books.apply(&shown_now);
        shown_now.book_events.clear();
    }
    source.check_orderbook_end()?;
    report.anomalies = books.anomalies().total();
    report.counts = *source.counts();
    report.contradictions = contradictions(&source);
    Ok(report)
}

fn difference(source: &LobsterSource, books: &Books, row: u64, levels: usize) -> Option<BookDifference> {
    let (view, _) = source.view()?;
    let book = books.book(wire::InstrumentId(1))?;
    [Side::Sell, Side::Buy]
        .iter()
        .find_map(|&side| first_difference(row, book, side, view.side(side), levels))
}
