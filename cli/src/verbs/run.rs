//! `colo run`: one process of a platform.

use std::env;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use journal::{Journal, Origin};
use node::Exit;
use recorder::recover::Recovery;
use topology::Topology;

use crate::args::{RunMaster, RunOther, RunStrategy};
use crate::failure::Failure;
use crate::output;
use crate::services::Run;

pub(crate) fn run(what: Run) -> Result<u8, Failure> {
    node::start_log();
    let ended = match what {
        Run::Service(service) => service.run(),
        Run::Other(RunOther::Master(arguments)) => master(&arguments),
        Run::Other(RunOther::Strategy(arguments)) => return Ok(strategy(&arguments)),
        Run::Other(RunOther::Host(arguments)) => {
            return Ok(builtin_strategies::roster(arguments.options()).run().code());
        }
        Run::Other(RunOther::Gateway(place)) => {
            super::gateway::run(place.instance(), place.node.as_deref().unwrap_or("gateway"))
        }
    };
    if let Err(failure) = &ended {
        // With time and level, beside the node's other words in its log.
        log::error!("{failure}");
        return Ok(failure.exit());
    }
    Ok(Exit::Done.code())
}

fn master(arguments: &RunMaster) -> Result<(), Failure> {
    let topology: Topology = match &arguments.topology {
        Some(_) => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            serde_json::from_str(&text).map_err(|error| {
                Failure::new(Exit::Usage, format!("standard input holds no topology: {error}"))
            })?
        }
        None => super::platform(&arguments.platform)?.topology,
    };
    let outcome = past(arguments).and_then(|past| {
        let options = master::MasterOptions { colo: env::current_exe()?, past };
        master::run(topology, options).map_err(Failure::from)
    });
    if let (Err(failure), Some(_)) = (&outcome, &arguments.topology) {
        // For whoever started us and passed the topology on: the log is not ours alone.
        let _ = output::print(&format!("{failure}\n"));
    }
    outcome
}

/// What is recorded of an earlier run, if it goes on with that.
fn past(arguments: &RunMaster) -> Result<Option<Arc<dyn master::Past>>, Failure> {
    if arguments.recover.is_empty() {
        return Ok(None);
    }
    let recovery = Recovery::open(&arguments.recover, arguments.until_ns)?;
    Ok(Some(Arc::new(Recorded(recovery))))
}

/// Recordings, as master goes on with them.
#[derive(Debug)]
struct Recorded(Recovery);

impl master::Past for Recorded {
    fn time(&self) -> u64 {
        self.0.time()
    }

    fn origin(&self, journal: &str, now: u64) -> Option<Origin> {
        self.0.origin(journal, now)
    }

    fn restore(&self, journal: &Journal) -> Result<(), String> {
        let began = Instant::now();
        let frames = self.0.restore(journal).map_err(|error| error.to_string())?;
        log::info!("journal `{}`: {frames} frames again in {:?}", journal.shape().name, began.elapsed());
        if journal.shape().name == crate::desk::SNAPSHOTS {
            let unchanged = |error: String| {
                let recordings = self.0.recordings().iter().map(|recording| {
                    let program = &recording.description().program;
                    format!("{}, of colo {program}", recording.folder().display())
                });
                let recordings = recordings.collect::<Vec<_>>().join("; ");
                format!("{error}. Nothing was started, and what is recorded is as it was ({recordings})")
            };
            demand_accounts(journal).map_err(unchanged)?;
        }
        Ok(())
    }
}

/// Refuses accounts that no node of this build can take up, before any of them starts and anything is recorded behind them.
fn demand_accounts(journal: &Journal) -> Result<(), String> {
    match node::last_desk_in(journal).map_err(|error| error.to_string())? {
        Some(bytes) => accounts::Follower::restore(&bytes).map(drop).map_err(|error| error.to_string()),
        None => Ok(()),
    }
}

/// Replaces this process by the program: the process that asks master for the seat is the one that sits.
fn become_program(program: &Path, options: &strategy_sdk::Options) -> u8 {
    let mut command = node::program::command(program);
    for (flag, name) in [("--instance", &options.instance), ("--node", &options.node)] {
        name.iter().for_each(|name| {
            command.args([flag, name]);
        });
    }
    options.instruments.iter().for_each(|symbol| {
        command.args(["-n", symbol]);
    });
    for (name, value) in &options.parameters {
        command.arg("--param").arg(format!("{name}={value}"));
    }
    let error = command.exec();
    log::error!("cannot start {}: {error}", command.get_program().display());
    Exit::Usage.code()
}

fn strategy(arguments: &RunStrategy) -> u8 {
    let options = &arguments.options();
    let builtin = match (&arguments.program, arguments.strategy) {
        (Some(program), _) => return become_program(program, options),
        (None, Some(builtin)) => builtin,
        // The command line asks for one of the two.
        (None, None) => return Exit::Usage.code(),
    };
    builtin_strategies::run(builtin, options).code()
}

#[cfg(test)]
mod tests {
    use accounts::{Follower, Options};
    use journal::{Clock, JournalShape};
    use wire::{DeskPart, Message};

    use super::*;

    #[test]
    fn accounts_of_another_version_are_refused_with_what_to_do_and_those_of_this_one_are_taken() {
        let name = crate::desk::SNAPSHOTS.to_owned();
        let shape = JournalShape { id: 1, name, capacity: 1 << 16, seats: 64, topics: 1, page: 4096 };
        let journal = Journal::in_memory(shape).unwrap();
        let mut writer = journal.writer(0, Clock::monotonic()).unwrap();
        assert_eq!(demand_accounts(&journal), Ok(()), "no snapshot yet");
        let follower = Follower::new(Options::default());
        let mut bytes = follower.snapshot();
        let mut write = |number: u64, bytes: &[u8]| {
            wire::fold::desk_parts(number, bytes).for_each(|part| {
                writer.write(DeskPart::ID, 0, part.bytes()).unwrap();
            });
        };
        write(1, &bytes);
        assert_eq!(demand_accounts(&journal), Ok(()));
        // The desk's own snapshot begins with its version.
        let version = bytes.len() - follower.desk.snapshot().len();
        bytes[version..version + 4].copy_from_slice(&3_u32.to_le_bytes());
        write(2, &bytes);
        let refused = demand_accounts(&journal).unwrap_err();
        for words in ["has version 3", "go on with the colo that wrote it", "`colo account list`"] {
            assert!(refused.contains(words), "{refused}");
        }
    }
}
