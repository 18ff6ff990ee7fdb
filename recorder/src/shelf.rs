//! The recordings of an instance, found by its topology: when its frames were on disk.

use std::path::{Path, PathBuf};

use topology::config::RecorderConfig;
use topology::{NodeKind, Topology};

use crate::read::Recording;

/// What one recorder has of the runs of an instance.
#[derive(Debug)]
pub struct Shelf {
    /// The oldest first.
    runs: Vec<Recording>,
}

impl Shelf {
    /// The recordings of each recorder, from those that may hold a frame of the time `since` on. What cannot be read is
    /// left out: nothing is said of it.
    pub fn all(topology: &Topology, since: u64) -> Vec<Shelf> {
        all_runs_of(topology).map(|runs| Shelf::of(&runs, since)).collect()
    }

    fn of(folder: &Path, since: u64) -> Shelf {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> =
            entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        // Names of runs sort by time.
        folders.sort();
        let mut runs = Vec::new();
        for run in folders.iter().rev().filter_map(|folder| Recording::open(folder).ok()) {
            let is_older = begun(&run) <= since;
            runs.push(run);
            if is_older {
                break;
            }
        }
        runs.reverse();
        Shelf { runs }
    }

    /// One recording by itself.
    pub fn single(recording: Recording) -> Shelf {
        Shelf { runs: vec![recording] }
    }

    /// The latest run, if there is any.
    pub fn latest(&self) -> Option<&Recording> {
        self.runs.last()
    }

    /// When the frame at `position` of a journal, of the time `time`, was on disk; `None` where no recording says it. Frames
    /// that a recovery brought back are in several runs: the first counts.
    pub fn synced(&self, journal: &str, position: u64, time: u64) -> Option<u64> {
        // A recorder begins a little later than the platform.
        let first = self.runs.iter().rposition(|run| begun(run) <= time).unwrap_or(0);
        self.runs[first..].iter().find_map(|run| {
            let journal = run.description().journal(journal)?;
            run.synced(journal, position).ok().flatten()
        })
    }
}

/// When a run's recording was begun, as far as it is still there.
fn begun(run: &Recording) -> u64 {
    run.segments().first().map_or(0, |segment| segment.head.created.get())
}

/// The folders with the runs of an instance, of all its recorders.
pub fn all_runs_of(topology: &Topology) -> impl Iterator<Item = PathBuf> {
    let recorders = topology.nodes.iter().filter(|node| node.kind == NodeKind::Recorder);
    let configs = recorders.filter_map(|node| serde_json::from_value(node.section.clone()).ok());
    configs.map(|config| runs_of(&config, &topology.instance))
}

/// The folder with the runs of an instance.
pub(crate) fn runs_of(config: &RecorderConfig, instance: &str) -> PathBuf {
    Path::new(&config.path).join(instance)
}
