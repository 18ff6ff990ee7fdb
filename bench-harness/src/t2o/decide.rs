//! The interval of a comparison, by a bootstrap over passes and slices.
//!
//! A pass runs each cell once, in an order that is mixed by the seed, so the cells of one pass are paired: what the host did
//! for minutes fell on any of them by chance. The drawn unit is a whole pass. For each draw as many passes are taken as there
//! were, the same ones for all figures; each figure of a drawn pass is moved by its own error, which is that of a bootstrap
//! over the blocks of its slices (see `kept`); and the comparison is computed of the geometric means.
//!
//! A plain bootstrap of few passes covers too little. Its spread is therefore widened to that of an unbiased estimate, and
//! multiplied by Student's quantile for as many passes; where the drawn percentiles reach further, the interval does too. The
//! slices count twice in this, once by themselves and once in what lies between the passes: the interval is rather too wide.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::interval::student_quantile;
use super::kept::spread;

/// Fewest passes for an interval: two runs of a host with two states agree by chance too often.
pub(crate) const FEWEST_PASSES: usize = 3;
/// Chance of missing the true value.
const MISSED: f64 = 0.05;
const DRAWS: usize = 400;

/// A figure of one cell in one pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    /// The figure.
    pub(crate) value: f64,
    /// Its standard error within the run, as a share.
    pub(crate) error: f64,
}

/// What is estimated, and between which values it lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) estimate: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The interval of `of`, a function of some figures, of which `series` has the estimates pass by pass: each series has the
/// same passes in the same order. `None` for too few passes, or for figures that are not positive.
pub(crate) fn interval(series: &[Vec<Estimate>], of: &dyn Fn(&[f64]) -> f64) -> Option<Found> {
    let passes = series.iter().map(Vec::len).min()?;
    let sound = |estimate: &Estimate| estimate.value.is_finite() && estimate.value > 0.0;
    if passes < FEWEST_PASSES || !series.iter().flatten().all(sound) {
        return None;
    }
    let logs: Vec<Vec<f64>> =
        series.iter().map(|one| one.iter().map(|estimate| estimate.value.ln()).collect()).collect();
    let centre = |logs: &Vec<f64>| (logs[..passes].iter().sum::<f64>() / passes as f64).exp();
    let estimate = of(&logs.iter().map(centre).collect::<Vec<f64>>());
    let mut generator = ChaCha8Rng::seed_from_u64(1);
    let mut drawn: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let places: Vec<usize> = (0..passes).map(|_| generator.random_range(0..passes)).collect();
            let mut one = |(logs, estimates): (&Vec<f64>, &Vec<Estimate>)| {
                let moved = places.iter().map(|at| logs[*at] + estimates[*at].error * normal(&mut generator));
                (moved.sum::<f64>() / passes as f64).exp()
            };
            of(&logs.iter().zip(series).map(&mut one).collect::<Vec<f64>>())
        })
        .collect();
    if !estimate.is_finite() || drawn.iter().any(|figure| !figure.is_finite()) {
        return None;
    }
    drawn.sort_by(f64::total_cmp);
    let cut = (DRAWS as f64 * MISSED / 2.0) as usize;
    let passes = passes as f64;
    let unbiased = spread(&drawn) * (passes / (passes - 1.0)).sqrt();
    let reach = student_quantile(1.0 - MISSED / 2.0, passes - 1.0) * unbiased;
    Some(Found {
        estimate,
        low: (estimate - reach).min(drawn[cut]),
        high: (estimate + reach).max(drawn[DRAWS - 1 - cut]),
    })
}

/// A standard normal deviate, by Box and Muller.
fn normal(generator: &mut impl Rng) -> f64 {
    let (u, v): (f64, f64) = (generator.random::<f64>().max(f64::MIN_POSITIVE), generator.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

#[cfg(test)]
mod tests;
