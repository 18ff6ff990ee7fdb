//! The means of the stages, stacked.

use super::chart::{Anchor, Axis, Chart};
use super::{telling_rates, tick};
use crate::t2o::report::form;
use crate::t2o::report::tables::groups;
use crate::t2o::result::Results;

/// Stages in the order of time, each with the class of its colour.
pub(in crate::t2o::report) const PARTS: [(&str, &str); 3] =
    [("market-data transfer", "p0"), ("strategy", "p1"), ("order transfer", "p2")];

/// A group's means, bottom to top.
type Bar<'a> = (&'a str, [f64; 3]);

/// One plot for each rate.
pub(in crate::t2o::report) fn stacks(results: &Results) -> Vec<(f64, String)> {
    let mut plots = Vec::new();
    for rate in telling_rates(results) {
        let bar = |(group, _)| {
            let cell = results.cell(group, rate)?;
            let mean = |stage: &str| cell.stage(stage).map(|stage| stage.all_mean_us);
            Some((group, [mean("md")?, mean("strategy")?, mean("order")?]))
        };
        let bars: Vec<Bar<'_>> = groups(results).into_iter().filter_map(bar).collect();
        if !bars.is_empty() {
            plots.push((rate, stack(&bars, rate)));
        }
    }
    plots
}

fn stack(bars: &[Bar<'_>], rate: f64) -> String {
    let total = |bar: &Bar<'_>| bar.1.iter().sum::<f64>();
    // One group that takes a hundred times as long would flatten all others: the axis ends at three times the middle
    // one.
    let mut totals: Vec<f64> = bars.iter().map(total).collect();
    totals.sort_by(f64::total_cmp);
    let highest = totals.last().copied().unwrap_or(1.0);
    let top = (totals[(totals.len() - 1) / 2] * 3.0).min(highest).max(1e-3) * 1.15;
    let axis = |high| Axis { low: 0.0, high, log: false };
    let mut chart = Chart::new((760.0, 320.0), axis(bars.len() as f64), axis(top));
    let text = |figure: f64| if top < 10.0 { format!("{figure:.1}") } else { tick(figure) };
    let step = round_step(top / 5.0);
    let ticks: Vec<(f64, String)> =
        (0..).map(|n| f64::from(n) * step).take_while(|y| *y <= top).map(|y| (y, text(y))).collect();
    chart.y_axis(&ticks, "mean, µs");
    chart.x_axis(&[], "");
    for (index, bar) in bars.iter().enumerate() {
        let (left, right) = (index as f64 + 0.2, index as f64 + 0.8);
        let mut below = 0.0;
        for ((words, class), mean) in PARTS.iter().zip(bar.1) {
            let about = format!("{}, {words}: {} µs", bar.0, form::us(mean));
            chart.block(class, (left, right), (below, below + mean), &about);
            below += mean;
        }
        let beyond = if total(bar) > top { " ↑" } else { "" };
        let down = if total(bar) > top * 0.95 { 14.0 } else { -5.0 };
        let class = if down > 0.0 { "value inside" } else { "value" };
        let middle = index as f64 + 0.5;
        let words = format!("{}{beyond}", form::us(total(bar)));
        chart.text(class, (middle, total(bar).min(top)), down, Anchor::Middle, &words);
        chart.text("name", (middle, 0.0), 18.0, Anchor::Middle, bar.0);
    }
    chart.finish(&format!("mean of each stage, {rate} quotes a second"))
}

/// The next of 1, 2, 5, 10, … that is not less.
fn round_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.max(1e-6).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power).find(|round| *round >= step).unwrap_or(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        assert_eq!([0.7, 3.0, 11.0, 100.0].map(round_step), [1.0, 5.0, 20.0, 100.0]);
    }
}
