use super::interval::Draw;
use super::*;

/// A standard normal number, as the sum of twelve even ones.
fn normal(draw: &mut Draw) -> f64 {
    (0..12).map(|_| draw.unit()).sum::<f64>() - 6.0
}

/// `n` values around `mean` that keep this share of the one before, as times of a busy host do.
fn drifting(draw: &mut Draw, phi: f64, n: usize, mean: f64) -> Vec<f64> {
    let mut drift = normal(draw) / (1.0 - phi * phi).sqrt();
    (0..n)
        .map(|_| {
            drift = phi * drift + normal(draw);
            mean + drift
        })
        .collect()
}

fn key() -> (String, Option<String>) {
    ("t2o_us".to_owned(), None)
}

const PAIRS: usize = 300;

/// Of so many pairs without a difference: how many are said to differ, and of how many nothing is said.
fn told_apart(phi: f64, n: usize) -> (usize, usize) {
    let mut draw = Draw(1 + n as u64 + (phi * 1_000.0) as u64);
    let (mut wrong, mut silent) = (0, 0);
    for _ in 0..PAIRS {
        let (one, other) = (drifting(&mut draw, phi, n, 10.0), drifting(&mut draw, phi, n, 10.0));
        let verdict = measure(key(), &one, &other, 0.05).verdict;
        wrong += usize::from(verdict == Verdict::Differs);
        silent += usize::from(verdict == Verdict::TooLittle);
    }
    (wrong, silent)
}

#[test]
fn the_level_holds_from_thirty_values_on_however_much_neighbours_share() {
    for phi in [0.0, 0.5, 0.8, 0.95] {
        for n in [30, 100, 900] {
            let (wrong, silent) = told_apart(phi, n);
            println!("AR({phi}), n = {n}: {wrong} of {PAIRS} told apart, {silent} too little");
            // 15 of 300 are expected at 5 %, with a standard deviation of 3.8.
            assert!(wrong <= 24, "AR({phi}), n = {n}: {wrong} of {PAIRS} pairs of the same are told apart");
            let is_enough = n as f64 * (1.0 - phi) / (1.0 + phi) > 15.0;
            assert!(!is_enough || silent <= 4, "AR({phi}), n = {n}: nothing is said of {silent}");
        }
    }
}

#[test]
fn a_real_difference_is_found_and_too_few_values_say_nothing() {
    let mut draw = Draw(1);
    let (one, other) = (drifting(&mut draw, 0.8, 900, 10.0), drifting(&mut draw, 0.8, 900, 12.0));
    let found = measure(key(), &one, &other, 0.05);
    assert_eq!(found.verdict, Verdict::Differs);
    assert!(found.low.unwrap() > 0.0 && found.high.unwrap() < 4.0, "{found:?}");
    assert_eq!(found, measure(key(), &one, &other, 0.05), "the same values give the same interval");
    assert_eq!(measure(key(), &one[..29], &other, 0.05).verdict, Verdict::TooLittle);
    assert_eq!(measure(key(), &[], &[], 0.05).one, None);
    // Forty values of one slow drift.
    let slow: Vec<f64> = (0..40).map(f64::from).collect();
    let slow = measure(key(), &slow, &other, 0.05);
    assert_eq!((slow.verdict, slow.low), (Verdict::TooLittle, None));
    assert!(slow.one_effective.unwrap() < 3.0, "{slow:?}");
}
