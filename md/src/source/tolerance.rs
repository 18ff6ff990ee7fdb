//! How many rows of a recorded day may contradict others before the replay stops.

use std::path::Path;

use super::error::Fault;
use super::{BadRow, Counts, Options, SourceError};

/// A share of a file's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tolerance {
    parts_per_million: u32,
}

impl Tolerance {
    /// Any number of rows; they are still counted.
    pub(crate) const ALL: Tolerance = Tolerance { parts_per_million: 1_000_000 };

    /// A share from 0 (no row) to 1 (all of them); values outside are replaced by the nearer of the two.
    pub fn share(share: f64) -> Tolerance {
        Tolerance { parts_per_million: (share.clamp(0.0, 1.0) * 1e6).round() as u32 }
    }

    fn rows_of(self, rows: u64) -> u64 {
        if self == Tolerance::ALL {
            return u64::MAX;
        }
        (u128::from(rows) * u128::from(self.parts_per_million) / 1_000_000) as u64
    }
}

impl Default for Tolerance {
    fn default() -> Tolerance {
        Tolerance::ALL
    }
}

/// Rows whose contradiction is kept; further ones are only counted.
const KEPT: usize = 5;

/// Compares the count with the tolerance, and keeps the first rows.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    tolerance: Tolerance,
    rows: u64,
    first: Vec<BadRow>,
}

impl Watch {
    /// For files of `rows` rows in total.
    pub(crate) fn new(options: &Options, rows: u64) -> Watch {
        Watch { tolerance: options.tolerate, rows, first: Vec::new() }
    }

    /// So many rows have come, of a source whose end is not known.
    pub(crate) fn saw(&mut self, rows: u64) {
        // A share of few rows is none: let the first thousand count as whole.
        self.rows = rows.max(1_000);
    }

    /// From now on any number may contradict others; they are still counted.
    pub(crate) fn allow_all(&mut self) {
        self.tolerance = Tolerance::ALL;
    }

    /// Keeps the first rows that contradict others. The caller has counted this one.
    pub(crate) fn note(&mut self, path: &Path, row: u64, fault: impl FnOnce() -> Fault) {
        if self.first.len() < KEPT {
            self.first.push(fault().at(path, row));
        }
    }

    /// The kept rows.
    pub(crate) fn first(&self) -> &[BadRow] {
        &self.first
    }

    /// Counts an event of continuous trading that left the book crossed.
    ///
    /// # Errors
    /// As [`Watch::check`].
    pub(crate) fn crossed(&mut self, counts: &mut Counts, path: &Path, row: u64) -> Result<(), SourceError> {
        counts.crossed += 1;
        self.note(path, row, || {
            let expected = "a best bid below the best ask (is a row missing?)";
            Fault::new("the book behind it", "a crossed one", expected)
        });
        self.check(counts)
    }

    /// # Errors
    /// [`SourceError::Irregular`] when there are more such rows than tolerated.
    pub(crate) fn check(&self, counts: &Counts) -> Result<(), SourceError> {
        let irregular = counts.irregular();
        if irregular <= self.tolerance.rows_of(self.rows) {
            return Ok(());
        }
        let Some(first) = self.first.first() else { return Ok(()) };
        Err(SourceError::Irregular {
            first: Box::new(first.clone()),
            irregular,
            rows: self.rows,
            share: f64::from(self.tolerance.parts_per_million) / 1e6,
            kinds: counts.irregular_kinds(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_rows_is_rounded_down_and_all_means_all() {
        assert_eq!(Tolerance::share(0.001).rows_of(1_999), 1);
        assert_eq!(Tolerance::share(0.001).rows_of(999), 0);
        assert_eq!(Tolerance::share(0.0).rows_of(u64::MAX), 0);
        assert_eq!(Tolerance::share(1.0).rows_of(0), u64::MAX);
        assert_eq!(Tolerance::share(-3.0), Tolerance::share(0.0));
        assert_eq!(Tolerance::share(f64::NAN), Tolerance::share(0.0));
    }

    #[test]
    fn the_error_names_the_first_row_and_the_kinds() {
        let mut watch = Watch::new(&Options { tolerate: Tolerance::share(0.5), ..Options::default() }, 4);
        watch.note(Path::new("o.csv"), 7, || Fault::new("time", 5, "a time from 6 on"));
        watch.note(Path::new("o.csv"), 9, || Fault::new("price", 5, "6"));
        let mut counts = Counts { off_time: 1, excess: 1, prior: 90, ..Counts::default() };
        assert!(watch.check(&counts).is_ok());
        counts.off_price = 1;
        let error = watch.check(&counts).unwrap_err().to_string();
        for words in
            ["o.csv, row 7, time: found 5", "3 of 4 rows", "off_time 1", "excess 1", "md.tolerate = 0.5"]
        {
            assert!(error.contains(words), "{error}");
        }
    }
}
