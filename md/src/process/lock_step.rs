//! Lock-step: when the next message may be published.

use node::{Node, Quiescence, RunError};

/// Number of looks at the cursors before md sleeps between them.
const QUIET_LOOKS: usize = 64;

/// What md waits for between two messages.
#[derive(Debug)]
pub(super) enum LockStep {
    /// Nothing: the platform is live.
    Off,
    /// All nodes have handled the last message, as their cursors say.
    Watched(Quiescence),
    /// One message a turn: whoever turns this node gives it a turn only when all others are idle.
    Driven { has_written: bool },
}

impl LockStep {
    pub(super) fn of(node: &Node) -> Result<LockStep, RunError> {
        match (node.assignment().deterministic, node.is_stepped()) {
            (false, _) => Ok(LockStep::Off),
            (true, true) => Ok(LockStep::Driven { has_written: false }),
            (true, false) => Quiescence::watch(node.instance(), |_| true)
                .map(LockStep::Watched)
                .map_err(|error| RunError::failed(error.to_string())),
        }
    }

    pub(super) fn is_on(&self) -> bool {
        !matches!(self, LockStep::Off)
    }

    /// To be called at the begin of each turn.
    pub(super) fn begin_turn(&mut self) {
        if let LockStep::Driven { has_written } = self {
            *has_written = false;
        }
    }

    /// A message was written.
    pub(super) fn wrote(&mut self) {
        if let LockStep::Driven { has_written } = self {
            *has_written = true;
        }
    }

    /// Whether the turn that ends has written, and the next may.
    pub(super) fn goes_on(&self) -> bool {
        matches!(self, LockStep::Driven { has_written: true })
    }

    /// Whether the next message may be written.
    pub(super) fn is_quiet(&mut self) -> bool {
        match self {
            LockStep::Off => true,
            LockStep::Driven { has_written } => !*has_written,
            LockStep::Watched(quiescence) => {
                for _ in 0..QUIET_LOOKS {
                    if quiescence.is_quiet() {
                        return true;
                    }
                    std::thread::yield_now();
                }
                false
            }
        }
    }
}
