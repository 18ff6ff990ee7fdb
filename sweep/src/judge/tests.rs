use std::path::PathBuf;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use super::*;
use crate::config::Keep;
use crate::store::{Axis, FORMAT, ListedDay, Manifest, State, VERSION};

fn results(days: &[&str], rows: Vec<Row>) -> Results {
    let manifest = Manifest {
        format: FORMAT.to_owned(),
        version: VERSION,
        state: State::Finished,
        name: "made-up".to_owned(),
        file: PathBuf::new(),
        sets: Vec::new(),
        here: PathBuf::new(),
        platform: PathBuf::new(),
        strategy: None,
        measure: "pnl".to_owned(),
        goal: Goal::Max,
        parameters: vec![Axis { key: "x".to_owned(), values: Vec::new() }],
        days: days
            .iter()
            .map(|name| ListedDay {
                name: (*name).to_owned(),
                files: PathBuf::new(),
                part: "train".to_owned(),
            })
            .collect(),
        seeds: Vec::new(),
        grid: 1,
        sample: None,
        seed: 1,
        runs: rows.len(),
        keep: Keep::Tables,
        colo: String::new(),
        files: Vec::new(),
        started: String::new(),
        ended: None,
        seconds: 0.0,
        jobs: 1,
    };
    let measures = ["pnl", "sharpe", "sharpe_n", "sharpe_interval_s"].map(str::to_owned).to_vec();
    Results { folder: PathBuf::new(), manifest, measures, rows, is_alive: false }
}

fn row(x: &str, day: &str, seed: &str, measures: [f64; 4]) -> Row {
    Row {
        run: String::new(),
        values: vec![x.to_owned()],
        day: day.to_owned(),
        part: String::new(),
        seed: seed.to_owned(),
        state: "finished".to_owned(),
        why: String::new(),
        measures: measures.map(Some).to_vec(),
    }
}

#[test]
fn a_day_counts_once_however_many_seeds_it_has_and_the_test_days_choose_nothing() {
    let pnl = |x, day, seed, pnl| row(x, day, seed, [pnl, 0.0, 0.0, 1.0]);
    let rows = vec![
        pnl("a", "mon", "1", 1.0),
        pnl("a", "mon", "2", 3.0),
        pnl("a", "tue", "1", -1.0),
        pnl("a", "wed", "1", 100.0),
        pnl("b", "mon", "1", 4.0),
        pnl("b", "mon", "2", 4.0),
        pnl("b", "tue", "1", 0.0),
        pnl("b", "wed", "1", -9.0),
    ];
    let results = results(&["mon", "tue", "wed"], rows);
    let split = Split::parse(&results, "wed").unwrap();
    assert_eq!(split, Split::parse(&results, "0.7").unwrap());
    let judgement = judge(&results, "pnl", Goal::Max, &split);
    let [best, other] = &judgement.combinations[..] else { panic!("two combinations") };
    assert_eq!((best.values[0].as_str(), other.values[0].as_str()), ("b", "a"));
    let train = other.train.as_ref().unwrap();
    assert_eq!((train.n, train.mean, train.worst, train.worst_at.as_str()), (2, 0.5, -1.0, "tue"));
    assert!((train.sd.unwrap() - 4.5_f64.sqrt()).abs() < 1e-12);
    assert_eq!(judgement.selection.best_in_test, Some(-9.0));
    assert_eq!((judgement.selection.rank_in_test, judgement.selection.all_in_test), (Some(2), Some(45.5)));
}

#[test]
fn a_combination_that_lacks_a_run_does_not_win() {
    let pnl = |x, day, pnl| row(x, day, "", [pnl, 0.0, 0.0, 1.0]);
    let failed = Row { state: "failed".to_owned(), measures: vec![None; 4], ..pnl("a", "tue", 0.0) };
    let results = results(
        &["mon", "tue"],
        vec![pnl("a", "mon", 9.0), failed, pnl("b", "mon", 1.0), pnl("b", "tue", 1.0)],
    );
    let judgement = judge(&results, "pnl", Goal::Max, &Split::of_file(&results));
    assert_eq!(judgement.combinations[0].values, ["b"]);
    assert_eq!((judgement.combinations[1].failed, judgement.selection.tried), (1, 1));
}

#[test]
fn smaller_is_better_where_the_goal_says_so() {
    let rows = vec![row("a", "", "1", [5.0, 0.0, 0.0, 1.0]), row("b", "", "1", [2.0, 0.0, 0.0, 1.0])];
    let results = results(&[], rows);
    let judgement = judge(&results, "pnl", Goal::Min, &Split::of_file(&results));
    assert_eq!(judgement.combinations[0].values, ["b"]);
    let luck = judgement.selection.best_by_luck.unwrap();
    assert!(luck < 3.5, "the best by luck is below the mean: {luck}");
}

#[test]
fn a_split_that_leaves_nothing_is_refused() {
    let results = results(&["mon", "tue"], Vec::new());
    for wrong in ["mon,tue", "1.5", "0", "wed"] {
        assert!(Split::parse(&results, wrong).is_err(), "{wrong}");
    }
    assert!(Split::parse(&results, "0.99").unwrap().is_test("tue"), "one day stays for the test");
}

#[test]
fn the_normal_distribution_is_that_of_the_tables() {
    for (x, p) in [(0.0, 0.5), (1.0, 0.841_344_7), (-1.96, 0.024_997_9), (3.0, 0.998_650_1)] {
        assert!((normal(x) - p).abs() < 2e-7, "{x}");
        assert!((quantile(p) - x).abs() < 1e-4, "{p}");
    }
    // Means of the largest of n, from tables of order statistics; the formula is about that.
    for (n, mean) in [(10, 1.539), (100, 2.508), (1_000, 3.241)] {
        assert!((expected_maximum(n).unwrap() - mean).abs() < 0.05, "{n}");
    }
    assert_eq!(expected_maximum(1), None);
}

/// A standard normal number, as the sum of twelve even ones.
fn noise(generator: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| generator.next_u32() as f64 / f64::from(u32::MAX)).sum::<f64>() - 6.0
}

#[test]
fn the_best_of_many_without_skill_is_no_discovery_and_one_with_skill_is() {
    let mut generator = ChaCha8Rng::seed_from_u64(3);
    let (n, trials) = (400.0_f64, 50);
    let (mut fooled, mut found, times) = (0, 0, 200);
    for _ in 0..times {
        // A ratio over n intervals varies by about 1/√n; the last one has a true ratio of 0.25, five times as much.
        let mut rows = Vec::new();
        for trial in 0..trials {
            let ratio = noise(&mut generator) / n.sqrt();
            rows.push(row(&format!("{trial}"), "", "1", [ratio, ratio, n, 1.0]));
        }
        let luck = results(&[], rows.clone());
        let judged = judge(&luck, "sharpe", Goal::Max, &Split::of_file(&luck)).selection;
        fooled += u32::from(judged.deflated_sharpe.unwrap() > 0.95);
        let ratio = 0.25 + noise(&mut generator) / n.sqrt();
        rows.push(row("skill", "", "1", [ratio, ratio, n, 1.0]));
        let skill = results(&[], rows);
        let judgement = judge(&skill, "sharpe", Goal::Max, &Split::of_file(&skill));
        found += u32::from(
            judgement.combinations[0].values[0] == "skill"
                && judgement.selection.deflated_sharpe.unwrap() > 0.95,
        );
    }
    println!("of {times}: {fooled} taken for skill that had none, {found} found that had");
    assert!(fooled <= times / 20, "{fooled} of {times} lucky ones pass for skill at 95 %");
    assert!(found >= times / 2, "{found} of {times} with skill are found");
}

#[test]
fn ratios_over_different_intervals_are_not_pooled() {
    let rows = vec![row("a", "", "1", [1.0, 0.1, 40.0, 60.0]), row("b", "", "1", [2.0, 0.2, 40.0, 1.0])];
    let results = results(&[], rows);
    let selection = judge(&results, "sharpe", Goal::Max, &Split::of_file(&results)).selection;
    assert_eq!(selection.deflated_sharpe, None);
    assert!(selection.no_deflated_sharpe.unwrap().contains("different lengths"));
}
