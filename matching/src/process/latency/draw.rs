//! Delays that are drawn: the same seed gives the same ones on every host.
//!
//! Logarithm, exponential and cosine come from `libm`, which is the same code everywhere; those of the system's library differ
//! in their last digits from host to host.

use std::f64::consts::TAU;

use topology::config::{Latency, LatencyStage};
use wire::Nanos;

use super::samples;

/// 99 % of a standard normal distribution lie below.
const NORMAL_P99: f64 = 2.326_347_874_040_841;
/// No delay is longer: an hour, as in the platform file.
const LONGEST: f64 = 3_600e9;

/// Where delays come from.
#[derive(Debug)]
enum Source {
    Constant(u64),
    Uniform { min: u64, span: u64 },
    Normal { mean: f64, sd: f64 },
    Lognormal { median: f64, sigma: f64 },
    Samples(Vec<u64>),
}

/// Draws one delay after the other.
#[derive(Debug)]
pub(super) struct Delays {
    source: Source,
    random: Random,
}

impl Delays {
    /// As the platform file says. `stream` keeps delays of different kinds with the same seed apart.
    pub(super) fn new(latency: &Latency, seed: u64, stream: u64) -> Result<Delays, String> {
        let nanos = |delay: &std::time::Duration| u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        let source = match latency {
            Latency::Constant(delay) => Source::Constant(nanos(delay)),
            Latency::Drawn(drawn) => {
                if let Some(uniform) = &drawn.uniform {
                    let min = nanos(&uniform.min);
                    Source::Uniform { min, span: nanos(&uniform.max).saturating_sub(min) }
                } else if let Some(normal) = &drawn.normal {
                    Source::Normal { mean: nanos(&normal.mean) as f64, sd: nanos(&normal.sd) as f64 }
                } else if let Some(lognormal) = &drawn.lognormal {
                    let median = nanos(&lognormal.median).max(1) as f64;
                    let sigma = libm::log(nanos(&lognormal.p99).max(1) as f64 / median) / NORMAL_P99;
                    Source::Lognormal { median, sigma }
                } else {
                    Source::Samples(read(latency, drawn.stage)?)
                }
            }
        };
        let mut random = Random(seed);
        random.0 = random.next() ^ stream;
        Ok(Delays { source, random })
    }

    /// The next delay, in nanoseconds.
    pub(super) fn next(&mut self) -> u64 {
        match &self.source {
            Source::Constant(delay) => *delay,
            Source::Uniform { min, span } => min + self.random.below(span.saturating_add(1)),
            Source::Normal { mean, sd } => (mean + sd * self.random.normal()).clamp(0.0, LONGEST) as u64,
            Source::Lognormal { median, sigma } => {
                (median * libm::exp(sigma * self.random.normal())).clamp(0.0, LONGEST) as u64
            }
            Source::Samples(samples) => samples[self.random.below(samples.len() as u64) as usize],
        }
    }

    /// When something arrives that leaves at `time`.
    pub(super) fn arrival(&mut self, time: Nanos) -> Nanos {
        Nanos(time.0.saturating_add(self.next()))
    }
}

fn read(latency: &Latency, stage: LatencyStage) -> Result<Vec<u64>, String> {
    let path = latency.samples().ok_or("a delay is drawn in exactly one way")?;
    samples::read(&topology::samples_file(path), stage)
}

/// SplitMix64.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `limit`, which is not zero.
    fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }

    /// Above 0, up to 1.
    fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// From the standard normal distribution (Box and Muller).
    fn normal(&mut self) -> f64 {
        let (length, angle) = (self.unit(), self.unit());
        (-2.0 * libm::log(length)).sqrt() * libm::cos(TAU * angle)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use topology::config::{DrawnLatency, LognormalLatency, NormalLatency, UniformLatency};

    use super::*;

    const US: u64 = 1_000;

    fn us(count: u64) -> Duration {
        Duration::from_micros(count)
    }

    fn drawn(latency: DrawnLatency, seed: u64) -> Vec<u64> {
        let mut delays = Delays::new(&Latency::Drawn(Box::new(latency)), seed, 1).unwrap();
        (0..100_000).map(|_| delays.next()).collect()
    }

    fn share_below(delays: &[u64], limit: u64) -> f64 {
        delays.iter().filter(|delay| **delay < limit).count() as f64 / delays.len() as f64
    }

    #[test]
    fn each_distribution_is_the_one_that_was_asked_for() {
        let uniform = UniformLatency { min: us(100), max: us(200) };
        let delays = drawn(DrawnLatency { uniform: Some(uniform), ..DrawnLatency::default() }, 7);
        assert!(delays.iter().all(|delay| (100 * US..=200 * US).contains(delay)));
        assert!((share_below(&delays, 125 * US) - 0.25).abs() < 0.01);

        let normal = NormalLatency { mean: us(150), sd: us(20) };
        let delays = drawn(DrawnLatency { normal: Some(normal), ..DrawnLatency::default() }, 7);
        assert!((share_below(&delays, 150 * US) - 0.5).abs() < 0.01);
        assert!((share_below(&delays, 130 * US) - 0.1587).abs() < 0.01);

        let lognormal = LognormalLatency { median: us(150), p99: us(900) };
        let delays = drawn(DrawnLatency { lognormal: Some(lognormal), ..DrawnLatency::default() }, 7);
        assert!((share_below(&delays, 150 * US) - 0.5).abs() < 0.01);
        assert!((share_below(&delays, 900 * US) - 0.99).abs() < 0.002);
    }

    #[test]
    fn a_seed_gives_the_same_delays_on_every_host() {
        let normal = NormalLatency { mean: us(150), sd: us(20) };
        let latency = DrawnLatency { normal: Some(normal), ..DrawnLatency::default() };
        assert_eq!(drawn(latency.clone(), 7), drawn(latency.clone(), 7));
        assert_ne!(drawn(latency.clone(), 7), drawn(latency.clone(), 8));
        assert_eq!(drawn(latency, 1)[..4], FIRST_OF_SEED_1);
    }

    /// Held fixed: results of earlier runs depend on them.
    const FIRST_OF_SEED_1: [u64; 4] = [151_062, 148_806, 148_827, 175_573];

    #[test]
    fn half_of_a_wide_normal_distribution_is_cut_off_and_never_negative() {
        let normal = NormalLatency { mean: us(1), sd: us(1_000) };
        let delays = drawn(DrawnLatency { normal: Some(normal), ..DrawnLatency::default() }, 1);
        assert!((share_below(&delays, 1) - 0.5).abs() < 0.01);
    }
}
