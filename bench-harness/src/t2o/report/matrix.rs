//! The matrix as a table: group by rate, the stronger the shade the slower. Each cell shows median and mean, the raw figures of whole
//! runs where slices were left out, and the report's band.

use super::headline::{Headline, distrusted};
use super::html::escape;
use super::tables::{groups, rates};
use super::{form, known};
use crate::t2o::result::{CellResult, Results};
use crate::t2o::slices::Level;

/// Shades in the style sheet: `s0` to `s8`.
const SHADES: f64 = 8.0;

/// Empty when nothing was measured.
pub(super) fn table(results: &Results) -> String {
    let medians: Vec<f64> =
        results.cells.iter().filter_map(|cell| Some(Headline::of(cell)?.p50_us)).collect();
    let (low, high) =
        (medians.iter().copied().fold(f64::INFINITY, f64::min), medians.iter().copied().fold(0.0, f64::max));
    if medians.is_empty() {
        return String::new();
    }
    let shade =
        |p50: f64| if high > low { ((p50 / low).ln() / (high / low).ln() * SHADES).round() } else { 0.0 };
    let rates = rates(results);
    let mut text =
        "<div class=scroll><table class=matrix>\n<thead><tr><th scope=col class=word>quotes/s</th>"
            .to_owned();
    for rate in &rates {
        text.push_str(&format!("<th scope=col>{}</th>", form::rate(*rate)));
    }
    text.push_str("</tr></thead>\n");
    for (group, title) in groups(results) {
        text.push_str(&format!(
            "<tr><th scope=row class=word><b>{}</b> <span>{}</span></th>",
            escape(group),
            escape(title)
        ));
        for rate in &rates {
            let cell = results.cell(group, *rate);
            match cell.and_then(|cell| Some((cell, Headline::of(cell)?))) {
                Some((cell, headline)) => {
                    text.push_str(&one(results, cell, headline, shade(headline.p50_us)));
                }
                None => text.push_str("<td class=none></td>"),
            }
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</table></div>\n");
    text
}

fn one(results: &Results, cell: &CellResult, headline: Headline, shade: f64) -> String {
    let distrusted = distrusted(cell);
    let mut class = format!("s{shade:.0}");
    if distrusted.is_some() {
        class.push_str(" doubtful");
    }
    let mark = match (&distrusted, cell.marked.is_empty()) {
        (Some(_), _) => "<i class=flag>‡</i>",
        (None, false) => "<i class=flag>†</i>",
        (None, true) => "",
    };
    let mut about = vec![format!("{}: median {} µs", cell.name, form::us(headline.p50_us))];
    about.push(format!("means of the runs {} µs", form::range(headline.mean_range)));
    about.extend(cell.marked.iter().cloned());
    let mut lines = format!(
        "<span class=pair><b>{}</b> <span>{}</span></span>",
        form::us(headline.p50_us),
        form::us(headline.mean_us)
    );
    if let (Some(level), Some(whole)) = (headline.level, cell.stage("t2o")) {
        let busy = if level == Level::Busy { "busy; " } else { "" };
        lines.push_str(&format!(
            "<span class=raw>{busy}raw {} {}</span>",
            form::us(whole.p50_us),
            form::us(whole.all_mean_us)
        ));
    }
    if let Some(known) = known::of(results, cell) {
        lines.push_str(&format!("<span class=ref>{}</span>", form::range(known.t2o_us)));
        about.push(format!("the report: mean {} µs", form::range(known.t2o_us)));
    }
    format!(
        "<td class=\"{class}\" title=\"{}\">{mark}{lines}</td>",
        escape(&about.join("; ")).replace('"', "&quot;")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::t2o::fixture::{cell, results, sliced};

    #[test]
    fn each_cell_has_median_mean_raw_and_the_reports_band_and_marks_show() {
        let mut cells =
            vec![sliced(cell("A", 1, 80.0, &[40.0, 42.0, 44.0])), cell("K", 1, 80.0, &[400.0, 410.0])];
        cells[0].marked.push("late: md's p99 is \"far\" behind".to_owned());
        cells[1].marked.push("lost: 1 of 2 answers did not come".to_owned());
        let text = table(&results(cells, &[]));
        assert!(text.contains("<b>A</b> <span>group A</span>"), "rows have their names: {text}");
        assert!(text.contains("<td class=\"s0\"") && text.contains("<td class=\"s8 doubtful\""));
        assert!(text.contains("<b>37.8</b> <span>42.0</span>") && text.contains("<span class=raw>raw"));
        assert!(text.contains("<span class=ref>4,928–37,815</span>"), "{text}");
        assert!(text.contains("†") && text.contains("‡") && text.contains("&quot;far&quot;"));
        assert_eq!(text.matches("class=raw").count(), 1, "a cell without slices is raw itself");
    }
}
