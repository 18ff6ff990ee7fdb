//! t2o at each percentile, on an axis with equal steps for 90 %, 99 %, 99.9 %, …

use plotters::prelude::*;

use super::{FONT, INK, LINE, SOFT, WIDTH, colour, decades, drawn, telling_rates, tick};
use crate::t2o::error::T2oError;
use crate::t2o::report::tables::groups;
use crate::t2o::result::Results;

/// One plot for each rate.
pub(in crate::t2o::report) fn distributions(results: &Results) -> Result<Vec<(f64, String)>, T2oError> {
    let mut plots = Vec::new();
    for rate in telling_rates(results) {
        let svg = distribution(results, rate)?;
        if !svg.is_empty() {
            plots.push((rate, svg));
        }
    }
    Ok(plots)
}

/// Number of nines of a quantile.
fn nines(quantile: f64) -> f64 {
    -(1.0 - quantile).max(1e-9).log10()
}

fn distribution(results: &Results, rate: f64) -> Result<String, T2oError> {
    let lines: Vec<(&str, Vec<(f64, f64)>)> = groups(results)
        .into_iter()
        .filter_map(|(group, _)| {
            let curve = &results.cell(group, rate)?.stage("t2o")?.curve;
            let points = curve.iter().map(|[quantile, time]| (nines(*quantile), time.max(0.001)));
            Some((group, points.collect()))
        })
        .collect();
    let points = || lines.iter().flat_map(|(_, points)| points.iter());
    let most = points().map(|(nines, _)| *nines).fold(1.0, f64::max);
    let Some(bounds) = decades(points().map(|(_, time)| *time)) else { return Ok(String::new()) };
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, 400)).into_drawing_area();
        let error = drawn("a distribution");
        let mut chart = ChartBuilder::on(&area)
            .margin(12)
            .margin_right(40)
            .x_label_area_size(48)
            .y_label_area_size(70)
            .build_cartesian_2d(0.0..most.ceil(), bounds.log_scale())
            .map_err(&error)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(LINE)
            .axis_style(SOFT)
            .x_labels(most.ceil() as usize + 1)
            .x_desc("percentile of all messages")
            .y_desc("t2o, µs")
            .x_label_formatter(&|nines| percentile(*nines))
            .y_label_formatter(&|time| tick(*time, &[1]))
            .label_style((FONT, 13).into_font().color(&SOFT))
            .axis_desc_style((FONT, 14).into_font().color(&INK))
            .draw()
            .map_err(&error)?;
        for (group, points) in &lines {
            let colour = colour(results, group);
            let line = LineSeries::new(points.iter().copied(), colour.stroke_width(2));
            chart.draw_series(line).map_err(&error)?;
        }
        area.present().map_err(&error)?;
    }
    Ok(svg)
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
