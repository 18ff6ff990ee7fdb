//! Why a sweep cannot begin or go on.

use std::io;
use std::path::{Path, PathBuf};

/// A sweep's folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The system refuses.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The folder cannot be made.
    #[error(transparent)]
    Folder(#[from] outcome::RunsError),
    /// Another user could have a part in a file of it.
    #[error(transparent)]
    File(#[from] node::FolderError),
    /// It is none.
    #[error("{} is no folder of a sweep: it has no sweep.json", .0.display())]
    NoSweep(PathBuf),
    /// There is no sweep at all.
    #[error("there is no sweep in {}: `colo sweep FILE` makes one", .0.display())]
    Empty(PathBuf),
    /// A file of it cannot be understood.
    #[error("{}: {why}", path.display())]
    Damaged {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// Another process is at it.
    #[error("another `colo sweep` is at work in {}: wait for it, or end it", .0.display())]
    InUse(PathBuf),
    /// Runs of an earlier session do not end.
    #[error("runs of this sweep from before still live in {}, and do not end: processes {}; end them, then go on", folder.display(), numbers(pids))]
    StillRun {
        /// The folder.
        folder: PathBuf,
        /// Their processes.
        pids: Vec<u32>,
    },
    /// The file describes another sweep than the folder's.
    #[error("{}: {what}; what is finished there belongs to other runs: begin a new sweep without --resume", folder.display())]
    OtherRuns {
        /// The folder.
        folder: PathBuf,
        /// What differs.
        what: String,
    },
    /// Finished runs were made from something else than what is there now.
    #[error(
        "{} finished runs in {} were made from something else than what is there now:{}\n--rerun changed runs them again; a new folder leaves these as they are",
        runs, folder.display(), list(what)
    )]
    Changed {
        /// The folder.
        folder: PathBuf,
        /// How many runs.
        runs: usize,
        /// What has changed.
        what: Vec<String>,
    },
}

impl SweepError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SweepError {
        let path = path.to_owned();
        move |source| SweepError::Io { action, path, source }
    }
}

fn numbers(pids: &[u32]) -> String {
    pids.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

fn list(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n  {line}")).collect()
}
