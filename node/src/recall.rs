//! Reads what a node's predecessors left in the journals, for processes that are restarted.

use journal::layout::LINE_BYTES;
use journal::{Frame, Journal, OpenError, ReadError};
use topology::Stream;
use wire::AnyMessage;
use wire::fold::{Snapshot, SnapshotReader};

use crate::instance::InstanceDir;

/// While the ledger overwrites what is being read, it is read anew.
const TRIES: usize = 20;

/// Name of the ledger's journal.
fn state() -> &'static str {
    Stream::State.journal().unwrap_or_default()
}

/// The ledger's last whole snapshot of everybody; `None` when there is none.
///
/// A ledger that runs may write the next one meanwhile, and the executions behind this one may then be overwritten: a
/// caller that continues with them must check that they are all there, and otherwise read again.
///
/// # Errors
/// [`OpenError`] when there is no such journal, or it cannot be read.
pub fn last_snapshot(instance: &InstanceDir) -> Result<Option<Snapshot>, OpenError> {
    let journal = Journal::open_read_only(instance.find_journal(state()))?;
    let mut found = None;
    for _ in 0..TRIES {
        let is_complete;
        (found, is_complete) = scan(&journal)?;
        if is_complete {
            break;
        }
    }
    Ok(found)
}

/// The last whole snapshot, and whether nothing was overwritten during the scan.
fn scan(journal: &Journal) -> Result<(Option<Snapshot>, bool), OpenError> {
    let mut reader = journal.observe(journal.oldest_frame()?)?;
    let head = journal.head();
    let mut snapshots = SnapshotReader::of_everybody();
    let mut last = None;
    while reader.position() < head {
        match reader.read() {
            Ok(Some(frame)) if frame.topic == snapshots.topic() => {
                match AnyMessage::decode(frame.message_id, frame.payload) {
                    Ok(message) => last = snapshots.take(message).ok().flatten().or(last),
                    Err(_) => snapshots.reset(),
                }
            }
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(ReadError::Lapped(_)) => return Ok((last, false)),
            Err(error) => {
                log::warn!("{}: {error}", state());
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
