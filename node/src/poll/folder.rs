//! Notices that the instance's folder was deleted while no master runs: then the node could not be found any more.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use super::PollLoop;
use crate::instance::InstanceDir;

/// Checks are at least this far apart, in nanoseconds.
const LOOK: u64 = 1_000_000_000;

/// The registry's file, by its path and its identity when the node joined.
#[derive(Debug)]
pub(super) struct FolderWatch {
    registry: PathBuf,
    /// Device and inode; `None` where there was no file, as in tests.
    file: Option<(u64, u64)>,
    looked: u64,
}

impl FolderWatch {
    pub(super) fn new(instance: &InstanceDir) -> FolderWatch {
        let registry = instance.registry();
        FolderWatch { file: file(&registry), registry, looked: 0 }
    }

    /// True when a check is due and finds that the file no longer exists.
    fn is_gone(&mut self, now: u64) -> bool {
        if self.file.is_none() || now.saturating_sub(self.looked) < LOOK {
            return false;
        }
        self.looked = now;
        file(&self.registry) != self.file
    }
}

fn file(path: &PathBuf) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

impl PollLoop {
    /// Stops this node when its instance was deleted. If a master lives, it stops the nodes in order.
    pub(super) fn look_for_folder(&mut self, now: u64) {
        if !self.folder.is_gone(now) {
            return;
        }
        let master = self.context.handle.registry.seat(0).map(|seat| seat.process());
        if master.is_some_and(|master| master.is_alive()) {
            return;
        }
        log::error!(
            "{} was deleted or replaced, and no master runs: nobody can find this node any more, so it stops",
            self.folder.registry.display()
        );
        self.context.handle.stop.set();
    }
}
