//! Several frames that become visible at once.

use super::{FIRST_LINE, Writer, Written};
use crate::error::WriteError;
use crate::layout::{LINE_BYTES, frame_bytes};
use crate::sync::Ordering;

/// Topics of a batch whose readers are notified separately; after a batch with more, those of every topic are.
const TOPICS: usize = 16;

/// Frames that readers see all at once or not at all, even if this process is killed. Created by [`Writer::batch`];
/// dropped without [`Batch::commit`], it has no effect.
///
/// Cheaper than single writes: the clock is read once, when the batch is committed (its frames have that time), the head
/// moves once, and readers are notified once for each topic. Up to an eighth of the ring and 2 MiB fit in one.
///
/// The first frame's commit word is written last. Until then no reader gets past it, so the commit words of the others
/// need no order among them, and only the line behind the last has to be cleared. The rest of the first frame's first
/// line is stored together with its commit word: readers poll that line, and each separate store to it would have to
/// fetch it back from them.
#[derive(Debug)]
#[must_use = "a batch that is not committed writes nothing"]
pub struct Batch<'w> {
    writer: &'w mut Writer,
    /// End of the frames so far.
    end: u64,
    /// Limit of the frames.
    reach: u64,
    frames: u64,
    /// Bytes of each frame in the ring; zero when they differ, or are stamped already.
    step: u64,
    /// Time of the frames; zero: that of the commit.
    time: u64,
    first: First,
    last_topic: Option<u32>,
    topics: [u32; TOPICS],
    different: usize,
}

/// The contents of the first frame's first line.
#[derive(Debug, Default)]
struct First {
    bytes: [u8; FIRST_LINE],
    /// Length of the whole payload.
    length: usize,
    message_id: u16,
    topic: u32,
}

impl<'w> Batch<'w> {
    pub(super) fn new(writer: &'w mut Writer, time: u64) -> Batch<'w> {
        let end = writer.position;
        Batch {
            end,
            reach: end + writer.batch_bytes,
            frames: 0,
            step: 0,
            time,
            first: First::default(),
            last_topic: None,
            topics: [0; TOPICS],
            different: 0,
            writer,
        }
    }

    /// Adds a frame and returns its position.
    ///
    /// # Errors
    /// [`WriteError::BatchFull`]: commit this batch and begin another. [`WriteError::Full`] and the others as for
    /// [`Writer::write`]. The frames added before stay in the batch.
    #[inline(always)]
    pub fn push(&mut self, message_id: u16, topic: u32, payload: &[u8]) -> Result<u64, WriteError> {
        self.writer.check(payload.len(), topic)?;
        let position = self.end;
        let end = position + frame_bytes(payload.len() as u64);
        if end > self.reach {
            return Err(WriteError::BatchFull { max: self.writer.batch_bytes });
        }
        self.writer.make_room(end + LINE_BYTES)?;
        if self.frames > 0 {
            self.writer.ring.store_payload(position, 0, payload);
            self.writer.store_header(position, message_id, 0, topic, payload.len(), self.time);
            self.writer.ring.commit_word(position).store(position, Ordering::Relaxed);
            if self.time == 0 && end - position != self.step {
                self.step = 0;
            }
        } else {
            self.step = if self.time == 0 { end - position } else { 0 };
            let head = self.writer.store_rest(position, payload);
            // In one piece: loading it word by word, as it was stored, measured no better here.
            self.first.bytes[..head.len()].copy_from_slice(head);
            (self.first.message_id, self.first.topic, self.first.length) = (message_id, topic, payload.len());
        }
        self.end = end;
        self.frames += 1;
        self.remember(topic);
        Ok(position)
    }

    /// Notes a topic whose readers are to be notified. More than [`TOPICS`] topics are not distinguished.
    #[inline]
    fn remember(&mut self, topic: u32) {
        if self.last_topic == Some(topic) {
            return;
        }
        self.last_topic = Some(topic);
        let known = self.different <= TOPICS && self.topics[..self.different].contains(&topic);
        if !known {
            if let Some(place) = self.topics.get_mut(self.different) {
                *place = topic;
            }
            self.different += 1;
        }
    }

    /// Number of frames so far.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Makes the frames visible, all at once. Returns the first one's position and their time; `None` when there are
    /// none, or this process is a fork of the one that pushed them.
    #[inline]
    pub fn commit(self) -> Option<Written> {
        if self.frames == 0 {
            return None;
        }
        let time = if self.time > 0 { self.time } else { self.writer.stamp() };
        self.commit_stamped(time)
    }

    /// As [`Batch::commit`], with the caller's own reading of the clock; see [`Writer::write_at`].
    #[inline]
    pub fn commit_at(self, time: u64) -> Option<Written> {
        let time = self.writer.not_before_the_last(time);
        self.commit_stamped(time)
    }

    #[inline(always)]
    fn commit_stamped(self, time: u64) -> Option<Written> {
        let Batch { writer, end, frames, step, time: stamped, first, topics, different, .. } = self;
        if frames == 0 || !writer.opener.is_here() {
            return None;
        }
        let position = writer.position;
        if time != stamped {
            writer.set_times(position + frame_bytes(first.length as u64), end, step, time);
        }
        // Old bytes in the successor's line may have any value, including the expected one.
        writer.clear(end);
        writer.ring.store_payload(position, 0, &first.bytes[..first.length.min(FIRST_LINE)]);
        writer.store_header(position, first.message_id, 0, first.topic, first.length, time);
        writer.commit(position, end, frames, time);
        match topics.get(..different) {
            Some(&[topic]) => writer.notify(topic),
            Some(topics) => writer.notify_rows(topics.iter().copied()),
            None => writer.notify_all(),
        }
        Some(Written { position, time })
    }
}

impl Writer {
    /// Stamps the frames from `next` to `end`, of `step` bytes each if that is not zero. This is done at the commit, because
    /// a frame may answer another one that was read after the batch began.
    #[inline(always)]
    fn set_times(&self, mut next: u64, end: u64, step: u64, time: u64) {
        while next < end {
            self.ring.set_time(next, time);
            // By way of their lengths only where they differ: each must be loaded before the next frame is known.
            next += if step > 0 { step } else { frame_bytes(u64::from(self.ring.header(next).length)) };
        }
    }
}
