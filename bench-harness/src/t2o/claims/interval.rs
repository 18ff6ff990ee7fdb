//! Arithmetic with ranges of figures.

use std::fmt;

use super::Operator;
use super::figures::figure_text;

/// The range of a figure: low and high.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Interval {
    pub(super) fn point(figure: f64) -> Interval {
        Interval { low: figure, high: figure }
    }

    /// The interval around some figures; `None` without any.
    pub(super) fn around(figures: impl Iterator<Item = f64>) -> Option<Interval> {
        figures
            .map(Interval::point)
            .reduce(|a, b| Interval { low: a.low.min(b.low), high: a.high.max(b.high) })
    }

    pub(super) fn with(self, operator: Operator, other: Interval) -> Option<Interval> {
        let apply = |a: f64, b: f64| match operator {
            Operator::Plus => a + b,
            Operator::Minus => a - b,
            Operator::Times => a * b,
            _ => a / b,
        };
        let corners = [
            apply(self.low, other.low),
            apply(self.low, other.high),
            apply(self.high, other.low),
            apply(self.high, other.high),
        ];
        // An unknown upper end stays unknown; undefined results (∞ - ∞, a division by zero) decide nothing.
        let divides = matches!(operator, Operator::Over) && other.low <= 0.0 && other.high >= 0.0;
        let whole = !divides && corners.iter().all(|figure| !figure.is_nan());
        whole.then(|| Interval::around(corners.into_iter())).flatten()
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.high.is_infinite() {
            return f.pad(&format!("{} or more", figure_text(self.low)));
        }
        let (low, high) = (figure_text(self.low), figure_text(self.high));
        if low == high { f.pad(&low) } else { f.pad(&format!("{low}..{high}")) }
    }
}
