//! Taking an instance down when its own files no longer say how: by its lock and by what the kernel says of processes.

use std::time::{Duration, Instant};

use journal::PidFd;
use nix::sys::signal::Signal;
use node::{Holding, InstanceDir};

use crate::down::Down;
use crate::error::LaunchError;
use crate::processes::{Member, members};
use crate::start::system;

/// What was done to take an instance down by force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forced {
    /// Master did it when it was asked; else it and the nodes were ended by signals.
    pub by_master: bool,
    /// The processes that were ended by signals.
    pub ended: Vec<Member>,
}

/// Processes that were asked to end get so long when nothing says otherwise.
const PATIENCE: Duration = Duration::from_secs(5);
/// A killed process is gone at once, unless the kernel cannot let go of it.
const LAST_PATIENCE: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(20);

/// Ends whatever runs of an instance, and removes it. Reads neither `topology.json` nor the registry: works when they are
/// damaged, when master does not answer, and when it is stopped.
///
/// # Errors
/// [`LaunchError`]: nothing of the name is there, it is held in another pid namespace, or a process does not end.
pub fn force(name: &str) -> Result<Forced, LaunchError> {
    let instance = InstanceDir::new(name).ok_or_else(|| LaunchError::BadInstance(name.to_owned()))?;
    let is_there = instance.is_there().map_err(|error| system("use the instance")(error.into()))?;
    if !is_there && members(&instance).is_empty() {
        return Err(crate::down::not_running(&instance));
    }
    if let Holding::By(Some(holder)) = instance.held()
        && !holder.is_of_this_namespace()
    {
        return Err(LaunchError::Foreign { instance: name.to_owned() });
    }
    let mut forced = Forced { by_master: true, ended: Vec::new() };
    let mut down = Down::of(&instance, PATIENCE);
    if instance.held() == Holding::Free || down.ask_master_to_end().is_err() {
        forced.by_master = false;
        forced.ended = end_all(&instance, PATIENCE)?;
    }
    down.remove()?;
    Ok(forced)
}

/// Asks all to end, and kills those that do not: master first, or it would start the others again.
pub(crate) fn end_all(instance: &InstanceDir, patience: Duration) -> Result<Vec<Member>, LaunchError> {
    let mut ended: Vec<Member> = Vec::new();
    let begin = Instant::now();
    let mut asked = false;
    loop {
        let mut left: Vec<Member> =
            members(instance).into_iter().filter(|member| member.takes_part).collect();
        if left.is_empty() {
            return Ok(ended);
        }
        left.sort_by_key(|member| !member.is_master);
        for member in &left {
            if ended.iter().all(|known| known.process != member.process) {
                ended.push(member.clone());
            }
        }
        if !asked {
            asked = true;
            signal(&left, Signal::SIGTERM);
            // Who is stopped hears of it only then.
            signal(&left, Signal::SIGCONT);
        }
        if begin.elapsed() > patience.saturating_add(LAST_PATIENCE) {
            let pids: Vec<String> = left.iter().map(|member| member.process.pid.to_string()).collect();
            return Err(LaunchError::DoesNotEnd {
                instance: instance.name().to_owned(),
                pids: pids.join(", "),
            });
        }
        if begin.elapsed() > patience {
            signal(&left, Signal::SIGKILL);
        }
        std::thread::sleep(TICK);
    }
}

fn signal(members: &[Member], signal: Signal) {
    for member in members {
        if let Ok(handle) = PidFd::open(member.process) {
            let _ = handle.signal(signal as i32);
        }
    }
}
