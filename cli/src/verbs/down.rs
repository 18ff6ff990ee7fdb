//! `colo down`.

use master_client::{LaunchError, Member};
use node::Phase;
use serde_json::json;

use crate::args::Down;
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::verbs::keeping::{self, Keeping};
use crate::verbs::report;

pub(crate) fn down(arguments: &Down) -> Result<u8, Failure> {
    node::start_log();
    let name = super::instance::name(&arguments.instance)?;
    if arguments.force {
        return force(&name, arguments.format);
    }
    let running = master_client::attach(&name)?;
    if running.view().phase() == Phase::Stopping {
        talk!("instance `{name}` is being stopped already; this waits for its end");
    }
    let topology = running.topology();
    let keeping = Keeping::at_its_end(arguments.out.as_deref(), topology, running.age());
    let mut kept = keeping.begin(topology, keeping::mode(topology))?;
    kept.follow(running.view());
    kept.look();
    match running.finish() {
        Err(error @ LaunchError::TakenDown { .. }) => {
            talk!("{error}");
            // Who has taken it down writes it.
            kept.abandon();
            Ok(node::Exit::Done.code())
        }
        other => {
            let is_whole = kept.finish(other.as_ref().ok(), false);
            let report = other?;
            report::print(&report, arguments.format)?;
            if let Some(row) = report.unrecorded.first() {
                let journals = report.unrecorded.len();
                talk!("the end of the run is not on disk, of {journals} journals; the first: {row}");
            }
            if let Some(row) = report.unfinished.first() {
                let rows = report.unfinished.len();
                talk!("the run is not finished, in {rows} respects; the first: {row}");
            }
            talk!("instance `{name}` is down");
            Ok(if is_whole { report::exit_of_stop(&report) } else { node::Exit::Failed.code() })
        }
    }
}

fn force(name: &str, format: Format) -> Result<u8, Failure> {
    let forced = master_client::force(name)?;
    let ended = |member: &Member| json!({ "pid": member.process.pid, "command": member.command });
    if format == Format::Json {
        let ended: Vec<_> = forced.ended.iter().map(ended).collect();
        output::print_json(&json!({ "instance": name, "by_master": forced.by_master, "ended": ended }))?;
    }
    for member in &forced.ended {
        talk!("ended process {} ({})", member.process.pid, member.command);
    }
    talk!("instance `{name}` is down; of this run there is no report");
    Ok(node::Exit::Done.code())
}
