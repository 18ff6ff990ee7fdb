//! The folder in shared memory that a benchmark's processes share.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

/// Prefix of its name.
const PREFIX: &str = "colo-bench-";
/// Locked as long as the benchmark lives.
const LOCK: &str = "bench.lock";
/// A younger folder may not have its lock yet.
const YOUNG: Duration = Duration::from_secs(10);

/// Removed when this is dropped. If the process was killed, the next benchmark of the same user removes the folder,
/// whose lock is free then.
#[derive(Debug)]
pub(crate) struct Scratch {
    directory: TempDir,
    _lock: File,
}

impl Scratch {
    /// Creates a folder in shared memory.
    ///
    /// # Errors
    /// The error of the system.
    pub(crate) fn create() -> std::io::Result<Scratch> {
        Scratch::create_at(Path::new("/dev/shm"))
    }

    /// Creates a folder in `place`, on the disk for instance.
    ///
    /// # Errors
    /// The error of the system.
    pub(crate) fn create_at(place: &Path) -> std::io::Result<Scratch> {
        sweep(place, YOUNG);
        Scratch::create_in(place)
    }

    fn create_in(memory: &Path) -> std::io::Result<Scratch> {
        let directory = tempfile::Builder::new().prefix(PREFIX).tempdir_in(memory)?;
        let lock = File::create_new(directory.path().join(LOCK))?;
        lock.lock()?;
        Ok(Scratch { directory, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Removes what killed benchmarks of this user left in `memory`. Entries that cannot be examined or removed stay.
fn sweep(memory: &Path, young: Duration) {
    let Ok(own) = fs::metadata("/proc/self").map(|metadata| metadata.uid()) else { return };
    let ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Ok(metadata) = fs::symlink_metadata(path) else { return false };
        let age = metadata.modified().ok().and_then(|time| time.elapsed().ok()).unwrap_or_default();
        name.starts_with(PREFIX) && metadata.is_dir() && metadata.uid() == own && age >= young
    };
    let folders = fs::read_dir(memory).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in folders.filter(ours) {
        // Its lock shows in every pid namespace whether it is in use.
        let lock = File::options().read(true).write(true).open(path.join(LOCK));
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_benchmark_left_is_removed_and_nothing_else() {
        let memory = tempfile::tempdir().unwrap();
        let living = Scratch::create_in(memory.path()).unwrap();
        let killed = memory.path().join("colo-bench-killed");
        fs::create_dir(&killed).unwrap();
        fs::write(killed.join(LOCK), b"").unwrap();
        fs::write(killed.join("ring"), b"much").unwrap();
        let strangers = memory.path().join("colo-bench-without-lock");
        fs::create_dir(&strangers).unwrap();
        let link = memory.path().join("colo-bench-link");
        std::os::unix::fs::symlink(&killed, &link).unwrap();

        sweep(memory.path(), Duration::from_secs(3_600));
        assert!(killed.exists(), "too young");
        sweep(memory.path(), Duration::ZERO);
        assert!(!killed.exists() && living.path().exists() && strangers.exists());
        assert!(fs::symlink_metadata(&link).is_ok(), "a link is not followed");
        let path = living.path().to_owned();
        drop(living);
        assert!(!path.exists());
    }
}
