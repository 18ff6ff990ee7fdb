//! Reads what a node's predecessors left in the journals, for processes that are restarted.

use journal::layout::LINE_BYTES;
use journal::{Frame, Journal, OpenError, ReadError};
use wire::{AnyMessage, Message, SnapshotBegin, SnapshotEnd};

use crate::instance::InstanceDir;

/// Name of the ledger's journal.
const STATE: &str = "ledger.state";
/// Attempts while the ledger overwrites what is being read.
const TRIES: usize = 20;

/// The messages of the ledger's last complete snapshot of all strategies, from begin to end; empty when there is none.
///
/// A running ledger may write the next one meanwhile: a caller that continues from this one with the executions must
/// check that they are all still there, and otherwise read again.
///
/// # Errors
/// [`OpenError`] when there is no such journal, or it cannot be read.
pub fn last_snapshot(instance: &InstanceDir) -> Result<Vec<AnyMessage>, OpenError> {
    let journal = Journal::open_read_only(instance.find_journal(STATE))?;
    let mut found = Vec::new();
    for _ in 0..TRIES {
        let whole;
        (found, whole) = scan(&journal)?;
        if whole {
            break;
        }
    }
    Ok(found)
}

/// The last complete snapshot, and whether nothing was overwritten during the search.
fn scan(journal: &Journal) -> Result<(Vec<AnyMessage>, bool), OpenError> {
    let mut reader = journal.observe(journal.oldest_frame()?)?;
    let head = journal.head();
    let topic = SnapshotBegin::topic_of(SnapshotBegin::EVERYBODY);
    let (mut last, mut current): (Vec<AnyMessage>, Option<Vec<AnyMessage>>) = (Vec::new(), None);
    while reader.position() < head {
        match reader.read() {
            Ok(Some(frame)) if frame.topic == topic => {
                let Ok(message) = AnyMessage::decode(frame.message_id, frame.payload) else {
                    current = None;
                    continue;
                };
                if frame.message_id == SnapshotBegin::ID {
                    current = Some(Vec::new());
                }
                if let Some(messages) = &mut current {
                    messages.push(message);
                }
                if frame.message_id == SnapshotEnd::ID {
                    last = current.take().unwrap_or(last);
                }
            }
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(ReadError::Lapped(_)) => return Ok((last, false)),
            Err(error) => {
                log::warn!("{STATE}: {error}");
                break;
            }
        }
    }
    Ok((last, true))
}

/// Passes the frames of a journal of the instance to the caller, up to its head: from its oldest frame, or from the one
/// whose first line holds position `from`. True when none of them was overwritten.
///
/// `from` may be one past a frame's position ("everything before this was seen"): that frame is then included, and the
/// caller skips what it knows.
///
/// # Errors
/// [`OpenError`] when there is no such journal, or it cannot be read.
pub fn read_held(
    instance: &InstanceDir,
    name: &str,
    from: Option<u64>,
    mut visit: impl FnMut(&Frame<'_>),
) -> Result<bool, OpenError> {
    let journal = Journal::open_read_only(instance.find_journal(name))?;
    let from = match from {
        Some(from) => from - from % LINE_BYTES,
        None => journal.oldest_frame()?,
    };
    let mut reader = journal.observe(from)?;
    let head = journal.head();
    while reader.position() < head {
        match reader.read() {
            Ok(Some(frame)) => visit(&frame),
            Ok(None) => break,
            Err(error) => {
                log::warn!("journal `{name}`: {error}");
                return Ok(false);
            }
        }
    }
    Ok(true)
}
