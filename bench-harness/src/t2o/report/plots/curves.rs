//! t2o by rate, one line for each group: medians in one panel, means in the other.

use super::chart::{Axis, Chart};
use super::{Look, decades, powers, tick};
use crate::t2o::report::headline::Headline;
use crate::t2o::report::tables::{cells_of, groups, rates};
use crate::t2o::report::{form, known};
use crate::t2o::result::{CellResult, Results};

const SIZE: (f64, f64) = (520.0, 380.0);

/// The two panels with their titles; empty when there is only one rate.
pub(in crate::t2o::report) fn curves(results: &Results) -> Vec<(&'static str, String)> {
    let rates = rates(results);
    let (Some(first), Some(last)) = (rates.first(), rates.last()) else { return Vec::new() };
    let cells = || results.cells.iter().filter_map(|cell| Some((cell, Headline::of(cell)?)));
    let theirs = || results.cells.iter().filter_map(|cell| known::of(results, cell));
    let figures = cells().flat_map(|(_, headline)| {
        [headline.p50_us, headline.mean_us, headline.mean_range[0], headline.mean_range[1]]
    });
    let bounds = decades(figures.chain(theirs().flat_map(|known| known.t2o_us))).filter(|_| rates.len() > 1);
    let Some(bounds) = bounds else { return Vec::new() };
    let x = Axis { low: first / 1.5, high: last * 1.5, log: true };
    let y = Axis { low: bounds.start, high: bounds.end, log: true };
    let panel = |words: &str, of: fn(&Headline) -> f64, with_means: bool| {
        let mut chart = Chart::new(SIZE, x, y);
        chart.y_axis(&powers(&bounds), words);
        chart.x_axis(&sparse(&rates, x), "quotes a second, all instruments together");
        if with_means {
            theirs_of(results, &mut chart);
        }
        for (group, _) in groups(results) {
            let look = Look::of(results, group);
            let points: Vec<(&CellResult, Headline)> =
                cells_of(results, group).filter_map(|cell| Some((cell, Headline::of(cell)?))).collect();
            let line: Vec<(f64, f64)> =
                points.iter().map(|(cell, headline)| (cell.rate, of(headline))).collect();
            if with_means {
                for (cell, headline) in &points {
                    let [low, high] = headline.mean_range;
                    chart.line(&format!("whisker {}", look.colour()), &[(cell.rate, low), (cell.rate, high)]);
                }
            }
            chart.line(&look.line(), &line);
            for (cell, headline) in &points {
                let about = format!(
                    "{}, {} quotes/s: {} µs{}",
                    cell.name,
                    form::rate(cell.rate),
                    form::us(of(headline)),
                    if cell.marked.is_empty() { "" } else { " (marked)" }
                );
                chart.marker(
                    &look.marker(!cell.marked.is_empty()),
                    look.shape(),
                    (cell.rate, of(headline)),
                    &about,
                );
            }
        }
        chart.finish(&format!("{words} by rate, a line for each group"))
    };
    vec![
        ("Medians", panel("median t2o, µs", |headline| headline.p50_us, false)),
        ("Means", panel("mean t2o, µs", |headline| headline.mean_us, true)),
    ]
}

/// The report's cells, each as the span of its means, in the colour of the group that repeats it.
fn theirs_of(results: &Results, chart: &mut Chart) {
    for (place, (group, _)) in groups(results).into_iter().enumerate() {
        for known in cells_of(results, group).filter_map(|cell| known::of(results, cell)) {
            let [low, high] = known.t2o_us;
            let about = format!(
                "the report, {group} at {} quotes/s: mean t2o {} µs",
                form::rate(known.rate),
                form::range(known.t2o_us)
            );
            let aside = (place % 4) as f64 * 7.0 - 10.5;
            let class = format!("theirs {}", Look::of(results, group).colour());
            chart.span(&class, (known.rate, low, high), (aside, 6.0), &about);
        }
    }
}

/// Ticks at the measured rates, as far as their texts have room.
fn sparse(rates: &[f64], x: Axis) -> Vec<(f64, String)> {
    let mut ticks: Vec<(f64, String)> = Vec::new();
    let step = (x.high / x.low).powf(0.075);
    for rate in rates {
        if ticks.last().is_none_or(|(last, _)| *rate > last * step) {
            ticks.push((*rate, if *rate < 1.0 { rate.to_string() } else { tick(*rate) }));
        }
    }
    ticks
}
