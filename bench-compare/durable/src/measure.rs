//! Turns and their figures.

use std::path::Path;
use std::time::{Duration, Instant};

use bench_kit::Spread;
use serde::Serialize;

use crate::report::{Host, Report};
use crate::stores::{self, Facts, RECORD_BYTES, Record};
use crate::{DurableError, Settings, system};

/// Batches before the clock starts: files are begun, memory is there.
const WARM_UP: usize = 20;

/// One size of batches.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    /// Records of a batch.
    pub(crate) batch: usize,
    /// Store after store.
    pub(crate) stores: Vec<Entry>,
}

/// A store and its turns.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Entry {
    /// Its name.
    pub(crate) store: &'static str,
    /// None: it failed.
    pub(crate) figures: Option<Figures>,
    /// Why it has no figures.
    pub(crate) error: Option<String>,
}

/// What its turns gave.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Figures {
    /// Records on disk in a second, median over the rounds.
    pub(crate) records_per_s: f64,
    /// Least and most of them.
    pub(crate) range: [f64; 2],
    /// Its rate by the bare loop's in the same round, median.
    pub(crate) by_bare: f64,
    /// colo's rate by its own in the same round, median.
    pub(crate) times_colo: f64,
    /// A batch, until it is on disk: quantiles of all turns.
    pub(crate) p50_us: f64,
    /// 99th percentile.
    pub(crate) p99_us: f64,
    /// Batches of all turns.
    pub(crate) batches: usize,
}

#[derive(Debug, Default)]
struct Turns {
    /// By round; None where it failed.
    rates: Vec<Option<f64>>,
    nanos: Vec<u64>,
    error: Option<String>,
}

pub(crate) fn run(settings: &Settings) -> Result<Report, DurableError> {
    let begun = Instant::now();
    let chosen = stores::chosen(&settings.only)?;
    let host = Host::read(&settings.dir, settings.note.as_deref())?;
    let (rounds, millis) = if settings.quick { (3, 100) } else { (7, 250) };
    let (rounds, millis) = (settings.rounds.unwrap_or(rounds), settings.millis.unwrap_or(millis));
    let batches = if settings.batches.is_empty() { vec![1, 100, 1_000] } else { settings.batches.clone() };
    let room = tempfile::Builder::new()
        .prefix("colo-compare-")
        .tempdir_in(&settings.dir)
        .map_err(system("make a folder for files (name one by --dir)"))?;
    let mut rows = Vec::new();
    for batch in batches {
        let mut turns: Vec<Turns> = chosen.iter().map(|_| Turns::default()).collect();
        for round in 0..rounds as usize {
            eprintln!("batches of {batch}, round {}", round + 1);
            for place in 0..chosen.len() {
                let place = (place + round) % chosen.len();
                let folder = room.path().join("turn");
                std::fs::create_dir(&folder).map_err(system("make a folder"))?;
                let turn =
                    turn(&chosen[place], &folder, batch as usize, Duration::from_millis(millis.into()));
                std::fs::remove_dir_all(&folder).map_err(system("remove a folder"))?;
                turns[place].add(turn);
            }
        }
        rows.push(row(batch as usize, &chosen, turns)?);
    }
    Ok(Report {
        format: 1,
        host,
        record_bytes: RECORD_BYTES,
        rounds,
        millis,
        minutes: begun.elapsed().as_secs_f64() / 60.0,
        stores: chosen,
        rows,
    })
}

/// Its rate, and the times of its batches.
fn turn(facts: &Facts, folder: &Path, batch: usize, time: Duration) -> Result<(f64, Vec<u64>), String> {
    let mut store = (facts.open)(folder)?;
    let mut records: Vec<Record> = vec![[0x5a; RECORD_BYTES]; batch];
    let mut number = 0_u64;
    let mut next = |records: &mut Vec<Record>| {
        for record in records {
            record[..8].copy_from_slice(&number.to_le_bytes());
            number += 1;
        }
    };
    for _ in 0..WARM_UP {
        next(&mut records);
        store.put(&records)?;
    }
    let mut nanos = Vec::new();
    let begun = Instant::now();
    while begun.elapsed() < time {
        next(&mut records);
        let before = Instant::now();
        store.put(&records)?;
        nanos.push(before.elapsed().as_nanos() as u64);
    }
    let seconds = begun.elapsed().as_secs_f64();
    let rate = (nanos.len() * batch) as f64 / seconds;
    match store.held(folder)? {
        Some(held) if held != number => Err(format!("holds {held} of {number} records")),
        _ => Ok((rate, nanos)),
    }
}

impl Turns {
    fn add(&mut self, turn: Result<(f64, Vec<u64>), String>) {
        match turn {
            Ok((rate, nanos)) => {
                self.rates.push(Some(rate));
                self.nanos.extend(nanos);
            }
            Err(error) => {
                self.rates.push(None);
                self.error.get_or_insert(error);
            }
        }
    }
}

fn row(batch: usize, chosen: &[Facts], turns: Vec<Turns>) -> Result<Row, DurableError> {
    for (facts, turns) in chosen.iter().zip(&turns).take(2) {
        if let Some(what) = &turns.error {
            return Err(DurableError::Store { store: facts.name, what: what.clone() });
        }
    }
    let [bare, colo] = [0, 1].map(|place| turns[place].rates.clone());
    let entry = |(facts, turns): (&Facts, Turns)| {
        let figures =
            if turns.error.is_none() { figures(turns.rates, turns.nanos, &bare, &colo) } else { None };
        Entry { store: facts.name, figures, error: turns.error }
    };
    Ok(Row { batch, stores: chosen.iter().zip(turns).map(entry).collect() })
}

fn figures(
    rates: Vec<Option<f64>>,
    mut nanos: Vec<u64>,
    bare: &[Option<f64>],
    colo: &[Option<f64>],
) -> Option<Figures> {
    let by = |others: &[Option<f64>], ratio: fn(f64, f64) -> f64| {
        let pairs = rates.iter().zip(others).filter_map(|(own, other)| Some(ratio((*own)?, (*other)?)));
        Spread::of(pairs.collect::<Vec<_>>()).map(|spread| spread.median)
    };
    let (by_bare, times_colo) = (by(bare, |own, bare| own / bare)?, by(colo, |own, colo| colo / own)?);
    let spread = Spread::of(rates.into_iter().flatten().collect::<Vec<_>>())?;
    nanos.sort_unstable();
    let at = |share: f64| nanos.get((nanos.len() as f64 * share) as usize).map(|&nanos| nanos as f64 / 1e3);
    Some(Figures {
        records_per_s: spread.median,
        range: [spread.low, spread.high],
        by_bare,
        times_colo,
        p50_us: at(0.5)?,
        p99_us: at(0.99)?,
        batches: nanos.len(),
    })
}
