//! Verbs that only read, for minutes where there is much: an interrupted one says so, instead of dying without a word.

use std::time::Duration;

use node::{Exit, StopFlag};

use crate::failure::Failure;

/// How often it is looked whether somebody interrupts.
const LOOK: Duration = Duration::from_millis(20);

/// From now on Ctrl-C ends the process, with a message and exit code 1. Only for verbs that leave nothing behind and print
/// what they found at the end.
///
/// # Errors
/// Signals cannot be handled.
pub(crate) fn ends_reading() -> Result<(), Failure> {
    let stop = StopFlag::install()?;
    std::thread::spawn(move || {
        while !stop.is_set() {
            std::thread::sleep(LOOK);
        }
        talk!("colo: interrupted: there is no result");
        std::process::exit(Exit::Failed.code().into());
    });
    Ok(())
}
