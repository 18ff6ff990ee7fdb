//! One error type per operation. Every message says what, where, and what to do.

use std::io;
use std::path::PathBuf;

use crate::fork::Forked;

/// A journal or registry could not be created.
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
    /// The memory is not available.
    #[error(
        "cannot reserve {bytes} bytes for {}: {source}; free memory in that file system, or ask for smaller journals",
        path.display()
    )]
    NoSpace {
        /// The file.
        path: PathBuf,
        /// Bytes requested.
        bytes: u64,
        /// The system's answer.
        source: io::Error,
    },
    /// Any other error of the system.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The attempted action.
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
    /// The system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The attempted action.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// Not a file of this crate.
    #[error("{} is no colo {what}: its first eight bytes are {found:#018x}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// "journal control file" or "registry".
        what: &'static str,
        /// The value found instead of the magic.
        found: u64,
    },
    /// A file of this crate in another version.
    #[error(
        "{} {} (layout {found_layout:#018x} against {expected_layout:#018x}): stop the platform with the version that \
         made it, then start it anew",
        path.display(),
        formats(*found, *expected)
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The file's version.
        found: u32,
        /// The version of this program.
        expected: u32,
        /// The file's layout hash.
        found_layout: u64,
        /// The layout hash of this program.
        expected_layout: u64,
    },
    /// A file of this crate whose header contradicts itself or the file's size.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is inconsistent.
        what: String,
    },
    /// The file belongs to another journal of the same name than the control page that this process has mapped.
    #[error("{} was made anew since this journal was opened: open the journal again", path.display())]
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// Another process writes this journal.
    #[error(
        "journal `{name}` is being written by {}; a journal has one writer: stop that process first", living(*pid)
    )]
    WriterExists {
        /// Which journal.
        name: String,
        /// The process that holds the writer's lock; 0 where none that is seen from here does.
        pid: u32,
    },
    /// This process is a fork of the one that opened the journal.
    #[error(transparent)]
    Forked(#[from] Forked),
    /// A living process reads this journal in that seat.
    #[error(
        "seat {seat} of journal `{name}` is being read already; a seat has one reader: end that one first"
    )]
    SeatTaken {
        /// Which journal.
        name: String,
        /// The requested seat.
        seat: u32,
    },
    /// A gated cursor cannot start where frames are overwritten already.
    #[error(
        "the first frames of journal `{name}` are overwritten already, seat {seat} cannot have them: admit it before \
         the writer comes round, or let it join at the head"
    )]
    TooLate {
        /// Which journal.
        name: String,
        /// The requested seat.
        seat: u32,
    },
    /// No frame can start at that position.
    #[error(
        "no frame of journal `{name}` starts at position {position}: positions are multiples of 64 below 2^63"
    )]
    NoSuchPosition {
        /// Which journal.
        name: String,
        /// The requested position.
        position: u64,
    },
    /// The journal's tables have no such seat.
    #[error("journal `{name}` has {seats} seats, there is no seat {seat}")]
    NoSuchSeat {
        /// Which journal.
        name: String,
        /// The requested seat.
        seat: u32,
        /// Number of seats.
        seats: u32,
    },
}

/// A process by its id, if that is known.
fn living(pid: u32) -> String {
    match pid {
        0 => "a process of another user or pid namespace".to_owned(),
        pid => format!("process {pid}"),
    }
}

fn formats(found: u32, expected: u32) -> String {
    if found == expected {
        format!("has format {found} as this program, but laid out otherwise, by a build between two versions")
    } else {
        format!("has format {found}, this program reads format {expected}")
    }
}

/// A journal cannot be restored from these bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// What should be a frame is none.
    #[error("the bytes for position {position} are no whole frame")]
    NoFrame {
        /// Where it would have been, or behind it.
        position: u64,
    },
    /// The journal does not take it: it is made otherwise than the one that was recorded.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// A frame was not written. The caller still has the payload.
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
    /// // The slowest reader reads on, and the same payload then fits.
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
    /// The batch has reached its greatest length: commit it and begin another.
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
        /// Greatest length of a batch of this journal, or of these records, in bytes, headers included.
        max: u64,
    },
    /// The payload is larger than this journal allows.
    #[error("a payload of {size} bytes is too large: this journal takes up to {max}")]
    TooLarge {
        /// Bytes given.
        size: usize,
        /// Bytes allowed.
        max: u64,
    },
    /// The frame would be longer than was claimed; what was written before stays.
    #[error(
        "a payload of {size} bytes does not fit the {room} that were claimed: claim as many as it may have"
    )]
    PastClaim {
        /// Bytes that the payload would have.
        size: usize,
        /// Bytes claimed.
        room: usize,
    },
    /// Records of this size are not possible here: those of one frame have one size.
    #[error("a record of {size} bytes does not fit: it must have {least} to {most}")]
    RecordSize {
        /// Bytes given.
        size: usize,
        /// Fewest bytes possible.
        least: usize,
        /// Most bytes possible.
        most: usize,
    },
    /// Positions only grow, and frames start on lines.
    #[error(
        "cannot skip to position {position}: it must be a multiple of 64 from {next}, the next frame's, to {last}; for a \
         later one create a journal that begins there"
    )]
    NotAhead {
        /// The requested position.
        position: u64,
        /// Position of the next frame.
        next: u64,
        /// Greatest position that can be skipped to.
        last: u64,
    },
    /// This process is a fork of the one that opened the writer.
    #[error(transparent)]
    Forked(#[from] Forked),
    /// The journal was made with fewer topics.
    #[error("topic {topic} does not exist: this journal has topics 0 to {}", topics - 1)]
    NoSuchTopic {
        /// The requested topic.
        topic: u32,
        /// Number of topics.
        topics: u32,
    },
}

/// Bytes that a loose reader lost because the writer lapped it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// First lost position.
    pub from: u64,
    /// Position at which reading resumes.
    pub resumed_at: u64,
}

impl Gap {
    /// The exact number of lost bytes of the stream.
    pub fn bytes(&self) -> u64 {
        self.resumed_at - self.from
    }
}

/// Reading could not continue normally.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// A loose reader was lapped. It already stands at [`Gap::resumed_at`] and can read on.
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
    /// // State that depends on every frame must be rebuilt; from here on no frame is missing.
    /// writer.write(2, 0, b"new")?;
    /// assert_eq!(reader.read()?.expect("just written").payload, b"new");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[error("lapped: {} bytes from position {} are lost, reading goes on at {}", .0.bytes(), .0.from, .0.resumed_at)]
    Lapped(Gap),
    /// This process is a fork of the one that opened the reader.
    #[error(transparent)]
    Forked(#[from] Forked),
    /// The ring holds something that is not a frame. Nothing behind it can be trusted.
    #[error("journal is damaged at position {position}: {what}")]
    Corrupt {
        /// Position of the damage.
        position: u64,
        /// What is inconsistent.
        what: &'static str,
    },
}
