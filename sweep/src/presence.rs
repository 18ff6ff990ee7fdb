//! Who is at work for a sweep: also when the sweep itself was killed, its runs may live on for a while.
//!
//! Each run has the file `running` in the sweep's folder as its standard input, and shares the lock on it. So the lock is free
//! when the last of them is gone, whatever ended the sweep; and whose input it is, is a run of this sweep. The file says what
//! the runs' instances are called.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::error::SweepError;
use crate::runner::{self, Options};

/// The file's name.
const RUNNING: &str = "running";
/// How often it is looked whether the runs of an earlier session have ended.
const LOOK: Duration = Duration::from_millis(20);
/// What was killed is gone within this.
const GONE_WITHIN: Duration = Duration::from_secs(5);

/// This session's.
#[derive(Debug)]
pub(crate) struct Presence {
    file: File,
    path: PathBuf,
}

impl Presence {
    /// Ends what an earlier session has left, and begins this one's. Runs end by themselves with their sweep: there is time for
    /// that, unless `at_once` says that there is none.
    pub(crate) fn begin(
        folder: &Path,
        options: &Options,
        at_once: &dyn Fn() -> bool,
    ) -> Result<Presence, SweepError> {
        // As the system names it.
        let path = folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).join(RUNNING);
        let mut open = OpenOptions::new();
        open.create(true).truncate(false).read(true).write(true).mode(0o600);
        let mut file = node::own_file(&path, &mut open)?;
        let (begun, mut killed) = (Instant::now(), None);
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(error)) => return Err(SweepError::io("lock", &path)(error)),
                Err(TryLockError::WouldBlock) => {}
            }
            match killed {
                None if begun.elapsed() >= runner::PATIENCE || at_once() => {
                    runs(&path).into_iter().for_each(runner::kill);
                    take_away(&path, options);
                    killed = Some(Instant::now());
                }
                Some(at) if at.elapsed() >= GONE_WITHIN => {
                    return Err(SweepError::StillRun { folder: folder.to_owned(), pids: runs(&path) });
                }
                _ => {}
            }
            std::thread::sleep(LOOK);
        }
        take_away(&path, options);
        let names: Vec<String> = (0..options.jobs.max(1)).map(|job| options.instance_of(job)).collect();
        let written = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(names.join("\n").as_bytes()));
        written.map_err(SweepError::io("write", &path))?;
        Ok(Presence { file, path })
    }

    /// The standard input of a run: at its end already.
    pub(crate) fn of_a_run(&self) -> Result<Stdio, SweepError> {
        // The same open file, and so the same lock.
        self.file.try_clone().map(Stdio::from).map_err(SweepError::io("use", &self.path))
    }

    /// No run lives.
    pub(crate) fn end(&self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes the instances of the session that wrote this, as far as there is anything of them.
fn take_away(path: &Path, options: &Options) {
    let left = fs::read_to_string(path).unwrap_or_default();
    left.lines().for_each(|instance| runner::take_away(&options.program, instance));
}

/// The processes whose standard input this is.
fn runs(path: &Path) -> Vec<u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| fs::read_link(format!("/proc/{pid}/fd/0")).is_ok_and(|input| input == path)).collect()
}
