//! The report's plots, as SVG text.

mod curves;
mod distribution;
mod heat;
mod stack;

use plotters::style::RGBColor;

pub(super) use curves::curves;
pub(super) use distribution::distributions;
pub(super) use heat::heat_map;
pub(super) use stack::{parts, stacks};

use super::tables::{groups, rates};
use crate::t2o::error::T2oError;
use crate::t2o::result::Results;

/// Colours that colour-blind readers can distinguish too, in the order of the groups.
const PALETTE: [RGBColor; 10] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(213, 94, 0),
    RGBColor(90, 90, 90),
    RGBColor(148, 103, 189),
    RGBColor(140, 110, 40),
    RGBColor(0, 90, 60),
];
const INK: RGBColor = RGBColor(29, 36, 48);
const SOFT: RGBColor = RGBColor(91, 102, 117);
const LINE: RGBColor = RGBColor(225, 229, 235);
const WIDTH: u32 = 1_000;
const FONT: &str = "sans-serif";

/// The colour of a group: the same in every plot.
fn colour(results: &Results, group: &str) -> RGBColor {
    let place = groups(results).iter().position(|(name, _)| *name == group).unwrap_or(0);
    PALETTE[place % PALETTE.len()]
}

/// The meaning of each colour.
pub(super) fn legend(results: &Results) -> Vec<(String, RGBColor)> {
    let all = groups(results).into_iter();
    all.map(|(name, title)| (format!("{name}: {title}"), colour(results, name))).collect()
}

/// Converts errors of the plotting library.
fn drawn<E: std::fmt::Display>(what: &str) -> impl Fn(E) -> T2oError + '_ {
    move |error| T2oError::Plot { what: what.to_owned(), reason: error.to_string() }
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

/// `0.1`, `10`, `1,000`; nothing for figures that do not begin with one of `digits`, unless there are none.
fn tick(figure: f64, digits: &[u32]) -> String {
    let first = (figure / 10_f64.powf((figure * 1.000_001).log10().floor())).round() as u32;
    if !digits.is_empty() && !digits.contains(&first) {
        return String::new();
    }
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
    fn an_axis_labels_only_some_of_its_ticks() {
        assert_eq!(tick(0.2, &[1, 2, 5]), "0.2");
        assert_eq!(tick(3_000.0, &[1, 2, 5]), "");
        assert_eq!([tick(1_000.0, &[1]), tick(2_000.0, &[1])], ["1,000", ""]);
        assert_eq!(tick(7.0, &[]), "7");
    }

    #[test]
    fn axes_go_from_decade_to_decade() {
        let range = decades([3.0, 40.0].into_iter()).unwrap();
        assert!((range.start - 1.0).abs() < 1e-9 && (range.end - 100.0).abs() < 1e-6);
        assert!(decades([0.0].into_iter()).is_none());
        assert!(decades([10.0].into_iter()).unwrap().end > 10.0);
    }
}
