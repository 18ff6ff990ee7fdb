//! Confidence interval of the ratio of two cells, from the medians of their runs, valid for few runs.
//!
//! Both methods use logarithms, so a difference is a ratio. Welch's interval is valid for runs that scatter normally
//! around their cell's median, each cell with its own width. The interval of Mann and Whitney (all differences of two
//! runs, cut at the ranks that their test allows) is valid for any shape, as long as both cells have the same. On a
//! shared host neither always applies, so the result spans both. Resampling a few runs, which needs neither assumption,
//! covers too little.
//!
//! Each of several intervals has its part of the chance to miss, by either method (Bonferroni), so that all hold together. There
//! is no interval with fewer than [`FEWEST_RUNS`] on either side, nor with fewer than ranks of that chance need:
//! [`fewest_runs`].

/// Fewest runs on either side for an interval.
pub(crate) const FEWEST_RUNS: usize = 5;
/// Chance of missing the true value, in total.
const MISSED: f64 = 0.05;
/// From here on the distribution of the ranks' sum is taken as normal.
const MANY_RUNS: usize = 25;

/// Lowest and highest ratio of `after` to `before`, minus one, that these runs allow: one of `family` intervals that
/// hold together in 95 of 100 comparisons. `None` for too few runs for that many, or for invalid figures.
pub(crate) fn of_ratio(before: &[f64], after: &[f64], family: usize) -> Option<[f64; 2]> {
    let enough = before.len().min(after.len()) >= FEWEST_RUNS;
    let sound = |figures: &[f64]| figures.iter().all(|figure| figure.is_finite() && *figure > 0.0);
    if !enough || !sound(before) || !sound(after) {
        return None;
    }
    let logs = |figures: &[f64]| figures.iter().map(|figure| figure.ln()).collect::<Vec<f64>>();
    let (before, after) = (logs(before), logs(after));
    let missed = MISSED / family.max(1) as f64;
    let welch = welch(&before, &after, missed);
    let ranks = mann_whitney(&before, &after, missed)?;
    Some([welch[0].min(ranks[0]).exp_m1(), welch[1].max(ranks[1]).exp_m1()])
}

/// Runs on either side without which none of `family` intervals that hold together has an end.
pub(crate) fn fewest_runs(family: usize) -> usize {
    let missed = MISSED / family.max(1) as f64;
    (FEWEST_RUNS..MANY_RUNS).find(|runs| ranks_cut(*runs, *runs, missed) > 0).unwrap_or(MANY_RUNS)
}

fn welch(before: &[f64], after: &[f64], missed: f64) -> [f64; 2] {
    let (a, b) = (Moments::of(before), Moments::of(after));
    let (va, vb) = (a.variance / a.count, b.variance / b.count);
    let difference = b.mean - a.mean;
    if va + vb == 0.0 {
        return [difference, difference];
    }
    let freedom = (va + vb).powi(2) / (va.powi(2) / (a.count - 1.0) + vb.powi(2) / (b.count - 1.0));
    let reach = student_quantile(1.0 - missed / 2.0, freedom) * (va + vb).sqrt();
    [difference - reach, difference + reach]
}

struct Moments {
    count: f64,
    mean: f64,
    variance: f64,
}

impl Moments {
    fn of(figures: &[f64]) -> Moments {
        let count = figures.len() as f64;
        let mean = figures.iter().sum::<f64>() / count;
        let squares: f64 = figures.iter().map(|figure| (figure - mean).powi(2)).sum();
        Moments { count, mean, variance: squares / (count - 1.0) }
    }
}

/// The differences of rank k from below and from above, where k is the largest that this chance allows; `None`: it allows none.
fn mann_whitney(before: &[f64], after: &[f64], missed: f64) -> Option<[f64; 2]> {
    let mut differences: Vec<f64> =
        before.iter().flat_map(|before| after.iter().map(move |after| after - before)).collect();
    differences.sort_by(f64::total_cmp);
    let cut = ranks_cut(before.len(), after.len(), missed);
    (cut > 0).then(|| [differences[cut - 1], differences[differences.len() - cut]])
}

/// The largest k for which U < k has a chance of at most half of this one.
fn ranks_cut(n: usize, m: usize, missed: f64) -> usize {
    if n.min(m) >= MANY_RUNS {
        let (n, m) = (n as f64, m as f64);
        // With so many degrees of freedom Student's quantile is the normal one. A cut below zero is none.
        let reach = student_quantile(1.0 - missed / 2.0, 1e6);
        return (n * m / 2.0 - reach * (n * m * (n + m + 1.0) / 12.0).sqrt()).floor() as usize;
    }
    let (n, m) = (n.min(m), n.max(m));
    // Ways to reach each U with i of the smaller sample: the Gaussian binomial coefficients, as shares of all ways.
    let most = n * m / 2;
    let mut ways = vec![0.0; most + 1];
    ways[0] = 1.0;
    for i in 1..=n {
        for u in (m + i..=most).rev() {
            ways[u] -= ways[u - m - i];
        }
        for u in i..=most {
            ways[u] += ways[u - i];
        }
    }
    let all: f64 = (1..=n).map(|i| (m + i) as f64 / i as f64).product();
    let mut chance = 0.0;
    ways.iter()
        .take_while(|ways| {
            chance += **ways / all;
            chance <= missed / 2.0
        })
        .count()
}

/// The value that Student's t does not exceed with this chance (above a half).
pub(super) fn student_quantile(chance: f64, freedom: f64) -> f64 {
    let tail = |t: f64| 0.5 * incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t));
    let (mut low, mut high) = (0.0, 1e6);
    for _ in 0..70 {
        let middle = (low + high) / 2.0;
        if tail(middle) > 1.0 - chance { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// The regularised incomplete beta function, by its continued fraction (Lentz).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp() / a;
    let away_from_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let (mut c, mut d) = (1.0, 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for step in 1..500 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-14 {
            break;
        }
    }
    front * fraction
}

/// The logarithm of the gamma function, by Lanczos' series.
fn ln_gamma(x: f64) -> f64 {
    const SERIES: [f64; 6] = [
        76.180_091_729_471_46,
        -86.505_320_329_416_77,
        24.014_098_240_830_91,
        -1.231_739_572_450_155,
        0.001_208_650_973_866_179,
        -0.000_005_395_239_384_953,
    ];
    let shifted = x + 5.5;
    let sum =
        SERIES.iter().zip(1..).fold(1.000_000_000_190_015, |sum, (term, n)| sum + term / (x + f64::from(n)));
    (x + 0.5) * shifted.ln() - shifted + (2.506_628_274_631_000_5 * sum / x).ln()
}

#[cfg(test)]
mod tests;
