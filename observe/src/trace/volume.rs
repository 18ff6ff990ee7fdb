//! What a trace is looked for in: the rings of an instance, or an archive of its journals.

use std::fmt::Debug;

use journal::{Journal, LooseReader, ReadError};
use topology::Topology;
use wire::AnyMessage;

/// Journals that were kept elsewhere than in rings.
pub trait Archive: Debug {
    /// What it is called in messages.
    fn name(&self) -> &str;

    /// The platform whose journals it has.
    fn topology(&self) -> &Topology;

    /// Its journals.
    fn journals(&self) -> Vec<Archived>;

    /// Calls back for the frames of a journal from `position` on, for as long as it is wanted: position, time, type of
    /// payload, payload. True if some were missing.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    fn each(&self, journal: &str, position: u64, visit: &mut Visit<'_>) -> Result<bool, String>;
}

/// Takes a frame; false when no more is wanted.
pub type Visit<'a> = dyn FnMut(u64, u64, u16, &[u8]) -> bool + 'a;

/// A journal of an [`Archive`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archived {
    /// Its name.
    pub name: String,
    /// Its number in the instance.
    pub id: u32,
    /// Position of its first frame ever.
    pub first_position: u64,
}

/// One journal, wherever it is.
#[derive(Debug)]
pub(super) enum Volume<'a> {
    Ring(Journal),
    Archived(&'a dyn Archive, Archived),
}

impl Volume<'_> {
    pub(super) fn id(&self) -> u32 {
        match self {
            Volume::Ring(journal) => journal.shape().id,
            Volume::Archived(_, journal) => journal.id,
        }
    }

    pub(super) fn first_position(&self) -> u64 {
        match self {
            Volume::Ring(journal) => journal.first_position(),
            Volume::Archived(_, journal) => journal.first_position,
        }
    }

    /// Position of the oldest frame of a ring; an archive finds that out by reading.
    pub(super) fn oldest(&self) -> Result<Option<u64>, String> {
        match self {
            Volume::Ring(journal) => journal.oldest_frame().map(Some).map_err(|error| error.to_string()),
            Volume::Archived(..) => Ok(None),
        }
    }

    /// Calls back for each message that is there now; true when some were overwritten meanwhile, or are missing.
    pub(super) fn each(&self, visit: &mut impl FnMut(u64, u64, AnyMessage)) -> Result<bool, String> {
        match self {
            Volume::Ring(journal) => each_of_ring(journal, visit),
            Volume::Archived(archive, journal) => {
                archive.each(&journal.name, 0, &mut |position, time, id, payload| {
                    if let Ok(message) = AnyMessage::decode(id, payload) {
                        visit(position, time, message);
                    }
                    true
                })
            }
        }
    }

    /// Time and message at this very place; `None` when it is overwritten or missing, or no message.
    pub(super) fn at(&self, wanted: u64) -> Option<(u64, AnyMessage)> {
        match self {
            Volume::Ring(journal) => {
                let mut reader = journal.observe(wanted).ok()?;
                let frame = reader.read().ok()??;
                let message = AnyMessage::decode(frame.message_id, frame.payload).ok()?;
                (frame.position == wanted).then_some((frame.time, message))
            }
            Volume::Archived(archive, journal) => {
                let mut found = None;
                let mut take = |position, time, id, payload: &[u8]| {
                    if position == wanted {
                        found = AnyMessage::decode(id, payload).ok().map(|message| (time, message));
                    }
                    false
                };
                archive.each(&journal.name, wanted, &mut take).ok()?;
                found
            }
        }
    }
}

fn each_of_ring(journal: &Journal, visit: &mut impl FnMut(u64, u64, AnyMessage)) -> Result<bool, String> {
    let head = journal.head();
    let mut reader = start(journal)?;
    let mut lost = false;
    while reader.position() < head {
        match reader.read() {
            Ok(Some(frame)) => {
                if let Ok(message) = AnyMessage::decode(frame.message_id, frame.payload) {
                    visit(frame.position, frame.time, message);
                }
            }
            Ok(None) => break,
            Err(ReadError::Lapped(_)) => lost = true,
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(lost)
}

fn start(journal: &Journal) -> Result<LooseReader, String> {
    let reader = journal.oldest_frame().and_then(|oldest| journal.observe(oldest));
    reader.map_err(|error| error.to_string())
}
