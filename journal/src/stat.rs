//! What a journal's control page says, for tools and for whoever waits for silence.

use crate::control::{JournalShape, ReaderView, WriterState};
use crate::error::OpenError;
use crate::journal::Journal;
use crate::layout::{self, control as at};
use crate::process::ProcessIdentity;

/// What a journal's control page says at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalStat {
    /// What it is.
    pub shape: JournalShape,
    /// End of the committed frames.
    pub head: u64,
    /// Frames committed since it was made.
    pub frames: u64,
    /// The same by class, as far as the writer counts them.
    pub tally: [u64; at::CLASSES],
    /// Time of the last one, nanoseconds since the epoch; zero before the first.
    pub last_time: u64,
    /// Bytes before this position may be overwritten or gone.
    pub oldest: u64,
    /// Times that the writer found it full.
    pub full: u64,
    /// Wake-ups sent.
    pub wakes: u64,
    /// Who writes.
    pub writer: WriterState,
    /// Seat of the writer, now or last; meaningless before the first.
    pub writer_seat: u32,
    /// How many writers there were.
    pub epoch: u64,
    /// When it was made, nanoseconds since the epoch.
    pub created: u64,
    /// Its readers by seat.
    pub readers: Vec<ReaderView>,
}

impl Journal {
    /// True when every gated reader stands at the head.
    pub fn is_drained(&self) -> bool {
        let slowest = self.control.slowest_gated();
        slowest >= self.control.head()
    }

    /// Bytes before this may be overwritten or gone.
    pub(crate) fn oldest_bytes(&self) -> Result<u64, OpenError> {
        if !self.control.is_plausible() {
            return Err(self.damaged("head and intent do not belong together".to_owned()));
        }
        Ok(self.control.intent().saturating_sub(self.shape().capacity).max(self.first_position()))
    }

    /// Everything that the control page says.
    pub fn stat(&self) -> JournalStat {
        let shape = self.shape().clone();
        let oldest =
            self.control.intent().saturating_sub(shape.capacity).max(layout::first_position(shape.capacity));
        JournalStat {
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

    /// The seats that lost something to laps since it was made, whether they still read or not.
    pub fn losers(&self) -> Vec<ReaderView> {
        self.control.losers().collect()
    }

    /// The process that writes it now, if one does.
    pub fn writer_process(&self) -> Option<ProcessIdentity> {
        match self.control.writer_state() {
            WriterState::Attached(process) => Some(process),
            _ => None,
        }
    }
}
