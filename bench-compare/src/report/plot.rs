//! The picture: one bar a rival, on a logarithmic scale, for six rows.

use std::path::Path;

use plotters::prelude::*;

use super::{Report, RowSummary};
use crate::driver::RowKind;
use crate::error::CompareError;

/// Size of the picture in pixels.
const SIZE: (u32, u32) = (1_200, 1_500);
/// Rows that are shown.
const ROWS: [&str; 6] = ["ping-32", "ping-1024", "asleep-32", "one-way-1", "one-way-3", "sleepers-8000"];

fn failed<E: std::fmt::Display>(error: E) -> CompareError {
    CompareError::Peer(format!("the plot cannot be drawn: {error}"))
}

/// Draws it.
pub(crate) fn draw(report: &Report, path: &Path) -> Result<(), CompareError> {
    let root = SVGBackend::new(path, SIZE).into_drawing_area();
    root.fill(&WHITE).map_err(failed)?;
    let areas = root.split_evenly((3, 2));
    let rows = report.rows.iter().filter(|row| ROWS.contains(&row.id.as_str()));
    for (area, row) in areas.iter().zip(rows) {
        panel(area, row)?;
    }
    root.present().map_err(failed)
}

/// Name and length of each bar, and whether it is colo or a floor.
fn bars(row: &RowSummary) -> Vec<(&'static str, f64)> {
    let scale = if row.kind == RowKind::OneWay { 1e-6 } else { 1e-3 };
    let bar = |entry: &super::Entry| Some((entry.rival, entry.figures.get(row.ranked_by)?.median * scale));
    row.entries.iter().filter_map(bar).filter(|(_, value)| *value > 0.0).collect()
}

fn panel(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    row: &RowSummary,
) -> Result<(), CompareError> {
    let bars = bars(row);
    let values = || bars.iter().map(|(_, value)| *value);
    let low = values().fold(f64::INFINITY, f64::min) / 2.0;
    let high = values().fold(0.0, f64::max) * 4.0;
    if bars.is_empty() {
        return Ok(());
    }
    let unit = if row.kind == RowKind::OneWay {
        "million messages/s, more is better"
    } else {
        "µs p50, less is better"
    };
    let mut chart = ChartBuilder::on(area)
        .caption(format!("{}: {unit}", row.title), ("sans-serif", 16))
        .margin(10)
        .x_label_area_size(30)
        .y_label_area_size(110)
        .build_cartesian_2d((low..high).log_scale(), (0..bars.len() as i32).into_segmented())
        .map_err(failed)?;
    let name = |at: &SegmentValue<i32>| match at {
        SegmentValue::CenterOf(index) => bars.get(*index as usize).map_or("", |(name, _)| *name).to_owned(),
        _ => String::new(),
    };
    chart
        .configure_mesh()
        .disable_y_mesh()
        .y_labels(bars.len())
        .y_label_formatter(&name)
        .x_label_formatter(&|value| format!("{value:.2}"))
        .draw()
        .map_err(failed)?;
    for (index, (name, value)) in bars.iter().enumerate() {
        let colour = match *name {
            "colo" => RGBColor(200, 60, 40),
            "floor" => RGBColor(150, 150, 150),
            _ => RGBColor(70, 110, 170),
        };
        let index = index as i32;
        let mut bar = Rectangle::new(
            [(low, SegmentValue::Exact(index)), (*value, SegmentValue::Exact(index + 1))],
            colour.filled(),
        );
        bar.set_margin(3, 3, 0, 0);
        chart.draw_series(std::iter::once(bar)).map_err(failed)?;
        let label = Text::new(
            format!(" {value:.3}"),
            (*value, SegmentValue::CenterOf(index)),
            ("sans-serif", 13).into_font(),
        );
        chart.draw_series(std::iter::once(label)).map_err(failed)?;
    }
    Ok(())
}
