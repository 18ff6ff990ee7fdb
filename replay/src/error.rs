//! Why a recording cannot be given to a strategy again.

use std::io;
use std::path::PathBuf;

use node::ClaimError;
use recorder::read::FrameError;

/// Why a replay ended early.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The recording, or the platform that it is of, does not fit what was asked for.
    #[error("{0}")]
    Usage(String),
    /// The recording is not whole.
    #[error("the recording is not whole: {0}; --to before it and --from behind it replay the rest")]
    NotWhole(String),
    /// The instance could not be made.
    #[error("instance `{instance}`: {source}")]
    Claim {
        /// Its name.
        instance: String,
        /// Why.
        source: ClaimError,
    },
    /// A file, socket or process.
    #[error("cannot {action} {}: {source}", .path.display())]
    System {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A journal could not be made, written or read.
    #[error("journal `{journal}`: {what}")]
    Journal {
        /// Its name.
        journal: String,
        /// Why.
        what: String,
    },
    /// The strategy ended, or did not go on.
    #[error("strategy `{strategy}` {what}; its log is {}", .log.display())]
    Strategy {
        /// Its name.
        strategy: String,
        /// What it did.
        what: String,
        /// Its log.
        log: PathBuf,
    },
}

impl From<FrameError> for ReplayError {
    fn from(error: FrameError) -> ReplayError {
        ReplayError::NotWhole(error.to_string())
    }
}

impl ReplayError {
    pub(crate) fn journal(name: &str, what: impl ToString) -> ReplayError {
        ReplayError::Journal { journal: name.to_owned(), what: what.to_string() }
    }
}
