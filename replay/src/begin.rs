//! Where in its journals the strategy began to read.
//!
//! A recovered run begins with what the rings held, and every gated reader stands where it stood: so the strategy read first what
//! its predecessor had left unread, which is older than the run.

use recorder::format::RecordedJournal;
use recorder::read::Recording;
use topology::ReadBinding;
use topology::config::ReaderKind;
use wire::{AnyMessage, NodeChange};

use crate::error::ReplayError;
use crate::life::Life;
use crate::subject::Subject;
use crate::tape::Taken;

/// By journal that is read.
#[derive(Clone, Debug)]
pub(crate) struct Begin {
    /// Position of the first frame that its journal has in the replay.
    pub(crate) positions: Vec<u64>,
    /// Where its reader stood, in a recovered run.
    cursors: Vec<Option<u64>>,
    /// False: the recording first says where the readers stood when the strategy had begun to read.
    pub(crate) is_known: bool,
}

impl Begin {
    pub(crate) fn find(recording: &Recording, subject: &Subject, life: &Life) -> Result<Begin, ReplayError> {
        let (cursors, is_known) = match life.is_recovered {
            true => cursors(recording, subject, life)?,
            false => (vec![None; subject.reads.len()], true),
        };
        let mut positions = Vec::new();
        for ((read, journal), cursor) in subject.reads.iter().zip(&cursors) {
            let from = if is_whole(read) { 0 } else { life.from };
            positions.push(match cursor {
                Some(cursor) => (*cursor).max(journal.first_position),
                None => first_since(recording, journal, from)?,
            });
        }
        Ok(Begin { positions, cursors, is_known })
    }

    /// Whether the strategy was not given this frame of a journal with quotes or reports.
    pub(crate) fn is_before(&self, taken: &Taken, life: &Life) -> bool {
        match self.cursors.get(taken.journal).copied().flatten() {
            Some(cursor) => taken.position < cursor,
            None => taken.time < life.from,
        }
    }
}

/// What is read from its first frame on, whenever the strategy begins.
fn is_whole(read: &ReadBinding) -> bool {
    matches!(read.role.as_str(), "instruments" | "state")
}

/// Position of the first frame of this time or later; of the last where there is none.
fn first_since(recording: &Recording, journal: &RecordedJournal, from: u64) -> Result<u64, ReplayError> {
    let mut position = journal.first_position;
    if from > 0 {
        let mut frames = recording.frames(journal, 0);
        while let Some(frame) = frames.next()? {
            position = frame.position;
            if frame.time >= from {
                break;
            }
        }
    }
    Ok(position)
}

/// Where the gated readers stood when the strategy began; and whether that is known: the recorder looked at them before the
/// strategy's process was there.
fn cursors(
    recording: &Recording,
    subject: &Subject,
    life: &Life,
) -> Result<(Vec<Option<u64>>, bool), ReplayError> {
    let seat = subject.process().seat;
    let of = |(read, journal): &(ReadBinding, RecordedJournal)| {
        let mine = journal.readers.iter().find(|reader| reader.seat == u32::from(seat));
        mine.filter(|_| read.kind == ReaderKind::Gated && !is_whole(read)).map(|reader| reader.position)
    };
    let cursors: Vec<Option<u64>> = subject.reads.iter().map(of).collect();
    let looked = recording.segments().first().map_or(u64::MAX, |segment| segment.head.created.get());
    let is_known = joined(recording, seat, life.from)?.is_none_or(|joined| looked <= joined);
    Ok((cursors, is_known))
}

/// When the process in this seat joined, at `from` or later.
fn joined(recording: &Recording, seat: u16, from: u64) -> Result<Option<u64>, ReplayError> {
    let Some(events) = recording.description().journal("master.events") else { return Ok(None) };
    let mut frames = recording.frames(events, 0);
    while let Some(frame) = frames.next()? {
        if frame.time >= from
            && let Ok(AnyMessage::NodeEvent(event)) = AnyMessage::decode(frame.message_id, frame.payload)
            && (event.seat, event.change) == (seat, NodeChange::Joined)
        {
            return Ok(Some(frame.time));
        }
    }
    Ok(None)
}
