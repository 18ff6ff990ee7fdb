//! The matrix as a map: group by rate, the darker the slower.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{FONT, INK, SOFT, WIDTH, drawn};
use crate::t2o::error::T2oError;
use crate::t2o::report::form;
use crate::t2o::report::tables::{groups, rates};
use crate::t2o::result::Results;

const ROW: i32 = 38;
const LEFT: i32 = 74;
const TOP: i32 = 42;

/// Empty when nothing was measured.
pub(in crate::t2o::report) fn heat_map(results: &Results) -> Result<String, T2oError> {
    let (groups, rates) = (groups(results), rates(results));
    let medians =
        || results.cells.iter().filter_map(|cell| Some(cell.stage("t2o")?.p50_us)).filter(|p50| *p50 > 0.0);
    let (low, high) = (medians().fold(f64::INFINITY, f64::min), medians().fold(0.0, f64::max));
    if high == 0.0 {
        return Ok(String::new());
    }
    let height = TOP + ROW * groups.len() as i32 + 8;
    let column = (WIDTH as i32 - LEFT - 8) / rates.len().max(1) as i32;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height as u32)).into_drawing_area();
        let error = drawn("the heat map");
        let words = |size: i32, colour: &RGBColor| (FONT, size).into_font().color(colour);
        let middle = Pos::new(HPos::Center, VPos::Center);
        for (index, rate) in rates.iter().enumerate() {
            let x = LEFT + column * index as i32 + column / 2;
            let style = words(13, &SOFT).pos(middle);
            area.draw(&Text::new(form::rate(*rate), (x, TOP - 12), style)).map_err(&error)?;
        }
        let style = words(13, &SOFT).pos(Pos::new(HPos::Left, VPos::Center));
        area.draw(&Text::new("quotes/s", (4, TOP - 12), style)).map_err(&error)?;
        for (row, (group, _)) in groups.iter().enumerate() {
            let y = TOP + ROW * row as i32;
            let style = words(16, &INK).pos(Pos::new(HPos::Left, VPos::Center));
            area.draw(&Text::new((*group).to_owned(), (14, y + ROW / 2), style)).map_err(&error)?;
            for (index, rate) in rates.iter().enumerate() {
                let x = LEFT + column * index as i32;
                let corners = [(x + 1, y + 1), (x + column - 1, y + ROW - 1)];
                let cell = results.cell(group, *rate);
                let Some(p50) = cell.and_then(|cell| Some(cell.stage("t2o")?.p50_us)) else {
                    area.draw(&Rectangle::new(corners, RGBColor(240, 242, 245).filled())).map_err(&error)?;
                    continue;
                };
                let depth = if high > low { (p50 / low).ln() / (high / low).ln() } else { 0.0 };
                let (fill, ink) = shade(depth);
                area.draw(&Rectangle::new(corners, fill.filled())).map_err(&error)?;
                let at = (x + column / 2, y + ROW / 2);
                area.draw(&Text::new(form::us(p50), at, words(13, &ink).pos(middle))).map_err(&error)?;
            }
        }
        area.present().map_err(&error)?;
    }
    Ok(svg)
}

/// A shade from near white to dark blue, and a legible text colour on it.
fn shade(depth: f64) -> (RGBColor, RGBColor) {
    let stops = [(237.0, 248.0, 251.0), (127.0, 188.0, 219.0), (20.0, 70.0, 130.0)];
    let place = depth.clamp(0.0, 1.0) * 2.0;
    let (from, to, share) =
        if place < 1.0 { (stops[0], stops[1], place) } else { (stops[1], stops[2], place - 1.0) };
    let mix = |a: f64, b: f64| (a + (b - a) * share).round() as u8;
    let fill = RGBColor(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2));
    (fill, if depth > 0.62 { RGBColor(255, 255, 255) } else { INK })
}
