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
        seeds_are_days: true,
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
    let own = ["pnl", "sharpe", "sharpe_n", "sharpe_interval_s"];
    let measures = own.iter().chain(&POWERS[1..]).map(|name| (*name).to_owned()).collect();
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
        measures: measures.map(Some).into_iter().chain(normal_sums(measures[1], measures[2])).collect(),
    }
}

/// Power sums of `n` normal changes of variance 1 with this ratio.
fn normal_sums(ratio: f64, n: f64) -> [Option<f64>; 4] {
    let variance = (n - 1.0).max(0.0) / n.max(1.0);
    let moments = [
        ratio,
        ratio.powi(2) + variance,
        ratio.powi(3) + 3.0 * ratio * variance,
        ratio.powi(4) + 6.0 * ratio.powi(2) * variance + 3.0 * variance.powi(2),
    ];
    moments.map(|moment| Some(n * moment))
}

/// A run with these changes of equity, a second each.
fn run(x: &str, day: &str, seed: &str, changes: &[f64]) -> Row {
    let n = changes.len() as f64;
    let sum = |power| changes.iter().map(|change: &f64| change.powi(power)).sum::<f64>();
    let mean = sum(1) / n;
    let squares: f64 = changes.iter().map(|change| (change - mean).powi(2)).sum();
    let ratio = (squares > 0.0).then(|| mean / (squares / (n - 1.0)).sqrt());
    let measures =
        [Some(sum(1)), ratio, Some(n), Some(1.0), Some(sum(1)), Some(sum(2)), Some(sum(3)), Some(sum(4))];
    Row { measures: measures.to_vec(), ..row(x, day, seed, [0.0, 0.0, 0.0, 1.0]) }
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
    assert_eq!((judgement.selection.rank_in_test, judgement.selection.all_in_test), (Some(2.0), Some(45.5)));
}

#[test]
fn a_combination_that_lacks_a_run_does_not_win() {
    let pnl = |x, day, pnl| row(x, day, "", [pnl, 0.0, 0.0, 1.0]);
    let failed = Row { state: "failed".to_owned(), measures: vec![None; 8], ..pnl("a", "tue", 0.0) };
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

const DAYS: [&str; 10] = ["01", "02", "03", "04", "05", "06", "07", "08", "09", "10"];

#[test]
fn a_ruinous_day_among_good_ones_is_pooled_by_its_money_and_not_by_its_ratio() {
    let mut rows = Vec::new();
    for day in DAYS {
        let changes = if day == "10" { [-400.0, -600.0] } else { [4.0, 6.0] };
        rows.push(run("ruin", day, "", &changes));
        rows.push(run("even", day, "", &[1.0, -1.0]));
    }
    let results = results(&DAYS, rows);
    let judgement = judge(&results, "sharpe", Goal::Max, &Split::of_file(&results));
    assert_eq!(judgement.combinations[0].values, ["ruin"], "the mean of its daily ratios is the better one");
    let selection = judgement.selection;
    // 18 changes of 4 and 6, one of -400, one of -600: Σx = -910, Σx² = 520,468.
    let deviation = ((520_468.0 - 910.0 * 910.0 / 20.0) / 19.0_f64).sqrt();
    assert_eq!(selection.sharpe_n, Some(20.0));
    assert!((selection.sharpe.unwrap() - -45.5 / deviation).abs() < 1e-12, "{selection:?}");
    // Two trials, -0.2865 and 0: E[max 2] = 0.5197 of their deviation 0.2026.
    assert!((selection.sharpe_by_luck.unwrap() - 0.105_3).abs() < 1e-4, "{selection:?}");
    assert!(selection.deflated_sharpe.unwrap() < 0.05, "{selection:?}");
}

#[test]
fn the_deflated_ratio_is_that_of_the_paper_with_skewness_and_kurtosis() {
    // Losses are rare and large: 19 of +1 and one of -9, and once more.
    let mut changes = vec![1.0; 19];
    changes.push(-9.0);
    let rows = vec![
        run("skewed", "", "1", &changes),
        run("skewed", "", "2", &changes),
        run("even", "", "1", &[1.0, -1.0]),
        run("even", "", "2", &[1.0, -1.0]),
    ];
    let results = results(&[], rows);
    let selection = judge(&results, "pnl", Goal::Max, &Split::of_file(&results)).selection;
    // Mean 0.5; of ten, a deviation of 0.5 in nineteen of twenty and of -9.5 in one: variance 4.75, and so on.
    let (second, third, fourth) = (
        0.95 * 0.25 + 0.05 * 9.5_f64.powi(2),
        0.95 * 0.125 - 0.05 * 9.5_f64.powi(3),
        0.95 * 0.0625 + 0.05 * 9.5_f64.powi(4),
    );
    let (skewness, kurtosis) = (third / second.powf(1.5), fourth / (second * second));
    let ratio = 0.5 / (second * 40.0 / 39.0).sqrt();
    assert!((selection.skewness.unwrap() - skewness).abs() < 1e-9, "{selection:?}");
    assert!((selection.kurtosis.unwrap() - kurtosis).abs() < 1e-9, "{selection:?}");
    let luck = ratio / std::f64::consts::SQRT_2 * expected_maximum(2).unwrap();
    let error = (1.0 - skewness * ratio + (kurtosis - 1.0) / 4.0 * ratio * ratio) / 39.0;
    let wanted = normal((ratio - luck) / error.sqrt());
    assert!((selection.deflated_sharpe.unwrap() - wanted).abs() < 1e-9, "{selection:?}");
    let as_normal = normal((ratio - luck) / ((1.0 + ratio * ratio / 2.0) / 39.0).sqrt());
    assert!(wanted < as_normal, "skew to losses makes it less: {wanted} and {as_normal}");
}

#[test]
fn a_flat_day_counts_with_its_intervals_and_lacks_nothing() {
    let mut rows = vec![run("a", "01", "", &[2.0, 1.0, 3.0, -1.0]), run("a", "02", "", &[0.0; 6])];
    rows.extend(["01", "02"].map(|day| run("b", day, "", &[1.0, -1.0])));
    let results = results(&DAYS[..2], rows);
    let judgement = judge(&results, "sharpe", Goal::Max, &Split::of_file(&results));
    let selection = judgement.selection;
    assert_eq!((judgement.combinations[0].missing, selection.tried, selection.sharpe_n), (0, 2, Some(10.0)));
    // Mean 0.5; Σx² = 15.
    assert!((selection.sharpe.unwrap() - 0.5 / (12.5 / 9.0_f64).sqrt()).abs() < 1e-12, "{selection:?}");
}

#[test]
fn seeds_over_one_recorded_day_are_one_day() {
    let rows: Vec<Row> = ["1", "2", "3", "4"]
        .into_iter()
        .flat_map(|seed| [run("a", "", seed, &[2.0, 1.0, -1.0]), run("b", "", seed, &[1.0, 0.0, -1.0])])
        .collect();
    let mut results = results(&[], rows);
    let judged = |results: &Results| judge(results, "pnl", Goal::Max, &Split::of_file(results));
    let drawn = judged(&results);
    assert_eq!((drawn.combinations[0].train.as_ref().unwrap().n, drawn.selection.sharpe_n), (4, Some(12.0)));
    results.manifest.seeds_are_days = false;
    let one = judged(&results);
    let figures = one.combinations[0].train.as_ref().unwrap();
    assert_eq!((figures.n, figures.mean, figures.sd, one.selection.sharpe_n), (1, 2.0, None, Some(3.0)));
    assert!(
        one.selection.deflated_sharpe < drawn.selection.deflated_sharpe,
        "three intervals say less than twelve"
    );
}

#[test]
fn combinations_that_are_equal_on_the_test_days_share_their_places() {
    let pnl = |x, day, pnl| row(x, day, "", [pnl, 0.0, 0.0, 1.0]);
    let rows = vec![
        pnl("a", "mon", 3.0),
        pnl("a", "tue", 1.0),
        pnl("b", "mon", 2.0),
        pnl("b", "tue", 1.0),
        pnl("c", "mon", 1.0),
        pnl("c", "tue", 1.0),
        pnl("d", "mon", 0.0),
        pnl("d", "tue", 9.0),
    ];
    let results = results(&["mon", "tue"], rows);
    let split = Split::parse(&results, "tue").unwrap();
    let place = |goal| judge(&results, "pnl", goal, &split).selection.rank_in_test;
    // Places 2, 3 and 4 are shared; by the other end the best is the one that is last there.
    assert_eq!((place(Goal::Max), place(Goal::Min)), (Some(3.0), Some(4.0)));
}
