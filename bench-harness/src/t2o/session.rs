//! All runs of a scenario, one after the other, into a folder.

use std::collections::BTreeMap;
use std::path::Path;

use pinning::Host;

use super::error::T2oError;
use super::order::{Run, runs};
use super::plan::Plan;
use super::result::{CellResult, DoctorWords, FORMAT, Fault, Results};
use super::runner::{self, Verdict};
use super::scenario::{Cell, Scenario};
use super::store::Store;

/// Progress of a session.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The current cell and repeat: `A10-1`.
    pub run: String,
    /// Finished runs, including those of an earlier session.
    pub done: usize,
    /// Total number of runs.
    pub runs: usize,
    /// Done share of the current run, from 0 to 1.
    pub share: f64,
    /// Predicted seconds to the end.
    pub seconds_left: f64,
}

/// How a session ended.
#[derive(Clone, Debug)]
pub struct Session {
    /// Everything that the folder contains now.
    pub results: Results,
    /// The caller stopped it.
    pub stopped: bool,
    /// Runs without figures: name and reason.
    pub failed: Vec<(String, String)>,
}

/// Runs the cells of `scenario` that are in `plan` and not yet in `store`. `go_on` is called every few milliseconds;
/// when it returns false, the current run is abandoned, and the finished ones stay. `colo` is the binary.
///
/// # Errors
/// [`T2oError`]: the folder cannot be written. A platform that fails to start is not an error, but a cell with a
/// caveat.
pub fn session(
    scenario: &Scenario,
    plan: &Plan,
    store: &Store,
    (colo, host): (&Path, &Host),
    mut go_on: impl FnMut(&Progress) -> bool,
) -> Result<Session, T2oError> {
    let rules = &scenario.config.run;
    let chosen: Vec<&Cell> = scenario.cells.iter().filter(|cell| plan.has(cell)).collect();
    let all = runs(&chosen, rules.order, rules.seed);
    let mut open: Vec<Run<'_>> = Vec::new();
    for run in &all {
        if !store.has(&run.cell.name, run.repeat)? {
            open.push(*run);
        }
    }
    let mut verdicts: BTreeMap<&str, Verdict> = BTreeMap::new();
    let mut cells = known_cells(scenario, store)?;
    let mut faults = store.faults();
    let mut failed = Vec::new();
    let mut stopped = false;
    for (index, run) in open.iter().enumerate() {
        let verdict = verdicts
            .entry(&run.cell.group)
            .or_insert_with(|| Verdict::of(run.cell.topology.place(host).ok().flatten().as_ref()));
        faults = super::faults::ranked(faults.into_iter().chain(verdict.faults.iter().cloned()));
        let own = run.cell.run_time(rules.overhead).as_secs_f64();
        let after: f64 =
            open[index + 1..].iter().map(|run| run.cell.run_time(rules.overhead).as_secs_f64()).sum();
        let mut progress = Progress {
            run: format!("{}-{}", run.cell.name, run.repeat),
            done: all.len() - open.len() + index,
            runs: all.len(),
            share: 0.0,
            seconds_left: own + after,
        };
        let mut tick = |share: f64| {
            progress.share = share;
            progress.seconds_left = own * (1.0 - share) + after;
            go_on(&progress)
        };
        let Some((record, messages)) = runner::run(*run, (colo, host, rules.look), verdict, &mut tick)?
        else {
            stopped = true;
            break;
        };
        if let Some(why) = &record.failed {
            failed.push((progress.run.clone(), why.clone()));
        }
        store.keep(&record, &messages)?;
        if let Some(cell) = store.cell(run.cell, rules.fewest_samples)? {
            cells.insert(cell.name.clone(), cell);
        }
        store.write_results(&results(scenario, plan, host, (&cells, &faults)))?;
    }
    let results = results(scenario, plan, host, (&cells, &faults));
    store.write_results(&results)?;
    Ok(Session { results, stopped, failed })
}

fn known_cells(scenario: &Scenario, store: &Store) -> Result<BTreeMap<String, CellResult>, T2oError> {
    let mut cells = BTreeMap::new();
    for cell in &scenario.cells {
        if let Some(result) = store.cell(cell, scenario.config.run.fewest_samples)? {
            cells.insert(cell.name.clone(), result);
        }
    }
    Ok(cells)
}

fn results(
    scenario: &Scenario,
    plan: &Plan,
    host: &Host,
    (cells, faults): (&BTreeMap<String, CellResult>, &[Fault]),
) -> Results {
    let begun = |cell: &CellResult| cell.runs.iter().map(|run| run.started_unix).collect::<Vec<_>>();
    let times: Vec<u64> = cells.values().flat_map(begun).collect();
    let ids = |of: fn(&super::record::RunRecord) -> &Vec<String>| {
        let mut ids: Vec<String> = cells.values().flat_map(|cell| &cell.runs).flat_map(of).cloned().collect();
        ids.sort();
        ids.dedup();
        ids
    };
    let there = |cell: &&Cell| cells.contains_key(&cell.name);
    Results {
        format: FORMAT,
        host: host.summary(),
        scenario: scenario.config.scenario.name.clone(),
        colo: env!("CARGO_PKG_VERSION").to_owned(),
        started_unix: times.iter().min().copied().unwrap_or(0),
        last_unix: times.iter().max().copied().unwrap_or(0),
        doctor: DoctorWords { fail: ids(|run| &run.doctor_fail), warn: ids(|run| &run.doctor_warn) },
        faults: faults.to_vec(),
        cells: scenario.cells.iter().filter_map(|cell| cells.get(&cell.name).cloned()).collect(),
        missing: scenario.cells.iter().filter(|cell| !there(cell)).map(|cell| cell.name.clone()).collect(),
        left_out: plan.left_out.clone(),
        settings: scenario.config.clone(),
    }
}
