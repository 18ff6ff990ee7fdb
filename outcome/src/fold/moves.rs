//! The changes of an amount from one point of a grid of time to the next, for a Sharpe ratio.

use crate::power::PowerSums;

/// A silence that is longer than this, from the last event to the next, is a closed market: it is no row of quiet intervals.
const CLOSED_NS: u64 = 600_000_000_000;

/// Sums of the changes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Moves {
    n: u64,
    /// Sums of the second to the fourth power of the changes. The first is the last amount itself: the amount begins at zero.
    powers: [f64; 3],
    last: i128,
}

impl Moves {
    /// The amount stood here when one or more intervals ended, within a silence of so many nanoseconds.
    pub(crate) fn ended(&mut self, amount: i128, intervals: u64, silence_ns: u64) {
        let change = amount.saturating_sub(self.last) as f64 / 1e9;
        self.last = amount;
        let mut power = change;
        for sum in &mut self.powers {
            power *= change;
            *sum += power;
        }
        self.n += if silence_ns <= CLOSED_NS { intervals } else { 1 };
    }

    /// With the interval that the end of the run cuts off, in which the amount came to this.
    pub(crate) fn with_last(mut self, amount: i128) -> Moves {
        self.ended(amount, 1, 0);
        self
    }

    pub(crate) fn n(&self) -> u64 {
        self.n
    }

    /// The exact sum of the changes.
    pub(crate) fn sum(&self) -> i128 {
        self.last
    }

    /// The sums of the second to the fourth power.
    pub(crate) fn powers(&self) -> [f64; 3] {
        self.powers
    }

    /// Mean over standard deviation; `None` where nothing moved.
    pub(crate) fn sharpe(&self) -> Option<f64> {
        let [second, third, fourth] = self.powers;
        let sums = [self.last as f64 / 1e9, second, third, fourth];
        PowerSums { n: self.n as f64, sums }.sharpe()
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
        assert_eq!((moves.n(), moves.sum()), (4, 3_000_000_000));
        assert_eq!(moves.powers(), [5.0, 9.0, 17.0]);
        assert!((moves.sharpe().unwrap() - mean / deviation).abs() < 1e-12);
    }

    #[test]
    fn the_interval_that_the_end_cuts_off_counts_as_one() {
        let mut moves = Moves::default();
        moves.ended(2 * i128::from(SECOND), 1, SECOND);
        let whole = moves.with_last(-i128::from(SECOND));
        // Changes 2 and -3.
        assert_eq!((whole.n(), whole.sum(), whole.powers()), (2, -1_000_000_000, [13.0, -19.0, 97.0]));
        assert!((whole.sharpe().unwrap() - -0.5 / 12.5_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_night_is_no_row_of_quiet_intervals_and_what_never_moves_has_no_ratio() {
        let mut moves = Moves::default();
        moves.ended(0, 50_000, 50_000 * SECOND);
        assert_eq!((moves.n(), moves.sharpe()), (1, None));
        moves.ended(0, 1, SECOND);
        assert_eq!((moves.n(), moves.sharpe()), (2, None));
    }

    #[test]
    fn how_long_a_silence_is_does_not_depend_on_where_minutes_begin() {
        for start in 0..60 {
            // Ten minutes and a second: more than ten minutes, in which ten or eleven minutes end.
            let minutes = (start + 601) / 60 - start / 60;
            let mut moves = Moves::default();
            moves.ended(0, minutes, 601 * SECOND);
            assert_eq!(moves.n(), 1, "{start}");
            let mut moves = Moves::default();
            moves.ended(0, minutes, 600 * SECOND);
            assert_eq!(moves.n(), minutes, "{start}");
        }
    }
}
