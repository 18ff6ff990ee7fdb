//! `colo t2o capacity`.

use std::env;
use std::time::Duration;

use bench_harness::t2o::scenario::{self, Cell};
use bench_harness::t2o::{self, Capacity as Found};
use node::{Exit, StopFlag};
use serde_json::json;

use super::args::Capacity;
use crate::failure::Failure;
use crate::output::{self, Format, table};

/// All nodes asleep between messages, placed by the kernel.
const FREE: &str = "[scenario]\nname = \"capacity\"\n[[load]]\nrate = 1\n[[group]]\nname = \"free\"\n";

pub(crate) fn capacity(arguments: &Capacity) -> Result<u8, Failure> {
    let target = time("--target-p99", &arguments.target_p99)?;
    time("--think", &arguments.think)?;
    time("--seconds", &arguments.seconds)?;
    let text = match &arguments.plan {
        Some(path) => settings::read_file(path)?,
        None => FREE.to_owned(),
    };
    let host = super::host()?;
    let colo = env::current_exe()?;
    let stop = StopFlag::install()?.with_hang_up()?;
    let found = t2o::search(arguments.most, |strategies| {
        let cell = cell(arguments, &text, strategies)?;
        talk!("{strategies} strategies …");
        let point = t2o::measure(&cell, arguments.repeats, target, (&colo, &host), &mut |_| !stop.is_set())?;
        Ok::<_, Failure>(point)
    })?;
    if stop.is_set() {
        talk!("stopped before the search was at its end: nothing is known");
        return Ok(Exit::Failed.code());
    }
    match arguments.format {
        Format::Json => output::print_json(&json!({
            "host": host.summary(),
            "rate": arguments.rate,
            "think": arguments.think,
            "target_p99_us": target.as_secs_f64() * 1e6,
            "capacity": found,
        }))?,
        Format::Text => output::print(&text_of(&found, arguments))?,
    }
    Ok(Exit::Done.code())
}

/// The group with so many strategies.
fn cell(arguments: &Capacity, text: &str, strategies: u32) -> Result<Cell, Failure> {
    let group = arguments.group.as_deref().unwrap_or("free");
    let rate = arguments.rate * f64::from(strategies);
    let sets = [
        format!("load=[{{ rate = {rate:?} }}]"),
        "claim=[]".to_owned(),
        format!("group.{group}.strategies={strategies}"),
        format!("group.{group}.instruments={strategies}"),
        "run.stagger=\"0s\"".to_owned(),
        format!("run.think=\"{}\"", arguments.think),
        format!("run.shortest=\"{}\"", arguments.seconds),
        format!("run.longest=\"{}\"", arguments.seconds),
        "run.warmup=\"500ms\"".to_owned(),
    ];
    let file = arguments.plan.as_ref().map_or("built in".to_owned(), |path| path.display().to_string());
    let scenario = scenario::parse(&file, &without_rates(text), &sets).map_err(settings::LoadError::from)?;
    scenario.cells.into_iter().find(|cell| cell.group == group).ok_or_else(|| {
        Failure::new(Exit::Usage, format!("--group {group}: {file} has no group of that name"))
    })
}

/// Groups may choose among the loads of their file, which are not there now.
fn without_rates(text: &str) -> String {
    text.lines().map(|line| if line.starts_with("rates") { "" } else { line }).collect::<Vec<_>>().join("\n")
}

fn time(option: &str, text: &str) -> Result<Duration, Failure> {
    humantime::parse_duration(text).map_err(|error| {
        Failure::new(Exit::Usage, format!("{option} {text}: {error}; a number and its unit: 200us, 1ms"))
    })
}

fn text_of(found: &Found, arguments: &Capacity) -> String {
    let rows = found.curve.iter().map(|point| {
        vec![
            point.strategies.to_string(),
            if point.carries { "yes" } else { "no" }.to_owned(),
            format!("{:.1}", point.p50_us),
            format!("{:.1}", point.p99_us),
            format!("{:.1} %", point.achieved * 100.0),
            format!("{:.1} %", point.answered * 100.0),
            point.why_not.join("; "),
        ]
    });
    let mut text =
        table(&["strategies", "carried", "p50, µs", "p99, µs", "rate kept", "answered", "why not"], 0, rows);
    let more = if found.at_limit { " or more: the search ended there" } else { "" };
    text.push_str(&format!(
        "\n{} strategies{more}, each quoted {} times a second, with a p99 within {}\n",
        found.strategies, arguments.rate, arguments.target_p99
    ));
    text
}
