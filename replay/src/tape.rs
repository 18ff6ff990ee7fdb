//! The frames of several recorded journals in one order.

use std::collections::VecDeque;

use recorder::format::RecordedJournal;
use recorder::read::{Frames, RecordedFrame, Recording};

use crate::error::ReplayError;

/// A frame, and which journal of the tape it is of.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub(crate) journal: usize,
    pub(crate) position: u64,
    pub(crate) time: u64,
    pub(crate) message_id: u16,
    pub(crate) topic: u32,
    pub(crate) epoch: u32,
    pub(crate) payload: Vec<u8>,
    /// When it was handled, as far as that is known; else when it was published.
    pub(crate) order: u64,
}

/// A position that caused a request, and when the strategy received it.
pub(crate) type Cause = (u64, u64);

struct Track<'a> {
    id: u32,
    frames: Frames<'a>,
    next: Option<Taken>,
    causes: VecDeque<Cause>,
    /// No frame of this journal was handled before this time.
    not_before: u64,
}

/// Frames in the order of their times; of equal times, the journal with the lowest number comes first. That is the order
/// in which a platform in lock-step hands them over. On another platform, a frame that caused a request was handled when
/// that request says, and those behind it in its journal were handled later.
pub(crate) struct Tape<'a> {
    tracks: Vec<Track<'a>>,
}

impl<'a> Tape<'a> {
    /// Each journal with the causes of requests in it, by ascending position.
    pub(crate) fn new(
        recording: &'a Recording,
        journals: &[(&'a RecordedJournal, Vec<Cause>)],
    ) -> Result<Tape<'a>, ReplayError> {
        let mut tracks = Vec::new();
        for (index, (journal, causes)) in journals.iter().enumerate() {
            let mut track = Track {
                id: journal.id,
                frames: recording.frames(journal, 0),
                next: None,
                causes: causes.iter().copied().collect(),
                not_before: 0,
            };
            track.advance(index)?;
            tracks.push(track);
        }
        Ok(Tape { tracks })
    }

    /// When the next frame comes.
    pub(crate) fn peek(&self) -> Option<u64> {
        self.earliest().map(|(order, ..)| order)
    }

    fn earliest(&self) -> Option<(u64, u32, usize)> {
        let tracks = self.tracks.iter().enumerate();
        tracks.filter_map(|(index, track)| Some((track.next.as_ref()?.order, track.id, index))).min()
    }

    /// The next frame; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Taken>, ReplayError> {
        let Some((.., index)) = self.earliest() else { return Ok(None) };
        let track = &mut self.tracks[index];
        let taken = track.next.take();
        track.advance(index)?;
        Ok(taken)
    }
}

impl Track<'_> {
    fn advance(&mut self, journal: usize) -> Result<(), ReplayError> {
        let Some(frame) = self.frames.next()? else { return Ok(()) };
        let RecordedFrame { position, time, message_id, topic, epoch, payload, .. } = frame;
        while self.causes.front().is_some_and(|(caused, _)| *caused < position) {
            self.causes.pop_front();
        }
        if let Some(&(caused, received)) = self.causes.front()
            && caused == position
        {
            self.not_before = self.not_before.max(received);
        }
        let order = time.max(self.not_before);
        let payload = payload.to_vec();
        self.next = Some(Taken { journal, position, time, message_id, topic, epoch, payload, order });
        Ok(())
    }
}
