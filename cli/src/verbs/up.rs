//! `colo up`.

use std::env;
use std::time::{Duration, SystemTime};

use ::backtest::{BacktestError, Outcome, Plugins};
use indicatif::{ProgressBar, ProgressStyle};
use master_client::{End, Launch, LaunchError, Recover, Running};
use node::{Counter, Exit, InstanceDir, StopFlag};
use observe::{InstanceView, Report};
use outcome::Mode;
use recorder::recover::Recovery;
use serde_json::json;
use topology::config::{MarketSource, MdConfig};
use topology::{NodeKind, Platform, Program, Topology};

use crate::args::{OutArguments, Until, Up};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::verbs::deaths::Deaths;
use crate::verbs::keeping::{self, Keeping, Kept};
use crate::verbs::service_manager::ServiceManager;
use crate::verbs::{backtest, fit, report};

/// Exit code of a backtest that somebody has ended before its source was at its end.
const INTERRUPTED: u8 = 130;

pub(crate) fn up(arguments: &Up) -> Result<u8, Failure> {
    let (mut topology, platform, recover) = what(arguments)?;
    let stop = stop_flag()?;
    let (name, total) = (topology.instance.clone(), topology.nodes.len());
    let stays = arguments.stay || arguments.foreground;
    let keeping = Keeping::of(&arguments.out, platform.as_ref(), stays);
    let in_process = if stays || recover.is_some() { None } else { one_process(&topology) };
    if let Some(plugins) = in_process {
        let would_end = would_end(&topology);
        let (outcome, kept) = alone(topology, &plugins, keeping, &stop)?;
        if outcome.is_interrupted {
            talk!("stopping");
        }
        let code = conclude(&outcome.report, kept, outcome.is_interrupted, arguments.format)?;
        return Ok(if outcome.is_interrupted && would_end { INTERRUPTED } else { code });
    }
    // With process 1 of a container everything ends: it must not return.
    let is_left = arguments.stay && !arguments.foreground && !master_client::is_first_process();
    if is_left {
        topology.run_folder = keeping.noted();
        let quotes = expected_quotes(&topology);
        let wanted = topology.run_folder.clone();
        let running = start(topology, recover, &stop)?;
        // Who took over has what the first one was told.
        if let Ok(Some(folder)) = running.view().topology().map(|known| known.run_folder)
            && wanted.as_ref() != Some(&folder)
        {
            talk!("taken over: the folder of its run stays {}", folder.path.display());
        }
        running.detach();
        return stayed(&name, total, quotes, arguments.format);
    }
    let kept = keeping.begin(&topology, keeping::mode(&topology))?;
    let (running, kept) = start_kept(topology, recover, &stop, kept)?;
    if stays {
        return stay(running, &stop, kept, arguments.format);
    }
    run_to_its_end(running, &stop, kept, arguments.format)
}

/// Set by a signal; and a run of a sweep ends with the sweep.
fn stop_flag() -> Result<StopFlag, Failure> {
    let Some(owner) = env::var(::sweep::OWNER_VARIABLE).ok().and_then(|pid| pid.parse().ok()) else {
        return Ok(StopFlag::install()?.with_hang_up()?);
    };
    let stop = StopFlag::install_patient()?;
    node::end_with(owner, &stop);
    Ok(stop)
}

/// The plug-ins of its programs, if all of it runs in this process. A backtest that does not says why, since it takes many
/// times as long.
fn one_process(topology: &Topology) -> Option<Plugins> {
    if topology.one_process == Some(false) || !topology.deterministic {
        return None;
    }
    let plugins = Plugins::find(topology);
    let reasons = ::backtest::unfit(topology, &plugins);
    // What keeps it is an error where the file asks for one process.
    if !reasons.is_empty() && topology.one_process.is_none() {
        talk!(
            "lock-step over processes, which takes many times as long as in one: {}",
            reasons.join("\n  and ")
        );
        return None;
    }
    for (program, plugin) in plugins.all().filter(|(program, plugin)| *program != plugin.path()) {
        talk!("{} runs in this process, as {}", program.display(), plugin.path().display());
    }
    Some(plugins)
}

/// Plug-ins are no programs.
fn demand_programs(topology: &Topology) -> Result<(), Failure> {
    let plugged = topology.nodes.iter().find_map(|node| match &node.program {
        Program::Path(path) if ::backtest::is_plugin(path) => Some((&node.name, path)),
        _ => None,
    });
    match plugged {
        Some((name, path)) => Err(Failure::new(
            Exit::Usage,
            format!(
                "the program of `{name}` is {}, a plug-in, which runs in the one process of a backtest alone: name the program beside it",
                path.display()
            ),
        )),
        None => Ok(()),
    }
}

/// All of it in this process, to its end.
fn alone(
    topology: Topology,
    plugins: &Plugins,
    keeping: Keeping,
    stop: &StopFlag,
) -> Result<(Outcome, Kept), Failure> {
    let mut kept = keeping.with_plugins(plugins).begin(&topology, Mode::OneProcess)?;
    match backtest::run_to_its_end(topology, plugins, stop, &mut kept) {
        Ok(outcome) => Ok((outcome, kept)),
        Err(error @ Failure::Backtest(BacktestError::Report(_))) => {
            let _ = kept.finish(None, false);
            Err(error)
        }
        Err(error) => {
            kept.abandon();
            Err(error)
        }
    }
}

/// Starts it, and reads along from then on.
fn start_kept(
    topology: Topology,
    recover: Option<Recover>,
    stop: &StopFlag,
    mut kept: Kept,
) -> Result<(Running, Kept), Failure> {
    match start(topology, recover, stop) {
        Ok(running) => {
            kept.follow(running.view());
            Ok((running, kept))
        }
        Err(error) => {
            kept.abandon();
            Err(error)
        }
    }
}

/// The run is over: its folder is finished, its report printed.
fn conclude(report: &Report, kept: Kept, is_interrupted: bool, format: Format) -> Result<u8, Failure> {
    // A report that nobody hears is no reason to leave the folder as it is.
    let is_whole = kept.finish(Some(report), is_interrupted);
    if let Some(why) = report::none(report) {
        talk!("{why}");
    }
    report::print(report, format)?;
    if is_interrupted && report.failed_nodes().next().is_none() {
        return Ok(if is_whole { report::exit_of_stop(report) } else { Exit::Failed.code() });
    }
    if !report.never_started.is_empty() {
        let names = report.never_started.join(", ");
        talk!("colo: no result: {names} still warmed up at the end (`warm_up` is longer than the data)");
    }
    Ok(if is_whole { report::exit(report) } else { Exit::Failed.code() })
}

/// Starts it, and waits until all are ready.
fn start(topology: Topology, recover: Option<Recover>, stop: &StopFlag) -> Result<Running, Failure> {
    demand_programs(&topology)?;
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
pub(super) fn whole(topology: Topology, out: &OutArguments, format: Format) -> Result<u8, Failure> {
    let stop = StopFlag::install()?.with_hang_up()?;
    let keeping = Keeping::of(out, None, false);
    if let Some(plugins) = one_process(&topology) {
        let (outcome, kept) = alone(topology, &plugins, keeping, &stop)?;
        if outcome.is_interrupted {
            let _ = kept.finish(Some(&outcome.report), true);
            return Err(super::replay::interrupted());
        }
        return conclude(&outcome.report, kept, false, format);
    }
    let kept = keeping.begin(&topology, keeping::mode(&topology))?;
    let (mut running, mut kept) = start_kept(topology, None, &stop, kept)?;
    if matches!(watch(&mut running, &stop, &mut kept), Ok(End::Asked)) {
        let report = running.finish();
        let _ = kept.finish(report.as_ref().ok(), true);
        report?;
        return Err(super::replay::interrupted());
    }
    finish(running, kept, false, format)
}

/// The platform of the file, or that of the recordings that it is to go on with.
fn what(arguments: &Up) -> Result<(Topology, Option<Platform>, Option<Recover>), Failure> {
    if arguments.recover.is_empty() {
        let platform = super::platform(&arguments.platform)?;
        return Ok((platform.topology.clone(), Some(platform), None));
    }
    let until = Until::time(arguments.until.as_ref(), &arguments.recover)?;
    let recovery = Recovery::open(&arguments.recover, until)?;
    let lines = recovery.recordings().iter().map(|recording| recording.folder().display().to_string());
    talk!(
        "goes on with {} as of {}",
        lines.collect::<Vec<_>>().join(", "),
        humantime::format_rfc3339_nanos(SystemTime::UNIX_EPOCH + Duration::from_nanos(recovery.time()))
    );
    recovery.older().iter().for_each(|older| talk!("{older}"));
    // The recordings that were found, and the time that they have in common: master finds the same.
    let folders = recovery.recordings().iter().map(|recording| recording.folder().to_owned()).collect();
    let recover = Recover { folders, until: Some(recovery.time()) };
    Ok((recovery.topology().clone(), None, Some(recover)))
}

/// Until SIGTERM or Ctrl-C, or until somebody else has taken it down.
fn stay(mut running: Running, stop: &StopFlag, mut kept: Kept, format: Format) -> Result<u8, Failure> {
    let mut deaths = Deaths::default();
    let mut manager = ServiceManager::new();
    manager.ready();
    let has_master = running.stay(|view| {
        deaths.look(view);
        kept.look();
        manager.look(view);
        !stop.is_set()
    });
    manager.stopping();
    let instance = running.view().instance();
    if !has_master && !instance.is_there().unwrap_or(true) {
        talk!("instance `{}` was taken down", instance.name());
        let _ = kept.finish(None, false);
        return Ok(Exit::Done.code());
    }
    talk!(
        "{}",
        if has_master { "stopping" } else { "master is gone; the platform is taken down without it" }
    );
    finish(running, kept, false, format)
}

/// Takes it down and reports on it, unless somebody else is at that.
fn finish(running: Running, kept: Kept, is_interrupted: bool, format: Format) -> Result<u8, Failure> {
    match running.finish() {
        Err(error @ LaunchError::TakenDown { .. }) => {
            talk!("{error}");
            let _ = kept.finish(None, is_interrupted);
            Ok(Exit::Done.code())
        }
        Err(error) => {
            let _ = kept.finish(None, is_interrupted);
            Err(error.into())
        }
        Ok(report) => conclude(&report, kept, is_interrupted, format),
    }
}

fn stayed(name: &str, nodes: usize, quotes: Option<u64>, format: Format) -> Result<u8, Failure> {
    match format {
        Format::Json => output::print_json(&json!({ "instance": name, "nodes": nodes, "state": "running" }))?,
        Format::Text => talk!("`colo status {name}` shows it, `colo down {name}` stops it"),
    }
    if let Some(quotes) = quotes {
        talk!("its market ends after {} quotes; --set md.count=0 lets it go on", output::number(quotes));
    }
    Ok(Exit::Done.code())
}

fn run_to_its_end(
    mut running: Running,
    stop: &StopFlag,
    mut kept: Kept,
    format: Format,
) -> Result<u8, Failure> {
    let end = watch(&mut running, stop, &mut kept);
    if let Err(error) = &end {
        // The platform still has to come down.
        talk!("colo: {error}");
    }
    let is_asked = matches!(end, Ok(End::Asked));
    let is_cut = is_asked && would_end(running.topology());
    let code = finish(running, kept, is_asked, format)?;
    Ok(if is_cut { INTERRUPTED } else { code })
}

/// Whether it is a backtest that comes to an end by itself: who ends it before has a part of its result.
fn would_end(topology: &Topology) -> bool {
    let source = topology.nodes.iter().find(|node| node.kind == NodeKind::Md);
    let config = source.and_then(|node| serde_json::from_value::<MdConfig>(node.section.clone()).ok());
    let ends =
        |config: MdConfig| config.source.has_flow() || config.source == MarketSource::Sim && config.count > 0;
    topology.deterministic && config.is_some_and(ends)
}

/// Watches until it is over, and says why if it is not its source's end.
fn watch(running: &mut Running, stop: &StopFlag, kept: &mut Kept) -> Result<End, LaunchError> {
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
        kept.look();
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
    let config: MdConfig = serde_json::from_value(section.clone()).ok()?;
    let simulated = config.source == topology::config::MarketSource::Sim && config.count > 0;
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
