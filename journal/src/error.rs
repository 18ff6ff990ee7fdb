//! One error type per operation. Every message says what, where, and what to do.

use std::io;
use std::path::PathBuf;

/// A journal or registry could not be made.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// A setting is out of its range.
    #[error("journal `{name}`: {what}")]
    Invalid {
        /// Which journal.
        name: String,
        /// What is wrong and what is allowed.
        what: String,
    },
    /// The memory is not there.
    #[error(
        "cannot reserve {bytes} bytes for {}: {source}; free memory in that file system, or ask for smaller journals",
        path.display()
    )]
    NoSpace {
        /// The file.
        path: PathBuf,
        /// How much was asked for.
        bytes: u64,
        /// The system's answer.
        source: io::Error,
    },
    /// Any other refusal of the system.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

/// A file is there but cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The system refuses.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// Not one of ours.
    #[error("{} is no colo {what}: its first eight bytes are {found:#018x}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// "journal control file" or "registry".
        what: &'static str,
        /// What stood there.
        found: u64,
    },
    /// Ours, of another version.
    #[error(
        "{} has format {found}, this program reads format {expected} (layout {found_layout:#018x} against \
         {expected_layout:#018x}): stop the platform with the version that made it, then start it anew",
        path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// Ours.
        expected: u32,
        /// Its layout hash.
        found_layout: u64,
        /// Ours.
        expected_layout: u64,
    },
    /// Ours, but its header contradicts itself or the file's size.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        what: String,
    },
    /// Another process writes this journal.
    #[error(
        "journal `{name}` is being written by process {pid}; a journal has one writer: stop that process first"
    )]
    WriterExists {
        /// Which journal.
        name: String,
        /// Who.
        pid: u32,
    },
    /// Somebody reads this journal in that seat, and lives.
    #[error(
        "seat {seat} of journal `{name}` is being read already; a seat has one reader: end that one first"
    )]
    SeatTaken {
        /// Which journal.
        name: String,
        /// Asked for.
        seat: u32,
    },
    /// A gated cursor cannot be given where bytes are gone already.
    #[error(
        "the first frames of journal `{name}` are overwritten already, seat {seat} cannot have them: admit it before \
         the writer comes round, or let it join at the head"
    )]
    TooLate {
        /// Which journal.
        name: String,
        /// Asked for.
        seat: u32,
    },
    /// No frame can start there.
    #[error(
        "no frame of journal `{name}` starts at position {position}: positions are multiples of 64 below 2^63"
    )]
    NoSuchPosition {
        /// Which journal.
        name: String,
        /// Asked for.
        position: u64,
    },
    /// No such seat in this journal's tables.
    #[error("journal `{name}` has {seats} seats, there is no seat {seat}")]
    NoSuchSeat {
        /// Which journal.
        name: String,
        /// Asked for.
        seat: u32,
        /// There are.
        seats: u32,
    },
}

/// A frame was not written. The payload is still the caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// A gated reader has not read far enough. Try again later, or give up: nothing was overwritten.
    ///
    /// ```
    /// # use journal::{Clock, Journal, JournalShape, ReadError, WriteError};
    /// # let shape = JournalShape { id: 1, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
    /// # let journal = Journal::in_memory(shape)?;
    /// # let mut writer = journal.writer(0, Clock::monotonic())?;
    /// let mut reader = journal.gated(5)?;
    /// let payload = [7; 1_000];
    /// let refused = loop {
    ///     match writer.write(2, 0, &payload) {
    ///         Ok(_) => {}
    ///         Err(error) => break error,
    ///     }
    /// };
    /// let WriteError::Full { needed, free } = refused else { panic!("{refused}") };
    /// assert!(needed > free);
    /// // The slowest reader reads on, and the same payload, which was ours all along, fits.
    /// while reader.read()?.is_some() {}
    /// writer.write(2, 0, &payload)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[error("the journal is full: the frame takes {needed} bytes, the slowest gated reader leaves {free}")]
    Full {
        /// Bytes the frame takes.
        needed: u64,
        /// Bytes free now.
        free: u64,
    },
    /// The batch is as long as it may become: commit it and begin another.
    ///
    /// ```
    /// # use journal::{Clock, Journal, JournalShape, ReadError, WriteError};
    /// # let shape = JournalShape { id: 1, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
    /// # let journal = Journal::in_memory(shape)?;
    /// # let mut writer = journal.writer(0, Clock::monotonic())?;
    /// let payloads = vec![[7_u8; 100]; 500];
    /// let mut rest = payloads.as_slice();
    /// let mut batches = 0;
    /// while !rest.is_empty() {
    ///     let mut batch = writer.batch();
    ///     while let [payload, behind @ ..] = rest {
    ///         match batch.push(2, 0, payload) {
    ///             Ok(_) => rest = behind,
    ///             Err(WriteError::BatchFull { .. }) => break,
    ///             Err(error) => return Err(error.into()),
    ///         }
    ///     }
    ///     batch.commit();
    ///     batches += 1;
    /// }
    /// assert_eq!((batches, writer.frames()), (12, 500));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[error("the batch is full: one takes up to {max} bytes of frames; commit it and begin another")]
    BatchFull {
        /// Bytes that a batch of this journal takes, headers included.
        max: u64,
    },
    /// The payload is larger than this journal takes.
    #[error("a payload of {size} bytes is too large: this journal takes up to {max}")]
    TooLarge {
        /// Bytes given.
        size: usize,
        /// Bytes allowed.
        max: u64,
    },
    /// The journal was made with fewer topics.
    #[error("topic {topic} does not exist: this journal has topics 0 to {}", topics - 1)]
    NoSuchTopic {
        /// Asked for.
        topic: u32,
        /// There are.
        topics: u32,
    },
}

/// Bytes that a loose reader did not get, because the writer came round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// First position that is lost.
    pub from: u64,
    /// Where reading goes on.
    pub resumed_at: u64,
}

impl Gap {
    /// Exactly how many bytes of stream are lost.
    pub fn bytes(&self) -> u64 {
        self.resumed_at - self.from
    }
}

/// Reading could not go on as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// A loose reader was overtaken. It already stands at [`Gap::resumed_at`]: just read on.
    ///
    /// ```
    /// # use journal::{Clock, Journal, JournalShape, ReadError, WriteError};
    /// # let shape = JournalShape { id: 1, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
    /// # let journal = Journal::in_memory(shape)?;
    /// # let mut writer = journal.writer(0, Clock::monotonic())?;
    /// let mut reader = journal.loose(5)?;
    /// let start = reader.position();
    /// for _ in 0..2_000 {
    ///     writer.write(2, 0, b"more than the ring holds")?;
    /// }
    /// let Err(ReadError::Lapped(gap)) = reader.read() else { panic!("it slept through two laps") };
    /// assert_eq!((gap.from, gap.bytes()), (start, 2_000 * 64));
    /// // What depends on every frame is asked for anew; from here on nothing is missing.
    /// writer.write(2, 0, b"new")?;
    /// assert_eq!(reader.read()?.expect("just written").payload, b"new");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[error("lapped: {} bytes from position {} are lost, reading goes on at {}", .0.bytes(), .0.from, .0.resumed_at)]
    Lapped(Gap),
    /// What stands in the ring is no frame. Nothing behind it can be trusted.
    #[error("journal is damaged at position {position}: {what}")]
    Corrupt {
        /// Where.
        position: u64,
        /// What does not fit.
        what: &'static str,
    },
}
