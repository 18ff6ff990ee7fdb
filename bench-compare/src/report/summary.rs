//! Medians and spreads over the rounds.

use std::collections::BTreeMap;

use bench_kit::Spread;
use serde::Serialize;

use crate::driver::{Measured, Plan, RowKind};

/// One row of the tables.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RowSummary {
    /// Stable name.
    pub(crate) id: String,
    /// Heading.
    pub(crate) title: String,
    /// The table that it belongs to.
    pub(crate) kind: RowKind,
    /// The ranking figure.
    pub(crate) ranked_by: &'static str,
    /// There are fewer CPUs than roles that poll: the scheduler decides, not the code.
    pub(crate) crowded: bool,
    /// The best first; floors and failed rivals last.
    pub(crate) entries: Vec<Entry>,
}

/// One rival in a row.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Entry {
    /// The rival.
    pub(crate) rival: &'static str,
    /// Whether it is ranked: not a floor, processes, and nothing lost.
    pub(crate) ranked: bool,
    /// The figures by stable name, over the rounds.
    pub(crate) figures: BTreeMap<&'static str, Spread>,
    /// The ranking figure divided by colo's in the same round.
    pub(crate) to_colo: Option<Spread>,
    /// Rounds that count.
    pub(crate) rounds: usize,
    /// Rounds among them that were disturbed in every attempt.
    pub(crate) disturbed: usize,
    /// The reason why there are no figures.
    pub(crate) error: Option<String>,
}

/// The ranking figure of a kind of row, and whether more is better.
pub(crate) fn ranked_by(kind: RowKind) -> (&'static str, bool) {
    match kind {
        RowKind::Ping | RowKind::Asleep | RowKind::Sleepers => ("p50_ns", false),
        RowKind::OneWay => ("per_second", true),
    }
}

/// All rows. If some rounds of a rival were undisturbed, only those count; otherwise all do.
pub(crate) fn rows(plan: &Plan, measured: &[Measured]) -> Vec<RowSummary> {
    let summarise = |(index, row): (usize, &crate::driver::Row)| {
        let (figure, more_is_better) = ranked_by(row.kind);
        let blocks: Vec<&Measured> = measured.iter().filter(|block| block.row == index).collect();
        let of_colo: BTreeMap<usize, f64> = blocks
            .iter()
            .filter(|block| block.rival == "colo")
            .filter_map(|block| Some((block.round, *block.outcome.as_ref().ok()?.get(figure)?)))
            .collect();
        let mut entries: Vec<Entry> = plan
            .rivals
            .iter()
            .filter(|facts| row.suits(facts.can))
            .map(|facts| {
                let own: Vec<&Measured> =
                    blocks.iter().copied().filter(|block| block.rival == facts.name).collect();
                let ranked = !facts.floor
                    && (facts.can.lossless || matches!(row.kind, RowKind::Ping | RowKind::Asleep));
                entry(facts.name, ranked && !facts.in_process, &own, figure, &of_colo)
            })
            .collect();
        let rank = |entry: &Entry| {
            let value = entry.figures.get(figure).map_or(f64::INFINITY, |spread| spread.median);
            if more_is_better && value.is_finite() { -value } else { value }
        };
        entries.sort_by(|a, b| b.ranked.cmp(&a.ranked).then(rank(a).total_cmp(&rank(b))));
        RowSummary {
            id: row.id.clone(),
            title: row.title.clone(),
            kind: row.kind,
            ranked_by: figure,
            crowded: row.polling_roles() > plan.cpus.len(),
            entries,
        }
    };
    plan.rows.iter().enumerate().map(summarise).collect()
}

fn entry(
    rival: &'static str,
    ranked: bool,
    blocks: &[&Measured],
    figure: &str,
    of_colo: &BTreeMap<usize, f64>,
) -> Entry {
    let good: Vec<&Measured> = blocks.iter().copied().filter(|block| block.outcome.is_ok()).collect();
    let calm: Vec<&Measured> = good.iter().copied().filter(|block| block.disturbed.is_empty()).collect();
    let (counted, disturbed) = if calm.is_empty() { (&good, good.len()) } else { (&calm, 0) };
    let value = |block: &Measured, name: &str| block.outcome.as_ref().ok()?.get(name).copied();
    let names = counted.first().and_then(|block| block.outcome.as_ref().ok());
    let names = names.map(|figures| figures.keys().copied().collect::<Vec<_>>()).unwrap_or_default();
    let figures = names
        .into_iter()
        .filter_map(|name| Some((name, spread(counted.iter().filter_map(|block| value(block, name)))?)))
        .collect();
    let ratios = counted.iter().filter_map(|block| {
        Some(value(block, figure)? / of_colo.get(&block.round).filter(|colo| **colo > 0.0)?)
    });
    let error = blocks.iter().find_map(|block| block.outcome.as_ref().err()).cloned();
    Entry {
        rival,
        ranked,
        figures,
        to_colo: spread(ratios),
        rounds: counted.len(),
        disturbed,
        error: if good.is_empty() { error } else { None },
    }
}

/// The spread of the finite figures; `None` without any.
fn spread(figures: impl Iterator<Item = f64>) -> Option<Spread> {
    Spread::of(figures.filter(|figure| figure.is_finite()))
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn figures_that_are_no_numbers_do_not_count() {
        assert_eq!(spread([f64::NAN, f64::INFINITY].into_iter()), None);
        let spread = spread([4.0, f64::NAN, 2.0].into_iter());
        assert_eq!(spread.map(|spread| (spread.runs, spread.median)), Some((2, 3.0)));
    }
}
