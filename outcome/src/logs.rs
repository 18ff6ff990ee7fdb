//! What the nodes of this run said: logs are kept over runs, so only what came since its begin is taken.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Longest part of one log that is taken: its last bytes.
const MOST_BYTES: u64 = 64 << 20;

/// How long each log was.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    folder: PathBuf,
    lengths: BTreeMap<PathBuf, u64>,
}

impl Marks {
    pub(crate) fn of(folder: PathBuf) -> Marks {
        let length = |path: PathBuf| Some((path.clone(), fs::metadata(path).ok()?.len()));
        let lengths = logs(&folder).into_iter().filter_map(length).collect();
        Marks { folder, lengths }
    }

    /// Copies what has been added since into `to`.
    pub(crate) fn copy(&self, to: &Path) -> io::Result<()> {
        for log in logs(&self.folder) {
            let length = fs::metadata(&log)?.len();
            // One that is shorter was begun anew.
            let from = self.lengths.get(&log).copied().filter(|from| *from <= length).unwrap_or(0);
            if from == length {
                continue;
            }
            fs::create_dir_all(to)?;
            let (mut source, name) = (File::open(&log)?, log.file_name().unwrap_or_default());
            source.seek(SeekFrom::Start(from.max(length.saturating_sub(MOST_BYTES))))?;
            io::copy(&mut source, &mut File::create(to.join(name))?)?;
        }
        Ok(())
    }
}

fn logs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut logs: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "log")).collect();
    logs.sort();
    logs
}
