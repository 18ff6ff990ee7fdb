//! t2o at each percentile, on an axis with equal steps for 90 %, 99 %, 99.9 %, …

use super::chart::{Axis, Chart};
use super::{Look, decades, powers, telling_rates};
use crate::t2o::report::tables::groups;
use crate::t2o::result::Results;

const SIZE: (f64, f64) = (760.0, 360.0);

/// One plot for each rate.
pub(in crate::t2o::report) fn distributions(results: &Results) -> Vec<(f64, String)> {
    let plot = |rate: f64| Some((rate, distribution(results, rate)?));
    telling_rates(results).into_iter().filter_map(plot).collect()
}

/// Number of nines of a quantile.
fn nines(quantile: f64) -> f64 {
    -(1.0 - quantile).max(1e-9).log10()
}

fn distribution(results: &Results, rate: f64) -> Option<String> {
    let line = |(group, _): (&'_ str, &str)| {
        let curve = &results.cell(group, rate)?.stage("t2o")?.curve;
        let points = curve.iter().map(|[quantile, time]| (nines(*quantile), time.max(0.001)));
        Some((Look::of(results, group), points.collect::<Vec<_>>()))
    };
    let lines: Vec<(Look, Vec<(f64, f64)>)> = groups(results).into_iter().filter_map(line).collect();
    let points = || lines.iter().flat_map(|(_, points)| points.iter());
    let most = points().map(|(nines, _)| *nines).fold(1.0, f64::max).ceil();
    let bounds = decades(points().map(|(_, time)| *time))?;
    let x = Axis { low: 0.0, high: most, log: false };
    let mut chart = Chart::new(SIZE, x, Axis { low: bounds.start, high: bounds.end, log: true });
    chart.y_axis(&powers(&bounds), "t2o, µs");
    let ticks: Vec<(f64, String)> =
        (0..=most as u32).map(|nines| (f64::from(nines), percentile(f64::from(nines)))).collect();
    chart.x_axis(&ticks, "percentile of all messages");
    for (look, points) in &lines {
        chart.line(&look.line(), points);
        // A marker at the median and at each nine, so that lines are told apart without their colours.
        for at in [nines(0.5)].into_iter().chain((1..=most as u32).map(f64::from)) {
            if let Some(point) = points.iter().min_by(|a, b| (a.0 - at).abs().total_cmp(&(b.0 - at).abs()))
                && (point.0 - at).abs() < 0.1
            {
                chart.marker(&look.marker(false), look.shape(), *point, "");
            }
        }
    }
    Some(chart.finish(&format!("t2o at each percentile, {rate} quotes a second")))
}

/// `0 %`, `90 %`, `99 %`, `99.9 %`.
fn percentile(nines: f64) -> String {
    let digits = (nines.round() as usize).saturating_sub(2);
    format!("{:.digits$} %", 100.0 * (1.0 - 10_f64.powf(-nines)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_counts_nines() {
        assert_eq!([0.0, 1.0, 2.0, 3.0, 4.0].map(percentile), ["0 %", "90 %", "99 %", "99.9 %", "99.99 %"]);
        assert!((nines(0.99) - 2.0).abs() < 1e-9);
        assert!(nines(1.0).is_finite());
    }
}
