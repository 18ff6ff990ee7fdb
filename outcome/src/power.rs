//! A sample by its size and its first four power sums: those of several samples add up to those of all of them together.

/// How many values, and the sums of their first to fourth powers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PowerSums {
    /// Values. A mean over repetitions of one sample may be no whole number.
    pub n: f64,
    /// Σx, Σx², Σx³, Σx⁴.
    pub sums: [f64; 4],
}

impl PowerSums {
    /// Both samples together.
    #[must_use]
    pub fn plus(self, other: PowerSums) -> PowerSums {
        let mut all = PowerSums { n: self.n + other.n, sums: self.sums };
        all.sums.iter_mut().zip(other.sums).for_each(|(sum, more)| *sum += more);
        all
    }

    /// As if each value counted for this share of one.
    #[must_use]
    pub fn weighted(self, share: f64) -> PowerSums {
        PowerSums { n: self.n * share, sums: self.sums.map(|sum| sum * share) }
    }

    /// Mean; of nothing, 0.
    pub fn mean(&self) -> f64 {
        if self.n > 0.0 { self.sums[0] / self.n } else { 0.0 }
    }

    /// Σ(x − mean)²; zero where rounding alone tells the values apart.
    fn squares(&self) -> f64 {
        let squares = self.sums[1] - self.sums[0] * self.mean();
        if squares > self.sums[1] * f64::EPSILON * self.n.max(1.0) { squares } else { 0.0 }
    }

    /// Whether there is no value but zero.
    pub fn is_flat(&self) -> bool {
        self.sums[1] == 0.0
    }

    /// Mean over standard deviation (n − 1); `None` of fewer than two values, and where they do not vary.
    pub fn sharpe(&self) -> Option<f64> {
        let squares = self.squares();
        (self.n >= 2.0 && squares > 0.0).then(|| self.mean() / (squares / (self.n - 1.0)).sqrt())
    }

    /// Skewness and kurtosis (of a normal distribution 0 and 3); `None` where the values do not vary.
    pub fn shape(&self) -> Option<(f64, f64)> {
        let second = self.squares() / self.n.max(1.0);
        if second <= 0.0 {
            return None;
        }
        let mean = self.mean();
        let [_, raw2, raw3, raw4] = self.sums.map(|sum| sum / self.n);
        let third = raw3 - 3.0 * mean * raw2 + 2.0 * mean.powi(3);
        let fourth = raw4 - 4.0 * mean * raw3 + 6.0 * mean * mean * raw2 - 3.0 * mean.powi(4);
        Some((third / second.powf(1.5), fourth / (second * second)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> PowerSums {
        let one = |x: &f64| PowerSums { n: 1.0, sums: [*x, x * x, x.powi(3), x.powi(4)] };
        values.iter().map(one).fold(PowerSums::default(), PowerSums::plus)
    }

    #[test]
    fn moments_are_those_of_the_values() {
        // Mean 1; deviations -1, -1, -1, 3: Σ² 12, Σ³ 24, Σ⁴ 84.
        let sums = of(&[0.0, 0.0, 0.0, 4.0]);
        assert_eq!((sums.n, sums.mean()), (4.0, 1.0));
        assert!((sums.sharpe().unwrap() - 0.5).abs() < 1e-12);
        let (skewness, kurtosis) = sums.shape().unwrap();
        assert!((skewness - 6.0 / 3.0_f64.powf(1.5)).abs() < 1e-12, "{skewness}");
        assert!((kurtosis - 21.0 / 9.0).abs() < 1e-12, "{kurtosis}");
    }

    #[test]
    fn parts_add_up_to_the_whole_and_repetitions_of_one_sample_count_once() {
        let (one, other) = (of(&[1.0, -2.0]), of(&[3.0, 0.5, 0.0]));
        assert_eq!(one.plus(other), of(&[1.0, -2.0, 3.0, 0.5, 0.0]));
        assert_eq!(one.plus(one).weighted(0.5), one);
    }

    #[test]
    fn what_does_not_vary_has_no_ratio_though_sums_are_rounded() {
        assert_eq!(of(&[0.1; 1_000]).sharpe(), None);
        assert_eq!((of(&[0.1; 10]).is_flat(), of(&[0.0; 3]).is_flat()), (false, true));
        assert_eq!((of(&[5.0]).sharpe(), of(&[]).sharpe(), of(&[]).shape()), (None, None, None));
        assert!(of(&[1e6, 1e6 + 1.0]).sharpe().is_some());
    }
}
