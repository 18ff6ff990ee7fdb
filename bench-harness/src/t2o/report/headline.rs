//! The figures that a cell is shown by first: those of the slices that count, and of the whole runs where there are none.

use crate::t2o::claims::{disturbed, spoilt};
use crate::t2o::record::RunStage;
use crate::t2o::result::CellResult;
use crate::t2o::slices::Level;

/// Median and mean t2o of a cell, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Headline {
    /// Median of the runs' medians; of whole runs that of all messages.
    pub(super) p50_us: f64,
    /// The same of the mean.
    pub(super) mean_us: f64,
    /// Lowest and highest mean of the runs.
    pub(super) mean_range: [f64; 2],
    /// The slices that it is from; `None`: whole runs.
    pub(super) level: Option<Level>,
}

impl Headline {
    /// `None` when nothing was measured.
    pub(super) fn of(cell: &CellResult) -> Option<Headline> {
        let whole = cell.stage("t2o")?;
        let level = cell.slices.as_ref().and_then(|slices| slices.level);
        let kept = |what: fn(&RunStage) -> f64| {
            let figures = cell.runs.iter().filter_map(|run| Some(what(run.kept(level?)?.stages.get("t2o")?)));
            crate::Spread::of(figures).map(|spread| spread.median)
        };
        let headline = match (kept(|stage| stage.p50_us), kept(|stage| stage.mean_us), &cell.slices) {
            (Some(p50_us), Some(mean_us), Some(slices)) => {
                Headline { p50_us, mean_us, mean_range: slices.mean_us, level }
            }
            _ => Headline {
                p50_us: whole.p50_us,
                mean_us: whole.all_mean_us,
                mean_range: whole.mean_us,
                level: None,
            },
        };
        (headline.p50_us > 0.0).then_some(headline)
    }
}

/// Marks by which a cell's times are not those of a platform that does its work.
const SHORTFALLS: [&str; 6] = ["lost", "backlog", "rate", "disordered", "undelivered", "few-samples"];

/// Why a cell's figures are not to be trusted; `None` where they are.
pub(super) fn distrusted(cell: &CellResult) -> Option<String> {
    let full =
        |word: &str| cell.marked.iter().find(|mark| mark.starts_with(word)).cloned().unwrap_or_default();
    if let Some(word) = spoilt(cell) {
        return Some(full(word));
    }
    let shortfall = SHORTFALLS.iter().map(|word| full(word)).find(|mark| !mark.is_empty());
    match &cell.slices {
        None => disturbed(cell).map(full).or(shortfall),
        Some(slices) if slices.level.is_none() => {
            let why: Vec<String> =
                slices.why.iter().map(|(word, count)| format!("{word} in {count}")).collect();
            Some(format!("slices: of {} none counts or too few do ({})", slices.all, why.join(", ")))
        }
        Some(_) => shortfall,
    }
}
