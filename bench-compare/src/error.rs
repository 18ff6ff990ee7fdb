//! Errors.

use std::fmt::Display;
use std::io;

/// A measurement failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CompareError {
    /// A rival returned an error.
    #[error("{rival}: cannot {action}: {what}")]
    Rival {
        /// The rival.
        rival: &'static str,
        /// The attempted action.
        action: &'static str,
        /// Its error.
        what: String,
    },
    /// A system call failed.
    #[error("cannot {action}: {source}")]
    System {
        /// The attempted action.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The journal's page of words could not be created or opened.
    #[error("cannot {action} the board: {what}")]
    Board {
        /// The attempted action.
        action: &'static str,
        /// The error.
        what: String,
    },
    /// A message had a wrong number.
    #[error("message {found} came where {expected} was due, or not all of its bytes were its own")]
    Mixed {
        /// The expected number.
        expected: u64,
        /// The number found.
        found: u64,
    },
    /// The other side made no progress.
    #[error("the other side did nothing for {seconds} s")]
    Silent {
        /// For how long.
        seconds: u64,
    },
    /// A peer failed.
    #[error("{0}")]
    Peer(String),
    /// The command line asks for something that does not exist.
    #[error("{0}")]
    Usage(String),
}

impl CompareError {
    /// The exit code, as for the platform: 1 failed, 2 usage.
    pub(crate) fn exit_code(&self) -> u8 {
        if matches!(self, CompareError::Usage(_)) { 2 } else { 1 }
    }
}

/// Converts a rival's error, for `map_err`.
pub(crate) fn refused<E: Display>(rival: &'static str, action: &'static str) -> impl Fn(E) -> CompareError {
    move |error| CompareError::Rival { rival, action, what: error.to_string() }
}

/// Converts the system's error, for `map_err`.
pub(crate) fn system<E: Into<io::Error>>(action: &'static str) -> impl Fn(E) -> CompareError {
    move |source| CompareError::System { action, source: source.into() }
}
