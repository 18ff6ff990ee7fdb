//! The report's plots, as SVG text.

mod chart;
mod curves;
mod distribution;
mod stack;

pub(super) use curves::curves;
pub(super) use distribution::distributions;
pub(super) use stack::{PARTS, stacks};

use super::tables::{groups, rates};
use crate::t2o::result::Results;
use chart::SHAPES;

/// Colours of the groups in the style sheet: `g0` to `g7`, which colour-blind readers distinguish too.
const COLOURS: usize = 8;
/// Dashes, `d0` to `d2`: groups beyond the colours have the next dash.
const DASHES: usize = 3;

/// How a group looks, the same in every plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// Its place among the groups.
    place: usize,
}

impl Look {
    pub(super) fn of(results: &Results, group: &str) -> Look {
        Look { place: groups(results).iter().position(|(name, _)| *name == group).unwrap_or(0) }
    }

    /// Class of its colour.
    fn colour(self) -> String {
        format!("g{}", self.place % COLOURS)
    }

    /// Classes of its line.
    fn line(self) -> String {
        format!("line {} d{}", self.colour(), self.place / COLOURS % DASHES)
    }

    /// Classes of its marker.
    fn marker(self, is_hollow: bool) -> String {
        format!("mark {}{}", self.colour(), if is_hollow { " hollow" } else { "" })
    }

    fn shape(self) -> usize {
        self.place % SHAPES.len()
    }

    /// Its line and marker alone, for a legend.
    pub(super) fn key(self) -> String {
        format!(
            "<svg class=key viewBox=\"0 0 34 12\" aria-hidden=true><path class=\"{}\" d=\"M1 6h32\" />\
             <path class=\"{}\" transform=\"translate(17 6)\" d=\"{}\" /></svg>",
            self.line(),
            self.marker(false),
            SHAPES[self.shape()]
        )
    }
}

/// Powers of ten (in µs) around these figures, for a logarithmic axis.
fn decades(figures: impl Iterator<Item = f64>) -> Option<std::ops::Range<f64>> {
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    for figure in figures.filter(|figure| *figure > 0.0) {
        (low, high) = (low.min(figure), high.max(figure));
    }
    (high > 0.0).then(|| {
        10_f64.powf(low.log10().floor())
            ..10_f64.powf((high.log10() + 1e-9).ceil().max(low.log10().floor() + 1.0))
    })
}

/// The powers of ten of an axis, each with its text.
fn powers(range: &std::ops::Range<f64>) -> Vec<(f64, String)> {
    let (first, last) = (range.start.log10().round() as i32, range.end.log10().round() as i32);
    (first..=last).map(|power| 10_f64.powi(power)).map(|figure| (figure, tick(figure))).collect()
}

/// `0.1`, `10`, `1,000`.
fn tick(figure: f64) -> String {
    if figure < 1.0 { format!("{figure}") } else { super::form::thousands(figure.round() as u64) }
}

/// The rates with a plot of their own: the highest three that at least two groups have.
fn telling_rates(results: &Results) -> Vec<f64> {
    let measured =
        |rate: f64| results.cells.iter().filter(|cell| cell.rate == rate && cell.samples > 0).count();
    let least = if groups(results).len() > 1 { 2 } else { 1 };
    let mut telling: Vec<f64> =
        rates(results).into_iter().rev().filter(|rate| measured(*rate) >= least).collect();
    telling.truncate(3);
    telling
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_go_from_decade_to_decade() {
        let range = decades([3.0, 40.0].into_iter()).unwrap();
        assert!((range.start - 1.0).abs() < 1e-9 && (range.end - 100.0).abs() < 1e-6);
        assert_eq!(powers(&range).into_iter().map(|(_, text)| text).collect::<Vec<_>>(), ["1", "10", "100"]);
        assert!(decades([0.0].into_iter()).is_none());
        assert!(decades([10.0].into_iter()).unwrap().end > 10.0);
        assert_eq!([tick(0.1), tick(1_000.0)], ["0.1", "1,000"]);
    }

    #[test]
    fn no_two_of_twenty_groups_look_the_same() {
        let looks: std::collections::BTreeSet<String> =
            (0..20).map(|place| Look { place }.line() + &Look { place }.shape().to_string()).collect();
        assert_eq!(looks.len(), 20);
    }
}
