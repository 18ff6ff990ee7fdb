//! Puts flows through books, in turns, and times them.
//!
//! Each turn takes every book once through the whole flow for the throughput (a reading of the clock after each slice of
//! [`SLICE`] operations), and once for the distribution (a reading after each operation). Which book begins changes from
//! turn to turn, and the first turn does not count: on a shared host only figures of the same minute may be divided. One
//! book serves all turns, so that its memory is warm and has its size.
//!
//! A slice is the same operations in every turn, so its time is the median over the turns, and the flow's time is the sum of
//! its slices. A whole turn would not do: on a busy host a book that takes longer is interrupted more often, which makes it
//! look slower than it is. The range of whole turns, with all interruptions, is reported beside it.

use serde::{Deserialize, Serialize};

use crate::Spread;
use crate::book::{Book, Disagreement, Tally, apply, apply_all};
use crate::flow::Flow;

/// Operations of one slice.
pub const SLICE: usize = 1_024;

/// Reads a clock, in nanoseconds.
pub trait Now: Fn() -> u64 + Copy {}

impl<F: Fn() -> u64 + Copy> Now for F {}

/// A book under a name, whatever its type.
pub trait Contestant<N> {
    /// Its name in errors.
    fn name(&self) -> &str;

    /// The whole flow; how long each slice of its operations took.
    ///
    /// # Errors
    /// The book did not do what the flow expects.
    fn pass(&mut self, flow: &Flow, now: N) -> Result<Vec<u64>, Disagreement>;

    /// The whole flow; adds to `samples` how long each operation took, a reading of the clock included.
    ///
    /// # Errors
    /// The book did not do what the flow expects.
    fn each(&mut self, flow: &Flow, now: N, samples: &mut Vec<u32>) -> Result<(), Disagreement>;
}

/// A book with a name.
#[derive(Debug)]
pub struct Named<B> {
    name: String,
    book: B,
}

impl<B> Named<B> {
    /// Names a book.
    pub fn new(name: impl Into<String>, book: B) -> Named<B> {
        Named { name: name.into(), book }
    }
}

impl<B: Book> Named<B> {
    fn around(&mut self, flow: &Flow, run: impl FnOnce(&mut B) -> Tally) -> Result<(), Disagreement> {
        self.book.begin();
        let filled = apply_all(&mut self.book, &flow.fill);
        Disagreement::check(&self.name, flow, run(&mut self.book))?;
        let drained = apply_all(&mut self.book, &flow.drain);
        let expected = Tally { cancelled: flow.drain.len() as u64, ..Tally::default() };
        for (found, expected) in [(filled, Tally::default()), (drained, expected)] {
            if found != expected {
                return Err(Disagreement::new(&self.name, flow, found, expected));
            }
        }
        Ok(())
    }
}

impl<B: Book, N: Now> Contestant<N> for Named<B> {
    fn name(&self) -> &str {
        &self.name
    }

    fn pass(&mut self, flow: &Flow, now: N) -> Result<Vec<u64>, Disagreement> {
        let mut slices = Vec::with_capacity(flow.run.len() / SLICE + 1);
        self.around(flow, |book| {
            let mut tally = Tally::default();
            let mut before = now();
            for slice in flow.run.chunks(SLICE) {
                slice.iter().for_each(|operation| apply(book, operation, &mut tally));
                let after = now();
                slices.push(after - before);
                before = after;
            }
            tally
        })?;
        Ok(slices)
    }

    fn each(&mut self, flow: &Flow, now: N, samples: &mut Vec<u32>) -> Result<(), Disagreement> {
        samples.reserve(flow.run.len());
        self.around(flow, |book| {
            let mut tally = Tally::default();
            let mut before = now();
            for operation in &flow.run {
                apply(book, operation, &mut tally);
                let after = now();
                samples.push(u32::try_from(after - before).unwrap_or(u32::MAX));
                before = after;
            }
            tally
        })
    }
}

/// What was measured of one book.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Figures {
    /// Operations a second, of slices that are the medians of the turns.
    pub ops_per_s: f64,
    /// Lowest and highest of whole turns, interruptions included.
    pub ops_range: [f64; 2],
    /// Its time by that of the first book.
    pub ratio: f64,
    /// Lowest and highest of that ratio within one turn, interruptions included.
    pub ratio_range: [f64; 2],
    /// Median of one operation's time, less the clock's; the median over the turns.
    pub p50_ns: f64,
    /// 99th percentile, likewise.
    pub p99_ns: f64,
    /// 99.9th percentile, likewise.
    pub p999_ns: f64,
    /// Longest, the median over the turns.
    pub max_ns: f64,
    /// Operations timed one by one, over all turns.
    pub samples: u64,
    /// Turns that count.
    pub turns: usize,
}

/// How long a reading of the clock takes: the median of many.
pub fn clock_cost<N: Now>(now: N) -> f64 {
    let mut costs: Vec<u32> = Vec::with_capacity(20_000);
    let mut before = now();
    for _ in 0..costs.capacity() {
        let after = now();
        costs.push(u32::try_from(after - before).unwrap_or(u32::MAX));
        before = after;
    }
    // The clock counts whole nanoseconds, so the mean of the middle half says more than the median alone.
    costs.sort_unstable();
    let middle = &costs[costs.len() / 4..costs.len() * 3 / 4];
    middle.iter().map(|&cost| f64::from(cost)).sum::<f64>() / middle.len() as f64
}

/// Measures all books on one flow, in turns. `go_on` is asked before each turn.
///
/// # Errors
/// A book did not do what the flow expects: then no figure means anything.
///
/// `None`: it was asked to stop, or `turns` is zero.
pub fn in_turns<N: Now>(
    flow: &Flow,
    books: &mut [&mut dyn Contestant<N>],
    turns: usize,
    now: N,
    mut go_on: impl FnMut() -> bool,
) -> Result<Option<Vec<Figures>>, Disagreement> {
    let mut taken: Vec<Turns> = books.iter().map(|_| Turns::default()).collect();
    let count = books.len();
    let mut samples = Vec::new();
    for turn in 0..=turns {
        if !go_on() {
            return Ok(None);
        }
        let clock = clock_cost(now);
        for place in 0..count {
            let number = (place + turn) % count;
            let slices = books[number].pass(flow, now)?;
            samples.clear();
            books[number].each(flow, now, &mut samples)?;
            if turn > 0 {
                taken[number].add(slices, &mut samples, clock);
            }
        }
    }
    let first = taken.first().map(Turns::times).unwrap_or_default();
    Ok(taken.into_iter().map(|taken| taken.figures(flow.run.len(), &first)).collect())
}

/// What one book has taken, turn by turn.
#[derive(Default)]
struct Turns {
    /// By turn, then by slice.
    slices: Vec<Vec<u64>>,
    p50: Vec<f64>,
    p99: Vec<f64>,
    p999: Vec<f64>,
    max: Vec<f64>,
    samples: u64,
}

impl Turns {
    fn add(&mut self, slices: Vec<u64>, samples: &mut [u32], clock: f64) {
        samples.sort_unstable();
        let at = |share: f64| {
            let index = (samples.len() as f64 * share) as usize;
            let taken = samples.get(index.min(samples.len().saturating_sub(1)));
            (f64::from(taken.copied().unwrap_or_default()) - clock).max(0.0)
        };
        self.slices.push(slices);
        self.p50.push(at(0.5));
        self.p99.push(at(0.99));
        self.p999.push(at(0.999));
        self.max.push(at(1.0));
        self.samples += samples.len() as u64;
    }

    fn times(&self) -> Times {
        let slices = self.slices.first().map_or(0, Vec::len);
        let median = |slice: usize| {
            let times = self.slices.iter().filter_map(|turn| turn.get(slice));
            Spread::of(times.map(|&nanos| nanos as f64)).map_or(0.0, |spread| spread.median)
        };
        let turns = self.slices.iter().map(|turn| turn.iter().sum::<u64>() as f64);
        Times { robust: (0..slices).map(median).sum(), turns: turns.collect() }
    }

    fn figures(self, operations: usize, first: &Times) -> Option<Figures> {
        let own = self.times();
        let median = |values: Vec<f64>| Spread::of(values).map(|spread| spread.median);
        let rate = |nanos: f64| operations as f64 * 1e9 / nanos.max(1.0);
        let ratios = own.turns.iter().zip(&first.turns).map(|(&own, &first)| own / first.max(1.0));
        let (rates, ratios) = (Spread::of(own.turns.iter().copied().map(rate))?, Spread::of(ratios)?);
        Some(Figures {
            ops_per_s: rate(own.robust),
            ops_range: [rates.low, rates.high],
            ratio: own.robust / first.robust.max(1.0),
            ratio_range: [ratios.low, ratios.high],
            p50_ns: median(self.p50)?,
            p99_ns: median(self.p99)?,
            p999_ns: median(self.p999)?,
            max_ns: median(self.max)?,
            samples: self.samples,
            turns: own.turns.len(),
        })
    }
}

/// How long a flow took, in nanoseconds.
#[derive(Default)]
struct Times {
    /// The sum of the slices' medians.
    robust: f64,
    /// Turn by turn.
    turns: Vec<f64>,
}
