//! The spread of a figure over several runs.

use serde::{Deserialize, Serialize};

/// Lowest, median and highest of one figure over several runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Number of runs.
    pub runs: usize,
    /// Lowest.
    pub low: f64,
    /// The middle one; the mean of the two middle ones if their number is even.
    pub median: f64,
    /// Highest.
    pub high: f64,
}

impl Spread {
    /// `None` without any figure, or when one of them is not a number.
    pub fn of(figures: impl IntoIterator<Item = f64>) -> Option<Spread> {
        let mut sorted: Vec<f64> = figures.into_iter().collect();
        if sorted.iter().any(|figure| figure.is_nan()) {
            return None;
        }
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        let median =
            if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 };
        Some(Spread { runs: sorted.len(), low, median, high })
    }
}

#[cfg(test)]
mod tests {
    use super::Spread;

    #[test]
    fn nothing_and_no_number_have_no_spread() {
        assert_eq!(Spread::of([]), None);
        assert_eq!(Spread::of([1.0, f64::NAN]), None);
    }

    #[test]
    fn an_even_number_of_runs_has_its_median_between_two() {
        let spread = Spread::of([4.0, 1.0, 3.0, 2.0]);
        assert_eq!(spread, Some(Spread { runs: 4, low: 1.0, median: 2.5, high: 4.0 }));
    }
}
