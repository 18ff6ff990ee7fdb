//! Writing what another journal holds, at the same positions.

use super::{Writer, Written};
use crate::error::WriteError;
use crate::layout::{LINE_BYTES, MAX_POSITION, frame, frame_bytes};
use crate::ring::bytes::RawHeader;
use crate::ring::reader::FrameHeader;

/// Longest gap that is filled: a second's work. A position beyond it is more likely a mistake.
const MOST_SKIPPED: u64 = 1 << 40;

impl Writer {
    /// Commits a frame of another journal, with the time, topic and kind of payload that it has there.
    ///
    /// Its time may lie before that of the last frame here: what this writer stamps itself never goes back, what it
    /// appends keeps the order of its source. Together with [`Writer::skip_to`] this reproduces a journal of the same
    /// capacity, position by position:
    ///
    /// ```
    /// # use journal::{Clock, Journal, JournalShape};
    /// # let shape = |id| JournalShape { id, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 8, page: 4096 };
    /// # let (source, copy) = (Journal::in_memory(shape(1))?, Journal::in_memory(shape(2))?);
    /// # let mut origin = source.writer(0, Clock::monotonic())?;
    /// # for _ in 0..2_000 { origin.write(7, 3, b"more than the ring holds")?; }
    /// let mut reader = source.observe(source.oldest_frame()?)?;
    /// let mut writer = copy.writer(0, Clock::monotonic())?;
    /// while let Some(frame) = reader.read()? {
    ///     writer.skip_to(frame.position)?;
    ///     let written = writer.append(frame.header(), frame.payload)?;
    ///     assert_eq!((written.position, written.time), (frame.position, frame.time));
    /// }
    /// assert_eq!(copy.head(), source.head());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Writer::write`].
    pub fn append(&mut self, header: FrameHeader, payload: &[u8]) -> Result<Written, WriteError> {
        let FrameHeader { time, topic, message_id, flags } = header;
        self.check(payload.len(), topic)?;
        let position = self.position;
        let end = position + frame_bytes(payload.len() as u64);
        self.make_room(end + LINE_BYTES)?;
        self.store_frame(position, end, payload);
        let flags = flags & frame::RECORD | frame::APPENDED;
        self.store_header(position, message_id, flags, topic, payload.len(), time);
        self.commit(position, end, 1, self.not_before_the_last(time));
        self.notify(topic);
        Ok(Written { position, time })
    }

    /// Makes `position`, at most a tebibyte ahead, that of the next frame: the space in between is filled with frames
    /// that readers pass over. They have the time of the last frame and are in no class of [`Writer::count`].
    ///
    /// # Errors
    /// [`WriteError::NotAhead`]. [`WriteError::Full`]: part of the way may be done; call it again later.
    pub fn skip_to(&mut self, position: u64) -> Result<(), WriteError> {
        self.fill_to(position, self.epoch as u32, u64::MAX)
    }

    /// As [`Writer::skip_to`], with frames of this epoch and of this time at the latest.
    pub(super) fn fill_to(&mut self, position: u64, epoch: u32, latest: u64) -> Result<(), WriteError> {
        self.opener.check()?;
        let last = self.position.saturating_add(MOST_SKIPPED).min(MAX_POSITION - self.ring.capacity());
        if !(self.position..=last).contains(&position) || !position.is_multiple_of(LINE_BYTES) {
            return Err(WriteError::NotAhead { position, next: self.position, last });
        }
        // Whole lines, since a frame of any other size would end where they end.
        let longest = ((self.max_payload + frame::HEADER_BYTES) / LINE_BYTES * LINE_BYTES).max(LINE_BYTES);
        while self.position < position {
            let start = self.position;
            let end = position.min(start + longest);
            self.make_room(end + LINE_BYTES)?;
            self.clear(end);
            let length = (end - start - frame::HEADER_BYTES).min(self.max_payload);
            let (length, time) = (length as u32, self.last_time.min(latest));
            let flags = frame::VOID;
            self.ring.store_header(start, RawHeader { length, message_id: 0, flags, time, topic: 0, epoch });
            self.commit(start, end, 1, self.last_time);
        }
        Ok(())
    }
}
