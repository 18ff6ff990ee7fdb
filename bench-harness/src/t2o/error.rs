//! Errors of running, reading and reporting a matrix.

use std::io;
use std::path::{Path, PathBuf};

/// An error of a folder of results, or of the run itself.
#[derive(Debug, thiserror::Error)]
pub enum T2oError {
    /// A file or folder could not be used.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// The attempted action.
        action: &'static str,
        /// Its path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The folder contains results of an earlier run.
    #[error("{} holds results already: go on with --resume, or name another --out", .0.display())]
    NotEmpty(PathBuf),
    /// The folder contains results of another scenario.
    #[error(
        "{} holds results of another scenario, or of an older text of this one ({what}): name another --out",
        folder.display()
    )]
    OtherScenario {
        /// The folder.
        folder: PathBuf,
        /// The first difference.
        what: String,
    },
    /// There are no results to report.
    #[error("{} holds no results: `colo t2o run SCENARIO --out DIR` makes them", .0.display())]
    NoResults(PathBuf),
    /// A damaged file.
    #[error("{} is no file of results: {reason}", path.display())]
    Garbled {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A file of another version of colo.
    #[error(
        "{} has the form {found}, this colo reads {oldest} to {wanted}: measure again, or use the colo that made it",
        path.display()
    )]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The format that this colo writes.
        wanted: u32,
        /// The oldest one that it reads.
        oldest: u32,
    },
    /// Two files of one folder contradict each other about the same run.
    #[error(
        "{} and {} say different things: {what}; measure again into another folder, or take the files as they were \
         written",
        path.display(),
        raw.display()
    )]
    Disagrees {
        /// The derived file.
        path: PathBuf,
        /// Its source.
        raw: PathBuf,
        /// The figure, and both values.
        what: String,
    },
    /// The histograms' bounds.
    #[error("no histogram: {0}")]
    Histogram(#[from] hdrhistogram::CreationError),
}

impl T2oError {
    /// Converts an error of the system, for `map_err`.
    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> T2oError + use<> {
        let path = path.to_owned();
        move |source| T2oError::File { action, path, source }
    }
}
