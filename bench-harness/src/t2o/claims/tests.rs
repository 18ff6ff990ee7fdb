use super::*;
use crate::t2o::fixture::{cell, results, sliced};
use crate::t2o::slices::Slice;

const CLAIMS: &[(&str, &str)] = &[
    ("pinning", "mean(D, 80) < mean(A, 80)"),
    ("five-times", "p50(A, 80) >= 5 * p50(D, 80)"),
    ("flat", "highest(mean, D) / lowest(mean, D) <= 3"),
    ("m", "m_shaped(A)"),
    ("no-m", "not m_shaped(D)"),
    ("both", "mean(D, 80) < 50 and mean(A, 80) > 100"),
];

fn outcomes(results: &Results) -> Vec<(String, Outcome)> {
    judge(results).into_iter().map(|verdict| (verdict.name, verdict.outcome)).collect()
}

/// A as in the report, D flat.
fn honest() -> Results {
    let mut cells = Vec::new();
    for (load, (rate, a)) in
        [(0.5, 500.0), (2.0, 9_000.0), (8.0, 800.0), (80.0, 12_000.0), (800.0, 700.0)].into_iter().enumerate()
    {
        cells.push(cell("A", load + 1, rate, &[a, a * 1.05, a * 0.97]));
        cells.push(cell("D", load + 1, rate, &[40.0, 41.0, 39.0]));
    }
    results(cells, CLAIMS)
}

#[test]
fn claims_hold_on_figures_that_bear_them_out() {
    assert!(
        outcomes(&honest()).iter().all(|(_, outcome)| *outcome == Outcome::Holds),
        "{:?}",
        judge(&honest())
    );
}

#[test]
fn falsified_figures_flip_the_claims() {
    let mut false_results = honest();
    for cell in &mut false_results.cells {
        cell.group = if cell.group == "A" { "D".to_owned() } else { "A".to_owned() };
    }
    assert!(
        outcomes(&false_results).iter().all(|(_, outcome)| *outcome == Outcome::Refuted),
        "{:?}",
        judge(&false_results)
    );
}

#[test]
fn overlapping_runs_decide_nothing() {
    let cells = vec![cell("A", 1, 80.0, &[30.0, 50.0]), cell("D", 1, 80.0, &[40.0, 45.0])];
    let verdicts = judge(&results(cells, &CLAIMS[..1]));
    assert_eq!(verdicts[0].outcome, Outcome::Inconclusive);
    assert_eq!(verdicts[0].numbers, "40.00..45.00 < 30.00..50.00");
}

#[test]
fn a_disturbed_or_missing_cell_decides_nothing() {
    for spoil in 0..3 {
        let mut results = honest();
        let place = results.cells.iter().position(|cell| cell.group == "D" && cell.rate == 80.0).unwrap();
        match spoil {
            0 => results.cells[place].marked.push("others: 3.0 CPUs were at other work".to_owned()),
            1 => results.cells[place].samples = 2,
            _ => {
                let gone = results.cells.remove(place);
                results.missing.push(gone.name);
            }
        }
        let outcomes = outcomes(&results);
        for name in ["pinning", "five-times", "flat", "no-m"] {
            assert!(outcomes.contains(&(name.to_owned(), Outcome::Inconclusive)), "{spoil} {name}");
        }
        assert!(outcomes.contains(&("m".to_owned(), Outcome::Holds)));
    }
}

#[test]
fn a_hump_is_a_rise_and_a_fall_by_a_quarter() {
    let same = |means: &[f64]| has_two_humps(&means.iter().map(|mean| (*mean, *mean)).collect::<Vec<_>>());
    assert!(same(&[1.0, 5.0, 1.0, 5.0, 1.0]));
    assert!(same(&[3.0, 2.0, 5.0, 6.0, 1.0, 1.1, 5.0, 1.0]));
    assert!(!same(&[1.0, 5.0, 1.0, 5.0]), "it does not fall at the end");
    assert!(!same(&[1.0, 5.0, 4.5, 5.0, 1.0]), "no valley to speak of");
    assert!(!same(&[1.0, 2.0, 3.0, 2.0, 1.0]), "one hump");
    assert!(!same(&[]));
}

#[test]
fn intervals_are_counted_with_as_intervals() {
    let interval = |low, high| Interval { low, high };
    assert_eq!(interval(1.0, 2.0).with(Operator::Minus, interval(1.0, 3.0)), Some(interval(-2.0, 1.0)));
    assert_eq!(interval(4.0, 8.0).with(Operator::Over, interval(2.0, 4.0)), Some(interval(1.0, 4.0)));
    assert_eq!(
        interval(1.0, 2.0).with(Operator::Over, interval(0.0, 1.0)),
        None,
        "a division by zero decides nothing"
    );
}

/// Two cells of five runs at two rates; `spoil` changes the first run of the first.
fn one_bad_run(holds: &str, spoil: impl Fn(&mut RunRecord)) -> Verdict {
    let mut cells =
        vec![cell("A", 1, 100.0, &[90.0, 91.0, 89.0, 90.5, 90.2]), cell("A", 2, 800.0, &[40.0, 41.0, 39.0])];
    spoil(&mut cells[0].runs[0]);
    judge(&results(cells, &[("claim", holds)])).remove(0)
}

#[test]
fn every_figure_is_an_interval_over_the_runs() {
    for figure in ["mean", "p50", "p90", "p99", "p999", "max"] {
        let holds = format!("{figure}(A, 100) > {figure}(A, 800)");
        assert_eq!(one_bad_run(&holds, |_| {}).outcome, Outcome::Holds, "{figure}");
        let bad = one_bad_run(&holds, |run| {
            let stage = run.stages.get_mut("t2o").unwrap();
            *stage = RunStage { mean_us: 1.0, p50_us: 1.0, p90_us: 1.0, ..RunStage::default() };
        });
        assert_eq!(
            bad.outcome,
            Outcome::Inconclusive,
            "{figure}: one bad run refutes nothing: {}",
            bad.numbers
        );
    }
    for figure in ["wakeups", "context_switches"] {
        let holds = format!("{figure}(A, 100) <= 1");
        assert_eq!(one_bad_run(&holds, |_| {}).outcome, Outcome::Holds, "{figure}");
        let bad = one_bad_run(&holds, |run| {
            run.observed.seconds = 1.0;
            (run.observed.wakeups, run.observed.context_switches) = (1_000, 1_000);
        });
        assert_eq!((bad.outcome, &*bad.numbers), (Outcome::Inconclusive, "0.00..1000 ≤ 1.00"), "{figure}");
    }
}

#[test]
fn where_answers_did_not_come_a_time_is_a_least() {
    let lost = |holds: &str, open_from_us| one_bad_run(holds, |run| run.open_from_us = Some(open_from_us));
    assert_eq!(lost("p99(A, 100) < 300", 200.0).outcome, Outcome::Inconclusive);
    assert_eq!(lost("p99(A, 100) > 200", 200.0).outcome, Outcome::Holds, "a least is enough for that");
    assert_eq!(lost("p99(A, 100) < 300", 300.0).outcome, Outcome::Holds, "the open waits lie above it");
    assert_eq!(lost("mean(A, 100) < 100", 300.0).outcome, Outcome::Inconclusive);
    assert_eq!(lost("mean(A, 100, md) < 100", 300.0).outcome, Outcome::Holds);
    assert_eq!(lost("mean(A, 100) / mean(A, 800) > 2", 300.0).numbers, "2.17 or more > 2.00");
}

/// A cell whose whole runs have these means on a busy host, and whose slices that count have the others.
fn noisy(group: &str, whole: &[f64], slices: &[f64], level: Level) -> CellResult {
    let mut noisy = sliced(cell(group, 1, 8_000.0, whole));
    let calm = sliced(cell(group, 1, 8_000.0, slices));
    noisy.marked.push("steal: 29.8 % of the time was the hypervisor's".to_owned());
    noisy.marked.push("others: 1.10 CPUs were at other work".to_owned());
    for (run, calm) in noisy.runs.iter_mut().zip(calm.runs) {
        run.kept = calm.kept;
        run.kept[0].level = level;
        run.kept[0].slices = 6;
        let spoilt = |slice: &mut Slice| slice.level = Level::LeftOut;
        run.slices[6..].iter_mut().for_each(spoilt);
    }
    noisy
}

/// Whole runs overlap, and their slices do not.
fn noisy_host(level: Level, holds: &str) -> Verdict {
    let cells = vec![
        noisy("A", &[120.0, 700.0, 1_100.0], &[44.0, 86.0, 60.0], level),
        noisy("K", &[600.0, 900.0, 1_700.0], &[379.0, 406.0, 390.0], level),
    ];
    judge(&results(cells, &[("claim", holds)])).remove(0)
}

#[test]
fn slices_decide_where_whole_runs_overlap_and_the_raw_figures_stand_beside() {
    let verdict = noisy_host(Level::Quiet, "mean(A, 8000) < mean(K, 8000)");
    assert_eq!(verdict.outcome, Outcome::Holds, "{verdict:?}");
    assert_eq!(verdict.raw, "120..1100 < 600..1700");
    assert_eq!(verdict.slices, Some(UsedSlices { level: Level::Quiet, used: 36, of: 60 }));
    assert!(verdict.numbers.starts_with("61.01 < 392, ratio 0.16 ("), "{}", verdict.numbers);
    assert_eq!(noisy_host(Level::Quiet, "mean(A, 8000) > mean(K, 8000)").outcome, Outcome::Refuted);
    assert_eq!(noisy_host(Level::Quiet, "p50(A, 8000) * 2 <= p50(K, 8000)").outcome, Outcome::Holds);
    let near = noisy_host(Level::Quiet, "mean(K, 8000) >= 6 * mean(A, 8000)");
    assert_eq!(near.outcome, Outcome::Inconclusive, "{}", near.numbers);
    assert_eq!(noisy_host(Level::Quiet, "mean(A, 8000) < 500").outcome, Outcome::Holds);
    assert_eq!(noisy_host(Level::Quiet, "highest(mean, K) / lowest(mean, A) > 2").outcome, Outcome::Holds);
}

#[test]
fn busy_slices_decide_between_groups_and_not_against_a_number() {
    let verdict = noisy_host(Level::Busy, "mean(A, 8000) < mean(K, 8000)");
    assert_eq!((verdict.outcome, verdict.slices.map(|used| used.level)), (Outcome::Holds, Some(Level::Busy)));
    let verdict = noisy_host(Level::Busy, "mean(A, 8000) < 10");
    assert_eq!((verdict.outcome, verdict.slices), (Outcome::Inconclusive, None));
    assert!(verdict.numbers.contains("quiet slices"), "{}", verdict.numbers);
    assert_eq!(verdict.raw, "120..1100 < 10.00");
    let harder = noisy_host(Level::Busy, "mean(A, 8000) < 500 and achieved(A, 8000) > 7900");
    assert_eq!(harder.outcome, Outcome::Holds, "a busy host makes that no easier: {}", harder.numbers);
    assert_eq!(noisy_host(Level::Busy, "mean(K, 8000) > 10").outcome, Outcome::Inconclusive);
    assert_eq!(noisy_host(Level::Busy, "disordered(A, 8000) == 0").outcome, Outcome::Holds);
}

#[test]
fn a_platform_that_polls_is_compared_by_quiet_slices_alone() {
    let with = |level, platform: serde_json::Value| {
        let cells = vec![
            noisy("A", &[120.0, 700.0, 1_100.0], &[44.0, 86.0, 60.0], level),
            noisy("K", &[600.0, 900.0, 1_700.0], &[379.0, 406.0, 390.0], level),
        ];
        let mut results = results(cells, &[("claim", "mean(A, 8000) < mean(K, 8000)")]);
        results.settings.group[0].platform = platform;
        judge(&results).remove(0)
    };
    let fast = serde_json::json!({ "strategies": { "host": { "cpus": "1", "mode": "fast" } } });
    let relay = serde_json::json!({ "pin": { "nodes": { "strategy-*": { "relay": { "cpu": 1 } } } } });
    for platform in [fast, relay] {
        assert_eq!(with(Level::Quiet, platform.clone()).outcome, Outcome::Holds);
        let busy = with(Level::Busy, platform);
        assert_eq!(busy.outcome, Outcome::Inconclusive);
        assert!(busy.numbers.contains("A, which polls"), "{}", busy.numbers);
    }
    let parked = serde_json::json!({ "strategies": { "host": { "mode": "parked" } } });
    assert_eq!(with(Level::Busy, parked).outcome, Outcome::Holds);
}

#[test]
fn too_few_slices_decide_nothing_and_it_is_said_so() {
    let mut cells = vec![
        noisy("A", &[120.0; 3], &[44.0, 86.0, 60.0], Level::Quiet),
        noisy("K", &[600.0; 3], &[379.0, 406.0, 390.0], Level::Quiet),
    ];
    cells[1].runs[2].kept.clear();
    let verdict = judge(&results(cells.clone(), &[("claim", "mean(A, 8000) < mean(K, 8000)")])).remove(0);
    assert_eq!(verdict.outcome, Outcome::Inconclusive);
    assert!(
        verdict.numbers.contains("2 passes have enough busy slices in all of them, 3"),
        "{}",
        verdict.numbers
    );
    cells[0].marked.push("off-plan: 3".to_owned());
    let verdict = judge(&results(cells, &[("claim", "mean(A, 8000) < mean(K, 8000)")])).remove(0);
    assert!(verdict.numbers.contains("off-plan"), "{}", verdict.numbers);
}

#[test]
fn a_lower_bound_in_the_slices_that_count_has_no_upper_end() {
    let open = |holds: &str| {
        let mut cells = vec![sliced(cell("A", 1, 80.0, &[40.0; 3])), sliced(cell("K", 1, 80.0, &[400.0; 3]))];
        cells[0].runs[1].kept[0].open_from_us = Some(30.0);
        judge(&results(cells, &[("claim", holds)])).remove(0).outcome
    };
    assert_eq!(open("mean(A, 80) < mean(K, 80)"), Outcome::Inconclusive);
    assert_eq!(open("5 * mean(A, 80) < mean(K, 80)"), Outcome::Inconclusive);
    assert_eq!(open("mean(A, 80) > 0.05 * mean(K, 80)"), Outcome::Holds);
    assert_eq!(open("mean(K, 80) - mean(A, 80) > 1"), Outcome::Inconclusive);
    assert_eq!(open("mean(A, 80, md) < mean(K, 80, md)"), Outcome::Holds);
    assert_eq!(open("mean(A, 80) > 10"), Outcome::Holds, "a least is enough for that");
}
