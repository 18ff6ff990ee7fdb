//! Whether a node parks, or dozes: then the writer of one of its inputs does not wake it.
//!
//! ```text
//!                 a message of that input, or a question to which the answer comes there
//!             ┌───────────────────────────────────────────────────────────┐
//!             ▼                                                           │
//!          dozing  ── a doze that ends by the clock, and nothing new ──►  parking
//! ```

use std::time::Duration;

use super::sleep::TIMER_SLACK;
use crate::input::Input;

/// The input that may wait, and whether anything is expected of it.
#[derive(Debug)]
pub(super) struct Patience {
    /// Its index.
    pub(super) input: usize,
    /// Number of its journal.
    pub(super) journal: u32,
    within: Duration,
    /// Where it was read up to, and how many questions had been asked, at the last look.
    seen: (u64, u64),
    expects: bool,
}

impl Patience {
    /// Of the first input that may wait; `None`: there is none.
    pub(super) fn of(inputs: &[Input]) -> Option<Patience> {
        let index = inputs.iter().position(|input| !input.wake_within.is_zero())?;
        let input = &inputs[index];
        Some(Patience {
            input: index,
            journal: input.journal_id(),
            within: input.wake_within,
            seen: (input.position(), 0),
            expects: false,
        })
    }

    /// Longest doze from now on; `None`: nothing is expected, so the node parks.
    pub(super) fn doze(&mut self, inputs: &[Input], questions: u64) -> Option<Duration> {
        let seen = (inputs.get(self.input)?.position(), questions);
        self.expects |= seen != self.seen;
        self.seen = seen;
        self.expects.then(|| self.within.saturating_sub(TIMER_SLACK).max(TIMER_SLACK))
    }

    /// A doze ended by the clock. If nothing has come meanwhile, the next sleep is a real one.
    pub(super) fn expired(&mut self) {
        self.expects = false;
    }
}
