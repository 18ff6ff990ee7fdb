//! The changes of an amount from one point of a grid of time to the next, for a Sharpe ratio.

/// A silence that is longer than this is a closed market: it is no row of quiet intervals.
const CLOSED_NS: u64 = 600_000_000_000;

/// Sums of the changes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Moves {
    n: u64,
    sum: f64,
    squares: f64,
    last: i128,
}

impl Moves {
    /// The amount stood here when one or more intervals of this length ended.
    pub(crate) fn ended(&mut self, amount: i128, intervals: u64, length_ns: u64) {
        let change = (amount - self.last) as f64 / 1e9;
        self.last = amount;
        self.sum += change;
        self.squares += change * change;
        let is_open = intervals.saturating_mul(length_ns) <= CLOSED_NS;
        self.n += if is_open { intervals } else { 1 };
    }

    pub(crate) fn n(&self) -> u64 {
        self.n
    }

    /// Mean over standard deviation; `None` where nothing moved.
    pub(crate) fn sharpe(&self) -> Option<f64> {
        if self.n < 2 {
            return None;
        }
        let n = self.n as f64;
        let mean = self.sum / n;
        let variance = (self.squares - n * mean * mean) / (n - 1.0);
        (variance > 0.0).then(|| mean / variance.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn the_ratio_is_that_of_the_changes_with_quiet_intervals_among_them() {
        let mut moves = Moves::default();
        moves.ended(2 * i128::from(SECOND), 1, SECOND);
        // Two intervals without a change, and one of +1.
        moves.ended(3 * i128::from(SECOND), 3, SECOND);
        // Changes 2, 1, 0, 0.
        let (mean, deviation) = (0.75, (11.0_f64 / 12.0).sqrt());
        assert_eq!(moves.n(), 4);
        assert!((moves.sharpe().unwrap() - mean / deviation).abs() < 1e-12);
    }

    #[test]
    fn a_night_is_no_row_of_quiet_intervals_and_what_never_moves_has_no_ratio() {
        let mut moves = Moves::default();
        moves.ended(0, 50_000, SECOND);
        assert_eq!((moves.n(), moves.sharpe()), (1, None));
        moves.ended(0, 1, SECOND);
        assert_eq!((moves.n(), moves.sharpe()), (2, None));
    }
}
