//! `colo replay`.

mod alone;
pub(crate) mod args;
mod whole;

use node::Exit;
use topology::LONGEST_INSTANCE;

use crate::failure::Failure;

/// Does what the command line asks; the exit code.
pub(crate) fn replay(arguments: &args::Replay) -> Result<u8, Failure> {
    let recording = replay::open(&arguments.folder, arguments.to)?;
    demand_order(arguments, recording.end().time)?;
    talk!("replays {}", recording.folder().display());
    match &arguments.strategy {
        Some(strategy) => alone::replay(arguments, strategy, &recording),
        None => whole::replay(arguments, &recording),
    }
}

/// Times between which there is nothing are a mistake, and not an empty replay.
fn demand_order(arguments: &args::Replay, end: u64) -> Result<(), Failure> {
    let Some(from) = arguments.from else { return Ok(()) };
    if arguments.to.is_some_and(|to| to <= from) {
        return Err(Failure::new(Exit::Usage, "--to must be later than --from"));
    }
    if from > end {
        return Err(Failure::new(Exit::Usage, "--from is later than all that was recorded"));
    }
    Ok(())
}

/// A part of a replay says nothing of the whole.
pub(crate) fn interrupted() -> Failure {
    Failure::new(Exit::Failed, "the replay was interrupted: there is no result")
}

/// The name of the replay's instance.
fn instance(arguments: &args::Replay, recorded: &str) -> String {
    const BEHIND: &str = "-replay";
    arguments.instance.clone().unwrap_or_else(|| {
        let most = LONGEST_INSTANCE - BEHIND.len();
        format!("{}{BEHIND}", recorded.get(..most).unwrap_or(recorded))
    })
}
