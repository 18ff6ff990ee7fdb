//! Searches for the number of strategies that a host carries.
//!
//! The number is doubled until the target is missed, then the gap is halved down to an eighth. Measured figures
//! scatter, so the result is the largest number that met the target with no smaller one missing it.

use std::path::Path;
use std::time::Duration;

use pinning::Host;
use serde::Serialize;

use super::caveats;
use super::error::T2oError;
use super::order::Run;
use super::record::RunRecord;
use super::runner::{self, Verdict};
use super::scenario::Cell;

/// The result of one number of strategies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Strategies.
    pub strategies: u32,
    /// Median of t2o, in µs: the median over the runs.
    pub p50_us: f64,
    /// 99th percentile of t2o, in µs: the median over the runs.
    pub p99_us: f64,
    /// Share of the quotes that md published on time.
    pub achieved: f64,
    /// Share of the answers that arrived, in the worst run.
    pub answered: f64,
    /// Whether the target is met, the rate is kept, and every answer arrived without a growing backlog.
    pub carries: bool,
    /// The reasons if not.
    pub why_not: Vec<String>,
}

/// The result of the search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Capacity {
    /// The greatest number of strategies that the host carries; 0 when not even one.
    pub strategies: u32,
    /// The search ended at its own limit: the host may carry more.
    pub at_limit: bool,
    /// All measured points, fewest strategies first.
    pub curve: Vec<Point>,
}

/// Searches from one strategy to `most`. `measure` returns `None` to end the search.
///
/// # Errors
/// The errors of `measure`.
pub fn search<E>(most: u32, mut measure: impl FnMut(u32) -> Result<Option<Point>, E>) -> Result<Capacity, E> {
    let mut curve: Vec<Point> = Vec::new();
    let (mut good, mut bad) = (0, most.saturating_add(1));
    let mut next = 1.min(most);
    while next > 0 {
        let Some(point) = measure(next)? else { break };
        if point.carries {
            good = next;
        } else {
            bad = next;
        }
        curve.push(point);
        next = match (bad > most, bad - good) {
            (true, 1) => 0,
            (true, _) => (good * 2).min(most),
            (false, gap) if gap <= (good / 8).max(1) => 0,
            (false, gap) => good + gap / 2,
        };
    }
    curve.sort_by_key(|point| point.strategies);
    Ok(Capacity { strategies: good, at_limit: good == most, curve })
}

/// Measures one cell on `repeats` fresh platforms; `None` when `go_on` returned false.
///
/// # Errors
/// [`T2oError`]. A platform that fails to start counts as not carried.
pub fn measure(
    cell: &Cell,
    repeats: u32,
    target: Duration,
    (colo, host): (&Path, &Host),
    go_on: &mut dyn FnMut(f64) -> bool,
) -> Result<Option<Point>, T2oError> {
    let mut records: Vec<RunRecord> = Vec::new();
    for repeat in 1..=repeats {
        let run = Run { cell, repeat };
        let look = Duration::from_secs(3_600);
        match runner::run(run, (colo, host, look), &Verdict::default(), go_on)? {
            Some((record, _)) => records.push(record),
            None => return Ok(None),
        }
    }
    Ok(Some(point(cell, target, &records)))
}

/// Least share of its rate that md must reach.
const RATE_KEPT: f64 = 0.98;

fn point(cell: &Cell, target: Duration, records: &[RunRecord]) -> Point {
    let middle = |figure: fn(&RunRecord) -> Option<f64>| {
        crate::Spread::of(records.iter().filter_map(figure)).map_or(0.0, |spread| spread.median)
    };
    let p99_us = middle(|record| Some(record.stages.get("t2o_intended")?.p99_us));
    let achieved = middle(|record| Some(record.achieved_rate)) / cell.rate;
    // A quote that falls out of the window at either end does not count as a missed rate.
    let edges = 2.0 / (cell.rate * cell.measured().as_secs_f64()).max(1.0);
    let answered = |record: &RunRecord| 1.0 - record.lost as f64 / record.expected.max(1) as f64;
    let mut why_not = Vec::new();
    let mut not = |holds: bool, why: &dyn Fn() -> String| {
        if !holds {
            why_not.push(why());
        }
    };
    for record in records {
        let run = record.repeat;
        if let Some(why) = &record.failed {
            not(false, &|| format!("run {run}: {}", why.lines().next().unwrap_or_default()));
            continue;
        }
        not(record.samples > 0, &|| format!("run {run}: no answer came"));
        not(record.lost == 0, &|| {
            format!("run {run}: {} of {} answers did not come", record.lost, record.expected)
        });
        not(!caveats::has_backlog(record), &|| {
            format!("run {run}: {} of {} answers came after the end", record.outstanding, record.expected)
        });
        not(record.observed.restarted.is_empty(), &|| {
            format!("run {run}: {} ended and came back", record.observed.restarted.join(", "))
        });
    }
    not(achieved >= RATE_KEPT - edges, &|| format!("md kept {:.1} % of the rate", achieved * 100.0));
    let target_us = target.as_secs_f64() * 1e6;
    not(p99_us <= target_us, &|| format!("p99 is {p99_us:.1} µs"));
    Point {
        strategies: cell.strategies,
        p50_us: middle(|record| Some(record.stages.get("t2o_intended")?.p50_us)),
        p99_us,
        achieved,
        answered: records.iter().map(answered).fold(1.0, f64::min),
        carries: why_not.is_empty(),
        why_not,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture(strategies: u32, carries: bool) -> Point {
        let why_not = if carries { Vec::new() } else { vec!["p99 is 2.0 µs".to_owned()] };
        Point { strategies, p50_us: 1.0, p99_us: 2.0, achieved: 1.0, answered: 1.0, carries, why_not }
    }

    #[test]
    fn a_rate_whose_answers_do_not_come_is_not_carried() {
        let whole = crate::t2o::fixture::cell("A", 1, 80.0, &[40.0]).runs;
        let cell = crate::t2o::fixture::scenario_cell("A", 80.0);
        let carried = |spoil: &dyn Fn(&mut RunRecord)| {
            let mut runs = whole.clone();
            spoil(&mut runs[0]);
            point(&cell, Duration::from_secs(10), &runs)
        };
        assert!(carried(&|_| {}).carries);
        let lost = carried(&|run| run.lost = 1);
        assert!(!lost.carries && lost.why_not[0].contains("1 of 1000 answers did not come"), "{lost:?}");
        // Answering the quotes of one second takes 1.35 s, and a target of ten seconds does not hide it.
        assert!(!carried(&|run| run.outstanding = 259).carries);
        assert!(!carried(&|run| run.observed.restarted = vec!["td".to_owned()]).carries);
    }

    fn found(most: u32, limit: u32) -> (u32, bool, usize) {
        let measure = |strategies| Ok::<_, ()>(Some(fixture(strategies, strategies <= limit)));
        let capacity = search(most, measure).unwrap();
        assert!(capacity.curve.is_sorted_by_key(|point| point.strategies));
        (capacity.strategies, capacity.at_limit, capacity.curve.len())
    }

    #[test]
    fn the_search_ends_near_the_limit_with_few_measurements() {
        for limit in 1..300 {
            let (strategies, at_limit, measurements) = found(320, limit);
            assert!(strategies <= limit && !at_limit, "{strategies} of {limit}");
            assert!(strategies + (strategies / 8).max(1) > limit.min(320) - 1, "{strategies} of {limit}");
            assert!(measurements < 20, "{measurements} for {limit}");
        }
    }

    #[test]
    fn nothing_and_everything_are_answers() {
        assert_eq!(found(320, 0), (0, false, 1));
        assert_eq!(found(10, 10), (10, true, 5));
        assert_eq!(found(1, 5), (1, true, 1));
    }

    #[test]
    fn a_search_that_is_stopped_keeps_what_it_has() {
        let mut left = 3;
        let capacity = search(100, |strategies| {
            left -= 1;
            Ok::<_, ()>((left > 0).then(|| fixture(strategies, true)))
        });
        assert_eq!(capacity.unwrap().strategies, 2);
    }
}
