//! `colo up`.

use std::env;
use std::time::{Duration, SystemTime};

use indicatif::{ProgressBar, ProgressStyle};
use master_client::{End, Launch, LaunchError, Recover, Running};
use node::{Counter, Exit, InstanceDir, StopFlag};
use observe::InstanceView;
use recorder::recover::Recovery;
use serde_json::json;
use topology::{NodeKind, Topology};

use crate::args::{Until, Up};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::verbs::deaths::Deaths;
use crate::verbs::{backtest, fit, report};

pub(crate) fn up(arguments: &Up) -> Result<u8, Failure> {
    let (topology, recover) = what(arguments)?;
    let stop = StopFlag::install()?;
    let (name, total) = (topology.instance.clone(), topology.nodes.len());
    let stays = arguments.stay || arguments.foreground || recover.is_some();
    if !stays && topology.one_process.unwrap_or_else(|| ::backtest::unfit(&topology).is_none()) {
        let outcome = backtest::run_to_its_end(topology, &stop)?;
        if outcome.is_interrupted {
            talk!("stopping");
        }
        report::print(&outcome.report, arguments.format)?;
        return Ok(report::exit(&outcome.report));
    }
    let running = start(topology, recover, &stop)?;
    // With process 1 of a container everything ends: it must not return.
    if arguments.foreground || (arguments.stay && master_client::is_first_process()) {
        return stay(running, &stop, arguments.format);
    }
    if arguments.stay {
        running.detach();
        return stayed(&name, total, arguments.format);
    }
    run_to_its_end(running, &stop, arguments.format)
}

/// Starts it, and waits until all are ready.
fn start(topology: Topology, recover: Option<Recover>, stop: &StopFlag) -> Result<Running, Failure> {
    fit::demand(&topology)?;
    let (name, total) = (topology.instance.clone(), topology.nodes.len());
    let remains = InstanceDir::new(&name).and_then(|instance| InstanceView::open(instance).ok());
    if remains.is_some_and(|view| view.is_dead()) {
        talk!("instance `{name}`: nothing of its last run lives; that run's journals are replaced");
    }
    let bar = bar(total as u64, "{prefix} {bar:30} {pos}/{len} nodes ready");
    bar.set_prefix(format!("instance {name}"));
    let launch = Launch { topology, colo: env::current_exe()?, keep_raw: false, recover };
    let started = launch.start(|ready, _| {
        bar.set_position(ready as u64);
        !stop.is_set()
    });
    bar.finish_and_clear();
    let running = started?;
    talk!("instance `{name}` is up: {total} nodes");
    for row in running.memory().iter().filter(|row| row.falls_short()) {
        let pages = row.pages.map_or("unknown pages".to_owned(), |pages| pages.to_string());
        talk!("journal {} asked for huge pages and lies on {pages}", row.journal);
    }
    Ok(running)
}

/// Runs a replayed platform until its source has given all it had, takes it down, and prints the report. One that is
/// interrupted has none.
pub(super) fn whole(topology: Topology, format: Format) -> Result<u8, Failure> {
    let stop = StopFlag::install()?;
    if topology.one_process.unwrap_or_else(|| ::backtest::unfit(&topology).is_none()) {
        let outcome = backtest::run_to_its_end(topology, &stop)?;
        if outcome.is_interrupted {
            return Err(super::replay::interrupted());
        }
        report::print(&outcome.report, format)?;
        return Ok(report::exit(&outcome.report));
    }
    let mut running = start(topology, None, &stop)?;
    if matches!(watch(&mut running, &stop), Ok(End::Asked)) {
        running.finish()?;
        return Err(super::replay::interrupted());
    }
    finish(running, format)
}

/// The platform of the file, or that of the recordings that it is to go on with.
fn what(arguments: &Up) -> Result<(Topology, Option<Recover>), Failure> {
    if arguments.recover.is_empty() {
        return Ok((super::platform(&arguments.platform)?.topology, None));
    }
    let until = Until::time(arguments.until.as_ref(), &arguments.recover)?;
    let recovery = Recovery::open(&arguments.recover, until)?;
    let lines = recovery.recordings().iter().map(|recording| recording.folder().display().to_string());
    talk!(
        "goes on with {} as of {}",
        lines.collect::<Vec<_>>().join(", "),
        humantime::format_rfc3339_nanos(SystemTime::UNIX_EPOCH + Duration::from_nanos(recovery.time()))
    );
    // The recordings that were found, and the time that they have in common: master finds the same.
    let folders = recovery.recordings().iter().map(|recording| recording.folder().to_owned()).collect();
    let recover = Recover { folders, until: Some(recovery.time()) };
    Ok((recovery.topology().clone(), Some(recover)))
}

/// Until SIGTERM or Ctrl-C, or until somebody else has taken it down.
fn stay(mut running: Running, stop: &StopFlag, format: Format) -> Result<u8, Failure> {
    let mut deaths = Deaths::default();
    let has_master = running.stay(|view| {
        deaths.look(view);
        !stop.is_set()
    });
    let instance = running.view().instance();
    if !has_master && !instance.is_there().unwrap_or(true) {
        talk!("instance `{}` was taken down", instance.name());
        return Ok(Exit::Done.code());
    }
    talk!(
        "{}",
        if has_master { "stopping" } else { "master is gone; the platform is taken down without it" }
    );
    finish(running, format)
}

/// Takes it down and reports on it, unless somebody else is at that.
fn finish(running: Running, format: Format) -> Result<u8, Failure> {
    match running.finish() {
        Err(error @ LaunchError::TakenDown { .. }) => {
            talk!("{error}");
            Ok(Exit::Done.code())
        }
        other => {
            let report = other?;
            report::print(&report, format)?;
            Ok(report::exit(&report))
        }
    }
}

fn stayed(name: &str, nodes: usize, format: Format) -> Result<u8, Failure> {
    match format {
        Format::Json => output::print_json(&json!({ "instance": name, "nodes": nodes, "state": "running" }))?,
        Format::Text => talk!("`colo status {name}` shows it, `colo down {name}` stops it"),
    }
    Ok(Exit::Done.code())
}

fn run_to_its_end(mut running: Running, stop: &StopFlag, format: Format) -> Result<u8, Failure> {
    if let Err(error) = watch(&mut running, stop) {
        // The platform still has to come down.
        talk!("colo: {error}");
    }
    finish(running, format)
}

/// Watches until it is over, and says why if it is not its source's end.
fn watch(running: &mut Running, stop: &StopFlag) -> Result<End, LaunchError> {
    let expected = expected_quotes(running.topology());
    let bar = match expected {
        Some(quotes) => bar(quotes, "{bar:30} {pos}/{len} quotes, {eta} left"),
        None => bar(0, "{spinner} {pos} quotes, {elapsed}; Ctrl-C ends it"),
    };
    bar.enable_steady_tick(Duration::from_millis(200));
    let mut deaths = Deaths::default();
    let end = running.watch(|view| {
        bar.set_position(published(view));
        bar.suspend(|| deaths.look(view));
        !stop.is_set()
    });
    bar.finish_and_clear();
    match &end {
        Ok(End::Finished) | Err(_) => {}
        Ok(End::Asked) => talk!("stopping"),
        Ok(End::MdGone) => talk!("md is gone before its source was at its end; taking the platform down"),
        Ok(End::GivenUp) => talk!("td gave the run up; taking the platform down"),
        Ok(End::MasterGone) => talk!("master is gone; the platform is taken down without it"),
    }
    end
}

/// Quotes that simulated md is going to publish, if it ever ends.
pub(super) fn expected_quotes(topology: &Topology) -> Option<u64> {
    let section = &topology.nodes.iter().find(|node| node.kind == topology::NodeKind::Md)?.section;
    let config: topology::config::MdConfig = serde_json::from_value(section.clone()).ok()?;
    let simulated = !config.source.is_replay() && config.count > 0;
    simulated.then(|| u64::from(config.instruments) * config.count)
}

pub(super) fn published(view: &InstanceView) -> u64 {
    view.seats_of(NodeKind::Md).map(|seat| seat.counter(Counter::Quotes)).sum()
}

/// Drawn on standard error, and only where that is a terminal.
pub(super) fn bar(length: u64, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style)
}
