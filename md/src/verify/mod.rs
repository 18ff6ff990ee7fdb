//! Is the book that we rebuild the right one? Comparisons with what the markets and vendors themselves published.
//!
//! Each answers a report that says how much was compared, and the first place where it did not hold, with both
//! sides of the difference. The source under test is the one that a replay uses.

mod dbn;
mod lobster;
mod pitch;
mod sse;

use serde::Serialize;
use wire::Side;

use crate::book::Book;
use crate::source::{Source, SourceError};

pub use self::dbn::{DbnReport, verify_dbn};
pub use lobster::{LobsterReport, verify_lobster};
pub use pitch::{PitchDifference, PitchReport, SymbolTotals, verify_pitch};
pub use sse::{SseReport, verify_sse};

/// A comparison could not be made.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The recorded files cannot be used.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// More levels asked for than there are.
    #[error("--levels {asked}: {file} has {found}; ask for 1 to {found}")]
    Levels {
        /// As asked.
        asked: usize,
        /// Levels in the file.
        found: usize,
        /// The file.
        file: String,
    },
    /// Nothing was compared, which proves nothing.
    #[error("{file}: nothing to compare: {reason}")]
    Nothing {
        /// The file.
        file: String,
        /// Why.
        reason: String,
    },
}

/// Where two books differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BookDifference {
    /// Row of the file that was compared with, from 1.
    pub row: u64,
    /// Side and level.
    pub place: String,
    /// What the file says there, price and quantity.
    pub file: String,
    /// What our book has there.
    pub ours: String,
}

/// In words, for a report.
fn contradictions(source: &impl Source) -> Vec<String> {
    source.contradictions().iter().map(ToString::to_string).collect()
}

/// The first difference between a side of a book and the levels of a file, best first.
fn first_difference(
    row: u64,
    book: &Book,
    side: Side,
    file: &[(wire::Price, i64)],
    levels: usize,
) -> Option<BookDifference> {
    let mut ours = book.levels(side).map(|level| (level.price, level.quantity.0));
    (0..levels).find_map(|index| {
        let (file, ours) = (file.get(index).copied(), ours.next());
        (file != ours).then(|| {
            let name = if side == Side::Buy { "bid" } else { "ask" };
            let show = |level: Option<(wire::Price, i64)>| {
                level.map_or_else(
                    || "nothing".to_owned(),
                    |(price, quantity)| format!("{quantity} at {price}"),
                )
            };
            let place = format!("{name} of level {}", index + 1);
            BookDifference { row, place, file: show(file), ours: show(ours) }
        })
    })
}
