//! Which of the strategy's lives is replayed: from where on, up to where, and what it sent in it.

use recorder::read::Recording;
use wire::{AnyMessage, Message, NodeChange, NodeEvent, Request};

use crate::error::ReplayError;
use crate::subject::Subject;

/// A request as it was recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sent {
    pub(crate) position: u64,
    pub(crate) time: u64,
    pub(crate) request: Request,
}

/// One life of the strategy.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    /// Frames from this time on are given.
    pub(crate) from: u64,
    /// Whether `from` lies within it, so that its state then has to be put together.
    pub(crate) is_middle: bool,
    /// The run was recovered, and `from` is when: its recording begins with what the rings held of the lives before.
    pub(crate) is_recovered: bool,
    /// Its process ended at this time; `None`: the recording does not say so.
    pub(crate) ends: Option<u64>,
    /// It died, or was killed: it did not stop in good order.
    pub(crate) died: bool,
    /// Low half of the epoch of its journal of orders.
    pub(crate) epoch: u32,
    /// Greatest sequence of its order ids before `from`.
    pub(crate) sequence: u32,
    /// What it sent from `from` on, in order.
    pub(crate) sent: Vec<Sent>,
    /// A later life is in the recording.
    pub(crate) is_restarted: bool,
}

impl Life {
    /// The first life of this run, or the one at `from`.
    pub(crate) fn find(
        recording: &Recording,
        subject: &Subject,
        from: Option<u64>,
    ) -> Result<Life, ReplayError> {
        let recovered = if from.is_none() { recovered(recording, subject)? } else { None };
        let at = from.or(recovered).unwrap_or(0);
        let (ends, died, is_restarted) = end(recording, subject, at)?;
        let is_within = |time: u64| ends.is_none_or(|ends| time <= ends);
        let mut life = Life {
            from: at,
            is_middle: from.is_some(),
            is_recovered: recovered.is_some(),
            ends,
            died,
            epoch: 1,
            sequence: 0,
            sent: Vec::new(),
            is_restarted,
        };
        let mut frames = recording.frames(&subject.orders, 0);
        let mut last_epoch = None;
        while let Some(frame) = frames.next()? {
            if !is_within(frame.time) && last_epoch.is_some_and(|epoch| epoch != frame.epoch) {
                break;
            }
            let request = Request::decode(frame.message_id, frame.payload).map_err(|error| {
                ReplayError::journal(&subject.orders.name, format!("position {}: {error}", frame.position))
            })?;
            if last_epoch != Some(frame.epoch) {
                if !life.sent.is_empty() {
                    life.is_restarted = true;
                    break;
                }
                (last_epoch, life.epoch, life.sequence) = (Some(frame.epoch), frame.epoch, 0);
            }
            if frame.time >= at {
                life.sent.push(Sent { position: frame.position, time: frame.time, request });
            } else if matches!(request, Request::New(_) | Request::CancelAll(_)) {
                life.sequence = request.order_id().sequence();
            }
        }
        if life.is_recovered && life.sent.is_empty() && last_epoch.is_some() {
            // What was read is of the lives before.
            (life.epoch, life.sequence) = (life.epoch.wrapping_add(1), 0);
        }
        Ok(life)
    }

    /// Whether the recording has its end, and that it was one in good order.
    pub(crate) fn has_left(&self) -> bool {
        self.ends.is_some() && !self.died
    }

    /// Whether all that it sent from this number on are cancels, as of a strategy that stops.
    pub(crate) fn only_cancels_from(&self, index: usize) -> bool {
        let rest = self.sent.get(index..).unwrap_or_default();
        !rest.is_empty() && rest.iter().all(|sent| matches!(sent.request, Request::Cancel(_)))
    }
}

/// When the strategy's last life before this run had ended, if this run is a recovered one: master says so for all before it
/// starts anything, the recorder too.
fn recovered(recording: &Recording, subject: &Subject) -> Result<Option<u64>, ReplayError> {
    let Some(first) = recording.segments().first().filter(|_| subject.orders.incarnation > 1) else {
        return Ok(None);
    };
    let begun = first.head.created.get();
    let Some(events) = recording.description().journal("master.events") else { return Ok(Some(begun)) };
    let mut frames = recording.frames(events, 0);
    let mut ended = None;
    while let Some(frame) = frames.next()? {
        if frame.time > begun {
            break;
        }
        if let Ok(AnyMessage::NodeEvent(event)) = AnyMessage::decode(frame.message_id, frame.payload)
            && event.seat == subject.node.seat
            && event.change != NodeChange::Joined
        {
            // Behind what it says: that is not of the life which it ends.
            ended = Some(frame.time + 1);
        }
    }
    Ok(ended.or(Some(begun)))
}

/// When the process that ran at `at`, or started next, ended; whether it died; whether another one followed.
fn end(recording: &Recording, subject: &Subject, at: u64) -> Result<(Option<u64>, bool, bool), ReplayError> {
    let Some(events) = recording.description().journal("master.events") else {
        return Ok((None, false, false));
    };
    let mut frames = recording.frames(events, 0);
    let mut ended = None;
    while let Some(frame) = frames.next()? {
        if frame.message_id != NodeEvent::ID || frame.time < at {
            continue;
        }
        let Ok(AnyMessage::NodeEvent(event)) = AnyMessage::decode(frame.message_id, frame.payload) else {
            continue;
        };
        if event.seat != subject.node.seat {
            continue;
        }
        match (event.change, ended) {
            (NodeChange::Joined, Some((time, died))) => return Ok((Some(time), died, true)),
            (NodeChange::Joined, None) | (_, Some(_)) => {}
            (NodeChange::Left | NodeChange::Paused, None) => ended = Some((frame.time, false)),
            (NodeChange::Died, None) => ended = Some((frame.time, true)),
        }
    }
    Ok((ended.map(|(time, _)| time), ended.is_some_and(|(_, died)| died), false))
}
