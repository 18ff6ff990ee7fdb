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

#[cfg(test)]
mod tests {
    use std::fs;

    use node::Exit;

    use super::*;
    use crate::fixture::Remains;

    fn refusal(name: &str) -> LaunchError {
        attach(name).expect_err("nothing that can be watched")
    }

    /// The file that is damaged, and the whole text.
    fn damaged(remains: &Remains) -> (PathBuf, String) {
        let error = refusal(remains.instance.name());
        let text = error.to_string();
        let LaunchError::Damaged { path, .. } = error else { panic!("{text}") };
        (path, text)
    }

    #[test]
    fn what_a_dead_master_left_whole_can_be_watched() {
        let remains = Remains::new("whole");
        let running = attach(remains.instance.name()).unwrap();
        assert_eq!(running.topology(), &remains.topology);
    }

    #[test]
    fn a_registry_that_is_cut_short_is_named_with_the_way_out() {
        let remains = Remains::new("registry");
        let registry = remains.instance.registry();
        let whole = fs::read(&registry).unwrap();
        let mut looked_at = 0;
        for length in [0, 1, 63, 64, 4_095, 4_096, whole.len() / 2, whole.len() - 1] {
            fs::write(&registry, &whole[..length]).unwrap();
            let (path, text) = damaged(&remains);
            assert_eq!(path, registry, "{length}: {text}");
            assert!(text.contains(&format!("`colo down {} --force`", remains.instance.name())), "{text}");
            looked_at += 1;
        }
        println!("{looked_at} lengths of {} bytes", whole.len());
    }

    #[test]
    fn a_topology_that_is_cut_short_or_gone_is_named() {
        let remains = Remains::new("topology");
        let path = remains.instance.topology();
        let whole = fs::read(&path).unwrap();
        for length in [0, 1, whole.len() / 2, whole.len() - 1] {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(damaged(&remains).0, path, "{length} bytes");
        }
        fs::remove_file(&path).unwrap();
        let (missing, text) = damaged(&remains);
        assert!(missing == path && text.contains("No such file"), "{text}");
    }

    #[test]
    fn a_name_that_is_none_and_one_that_nobody_bears_are_refused_differently() {
        assert_eq!(refusal("NO NAME").exit(), Exit::Usage.code());
        let remains = Remains::new("other");
        let error = refusal("mc-nobody-bears-this");
        assert!(matches!(error, LaunchError::NotRunning { .. }), "{error}");
        assert_eq!(error.exit(), Exit::NoMaster.code());
        assert!(error.to_string().contains(remains.instance.name()), "those that there are: {error}");
    }
}
