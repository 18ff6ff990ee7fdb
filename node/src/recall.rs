//! What a node's predecessors left in the journals: for processes that are started again.

use journal::layout::LINE_BYTES;
use journal::{Frame, Journal, OpenError, ReadError};

use crate::instance::InstanceDir;

/// While a writer overwrites what is being read, it is read anew.
const TRIES: usize = 20;

/// Folds what a journal of the instance holds: `take` gets topic, message id and payload of each frame, from the oldest
/// on. It begins anew with an empty `T` when the writer has overwritten frames meanwhile; after several tries the last
/// result stands, with what was missed.
///
/// # Errors
/// [`OpenError`] when there is no such journal, or it cannot be read.
pub fn fold_held<T: Default>(
    instance: &InstanceDir,
    name: &str,
    take: impl Fn(&mut T, u32, u16, &[u8]),
) -> Result<T, OpenError> {
    let journal = Journal::open_read_only(instance.find_journal(name))?;
    let mut folded = T::default();
    for _ in 0..TRIES {
        folded = T::default();
        let visit = |frame: &Frame<'_>| take(&mut folded, frame.topic, frame.message_id, frame.payload);
        match visit_held(&journal, journal.oldest_frame()?, visit)? {
            Some(ReadError::Lapped(_)) => {}
            Some(error) => {
                log::warn!("journal `{name}`: {error}");
                break;
            }
            None => break,
        }
    }
    Ok(folded)
}

/// Hands out what a journal of the instance holds, up to its head: from its oldest frame, or from the one whose first
/// line holds position `from`. True when nothing of that was overwritten.
///
/// `from` may be one past a frame's position ("everything before this was seen"): that frame then comes again, and the
/// caller passes over what it knows.
///
/// # Errors
/// [`OpenError`] when there is no such journal, or it cannot be read.
pub fn read_held(
    instance: &InstanceDir,
    name: &str,
    from: Option<u64>,
    visit: impl FnMut(&Frame<'_>),
) -> Result<bool, OpenError> {
    let journal = Journal::open_read_only(instance.find_journal(name))?;
    let from = match from {
        Some(from) => from - from % LINE_BYTES,
        None => journal.oldest_frame()?,
    };
    let failed = visit_held(&journal, from, visit)?;
    if let Some(error) = &failed {
        log::warn!("journal `{name}`: {error}");
    }
    Ok(failed.is_none())
}

/// Visits the frames from a position up to the journal's head; answers what has kept it from getting there.
fn visit_held(
    journal: &Journal,
    from: u64,
    mut visit: impl FnMut(&Frame<'_>),
) -> Result<Option<ReadError>, OpenError> {
    let mut reader = journal.observe(from)?;
    let head = journal.head();
    while reader.position() < head {
        match reader.read() {
            Ok(Some(frame)) => visit(&frame),
            Ok(None) => break,
            Err(error) => return Ok(Some(error)),
        }
    }
    Ok(None)
}
