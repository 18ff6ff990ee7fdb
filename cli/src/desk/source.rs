//! Journals of an instance or of a recording, message by message.

use std::path::Path;

use journal::{Journal, LooseReader, ReadError};
use node::{Exit, InstanceDir};
use recorder::read::{FrameError, Frames, Recording};
use topology::Topology;

use crate::failure::Failure;

/// Where journals are read from.
#[derive(Debug)]
pub(crate) enum Source {
    Live(InstanceDir),
    Recorded(Box<Recording>),
}

/// A message, and where it stood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) position: u64,
    pub(crate) time: u64,
    pub(crate) topic: u32,
    pub(crate) id: u16,
    pub(crate) payload: Vec<u8>,
}

/// Reading cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// The writer came round: who needs every message begins anew.
    #[error(
        "journal `{0}` was overwritten while it was read: it changes too fast, ask again when there is less to do"
    )]
    Overwritten(String),
    /// Something is missing or damaged for good.
    #[error("{0}")]
    Damaged(String),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        let exit = match fault {
            Fault::Overwritten(_) => Exit::Inconclusive,
            Fault::Damaged(_) => Exit::Failed,
        };
        Failure::new(exit, fault.to_string())
    }
}

#[derive(Debug)]
enum Inner<'a> {
    Live(LooseReader),
    /// What a ring had when it was looked at.
    Held(std::collections::VecDeque<Seen>),
    Recorded(Frames<'a>),
}

/// One journal's messages, in order.
#[derive(Debug)]
pub(crate) struct Stream<'a> {
    name: String,
    inner: Inner<'a>,
    /// Where the journal began.
    first: u64,
    /// The next message, where somebody has looked at it.
    peeked: Option<Option<Seen>>,
}

impl Source {
    pub(crate) fn recording(folder: &Path) -> Result<Source, Failure> {
        crate::verbs::journal::open_recording(folder).map(|recording| Source::Recorded(Box::new(recording)))
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Source::Live(instance) => format!("instance {}", instance.name()),
            Source::Recorded(recording) => format!("recording {}", recording.folder().display()),
        }
    }

    pub(crate) fn topology(&self) -> Result<Topology, Failure> {
        match self {
            Source::Live(instance) => super::topology(instance),
            Source::Recorded(recording) => serde_json::from_value(recording.description().topology.clone())
                .map_err(|error| {
                    let folder = recording.folder().display();
                    Failure::new(Exit::Failed, format!("{folder}: its platform is not understood: {error}"))
                }),
        }
    }

    /// The messages of a journal from `position` on, which must start a frame; with zero from the oldest that is there. `None`
    /// where there is no such journal.
    pub(crate) fn stream(&self, name: &str, position: u64) -> Result<Option<Stream<'_>>, Failure> {
        let (inner, first) = match self {
            Source::Live(instance) => {
                if !instance.journal_names().unwrap_or_default().iter().any(|known| known == name) {
                    return Ok(None);
                }
                let journal = Journal::open_read_only(instance.find_journal(name))?;
                let from = if position == 0 { oldest(&journal)? } else { position };
                (Inner::Live(journal.observe(from)?), begin(journal.shape().capacity))
            }
            Source::Recorded(recording) => {
                let Some(journal) = recording.description().journal(name) else { return Ok(None) };
                (Inner::Recorded(recording.frames(journal, position)), begin(journal.capacity))
            }
        };
        Ok(Some(Stream { name: name.to_owned(), inner, first, peeked: None }))
    }
}

/// A ring is read again so often where its writer comes round meanwhile.
const TRIES: usize = 20;

impl Source {
    /// The messages that a journal has now, from the oldest on. Of an instance they are copied at once, so that its writer
    /// does not come round while they are compared.
    pub(crate) fn held(&self, name: &str) -> Result<Option<Stream<'_>>, Fault> {
        let damaged = |failure: Failure| Fault::Damaged(failure.to_string());
        let mut left = TRIES;
        loop {
            left -= 1;
            let Some(mut stream) = self.stream(name, 0).map_err(damaged)? else { return Ok(None) };
            if matches!(stream.inner, Inner::Recorded(_)) {
                return Ok(Some(stream));
            }
            let mut held = std::collections::VecDeque::new();
            let fault = loop {
                match stream.next() {
                    Ok(Some(seen)) => held.push_back(seen),
                    Ok(None) => break None,
                    Err(fault) => break Some(fault),
                }
            };
            match fault {
                None => return Ok(Some(Stream { inner: Inner::Held(held), peeked: None, ..stream })),
                Some(Fault::Overwritten(_)) if left > 0 => {}
                Some(fault) => return Err(fault),
            }
        }
    }
}

/// Position of the first frame that a journal ever had. One that goes on from a recording begins later where the ring had gone
/// round: it is a part, although nothing of it is overwritten.
pub(crate) fn begin(capacity: u64) -> u64 {
    journal::layout::first_position(capacity)
}

/// The oldest frame that can be found. A ring that never wrapped begins at its first position, whatever its marks say.
pub(crate) fn oldest(journal: &Journal) -> Result<u64, journal::OpenError> {
    let first = journal.first_position();
    if journal.stat().oldest == first { Ok(first) } else { journal.oldest_frame() }
}

impl Stream<'_> {
    /// The next message; `None` where there is none, or none yet.
    pub(crate) fn next(&mut self) -> Result<Option<Seen>, Fault> {
        match self.peeked.take() {
            Some(Some(seen)) => Ok(Some(seen)),
            // There may be one by now.
            Some(None) | None => self.read(),
        }
    }

    /// The same, and it is still the next one afterwards.
    pub(crate) fn peek(&mut self) -> Result<Option<&Seen>, Fault> {
        if !matches!(self.peeked, Some(Some(_))) {
            self.peeked = Some(self.read()?);
        }
        Ok(self.peeked.as_ref().and_then(Option::as_ref))
    }

    /// Whether the next message is the first that the journal ever had, or it never had one.
    pub(crate) fn is_at_begin(&mut self) -> Result<bool, Fault> {
        let first = self.first;
        Ok(self.peek()?.is_none_or(|seen| seen.position == first))
    }

    fn read(&mut self) -> Result<Option<Seen>, Fault> {
        match &mut self.inner {
            Inner::Held(held) => Ok(held.pop_front()),
            Inner::Live(reader) => match reader.read() {
                Ok(frame) => Ok(frame.map(|frame| Seen {
                    position: frame.position,
                    time: frame.time,
                    topic: frame.topic,
                    id: frame.message_id,
                    payload: frame.payload.to_vec(),
                })),
                Err(ReadError::Lapped(_)) => Err(Fault::Overwritten(self.name.clone())),
                Err(error) => Err(Fault::Damaged(format!("journal `{}`: {error}", self.name))),
            },
            Inner::Recorded(frames) => match frames.next() {
                Ok(frame) => Ok(frame.map(|frame| Seen {
                    position: frame.position,
                    time: frame.time,
                    topic: frame.topic,
                    id: frame.message_id,
                    payload: frame.payload.to_vec(),
                })),
                Err(
                    error @ (FrameError::Missing { .. }
                    | FrameError::Relabelled { .. }
                    | FrameError::Disk { .. }),
                ) => Err(Fault::Damaged(error.to_string())),
            },
        }
    }
}
