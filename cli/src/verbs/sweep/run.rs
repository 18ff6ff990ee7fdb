//! `colo sweep FILE`, `colo sweep --resume DIR`.

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ::sweep::{Checked, Inputs, Options, Progress, RunEnd, Session, Store, SweepError};
use indicatif::{ProgressBar, ProgressStyle};
use node::{Exit, InstanceDir, StopFlag};
use outcome::Place;
use serde_json::json;

use super::args::{Rerun, SweepRun};
use super::plan::{self, Bill};
use super::{SWEEPS, load, show};
use crate::failure::Failure;
use crate::output::{self, Format, bytes, count};

/// As a shell counts a process that Ctrl-C ended.
const INTERRUPTED: u8 = 130;
/// Runs that failed, of which the reasons are shown.
const MOST_REASONS: usize = 5;

pub(super) fn run(arguments: &SweepRun) -> Result<u8, Failure> {
    let program = env::current_exe()?;
    match &arguments.resume {
        Some(folder) => resumed(arguments, &::sweep::find(Path::new(SWEEPS), Some(folder))?, &program),
        None => begun(arguments, &program),
    }
}

fn begun(arguments: &SweepRun, program: &Path) -> Result<u8, Failure> {
    let Some(file) = &arguments.file else {
        return Err(Failure::new(
            Exit::Usage,
            "name a sweep file: colo sweep configs/sweeps/maker.toml; `colo sweep --help` shows more",
        ));
    };
    let checked = load(file, &arguments.sets, &env::current_dir()?)?;
    let bill = Bill::of(&checked, arguments.jobs, checked.sweep.cells.len(), Path::new(SWEEPS))?;
    if arguments.dry_run {
        return plan::print(&checked, &bill, arguments.format);
    }
    let (first, second) = StopFlag::install_twice()?;
    let stop = (first.with_hang_up()?, second);
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let place = match &arguments.out {
        Some(folder) => Place::Folder(absolute(folder)),
        None => Place::Root(absolute(Path::new(SWEEPS))),
    };
    let store = Store::begin(&place, &checked.sweep, env!("CARGO_PKG_VERSION"))?;
    let inputs = Inputs::new(&checked.sweep, program, backtest::plugin_of);
    go(arguments, &checked, store, inputs, &bill, (program, &stop))
}

fn resumed(arguments: &SweepRun, folder: &Path, program: &Path) -> Result<u8, Failure> {
    let mut store = Store::open(folder)?;
    let (file, sets, here) = match &arguments.file {
        Some(file) => (file.clone(), arguments.sets.clone(), env::current_dir()?),
        None => {
            let manifest = &store.manifest;
            let sets = [&manifest.sets[..], &arguments.sets].concat();
            (manifest.file.clone(), sets, manifest.here.clone())
        }
    };
    let checked = load(&file, &sets, &here)?;
    let sweep = &checked.sweep;
    let was = store.manifest.files.clone();
    store.go_on_with(sweep, env!("CARGO_PKG_VERSION"))?;
    let mut inputs = Inputs::new(sweep, program, backtest::plugin_of);
    let mut again: Vec<usize> = Vec::new();
    for cell in &sweep.cells {
        let Some(done) = store.done.get(&cell.number) else { continue };
        if inputs.of(sweep, cell).is_none_or(|inputs| inputs != done.inputs) {
            again.push(cell.number);
        }
    }
    if !again.is_empty() && !arguments.rerun.contains(&Rerun::Changed) {
        let what = changed(&was, &inputs.files(sweep));
        return Err(SweepError::Changed { folder: folder.to_owned(), runs: again.len(), what }.into());
    }
    if arguments.rerun.contains(&Rerun::Failed) {
        let failed = store.done.values().filter(|done| done.state != RunEnd::Finished);
        again.extend(failed.map(|done| done.run));
    }
    let left = sweep.cells.len() - store.done.keys().filter(|run| !again.contains(run)).count();
    let bill = Bill::of(&checked, arguments.jobs, left, folder)?;
    if arguments.dry_run {
        return plan::print(&checked, &bill, arguments.format);
    }
    let (first, second) = StopFlag::install_twice()?;
    let stop = (first.with_hang_up()?, second);
    store.forget(&again)?;
    go(arguments, &checked, store, inputs, &bill, (program, &stop))
}

/// Files that are others than they were.
fn changed(was: &[outcome::FileMark], now: &[outcome::FileMark]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for file in now {
        match was.iter().find(|other| other.path == file.path) {
            Some(other) if other.xxh3 == file.xxh3 => {}
            Some(_) => lines.push(format!("{} has changed", file.path.display())),
            None => lines.push(format!("{} is new", file.path.display())),
        }
    }
    if lines.is_empty() {
        lines.push("keys of the platform, as the sweep file sets them".to_owned());
    }
    lines
}

/// Runs what is left.
fn go(
    arguments: &SweepRun,
    checked: &Checked,
    mut store: Store,
    mut inputs: Inputs,
    bill: &Bill,
    (program, (stop, at_once)): (&Path, &(StopFlag, StopFlag)),
) -> Result<u8, Failure> {
    let sweep = &checked.sweep;
    let shown = super::super::keeping::shown(store.folder()).display().to_string();
    talk!("{}: {} in {shown}; {}", sweep.name, count(bill_runs(&store, checked), "run"), bill.line());
    // A day of gigabytes takes a while to hash.
    let mut days = std::collections::BTreeSet::new();
    for cell in sweep.cells.iter().filter(|cell| days.insert(cell.day)) {
        let _ = inputs.of(sweep, cell);
    }
    store.manifest.files = inputs.files(sweep);
    store.manifest.jobs = bill.jobs;
    store.put_manifest()?;
    store.write_table(sweep)?;
    let options = Options {
        program: program.to_owned(),
        jobs: bill.jobs,
        instance: format!("sweep-{}", std::process::id()),
    };
    let bar = bar(sweep.cells.len() as u64, store.done.len() as u64);
    let mut go_on = |progress: Progress| {
        bar.set_position(progress.done as u64);
        if progress.failed > 0 {
            bar.set_message(format!(", {} failed", progress.failed));
        }
        !stop.is_set()
    };
    let session = ::sweep::run(sweep, &mut store, &mut inputs, &options, &mut go_on, &|| at_once.is_set());
    bar.finish_and_clear();
    tidy(&options);
    let session = session?;
    say(&store, &session, &shown);
    match arguments.format {
        Format::Json => output::print_json(&answer(&store, &session))?,
        Format::Text if session.progress.done == 0 => {}
        Format::Text => show::brief(store.folder())?,
    }
    Ok(match (session.is_interrupted, session.progress.failed) {
        (true, _) => INTERRUPTED,
        (false, 0) => Exit::Done.code(),
        (false, _) => Exit::Failed.code(),
    })
}

fn bill_runs(store: &Store, checked: &Checked) -> u64 {
    (checked.sweep.cells.len() - store.done.len()) as u64
}

/// The folders of the jobs' logs: a run's own logs are in its folder.
fn tidy(options: &Options) {
    for job in 0..options.jobs {
        let Some(instance) = InstanceDir::new(&options.instance_of(job)) else { continue };
        let _ = std::fs::remove_dir_all(instance.logs());
    }
}

/// What came of it, for people, on standard error.
fn say(store: &Store, session: &Session, shown: &str) {
    let progress = session.progress;
    let failed: Vec<_> = store.done.values().filter(|done| done.state != RunEnd::Finished).collect();
    for done in failed.iter().take(MOST_REASONS) {
        let run = ::sweep::name_of(done.run);
        talk!("run {run}: {}: {}", done.state.as_str(), output::escaped(&done.why));
    }
    if failed.len() > MOST_REASONS {
        talk!("and {} more: the column `why` of {shown}/{}", failed.len() - MOST_REASONS, ::sweep::TABLE);
    }
    let took = humantime::format_duration(Duration::from_millis((session.seconds * 1e3) as u64));
    talk!(
        "{} of {} ended, {} of them failed, in {took}; {} on disk (keep = \"{}\")",
        progress.done,
        count(progress.runs as u64, "run"),
        progress.failed,
        bytes(outcome::shelf::bytes_of(store.folder())),
        store.manifest.keep
    );
    match session.is_interrupted {
        true => talk!("interrupted; what has ended is kept: go on with `colo sweep --resume {shown}`"),
        false => talk!("the table is {shown}/{}; `colo sweep report {shown}` makes a page", ::sweep::TABLE),
    }
}

fn answer(store: &Store, session: &Session) -> serde_json::Value {
    let progress = session.progress;
    let state = if session.is_interrupted { "interrupted" } else { "finished" };
    let table: PathBuf = store.folder().join(::sweep::TABLE);
    json!({
        "folder": output::path(store.folder()),
        "table": output::path(&table),
        "name": store.manifest.name,
        "state": state,
        "runs": progress.runs,
        "ended": progress.done,
        "failed": progress.failed,
        "ran": session.ran,
        "jobs": store.manifest.jobs,
        "seconds": session.seconds,
        "bytes": outcome::shelf::bytes_of(store.folder()),
    })
}

/// Drawn on standard error, and only where that is a terminal.
fn bar(runs: u64, done: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} runs{msg}, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(runs).with_style(style);
    bar.set_position(done);
    // What was done before says nothing of how fast it goes.
    bar.reset_eta();
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}
