use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::t2o::fixture::{cell, results, sliced};

fn compared(before: &[f64], after: &[f64]) -> Compared {
    let matrix = |means: &[f64]| results(vec![cell("A", 1, 80.0, means)], &[]);
    Comparison::of(&matrix(before), &matrix(after), 0.05).cells.remove(0)
}

fn change(before: &[f64], after: &[f64]) -> Change {
    compared(before, after).change
}

const NEAR: [f64; 5] = [40.0, 41.0, 39.0, 40.5, 39.5];
const FAR: [f64; 5] = [60.0, 61.0, 59.0, 60.5, 59.5];

#[test]
fn four_words_for_four_things() {
    assert_eq!(change(&NEAR, &FAR), Change::Worse);
    assert_eq!(change(&FAR, &NEAR), Change::Improved);
    assert_eq!(change(&[40.0, 40.2, 39.9, 40.1, 40.0], &[40.1, 40.0, 40.3, 40.0, 39.8]), Change::NoChange);
    assert_eq!(
        change(&[40.0, 80.0, 39.0, 50.0, 70.0], &[60.0, 41.0, 90.0, 55.0, 45.0]),
        Change::Inconclusive
    );
}

#[test]
fn fewer_than_five_runs_say_nothing_and_it_is_said_so() {
    let few = compared(&NEAR[..4], &FAR);
    assert_eq!((few.change, few.interval), (Change::Inconclusive, None));
    assert!(few.why.unwrap().contains("4 and 5 runs: 5 each are needed"));
}

#[test]
fn a_family_of_cells_that_its_runs_cannot_decide_says_how_many_it_needs() {
    let matrix =
        |means: &[f64]| results((1..=24).map(|load| cell("A", load, load as f64, means)).collect(), &[]);
    let comparison = Comparison::of(&matrix(&NEAR), &matrix(&FAR), 0.05);
    assert!(comparison.says_nothing());
    let why = comparison.cells[0].why.as_ref().unwrap();
    assert!(why.contains("5 and 5 runs: 7 each are needed to compare 24 cells"), "{why}");
    let more = |runs: [f64; 5]| [&runs[..], &runs[..2]].concat();
    let comparison = Comparison::of(&matrix(&more(NEAR)), &matrix(&more(FAR)), 0.05);
    assert_eq!(comparison.count(Change::Worse), 24, "{:?}", comparison.cells[0]);
}

#[test]
fn a_disturbed_cell_has_no_verdict_on_either_side() {
    let clean = || results(vec![cell("A", 1, 80.0, &NEAR)], &[]);
    for mark in ["steal: 3 %", "others: 1.0 CPUs", "off-plan: 3", "restarted: td", "failed: run 1"] {
        let mut spoilt = results(vec![cell("A", 1, 80.0, &FAR)], &[]);
        spoilt.cells[0].marked.push(mark.to_owned());
        for (before, after, side) in [(&clean(), &spoilt, "second"), (&spoilt, &clean(), "first")] {
            let cell = Comparison::of(before, after, 0.05).cells.remove(0);
            assert_eq!(cell.change, Change::Inconclusive, "{mark}");
            assert!(cell.why.as_ref().is_some_and(|why| why.contains(side)), "{mark}: {:?}", cell.why);
        }
    }
    let mut lost = results(vec![cell("A", 1, 80.0, &FAR)], &[]);
    lost.cells[0].runs[2].open_from_us = Some(20.0);
    let cell = Comparison::of(&clean(), &lost, 0.05).cells.remove(0);
    assert!(cell.change == Change::Inconclusive && cell.why.unwrap().contains("median is a least"));
}

#[test]
fn with_slices_the_quiet_ones_are_compared_though_the_host_was_busy_otherwise() {
    let busy = |means: &[f64]| {
        let mut cell = sliced(cell("A", 1, 80.0, means));
        cell.marked.push("steal: 30 %".to_owned());
        // The whole runs say nothing: each is as slow as the host was busy.
        let slow = |run: &mut crate::t2o::RunRecord| {
            run.stages.get_mut("t2o").unwrap().p50_us *= f64::from(run.repeat)
        };
        cell.runs.iter_mut().for_each(slow);
        results(vec![cell], &[])
    };
    let compared = |after: &Results| Comparison::of(&busy(&NEAR), after, 0.05).cells.remove(0);
    let worse = compared(&busy(&FAR));
    assert_eq!((worse.change, worse.why.as_deref()), (Change::Worse, None));
    assert!((worse.after_us - 54.0).abs() < 1.0, "{worse:?}");
    let mut few = busy(&FAR);
    few.cells[0].runs[3].kept.clear();
    let few = compared(&few);
    assert_eq!(few.change, Change::Inconclusive);
    assert!(
        few.why.as_ref().is_some_and(|why| why.contains("5 and 4 runs have enough quiet slices")),
        "{few:?}"
    );
    let mut off = busy(&FAR);
    off.cells[0].marked.push("off-plan: 3".to_owned());
    assert_eq!(compared(&off).why.as_deref(), Some("the second is marked off-plan"));
}

#[test]
fn cells_under_different_loads_are_not_compared_and_platforms_that_differ_are_named() {
    let before = results(vec![cell("A", 1, 80.0, &NEAR)], &[]);
    let mut after = results(vec![cell("A", 1, 80.0, &FAR)], &[]);
    after.settings.run.think = std::time::Duration::from_millis(3);
    let comparison = Comparison::of(&before, &after, 0.05);
    assert_eq!(comparison.cells[0].why.as_deref(), Some("think differs: 0ns and 3ms"));
    assert!(comparison.says_nothing() && comparison.notes.is_empty());

    let mut after = results(vec![cell("A", 1, 80.0, &FAR)], &[]);
    after.settings.group[0].platform = serde_json::json!({ "td": { "mode": "fast" } });
    let comparison = Comparison::of(&before, &after, 0.05);
    assert_eq!(comparison.cells[0].change, Change::Worse);
    assert_eq!(comparison.notes, ["the platform of group A differs"]);
}

#[test]
fn a_matrix_does_not_differ_from_itself() {
    let cells = || {
        vec![
            cell("A", 1, 80.0, &[40.0, 40.5, 40.2, 40.1, 40.4]),
            cell("D", 1, 80.0, &[30.0, 30.1, 30.2, 30.0, 30.1]),
        ]
    };
    let comparison = Comparison::of(&results(cells(), &[]), &results(cells(), &[]), 0.05);
    assert_eq!(comparison.count(Change::NoChange), 2, "{comparison:?}");
    assert!(!comparison.says_nothing() && comparison.unmatched.is_empty());
}

/// Runs of `count` cells that scatter by `spread` around 40 µs × `ratio`, one in ten of them five times as wide.
fn matrix(seed: u64, count: usize, (spread, ratio): (f64, f64)) -> Vec<CellResult> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let mut run = || {
        let sum: f64 = (0..12).map(|_| generator.random::<f64>()).sum::<f64>() - 6.0;
        let wide = if generator.random_bool(0.1) { 5.0 } else { 1.0 };
        40.0 * ratio * (spread * wide * sum).exp()
    };
    (1..=count)
        .map(|load| cell("A", load, load as f64, &std::array::from_fn::<f64, 7, _>(|_| run())))
        .collect()
}

#[test]
fn comparing_a_platform_with_itself_finds_a_change_in_one_matrix_of_twenty_at_most() {
    const MATRICES: u64 = 300;
    for (spread, tolerance) in [(0.1, 0.0), (0.3, 0.05)] {
        let mut wrong = 0;
        let template = results(matrix(0, 36, (spread, 1.0)), &[]);
        for seed in 0..MATRICES {
            let (mut before, mut after) = (template.clone(), template.clone());
            before.cells = matrix(2 * seed, 36, (spread, 1.0));
            after.cells = matrix(2 * seed + 1, 36, (spread, 1.0));
            let comparison = Comparison::of(&before, &after, tolerance);
            wrong += u64::from(comparison.count(Change::Improved) + comparison.count(Change::Worse) > 0);
        }
        assert!(wrong as f64 <= 0.05 * MATRICES as f64, "{wrong} of {MATRICES} at {spread}, {tolerance}");
    }
}

#[test]
fn what_became_slower_is_never_called_improved_and_mostly_worse_when_runs_scatter_little() {
    let template = results(matrix(0, 1, (0.1, 1.0)), &[]);
    let mut found = [0; 2];
    for seed in 0..400 {
        for (place, spread) in [(0, 0.15), (1, 0.01)] {
            let (mut before, mut after) = (template.clone(), template.clone());
            before.cells = matrix(2 * seed, 1, (spread, 1.0));
            after.cells = matrix(2 * seed + 1, 1, (spread, 1.2));
            let change = Comparison::of(&before, &after, 0.05).cells[0].change;
            assert_ne!(change, Change::Improved, "seed {seed}, spread {spread}");
            found[place] += usize::from(change == Change::Worse);
        }
    }
    assert!(found[1] > 320, "{found:?} of 400");
}

#[test]
fn cells_of_one_side_are_named() {
    let before = results(vec![cell("A", 1, 80.0, &NEAR)], &[]);
    let after = results(vec![cell("D", 1, 80.0, &NEAR)], &[]);
    let comparison = Comparison::of(&before, &after, 0.05);
    assert_eq!(comparison.unmatched, ["A1 (only the first)", "D1 (only the second)"]);
    assert!(comparison.says_nothing());
}

#[test]
fn unequal_hosts_are_seen() {
    let before = results(vec![cell("A", 1, 80.0, &NEAR)], &[]);
    let mut after = before.clone();
    assert!(host_differences(&before, &after).is_empty());
    after.host.cpu_model = "another".to_owned();
    assert!(host_differences(&before, &after)[0].contains("another"));
}
