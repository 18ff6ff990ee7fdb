//! Compares the fills of a DBN file with the book built from its other records.
//!
//! The vendor publishes no book beside its records. The comparison uses relations between them: a resting order is
//! filled at its own price, and no order on its side has a better one (price priority) except those that the venue
//! cancels in the same event to keep a firm from trading with itself; after each event of continuous trading the book
//! is not crossed. Fills of incoming orders, of auctions and of orders that were never displayed are not compared.

use std::path::Path;

use serde::Serialize;
use wire::{Aggressor, BookAction, BookEvent, Side};

use super::{BookDifference, VerifyError, contradictions};
use crate::book::{Book, PriceLevel};
use crate::source::{Counts, DbnSource, Files, Options, Source, SourceEvent};

/// The result of the comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DbnReport {
    /// Instruments in the file.
    pub symbols: u64,
    /// Reported trades.
    pub trades: u64,
    /// Fills of resting orders against an incoming one: compared.
    pub fills: u64,
    /// Of these: at the order's own price, which was the best of its side.
    pub identical: u64,
    /// The first fill that differs.
    pub first_difference: Option<BookDifference>,
    /// Events after which the book was crossed: those of an opening auction, or damage.
    pub crossed: u64,
    /// Events that did not fit our book; anything but zero is an error of the reader.
    pub anomalies: u64,
    /// The counts of the records.
    pub counts: Counts,
    /// The first rows that contradict others, at most five.
    pub contradictions: Vec<String>,
}

/// Compares every fill with the book before it.
///
/// # Errors
/// [`VerifyError`]: a file that cannot be used, or one without such a fill.
pub fn verify_dbn(file: &Path) -> Result<DbnReport, VerifyError> {
    let mut source = DbnSource::open(&Files::Path(file.to_owned()), &Options::default())?;
    let mut books = vec![Book::new(); source.instruments().len()];
    let mut report = DbnReport {
        symbols: source.instruments().len() as u64,
        trades: 0,
        fills: 0,
        identical: 0,
        first_difference: None,
        crossed: 0,
        anomalies: 0,
        counts: Counts::default(),
        contradictions: Vec::new(),
    };
    let mut event = SourceEvent::default();
    while source.next(&mut event)? {
        report.trades += event.trades.len() as u64;
        let Some(book) = books.get_mut(event.instrument.0 as usize - 1) else { continue };
        compare(&event, book, &mut report);
        report.crossed += u64::from(book.is_crossed());
    }
    if report.fills == 0 {
        let reason = "no incoming order filled a resting one".to_owned();
        return Err(VerifyError::Nothing { file: file.display().to_string(), reason });
    }
    report.counts = *source.counts();
    report.contradictions = contradictions(&source);
    Ok(report)
}

/// Whether the price of a fill is the best of its side, except for orders that the same event cancels later. The venue
/// cancels an order instead of filling it against another one of the same firm (self-match prevention), trades with the
/// next ones, and writes the cancel after all fills.
fn is_best(book: &Book, fill: &BookEvent, later: &[BookEvent]) -> bool {
    let is_better = |level: &PriceLevel| match fill.side {
        Side::Buy => level.price > fill.price,
        Side::Sell => level.price < fill.price,
    };
    book.levels(fill.side).take_while(is_better).all(|level| {
        let ends = |part: &&BookEvent| {
            matches!(part.action, BookAction::Delete | BookAction::Reduce)
                && (part.side, part.price) == (fill.side, level.price)
        };
        later.iter().filter(ends).map(|part| part.quantity.0).sum::<i64>() >= level.quantity.0
    })
}

/// Applies the event, part by part, and compares each fill before applying it.
fn compare(event: &SourceEvent, book: &mut Book, report: &mut DbnReport) {
    let resting = match event.trades.first().map(|trade| trade.aggressor) {
        Some(Aggressor::Buy) => Some(Side::Sell),
        Some(Aggressor::Sell) => Some(Side::Buy),
        _ => None,
    };
    for (index, part) in event.book_events.iter().enumerate() {
        if part.action == BookAction::Execute && Some(part.side) == resting {
            report.fills += 1;
            let best = book.levels(part.side).next();
            if book.levels(part.side).any(|level| level.price == part.price)
                && is_best(book, part, &event.book_events[index + 1..])
            {
                report.identical += 1;
            } else {
                report.first_difference.get_or_insert_with(|| BookDifference {
                    row: event.row,
                    place: format!("fill of order {}", part.order_ref),
                    file: format!("{} at {}", part.quantity, part.price),
                    ours: best
                        .map_or("nothing".to_owned(), |best| format!("{} as the best price", best.price)),
                });
            }
        }
        report.anomalies += u64::from(book.apply(part).is_err());
    }
}
