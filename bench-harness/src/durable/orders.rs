//! Orders of eight strategies, each acknowledged when it and its acknowledgement are on disk.
//!
//! One thread plays the strategies, each with a journal of orders and a bound on those that are not acknowledged; one
//! answers each order by a report, as td does; the recorder writes all nine journals. Strategies read the reports by the
//! durable view. Orders and reports are frames of their own.

use journal::sync::{AtomicU64, Ordering};
use std::time::Instant;

use bench_kit::Spread;
use journal::reader::View;
use journal::{Clock, GatedReader, Journal, WriteError};
use recorder::write::Policy;
use serde::{Deserialize, Serialize};

use super::lane::{Polling, Recording, journal};
use super::place::Place;
use super::row::{bare, joined};
use super::{DurableSettings, RECORD_BYTES};
use crate::ipc::{IpcError, system};

/// Strategies.
const STRATEGIES: usize = 8;
/// Orders of one that are not acknowledged yet.
const PENDING: u64 = 2_048;
/// Orders that are written or answered before another journal has its turn.
const AT_ONCE: usize = 256;
/// Seat of who answers, and of the strategies.
const ANSWERS: u32 = 6;
const READS: u32 = 8;
/// Acknowledged orders below which a turn is prolonged, and by how many times at most.
const FEWEST: u64 = 2 * PENDING * STRATEGIES as u64;
const LONGEST: u32 = 50;

/// How many orders were acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrdersRow {
    /// Strategies.
    pub strategies: usize,
    /// Orders of one that may wait for their acknowledgement.
    pub pending: u64,
    /// Orders acknowledged in a second, median over the turns.
    pub orders_per_s: f64,
    /// What the bare loop allows that writes the same bytes.
    pub bare_orders_per_s: f64,
    /// Median over the turns of ours by bare.
    pub ratio: f64,
    /// Syncs of all turns.
    pub syncs: u64,
    /// Orders of all turns.
    pub orders: u64,
}

pub(super) fn measure(settings: &DurableSettings, place: &Place) -> Result<OrdersRow, IpcError> {
    let (mut ours, mut bares, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let (mut syncs, mut orders) = (0, 0);
    for _ in 0..settings.rounds.max(3) {
        let turn = turn(settings, place)?;
        let looped = bare(settings, place, 1, (turn.bytes / turn.syncs.max(1)) as usize)?;
        let a_second: f64 = looped.iter().map(|looped| looped.writes as f64 / looped.seconds).sum();
        let allowed = a_second * turn.orders as f64 / turn.syncs.max(1) as f64;
        let rate = turn.orders as f64 / turn.seconds;
        ours.push(rate);
        bares.push(allowed);
        ratios.push(rate / allowed);
        syncs += turn.syncs;
        orders += turn.orders;
    }
    let median = |figures: Vec<f64>| Spread::of(figures).map_or(0.0, |spread| spread.median);
    Ok(OrdersRow {
        strategies: STRATEGIES,
        pending: PENDING,
        orders_per_s: median(ours),
        bare_orders_per_s: median(bares),
        ratio: median(ratios),
        syncs,
        orders,
    })
}

struct Turn {
    orders: u64,
    seconds: f64,
    syncs: u64,
    bytes: u64,
}

fn turn(settings: &DurableSettings, place: &Place) -> Result<Turn, IpcError> {
    let clock = Clock::monotonic();
    let mut orders = Vec::with_capacity(STRATEGIES);
    for number in 0..STRATEGIES {
        let journal = journal(number as u32 + 1, &format!("orders-{number}"), settings.capacity)?;
        journal.admit_gated(ANSWERS)?;
        orders.push(journal);
    }
    let reports = journal(STRATEGIES as u32 + 1, "reports", settings.capacity)?;
    reports.admit_gated(READS)?;
    let all: Vec<&Journal> = orders.iter().chain([&reports]).collect();
    let policy = Policy { segment_bytes: settings.segment_bytes, compress: None };
    let path = place.path();
    let mut recording = Recording::create(&path, &all, serde_json::Value::Null, policy, clock)?;
    let before = (recording.recorder.syncs(), recording.recorder.written());
    let (stop, failed) = (AtomicU64::new(0), AtomicU64::new(0));
    let done = std::thread::scope(|scope| {
        let recorder = scope.spawn(|| {
            let done = recording.run(clock, &stop);
            failed.fetch_or(u64::from(done.is_err()), Ordering::Relaxed);
            done
        });
        let answering = scope.spawn(|| {
            let done = answer(&orders, &reports, clock, &stop);
            failed.fetch_or(u64::from(done.is_err()), Ordering::Relaxed);
            done
        });
        let done = trade(&orders, &reports, clock, settings, &failed);
        stop.store(1, Ordering::Release);
        joined(answering)?;
        joined(recorder)?;
        done
    });
    let (syncs, bytes) = (recording.recorder.syncs() - before.0, recording.recorder.written() - before.1);
    drop(recording);
    std::fs::remove_dir_all(path).map_err(system("remove a recording"))?;
    let (orders, seconds) = done?;
    Ok(Turn { orders, seconds, syncs, bytes })
}

/// The strategies.
fn trade(
    orders: &[Journal],
    reports: &Journal,
    clock: Clock,
    settings: &DurableSettings,
    failed: &AtomicU64,
) -> Result<(u64, f64), IpcError> {
    let mut reader = reports.gated(READS)?;
    reader.set_view(View::Durable);
    let mut writers = orders.iter().map(|journal| journal.writer(0, clock)).collect::<Result<Vec<_>, _>>()?;
    let mut pending = [0_u64; STRATEGIES];
    let (mut acknowledged, mut number) = (0, 0_u64);
    let mut polling = Polling::default();
    let mut order = [0x5a; RECORD_BYTES];
    let begun = Instant::now();
    // On a busy host the recorder or who answers may not have had a core for all of a short turn, which would tell nothing.
    let goes_on = |acknowledged: u64| {
        let elapsed = begun.elapsed();
        elapsed < settings.turn || acknowledged < FEWEST && elapsed < settings.turn * LONGEST
    };
    while goes_on(acknowledged) && failed.load(Ordering::Relaxed) == 0 {
        let mut worked = false;
        for (writer, pending) in writers.iter_mut().zip(&mut pending) {
            for _ in 0..AT_ONCE.min((PENDING - *pending) as usize) {
                order[..8].copy_from_slice(&number.to_le_bytes());
                match writer.write(1, 0, &order) {
                    Err(WriteError::Full { .. }) => break,
                    other => other?,
                };
                number += 1;
                *pending += 1;
                worked = true;
            }
        }
        while let Some(report) = reader.read()? {
            if let Some(pending) = pending.get_mut(report.topic as usize) {
                *pending -= 1;
            }
            acknowledged += 1;
            worked = true;
        }
        if !worked {
            polling.idle();
        }
    }
    Ok((acknowledged, begun.elapsed().as_secs_f64()))
}

/// Reports every order.
fn answer(orders: &[Journal], reports: &Journal, clock: Clock, stop: &AtomicU64) -> Result<(), IpcError> {
    let mut readers: Vec<GatedReader> =
        orders.iter().map(|journal| journal.gated(ANSWERS)).collect::<Result<_, _>>()?;
    let mut writer = reports.writer(1, clock)?;
    let mut polling = Polling::default();
    while stop.load(Ordering::Acquire) == 0 {
        let mut worked = false;
        for (strategy, reader) in readers.iter_mut().enumerate() {
            for _ in 0..AT_ONCE {
                let Some(order) = reader.read()? else { break };
                worked = true;
                loop {
                    match writer.write(2, strategy as u32, order.payload) {
                        Err(WriteError::Full { .. }) if stop.load(Ordering::Acquire) != 0 => return Ok(()),
                        Err(WriteError::Full { .. }) => polling.idle(),
                        other => {
                            other?;
                            break;
                        }
                    }
                }
            }
        }
        if !worked {
            polling.idle();
        }
    }
    Ok(())
}
