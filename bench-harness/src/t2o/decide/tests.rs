//! False and missed verdicts on made-up sessions, each with a fixed seed.

use super::*;
use crate::t2o::kept::blocks;

/// What the host does to the logarithm of the times, slice by slice.
#[derive(Clone, Copy, Debug)]
enum Noise {
    /// Nothing that lasts.
    Independent,
    /// Each slice is much like the one before, across runs too.
    Autocorrelated,
    /// It becomes slower or faster for the whole session.
    Drift,
    /// For seconds to minutes something else runs. Four slices of five that it hits are recognised and left out.
    Bursts,
    /// One run in ten is a bad one.
    BadRuns,
    /// Each platform comes up in one of two states.
    TwoMoods,
}

const NOISES: [Noise; 6] =
    [Noise::Independent, Noise::Autocorrelated, Noise::Drift, Noise::Bursts, Noise::BadRuns, Noise::TwoMoods];
const SLICES: usize = 10;

struct Host {
    noise: Noise,
    generator: ChaCha8Rng,
    level: f64,
    burst: bool,
}

impl Host {
    fn new(noise: Noise, seed: u64) -> Host {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let burst = generator.random_bool(0.25);
        let level = normal(&mut generator) * 0.5;
        Host { noise, generator, level, burst }
    }

    /// One slice: what it adds, and whether it counts.
    fn slice(&mut self) -> (f64, bool) {
        let own = normal(&mut self.generator) * 0.1;
        match self.noise {
            Noise::Autocorrelated => {
                self.level = 0.95 * self.level + 0.15 * normal(&mut self.generator);
                (own + self.level, true)
            }
            Noise::Drift => {
                self.level += 0.01;
                (own + self.level, true)
            }
            Noise::Bursts => {
                self.burst ^= self.generator.random_bool(if self.burst { 0.1 } else { 0.03 });
                let slow = self.generator.random_range(0.5..2.0);
                let seen = self.generator.random_bool(0.8);
                if self.burst { (own + slow, !seen) } else { (own, true) }
            }
            _ => (own, true),
        }
    }

    /// What a platform has for its whole run.
    fn run(&mut self) -> f64 {
        let own = normal(&mut self.generator) * 0.05;
        match self.noise {
            Noise::BadRuns if self.generator.random_bool(0.1) => own + 1.0,
            Noise::TwoMoods => own + if self.generator.random_bool(0.5) { 0.3 } else { -0.3 },
            _ => own,
        }
    }

    /// A run of a platform whose times are `median`; `None` when too few slices count.
    fn measure(&mut self, median: f64) -> Option<Estimate> {
        let run = self.run();
        let slices: Vec<(f64, bool)> = (0..SLICES).map(|_| self.slice()).collect();
        let kept: Vec<f64> = slices.iter().filter(|(_, counts)| *counts).map(|(log, _)| *log).collect();
        if kept.len() < crate::t2o::kept::FEWEST_SLICES {
            return None;
        }
        let mean = |logs: &mut dyn Iterator<Item = f64>| logs.sum::<f64>() / kept.len() as f64;
        let drawn: Vec<f64> = (0..60)
            .map(|_| mean(&mut blocks(kept.len(), &mut self.generator).into_iter().map(|at| kept[at])))
            .collect();
        let value = median * (run + mean(&mut kept.iter().copied())).exp();
        Some(Estimate { value, error: spread(&drawn) })
    }
}

/// A session of some passes over two cells in an order by chance, every second pass in the other order, as sessions are: the interval of the ratio's logarithm.
fn session(noise: Noise, passes: usize, ratio: f64, seed: u64) -> Option<Found> {
    let mut host = Host::new(noise, seed);
    let mut series = vec![Vec::new(), Vec::new()];
    let mut first = 0;
    for pass in 0..passes {
        let mut pair = [None, None];
        first = if pass % 2 == 0 { usize::from(host.generator.random_bool(0.5)) } else { 1 - first };
        for cell in [first, 1 - first] {
            pair[cell] = host.measure(if cell == 0 { 40.0 } else { 40.0 * ratio });
            // Other cells run before the next one does.
            for _ in 0..host.generator.random_range(0..30) {
                host.slice();
            }
        }
        if let [Some(a), Some(b)] = pair {
            series[0].push(a);
            series[1].push(b);
        }
    }
    interval(&series, &|figures| (figures[1] / figures[0]).ln())
}

/// Shares of the sessions that say less, and more.
fn verdicts(noise: Noise, passes: usize, ratio: f64, sessions: u64) -> (f64, f64) {
    let found: Vec<Found> = (0..sessions).filter_map(|seed| session(noise, passes, ratio, seed)).collect();
    assert!(found.len() as u64 > sessions / 3, "{noise:?}: {} sessions have an interval", found.len());
    let share = |what: fn(&Found) -> bool| {
        found.iter().filter(|found| what(found)).count() as f64 / found.len() as f64
    };
    (share(|found| found.high < 0.0), share(|found| found.low > 0.0))
}

#[test]
fn a_platform_beside_itself_is_told_apart_in_one_session_of_twenty_at_most() {
    for noise in NOISES {
        for passes in [3, 5, 8] {
            let (less, more) = verdicts(noise, passes, 1.0, 500);
            assert!(less + more <= 0.05, "{noise:?}, {passes} passes: {less} + {more}");
        }
    }
}

#[test]
fn what_is_five_times_as_slow_is_mostly_found_in_three_passes_whatever_the_host_does() {
    for noise in NOISES {
        let (less, more) = verdicts(noise, 3, 5.0, 200);
        assert!(less == 0.0 && more > 0.7, "{noise:?}: {less}, {more}");
    }
}

#[test]
fn a_third_is_found_in_eight_passes_when_nothing_lasts() {
    let (less, more) = verdicts(Noise::Independent, 8, 1.33, 200);
    assert!(less == 0.0 && more > 0.9, "{less}, {more}");
}

#[test]
fn two_passes_have_no_interval_and_neither_have_figures_of_nothing() {
    let one = Estimate { value: 1.0, error: 0.0 };
    assert_eq!(interval(&[vec![one; 2]], &|figures| figures[0]), None);
    assert_eq!(interval(&[vec![Estimate { value: 0.0, error: 0.0 }; 5]], &|figures| figures[0]), None);
    let same = interval(&[vec![one; 3], vec![Estimate { value: 2.0, error: 0.0 }; 3]], &|figures| figures[1]);
    assert_eq!(same, Some(Found { estimate: 2.0, low: 2.0, high: 2.0 }));
}
