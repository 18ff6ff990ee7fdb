//! Entries go in: appended by whoever holds the writer's lock of `desk.entries` for a moment, and answered in the drop copy.

use std::sync::Arc;
use std::time::{Duration, Instant};

use accounts::Refusal;
use journal::{Journal, LooseReader, OpenError, ReadError, Registry, WriteError, Writer};
use node::{Exit, InstanceDir};
use observe::InstanceView;
use wire::{EntryResult, Message};

use super::{DROPS, ENTRIES};
use crate::failure::Failure;

/// For the writer's lock, for room in the journal, and for td's answer, each.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between two looks.
const TICK: Duration = Duration::from_millis(1);

/// An entry as it goes into the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    id: u16,
    payload: Vec<u8>,
}

impl Sent {
    pub(crate) fn new<M: Message>(entry: &M) -> Sent {
        Sent { id: M::ID, payload: entry.bytes().to_vec() }
    }
}

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It took effect: at this position of the drop copy, at this time.
    Taken { position: u64, time: u64 },
    /// It was refused.
    Refused { number: u32, about: u32 },
    /// td has not answered.
    Waiting,
}

/// An entry that was made, at this position of `desk.entries`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entered {
    pub(crate) position: u64,
    pub(crate) outcome: Outcome,
}

impl Outcome {
    /// Why it was refused, in words.
    pub(crate) fn refusal(&self) -> Option<String> {
        let Outcome::Refused { number, about } = *self else { return None };
        let known = Refusal::of(number, about).map(|refusal| refusal.to_string());
        Some(
            known
                .unwrap_or_else(|| format!("refused with number {number}, which this version does not know")),
        )
    }
}

/// Appends entries, all or none, and waits until td has answered them.
pub(crate) fn enter(instance: &InstanceDir, entries: &[Sent]) -> Result<Vec<Entered>, Failure> {
    super::demand(instance)?;
    if InstanceView::open(instance.clone())?.is_dead() {
        let message = format!(
            "nothing of instance `{}` runs: nobody would take the entry, and `colo up` begins anew",
            instance.name()
        );
        return Err(Failure::new(Exit::NoMaster, message));
    }
    let drops = Journal::open_read_only(instance.find_journal(DROPS))?;
    // Before the entries: their answers stand behind.
    let mut answers = Answers::new(drops.observe(drops.head())?);
    let mut entered = append(instance, entries)?;
    answers.wait(&mut entered)?;
    if entered.iter().any(|one| one.outcome == Outcome::Waiting) {
        // The reader may have been overtaken: what is still there is read once more.
        Answers::new(drops.observe(super::source::oldest(&drops)?)?).scan(&mut entered)?;
    }
    Ok(entered)
}

fn append(instance: &InstanceDir, entries: &[Sent]) -> Result<Vec<Entered>, Failure> {
    let registry = Registry::open(&instance.registry())?;
    let clock = registry.clock(&instance.registry())?;
    let journal = Journal::open(instance.find_journal(ENTRIES))?;
    let end = Instant::now() + PATIENCE;
    let mut writer = locked(&journal, clock, end)?;
    // td may sleep.
    writer.wake_through(Arc::new(registry));
    let mut entered = Vec::with_capacity(entries.len());
    for entry in entries {
        let position = loop {
            match writer.write(entry.id, 0, &entry.payload) {
                Ok(written) => break written.position,
                Err(WriteError::Full { .. }) if Instant::now() < end => std::thread::sleep(TICK),
                Err(WriteError::Full { .. }) => {
                    let message = format!(
                        "`{ENTRIES}` is full, {} of {} entries are in it: td does not read it; see `colo status`",
                        entered.len(),
                        entries.len()
                    );
                    return Err(Failure::new(Exit::Failed, message));
                }
                Err(error) => return Err(Failure::new(Exit::Failed, format!("`{ENTRIES}`: {error}"))),
            }
        };
        entered.push(Entered { position, outcome: Outcome::Waiting });
    }
    Ok(entered)
}

/// The journal's writer, once nobody else is: another verb holds the lock for a moment only.
fn locked(journal: &Journal, clock: journal::Clock, end: Instant) -> Result<Writer, Failure> {
    loop {
        match journal.writer(0, clock) {
            Ok(writer) => return Ok(writer),
            Err(OpenError::WriterExists { .. }) if Instant::now() < end => std::thread::sleep(TICK),
            Err(error) => return Err(error.into()),
        }
    }
}

/// The drop copy, searched for answers.
struct Answers {
    reader: LooseReader,
    /// Position and time of the frame before: the copy of an entry that was taken.
    before: (u64, u64),
}

impl Answers {
    fn new(reader: LooseReader) -> Answers {
        Answers { reader, before: (0, 0) }
    }

    fn wait(&mut self, entered: &mut [Entered]) -> Result<(), Failure> {
        let end = Instant::now() + PATIENCE;
        loop {
            self.scan(entered)?;
            let is_open = entered.iter().any(|one| one.outcome == Outcome::Waiting);
            if !is_open || Instant::now() >= end {
                return Ok(());
            }
            std::thread::sleep(TICK);
        }
    }

    /// Looks for answers in what is there now.
    fn scan(&mut self, entered: &mut [Entered]) -> Result<(), Failure> {
        loop {
            match self.reader.read() {
                Ok(Some(frame)) => {
                    if frame.message_id == EntryResult::ID
                        && let Ok(result) = EntryResult::decode(frame.payload)
                        && let Some(one) = entered.iter_mut().find(|one| one.position == result.entry)
                    {
                        let (position, time) = self.before;
                        one.outcome = match result.refusal {
                            0 => Outcome::Taken { position, time },
                            number => Outcome::Refused { number, about: result.about },
                        };
                    }
                    self.before = (frame.position, frame.time);
                }
                Ok(None) => return Ok(()),
                Err(ReadError::Lapped(_)) => {}
                Err(error) => return Err(Failure::new(Exit::Failed, format!("`{DROPS}`: {error}"))),
            }
        }
    }
}
