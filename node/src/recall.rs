//! Reads what a node's predecessors left in the journals, for processes that are restarted.

use std::time::Duration;

use journal::layout::LINE_BYTES;
use journal::{Frame, Journal, OpenError, ReadError};
use topology::Stream;
use wire::fold::{DeskReader, Snapshot, SnapshotReader};
use wire::{AnyMessage, DeskPart, Message};

use crate::instance::InstanceDir;

/// While the ledger overwrites what is being read, it is read anew.
const TRIES: usize = 20;
/// Between two reads of what lies behind a snapshot: its writer stops soon, when its ring is full up to a cursor that is held.
const PAUSE: Duration = Duration::from_millis(2);

/// Name of the ledger's journal.
fn state() -> &'static str {
    Stream::State.journal().unwrap_or_default()
}

/// The ledger's snapshots of the accounts, where they are kept.
const DESK: &str = "ledger.desk";

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

/// The ledger's last whole snapshot of the accounts, as `accounts::Follower::restore` reads it; `None` when there is none.
///
/// A ledger that runs may write the next one meanwhile, and the drop copy behind this one may then be overwritten: a caller
/// that goes on with it must check that it is all there ([`read_held`] says so), and otherwise read again.
///
/// # Errors
/// [`OpenError`] when the instance keeps no accounts, or the journal cannot be read.
pub fn last_desk(instance: &InstanceDir) -> Result<Option<Vec<u8>>, OpenError> {
    last_desk_in(&Journal::open_read_only(instance.find_journal(DESK))?)
}

/// As [`last_desk`], of a journal that is open.
///
/// # Errors
/// [`OpenError`] when the journal cannot be read.
pub fn last_desk_in(journal: &Journal) -> Result<Option<Vec<u8>>, OpenError> {
    let mut found = None;
    for _ in 0..TRIES {
        let is_complete;
        (found, is_complete) = scan_desk(journal)?;
        if is_complete {
            break;
        }
    }
    Ok(found)
}

/// The last whole snapshot of the accounts, and whether nothing was overwritten during the scan.
fn scan_desk(journal: &Journal) -> Result<(Option<Vec<u8>>, bool), OpenError> {
    let mut reader = journal.observe(journal.oldest_frame()?)?;
    let head = journal.head();
    let mut desks = DeskReader::new();
    let mut last = None;
    while reader.position() < head {
        match reader.read() {
            Ok(Some(frame)) if frame.message_id == DeskPart::ID => match DeskPart::decode(frame.payload) {
                Ok(part) => last = desks.take(&part).or(last),
                Err(_) => desks.reset(),
            },
            Ok(Some(_)) => desks.reset(),
            Ok(None) => break,
            Err(ReadError::Lapped(_)) => return Ok((last, false)),
            Err(error) => {
                log::warn!("{DESK}: {error}");
                break;
            }
        }
    }
    Ok((last, true))
}

/// The ledger's last snapshot, and what `read` makes of the journals behind it. While `read` answers that they do not go back
/// to the snapshot any more, because there is a newer one, both are read again, a few times; the answer is then the last one.
/// `read` is told which read is the last.
///
/// # Errors
/// [`OpenError`] when a journal is not there, or cannot be read.
pub fn read_behind_snapshot<T>(
    instance: &InstanceDir,
    read: impl FnMut(Option<Snapshot>, bool) -> Result<(T, bool), OpenError>,
) -> Result<(T, bool), OpenError> {
    until_whole(|| last_snapshot(instance), read, PAUSE)
}

fn until_whole<S, T, E>(
    mut snapshot: impl FnMut() -> Result<S, E>,
    mut read: impl FnMut(S, bool) -> Result<(T, bool), E>,
    pause: Duration,
) -> Result<(T, bool), E> {
    let mut left = TRIES;
    loop {
        left -= 1;
        let (found, is_whole) = read(snapshot()?, left == 0)?;
        if is_whole || left == 0 {
            return Ok((found, is_whole));
        }
        std::thread::sleep(pause);
    }
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

/// Position of the first frame that a journal ever had; `None` where that frame may be overwritten, or was not brought back by a
/// recovery. A sum over the frames of a journal is whole only from there on, or from a snapshot.
pub fn begin_of(journal: &Journal) -> Option<u64> {
    let first = journal.first_position();
    let is_first = first == journal::layout::first_position(journal.shape().capacity);
    (is_first && journal.stat().oldest == first).then_some(first)
}

/// As [`read_held`], for a sum: `from` is where a snapshot ends, or `None` for the first frame that the journal ever had. True
/// when none of the frames is missing; false also where the journal does not go back to that first frame ([`begin_of`]).
///
/// # Errors
/// As [`read_held`].
pub fn read_whole(
    instance: &InstanceDir,
    name: &str,
    from: Option<u64>,
    visit: impl FnMut(&Frame<'_>),
) -> Result<bool, OpenError> {
    let begin = match from {
        Some(_) => from,
        None => begin_of(&Journal::open_read_only(instance.find_journal(name))?),
    };
    Ok(read_held(instance, name, begin, visit)? && begin.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(capacity: u64) -> journal::JournalShape {
        journal::JournalShape { id: 1, name: "t".into(), capacity, seats: 64, topics: 1, page: 4096 }
    }

    #[test]
    fn a_journal_has_its_begin_until_that_is_overwritten_and_not_where_a_recovery_left_it_out() {
        const CAPACITY: u64 = 1 << 16;
        let clock = journal::Clock::monotonic();
        let journal = Journal::in_memory(shape(CAPACITY)).unwrap();
        let mut writer = journal.writer(0, clock).unwrap();
        assert_eq!(begin_of(&journal), Some(CAPACITY));
        while journal.head() < 2 * CAPACITY {
            if journal.head() < CAPACITY + CAPACITY / 2 {
                assert_eq!(begin_of(&journal), Some(CAPACITY));
            }
            writer.write(1, 0, &[7; 96]).unwrap();
        }
        writer.write(1, 0, &[7; 96]).unwrap();
        assert_eq!(begin_of(&journal), None, "it has gone round");
        // Another one goes on from there, as in a recovery: nothing of it is overwritten, and it is a part.
        let folder = tempfile::tempdir().unwrap();
        let files = journal::JournalFiles::new(folder.path(), folder.path(), "t");
        let origin =
            journal::Origin { first_position: journal.head(), incarnation: 2, ..journal::Origin::new(1) };
        let next = Journal::create_from(files, shape(CAPACITY), origin).unwrap();
        assert_eq!(next.stat().oldest, next.first_position());
        assert_eq!(begin_of(&next), None);
    }

    #[test]
    fn the_last_whole_snapshot_of_the_accounts_is_found_behind_parts_of_others() {
        let shape = journal::JournalShape {
            id: 1,
            name: DESK.into(),
            capacity: 1 << 16,
            seats: 64,
            topics: 1,
            page: 4096,
        };
        let journal = Journal::in_memory(shape).unwrap();
        let mut writer = journal.writer(0, journal::Clock::monotonic()).unwrap();
        assert_eq!(scan_desk(&journal).unwrap(), (None, true));
        for number in 1..=30_u8 {
            // Those with an even number are not finished.
            let bytes = vec![number; 9_000];
            let parts = if number.is_multiple_of(2) { 2 } else { 3 };
            for part in wire::fold::desk_parts(u64::from(number), &bytes).take(parts) {
                writer.write(DeskPart::ID, 0, part.bytes()).unwrap();
            }
            let last = number - u8::from(number.is_multiple_of(2));
            assert_eq!(scan_desk(&journal).unwrap(), (Some(vec![last; 9_000]), true), "{number}");
        }
    }

    /// Snapshots are numbered; what lies behind number `whole` is all there.
    fn reads(whole: usize) -> ((usize, bool), Vec<(usize, bool)>) {
        let (mut taken, mut seen) = (0, Vec::new());
        let mut snapshot = || {
            taken += 1;
            Ok::<usize, OpenError>(taken)
        };
        let read = |snapshot, is_last| {
            seen.push((snapshot, is_last));
            Ok((snapshot, snapshot >= whole))
        };
        (until_whole(&mut snapshot, read, Duration::ZERO).unwrap(), seen)
    }

    #[test]
    fn each_read_starts_from_a_snapshot_of_its_own_and_ends_once_all_behind_it_is_there() {
        assert_eq!(reads(1), ((1, true), vec![(1, false)]));
        assert_eq!(reads(3), ((3, true), vec![(1, false), (2, false), (3, false)]));
    }

    #[test]
    fn the_last_read_is_known_as_such_and_its_answer_stands() {
        let (answer, seen) = reads(usize::MAX);
        assert_eq!((answer, seen.len()), ((TRIES, false), TRIES));
        assert!(seen.iter().all(|(snapshot, is_last)| *is_last == (*snapshot == TRIES)));
    }

    #[test]
    fn an_error_ends_the_reading() {
        let failed =
            |number: u32, is_last: bool| if number == 1 { Err("gone") } else { Ok((number, is_last)) };
        assert_eq!(until_whole(|| Ok(1), failed, Duration::ZERO), Err("gone"));
    }
}
