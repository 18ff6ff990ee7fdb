//! Why a matrix cannot be run, read or reported.

use std::io;
use std::path::{Path, PathBuf};

/// Something about a folder of results, or about the run itself.
#[derive(Debug, thiserror::Error)]
pub enum T2oError {
    /// A file or folder.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// Results of an earlier run lie there.
    #[error("{} holds results already: go on with --resume, or name another --out", .0.display())]
    NotEmpty(PathBuf),
    /// Results of something else lie there.
    #[error(
        "{} holds results of another scenario, or of an older text of this one ({what}): name another --out",
        folder.display()
    )]
    OtherScenario {
        /// The folder.
        folder: PathBuf,
        /// What differs first.
        what: String,
    },
    /// Nothing to report.
    #[error("{} holds no results: `colo t2o run SCENARIO --out DIR` makes them", .0.display())]
    NoResults(PathBuf),
    /// A file of ours that is none.
    #[error("{} is no file of results: {reason}", path.display())]
    Garbled {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A file of another version of colo.
    #[error(
        "{} has the form {found}, this colo reads {wanted}: measure again, or use the colo that made it",
        path.display()
    )]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// Its form.
        found: u64,
        /// Ours.
        wanted: u32,
    },
    /// Two files of one folder that say different things of the same run.
    #[error(
        "{} and {} say different things: {what}; measure again into another folder, or take the files as they were \
         written",
        path.display(),
        raw.display()
    )]
    Disagrees {
        /// What is made from the other.
        path: PathBuf,
        /// What it was made from.
        raw: PathBuf,
        /// Figure, and what the two say.
        what: String,
    },
    /// The histograms' bounds.
    #[error("no histogram: {0}")]
    Histogram(#[from] hdrhistogram::CreationError),
    /// A plot could not be drawn.
    #[error("cannot draw {what}: {reason}")]
    Plot {
        /// Which plot.
        what: String,
        /// Why.
        reason: String,
    },
}

impl T2oError {
    /// For `map_err`.
    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> T2oError + use<> {
        let path = path.to_owned();
        move |source| T2oError::File { action, path, source }
    }
}
