//! Mean t2o by rate, one line for each group.

use plotters::prelude::*;

use super::{FONT, INK, LINE, SOFT, WIDTH, colour, decades, drawn, tick};
use crate::t2o::error::T2oError;
use crate::t2o::report::form;
use crate::t2o::report::known::RANGE_US;
use crate::t2o::report::tables::{cells_of, groups, rates};
use crate::t2o::result::Results;

/// Empty when there is only one rate.
pub(in crate::t2o::report) fn curves(results: &Results) -> Result<String, T2oError> {
    let rates = rates(results);
    let means = || results.cells.iter().filter_map(|cell| Some(cell.stage("t2o")?.mean_us)).flatten();
    let (Some(first), Some(last)) = (rates.first(), rates.last()) else { return Ok(String::new()) };
    let Some(bounds) = decades(means().chain(RANGE_US)).filter(|_| rates.len() > 1) else {
        return Ok(String::new());
    };
    let across = (first / 1.5)..(last * 1.5);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, 480)).into_drawing_area();
        let error = drawn("t2o by rate");
        let mut chart = ChartBuilder::on(&area)
            .margin(12)
            .margin_right(28)
            .x_label_area_size(48)
            .y_label_area_size(70)
            .build_cartesian_2d(across.clone().log_scale(), bounds.clone().log_scale())
            .map_err(&error)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(LINE)
            .axis_style(SOFT)
            .x_desc("quotes a second, all instruments together")
            .y_desc("mean t2o, µs")
            .x_labels(30)
            .x_label_formatter(&|rate| tick(*rate, &[1, 2, 5]))
            .y_label_formatter(&|time| tick(*time, &[1]))
            .label_style((FONT, 13).into_font().color(&SOFT))
            .axis_desc_style((FONT, 14).into_font().color(&INK))
            .draw()
            .map_err(&error)?;
        let band = Rectangle::new(
            [(across.start, RANGE_US[0]), (across.end, RANGE_US[1])],
            RGBColor(235, 215, 190).mix(0.45).filled(),
        );
        chart.draw_series([band]).map_err(&error)?;
        let words = Text::new(
            format!(
                "the report: {} to {} µs, in the shape of an M over the rates",
                form::us(RANGE_US[0]),
                form::us(RANGE_US[1])
            ),
            (across.start * 1.15, RANGE_US[1] * 0.8),
            (FONT, 13).into_font().color(&RGBColor(130, 90, 30)),
        );
        chart.draw_series([words]).map_err(&error)?;
        for (group, _) in groups(results) {
            let colour = colour(results, group);
            let points: Vec<(f64, [f64; 2], f64)> = cells_of(results, group)
                .filter_map(|cell| {
                    cell.stage("t2o").map(|stage| (cell.rate, stage.mean_us, stage.all_mean_us))
                })
                .filter(|(_, bounds, _)| bounds[0] > 0.0)
                .collect();
            let line = points.iter().map(|(rate, _, mean)| (*rate, *mean));
            chart.draw_series(LineSeries::new(line.clone(), colour.stroke_width(2))).map_err(&error)?;
            let bars = points.iter().map(|(rate, bounds, _)| {
                PathElement::new([(*rate, bounds[0]), (*rate, bounds[1])], colour.stroke_width(1))
            });
            chart.draw_series(bars).map_err(&error)?;
            chart.draw_series(line.map(|at| Circle::new(at, 3, colour.filled()))).map_err(&error)?;
        }
        area.present().map_err(&error)?;
    }
    Ok(svg)
}
