//! A journal that a node reads.

use std::time::Duration;

use journal::{Reader, Topics};

/// One of a node's inputs: an index into [`Node::inputs`](crate::Node::inputs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InputId(pub usize);

/// The frames for which a node wants to be woken, besides reading them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// None: the node polls. Leaving it out of the interest saves its writers a look.
    Nothing,
    /// Those of the topics that it reads.
    Wanted,
    /// Every frame.
    Everything,
}

/// One input.
#[derive(Debug)]
pub struct Input {
    pub(crate) reader: Reader,
    pub(crate) journal: journal::Journal,
    /// What the journal is to this node.
    pub role: String,
    /// The node that writes it.
    pub peer: String,
    /// That node's seat.
    pub peer_seat: u32,
    pub(crate) seat: u32,
    /// The frames for which this input wakes the node.
    pub(crate) told: Told,
    /// How long its messages may wait while the node dozes; zero: they wake it.
    pub(crate) wake_within: Duration,
    /// Frames come, and wake the node, only when they are on disk.
    pub(crate) durable: bool,
}

impl Input {
    /// Name of the journal.
    pub fn name(&self) -> &str {
        &self.journal.shape().name
    }

    /// Number of the journal within the instance.
    pub fn journal_id(&self) -> u32 {
        self.journal.shape().id
    }

    /// Position of the next frame.
    #[inline]
    pub fn position(&self) -> u64 {
        self.reader.position()
    }

    /// End of the committed frames.
    #[inline]
    pub fn head(&self) -> u64 {
        self.journal.head()
    }

    /// Bytes of the journal's ring.
    pub fn capacity(&self) -> u64 {
        self.journal.shape().capacity
    }

    /// The reader and its journal, for a node that reads by itself.
    pub fn into_reader(self) -> (Reader, journal::Journal) {
        (self.reader, self.journal)
    }

    pub(crate) fn keep(&mut self, position: u64) {
        match &mut self.reader {
            Reader::Gated(reader) => reader.keep(position),
            Reader::Loose(_) => {
                log::error!("journal `{}` is read loosely: nothing of it is kept", self.name())
            }
        }
    }

    /// Reads only these topics from now on, and is woken only for them. `None`: all.
    ///
    /// # Errors
    /// [`journal::OpenError`] when the journal does not allow it.
    pub fn narrow(&mut self, topics: Option<&[u32]>) -> Result<(), journal::OpenError> {
        self.reader.set_topics(match topics {
            Some(topics) => Topics::only(topics.iter().copied()),
            None => Topics::All,
        });
        if self.durable {
            // Only the disk wakes it.
            self.journal.set_durable_interest(self.seat, self.told != Told::Nothing)?;
            return self.journal.set_interest(self.seat, Some(&[]));
        }
        let interest = match self.told {
            Told::Nothing => Some(&[][..]),
            Told::Wanted => topics,
            Told::Everything => None,
        };
        self.journal.set_interest(self.seat, interest)
    }
}
