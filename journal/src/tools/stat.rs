//! The contents of a journal's control page, for tools and for waiting until a journal is drained.

use crate::error::OpenError;
use crate::files::control::{JournalShape, ReaderView, WriterState};
use crate::layout::{self, control as at};
use crate::process::ProcessIdentity;
use crate::ring::journal::Journal;

/// The contents of a journal's control page at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalStat {
    /// The properties fixed at creation.
    pub shape: JournalShape,
    /// End of the committed frames.
    pub head: u64,
    /// Frames committed since the journal was created.
    pub frames: u64,
    /// Frames by class, as far as the writer counts them.
    pub tally: [u64; at::CLASSES],
    /// Time of the last frame, nanoseconds since the epoch; zero before the first.
    pub last_time: u64,
    /// Position of the first frame.
    pub first_position: u64,
    /// Which journal of this name it is: one that continues another's positions has the next number.
    pub incarnation: u64,
    /// Largest payload in bytes.
    pub max_payload: u64,
    /// End of what is on disk; `None` when no reader writes it there.
    pub durable: Option<u64>,
    /// Bytes before this position may be overwritten.
    pub oldest: u64,
    /// How often the writer found the journal full.
    pub full: u64,
    /// Wake-ups sent.
    pub wakes: u64,
    /// The writer.
    pub writer: WriterState,
    /// Seat of the writer, now or last; meaningless before the first.
    pub writer_seat: u32,
    /// Number of writers so far.
    pub epoch: u64,
    /// Creation time, nanoseconds since the epoch.
    pub created: u64,
    /// Its readers by seat.
    pub readers: Vec<ReaderView>,
}

impl Journal {
    /// True when every gated reader stands at the head. A frame that is committed a moment before the head says so is not
    /// seen: [`Journal::tail`] sees it.
    pub fn is_drained(&self) -> bool {
        let slowest = self.control.slowest_gated();
        slowest >= self.control.head()
    }

    /// Position before which bytes may be overwritten.
    pub(crate) fn oldest_bytes(&self) -> Result<u64, OpenError> {
        if !self.control.is_plausible() {
            return Err(self.damaged("head and intent do not belong together".to_owned()));
        }
        Ok(self.control.intent().saturating_sub(self.shape().capacity).max(self.first_position()))
    }

    /// What stands in the half word behind the version, which every writer leaves zero.
    pub fn behind_version(&self) -> u32 {
        (self.control.load(at::VERSION) >> 32) as u32
    }

    /// Reads the control page.
    pub fn stat(&self) -> JournalStat {
        let shape = self.shape().clone();
        let oldest = self.control.intent().saturating_sub(shape.capacity).max(self.first_position());
        JournalStat {
            first_position: self.first_position(),
            incarnation: self.control.load(at::INCARNATION),
            max_payload: self.control.max_payload(),
            durable: self.control.durable(),
            oldest,
            head: self.control.head(),
            frames: layout::frames_of(self.control.load(at::FRAMES)),
            tally: self.control.tally(),
            last_time: self.control.load(at::LAST_TIME),
            full: self.control.load(at::FULL),
            wakes: self.control.load(at::WAKES),
            writer: self.control.writer_state(),
            writer_seat: (self.control.load(at::WRITER) >> 32) as u32,
            epoch: self.control.load(at::EPOCH),
            created: self.control.load(at::CREATED),
            readers: self.control.reader_views(),
            shape,
        }
    }

    /// The seats that lost bytes to laps since the journal was created, including those without a reader now.
    pub fn losers(&self) -> Vec<ReaderView> {
        self.control.losers().collect()
    }

    /// Where the gated reader in this seat stood that has been dismissed; `None` if there never was one, or one is there.
    pub fn ended_reader(&self, seat: u32) -> Option<ReaderView> {
        let is_there =
            seat >= self.shape().seats || self.stat().readers.iter().any(|reader| reader.seat == seat);
        let view = (!is_there).then(|| self.control.reader_view(seat, true));
        view.filter(|reader| reader.position >= self.first_position())
    }

    /// Up to where the reader in this seat has finished with the frames: what it keeps, else its cursor; less what it
    /// owes. Of one that was dismissed, what it said last.
    pub fn finished_by(&self, seat: u32) -> u64 {
        if seat < self.shape().seats { self.control.finished_by(seat).max(self.first_position()) } else { 0 }
    }

    /// The process that writes the journal now, if there is one.
    pub fn writer_process(&self) -> Option<ProcessIdentity> {
        match self.control.writer_state() {
            WriterState::Attached(process) => Some(process),
            _ => None,
        }
    }
}
