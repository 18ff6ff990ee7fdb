//! Compares the rebuilt books with what the markets and vendors themselves published.
//!
//! Each comparison returns a report with the number of compared items, and the first difference with both sides. The
//! source under test is the one that a replay uses.

mod dbn;
mod itch;
mod lobster;
mod pitch;
mod sse;

use serde::Serialize;
use wire::Side;

use crate::book::Book;
use crate::source::{Source, SourceError};

pub use self::dbn::{DbnReport, verify_dbn};
pub use itch::{ItchDifference, ItchReport, verify_itch};
pub use lobster::{LobsterReport, verify_lobster};
pub use pitch::{PitchDifference, PitchReport, SymbolTotals, verify_pitch};
pub use sse::{SseReport, verify_sse};

/// A comparison could not be made.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The recorded files cannot be used.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// More levels requested than the file has.
    #[error("--levels {asked}: {file} has {found}; ask for 1 to {found}")]
    Levels {
        /// The requested number.
        asked: usize,
        /// Levels in the file.
        found: usize,
        /// The file.
        file: String,
    },
    /// Nothing was compared, so nothing is proved.
    #[error("{file}: nothing to compare: {reason}")]
    Nothing {
        /// The file.
        file: String,
        /// The reason.
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
    /// Price and quantity in the file.
    pub file: String,
    /// Price and quantity in our book.
    pub ours: String,
}

/// The contradictions as text, for a report.
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
