//! The accounts from outside: entries go in through `desk.entries` and are answered in the drop copy, as with `colo kill`;
//! positions come from the ledger's last snapshot and the drop copy behind it. All of it is for cold routes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use accounts::{Desk, Follower, Options, Refusal};
use journal::{Journal, LooseReader, OpenError, ReadError, Registry, WriteError};
use node::InstanceDir;
use wire::{AccountAction, AccountChange, EntryResult, Message, Nanos};

pub(crate) const ENTRIES: &str = "desk.entries";
const DROPS: &str = "td.drops";
/// For the writer's lock, for room in the journal, and for td's answer, each.
const PATIENCE: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_millis(1);
/// While the drop copy is overwritten faster than it is read, all is read anew.
const TRIES: usize = 20;

/// An entry is not known to have taken effect.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EntryError {
    /// It cannot be made.
    #[error("nothing was entered: {0}")]
    Failed(String),
    /// td has refused it.
    #[error("td refused it: {0}")]
    Refused(String),
    /// It is in the journal, and td has not answered.
    #[error("it is entered, and td has not answered: it will take effect when td runs")]
    Waiting,
}

impl From<OpenError> for EntryError {
    fn from(error: OpenError) -> EntryError {
        EntryError::Failed(error.to_string())
    }
}

/// Enters a change, and waits until td has answered it.
pub(crate) fn enter(instance: &InstanceDir, entry: &AccountChange) -> Result<(), EntryError> {
    let drops = Journal::open_read_only(instance.find_journal(DROPS))?;
    // Before the entry: its answer stands behind.
    let mut answers = drops.observe(drops.head())?;
    let registry = Registry::open(&instance.registry())?;
    let clock = registry.clock(&instance.registry())?;
    let journal = Journal::open(instance.find_journal(ENTRIES))?;
    let end = Instant::now() + PATIENCE;
    let position = {
        // A verb may hold the writer's lock for a moment.
        let mut writer = loop {
            match journal.writer(0, clock) {
                Ok(writer) => break writer,
                Err(OpenError::WriterExists { .. }) if Instant::now() < end => std::thread::sleep(TICK),
                Err(error) => return Err(error.into()),
            }
        };
        writer.wake_through(Arc::new(registry));
        loop {
            match writer.write(AccountChange::ID, 0, entry.bytes()) {
                Ok(written) => break written.position,
                Err(WriteError::Full { .. }) if Instant::now() < end => std::thread::sleep(TICK),
                Err(error) => return Err(EntryError::Failed(format!("`{ENTRIES}`: {error}"))),
            }
        }
    };
    let end = Instant::now() + PATIENCE;
    loop {
        match answers.read() {
            Ok(Some(frame)) if frame.message_id == EntryResult::ID => {
                let Ok(result) = EntryResult::decode(frame.payload) else { continue };
                if result.entry != position {
                    continue;
                }
                return match result.refusal {
                    0 => Ok(()),
                    // It had fallen before: td cancels again what still works.
                    number if entry.action == AccountAction::Kill && number == Refusal::Already.number() => {
                        Ok(())
                    }
                    number => Err(EntryError::Refused(
                        Refusal::of(number, result.about)
                            .map_or_else(|| format!("number {number}"), |refusal| refusal.to_string()),
                    )),
                };
            }
            Ok(Some(_)) | Err(ReadError::Lapped(_)) => {}
            Ok(None) if Instant::now() >= end => return Err(EntryError::Waiting),
            Ok(None) => std::thread::sleep(TICK),
            Err(_) => return Err(EntryError::Waiting),
        }
    }
}

/// What the accounts are, up to the drop copy's head.
pub(crate) fn with<T>(
    instance: &InstanceDir,
    remembered: Option<u32>,
    take: impl Fn(&Desk) -> T,
) -> Result<T, String> {
    let drops = Journal::open_read_only(instance.find_journal(DROPS)).map_err(|error| error.to_string())?;
    for _ in 0..TRIES {
        if let Some(desk) = follow(instance, &drops, remembered)? {
            return Ok(take(&desk));
        }
    }
    Err(NOT_WHOLE.to_owned())
}

/// What the accounts are cannot be known from what is there. The ledger's next snapshot ends that.
pub(crate) const NOT_WHOLE: &str = "the drop copy goes back neither to a snapshot of the accounts nor to its begin: the ledger is \
                                    behind or dead, see `colo status`";

/// `None`: overtaken, or a part is missing.
fn follow(instance: &InstanceDir, drops: &Journal, remembered: Option<u32>) -> Result<Option<Desk>, String> {
    let snapshot = node::last_desk(instance).map_err(|error| error.to_string())?;
    let Some((mut follower, mut reader)) = start(snapshot.as_deref(), drops, remembered)? else {
        return Ok(None);
    };
    loop {
        match reader.read() {
            Ok(Some(frame)) => {
                let at = (frame.position, frame.topic, Nanos(frame.time));
                // What cannot follow is an audit's affair.
                let _ = follower.frame(at, frame.message_id, frame.payload);
            }
            Ok(None) => return Ok(Some(follower.desk)),
            Err(ReadError::Lapped(_)) => return Ok(None),
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// The accounts at a snapshot of the ledger, and a reader of the drop copy behind it. Without a snapshot they start with the first
/// frame that the drop copy ever had; `None` where that is missing, since what follows is a part: sums over it would be wrong.
pub(crate) fn start(
    snapshot: Option<&[u8]>,
    drops: &Journal,
    remembered: Option<u32>,
) -> Result<Option<(Follower, LooseReader)>, String> {
    let (follower, from) = match snapshot {
        Some(bytes) => {
            let follower = Follower::restore(bytes).map_err(|error| error.to_string())?;
            // Its last frame is read once more, and passed over.
            let from = follower.contained.drops.checked_sub(1);
            (follower, from)
        }
        None => {
            let options = Options::default();
            let remembered = remembered.unwrap_or(options.remembered);
            (Follower::new(Options { remembered }), None)
        }
    };
    let Some(from) = from.or_else(|| node::begin_of(drops)) else { return Ok(None) };
    let reader = drops.observe(from).map_err(|error| error.to_string())?;
    Ok(Some((follower, reader)))
}

#[cfg(test)]
mod tests {
    use journal::{Clock, JournalFiles, JournalShape, Origin};
    use wire::{AccountId, AccountKind, AccountOpen, CostMethod, Currency, CurrencyRate, Text};

    use super::*;

    const CAPACITY: u64 = 1 << 16;

    fn journal(folder: &std::path::Path, first_position: u64, incarnation: u64) -> Journal {
        let shape =
            JournalShape { id: 1, name: DROPS.into(), capacity: CAPACITY, seats: 64, topics: 1, page: 4096 };
        let files = JournalFiles::new(folder, folder, DROPS);
        let origin = Origin { first_position, incarnation, ..Origin::new(1) };
        Journal::create_from(files, shape, origin).unwrap()
    }

    fn opening(account: u32) -> AccountOpen {
        AccountOpen {
            account: AccountId(account),
            group: 0,
            parent: AccountId(0),
            kind: AccountKind::Cash,
            method: CostMethod::Average,
            reserved: 0,
            currency: Currency::new("CNY").unwrap(),
            name: Text::EMPTY,
            who: Text::new("desk").unwrap(),
            why: Text::new("begin").unwrap(),
        }
    }

    fn rate() -> CurrencyRate {
        CurrencyRate { currency: Currency::new("CNY").unwrap(), rate: 1_000_000_000 }
    }

    /// Opens the accounts of these numbers.
    fn open(drops: &Journal, accounts: std::ops::Range<u32>) {
        let mut writer = drops.writer(0, Clock::monotonic()).unwrap();
        writer.write(CurrencyRate::ID, 0, rate().bytes()).unwrap();
        for account in accounts {
            writer.write(AccountOpen::ID, 0, opening(account).bytes()).unwrap();
        }
    }

    fn counted(start: Result<Option<(Follower, LooseReader)>, String>) -> Option<u32> {
        let (mut follower, mut reader) = start.unwrap()?;
        while let Some(frame) = reader.read().unwrap() {
            let at = (frame.position, frame.topic, Nanos(frame.time));
            follower.frame(at, frame.message_id, frame.payload).unwrap();
        }
        Some(follower.desk.count())
    }

    #[test]
    fn accounts_without_a_snapshot_are_those_of_the_whole_drop_copy_or_none() {
        let (first, recovered) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let whole = journal(first.path(), 0, 1);
        open(&whole, 1..4);
        assert_eq!(counted(start(None, &whole, None)), Some(3));
        // A recovery brings back what the ring had held: its first frames were overwritten.
        let part = journal(recovered.path(), 5 * CAPACITY, 2);
        open(&part, 4..6);
        assert_eq!(counted(start(None, &part, None)), None, "two of five accounts are no answer");
    }

    #[test]
    fn accounts_of_a_part_are_whole_again_with_the_first_snapshot() {
        let folder = tempfile::tempdir().unwrap();
        let part = journal(folder.path(), 5 * CAPACITY, 2);
        let mut follower = Follower::new(Options::default());
        follower.frame((CAPACITY, 0, Nanos(1)), CurrencyRate::ID, rate().bytes()).unwrap();
        for account in 1..=4 {
            let at = (part.first_position() - u64::from(4 - account) * 64, 0, Nanos(1));
            follower.frame(at, AccountOpen::ID, opening(account).bytes()).unwrap();
        }
        let snapshot = follower.snapshot();
        // The frame at the first position is contained.
        open(&part, 5..6);
        assert_eq!(counted(start(Some(&snapshot), &part, None)), Some(5));
    }
}
