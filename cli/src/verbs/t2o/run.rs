//! `colo t2o run`.

use std::env;
use std::time::Duration;

use bench_harness::t2o::{CellResult, Results, Store, session};
use indicatif::{ProgressBar, ProgressStyle};
use node::{Exit, StopFlag};

use super::args::Run;
use super::plan;
use crate::failure::Failure;
use crate::output::{self, Format, number, table};

pub(crate) fn run(arguments: &Run) -> Result<u8, Failure> {
    let scenario = super::scenario(&arguments.scenario)?;
    let plan = super::plan_of(&scenario, &arguments.scenario)?;
    let host = super::host()?;
    talk!("{}", plan::summary(&plan));
    for left_out in &plan.left_out {
        talk!("group {} is left out: {}", left_out.group, left_out.why);
    }
    let text = std::fs::read_to_string(&arguments.scenario.scenario)?;
    let store = Store::create(&arguments.out, &scenario, &text, arguments.resume)?;
    let stop = StopFlag::install()?.with_hang_up()?;
    let colo = env::current_exe()?;
    let bar = bar(plan.runs);
    let session = session(&scenario, &plan, &store, (&colo, &host), |progress| {
        bar.set_length(progress.runs as u64 * 1_000);
        bar.set_position(progress.done as u64 * 1_000 + (progress.share * 1_000.0) as u64);
        bar.set_prefix(progress.run.clone());
        bar.set_message(format!(
            "{}/{} runs, {} left",
            progress.done,
            progress.runs,
            plan::duration(progress.seconds_left)
        ));
        !stop.is_set()
    })?;
    bar.finish_and_clear();
    match arguments.format {
        Format::Json => output::print_json(&session.results)?,
        Format::Text => output::print(&text_of(&session.results))?,
    }
    for (run, why) in &session.failed {
        talk!("{run} has no figures: {}", why.lines().take(2).collect::<Vec<_>>().join(" "));
    }
    if session.stopped {
        talk!("stopped; what is finished is kept: go on with `{}`", again(arguments));
    } else {
        talk!("`colo t2o report {}` makes the report", arguments.out.display());
    }
    let done = session.failed.is_empty() && !session.stopped;
    Ok(if done { Exit::Done } else { Exit::Failed }.code())
}

/// The command that goes on with it.
fn again(arguments: &Run) -> String {
    let scenario = &arguments.scenario;
    let mut words = vec!["colo t2o run".to_owned(), scenario.scenario.display().to_string()];
    if !scenario.only.is_empty() {
        words.push(format!("--only '{}'", scenario.only.join(",")));
    }
    words.extend(scenario.sets.iter().map(|set| format!("--set '{set}'")));
    words.push(format!("--out {} --resume", arguments.out.display()));
    words.join(" ")
}

/// One line a cell.
pub(crate) fn text_of(results: &Results) -> String {
    let mut text = table(
        &[
            "cell",
            "quotes/s",
            "runs",
            "answers",
            "lost",
            "t2o mean, µs",
            "p50",
            "p99",
            "max",
            "intended p99",
            "slices that count",
            "marked",
        ],
        1,
        results.cells.iter().map(row),
    );
    let marked: Vec<&CellResult> = results.cells.iter().filter(|cell| !cell.marked.is_empty()).collect();
    if !marked.is_empty() {
        text.push('\n');
    }
    for cell in marked {
        text.push_str(&format!("{}: {}\n", cell.name, cell.marked.join("; ")));
    }
    if !results.missing.is_empty() {
        text.push_str(&format!("not run: {}\n", results.missing.join(" ")));
    }
    text
}

fn row(cell: &CellResult) -> Vec<String> {
    let t2o = cell.stage("t2o");
    let figure = |figure: Option<f64>| figure.map_or("-".to_owned(), |figure| format!("{figure:.1}"));
    vec![
        cell.name.clone(),
        plan::number_of(cell.rate),
        cell.repeats.to_string(),
        number(cell.samples),
        number(cell.lost),
        t2o.map_or("-".to_owned(), |stage| format!("{:.1}–{:.1}", stage.mean_us[0], stage.mean_us[1])),
        figure(t2o.map(|stage| stage.p50_us)),
        figure(t2o.map(|stage| stage.p99_us)),
        figure(t2o.map(|stage| stage.max_us)),
        figure(cell.stage("t2o_intended").map(|stage| stage.p99_us)),
        slices(cell),
        if cell.marked.is_empty() { "-".to_owned() } else { cell.marked.len().to_string() },
    ]
}

/// How many slices of its runs say something.
fn slices(cell: &CellResult) -> String {
    let Some(slices) = &cell.slices else { return "-".to_owned() };
    let Some(level) = slices.level else { return format!("0 of {}", slices.all) };
    let used: usize = cell.runs.iter().filter_map(|run| run.kept(level)).map(|kept| kept.slices).sum();
    format!("{used} of {} {level}", slices.all)
}

/// Drawn on standard error, and only where that is a terminal.
fn bar(runs: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix:7} {bar:30} {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(runs * 1_000).with_style(style);
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}
