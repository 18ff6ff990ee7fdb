//! The means of the stages, stacked.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{FONT, INK, LINE, PALETTE, SOFT, WIDTH, drawn, telling_rates, tick};
use crate::t2o::error::T2oError;
use crate::t2o::report::form;
use crate::t2o::report::tables::groups;
use crate::t2o::result::Results;

/// Stages in the order of time.
const PARTS: [&str; 3] = ["market-data transfer", "strategy", "order transfer"];

/// The meaning of each colour.
pub(in crate::t2o::report) fn parts() -> Vec<(String, RGBColor)> {
    PARTS.iter().zip(PALETTE).map(|(part, colour)| ((*part).to_owned(), colour)).collect()
}

/// A group's means, bottom to top.
type Bar<'a> = (&'a str, [f64; 3]);

/// One plot for each rate.
pub(in crate::t2o::report) fn stacks(results: &Results) -> Result<Vec<(f64, String)>, T2oError> {
    let mut plots = Vec::new();
    for rate in telling_rates(results) {
        let bars: Vec<Bar<'_>> = groups(results)
            .into_iter()
            .filter_map(|(group, _)| {
                let cell = results.cell(group, rate)?;
                let mean = |stage: &str| cell.stage(stage).map(|stage| stage.all_mean_us);
                Some((group, [mean("md")?, mean("strategy")?, mean("order")?]))
            })
            .collect();
        if !bars.is_empty() {
            plots.push((rate, stack(&bars)?));
        }
    }
    Ok(plots)
}

fn stack(bars: &[Bar<'_>]) -> Result<String, T2oError> {
    let total = |bar: &Bar<'_>| bar.1.iter().sum::<f64>();
    // One group that takes a hundred times as long would flatten all others: the axis ends at three times the middle
    // one.
    let mut totals: Vec<f64> = bars.iter().map(total).collect();
    totals.sort_by(f64::total_cmp);
    let highest = totals.last().copied().unwrap_or(1.0);
    let top = (totals[(totals.len() - 1) / 2] * 3.0).min(highest).max(1e-3) * 1.15;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, 340)).into_drawing_area();
        let error = drawn("a stage stack");
        let mut chart = ChartBuilder::on(&area)
            .margin(12)
            .x_label_area_size(30)
            .y_label_area_size(70)
            .build_cartesian_2d(0.0..bars.len() as f64, 0.0..top)
            .map_err(&error)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .disable_x_axis()
            .light_line_style(TRANSPARENT)
            .bold_line_style(LINE)
            .axis_style(SOFT)
            .y_desc("mean, µs")
            .y_label_formatter(&|time| if top < 10.0 { format!("{time:.1}") } else { tick(*time, &[]) })
            .label_style((FONT, 13).into_font().color(&SOFT))
            .axis_desc_style((FONT, 14).into_font().color(&INK))
            .draw()
            .map_err(&error)?;
        for part in 0..PARTS.len() {
            let colour = PALETTE[part];
            let boxes = bars.iter().enumerate().map(|(index, (_, means))| {
                let below: f64 = means[..part].iter().sum();
                let (left, right) = (index as f64 + 0.2, index as f64 + 0.8);
                let corners = [(left, below.min(top)), (right, (below + means[part]).min(top))];
                Rectangle::new(corners, colour.filled())
            });
            chart.draw_series(boxes).map_err(&error)?;
        }
        let centred =
            |size: i32, down: VPos| (FONT, size).into_font().color(&INK).pos(Pos::new(HPos::Center, down));
        for (index, bar) in bars.iter().enumerate() {
            let beyond = if total(bar) > top { " ↑" } else { "" };
            let at = (index as f64 + 0.5, total(bar).min(top));
            let down = if total(bar) > top * 0.95 { VPos::Top } else { VPos::Bottom };
            let text = format!("{}{beyond}", form::us(total(bar)));
            chart.draw_series([Text::new(text, at, centred(13, down))]).map_err(&error)?;
            let name = EmptyElement::at((index as f64 + 0.5, 0.0))
                + Text::new(bar.0.to_owned(), (0, 8), centred(15, VPos::Top));
            chart.plotting_area().draw(&name).map_err(&error)?;
        }
        area.present().map_err(&error)?;
    }
    Ok(svg)
}
