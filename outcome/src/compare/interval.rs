//! An interval for the difference of two means, of values that depend on their neighbours.
//!
//! Blocks of neighbouring values are drawn with replacement (circular block bootstrap). The length of a block follows from the
//! autocorrelation: Politis and White, *Automatic Block-Length Selection for the Dependent Bootstrap*, Econometric Reviews 2004,
//! with the correction of Patton, Politis and White, 2009. Few blocks vary too little, so a draw is widened in two ways:
//!
//! - to the error of the mean of as many independent values as these say as much as: the lower of two estimates, one by the
//!   spectrum at zero, one by the neighbour's correlation, corrected for its bias (Kendall 1954);
//! - by a draw of the error itself, which that many values do not tell exactly: Student's distribution in place of the normal one.

/// Draws in the tail that an end of the interval is read from.
const IN_TAIL: f64 = 20.0;
/// Draws, at least.
const DRAWS: usize = 2_000;
/// Blocks of one draw, at most: of more values than these the blocks are longer, which costs no level.
const MOST_BLOCKS: usize = 512;
/// Correlations that are looked at, at most: those of a million values take their time.
const MOST_LAGS: usize = 256;
/// From here on Student's distribution is as good as normal.
const MANY: f64 = 60.0;
/// A neighbour's correlation is not taken for more.
const MOST_CORRELATED: f64 = 0.99;
/// The same for every comparison, so that it repeats.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// A generator that gives the same numbers everywhere (SplitMix64).
pub(super) struct Draw(pub(super) u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, most: usize) -> usize {
        ((u128::from(self.next()) * most as u128) >> 64) as usize
    }

    /// Above 0, at most 1.
    pub(super) fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Standard normal (Box and Muller).
    fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// χ² over its degrees of freedom, an even number of them, at most these.
    fn spread(&mut self, freedom: f64) -> f64 {
        let pairs = ((freedom / 2.0).floor() as u32).max(1);
        let sum: f64 = (0..pairs).map(|_| -self.unit().ln()).sum();
        sum / f64::from(pairs)
    }
}

/// What the autocorrelation of values says.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Dependence {
    /// Of a block.
    length: usize,
    /// Independent values that say as much.
    effective: f64,
}

impl Dependence {
    fn of(values: &[f64], mean: f64) -> Dependence {
        let n = values.len();
        let covariance = |lag: usize| -> f64 {
            let pairs = values.iter().zip(&values[lag..]);
            pairs.map(|(one, other)| (one - mean) * (other - mean)).sum::<f64>() / n as f64
        };
        let variance = covariance(0);
        if variance <= 0.0 {
            return Dependence { length: 1, effective: n as f64 };
        }
        let size = n as f64;
        // So many neighbouring correlations in a row must be small.
        let in_row = (size.log10().sqrt().ceil() as usize).max(5);
        let lags = ((size.sqrt().ceil() as usize) + in_row).min(MOST_LAGS);
        let last = (2 * lags).min(n - 1);
        let covariances: Vec<f64> = (0..=last).map(covariance).collect();
        let small = 2.0 * (size.log10() / size).sqrt() * variance;
        let is_small = |lag: usize| covariances.get(lag).is_none_or(|it| it.abs() < small);
        let quiet = (0..=lags - in_row).find(|before| (1..=in_row).all(|lag| is_small(before + lag)));
        let reach = quiet.unwrap_or_else(|| (1..=lags).rev().find(|lag| !is_small(*lag)).unwrap_or(1));
        let window = (2 * reach).clamp(1, last);
        let (mut spectrum, mut curvature) = (variance, 0.0);
        for (lag, covariance) in covariances.iter().enumerate().take(window + 1).skip(1) {
            let share = lag as f64 / window as f64;
            let weight = (2.0 * (1.0 - share)).clamp(0.0, 1.0);
            spectrum += 2.0 * weight * covariance;
            curvature += 2.0 * weight * lag as f64 * covariance;
        }
        let most = (3.0 * size.sqrt()).min(size / 3.0).ceil();
        let neighbour = covariances[1] / variance;
        let unbiased = (neighbour + (1.0 + 3.0 * neighbour) / size).clamp(0.0, MOST_CORRELATED);
        let by_neighbour = size * (1.0 - unbiased) / (1.0 + unbiased);
        if spectrum <= 0.0 {
            return Dependence { length: most as usize, effective: by_neighbour };
        }
        let best = (2.0 * curvature * curvature / (4.0 / 3.0 * spectrum * spectrum)).cbrt() * size.cbrt();
        let by_spectrum = size * variance / spectrum;
        Dependence {
            length: best.clamp(1.0, most).ceil() as usize,
            effective: by_neighbour.min(by_spectrum).min(size),
        }
    }
}

/// Values in their order, ready to draw blocks from: sums over any block of neighbours, the last being followed by the first.
pub(super) struct Series {
    /// Sums of the first values less their mean.
    sums: Vec<f64>,
    n: usize,
    mean: f64,
    length: usize,
    effective: f64,
    /// What a draw is stretched by.
    stretch: f64,
    /// Standard error of the mean where all blocks are alike though the values are not (they alternate): drawn as it is.
    alone: f64,
}

impl Series {
    pub(super) fn of(values: &[f64]) -> Series {
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        let Dependence { length, effective } = Dependence::of(values, mean);
        let length = length.max(n.div_ceil(MOST_BLOCKS));
        let mut sums = vec![0.0];
        for index in 0..n + length {
            sums.push(sums[index] + values[index % n] - mean);
        }
        let mut series = Series { sums, n, mean, length, effective, stretch: 1.0, alone: 0.0 };
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n as f64;
        let (wanted, drawn) = (variance / (effective - 1.0).max(1.0), series.variance_of_draws());
        if drawn > wanted * 1e-9 {
            series.stretch = (wanted / drawn).sqrt().max(1.0);
        } else {
            series.alone = wanted.sqrt();
        }
        series
    }

    /// How many independent values say as much as these.
    pub(super) fn effective(&self) -> f64 {
        self.effective
    }

    fn blocks(&self) -> usize {
        self.n.div_ceil(self.length)
    }

    fn sum_from(&self, from: usize) -> f64 {
        self.sums[from + self.length] - self.sums[from]
    }

    /// Of the means that blocks give, without any stretch.
    fn variance_of_draws(&self) -> f64 {
        let squares: f64 = (0..self.n).map(|from| (self.sum_from(from) / self.length as f64).powi(2)).sum();
        squares / self.n as f64 / self.blocks() as f64
    }

    /// How far a mean may be off.
    fn error(&self, draw: &mut Draw) -> f64 {
        if self.alone > 0.0 {
            return self.alone * draw.normal();
        }
        let blocks = self.blocks();
        let sum: f64 = (0..blocks).map(|_| self.sum_from(draw.below(self.n))).sum();
        let error = sum / (blocks * self.length) as f64 * self.stretch;
        let freedom = self.effective - 1.0;
        if freedom < MANY { error / draw.spread(freedom).sqrt() } else { error }
    }
}

/// Where the other's mean less the one's lies, but for this chance.
pub(super) fn interval(one: &Series, other: &Series, missed: f64) -> (f64, f64) {
    // A tail is read off from draws that lie in it, however many measures share the chance.
    let draws = DRAWS.max((2.0 * IN_TAIL / missed).ceil() as usize);
    let mut draw = Draw(SEED);
    let mut errors: Vec<f64> = (0..draws).map(|_| other.error(&mut draw) - one.error(&mut draw)).collect();
    errors.sort_by(f64::total_cmp);
    let tail = (missed / 2.0 * draws as f64 + 1e-6).floor() as usize;
    let difference = other.mean - one.mean;
    (difference + errors[tail], difference + errors[draws - 1 - tail])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_grows_with_what_neighbours_share_and_independent_values_count_whole() {
        let mut draw = Draw(5);
        let noise: Vec<f64> = (0..2_000).map(|_| draw.unit() - 0.5).collect();
        let series = |phi: f64| {
            let mut last = 0.0;
            let values: Vec<f64> = noise
                .iter()
                .map(|step| {
                    last = phi * last + step;
                    last
                })
                .collect();
            Series::of(&values)
        };
        let (none, some, much) = (series(0.0), series(0.5), series(0.9));
        // 2,000 values are drawn in blocks of four at least. Of an autoregression, n (1 - φ) / (1 + φ) count.
        assert!(
            none.length == 4 && some.length > 10 && much.length > 40,
            "{} {} {}",
            none.length,
            some.length,
            much.length
        );
        for (series, wanted) in [(none, 2_000.0), (some, 667.0), (much, 105.0)] {
            assert!((0.7..=1.3).contains(&(series.effective / wanted)), "{} of {wanted}", series.effective);
        }
    }

    #[test]
    fn many_measures_get_as_many_draws_as_their_tails_need() {
        let mut draw = Draw(3);
        let [one, other] = [(); 2].map(|()| Series::of(&(0..100).map(|_| draw.unit()).collect::<Vec<f64>>()));
        let widths = [0.05, 0.05 / 20.0, 0.05 / 200.0].map(|missed| {
            let (low, high) = interval(&one, &other, missed);
            high - low
        });
        assert!(widths[0] < widths[1] && widths[1] < widths[2], "{widths:?}");
    }

    #[test]
    fn values_that_alternate_are_no_better_known_than_independent_ones() {
        let one = Series::of(&[0.0, 1.0].repeat(50));
        let other = Series::of(&[&[1.0][..], &[0.0, 1.0].repeat(50)].concat());
        let (low, high) = interval(&one, &other, 0.05);
        // Two means of 100 values of deviation 0.5: 1.96 · 0.5 · √(2 / 100) on either side.
        assert!((high - low - 0.277).abs() < 0.03 && low < 0.0 && high > 0.0, "{low} to {high}");
    }

    #[test]
    fn values_that_do_not_vary_have_an_interval_without_a_width() {
        let (one, other) = (Series::of(&[2.0; 40]), Series::of(&[3.0; 40]));
        assert_eq!(interval(&one, &other, 0.05), (1.0, 1.0));
    }
}
