//! Whether the frames of a journal lead to the head that its control page names. Only what no living writer does counts as
//! a misfit: the head is loaded before the frames, and a writer makes them visible before it moves the head.

use journal::layout::mark_reach;
use journal::{Journal, OpenError};
use node::Exit;

use crate::failure::Failure;

/// A living writer may overwrite the start of a search; then it is made again.
const ATTEMPTS: usize = 8;

/// Where to begin, up to where, and what does not fit there.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub(super) position: u64,
    pub(super) head: u64,
    pub(super) misfit: Option<String>,
}

impl Start {
    /// The oldest frame that can be found, and the head.
    pub(super) fn find(journal: &Journal) -> Result<Start, OpenError> {
        let (first, reach) = (journal.first_position(), mark_reach(journal.shape().capacity));
        let behind = journal.behind_version();
        let misfit = (behind != 0)
            .then(|| format!("its control page has {behind:#x} behind the version, where 0 belongs"));
        let mut oldest = journal.stat().oldest;
        for _ in 0..ATTEMPTS {
            let found = journal.oldest_frame()?;
            let now = journal.stat().oldest;
            // A ring that never wrapped begins at its first position, whatever its marks say.
            let position = if now == first { first } else { found };
            let head = journal.head();
            if position.saturating_sub(oldest) < reach {
                return Ok(Start { position, head, misfit });
            }
            if now == oldest {
                let misfit = format!(
                    "the head is {head}, and no mark leads to a frame between position {oldest} and {position}"
                );
                return Ok(Start { position, head, misfit: Some(misfit) });
            }
            oldest = now;
        }
        // Too fast for any search: the reader is told what it loses.
        Ok(Start { position: journal.oldest_frame()?, head: journal.head(), misfit })
    }
}

/// Frames end before the head.
pub(super) fn ends_early(head: u64, end: u64) -> String {
    format!("the head is {head}, frames end at {end}")
}

/// The head lies within a frame.
pub(super) fn ends_late(head: u64, from: u64, end: u64) -> String {
    format!("the head is {head}, within the frame from {from} to {end}")
}

/// Says what does not fit, if anything.
pub(super) fn result(name: &str, misfit: Option<String>) -> Result<u8, Failure> {
    match misfit {
        None => Ok(Exit::Done.code()),
        Some(misfit) => Err(Failure::new(
            Exit::Failed,
            format!("journal `{name}`: {misfit}; `colo journal verify {name}` says more"),
        )),
    }
}
