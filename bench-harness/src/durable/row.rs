//! One row: a mode, a batch, so many files.

use journal::sync::{AtomicU64, Ordering};

use bench_kit::Spread;
use hdrhistogram::Histogram;
use journal::Clock;
use recorder::write::Policy;

use super::bare::{Bare, Looped, Way};
use super::lane::{Recording, Wrote, journal, write};
use super::place::Place;
use super::{DurableRow, DurableSettings, Mode, RECORD_BYTES};
use crate::ipc::IpcError;

/// A row and what its turns had.
#[derive(Debug)]
pub(super) struct Row {
    mode: Mode,
    batch: Option<usize>,
    files: usize,
    /// By turn.
    rates: Vec<f64>,
    bare_rates: Vec<f64>,
    durable_ns: Option<Histogram<u64>>,
    bare_ns: Option<Histogram<u64>>,
    records: u64,
    syncs: u64,
    bytes: u64,
}

pub(super) fn all(settings: &DurableSettings) -> Vec<Row> {
    let mut rows = Vec::new();
    for &mode in &settings.modes {
        for &batch in &settings.batches {
            // What is not recorded has no files.
            let files = if mode == Mode::None { &[1][..] } else { &settings.files };
            // Without anybody who waits, single records are what gathers.
            if batch.is_none() && mode != Mode::Sync {
                continue;
            }
            rows.extend(files.iter().map(|&files| Row::new(mode, batch, files)));
        }
    }
    rows
}

impl Row {
    fn new(mode: Mode, batch: Option<usize>, files: usize) -> Row {
        Row {
            mode,
            batch,
            files,
            rates: Vec::new(),
            bare_rates: Vec::new(),
            durable_ns: None,
            bare_ns: None,
            records: 0,
            syncs: 0,
            bytes: 0,
        }
    }

    pub(super) fn name(&self) -> String {
        let batch = self.batch.map_or("what gathers".to_owned(), |batch| format!("batches of {batch}"));
        format!("{:?}, {batch}, {} files", self.mode, self.files).to_lowercase()
    }

    /// Its lanes, then the bare loop.
    pub(super) fn turn(&mut self, settings: &DurableSettings, place: &Place) -> Result<(), IpcError> {
        let mut lanes = Vec::with_capacity(self.files);
        let clock = Clock::monotonic();
        for file in 0..self.files {
            let journal = journal(file as u32 + 1, &format!("lane-{file}"), settings.capacity)?;
            let policy = Policy { segment_bytes: settings.segment_bytes / self.files as u64, compress: None };
            let recording = match self.mode {
                Mode::None => None,
                _ => Some(Recording::create(
                    &place.path(),
                    &[&journal],
                    serde_json::Value::Null,
                    policy,
                    clock,
                )?),
            };
            lanes.push((journal, recording));
        }
        let before = lanes.iter().map(written).fold((0, 0), sum);
        let wrote = self.run(settings, clock, &mut lanes)?;
        let after = lanes.iter().map(written).fold((0, 0), sum);
        for (_, recording) in lanes {
            if let Some(recording) = recording {
                let folder = recording.recorder.folder().to_owned();
                drop(recording);
                std::fs::remove_dir_all(folder).map_err(crate::ipc::system("remove a recording"))?;
            }
        }
        let records: u64 = wrote.iter().map(|wrote| wrote.records).sum();
        self.rates.push(wrote.iter().map(|wrote| wrote.records as f64 / wrote.seconds).sum());
        for wrote in wrote {
            add(&mut self.durable_ns, wrote.durable_ns);
        }
        self.records += records;
        let (syncs, bytes) = (after.0 - before.0, after.1 - before.1);
        if syncs == 0 {
            return Ok(());
        }
        self.syncs += syncs;
        self.bytes += bytes;
        let looped = bare(settings, place, self.files, (bytes / syncs) as usize)?;
        let a_second: f64 = looped.iter().map(|looped| looped.writes as f64 / looped.seconds).sum();
        self.bare_rates.push(a_second * records as f64 / syncs as f64);
        for looped in looped {
            add(&mut self.bare_ns, looped.write_ns);
        }
        Ok(())
    }

    fn run(
        &self,
        settings: &DurableSettings,
        clock: Clock,
        lanes: &mut [(journal::Journal, Option<Recording>)],
    ) -> Result<Vec<Wrote>, IpcError> {
        let (stop, failed) = (AtomicU64::new(0), AtomicU64::new(0));
        let (stop, failed) = (&stop, &failed);
        std::thread::scope(|scope| {
            let (mut writers, mut recorders) = (Vec::new(), Vec::new());
            for (journal, recording) in lanes {
                if let Some(recording) = recording {
                    recorders.push(scope.spawn(move || {
                        let done = recording.run(clock, stop);
                        failed.fetch_or(u64::from(done.is_err()), Ordering::Relaxed);
                        done
                    }));
                }
                let journal = &*journal;
                writers.push(
                    scope.spawn(move || write(journal, self.mode, self.batch, clock, settings.turn, failed)),
                );
            }
            let wrote: Vec<_> = writers.into_iter().map(joined).collect();
            stop.store(1, Ordering::Release);
            recorders.into_iter().try_for_each(joined)?;
            wrote.into_iter().collect()
        })
    }

    pub(super) fn report(&self) -> DurableRow {
        let median = |figures: &[f64]| Spread::of(figures.iter().copied()).map(|spread| spread.median);
        let us = |found: &Option<Histogram<u64>>, quantile| {
            let found = found.as_ref().filter(|found| !found.is_empty())?;
            Some((found.value_at_quantile(quantile) as f64 / 100.0).round() / 10.0)
        };
        let ratios: Vec<f64> =
            self.rates.iter().zip(&self.bare_rates).map(|(ours, bare)| ours / bare).collect();
        let durable = self.durable_ns.as_ref();
        DurableRow {
            mode: self.mode,
            batch: self.batch,
            files: self.files,
            record_bytes: RECORD_BYTES,
            records_per_s: median(&self.rates).unwrap_or_default(),
            bare_records_per_s: median(&self.bare_rates),
            ratio: median(&ratios),
            durable_p50_us: us(&self.durable_ns, 0.5),
            durable_p99_us: us(&self.durable_ns, 0.99),
            durable_p999_us: us(&self.durable_ns, 0.999),
            bare_p50_us: us(&self.bare_ns, 0.5),
            bare_p99_us: us(&self.bare_ns, 0.99),
            bare_p999_us: us(&self.bare_ns, 0.999),
            records: self.records,
            syncs: self.syncs,
            bytes: self.bytes,
            samples: durable.map_or(0, Histogram::len),
        }
    }
}

/// The bare loop on as many files in parallel.
pub(super) fn bare(
    settings: &DurableSettings,
    place: &Place,
    files: usize,
    size: usize,
) -> Result<Vec<Looped>, IpcError> {
    let room = (settings.segment_bytes / files as u64).max(4 * size as u64);
    let paths: Vec<_> = (0..files).map(|_| place.path()).collect();
    let mut bares = Vec::with_capacity(files);
    for path in &paths {
        bares.push(Bare::create(path, room, Way::RECORDER)?);
    }
    let looped = std::thread::scope(|scope| {
        let loops: Vec<_> =
            bares.iter_mut().map(|bare| scope.spawn(move || bare.run(size, settings.turn))).collect();
        loops.into_iter().map(joined).collect()
    });
    for path in paths {
        std::fs::remove_file(path).map_err(crate::ipc::system("remove a file"))?;
    }
    looped
}

pub(super) fn joined<T>(
    thread: std::thread::ScopedJoinHandle<'_, Result<T, IpcError>>,
) -> Result<T, IpcError> {
    thread
        .join()
        .unwrap_or_else(|_| Err(IpcError::Peer("(a thread of the benchmark) has panicked".to_owned())))
}

fn add(sum: &mut Option<Histogram<u64>>, other: Histogram<u64>) {
    match sum {
        None => *sum = Some(other),
        // All have the same bounds: this cannot fail.
        Some(sum) => sum.add(other).unwrap_or_default(),
    }
}

/// Syncs so far, and bytes written.
fn written((_, recording): &(journal::Journal, Option<Recording>)) -> (u64, u64) {
    let recorder = recording.as_ref().map(|recording| &recording.recorder);
    recorder.map_or((0, 0), |recorder| (recorder.syncs(), recorder.written()))
}

fn sum(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    (one.0 + other.0, one.1 + other.1)
}
