//! `colo status`.

use node::Counter;
use observe::{InstanceView, NodeStatus, Status};
use serde::Serialize;

use crate::args;
use crate::desk::{self, Kills};
use crate::failure::Failure;
use crate::output::{self, Format, bytes, count, number, table};
use crate::verbs::report;
use crate::verbs::seats::{damaged_text, held_text};

pub(crate) fn status(arguments: &args::Status) -> Result<u8, Failure> {
    let view = super::instance::view(arguments.instance.name())?;
    let report = Status::read(&view)?;
    let killed = killed(&view);
    match arguments.format {
        Format::Json => output::print_json(&Shown { status: &report, killed })?,
        Format::Text => {
            let fallen = killed.unwrap_or_default();
            output::print(&text(&report, &recordings(&view), &fallen))?;
        }
    }
    Ok(node::Exit::Done.code())
}

/// What `--format json` prints.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    status: &'a Status,
    /// Kill switches that have fallen; left out where no accounts are kept, or they cannot be followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    killed: Option<Vec<Kills>>,
}

/// A snapshot of more bytes is not read for one line.
const LARGE: usize = 16 << 20;

fn killed(view: &InstanceView) -> Option<Vec<Kills>> {
    let instance = view.instance();
    desk::demand(instance).ok()?;
    let topology = view.topology().ok()?;
    if node::last_desk(instance).ok()?.is_some_and(|bytes| bytes.len() > LARGE) {
        return None;
    }
    let following = desk::follow(instance, desk::section(&topology).as_ref()).ok()?;
    Some(desk::killed(&following.follower.desk, Some(&topology)))
}

fn killed_text(killed: &[Kills]) -> String {
    if killed.is_empty() {
        return String::new();
    }
    let all: Vec<String> = killed.iter().map(ToString::to_string).collect();
    format!("killed: {}; `colo revive` lifts a kill\n", all.join(", "))
}

/// A platform that stays goes on without market data once its source is at its end.
fn source_text<'a>(nodes: impl Iterator<Item = &'a observe::Seated>) -> String {
    let finished = nodes.filter(|node| node.state == "finished").map(|node| node.node.as_str());
    let names: Vec<&str> = finished.collect();
    if names.is_empty() {
        return String::new();
    }
    format!("{}: the source is at its end, no more market data comes\n", names.join(", "))
}

/// Strategies whose calls take longer than they should.
fn over_budget(report: &Status) -> String {
    let rows = report.nodes.iter().filter_map(|node: &NodeStatus| {
        let overruns = Some(node.counter(Counter::Overruns)).filter(|overruns| *overruns > 0)?;
        let longest = node.counter(Counter::OverrunMax) as f64 / 1_000_000.0;
        let budget =
            node.budget_ns.map_or(String::new(), |budget| format!(" of {:.3} ms", budget as f64 / 1e6));
        Some(format!(
            "over its time budget{budget}: {}, {}, the longest {longest:.3} ms\n",
            node.seated.node,
            count(overruns, "call")
        ))
    });
    rows.collect()
}

/// Executions of a market outside that no fill could say: positions here are not those of the market.
fn unbooked(report: &Status) -> String {
    let rows = report.nodes.iter().filter_map(|node: &NodeStatus| {
        let open = Some(node.counter(Counter::Unbooked)).filter(|open| *open > 0)?;
        Some(format!(
            "NOT BOOKED: {} of the market outside ({}): positions here differ from the market's; `colo venue list` shows them\n",
            count(open, "execution"),
            node.seated.node
        ))
    });
    rows.collect()
}

/// Where the recorders of its topology have written its runs, if there are any. Other instances may record beside it.
fn recordings(view: &InstanceView) -> Vec<String> {
    let Ok(topology) = view.topology() else { return Vec::new() };
    let runs = recorder::shelf::all_runs_of(&topology);
    runs.filter(|runs| runs.is_dir()).map(|runs| runs.display().to_string()).collect()
}

/// What can be done with the remains of a run of which nothing lives.
fn dead(instance: &str, recordings: &[String]) -> String {
    let mut text = format!(
        "; nothing of it runs: `colo up` with its platform file begins anew and replaces its journals, `colo down {instance}` clears them"
    );
    if !recordings.is_empty() {
        let folders: Vec<String> =
            recordings.iter().map(|folder| format!(" --recover {}", quoted(folder))).collect();
        text.push_str(&format!(", `colo up{}` goes on with what is recorded", folders.concat()));
    }
    text
}

/// As a shell takes it.
fn quoted(path: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:@%".contains(letter);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

fn text(report: &Status, recordings: &[String], killed: &[Kills]) -> String {
    let of_dead = dead(&report.instance, recordings);
    let master = match (report.master, report.foreign) {
        _ if report.phase == "dead" => of_dead.as_str(),
        (true, false) => "",
        (true, true) => {
            "; its nodes run in another pid namespace: whether they live cannot be told from here"
        }
        (false, false) => "; its master has ended: `colo up` with its platform file takes it over",
        (false, true) => {
            "; its master has ended, its nodes run in another pid namespace: `colo up` with its platform file takes it over there"
        }
    };
    let (instance, phase, clock) = (&report.instance, report.phase, report.clock);
    let mut text = format!("instance {instance}: {phase}, clock {clock}{master}\n\n");
    if phase != "dead" && report.clock_ahead_ns.unsigned_abs() > observe::CLOCK_DIFFERS_NS {
        let seconds = report.clock_ahead_ns as f64 / 1e9;
        text.push_str(&format!(
            "CLOCK: the platform's is {seconds:+.1} s off the host's, and stays so until it is brought up again\n\n"
        ));
    }
    let nodes = report.nodes.iter().map(|node| {
        vec![
            node.seated.node.clone(),
            if node.seated.pid == 0 { "-".to_owned() } else { node.seated.pid.to_string() },
            node.seated.cpu.map_or("-".to_owned(), |cpu| cpu.to_string()),
            node.planned_cpus.clone().unwrap_or("-".to_owned()),
            if node.place_samples == 0 { "-".to_owned() } else { number(node.off_plan) },
            node.seated.mode.clone(),
            node.seated.state.clone(),
            node.starts.to_string(),
            bytes(node.lag_bytes),
            bytes(node.lost_bytes),
        ]
    });
    text.push_str(&table(
        &["node", "pid", "cpu", "plan", "off plan", "wait", "state", "starts", "lag", "lost"],
        1,
        nodes,
    ));
    text.push_str(&source_text(report.nodes.iter().map(|node| &node.seated)));
    if let Some(totals) = &report.totals {
        text.push_str(&format!(
            "since it was made: {} quotes, {} trade prints, {}, {} fills\n",
            number(totals.quotes),
            number(totals.trades),
            report::requests(&totals.requests),
            number(totals.fills)
        ));
    }
    if let Some(matched) = &report.matched {
        text.push_str(&format!("{}\n", report::matched(matched)));
    }
    text.push_str(&report::lost(&report.lost_by));
    text.push_str(&report::stages(&report.stages));
    text.push_str(&report.disks.iter().map(|disk| format!("{disk}\n")).collect::<String>());
    text.push_str(&report.outgrown.iter().map(|row| format!("TOO SMALL: {row}\n")).collect::<String>());
    text.push_str(&unbooked(report));
    text.push_str(&over_budget(report));
    text.push_str(&killed_text(killed));
    text.push_str(&held_text(report.nodes.iter().map(|node| &node.seated)));
    text.push('\n');
    let journals = report.journals.iter().map(|journal| {
        let lag = journal.readers.iter().map(|reader| reader.lag_bytes).max().unwrap_or(0);
        vec![
            journal.journal.clone(),
            bytes(journal.capacity_bytes),
            journal.backing.clone(),
            number(journal.frames),
            journal.readers.len().to_string(),
            bytes(lag),
            number(journal.full),
            journal.writer.clone(),
        ]
    });
    let head = ["journal", "ring", "backing", "frames", "readers", "largest lag", "full", "writer"];
    text.push_str(&table(&head, 1, journals));
    text.push_str(&damaged_text(&report.damaged));
    text
}
