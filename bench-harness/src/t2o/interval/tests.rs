//! Coverage on simulated runs of known spread, each with a fixed seed.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// A standard normal deviate.
fn normal(generator: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) = (generator.random::<f64>().max(f64::MIN_POSITIVE), generator.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// How runs scatter around their cell's median, in logarithms.
#[derive(Clone, Copy, Debug)]
enum Scatter {
    Normal,
    /// Exponential, minus its median: many good runs, some bad ones.
    Skewed,
    /// One run in ten scatters ten times as wide.
    HeavyTailed,
    /// Two states of the host, half and half.
    TwoMoods,
}

const SCATTERS: [Scatter; 4] = [Scatter::Normal, Scatter::Skewed, Scatter::HeavyTailed, Scatter::TwoMoods];

fn runs(
    scatter: Scatter,
    (count, median, spread): (usize, f64, f64),
    generator: &mut ChaCha8Rng,
) -> Vec<f64> {
    let mut one = || match scatter {
        Scatter::Normal => normal(generator),
        Scatter::Skewed => -(1.0 - generator.random::<f64>()).ln() - std::f64::consts::LN_2,
        Scatter::HeavyTailed => normal(generator) * if generator.random_bool(0.1) { 10.0 } else { 1.0 },
        Scatter::TwoMoods => normal(generator) * 0.2 + if generator.random_bool(0.5) { 1.0 } else { -1.0 },
    };
    (0..count).map(|_| median * (spread * one()).exp()).collect()
}

/// Share of the pairs whose interval contains the true value.
fn covered(scatter: Scatter, counts: [usize; 2], spreads: [f64; 2], ratio: f64) -> f64 {
    const PAIRS: usize = 2_000;
    let mut generator = ChaCha8Rng::seed_from_u64(7);
    let mut held = 0;
    for _ in 0..PAIRS {
        let before = runs(scatter, (counts[0], 40.0, spreads[0]), &mut generator);
        let after = runs(scatter, (counts[1], 40.0 * ratio, spreads[1]), &mut generator);
        let [low, high] = of_ratio(&before, &after, 1).unwrap();
        held += usize::from(low <= ratio - 1.0 && ratio - 1.0 <= high);
    }
    held as f64 / PAIRS as f64
}

#[test]
fn intervals_hold_their_level_from_five_runs_on() {
    for scatter in SCATTERS {
        for counts in [[5, 5], [5, 9], [7, 7], [20, 20], [30, 30]] {
            for ratio in [1.0, 1.2] {
                let held = covered(scatter, counts, [0.1, 0.1], ratio);
                assert!(held >= 0.945, "{scatter:?} {counts:?} × {ratio}: {held}");
            }
        }
    }
}

#[test]
fn intervals_hold_their_level_when_one_side_scatters_three_times_as_wide() {
    for counts in [[5, 5], [8, 8], [5, 10], [10, 5]] {
        let held = covered(Scatter::Normal, counts, [0.05, 0.15], 1.0);
        assert!(held >= 0.94, "{counts:?}: {held}");
    }
}

#[test]
fn intervals_of_a_family_hold_their_level_together_whatever_the_runs_scatter_like() {
    const MATRICES: usize = 300;
    const CELLS: usize = 72;
    for scatter in SCATTERS {
        for count in [5, 7] {
            let mut generator = ChaCha8Rng::seed_from_u64(11);
            let (mut wrong, mut found) = (0, 0);
            for _ in 0..MATRICES {
                let mut is_missed = false;
                for _ in 0..CELLS {
                    let sides = [(); 2].map(|()| runs(scatter, (count, 40.0, 0.1), &mut generator));
                    let interval = of_ratio(&sides[0], &sides[1], CELLS);
                    found += usize::from(interval.is_some());
                    is_missed |= interval.is_some_and(|[low, high]| low > 0.0 || high < 0.0);
                }
                wrong += usize::from(is_missed);
            }
            assert_eq!(found > 0, count >= fewest_runs(CELLS), "{scatter:?}, {count} runs");
            // 15 of 300 are allowed, with a standard deviation of 3.8.
            assert!(
                wrong <= 28,
                "{scatter:?}, {count} runs: {wrong} of {MATRICES} matrices have a cell that differs"
            );
        }
    }
}

#[test]
fn four_runs_have_no_interval() {
    assert_eq!(of_ratio(&[1.0; 4], &[1.0; 9], 1), None);
    assert_eq!(of_ratio(&[1.0, 2.0, 3.0, 4.0, 0.0], &[1.0; 5], 1), None, "no time at all is no figure");
    let [low, high] = of_ratio(&[2.0; 6], &[3.0; 6], 9).unwrap();
    assert!((low - 0.5).abs() < 1e-9 && (high - 0.5).abs() < 1e-9, "runs that do not scatter: {low} {high}");
}

#[test]
fn quantiles_and_ranks_are_those_of_the_tables() {
    for (chance, freedom, t) in
        [(0.975, 8.0, 2.306), (0.975, 4.0, 2.776), (0.995, 10.0, 3.169), (0.975, 1e6, 1.960)]
    {
        let found = student_quantile(chance, freedom);
        assert!((found - t).abs() < 6e-4, "{chance} {freedom}: {found}");
    }
    // Critical values of U, two-sided 5 %: U ≤ 2 of five and five, so the third difference from either end.
    for (n, m, critical) in [(5, 5, 2), (5, 9, 7), (8, 8, 13), (10, 10, 23), (20, 20, 127)] {
        assert_eq!(ranks_cut(n, m, 0.05), critical + 1, "{n} and {m}");
    }
    assert_eq!(ranks_cut(3, 3, 0.05), 0);
    // All of one side below all of the other: one order of C(2n, n), from either end.
    for (family, runs) in [(1, 5), (6, 5), (7, 6), (23, 6), (24, 7), (85, 7), (86, 8)] {
        assert_eq!(fewest_runs(family), runs, "{family} intervals");
    }
}
