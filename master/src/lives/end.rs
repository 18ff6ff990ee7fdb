//! How a node's life ended.

use wire::NodeChange;

/// The end, according to the system or the seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Exit(u8),
    /// Exited, and its seat says that it must not be restarted: the run ends with it.
    GaveUp(u8),
    Signal(i32),
    /// It was not our child, and left no exit code in its seat.
    Unknown,
    /// It could not be started.
    NotStarted,
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ended::Exit(code) => write!(f, "ended with exit code {code}"),
            Ended::GaveUp(code) => write!(f, "gave up with exit code {code}"),
            Ended::Signal(signal) => f.write_str(&node::killed_by(*signal)),
            Ended::Unknown => f.write_str("ended"),
            Ended::NotStarted => f.write_str("could not be started"),
        }
    }
}

/// The end of a node's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// It left its seat by itself.
    pub(crate) left: bool,
    pub(crate) ended: Ended,
}

impl End {
    /// It was killed, or left its seat with an error.
    pub(crate) fn is_failure(self) -> bool {
        !self.left || self.code() > 0
    }

    /// A successor could not continue either.
    pub(crate) fn gave_up(self) -> bool {
        matches!(self.ended, Ended::GaveUp(_))
    }

    /// The change to announce.
    pub(crate) fn change(self) -> NodeChange {
        if self.left { NodeChange::Left } else { NodeChange::Died }
    }

    /// Exit code, 128 + signal, or -1.
    pub(crate) fn code(self) -> i32 {
        match self.ended {
            Ended::Exit(code) | Ended::GaveUp(code) => i32::from(code),
            Ended::Signal(signal) => 128 + signal,
            Ended::Unknown | Ended::NotStarted => -1,
        }
    }
}
