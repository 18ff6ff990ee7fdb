//! Known figures of the report that colo starts from: `configs/reference/kungfu-2.6-parked.csv`, which names its source.

use crate::t2o::result::{CellResult, Results};

/// The name of the source wherever one of its figures is shown.
pub(super) const SOURCE: &str =
    "“the report”: published measurements of Kungfu 2.6’s tick-to-order time, 80 parked strategies, 12 cores";

const TABLE: &str = include_str!("../../../../configs/reference/kungfu-2.6-parked.csv");
const HEAD: &str = "group,rate,t2o_low_us,t2o_high_us,md_low_us,md_high_us,order_low_us,order_high_us";

/// Strategies of the report: its figures are shown beside those of as many.
const STRATEGIES: u32 = 80;

/// The cost of a fast writer for parked readers there, in microseconds.
pub(super) const MIXED_US: f64 = 50_000.0;

/// One cell of the report: lowest and highest mean of its runs, in microseconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Known {
    pub(super) group: String,
    pub(super) rate: f64,
    pub(super) t2o_us: [f64; 2],
    pub(super) md_us: [f64; 2],
    pub(super) order_us: [f64; 2],
}

/// All its cells.
pub(super) fn cells() -> Vec<Known> {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#') && *line != HEAD);
    let cell = |line: &str| {
        let (group, figures) = line.split_once(',')?;
        let figures: Vec<f64> = figures.split(',').map_while(|word| word.parse().ok()).collect();
        let [rate, t2o_low, t2o_high, md_low, md_high, order_low, order_high] = figures[..] else {
            return None;
        };
        Some(Known {
            group: group.to_owned(),
            rate,
            t2o_us: [t2o_low, t2o_high],
            md_us: [md_low, md_high],
            order_us: [order_low, order_high],
        })
    };
    rows.filter_map(cell).collect()
}

/// The cell of the report that this one repeats, if there is one.
pub(super) fn of(results: &Results, cell: &CellResult) -> Option<Known> {
    let group = results.settings.group.iter().find(|group| group.name == cell.group)?;
    let strategies = group.strategies.unwrap_or(results.settings.run.strategies);
    let same = |known: &Known| known.group == cell.group && known.rate == cell.rate;
    cells().into_iter().find(same).filter(|_| strategies == STRATEGIES)
}

/// Lowest and highest of its means of t2o, over some of its groups.
pub(super) fn range(of: impl Fn(&str) -> bool) -> [f64; 2] {
    let cells: Vec<Known> = cells().into_iter().filter(|known| of(&known.group)).collect();
    let low = cells.iter().map(|known| known.t2o_us[0]).fold(f64::INFINITY, f64::min);
    [low, cells.iter().map(|known| known.t2o_us[1]).fold(0.0, f64::max)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::t2o::fixture::{cell, results};

    #[test]
    fn the_table_has_four_groups_at_twelve_rates_whose_stages_fit() {
        let cells = cells();
        assert_eq!(cells.len(), 48);
        assert!(TABLE.contains(HEAD) && TABLE.starts_with("# "));
        for known in &cells {
            for [low, high] in [known.t2o_us, known.md_us, known.order_us] {
                assert!(0.0 < low && low <= high, "{known:?}");
            }
            assert!(known.t2o_us[0] >= known.md_us[0] + known.order_us[0] - 1.0, "{known:?}");
        }
        let [low, high] = range(|group| group == "A");
        assert_eq!((high / low).round(), 50.0);
        assert_eq!(range(|_| true), [475.23, 37_814.85]);
    }

    #[test]
    fn only_cells_of_as_many_strategies_stand_beside_it() {
        let mut results = results(vec![cell("A", 1, 80.0, &[40.0]), cell("K", 1, 80.0, &[40.0])], &[]);
        assert_eq!(of(&results, &results.cells[0]).map(|known| known.t2o_us), Some([4_928.12, 37_814.85]));
        assert_eq!(of(&results, &results.cells[1]), None, "the report has no such group");
        results.settings.group[0].strategies = Some(1);
        assert_eq!(of(&results, &results.cells[0]), None);
    }
}
