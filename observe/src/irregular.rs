//! What went wrong with md's source: what contradicts itself in it, and a node's own last words.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use node::Counter;
use serde::{Deserialize, Serialize};

/// How the rows of a recorded day contradict each other. All zero for a sound day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Irregular {
    /// Orders of a source dropped because their number was given out again.
    pub displaced: u64,
    /// Rows that took more from an order than was left of it.
    pub excess: u64,
    /// Orders that rest from before a source's first row.
    pub prior: u64,
    /// Orders of a source dropped because a later row proves them gone.
    pub stale: u64,
    /// Of those displaced: where a file of several sessions begins anew.
    pub at_seams: u64,
    /// Rows whose time is out of order.
    pub off_time: u64,
    /// Rows off the price or side of the order that they name.
    pub off_price: u64,
    /// Rows off the quantity of the order that they end, or off their own money.
    pub off_quantity: u64,
    /// Rows about an order that is not there.
    pub unmatched: u64,
    /// Orders with the number of one that is gone.
    pub reused: u64,
    /// Files whose last row has no line end.
    pub unended: u64,
    /// Of the rows left out: about an order that the source never added.
    pub unknown: u64,
    /// Where rows are missing: orders dropped because a row of continuous trading proves that they are gone (sse), and
    /// quotes held back because the book was crossed outside of an auction.
    pub crossed: u64,
}

impl Irregular {
    pub(crate) fn gather(sum: impl Fn(Counter) -> u64) -> Irregular {
        Irregular {
            displaced: sum(Counter::SourceDisplaced),
            excess: sum(Counter::SourceExcess),
            prior: sum(Counter::SourcePrior),
            stale: sum(Counter::SourceStale),
            at_seams: sum(Counter::SourceAtSeams),
            off_time: sum(Counter::SourceOffTime),
            off_price: sum(Counter::SourceOffPrice),
            off_quantity: sum(Counter::SourceOffQuantity),
            unmatched: sum(Counter::SourceUnmatched),
            reused: sum(Counter::SourceReused),
            unended: sum(Counter::SourceUnended),
            unknown: sum(Counter::SourceUnknown),
            crossed: sum(Counter::SourceCrossed),
        }
    }

    /// Each with its name, as they are documented.
    pub fn kinds(&self) -> [(&'static str, u64); 13] {
        [
            ("displaced", self.displaced),
            ("excess", self.excess),
            ("prior", self.prior),
            ("stale", self.stale),
            ("at_seams", self.at_seams),
            ("off_time", self.off_time),
            ("off_price", self.off_price),
            ("off_quantity", self.off_quantity),
            ("unmatched", self.unmatched),
            ("reused", self.reused),
            ("unended", self.unended),
            ("unknown", self.unknown),
            ("crossed", self.crossed),
        ]
    }
}

/// The last error that a node's log holds, without the time before it.
pub(crate) fn last_words(log: &Path) -> Option<String> {
    /// More than a message has.
    const TAIL: u64 = 1 << 16;
    let mut file = File::open(log).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    text.lines().rev().find_map(error_of).map(str::to_owned)
}

/// What a line says that was logged as an error: `[TIME ERROR TARGET] WORDS`.
fn error_of(line: &str) -> Option<&str> {
    let (head, words) = line.strip_prefix('[')?.split_once("] ")?;
    (head.split_ascii_whitespace().nth(1) == Some("ERROR")).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_error_of_a_log_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("md.log");
        assert_eq!(last_words(&log), None);
        let lines = [
            "[2026-01-05T08:15:48Z ERROR colo::verbs::run] old",
            "[2026-01-05T08:15:49Z ERROR colo::verbs::run] o.csv, row 7: bad",
            "[2026-01-05T08:15:50Z INFO  md::process] ERROR is no word of this line",
        ];
        std::fs::write(&log, lines.join("\n")).unwrap();
        assert_eq!(last_words(&log).as_deref(), Some("o.csv, row 7: bad"));
    }
}
