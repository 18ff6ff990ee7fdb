//! A report of a matrix: one self-contained HTML file, and the same as Markdown, CSV and JSON.

mod csv;
mod form;
mod headline;
mod html;
mod known;
mod markdown;
mod matrix;
mod plots;
mod style;
mod summary;
mod tables;

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
pub use summary::{Best, Distrusted, HostCost, Summary};

use super::claims::{Verdict, judge};
use super::error::T2oError;
use super::result::Results;

/// The content of the report's JSON.
#[derive(Debug, Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    results: &'a Results,
    claims: &'a [Verdict],
    summary: &'a Summary,
}

/// Writes `report.html`, `.md`, `.csv` and `.json` into `folder`; returns their paths.
///
/// # Errors
/// The files cannot be written.
pub fn write(results: &Results, folder: &Path) -> Result<Vec<PathBuf>, T2oError> {
    let claims = judge(results);
    let summary = Summary::of(results);
    let json = serde_json::to_string_pretty(&Whole { results, claims: &claims, summary: &summary })
        .map_err(|error| T2oError::file("write", folder)(error.into()))?;
    let files = [
        ("report.html", html::page(results, &claims, &summary)),
        ("report.md", markdown::text(results, &claims, &summary)),
        ("report.csv", csv::text(results)),
        ("report.json", json),
    ];
    let mut written = Vec::new();
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).map_err(T2oError::file("write", &path))?;
        written.push(path);
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use crate::t2o::fixture::{cell, results};

    #[test]
    fn the_report_is_whole_and_needs_nothing_else() {
        let cells = ["A", "D"]
            .into_iter()
            .flat_map(|group| {
                [(1, 80.0), (2, 800.0)].map(|(load, rate)| cell(group, load, rate, &[40.0, 60.5]))
            })
            .collect();
        let mut results = results(cells, &[("order", "mean(A, 80) < 100"), ("false", "mean(A, 80) > 100")]);
        results.cells[1].marked.push("others: 3.0 CPUs & more".to_owned());
        let folder = tempfile::tempdir().unwrap();
        let written = super::write(&results, folder.path()).unwrap();
        assert_eq!(written.len(), 4);
        let read = |index: usize| std::fs::read_to_string(&written[index]).unwrap();
        let html = read(0);
        // Two panels of curves, two plots for each of two rates, and keys of two groups in three legends.
        assert_eq!(html.matches("<svg viewBox").count(), 6);
        assert_eq!(html.matches("<svg class=key").count(), 6);
        assert!(html.contains("<table class=matrix>") && html.contains("<section class=verdict>"));
        assert!(
            html.find("<section class=verdict>") < html.find("<table class=matrix>"),
            "the verdict is first"
        );
        assert!(html.contains("made up &lt;for&gt; tests") && html.contains("3.0 CPUs &amp; more"));
        assert!(
            html.contains("<span class=holds>holds</span>")
                && html.contains("<span class=refuted>refuted</span>")
        );
        for outside in ["src=", "href=", "@import", "url("] {
            assert!(!html.contains(outside), "{outside} points outside of the file");
        }
        assert!(read(1).contains("| A1 | 80 | 1 | 16.0–24.2 | 20.0–30.2 | 40.0–60.5 |"), "{}", read(1));
        assert_eq!(read(2).lines().count(), 1 + 4 * 5);
        let json: serde_json::Value = serde_json::from_str(&read(3)).unwrap();
        assert_eq!(json["claims"][0]["outcome"], "holds");
        assert_eq!(json["cells"][0]["stages"]["t2o"]["mean_us"][1], 60.5);
    }

    #[test]
    fn many_cells_that_are_not_to_be_trusted_are_folded_and_few_are_not() {
        let page = |spoilt: usize| {
            let mut cells: Vec<_> =
                (1..=8).map(|load| cell("A", load, 10.0 * load as f64, &[40.0, 41.0])).collect();
            cells[..spoilt].iter_mut().for_each(|cell| cell.marked.push("off-plan: 3".to_owned()));
            let folder = tempfile::tempdir().unwrap();
            let written = super::write(&results(cells, &[]), folder.path()).unwrap();
            std::fs::read_to_string(&written[0]).unwrap()
        };
        assert!(page(0).contains("<h2>Cells not to trust</h2>\n<p>None.</p>"));
        assert!(!page(5).contains("<details>"));
        assert!(page(6).contains("<details><summary>6 cells: A1 A2 A3 A4 A5 A6</summary>"));
    }

    #[test]
    fn results_without_figures_make_a_report_too() {
        let mut empty = cell("A", 1, 80.0, &[1.0]);
        empty.stages.clear();
        empty.runs.clear();
        let folder = tempfile::tempdir().unwrap();
        assert!(super::write(&results(vec![empty], &[]), folder.path()).is_ok());
        assert!(super::write(&results(vec![cell("A", 1, 80.0, &[0.0])], &[]), folder.path()).is_ok());
    }
}
