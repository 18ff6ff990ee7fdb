//! Readers: their guarantees, and how to use them.
//!
//! ```text
//! loop {
//!     match reader.read() {
//!         Ok(Some(frame)) => handle(frame),          // gated: finished at the next `read`
//!         Ok(None)        => wait, or do other work, // nothing committed at our position; `check_writer` says whether
//!                                                    // there is a writer
//!         Err(Lapped(gap)) => count gap.bytes(),     // loose only; we already stand at gap.resumed_at
//!         Err(Corrupt{..}) => stop: the ring cannot be trusted
//!     }
//! }
//! ```
//!
//! A frame is read whole or not at all, in the order in which it was written, each once. A *gated* reader gets every
//! frame: the writer cannot pass it. A *loose* reader never holds up the writer; when it is lapped it learns exactly
//! which bytes it lost.
//!
//! # Single frames and batches
//!
//! ```
//! # use journal::{Clock, Journal, JournalShape, Topics};
//! # let shape = JournalShape { id: 1, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
//! # let journal = Journal::in_memory(shape)?;
//! # let mut writer = journal.writer(0, Clock::monotonic())?;
//! let (mut gated, mut loose) = (journal.gated(1)?, journal.loose(2)?);
//! loose.set_topics(Topics::only([3]));
//! for topic in [2, 3, 3] {
//!     writer.write(7, topic, b"a quote")?;
//! }
//! let mut wanted = 0;
//! while let Some(frame) = loose.read()? {
//!     assert_eq!((frame.topic, frame.payload), (3, &b"a quote"[..]));
//!     wanted += 1;
//! }
//! assert_eq!(wanted, 2);
//! // Everything that is committed, in one call.
//! let mut last = 0;
//! assert_eq!(gated.read_batch(100, |frame| last = frame.position)?, 3);
//! assert_eq!(last, journal.head() - 64);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # When no more frames arrive
//!
//! `Ok(None)` does not say why. After a long wait, first query the writer, and then read once more, since the writer
//! may have written its last frames in between.
//!
//! ```
//! # use journal::{Clock, Journal, JournalShape, WriterState};
//! # let shape = JournalShape { id: 1, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
//! # let journal = Journal::in_memory(shape)?;
//! let mut reader = journal.gated(5)?;
//! let mut writer = journal.writer(0, Clock::monotonic())?;
//! writer.write(7, 0, b"the last")?;
//! drop(writer);
//! let state = reader.writer_state();
//! let mut frames = 0;
//! while reader.read()?.is_some() {
//!     frames += 1;
//! }
//! let said = match state {
//!     WriterState::Never | WriterState::Attached(_) => "wait: more may come at any time".to_owned(),
//!     // It closed the journal: this is all, unless a new writer attaches.
//!     WriterState::Closed => format!("closed after {frames}"),
//!     // It was killed. Everything that it committed is here; a successor continues at this very position.
//!     WriterState::Dead(process) => format!("process {} died over it", process.pid),
//! };
//! assert_eq!(said, "closed after 1");
//! // A successor: the reader has nothing to do, and each frame names its writer's epoch.
//! journal.writer(0, Clock::monotonic())?.write(7, 0, b"of another")?;
//! assert_eq!(reader.read()?.expect("just written").epoch, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod core;
mod gated;
mod liveness;
mod loose;
mod prefetch;
mod recording;
mod records;

pub use core::{ReaderCore, View};
pub use gated::GatedReader;
pub use liveness::NoWriter;
pub use loose::LooseReader;
pub use recording::Chunk;
pub use records::RecordIter;

use std::hint::black_box;
use std::ops::Deref;

use crate::error::ReadError;
use crate::files::control::Control;
use crate::ring::bytes::RawHeader;

/// One frame, valid until the reader is called again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Its position in the stream.
    pub position: u64,
    /// When it was committed, nanoseconds since the epoch on the platform's clock.
    pub time: u64,
    /// The type of the payload.
    pub message_id: u16,
    /// See [`layout::frame`](crate::layout::frame); zero for a message that its writer stamped.
    pub flags: u16,
    /// The topic that it belongs to.
    pub topic: u32,
    /// Low 32 bits of its writer's epoch.
    pub epoch: u32,
    /// The message.
    pub payload: &'a [u8],
}

/// What a frame says about its payload, apart from who wrote it and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// As [`Frame::time`].
    pub time: u64,
    /// As [`Frame::topic`].
    pub topic: u32,
    /// As [`Frame::message_id`].
    pub message_id: u16,
    /// As [`Frame::flags`].
    pub flags: u16,
}

impl<'a> Frame<'a> {
    /// Its header, for [`Writer::append`](crate::Writer::append).
    pub fn header(&self) -> FrameHeader {
        FrameHeader { time: self.time, topic: self.topic, message_id: self.message_id, flags: self.flags }
    }

    /// Its messages, each with its position: of a frame of records all of them, otherwise the payload with the frame's
    /// position. See [`Writer::claim_records`](crate::Writer::claim_records).
    #[inline]
    pub fn records(&self) -> RecordIter<'a> {
        RecordIter::new(self)
    }

    #[inline(always)]
    fn new(position: u64, header: RawHeader, payload: &'a [u8]) -> Frame<'a> {
        Frame {
            position,
            time: header.time,
            message_id: header.message_id,
            flags: header.flags,
            topic: header.topic,
            epoch: header.epoch,
            payload,
        }
    }
}

/// Room for any payload of this journal. Its pages are there from the start: a buffer of zeros would get them when it is
/// first used.
fn buffer(control: &Control) -> Vec<u8> {
    black_box(vec![0xff; control.max_payload() as usize])
}

/// The topics that a reader returns; frames of other topics are skipped without a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topics {
    /// Every frame.
    All,
    /// These, one bit each.
    Only(Vec<u64>),
}

impl Topics {
    /// Only these topics.
    pub fn only(topics: impl IntoIterator<Item = u32>) -> Topics {
        let mut bits = Vec::new();
        for topic in topics {
            let word = topic as usize / 64;
            if bits.len() <= word {
                bits.resize(word + 1, 0);
            }
            bits[word] |= 1 << (topic % 64);
        }
        Topics::Only(bits)
    }

    /// True when frames of this topic are returned.
    #[inline]
    pub fn contains(&self, topic: u32) -> bool {
        match self {
            Topics::All => true,
            Topics::Only(bits) => {
                bits.get(topic as usize / 64).is_some_and(|word| word & 1 << (topic % 64) != 0)
            }
        }
    }
}

/// A reader of either kind.
#[derive(Debug)]
pub enum Reader {
    /// The writer waits for this reader.
    Gated(GatedReader),
    /// The writer does not wait for this reader.
    Loose(LooseReader),
}

macro_rules! either {
    ($self:ident, $reader:ident => $call:expr) => {
        match $self {
            Reader::Gated($reader) => $call,
            Reader::Loose($reader) => $call,
        }
    };
}

impl Deref for Reader {
    type Target = ReaderCore;

    #[inline]
    fn deref(&self) -> &ReaderCore {
        either!(self, reader => reader)
    }
}

impl Reader {
    /// The next frame, if one is committed. See the module's loop.
    ///
    /// # Errors
    /// [`ReadError::Lapped`] (loose only; the reader stands where it resumes), [`ReadError::Corrupt`].
    #[inline]
    pub fn read(&mut self) -> Result<Option<Frame<'_>>, ReadError> {
        either!(self, reader => reader.read())
    }

    /// Time of the next frame of a wanted topic, without reading it; `None` when there is none yet.
    ///
    /// # Errors
    /// As [`Reader::read`].
    pub fn peek_time(&mut self) -> Result<Option<u64>, ReadError> {
        either!(self, reader => reader.peek_time())
    }

    /// Shows what will be read next; a loose reader, whose frames may be overwritten, shows nothing. See
    /// [`GatedReader::look_ahead`].
    #[cfg(not(loom))]
    pub fn look_ahead(&self, most: usize, each: impl FnMut(Frame<'_>)) {
        if let Reader::Gated(reader) = self {
            reader.look_ahead(most, each);
        }
    }

    /// False when [`Reader::read`] would return `Ok(None)` because there is no frame. One load.
    #[inline]
    pub fn has_news(&self) -> bool {
        either!(self, reader => reader.has_news())
    }

    /// Publishes this reader's position to the writer and to tools. `read` does so too; call this before going to
    /// sleep.
    pub fn publish(&mut self) {
        either!(self, reader => reader.publish());
    }

    /// Ends at what this view shows from now on.
    pub fn set_view(&mut self, view: View) {
        either!(self, reader => reader.set_view(view));
    }

    /// Returns only frames of these topics from now on.
    pub fn set_topics(&mut self, topics: Topics) {
        either!(self, reader => reader.set_topics(topics));
    }
}
