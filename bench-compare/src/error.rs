//! What can go wrong.

use std::fmt::Display;
use std::io;

/// Why something was not measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CompareError {
    /// A rival answered an error.
    #[error("{rival}: cannot {action}: {what}")]
    Rival {
        /// Which.
        rival: &'static str,
        /// What was tried.
        action: &'static str,
        /// Its answer.
        what: String,
    },
    /// The system refused.
    #[error("cannot {action}: {source}")]
    System {
        /// What was tried.
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// The journal's own page of words could not be had.
    #[error("cannot {action} the board: {what}")]
    Board {
        /// What was tried.
        action: &'static str,
        /// Its answer.
        what: String,
    },
    /// A message came that was not due.
    #[error("message {found} came where {expected} was due, or not all of its bytes were its own")]
    Mixed {
        /// The number that was due.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// The other side does nothing.
    #[error("the other side did nothing for {seconds} s")]
    Silent {
        /// How long.
        seconds: u64,
    },
    /// A peer ended badly.
    #[error("{0}")]
    Peer(String),
    /// The command line asks for what is not there.
    #[error("{0}")]
    Usage(String),
}

impl CompareError {
    /// As the platform's own: 1 failed, 2 usage.
    pub(crate) fn exit_code(&self) -> u8 {
        if matches!(self, CompareError::Usage(_)) { 2 } else { 1 }
    }
}

/// For `map_err` on what a rival answers.
pub(crate) fn refused<E: Display>(rival: &'static str, action: &'static str) -> impl Fn(E) -> CompareError {
    move |error| CompareError::Rival { rival, action, what: error.to_string() }
}

/// For `map_err` on what the system answers.
pub(crate) fn system<E: Into<io::Error>>(action: &'static str) -> impl Fn(E) -> CompareError {
    move |source| CompareError::System { action, source: source.into() }
}
