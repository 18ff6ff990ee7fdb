//! The accounts from outside: entries go in through `desk.entries` and are answered in the drop copy, as with `colo kill`;
//! positions come from the ledger's last snapshot and the drop copy behind it. All of it is for cold routes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use accounts::{Desk, Follower, Options, Refusal};
use journal::{Journal, OpenError, ReadError, Registry, WriteError};
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
    Err("the drop copy is overwritten faster than it can be read: see `colo status`".to_owned())
}

/// `None`: overtaken.
fn follow(instance: &InstanceDir, drops: &Journal, remembered: Option<u32>) -> Result<Option<Desk>, String> {
    let snapshot = node::last_desk(instance).map_err(|error| error.to_string())?;
    let mut follower = match snapshot {
        Some(bytes) => Follower::restore(&bytes).map_err(|error| error.to_string())?,
        None => {
            let options = Options::default();
            let remembered = remembered.unwrap_or(options.remembered);
            Follower::new(Options { remembered })
        }
    };
    // Its last frame is read once more, and passed over.
    let from = follower.contained.drops.saturating_sub(1);
    let from = if from == 0 { drops.first_position() } else { from };
    let mut reader = drops.observe(from).map_err(|error| error.to_string())?;
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
