//! Watching an instance that somebody else has brought up.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use node::{Holding, InstanceDir};
use observe::{InstanceView, ViewError};

use crate::error::{LaunchError, system};
use crate::running::Running;

/// An instance that is being made, or removed, by a master that lives: so long at most it is looked at again.
const PASSING: Duration = Duration::from_secs(2);
/// Between two of these looks.
const PASSING_LOOK: Duration = Duration::from_millis(20);

/// An instance that somebody else brought up, to watch it or to take it down.
///
/// # Errors
/// [`LaunchError::NotRunning`] when there is none; others when it cannot be looked at.
pub fn attach(name: &str) -> Result<Running, LaunchError> {
    let instance = InstanceDir::new(name).ok_or_else(|| LaunchError::BadInstance(name.to_owned()))?;
    let begin = Instant::now();
    loop {
        match try_attach(&instance) {
            Err(LaunchError::Silent { .. } | LaunchError::Damaged { .. } | LaunchError::View(_))
                if begin.elapsed() < PASSING && instance.held() != Holding::Free =>
            {
                std::thread::sleep(PASSING_LOOK);
            }
            // It went while it was looked at.
            Err(LaunchError::View(ViewError::NoInstance { .. })) if !instance.registry().exists() => {
                return Err(LaunchError::not_running(&instance));
            }
            other => return other,
        }
    }
}

fn try_attach(instance: &InstanceDir) -> Result<Running, LaunchError> {
    let name = instance.name();
    let foreign = |error: node::FolderError| system("use the instance")(error.into());
    if !instance.is_there().map_err(foreign)? {
        return Err(LaunchError::not_running(instance));
    }
    if let Holding::By(holder) = instance.held()
        && !instance.registry().exists()
    {
        return Err(LaunchError::silent(instance, holder, "is still making it, or its registry was removed"));
    }
    let damaged =
        |path: PathBuf, what: String| LaunchError::Damaged { instance: name.to_owned(), path, what };
    let view = InstanceView::open(instance.clone()).map_err(|error| match error {
        ViewError::Open(error) => damaged(instance.registry(), error.to_string()),
        other => other.into(),
    })?;
    let path = instance.topology();
    let topology = view.topology().map_err(|error| damaged(path, error.to_string()))?;
    Ok(Running::new(view, topology, None, None).since_it_was_made())
}
