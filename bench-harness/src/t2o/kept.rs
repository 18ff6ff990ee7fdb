//! A run's figures from the slices that count, with how far each is off by chance.
//!
//! The figures are those of all answers of these slices together. Their error comes from a bootstrap over the slices in
//! blocks, because neighbouring slices share the state of the host: blocks of about √n slices are drawn until there are as
//! many as there were, the figure is computed of what was drawn, and its error is the spread of its logarithm. It says
//! nothing about the next run; what lies between runs is seen only by repeating them (see `decide`).

use std::collections::BTreeMap;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use wire::stages::STAGES;

use super::record::{DURABLE, Histograms, RunRecord, RunStage};
use super::slices::Level;
use super::stamps::Stamps;

/// Fewest slices that give figures: blocks of fewer have no spread to speak of.
pub(crate) const FEWEST_SLICES: usize = 3;
/// Drawn samples of a bootstrap.
const DRAWS: usize = 200;
/// Parts of an octave in a drawn histogram: buckets are one per cent wide.
const PARTS: u32 = 64;

/// Figures of the slices of one level, and of the better ones, in one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// The worst slices that are in it.
    pub level: Level,
    /// Number of slices.
    pub slices: usize,
    /// Their length together.
    pub seconds: f64,
    /// Answers that arrived.
    pub samples: u64,
    /// Quotes a second that were published in them.
    pub achieved_rate: f64,
    /// 99th percentile of the generator's lateness, in microseconds.
    pub lateness_p99_us: f64,
    /// As of the whole run: shortest wait for an answer that did not arrive.
    pub open_from_us: Option<f64>,
    /// By stage.
    pub stages: BTreeMap<String, RunStage>,
    /// By stage: standard errors, as shares of the figures.
    pub errors: BTreeMap<String, Errors>,
}

/// Standard errors of one stage's figures, as shares of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Errors {
    /// Of the mean.
    pub mean: f64,
    /// Of the median.
    pub p50: f64,
    /// Of the 90th percentile.
    pub p90: f64,
    /// Of the 99th.
    pub p99: f64,
    /// Of the 99.9th.
    pub p999: f64,
    /// Of the largest.
    pub max: f64,
}

impl Kept {
    /// Whether a figure of t2o is a lower bound, as in [`RunRecord::is_least`].
    pub(crate) fn is_least(&self, figure_us: f64) -> bool {
        self.open_from_us.is_some_and(|open| open < figure_us)
    }
}

/// The levels of a run that have enough slices: quiet ones, and with the busy ones where that makes a difference.
pub(crate) fn of_run(
    run: &RunRecord,
    divided: &[Vec<&Stamps>],
) -> Result<Vec<Kept>, hdrhistogram::CreationError> {
    let mut kept: Vec<Kept> = Vec::new();
    for level in [Level::Quiet, Level::Busy] {
        let places: Vec<usize> = (0..run.slices.len()).filter(|at| run.slices[*at].level <= level).collect();
        let is_new = kept.last().is_none_or(|better| better.slices < places.len());
        if places.len() >= FEWEST_SLICES && is_new {
            kept.extend(of_slices(run, divided, level, &places)?);
        }
    }
    Ok(kept)
}

fn of_slices(
    run: &RunRecord,
    divided: &[Vec<&Stamps>],
    level: Level,
    places: &[usize],
) -> Result<Option<Kept>, hdrhistogram::CreationError> {
    let mut messages = Histograms::new()?;
    places.iter().flat_map(|at| &divided[*at]).for_each(|stamps| messages.add(stamps));
    if messages.samples == 0 {
        return Ok(None);
    }
    let seconds: f64 = places.iter().map(|at| run.slices[*at].seconds()).sum();
    let published = |stamps: &&&Stamps| stamps.published > 0;
    let in_all = divided.iter().flatten().filter(published).count().max(1) as f64;
    let in_these = places.iter().flat_map(|at| &divided[*at]).filter(published).count() as f64;
    // Quotes a second of the run, by how its answers are spread: instruments that nobody reads have none.
    let achieved_rate = run.achieved_rate * (in_these / in_all) * (run.seconds / seconds.max(1e-9));
    Ok(Some(Kept {
        level,
        slices: places.len(),
        seconds,
        samples: messages.samples,
        achieved_rate,
        lateness_p99_us: messages.lateness_p99_us(),
        open_from_us: messages.open_from_us(),
        stages: messages.run_stages(),
        errors: errors(places, divided),
    }))
}

/// Each stage's errors.
fn errors(places: &[usize], divided: &[Vec<&Stamps>]) -> BTreeMap<String, Errors> {
    let names = STAGES.into_iter().chain([DURABLE]);
    let of_stage = |(index, name): (usize, &'static str)| {
        let time = |stamps: &&Stamps| -> Option<u64> {
            match stamps.open_waits() {
                Some((since_published, since_due)) => match index {
                    wire::stages::T2O => since_published,
                    wire::stages::T2O_INTENDED => Some(since_due),
                    _ => None,
                },
                None if name == DURABLE => stamps.until_on_disk(),
                None => Some(stamps.stages()?[index]?.0),
            }
        };
        let slices: Vec<Buckets> =
            places.iter().map(|at| Buckets::of(divided[*at].iter().filter_map(time))).collect();
        let is_there = slices.iter().any(|slice| slice.count > 0);
        is_there.then(|| (name.to_owned(), of_slices_of(&slices)))
    };
    names.enumerate().filter_map(of_stage).collect()
}

/// The errors of one stage, whose times are in these slices. Seeded, so that the same slices give the same errors.
fn of_slices_of(slices: &[Buckets]) -> Errors {
    let mut generator = ChaCha8Rng::seed_from_u64(1);
    let mut logs: [Vec<f64>; 6] = std::array::from_fn(|_| Vec::with_capacity(DRAWS));
    let mut whole = Whole::new(slices);
    for _ in 0..DRAWS {
        whole.clear();
        for at in blocks(slices.len(), &mut generator) {
            whole.add(&slices[at]);
        }
        // Drawn slices without a message have no figures.
        if whole.count > 0 {
            for (logs, figure) in logs.iter_mut().zip(whole.figures()) {
                logs.push(figure.max(1e-3).ln());
            }
        }
    }
    let [mean, p50, p90, p99, p999, max] = logs.map(|logs| spread(&logs));
    Errors { mean, p50, p90, p99, p999, max }
}

/// As many places as there are, in blocks of neighbours; the last one is next to the first.
pub(crate) fn blocks(count: usize, generator: &mut impl Rng) -> Vec<usize> {
    let length = (count as f64).sqrt().ceil() as usize;
    let mut places = Vec::with_capacity(count + length);
    while places.len() < count {
        let first = generator.random_range(0..count);
        places.extend((0..length).map(|step| (first + step) % count));
    }
    places.truncate(count);
    places
}

/// Standard deviation; 0 of fewer than two.
pub(crate) fn spread(figures: &[f64]) -> f64 {
    if figures.len() < 2 {
        return 0.0;
    }
    let mean = figures.iter().sum::<f64>() / figures.len() as f64;
    let squares: f64 = figures.iter().map(|figure| (figure - mean).powi(2)).sum();
    (squares / (figures.len() - 1) as f64).sqrt()
}

/// The times of one slice: buckets with their counts.
#[derive(Debug, Default)]
struct Buckets {
    buckets: Vec<(usize, u64)>,
    sum: f64,
    count: u64,
}

impl Buckets {
    fn of(times: impl Iterator<Item = u64>) -> Buckets {
        let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
        let (mut sum, mut count) = (0.0, 0);
        for time in times {
            *counts.entry(bucket(time)).or_default() += 1;
            sum += time as f64;
            count += 1;
        }
        Buckets { buckets: counts.into_iter().collect(), sum, count }
    }
}

/// Which bucket a time belongs to.
fn bucket(time: u64) -> usize {
    let shift = (u64::BITS - time.leading_zeros()).saturating_sub(PARTS.ilog2() + 1);
    (shift * PARTS) as usize + (time >> shift) as usize
}

/// The lowest time of a bucket.
fn lowest(bucket: usize) -> f64 {
    let parts = PARTS as usize;
    let shift = (bucket / parts).saturating_sub(1);
    ((bucket - shift * parts) as u64 as f64) * (shift as f64).exp2()
}

/// Drawn slices together.
struct Whole {
    counts: Vec<u64>,
    sum: f64,
    count: u64,
}

impl Whole {
    fn new(slices: &[Buckets]) -> Whole {
        let last = slices.iter().filter_map(|slice| Some(slice.buckets.last()?.0)).max().unwrap_or(0);
        Whole { counts: vec![0; last + 1], sum: 0.0, count: 0 }
    }

    fn clear(&mut self) {
        self.counts.fill(0);
        (self.sum, self.count) = (0.0, 0);
    }

    fn add(&mut self, slice: &Buckets) {
        for (bucket, count) in &slice.buckets {
            self.counts[*bucket] += count;
        }
        self.sum += slice.sum;
        self.count += slice.count;
    }

    /// Mean, 50th, 90th, 99th, 99.9th percentile, largest.
    fn figures(&self) -> [f64; 6] {
        let mut wanted = [0.5, 0.9, 0.99, 0.999, 1.0].map(|q: f64| (q * self.count as f64).ceil() as u64);
        wanted[4] = self.count;
        let mut found = [0.0; 5];
        let (mut at, mut seen) = (0, 0);
        for (bucket, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            seen += count;
            while at < wanted.len() && seen >= wanted[at] {
                found[at] = lowest(bucket);
                at += 1;
            }
        }
        [self.sum / self.count as f64, found[0], found[1], found[2], found[3], found[4]]
    }
}

#[cfg(test)]
mod tests;
