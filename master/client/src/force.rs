//! Taking an instance down when its own files no longer say how: by its lock and by what the kernel says of processes.

use std::time::Duration;

use node::{Holding, InstanceDir};

use crate::down::Down;
use crate::ending::end_all;
use crate::error::{LaunchError, system};
use crate::processes::{Member, members};

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

/// Ends whatever runs of an instance, and removes it. Reads neither `topology.json` nor the registry: works when they are
/// damaged, when master does not answer, and when it is stopped.
///
/// # Errors
/// [`LaunchError`]: nothing of the name is there, it is held in another pid namespace, or a process does not end.
pub fn force(name: &str) -> Result<Forced, LaunchError> {
    let instance = InstanceDir::new(name).ok_or_else(|| LaunchError::BadInstance(name.to_owned()))?;
    let is_there = instance.is_there().map_err(|error| system("use the instance")(error.into()))?;
    if !is_there && members(&instance).is_empty() {
        let all = InstanceDir::all_with_remains().map_err(system("list the instances"))?;
        if !all.contains(&instance) {
            return Err(LaunchError::not_running(&instance));
        }
        instance.remove_remains().map_err(system(&format!("remove what is left of instance `{name}`")))?;
        return Ok(Forced { by_master: false, ended: Vec::new() });
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
