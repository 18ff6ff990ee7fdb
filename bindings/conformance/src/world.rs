//! A journal and a registry for one case.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use journal::{Clock, Journal, JournalFiles, JournalShape, Registry, layout};
use tempfile::TempDir;

/// Bytes of its ring.
pub(crate) const CAPACITY: u64 = layout::MIN_CAPACITY;
/// Its journal's name.
pub(crate) const NAME: &str = "matrix";

/// The files of one case, in a folder of its own.
#[derive(Debug)]
pub struct World {
    directory: TempDir,
}

impl World {
    /// Makes the files.
    ///
    /// # Errors
    /// What the system says.
    pub fn new() -> Result<World, String> {
        // Memory, where there is some.
        let memory = Path::new("/dev/shm");
        let prefix = format!("colo-matrix-{}-", std::process::id());
        let mut named = tempfile::Builder::new();
        named.prefix(&prefix);
        let made = if memory.is_dir() { named.tempdir_in(memory) } else { named.tempdir() };
        let directory = made.map_err(|error| format!("cannot make a folder for a case: {error}"))?;
        let world = World { directory };
        let shape = JournalShape {
            id: 7,
            name: NAME.to_owned(),
            capacity: CAPACITY,
            seats: 64,
            topics: 16,
            page: 4096,
        };
        Journal::create(world.files(), shape, 1).map_err(|error| error.to_string())?;
        Registry::create(&world.registry(), 64, Clock::calibrate()).map_err(|error| error.to_string())?;
        Ok(world)
    }

    /// Another one with the same files.
    ///
    /// # Errors
    /// What the system says.
    pub fn copy(&self) -> Result<World, String> {
        let other = World::new()?;
        for (from, to) in [
            (self.files().control, other.files().control),
            (self.files().ring, other.files().ring),
            (self.files().lock(), other.files().lock()),
        ] {
            std::fs::copy(&from, &to).map_err(|error| format!("cannot copy {}: {error}", from.display()))?;
        }
        Ok(other)
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        self.directory.path()
    }

    /// The journal's files.
    pub fn files(&self) -> JournalFiles {
        JournalFiles::new(self.folder(), self.folder(), NAME)
    }

    /// The registry's file.
    pub fn registry(&self) -> PathBuf {
        self.folder().join("registry")
    }

    /// Overwrites a word of a file.
    ///
    /// # Errors
    /// What the system says.
    pub fn poke(&self, path: &Path, word: usize, value: u64) -> Result<(), String> {
        let done = OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|file| file.write_all_at(&value.to_le_bytes(), word as u64 * 8));
        done.map_err(|error| format!("cannot write to {}: {error}", path.display()))
    }

    /// A word of a file.
    ///
    /// # Errors
    /// What the system says.
    pub fn peek(&self, path: &Path, word: usize) -> Result<u64, String> {
        let mut bytes = [0; 8];
        File::open(path)
            .and_then(|file| file.read_exact_at(&mut bytes, word as u64 * 8))
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Makes a file this long.
    ///
    /// # Errors
    /// What the system says.
    pub fn truncate(&self, path: &Path, bytes: u64) -> Result<(), String> {
        let done = OpenOptions::new().write(true).open(path).and_then(|file| file.set_len(bytes));
        done.map_err(|error| format!("cannot shorten {}: {error}", path.display()))
    }
}
