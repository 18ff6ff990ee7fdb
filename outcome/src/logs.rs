//! What the nodes of this run logged: logs are kept over runs, so only what came since its begin is taken.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use node::LogMark;

/// Longest part of one file that is taken: its last bytes.
const MOST_BYTES: u64 = 64 << 20;

/// Where each log ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    folder: PathBuf,
    ends: BTreeMap<PathBuf, LogMark>,
}

impl Marks {
    pub(crate) fn of(folder: PathBuf) -> Marks {
        let ends = logs(&folder).into_iter().map(|log| (log.clone(), LogMark::at_the_end_of(&log))).collect();
        Marks { folder, ends }
    }

    /// Copies what has been added since into `to`, also from the kept end of a log that was cut.
    pub(crate) fn copy(&self, to: &Path) -> io::Result<()> {
        for log in logs(&self.folder) {
            let mark = self.ends.get(&log).copied().unwrap_or_default();
            for mut part in mark.parts(&log)? {
                fs::create_dir_all(to)?;
                let passed = part.bytes.saturating_sub(MOST_BYTES);
                part.file.seek(SeekFrom::Current(i64::try_from(passed).unwrap_or(i64::MAX)))?;
                let name = part.path.file_name().unwrap_or_default();
                io::copy(&mut part.file, &mut File::create(to.join(name))?)?;
            }
        }
        Ok(())
    }
}

/// The logs in a folder, also those of which only the kept end is there.
fn logs(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let log = |name: &OsStr| {
        let name = name.as_bytes();
        let log = name.strip_suffix(b".1").unwrap_or(name);
        log.ends_with(b".log").then(|| folder.join(OsStr::from_bytes(log)))
    };
    entries.filter_map(|entry| log(&entry.file_name())).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const BOUND: u64 = 200;

    fn write(log: &Path, lines: std::ops::RangeInclusive<u32>) {
        let mut file = File::options().append(true).create(true).open(log).unwrap();
        lines.for_each(|line| writeln!(file, "line {line:04}").unwrap());
    }

    /// A run's folder has what its nodes logged and nothing of the runs before, also when master cut a log and it regrew beyond
    /// its length at the run's begin.
    #[test]
    fn a_log_that_is_cut_and_regrows_gives_the_run_its_own_lines() {
        let folder = tempfile::tempdir().unwrap();
        let (logs, to) = (folder.path().join("nodes"), folder.path().join("run"));
        fs::create_dir(&logs).unwrap();
        let (td, md, ledger) = (logs.join("td.log"), logs.join("md.log"), logs.join("ledger.log"));
        write(&td, 1..=15);
        write(&md, 1..=30);
        node::cut_log(&md, BOUND).unwrap();
        fs::write(logs.join("notes.txt"), "of a person").unwrap();
        let marks = Marks::of(logs);
        write(&td, 16..=24);
        node::cut_log(&td, BOUND).unwrap();
        write(&td, 25..=43);
        write(&ledger, 1..=3);
        marks.copy(&to).unwrap();
        let mut names: Vec<_> = fs::read_dir(&to).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["ledger.log", "td.log", "td.log.1"], "md logged nothing");
        let lines = |name: &str| {
            let text = fs::read_to_string(to.join(name)).unwrap();
            let numbers =
                text.lines().map(|line| line.strip_prefix("line ").unwrap().parse::<u32>().unwrap());
            numbers.collect::<Vec<_>>()
        };
        assert_eq!(lines("td.log.1"), (16..=24).collect::<Vec<_>>());
        assert_eq!(lines("td.log"), (25..=43).collect::<Vec<_>>());
        assert_eq!(lines("ledger.log"), [1, 2, 3]);
    }
}
