//! `colo replay`.

mod alone;
pub(crate) mod args;
mod whole;

use topology::LONGEST_INSTANCE;

use crate::failure::Failure;

/// Does what the command line asks; the exit code.
pub(crate) fn replay(arguments: &args::Replay) -> Result<u8, Failure> {
    let recording = replay::open(&arguments.folder, arguments.to)?;
    talk!("replays {}", recording.folder().display());
    match &arguments.strategy {
        Some(strategy) => alone::replay(arguments, strategy, &recording),
        None => whole::replay(arguments, &recording),
    }
}

/// The name of the replay's instance.
fn instance(arguments: &args::Replay, recorded: &str) -> String {
    const BEHIND: &str = "-replay";
    arguments.instance.clone().unwrap_or_else(|| {
        let most = LONGEST_INSTANCE - BEHIND.len();
        format!("{}{BEHIND}", recorded.get(..most).unwrap_or(recorded))
    })
}
